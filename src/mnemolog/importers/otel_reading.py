"""A span as a step: what kind it is, what was heard and said in it, and what that cost.

The conventions of OpenTelemetry for GenAI, present and former, of OpenInference, the Vercel AI SDK
and OpenLLMetry. Where several are in one span, the first that says something counts.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from mnemolog.importers.chat_messages import Call, arguments_of
from mnemolog.importers.otel_attributes import unflattened
from mnemolog.importers.otel_messages import decoded, messages_of, result_of
from mnemolog.importers.otel_said import Answer, Said, first, says_error
from mnemolog.importers.otel_spans import Span
from mnemolog.importers.otel_steps import Kind, Step
from mnemolog.importers.shapes import text_or_none
from mnemolog.importers.usage import model_use
from mnemolog.schemas.fields import is_blank

_MODELS: Final = ("chat", "generate_content", "text_completion", "embeddings", "completion")
_AGENTS: Final = ("invoke_agent", "create_agent", "invoke_workflow", "plan")
_KINDS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(("LLM", "EMBEDDING"), "model"),
    **dict.fromkeys(("TOOL", "RETRIEVER", "RERANKER"), "tool"),
    "AGENT": "agent",
    **dict.fromkeys(("CHAIN", "GUARDRAIL", "EVALUATOR", "PROMPT", "UNKNOWN"), "other"),
}
_TOOL_OPERATION: Final = re.compile(r"execute_tool|retrieval|\w+_memory(?:_store)?")
_INNER_CALL: Final = re.compile(r"ai\.\w+\.do\w+")  # what the Vercel AI SDK asks a provider
_TOOL_NAMES: Final = ("gen_ai.tool.name", "ai.toolCall.name", "tool.name", "traceloop.entity.name")
_CALL_IDS: Final = ("gen_ai.tool.call.id", "ai.toolCall.id", "tool_call.id")
_ARGUMENTS: Final = (
    *("gen_ai.tool.call.arguments", "ai.toolCall.args", "tool.parameters"),
    *("gen_ai.memory.query.text", "traceloop.entity.input", "input.value"),
)
_RESULTS: Final = (
    *("gen_ai.tool.call.result", "ai.toolCall.result", "gen_ai.memory.records"),
    *("gen_ai.retrieval.documents", "traceloop.entity.output", "output.value"),
)
_MODEL_NAMES: Final = (
    *("gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "embedding.model_name"),
    *("ai.response.model", "ai.model.id"),
)
_TOKENS_IN: Final = (
    *("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"),
    *("ai.usage.inputTokens", "ai.usage.promptTokens", "ai.usage.tokens"),
    "llm.usage.prompt_tokens",
)
_TOKENS_OUT: Final = (
    *("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    *("llm.token_count.completion", "ai.usage.outputTokens", "ai.usage.completionTokens"),
    "llm.usage.completion_tokens",
)
_COSTS: Final = ("gen_ai.usage.cost", "llm.cost.total", "gen_ai.usage.total_cost")
_HEARD: Final = (
    *("gen_ai.input.messages", "llm.input_messages", "ai.prompt.messages", "ai.prompt"),
    *("gen_ai.prompt", "llm.prompts", "traceloop.entity.input", "input.value"),
)
_SAID: Final = (
    *("gen_ai.output.messages", "llm.output_messages", "gen_ai.completion"),
    *("llm.completions", "traceloop.entity.output", "output.value"),
)
_TOLD: Final = "gen_ai.client.inference.operation.details"  # an event that holds the messages
_HEARD_EVENT: Final = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message")
_SPOKEN: Final = ("ai.response.text", "ai.response.object", "ai.result.text", "ai.result.object")


def step_of(span: Span) -> Step:
    """Return a span as a step."""
    kind = kind_of(span)
    attributes = {**_of_event(span), **span.attributes}
    return Step(
        id=span.id,
        parent=span.parent,
        kind=kind,
        name=span.name,
        place=span.place,
        begun=span.begun,
        ended=span.ended,
        heard=() if kind in ("tool", "other") else tuple(_heard(span, attributes)),
        said=() if kind in ("tool", "other") else tuple(_said(span, attributes)),
        use=_use(span),
        call=_call(span) if kind == "tool" else None,
        answer=_answer(span) if kind == "tool" else None,
        error=span.error,
    )


def tells(step: Step) -> bool:
    """Say whether anything becomes of *step*."""
    has_failed = step.kind == "model" and step.error is not None
    return bool(step.heard or step.said or step.use or step.kind == "tool" or has_failed)


def is_wrapper(span: Span) -> bool:
    """Say whether *span* is a call of the Vercel AI SDK that holds its calls of a provider."""
    operation = span.attributes.get("ai.operationId")
    is_tool = "ai.toolCall.name" in span.attributes
    return isinstance(operation, str) and not (is_tool or _INNER_CALL.fullmatch(operation))


def kind_of(span: Span) -> Kind:
    """Return what a span is: by its operation, its kind, or by what it tells of."""
    attributes = span.attributes
    operation = attributes.get("gen_ai.operation.name")
    named = first(attributes, ("openinference.span.kind", "traceloop.span.kind"))
    if operation in _MODELS or _INNER_CALL.fullmatch(str(attributes.get("ai.operationId"))):
        return "model"
    if operation in _AGENTS or is_wrapper(span):
        return "agent"
    is_tool = isinstance(operation, str) and _TOOL_OPERATION.fullmatch(operation)
    if is_tool or first(attributes, ("gen_ai.tool.name", "ai.toolCall.name")) is not None:
        return "tool"
    if isinstance(named, str) and named.upper() in _KINDS:
        return _KINDS[named.upper()]
    asks_model = first(attributes, ("gen_ai.request.model", "llm.request.type")) is not None
    return "model" if asks_model else "other"


def _of_event(span: Span) -> Mapping[str, Any]:
    """Return the attributes of the event in which a span tells its messages, if it has one."""
    return next((event.attributes for event in span.events if event.name == _TOLD), {})


def _heard(span: Span, attributes: Mapping[str, Any]) -> Iterator[Said]:
    system = attributes.get("gen_ai.system_instructions")
    yield from messages_of(system, role="system")
    noted = [messages for event in span.events for messages in _noted(event.name, event.attributes)]
    found = noted or _first_messages(attributes, _HEARD, role="user")
    yield from (said for said in found if system is None or said.role != "system")


def _said(span: Span, attributes: Mapping[str, Any]) -> Iterator[Said]:
    spoken = list(_spoken(attributes))
    choices = [event.attributes for event in span.events if event.name == "gen_ai.choice"]
    noted = [said for choice in choices for said in messages_of(_choice(choice), role="assistant")]
    for event in span.events:
        if event.name == "gen_ai.content.completion":
            told = event.attributes.get("gen_ai.completion")
            noted += messages_of(told, role="assistant")
    yield from spoken or noted or _first_messages(attributes, _SAID, role="assistant")


def _first_messages(
    attributes: Mapping[str, Any], names: tuple[str, ...], *, role: str
) -> list[Said]:
    """Return the messages under the first of *names* that holds any."""
    for name in names:
        value = unflattened(attributes, name)
        if value is not None and (found := messages_of(_readable(value), role=role)):
            return found
    return []


def _readable(value: Any) -> Any:
    """Return messages with contents that are JSON lists of parts as what they are."""
    if not isinstance(value, list):
        return value
    return [
        {**item, "content": decoded(content)}
        if isinstance(item, dict)
        and isinstance(content := item.get("content"), str)
        and content.startswith('[{"type"')
        else item
        for item in value
    ]


def _noted(name: str, attributes: Mapping[str, Any]) -> Iterator[Said]:
    """Yield the messages that an event of a span tells, as former conventions have it."""
    if found := _HEARD_EVENT.fullmatch(name):
        told = {"role": found[1], **attributes}
        content = decoded(told.get("content"))
        yield from messages_of({**told, "content": content, **_calls(told)}, role=found[1])
    elif name == "gen_ai.content.prompt":
        yield from messages_of(attributes.get("gen_ai.prompt"), role="user")


def _choice(attributes: Mapping[str, Any]) -> dict[str, Any]:
    message = decoded(attributes.get("message"))
    told = message if isinstance(message, dict) else dict(attributes)
    return {**told, "role": "assistant", **_calls(told)}


def _calls(told: Mapping[str, Any]) -> dict[str, Any]:
    calls = decoded(told.get("tool_calls"))
    return {"tool_calls": calls} if isinstance(calls, list) else {}


def _spoken(attributes: Mapping[str, Any]) -> Iterator[Said]:
    """Yield what the Vercel AI SDK tells of a model's answer."""
    text = text_or_none(first(attributes, _SPOKEN)) or ""
    thought = text_or_none(attributes.get("ai.response.reasoning"))
    called = first(attributes, ("ai.response.toolCalls", "ai.result.toolCalls"))
    calls = [call for said in messages_of(called, role="assistant") for call in said.calls]
    if text or thought or calls:
        thoughts = (thought,) if thought and not is_blank(thought) else ()
        yield Said(role="assistant", text=text, thoughts=thoughts, calls=tuple(calls))


def _use(span: Span) -> dict[str, Any] | None:
    """Return what a call cost; one that holds others repeats what these cost."""
    if is_wrapper(span):
        return None
    attributes = span.attributes
    counts = {
        "input_tokens": first(attributes, _TOKENS_IN),
        "output_tokens": first(attributes, _TOKENS_OUT),
    }
    cost = first(attributes, _COSTS)
    return model_use(first(attributes, _MODEL_NAMES), counts, cost_usd=cost)


def _call(span: Span) -> Call:
    """Return the call that a tool's span records; it may be of a retriever or of a memory."""
    attributes = span.attributes
    operation = text_or_none(attributes.get("gen_ai.operation.name"))
    is_tool = operation in (None, "execute_tool")
    otherwise = span.name.removeprefix("execute_tool ") if is_tool else operation
    tool = text_or_none(first(attributes, _TOOL_NAMES)) or otherwise or "tool"
    arguments, raw = arguments_of(decoded(first(attributes, _ARGUMENTS)))
    return Call(text_or_none(first(attributes, _CALL_IDS)), tool, arguments, raw)


def _answer(span: Span) -> Answer:
    documents = unflattened(span.attributes, "retrieval.documents")
    text = result_of(first(span.attributes, _RESULTS) if documents is None else documents)
    return Answer(text, failed=span.error is not None or says_error(text))
