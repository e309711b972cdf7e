"""Langfuse's observations as steps of a trace: what kind each is, what it heard, said and cost."""

from collections.abc import Mapping
from typing import Any, Final

from mnemolog.importers.base import Unreadable
from mnemolog.importers.chat_messages import Call, arguments_of
from mnemolog.importers.moments import moment_of_text
from mnemolog.importers.otel_messages import decoded, messages_of, result_of
from mnemolog.importers.otel_said import Answer, Said, answer_text, says_error
from mnemolog.importers.otel_steps import Kind, Step
from mnemolog.importers.shapes import text_or_none
from mnemolog.importers.usage import count_of, model_use
from mnemolog.schemas.errors import InvalidEvent, shown
from mnemolog.schemas.fields import is_blank
from mnemolog.schemas.ids import check_id

_MODELS: Final = ("GENERATION", "EMBEDDING")
_TOOLS: Final = ("TOOL", "RETRIEVER")
_KINDS: Final = {"AGENT": "agent", "LLM": "model", "TOOL": "tool", "RETRIEVER": "tool"}
_TOOL_NAMES: Final = ("gen_ai.tool.name", "ai.toolCall.name", "tool.name")
_CALL_IDS: Final = ("gen_ai.tool.call.id", "ai.toolCall.id", "tool.call.id")
_ARGUMENTS: Final = (
    *("gen_ai.tool.call.arguments", "tool_arguments", "tool.parameters"),
    "gcp.vertex.agent.tool_call_args",
)
_RESULTS: Final = ("gen_ai.tool.call.result", "tool_response", "gcp.vertex.agent.tool_response")
_NOTHING: Final[tuple[Any, ...]] = (None, "", "null", "{}", {})  # it stands elsewhere then
_PREFIXES: Final = ("execute_tool ", "running tool: ", "tool.")


def step_of(value: Any, place: str) -> Step:
    """Return an observation as a step. Raises Unreadable."""
    if not isinstance(value, dict):
        raise Unreadable(f"{shown(value)} is no observation")
    step_id = id_of(value.get("id"), field="id")
    attributes = attributes_of(value)
    kind = _kind(value, attributes)
    heard, said = _messages(value, kind)
    return Step(
        id=step_id,
        parent=text_or_none(value.get("parentObservationId")),
        kind=kind,
        name=text_or_none(value.get("name")) or str(value.get("type")),
        place=place,
        begun=moment_of_text(value.get("startTime")),
        ended=None if value.get("endTime") is None else moment_of_text(value.get("endTime")),
        heard=heard,
        said=said,
        is_plain=_is_plain(value),
        use=_use(value),
        call=_call(value, attributes) if kind == "tool" else None,
        answer=_answer(value, attributes) if kind == "tool" else None,
        error=_error(value),
    )


def id_of(value: Any, *, field: str) -> str:
    """Return an id. Raises Unreadable."""
    try:
        return check_id(value, field=field)
    except InvalidEvent as error:
        raise Unreadable(str(error)) from error


def attributes_of(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes that a span came with, which Langfuse keeps as metadata."""
    metadata = decoded(value.get("metadata"))
    attributes = metadata.get("attributes") if isinstance(metadata, dict) else None
    return attributes if isinstance(attributes, dict) else {}


def _kind(value: Mapping[str, Any], attributes: Mapping[str, Any]) -> Kind:
    """Return what a step is: by its type, or by the attributes that it came with."""
    named = value.get("type")
    if named in _MODELS:
        return "model"
    if named in _TOOLS:
        return "tool"
    hint = attributes.get("openinference.span.kind")
    if "gen_ai.tool.name" in attributes or _tool_message(value):
        hint = "TOOL"
    kind = _KINDS.get(hint) if isinstance(hint, str) else None
    if kind == "tool":
        return "tool" if _has_answered(value) else "other"
    return "agent" if named == "AGENT" or kind == "agent" else "other"


def _tool_message(value: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a step's output if it is a tool's message, as LangChain has it."""
    output = decoded(value.get("output"))
    is_one = isinstance(output, dict) and output.get("type") == "tool" and "content" in output
    return output if is_one else None


def _has_answered(value: Mapping[str, Any]) -> bool:
    """Say whether a step that may be a tool's call has an end that tells something.

    Frameworks that record a call's start and its end apart tell the answer once.
    """
    return value.get("output") not in _NOTHING or _error(value) is not None


def _messages(value: Mapping[str, Any], kind: Kind) -> tuple[tuple[Said, ...], tuple[Said, ...]]:
    if kind == "tool" or value.get("type") == "EMBEDDING":
        return (), ()
    heard = messages_of(value.get("input"), role="user")
    said = messages_of(value.get("output"), role="assistant")
    output = decoded(value.get("output"))
    if kind == "model" and not said and isinstance(output, dict | list) and output:
        said = [Said(role="assistant", text=answer_text(output))]  # what was made to a schema
    return tuple(heard), tuple(said)


def _is_plain(value: Mapping[str, Any]) -> bool:
    texts = (decoded(value.get(key)) for key in ("input", "output"))
    return all(isinstance(text, str | None) for text in texts)


def _use(value: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what a call cost: the counts and the amount that Langfuse worked out."""
    details, older = value.get("usageDetails"), value.get("usage")
    usage = details if isinstance(details, dict) else older if isinstance(older, dict) else {}
    counts = {
        f"{way}_tokens": count_of(value.get(f"{way}Usage")) or usage.get(way)
        for way in ("input", "output")
    }
    cost = value.get("totalCost", value.get("calculatedTotalCost"))
    return model_use(value.get("model"), counts, cost_usd=cost)


def _call(value: Mapping[str, Any], attributes: Mapping[str, Any]) -> Call:
    message = _tool_message(value) or {}
    name = next((attributes[key] for key in _TOOL_NAMES if attributes.get(key)), None)
    named = text_or_none(name) or text_or_none(message.get("name")) or _bare(value)
    given = value.get("input")
    if given in _NOTHING:
        given = next((attributes[key] for key in _ARGUMENTS if key in attributes), given)
    parsed = decoded(given)
    arguments, raw = arguments_of(parsed if isinstance(parsed, dict) else given)
    call_id = next((attributes[key] for key in _CALL_IDS if attributes.get(key)), None)
    return Call(text_or_none(call_id or message.get("tool_call_id")), named, arguments, raw)


def _bare(value: Mapping[str, Any]) -> str:
    """Return a tool's name, which frameworks dress up as a span's."""
    name = text_or_none(value.get("name")) or "tool"
    prefix = next((prefix for prefix in _PREFIXES if name.startswith(prefix)), "")
    bare = name.removeprefix(prefix)
    return name if is_blank(bare) else bare


def _answer(value: Mapping[str, Any], attributes: Mapping[str, Any]) -> Answer:
    message = _tool_message(value)
    output = message["content"] if message else value.get("output")
    if output in _NOTHING:
        output = next((attributes[key] for key in _RESULTS if key in attributes), output)
    text = result_of(output)
    failed = message is not None and message.get("status") == "error"
    return Answer(text, failed=failed or says_error(text))


def _error(value: Mapping[str, Any]) -> str | None:
    if value.get("level") != "ERROR":
        return None
    return text_or_none(value.get("statusMessage")) or "failed"
