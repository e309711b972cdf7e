"""Who says what stands in a user's line of Claude Code: a person, a tool, or the program itself."""

import re
from typing import Final, Literal

Speaker = Literal["user", "tool", "system"]

_BY_TOOLS: Final = (
    *("<local-command-stdout>", "<local-command-stderr>"),
    *("<bash-stdout>", "<bash-stderr>"),
)
_BY_THE_PROGRAM: Final = (
    *("<system-reminder>", "<local-command-caveat>", "<task-notification>"),
    *("<user-prompt-submit-hook>", "[Request interrupted by user"),
    "Caveat: The messages below were generated",
)
_EXIT = re.compile(r"<command-name>\s*/?(?:exit|quit)\s*</command-name>")
_HOOK = re.compile(
    r"(?:PreToolUse|PostToolUse|UserPromptSubmit|SessionStart|SubagentStop|PreCompact)\b"
    r"|\bStop(?:\x1b\S*)? ?[\[:]"
)
_HOOK_CHARACTERS: Final = 200  # within which a line of a hook names it
_REJECTED: Final = "The user doesn't want to"


def speaker_of(text: str) -> Speaker:
    """Return who says *text*, by the marks that the program puts in front of it."""
    words = text.lstrip()
    if words.startswith(_BY_TOOLS):
        return "tool"
    return "system" if words.startswith(_BY_THE_PROGRAM) else "user"


def is_exit(text: str) -> bool:
    """Say whether *text* is the command that ends a session."""
    return _EXIT.search(text) is not None


def is_of_hook(text: str) -> bool:
    """Say whether the program speaks of a hook."""
    return _HOOK.search(text, 0, _HOOK_CHARACTERS) is not None


def is_rejection(text: str) -> bool:
    """Say whether a tool's answer says that a person did not allow the call."""
    return text.startswith(_REJECTED)
