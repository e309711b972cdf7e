"""The formats that can be imported, in the order in which a file is shown to them."""

from typing import Final

from mnemolog.importers.aider import Aider
from mnemolog.importers.base import Importer
from mnemolog.importers.claude_code import ClaudeCode
from mnemolog.importers.cloud_events import CloudEvents
from mnemolog.importers.codex import Codex
from mnemolog.importers.inspect_log import InspectLog
from mnemolog.importers.langfuse import Langfuse
from mnemolog.importers.llm_logs import LLMLogs
from mnemolog.importers.locomo import LoCoMo
from mnemolog.importers.memorybank import MemoryBank
from mnemolog.importers.mini_swe_agent import MiniSWEAgent
from mnemolog.importers.openai_chat import OpenAIChat
from mnemolog.importers.openhands import OpenHands
from mnemolog.importers.otel import OpenTelemetry
from mnemolog.importers.swe_agent import SWEAgent
from mnemolog.importers.toolbench import ToolBench
from mnemolog.schemas.errors import InvalidSetting

# The more particular a format's marks are, the earlier it is asked.
IMPORTERS: Final[tuple[Importer, ...]] = (
    CloudEvents(),
    LoCoMo(),
    MemoryBank(),
    Aider(),
    Codex(),
    ClaudeCode(),
    LLMLogs(),
    OpenHands(),
    SWEAgent(),
    MiniSWEAgent(),
    ToolBench(),
    Langfuse(),
    InspectLog(),
    OpenTelemetry(),
    OpenAIChat(),
)


def named(name: str) -> Importer:
    """Return the importer of the format *name*. Raises InvalidSetting, which lists the known."""
    for importer in IMPORTERS:
        if importer.name == name:
            return importer
    raise InvalidSetting("format", name, f"known formats: {', '.join(sorted(names()))}")


def names() -> list[str]:
    """Return what `--format` takes."""
    return [importer.name for importer in IMPORTERS]


def recognised(path: str, head: bytes) -> Importer | None:
    """Return the first importer that knows a file called *path* that begins with *head*."""
    return next((i for i in IMPORTERS if i.recognises(path, head)), None)
