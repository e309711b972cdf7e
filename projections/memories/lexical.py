"""The words of a text, for full text search: one way for what is stored and what is asked.

Latin words are folded and split at camelCase, snake_case, dots and slashes beside the whole;
identifiers and paths stay one token too. Scripts without spaces (Chinese, Japanese, Korean,
Thai ...) become characters and overlapping pairs when stored, and pairs when asked: so every
word of two or more characters that stands in a text is found. Traditional and simplified
characters are not joined. The index then stems, and drops English stop words.
"""

import unicodedata
from collections.abc import Iterator
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

_SPACELESS = (
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}ー"
    r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
)
_WORD = rf"[[\p{{L}}\p{{N}}\p{{M}}_]--[{_SPACELESS}]]"
_TOKEN = regex.compile(
    rf"(?P<run>[{_SPACELESS}]+)"
    r"|(?P<language>(?<![\p{L}\p{N}_])[A-Za-z](?:\+\+|#)(?![\p{L}\p{N}_]))"
    rf"|(?P<chunk>{_WORD}+(?:(?:://|::|(?<=[0-9]),(?=[0-9])|['’@./\\:-]){_WORD}+)*)",
    regex.VERSION1,
)
_IGNORABLE = regex.compile(r"[\p{Default_Ignorable_Code_Point}\u20e3]")
_CLITIC = regex.compile(r"['’](?:s|t|d|m|ll|re|ve)(?![\p{L}\p{N}_])", regex.IGNORECASE)
_SEGMENT = regex.compile(r"[/\\:@,'’]+")
_ATOM = regex.compile(r"[./\\:@,_'’-]+")
_HUMP = regex.compile(r"\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+|\p{Lu}+|\p{N}+")
_VERSION = regex.compile(r"v(\d+(?:\.\d+)+)")
_STOP_PHRASE = regex.compile("|".join(sorted(CHINESE_STOP_PHRASES, key=len, reverse=True)))


def index_tokens(text: str) -> list[str]:
    """Return the tokens of a stored *text*, repeats included: at most `INDEX_TOKENS_MAX`.

    >>> index_tokens("权威 INC-21234"), index_tokens("🎉 ...")
    (['权', '权威', '威', 'inc-21234', 'inc', '21234'], [])
    """
    found: list[str] = []
    for match in _matches(text, characters_max=INDEXED_CHARACTERS_MAX):
        found.extend(_stored_run(match["run"]) if match["run"] else _word_tokens(match))
        if len(found) >= INDEX_TOKENS_MAX:
            break
    return found[:INDEX_TOKENS_MAX]


def question_tokens(text: str) -> list[str]:
    """Return the tokens of a question, each once: at most `QUESTION_TOKENS_MAX`.

    Words that only ask ("what", "为什么") are left out, unless there is nothing else.

    >>> question_tokens("为什么部署失败"), question_tokens("什么")
    (['部署', '署失', '失败'], ['什么'])
    """
    matches = list(_matches(text, characters_max=QUESTION_CHARACTERS_MAX))
    telling = _once(token for match in matches for token in _telling(match))
    return telling or _once(token for match in matches for token in _asked(match))


def index_text(text: str) -> str:
    """Return the tokens of a stored *text* for a full text index that splits at spaces."""
    return " ".join(index_tokens(text))


def question_text(text: str) -> str:
    """Return the tokens of a question for such an index; empty if it has none."""
    return " ".join(question_tokens(text))


def _matches(text: str, *, characters_max: int) -> Iterator[regex.Match[str]]:
    start = without_base64(text)[:characters_max].replace("\u200b", " ")
    seen = _IGNORABLE.sub("", unicodedata.normalize("NFKC", start))
    return _TOKEN.finditer(_CLITIC.sub(" ", seen[:characters_max]))


def _once(tokens: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(tokens))[:QUESTION_TOKENS_MAX]


def _telling(match: regex.Match[str]) -> list[str]:
    """Return the tokens of *match* that say what is asked for."""
    if match["run"]:
        return _telling_of_run(match["run"])
    return [token for token in _word_tokens(match) if token not in ENGLISH_STOP_WORDS]


def _telling_of_run(run: str) -> list[str]:
    pieces = _STOP_PHRASE.split(run)
    if pieces == [run]:
        return _asked_run(run)
    pieces = [piece.lstrip(CHINESE_LEADING).rstrip(CHINESE_TRAILING) for piece in pieces]
    telling = [piece for piece in pieces if piece and piece not in CHINESE_PARTICLES]
    return [token for piece in telling for token in _asked_run(piece)]


def _asked(match: regex.Match[str]) -> list[str]:
    return _asked_run(match["run"]) if match["run"] else _word_tokens(match)


def _stored_run(run: str) -> Iterator[str]:
    folded = _folded(run)
    for place, character in enumerate(folded):
        yield character
        if place + 1 < len(folded):
            yield folded[place : place + 2]


def _asked_run(run: str) -> list[str]:
    folded = _folded(run)
    return [folded[place : place + 2] for place in range(len(folded) - 1)] or [folded]


def _word_tokens(match: regex.Match[str]) -> list[str]:
    """Return the whole of *match*, its segments, its atoms and their humps, each once."""
    whole = match[0]
    if match["language"] or (whole.islower() and whole.isalpha()):
        return [_cut(whole)]
    tokens = [whole, *_SEGMENT.split(whole)] if _SEGMENT.search(whole) else [whole]
    for atom in _ATOM.split(whole):
        humps = _HUMP.findall(atom)
        tokens += [atom, *(hump for hump in humps if len(hump) > 1 or hump.isdigit())]
    if version := _VERSION.fullmatch(whole):
        tokens.append(version[1])
    if "," in whole:
        tokens.append(whole.replace(",", ""))
    return [token for token in dict.fromkeys(map(_cut, tokens)) if _tells(token)]


def _tells(token: str) -> bool:
    return any(character.isalnum() for character in token)


def _cut(token: str) -> str:
    return _folded(token)[:TOKEN_CHARACTERS_MAX]


def _folded(token: str) -> str:
    return unicodedata.normalize("NFKC", token.casefold())
