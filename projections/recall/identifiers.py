"""Names that stand for one thing: codes, paths, versions, names of code, what is quoted.

A question that holds one asks for the memories that hold it too, letter for letter: words decide
there, and closeness in meaning misleads (INC-21234 and INC-21243 are neighbours to a model).
Pure functions of text.
"""

import unicodedata
from collections.abc import Sequence
from typing import Final

import regex

IDENTIFIERS_MAX: Final = 16  # of one question
IDENTIFIER_CHARACTERS_MAX: Final = 128
SEARCHED_CHARACTERS_MAX: Final = 20_000  # of a question or memory

_QUOTED: Final = regex.compile(
    r"`([^`\n]{2,128})`|\"([^\"\n]{2,128})\"|“([^”\n]{2,128})”|「([^」\n]{2,128})」|《([^》\n]{2,128})》"
)
_CHUNK: Final = regex.compile(r"[A-Za-z0-9_./\\:@~%+#?=&-]++")
_BEFORE: Final = ":!?=&#%"  # a name: what belongs to the sentence
_BEHIND: Final = ".,:!?/-+=&#%"
# Each is matched against a whole chunk of at most IDENTIFIER_CHARACTERS_MAX.
_KINDS: Final = regex.compile(
    r"[a-z][a-z0-9+.-]{1,15}://.+"  # a URL
    r"|[\w.+%-]+@[\w-]+(?:\.[\w-]+)+"  # a@b.c
    r"|~?\.{0,2}(?:/[\w.+@%-]+){2,}"  # /a/b, ./a/b, ~/a/b
    r"|[A-Za-z]:\\[\w\\.~-]+"  # C:\a
    r"|(?:[\w.+@%-]+/)+[\w.@%-]*\.[A-Za-z]\w{0,7}"  # a/b.py
    r"|[\w@%-][\w.@%-]+\.[A-Za-z]\w{0,7}"  # bc.py, but not "e.g"
    r"|(?:[\w.+@%-]+/){2,}[\w.+@%-]+"  # a/b/c
    r"|\w+(?:-\w+)*-(?=\w*\d)\w+"  # INC-21234
    r"|v?\d+(?:\.\d+){1,4}(?:-[\w.]+)?"  # v2.14.3
    r"|_*[A-Za-z0-9]+(?:_+[A-Za-z0-9]+)+_*"  # snake_case
    r"|[A-Za-z_]\w+(?:(?:\.|::)[A-Za-z_]\w*)+"  # dotted.name, a::b
    r"|[A-Za-z][a-z0-9]*(?:[A-Z][a-z0-9]+)+"  # camelCase
    r"|[A-Za-z]+\d{2,}\w*"  # E4031
    r"|(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}",  # a commit
    regex.ASCII,
)


def identifiers_in(text: str) -> tuple[str, ...]:
    """Return the identifiers of a question, folded, each once, at most `IDENTIFIERS_MAX`.

    >>> identifiers_in('why did INC-21234 break src/a.py in "blue moon"?')
    ('blue moon', 'inc-21234', 'src/a.py')
    >>> identifiers_in("why did we roll back?")
    ()
    """
    start = unicodedata.normalize("NFKC", text[:SEARCHED_CHARACTERS_MAX])
    quoted = [next(filter(None, match.groups())) for match in _QUOTED.finditer(start)]
    chunks = (match[0].lstrip(_BEFORE).rstrip(_BEHIND) for match in _CHUNK.finditer(start))
    coded = [chunk for chunk in chunks if _is_coded(chunk)]
    found = (folded_for_search(one).strip() for one in (*quoted, *coded))
    fitting = (one for one in found if 1 < len(one) <= IDENTIFIER_CHARACTERS_MAX)
    return tuple(dict.fromkeys(fitting))[:IDENTIFIERS_MAX]


def share_held(identifiers: Sequence[str], text: str) -> float:
    """Return which share of *identifiers* stands in *text* as whole names.

    >>> share_held(["inc-2123", "gate.py"], "INC-21234 is about gate.py.")
    0.5
    """
    if not identifiers:
        return 0.0
    folded = folded_for_search(text[:SEARCHED_CHARACTERS_MAX])
    return sum(_holds(folded, one) for one in identifiers) / len(identifiers)


def folded_for_search(text: str) -> str:
    """Return *text* without differences of case and width."""
    return unicodedata.normalize("NFKC", text).casefold()


def _is_coded(chunk: str) -> bool:
    return len(chunk) <= IDENTIFIER_CHARACTERS_MAX and _KINDS.fullmatch(chunk) is not None


def _holds(text: str, name: str) -> bool:
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        if not (_joins(text[start - 1 : start], name[0]) or _joins(text[end : end + 1], name[-1])):
            return True
        start = text.find(name, start + 1)
    return False


def _joins(beside: str, edge: str) -> bool:
    return _is_word(beside) and _is_word(edge)


def _is_word(character: str) -> bool:
    return character == "_" or (character.isascii() and character.isalnum())
