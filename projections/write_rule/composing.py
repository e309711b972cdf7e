"""How the rules of events put their drafts together."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from mnemolog.projections.write_rule.drafts import Draft, binding_importance, importance_of
from mnemolog.projections.write_rule.outright import statements
from mnemolog.schemas.policy import WritePolicy
from mnemolog.schemas.text import cut
from mnemolog.schemas.values import json_bytes

STATEMENT_CHARACTERS_MAX: Final = 500  # of a sentence that becomes a memory of its own
ALL_KINDS: Final = frozenset({"constraint", "decision", "preference"})
_ENDS: Final = (".", "!", "?", ":", ";", "。", "！", "？", "：", "；", "…")


def draft(
    kind: str,
    text: str,
    write: WritePolicy,
    *,
    success: bool | None = False,
    praised: bool = False,
    **told: Any,
) -> Draft:
    """Return a draft whose importance follows from *kind* and from what came of it."""
    importance = importance_of(kind, write, success=success, praised=praised)
    return Draft(kind=kind, text=text, importance=importance, **told)


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
            importance=binding_importance(kind, write),
            stated_by=stated_by,
            reason=f"said outright: {statement.rule.name}",
        )


def labelled(label: str, text: str | None) -> str:
    """Return *text* behind its label, or nothing where there is no text."""
    return f"{label}: {text}" if text and text.strip() else ""


def joined(*parts: str) -> str:
    """Return *parts* as sentences of one text, empty ones left out."""
    told = [part.strip() for part in parts if part.strip()]
    stopped = [part if part.endswith(_ENDS) else f"{part}." for part in told[:-1]]
    return " ".join([*stopped, *told[-1:]])


def data_text(data: Mapping[str, Any]) -> str:
    """Return what a machine gave, as JSON; nothing gives an empty text."""
    return json_bytes(dict(data)).decode() if data else ""
