"""Two languages, one space: e5 puts Chinese and English apart, whatever the texts say.

In a store of both, a Chinese question found any Chinese memory before the English one that
answers it. So half the way between the middles of the two languages is taken from a Chinese
text's vector and added to an English one's; a text of both is moved by its share, one of
neither stays. From a question, `QUESTIONS_MIDDLE_TAKEN` of what all questions have in common is
taken too: otherwise that common part, and not what is asked, decides between two languages
whose vectors are not equally long once they have moved. The figures are in bench/README.md. The
constants are checked against their texts by a test; another way of aligning is another model id.
"""

import base64
from types import MappingProxyType
from typing import Final

import numpy as np
import regex

from mnemolog.projections.memories.embedding import Role, Vector

QUESTIONS_MIDDLE_TAKEN: Final = 2 / 3  # what is left favours memories that say something

_LETTERS_PER_CHARACTER: Final = 4  # a word in English has as many letters for one in Chinese
_CHINESE = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]")
_LATIN = regex.compile(r"[A-Za-z]")
_HALF_WAYS: Final = MappingProxyType(
    {
        "memory": (
            "+SClmL+YiSA1HAokYwwRHI8gRaK4oMGjxCI6IiihQJ/WlvygniSQkJ8eRSKQorqUBSDwpDmheh2aGMcd"
            "xB/IGe8auxwOIjghQhd+FmSgWqCSGOyThx0hIeudnSB3HqsgMKR1G6AhTZ2GIXSVTaIHmEskfaC/mtAi"
            "3hxwI1wezZLWIVagVx6ongIg5RszJB4i0x4+m1ObUKYRHu0aeyN0oB2l1BPxHZ+eSqJQoYGZfhICm90j"
            "xw/nIRIkTZPWmTCd3ByWn5ucnyRWGySc+KWwHlKh2yOoITGgMaMwHPCZDh4dnAcelJwjl/giDqQeILCi"
            "VaS4oEQhRSNgmSelByDNEgenjJyNoSEcSpVMnJugg510mtcfbaB4oGkhW5ian1CeO4jBn1IVrqIdosQA"
            "op5EpBYgRCA5HiSU7yQIFKcXDpilniyiq5gHorScN6U6oasVxxzBIUMk6SOGg+6f/BnJImQg+qR9I78g"
            "tBlRCkubLR6NG48auCC2mJAUXyMOFvwhHaAtIBQU8aQ0l3MTzJzIIOsdjqJno7OcaBNjoouhvZ2KoAGd"
            "RaCzHFKcxpEXpKsiXJlYFwYGgJ4xpKQY0aPDocgl5h3bo1weRZq+oJOibhwDIXShGJ++pXYejRR5Hpij"
            "yCVFpLyk3ZRJI9qhtpcFI9WBQhmsFhacLZtIoJQafBvtHsIg7BMdHbeUUhsFHYMhMCFIpJaL+R2viZkd"
            "rCLuoT8nTZ1VIPMV5SLsJG2iLhEpIQQcFZYzoAYZT6NNnJug0B8rIVwgbijZlOOeJp0EnjedwZiipwaZ"
            "4KA0I9kcLaXWpSkkahgWprAg4SCsJY8h0h8unrOlRaS8IlIdd5i/JOQUMyIxoGCc/yESpBefI5xQJG0g"
            "2KG5EXEZOogPIJehKaWumfaeih8AGUcnKyR7HLebgxxSpbce3x4hIPqk3yR4nIUi+BxMGM2QtZhiISsa"
            "SaJ6nacdDhjqH3ehlCSknxkiwJ/+H/iU7aMhoQOkwBrKpoOcpB/THXWhlRZNlqCX"
        ),
        "question": (
            "sh+MHweXHBnvIOYhHZwyHJAh+qIgoESe1hz/JGWhHZunmmah8JxKHoWeQyS+mYyc7iL7n6CkZSSkFKUe"
            "KxMvhSAaZhjhIPYaqJXcmTWcGJjlnwyh1hwVJSKYCx1DFygc56Mii2UhqZu4GLSeEaVGnUMlzKHXo0Eh"
            "7iHYJAafGCFBGiKf1SDxmSkhJ5UjJA8bsyH4nn8bQKDPIRkjVBw1n3uhDJ+nHDWd3ZH8ilMZrpm5njQj"
            "IJV+HyIj6xHMIo0dPyEjlNIg1SCZHaKh9qXupFeZWCFaIO0NaKFVks+cHhgjpCegDJ/CGYMgN6J/IV6h"
            "X6J9o1AhJiWml1mhix0sn1CnMxtvHJEelqRhoGOgECBoIYYj55ZYnK6PPZ1inVggoaRZCI+fGJgwndCh"
            "3qQdHrUZ8hyOH3CYGSZWIIoWZhtmmhORHp07nL+jPqbXHtuUaaHVn2MkmJPFIImgNx9bFDkduaPGHese"
            "NCEwGgSgPCDOn34gqB3VjnCQnSHcGlgIUJcXHQYgCKCJoGeYbJ6viMOUcKT6lEKcCSCso7Odq5tFIEOU"
            "SqCmFcIc/plNpHmg+ZPNmgqTtJUKociN/aDBHxAkKiLyFtoe25yxnImdfRLBHA2TyAznppoifhntG5+k"
            "+SPSExCjEiCqHyWWFJnKmiCcIyVAnBOeHBRZpFyYhRcaIFUf/B2oGdoivx9Omd2MbyDypASgvRNJkX8j"
            "jB+ZlickXJWljG0U3SQcI+ChiZ8CnKEe+KJ4mQkjdZcmlryOkhwnHH6ifCLJoR6iaaK7oP+VqxODpVqZ"
            "1h61IsYPXaYFoRwie50qpAcc2B5cJJ+db5R7nCiiWZqLFaKcbpzkIAMefR6KEaCdDSMyHsscARadJbAi"
            "A6EWGekeUZvhGAmjuKHGm9qVBByoHUQlMyIkIbKcARi5nTMZXBb4kEymOhNZD2UcOZImn2CZTBwtIliW"
            "CZ0AoBUZVppiHKqmMCG4HHMPmKE+E7Set5QygFceFBSypS+Z9iEVGSIcGBvZISEU"
        ),
    }
)
_QUESTIONS_MIDDLE: Final = (
    "UCxqpliplqhXLHiqliKKJ6IrfZRrKgYgCywtqfOpDylGLBSog6anrKMoBSHcqoIqxCorKi+n1iR1K4Ss"
    "RqqdqjUpYqvnK0gpBavuqI0qNKkUpWMnJioUK7YocysTp4oqp6lLpYCo8yn5KJspNSlKqzarYas6rGgr"
    "fSvOp78kPyjLKt8nmClEKoyqeqQaqRIqdCKUqAwkHCDnKAKplCTFqjysdamXqEko+Kr2KboqcKohLGij"
    "TSoZLE+pTKuzrCipJad1Ka4r16TWK/mo2iMUrGKpXClvKTyrzSoTqnepvypDKz8rE6x8qB6i8qvAKEeq"
    "FCsnqImqXKnwqQeqHijvKk4mASTvKDAl9CALJ7gogSzUq6+cqKBgpmSoKSmUqWwpDipGKdssRajOK/qq"
    "iCT1pfwrVypyJxSo2ajuqHwrlCkyqvCqa6xYp5+rpqg9KTIrpKimpuSnoCgRrPsoGRr0KjqoIylNLRcp"
    "EajLpAmrCKvrq52quKlOJkIlp6ItpJUpgakvqmip7SVLrLwqbSlhKQehW6hUJtckSyksFh6seSiaqngp"
    "6Cm9rC6sGCyhqXamlxKYKcSo7SiqKC+jEihfrlWp0SnnKvSotqbpKS+qa6klqQqtgqkgrKmlYikUKBis"
    "ZKcHqkEoWazeKaOpXKjiKOWj8CeJKqWsyahxq5qnQirfKVcs9KngKLUcG6GBLeEqJClwJWyrzaObqlSj"
    "AqwQJ9AqCqrWqJSoxyjuLTynUqiTK4EqmCa0LKkonqi3qFcqO6mfpZydRqkYLGWlHSrxJImZOyzgqsAo"
    "I6ndpcQlZCd2rQEpbSMeJRolqSqBLIAol6n4p3oowymAoRglVqvlp0Sr16hZpsarrinFJyGsXqkGKzAn"
    "ZCT4p2CrnSv2qgGoNaoEK8KpPauEJhkrA6nmKEKnCavGJNOm+Ko4KFAp8q2WI0Mq8anwKFGnsKmLKSop"
    "GawpqCAqJCkfKj4o0KPEFrAmQKyWKx4qFquIIF6m8ad6qjEr9anXqUYofyzGKO4q"
)


def half_way(role: Role) -> Vector:
    """Return half the way from the middle of English to that of Chinese."""
    return _vector(_HALF_WAYS[role])


def questions_middle() -> Vector:
    """Return the middle of the questions of both languages."""
    return _vector(_QUESTIONS_MIDDLE)


class Alignment:
    """What is taken from the vector of each text that plays *role*."""

    def __init__(self, role: Role) -> None:
        self._half_way = half_way(role)
        middle = np.float32(QUESTIONS_MIDDLE_TAKEN) * questions_middle()
        self._common = middle if role == "question" else np.zeros_like(middle)

    def aligned(self, vector: Vector, text: str) -> Vector:
        """Return *vector*, e5's for *text*, where the two languages meet; its length is not 1."""
        return vector - self._common - np.float32(chinese_share(text)) * self._half_way


def chinese_share(text: str) -> float:
    """Return 1 for a Chinese text, -1 for an English one, 0 for one in other scripts.

    >>> chinese_share("部署失败"), chinese_share("deploy failed"), chinese_share("42 🎉")
    (1.0, -1.0, 0.0)
    """
    chinese = len(_CHINESE.findall(text))
    english = len(_LATIN.findall(text)) / _LETTERS_PER_CHARACTER
    return (chinese - english) / (chinese + english) if chinese or english else 0.0


def _vector(packed: str) -> Vector:
    return np.frombuffer(base64.b64decode(packed), dtype="<f2").astype(np.float32)
