"""How the lines of Claude Code hang together: lanes, parents, turns, and who repeats whom.

A line's `parentUuid` is only ever looked up among the lines before it, one step and never a walk,
so that a chain that leads back to itself is harmless. What is remembered is bounded.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from mnemolog.importers.bounded import Bounded
from mnemolog.importers.claude_code_lines import Answered, Block, Line, Said, blocks_of
from mnemolog.importers.claude_code_words import speaker_of
from mnemolog.importers.shapes import text_or_none

LINES_MAX: Final = 65_536  # whose uuid is remembered
_OTHER_PARENTS: Final = ("logicalParentUuid", "leafUuid")
LANES_MAX: Final = 256  # sessions and sub-agents' runs of a file that are remembered


@dataclass(slots=True, eq=False)
class Lane:
    """The main line of a session, or a run of a sub-agent beside it.

    `turn` counts its prompts and the model's messages. `ref` names what was said last, by what
    lasts in a replay.
    """

    session: str
    sub_agent: str | None
    ref: str
    turn: int = 0
    message: str | None = None  # the id of the model's last message
    is_linked: bool = False  # its lines name those before them


@dataclass(slots=True, eq=False)
class Node:
    """A line that others may have as their parent; `event` is what was told of it last."""

    lane: Lane
    turn: int
    ref: str
    event: str | None = None


@dataclass(slots=True, eq=False)
class Step:
    """A line in its lane, or the lines of one message of the model, which share its id."""

    line: Line
    at: datetime
    lane: Lane
    nodes: list[Node]
    parent: Node | None
    ref: str = ""
    blocks: list[Block | str] = field(default_factory=list)
    is_prompt: bool = False
    is_rewind: bool = False  # a prompt behind which others were given up
    message: str | None = None  # the id of the model's message
    said: Mapping[str, Any] = field(default_factory=dict)  # that message, as its last line has it
    follower: str | None = None  # of a prompt: the message that follows it in its lane
    is_leaf: bool = False  # of a summary: nothing was said behind what it sums up

    @property
    def moves_on(self) -> bool:
        """Say whether what was open in the lane before is past."""
        return self.is_prompt or self.message is not None

    @property
    def words(self) -> str:
        """What is said in it, and not thought."""
        said = [block for block in self.blocks if isinstance(block, Said) and not block.is_thought]
        return "\n".join(block.text for block in said)


class Chain:
    """Takes lines in order and says where each belongs."""

    def __init__(self) -> None:
        self._nodes: Bounded[str, Node] = Bounded(LINES_MAX)
        self._lanes: Bounded[tuple[str, str | None], Lane] = Bounded(LANES_MAX)
        self._session: str | None = None

    def parent_of(self, line: Line) -> Node | None:
        """Return the line before *line* that it goes on from, or sums up."""
        uuids = [line.parent, *(text_or_none(line.value.get(key)) for key in _OTHER_PARENTS)]
        nodes = (self._nodes.get(uuid) for uuid in uuids if uuid is not None)
        return next((node for node in nodes if node is not None), None)

    def take(self, line: Line, at: datetime) -> Step:
        """Return *line* in its place. Raises Unreadable; it is a link of the chain all the same."""
        parent = self.parent_of(line)
        is_summary = line.kind == "summary" and parent is not None
        lane = parent.lane if is_summary and parent else self._lane(line, parent)
        lane.is_linked |= parent is not None and parent.lane is lane
        node = Node(lane, lane.turn, parent.ref if parent else lane.ref)
        step = Step(line, at, lane, [node], parent, ref=node.ref)
        step.is_leaf = is_summary and parent is not None and parent.turn == lane.turn
        if line.uuid is not None:
            self._nodes[line.uuid] = node
        if line.kind == "assistant":
            self._say(step)
        elif line.kind == "user":
            self._hear(step)
        node.turn, node.ref = lane.turn, step.ref
        return step

    def _lane(self, line: Line, parent: Node | None) -> Lane:
        session = line.session or self._session
        if session is None:
            session = f"session-{_digest(line.uuid or digest_of_value(line.value))}"
        self._session = session
        sub_agent = self._sub_agent(line, parent) if line.is_sidechain else None
        key = (session, sub_agent)
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = Lane(session, sub_agent, _digest(*filter(None, key)))
        return lane

    def _sub_agent(self, line: Line, parent: Node | None) -> str:
        """Return the name of a sub-agent's run: its own, or that of the line that it began with."""
        if line.agent is not None:
            return line.agent
        if parent is not None and parent.lane.sub_agent is not None:
            return parent.lane.sub_agent
        return f"sidechain-{_digest(line.parent or line.uuid or '')}"

    def _say(self, step: Step) -> None:
        step.said = step.line.message
        name = (
            text_or_none(step.said.get("id")) or step.line.uuid or digest_of_value(step.line.value)
        )
        step.message, step.ref = name, f"message {name}"
        if step.lane.message != name:
            step.lane.turn += 1
        step.lane.message, step.lane.ref = name, step.ref
        step.blocks = list(blocks_of(step.said.get("content")))

    def _hear(self, step: Step) -> None:
        step.blocks = list(blocks_of(step.line.message.get("content")))
        answers = [block.call for block in step.blocks if isinstance(block, Answered)]
        if answers:
            step.ref = step.lane.ref = _digest("answers", *answers)
        is_of_the_program = any(
            step.line.value.get(key) is True for key in ("isMeta", "isCompactSummary")
        )
        is_said = len(step.blocks) > len(answers)
        if not is_of_the_program and is_said and speaker_of(step.words) == "user":
            self._prompt(step)

    def _prompt(self, step: Step) -> None:
        parent, lane = step.parent, step.lane
        step.is_prompt = True
        if parent is None:  # to the very start, where the others go on from one another
            step.is_rewind = lane.is_linked and step.line.parent is None
        else:
            step.is_rewind = parent.lane is lane and parent.turn < lane.turn
        step.ref = lane.ref = _digest("prompt", step.ref, step.words)
        lane.turn += 1
        lane.message = None


def with_newer(blocks: list[Block | str], newer: list[Block | str]) -> list[Block | str]:
    """Return the blocks of a message of which *newer* is a later line or snapshot.

    A text that goes on from an earlier one takes its place; what stands there already is not
    doubled.
    """
    merged = list(blocks)
    for block in newer:
        index = next((i for i, known in enumerate(merged) if _is_start(known, block)), None)
        if index is None:
            merged.append(block)
        else:
            merged[index] = block
    return merged


def _is_start(known: Block | str, block: Block | str) -> bool:
    if isinstance(known, Said) and isinstance(block, Said):
        return known.is_thought == block.is_thought and block.text.startswith(known.text)
    return known == block


def _digest(*parts: str) -> str:
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def digest_of(text: str) -> str:
    """Return what names *text* in an id."""
    return _digest(text)


def digest_of_value(value: Mapping[str, Any]) -> str:
    """Return what names *value* in an id."""
    return _digest(json.dumps(value, sort_keys=True))
