"""One call of a model in all the conventions that spans keep.

A system says "Be brief.", a user "Look up.", and the assistant "I look." while it calls a tool.
"""

import json

from support.spans import asks, chat, says

OLDER = {"gen_ai.usage.prompt_tokens": 12, "gen_ai.usage.completion_tokens": 3}
OPEN = {"llm.model_name": "small-1", "llm.token_count.prompt": 12, "llm.token_count.completion": 3}
VERCEL = {
    "ai.response.model": "small-1",
    "ai.usage.promptTokens": 12,
    "ai.usage.completionTokens": 3,
}
ARGUMENTS = json.dumps({"at": "sky"})

CONVENTIONS = {
    "present": chat(
        [says("system", "Be brief."), says("user", "Look up.")],
        [says("assistant", "I look.", asks("look", at="sky"))],
    ),
    "present, instructions apart": chat(
        [says("user", "Look up.")],
        [says("assistant", "I look.", asks("look", at="sky"))],
        **{"gen_ai.system_instructions": json.dumps([{"type": "text", "content": "Be brief."}])},
    ),
    "flattened prompts": {
        "gen_ai.request.model": "small",
        "gen_ai.response.model": "small-1",
        **OLDER,
        "gen_ai.prompt.0.role": "system",
        "gen_ai.prompt.0.content": "Be brief.",
        "gen_ai.prompt.1.role": "user",
        "gen_ai.prompt.1.content": json.dumps([{"type": "text", "text": "Look up."}]),
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": "I look.",
        "gen_ai.completion.0.tool_calls.0.id": "call-1",
        "gen_ai.completion.0.tool_calls.0.name": "look",
        "gen_ai.completion.0.tool_calls.0.arguments": ARGUMENTS,
    },
    "OpenInference": {
        "openinference.span.kind": "LLM",
        **OPEN,
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.0.message.content": "Be brief.",
        "llm.input_messages.3.message.role": "user",
        "llm.input_messages.3.message.contents.1.message_content.type": "text",
        "llm.input_messages.3.message.contents.1.message_content.text": "Look up.",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "I look.",
        "llm.output_messages.0.message.tool_calls.0.tool_call.id": "call-1",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "look",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": ARGUMENTS,
    },
    "Vercel AI SDK": {
        "ai.operationId": "ai.generateText.doGenerate",
        **VERCEL,
        "ai.prompt.messages": json.dumps(
            [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": [{"type": "text", "text": "Look up."}]},
            ]
        ),
        "ai.response.text": "I look.",
        "ai.response.toolCalls": json.dumps(
            [{"toolCallId": "call-1", "toolName": "look", "input": ARGUMENTS}]
        ),
    },
    "values as JSON": {
        "openinference.span.kind": "LLM",
        **OPEN,
        "input.value": json.dumps(
            {
                "messages": [
                    {"role": "system", "content": "Be brief."},
                    {"role": "user", "content": "Look up."},
                ]
            }
        ),
        "output.value": json.dumps(
            {
                "choices": [
                    {
                        "message": {
                            "role": "assistant",
                            "content": "I look.",
                            "tool_calls": [
                                {
                                    "id": "call-1",
                                    "function": {"name": "look", "arguments": ARGUMENTS},
                                }
                            ],
                        }
                    }
                ]
            }
        ),
    },
}
