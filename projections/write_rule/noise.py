"""Texts that say nothing that could be remembered: confirmations, bare signs, debug lines.

`noise` is asked for texts of people and tools; it never judges an error.
"""

import re
import unicodedata
from typing import Final

NOISE_CHARACTERS_MAX: Final = 80  # a longer text is no confirmation

_CONFIRMATIONS: Final = frozenset(
    """
    ok|okay|k|kk|yes|yep|yeah|yup|ya|sure|fine|right|correct|exactly|agreed|indeed|alright|all right
    thanks|thank you|thank you so much|thank you very much|thanks a lot|many thanks|thx|ty|cheers
    got it|i see|understood|roger|roger that|noted|acknowledged|ack|will do|done|great|good|nice
    cool|perfect|excellent|awesome|wonderful|sounds good|looks good|looks good to me|lgtm
    no problem|np|you're welcome|you are welcome|of course|certainly|absolutely|go ahead|go on
    continue|please continue|carry on|proceed|please proceed|next|please|hi|hello|hey|hi there
    hello there|good morning|good afternoon|good evening|bye|goodbye|see you|good night|hm|hmm|mm
    uh huh|ah|oh|wow|true|success|null|none|ping|pong|heartbeat|keepalive|keep alive|yes please
    that's right|that is right|that's correct|that is correct|makes sense|that works|works for me
    好|好的|好吧|好呀|好啊|好嘞|好滴|好了|行|行吧|可以|可以的|没问题|没事|收到|收到了|了解|了解了
    明白|明白了|知道了|知道|懂了|继续|请继续|继续吧|接着来|接着说|下一步|下一个|是|是的|对|对的|对啊
    没错|嗯|嗯嗯|嗯呢|哦|哦哦|噢|啊|呵呵|哈哈|哈哈哈|谢谢|谢谢你|谢谢您|谢了|多谢|非常感谢|感谢|辛苦了
    不客气|不用谢|你好|您好|早上好|晚上好|晚安|再见|拜拜|同意|确认|已确认|完成|已完成|完成了|成功|棒
    太好了|很好|不错|真棒|赞|当然|没关系|稍等|请稍等
    """.replace("\n", "|")
    .replace("    ", "")
    .split("|")
) - {""}

_WORDS_BETWEEN: Final = frozenset({"and", "so", "well", "then", "very", "much", "again", "now"})
_DEBUG = re.compile(
    r"\s*(?:\[?\d{4}-\d\d-\d\d[T ]?[\d:.,+Z-]*\]?\s*)?[\[<(]?(?:DEBUG|TRACE|VERBOSE)\b[\])>]?"
)
_BETWEEN_PIECES = re.compile(r"[^\w\s']+|\n")


def noise(text: str) -> str | None:
    """Return the name of the rule by which *text* says nothing, or None if it may say something.

    >>> noise("好的，继续。"), noise("OK, thanks!"), noise("👍"), noise("ok, but use port 8443")
    ('confirmation', 'confirmation', 'bare signs', None)
    """
    if not text.strip():
        return "empty"
    if not any(character.isalnum() for character in text):
        return "bare signs"
    if all(_DEBUG.match(line) for line in text.splitlines() if line.strip()):
        return "debug line"
    return "confirmation" if _is_confirmation(text) else None


def _is_confirmation(text: str) -> bool:
    if len(text) > NOISE_CHARACTERS_MAX:
        return False
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    pieces = [" ".join(piece.split()) for piece in _BETWEEN_PIECES.split(folded)]
    return all(_confirms(piece) for piece in pieces if piece)


def _confirms(piece: str) -> bool:
    if piece in _CONFIRMATIONS:
        return True
    words = piece.split()
    return len(words) > 1 and all(w in _CONFIRMATIONS or w in _WORDS_BETWEEN for w in words)
