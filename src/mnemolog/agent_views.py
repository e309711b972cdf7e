"""What is known here of where an agent stands, at this moment: for what can't wait for a processor.

The rule is that of the processor of checkpoints. It begins with the state that a host of it left in
the tenant's folder, or a former call here, and reads on to the log's end.
"""

import threading
from collections import OrderedDict
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mnemolog.projections.sqlite_ledger import SQLiteLedger
from mnemolog.projections.sqlite_store import open_store, speaking_of
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.decoded import Ours
from mnemolog.schemas.errors import Damaged, StoreUnavailable
from mnemolog.schemas.events.governance import PolicyChanged
from mnemolog.schemas.partitioning import is_governance_key, partition_of
from mnemolog.schemas.policy import BUILT_IN, CheckpointPolicy
from mnemolog.schemas.records import LogRecord
from mnemolog.streams.log import Log
from mnemolog.streams.processing import source_of
from mnemolog.streams.processor_store import SCHEMA, ProcessorStore, path_of
from mnemolog.streams.processors.checkpoints import CHECKPOINTS, CheckpointProcessor, folded
from mnemolog.streams.processors.work_state import STATES, AgentState, View

AGENTS_MAX: Final = 64  # whose states one handle keeps; the one asked for least recently goes
RECORDS_MAX: Final = 20_000  # of the log that are read for one answer: the last ones


@dataclass(slots=True)
class _Known:
    """A state, up to where it was folded, and the policy there.

    Where a host left it, what triggers is saved by the processor, soon. Without one only what is
    on the log was saved.
    """

    state: AgentState
    next_offset: int
    revision: int
    policy: CheckpointPolicy
    is_hosted: bool


class AgentViews:
    """Tells where agents stand in their tasks. Any thread may ask."""

    def __init__(self, log: Log, codec: Codec, *, tenant_folder: Path) -> None:
        self._log = log
        self._codec = codec
        self._path = path_of(tenant_folder, CHECKPOINTS)
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._asking = threading.Lock()

    def view(self, agent: str, task: str | None) -> tuple[View, CheckpointPolicy]:
        """Return what is known of *task*, and the policy in force. Raises LogUnavailable."""
        with self._asking:
            partition = partition_of(agent.encode(), partitions=self._log.partitions)
            known = self._known.pop(agent, None) or self._left(agent, partition)
            self._read_on(known, agent, partition)
            self._known[agent] = known
            if len(self._known) > AGENTS_MAX:
                self._known.popitem(last=False)
            return known.state.view(task), known.policy

    def _left(self, agent: str, partition: int) -> _Known:
        """Return what a host left in the tenant's folder, or nothing from the log's start."""
        if self._path.exists():
            try:
                with speaking_of(self._path):
                    return self._from_file(agent, partition)
            except (Damaged, StoreUnavailable):
                pass  # it only saves time
        return _Known(AgentState(), 0, 0, BUILT_IN.checkpoints, is_hosted=False)

    def _from_file(self, agent: str, partition: int) -> _Known:
        with closing(open_store(self._path, schema=SCHEMA, read_only=True)) as connection:
            connection.execute("BEGIN")  # state and progress of one moment
            ledger, found = SQLiteLedger(connection), ProcessorStore(connection).states([agent])
            progress, policy = ledger.progress().get(partition), ledger.policies().get(partition)
        return _Known(
            state=STATES.validate_json(found[agent]) if agent in found else AgentState(),
            next_offset=0 if progress is None else progress.next_to_apply,
            revision=0 if policy is None else policy.revision,
            policy=BUILT_IN.checkpoints if policy is None else policy.policy.checkpoints,
            is_hosted=progress is not None,
        )

    def _read_on(self, known: _Known, agent: str, partition: int) -> None:
        end = self._log.ends()[partition]
        start = max(known.next_offset, end - RECORDS_MAX, self._log.starts()[partition])
        if start >= end:
            return
        with closing(self._log.reader({partition: start})) as reader:
            while reader.positions()[partition] < end:
                for record in reader.poll(records_max=RECORDS_MAX, wait_seconds=1):
                    self._fold(known, record, agent)
            known.next_offset = reader.positions()[partition]

    def _fold(self, known: _Known, record: LogRecord, agent: str) -> None:
        key = (record.key or b"").decode(errors="replace")
        if key != agent and not is_governance_key(key):
            return
        item = self._codec.decode(record)
        if not isinstance(item, Ours):
            return
        event = item.recorded.event
        if isinstance(event, PolicyChanged) and event.revision > known.revision:
            known.revision, known.policy = event.revision, event.policy.checkpoints
        is_own = item.envelope.source == source_of(CHECKPOINTS)
        is_input = item.event_type in CheckpointProcessor.inputs
        if key == agent and is_input and not (is_own and known.is_hosted):
            policy = known.policy
            if not known.is_hosted:
                policy = policy.model_copy(update={"enabled": False})
            known.state = folded(known.state, item.recorded, policy).state
