"""The words of a text, for full text search: one way for what is stored and what is asked.

Latin words are folded and split at camelCase, snake_case, dots and slashes beside the whole;
identifiers and paths stay one token too. Scripts without spaces (Chinese, Japanese, Korean,
Thai ...) become characters and overlapping pairs when stored, and pairs when asked: so every
word of two or more characters that stands in a text is found. Traditional and simplified
characters are not joined. The index then stems, and drops English stop words.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import add
from typing import Final

import regex

from mnemolog.projections.memories.readable import without_base64
from mnemolog.projections.memories.stop_words import (
    CHINESE_LEADING,
    CHINESE_PARTICLES,
    CHINESE_STOP_PHRASES,
    CHINESE_TRAILING,
    ENGLISH_STOP_WORDS,
)

INDEXED_CHARACTERS_MAX: Final = 65_536  # of one text; the rest is found by its vector only
INDEX_TOKENS_MAX: Final = 32_768  # some 16,000 Chinese characters
QUESTION_CHARACTERS_MAX: Final = 4_096
QUESTION_TOKENS_MAX: Final = 256
TOKEN_CHARACTERS_MAX: Final = 128  # a longer one is cut, alike on both sides
FTS_TOKEN_LENGTH_MAX: Final = 1_024  # bytes: what the index must let pass
KNOWN_WORDS_MAX: Final = 16_384  # whose tokens are kept: texts use the same words again

_Piece = tuple[str, bool]  # words, and whether they are a run of a script without spaces
_SPACELESS = (
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}ー"
    r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
)
_WORD = rf"[[\p{{L}}\p{{N}}\p{{M}}_]--[{_SPACELESS}]]"
_TOKEN = regex.compile(
    rf"(?P<run>[{_SPACELESS}]+)"
    r"|(?<![\p{L}\p{N}_])[A-Za-z](?:\+\+|#)(?![\p{L}\p{N}_])"  # C++, C#
    rf"|{_WORD}+(?:(?:://|::|(?<=[0-9]),(?=[0-9])|['’@./\\:-]){_WORD}+)*",
    regex.VERSION1,
)
# Most texts are plain: ASCII, the usual Chinese characters, and punctuation. In these the standard
# library finds what `_TOKEN` does, in less than half of the time.
_FIRST_HAN: Final = "\u4e00"
_HAN = rf"{_FIRST_HAN}-\u9fff"
_PLAIN = re.compile(rf"[\x00-\x7f{_HAN}、。《》「」『』【】“”‘’—·…]*")
_PLAIN_TOKEN = re.compile(
    rf"[{_HAN}]+"
    rf"|(?<![\w{_HAN}])[A-Za-z](?:\+\+|#)(?![\w{_HAN}])"
    r"|\w+(?:(?:://|::|(?<=[0-9]),(?=[0-9])|['’@./\\:-])\w+)*",
    re.ASCII,
)
_IGNORABLE = regex.compile(r"[\p{Default_Ignorable_Code_Point}\u20e3]")
_CLITIC = regex.compile(r"['’](?:s|t|d|m|ll|re|ve)(?![\p{L}\p{N}_])", regex.IGNORECASE)
_SEGMENT = re.compile(r"[/\\:@,'’]+")
_ATOM = re.compile(r"[./\\:@,_'’-]+")
_HUMP = regex.compile(r"\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+|\p{Lu}+|\p{N}+")
_ASCII_HUMP = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")  # the same
_VERSION = regex.compile(r"v(\d+(?:\.\d+)+)")
_STOP_PHRASE = regex.compile("|".join(sorted(CHINESE_STOP_PHRASES, key=len, reverse=True)))


def index_tokens(text: str) -> list[str]:
    """Return the tokens of a stored *text*, repeats included: at most `INDEX_TOKENS_MAX`.

    >>> index_tokens("权威 INC-21234"), index_tokens("🎉 ...")
    (['权', '权威', '威', 'inc-21234', 'inc', '21234'], [])
    """
    found: list[str] = []
    for words, is_run in _pieces(text, characters_max=INDEXED_CHARACTERS_MAX):
        found.extend(_stored_run(words) if is_run else _word_tokens(words))
        if len(found) >= INDEX_TOKENS_MAX:
            break
    return found[:INDEX_TOKENS_MAX]


def question_tokens(text: str) -> list[str]:
    """Return the tokens of a question, each once: at most `QUESTION_TOKENS_MAX`.

    Words that only ask ("what", "为什么") are left out, unless there is nothing else.

    >>> question_tokens("为什么部署失败"), question_tokens("什么")
    (['部署', '署失', '失败'], ['什么'])
    """
    pieces = list(_pieces(text, characters_max=QUESTION_CHARACTERS_MAX))
    telling = _once(token for piece in pieces for token in _telling(piece))
    return telling or _once(token for piece in pieces for token in _asked(piece))


def index_text(text: str) -> str:
    """Return the tokens of a stored *text* for a full text index that splits at spaces."""
    return " ".join(index_tokens(text))


def question_text(text: str) -> str:
    """Return the tokens of a question for such an index; empty if it has none."""
    return " ".join(question_tokens(text))


def _pieces(text: str, *, characters_max: int) -> Iterator[_Piece]:
    start = without_base64(text)[:characters_max].replace("\u200b", " ")
    seen = unicodedata.normalize("NFKC", start)
    if _PLAIN.fullmatch(seen):
        words = _PLAIN_TOKEN.findall(_without_clitics(seen[:characters_max]))
        return ((word, word[0] >= _FIRST_HAN) for word in words)
    seen = _without_clitics(_IGNORABLE.sub("", seen)[:characters_max])
    return ((match[0], bool(match["run"])) for match in _TOKEN.finditer(seen))


def _without_clitics(text: str) -> str:
    return _CLITIC.sub(" ", text) if "'" in text or "’" in text else text


def _once(tokens: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(tokens))[:QUESTION_TOKENS_MAX]


def _telling(piece: _Piece) -> Sequence[str]:
    """Return the tokens of *piece* that say what is asked for."""
    words, is_run = piece
    if is_run:
        return _telling_of_run(words)
    return [token for token in _word_tokens(words) if token not in ENGLISH_STOP_WORDS]


def _telling_of_run(run: str) -> list[str]:
    pieces = _STOP_PHRASE.split(run)
    if pieces == [run]:
        return _asked_run(run)
    pieces = [piece.lstrip(CHINESE_LEADING).rstrip(CHINESE_TRAILING) for piece in pieces]
    telling = [piece for piece in pieces if piece and piece not in CHINESE_PARTICLES]
    return [token for piece in telling for token in _asked_run(piece)]


def _asked(piece: _Piece) -> Sequence[str]:
    words, is_run = piece
    return _asked_run(words) if is_run else _word_tokens(words)


def _stored_run(run: str) -> list[str]:
    """Return each character, and each pair between its two."""
    folded = _folded(run)
    tokens = [""] * (2 * len(folded) - 1)
    tokens[::2] = folded
    tokens[1::2] = map(add, folded, folded[1:])
    return tokens


def _asked_run(run: str) -> list[str]:
    folded = _folded(run)
    return [folded[place : place + 2] for place in range(len(folded) - 1)] or [folded]


def _word_tokens(word: str) -> Sequence[str]:
    """Return the whole of *word*, its segments, its atoms and their humps, each once."""
    if _is_one_hump(word):
        return (word[:TOKEN_CHARACTERS_MAX],)  # most words
    return _known_tokens(word) if len(word) <= TOKEN_CHARACTERS_MAX else _tokens(word)


def _is_one_hump(word: str) -> bool:
    """Say whether *word* is of ASCII's small letters, or of its digits, alone."""
    return word.isascii() and (word.isdigit() or (word.isalpha() and word.islower()))


def _tokens(word: str) -> tuple[str, ...]:
    if word.endswith(("+", "#")) or (word.islower() and word.isalpha()):
        return (_cut(word),)
    tokens = [word, *_SEGMENT.split(word)] if _SEGMENT.search(word) else [word]
    for atom in _ATOM.split(word):
        tokens.extend((atom, *_humps(atom)))
    if word.startswith("v") and (version := _VERSION.fullmatch(word)):
        tokens.append(version[1])
    if "," in word:
        tokens.append(word.replace(",", ""))
    return tuple([token for token in dict.fromkeys(map(_cut, tokens)) if _tells(token)])


def _humps(atom: str) -> Sequence[str]:
    """Return the humps of *atom* that tell something; one that is a single hump has no others."""
    if _is_one_hump(atom):
        return ()
    humps = (_ASCII_HUMP if atom.isascii() else _HUMP).findall(atom)
    return [hump for hump in humps if len(hump) > 1 or hump.isdigit()]


_known_tokens = lru_cache(maxsize=KNOWN_WORDS_MAX)(_tokens)


def _tells(token: str) -> bool:
    return token.isalnum() or any(character.isalnum() for character in token)


def _cut(token: str) -> str:
    return _folded(token)[:TOKEN_CHARACTERS_MAX]


def _folded(token: str) -> str:
    return token.lower() if token.isascii() else unicodedata.normalize("NFKC", token.casefold())
