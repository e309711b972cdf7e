"""How the rules of events put their drafts together."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from mnemolog.projections.write_rule.drafts import Draft, binding_importance, importance_of
from mnemolog.projections.write_rule.outright import statements
from mnemolog.schemas.policy import WritePolicy
from mnemolog.schemas.text import cut
from mnemolog.schemas.values import json_bytes

STATEMENT_CHARACTERS_MAX: Final = 500  # of a sentence that becomes a memory of its own
ALL_KINDS: Final = frozenset({"constraint", "decision", "preference"})
_ENDS: Final = (".", "!", "?", ":", ";", "。", "！", "？", "：", "；", "…")


class Words(NamedTuple):
    """A text with our labels in it, and its words without them."""

    text: str
    names_in: str


def draft(
    kind: str,
    words: Words | str,
    write: WritePolicy,
    *,
    success: bool | None = False,
    praised: bool = False,
    **told: Any,
) -> Draft:
    """Return a draft whose importance follows from *kind* and from what came of it."""
    importance = importance_of(kind, write, success=success, praised=praised)
    text, names_in = words if isinstance(words, Words) else (words, words)
    return Draft(kind=kind, text=text, names_in=names_in, importance=importance, **told)


def head(text: str, write: WritePolicy, *, reason: str, success: bool | None = False) -> Draft:
    """Return a draft of a tool's words, of which only the head is kept."""
    kept = cut(text, characters_max=write.result_head_characters)
    return draft("result", kept, write, stated_by="tool", reason=reason, success=success)


def said_outright(
    text: str,
    write: WritePolicy,
    *,
    stated_by: str,
    kinds: Iterable[str] = ALL_KINDS,
    said: str = "",
) -> Iterator[Draft]:
    """Yield a draft for each sentence of *text* that states something of *kinds* outright."""
    for statement in statements(text, kinds=frozenset(kinds)):
        kind = statement.rule.kind
        yield Draft(
            kind=kind,
            text=said + cut(statement.text, characters_max=STATEMENT_CHARACTERS_MAX),
            names_in=statement.text,
            importance=binding_importance(kind, write),
            stated_by=stated_by,
            reason=f"said outright: {statement.rule.name}",
        )


def labelled(*parts: tuple[str, str | None]) -> Words:
    """Return *parts*, each behind its label, as sentences of one text; empty ones are left out.

    >>> labelled(("Blocked", "no access"), ("Needs", "a key"), ("By", None)).text
    'Blocked: no access. Needs: a key'
    """
    told = [(label, text.strip()) for label, text in parts if text and text.strip()]
    with_labels = [f"{label}: {text}" if label else text for label, text in told]
    return Words(_joined(with_labels), _joined([text for _, text in told]))


def _joined(told: list[str]) -> str:
    stopped = [part if part.endswith(_ENDS) else f"{part}." for part in told[:-1]]
    return " ".join([*stopped, *told[-1:]])


def data_text(data: Mapping[str, Any]) -> str:
    """Return what a machine gave, as JSON; nothing gives an empty text."""
    return json_bytes(dict(data)).decode() if data else ""
