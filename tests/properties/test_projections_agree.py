"""What several projections say of one thing is the same, for any history."""

import tempfile
from contextlib import ExitStack, closing
from datetime import datetime
from pathlib import Path

from hypothesis import HealthCheck, Phase, example, given, settings

from contracts.projection_contract import place_in
from mnemolog.projections.analytics.projection import AnalyticsProjection
from mnemolog.projections.checkpoints.projection import CheckpointsProjection
from mnemolog.projections.checkpoints.reading import CheckpointReader
from mnemolog.projections.kinds import NAMES
from mnemolog.projections.memories.embedding import CheckedEmbedder
from mnemolog.projections.memories.hashing_embedder import HashingModel
from mnemolog.projections.memories.projection import MemoriesProjection
from mnemolog.projections.memories.sqlite_vector_cache import SQLiteVectorCache
from mnemolog.projections.weights.projection import WeightsProjection
from mnemolog.projections.weights.reading import WeightReader
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events import memory as mem
from mnemolog.schemas.times import microseconds
from support.histories import START, batches, happened, memory_of, recorded
from support.random_histories import histories

SOME = settings(
    max_examples=6,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking takes minutes of disk
    suppress_health_check=list(HealthCheck),
    deadline=None,
)
MEMORY, OTHER = memory_of("e0"), memory_of("e1")
SUPERSEDED = [
    ex.ObservationRecorded(text="The gate opens at nine."),
    ex.ObservationRecorded(text="The gate opens at ten."),
    mem.MemorySuperseded(memory=MEMORY, superseded_by=OTHER, valid_until=START),
    mem.MemorySuperseded(memory=MEMORY),
]
START_AGAIN = ex.ActionStarted(action="a1", tool="bash")
ACTED = [
    START_AGAIN,
    START_AGAIN,
    ex.ActionFinished(action="a1", success=True),
    happened(START_AGAIN, session="s1"),
    happened(ex.SessionEnded(), session="s1"),
    happened(ex.SessionStarted(), session="s1"),
    happened(START_AGAIN, session="s1"),
]
CAUSED = [SUPERSEDED[0], happened(SUPERSEDED[1], cause="e0"), happened(SUPERSEDED[1], cause="e1")]
TOLD = "The shop opens at nine. Never deploy on a Friday."  # two memories
FORGOTTEN = [ex.MessageExchanged(role="user", text=TOLD), mem.MemoryForgotten(texts=[TOLD])]
STATE = ("importance", "superseded", "superseded_by", "archived", "valid_from", "valid_until")
STATUS = {"succeeded": "finished", "failed": "finished", "running": "pending"}


def memories_of(folder):
    cache = SQLiteVectorCache(folder / "vectors.db")
    embedder = CheckedEmbedder(HashingModel())
    return MemoriesProjection.open(place_in(folder), embedder=embedder, cache=cache)


def state(values):
    """Return how a memory stands, by what the content of memories says of it."""
    return {name: values[name] for name in STATE}


def stand(standing):
    """Return the same by its weight's standing."""
    values = [getattr(standing, name) for name in STATE]
    numbers = [microseconds(one) if isinstance(one, datetime) else one for one in values]
    return dict(zip(STATE, numbers, strict=True))


class Models:
    """The four read models of one history, each in a folder of its own."""

    def __init__(self, folder, opened):
        folders = {kind: folder / kind for kind in NAMES}
        for one in folders.values():
            one.mkdir()
        self.generations = {kind: place_in(one).folder for kind, one in folders.items()}
        self.memories = memories_of(folders["memories"])
        self.weights = WeightsProjection.open(place_in(folders["weights"]))
        self.analytics = AnalyticsProjection.open(place_in(folders["analytics"]))
        self.checkpoints = CheckpointsProjection.open(place_in(folders["checkpoints"]))
        self.all = (self.memories, self.weights, self.analytics, self.checkpoints)
        for projection in self.all:
            opened.enter_context(closing(projection))

    def rows(self, table):
        return [row for row in self.memories.content() if row.table == table]

    def ask(self, statement):
        return self.analytics._connection.execute(statement).fetchall()


def said_of_memories(models, opened):
    """Return how memories stand by memories, by weights and by analytics."""
    found = {row.row_id: state(row.values) for row in models.rows("memories")}
    reader = WeightReader.open(models.generations["weights"])
    opened.enter_context(closing(reader))
    every = {row.row_id for row in models.weights.content() if row.table == "memories"}
    standings = {id_: stand(one) for id_, one in reader.standings(every).items()}
    names = "importance, superseded, superseded_by, archived"
    told = models.ask(
        f"SELECT memory, {names}, epoch_us(valid_from), epoch_us(valid_until) FROM memories"
    )
    rows = {id_: dict(zip(STATE, values, strict=True)) for id_, *values in told}
    return found, standings, rows


def said_of_links(models):
    """Return the links by memories and by analytics."""
    found = {tuple(row.values.values()) for row in models.rows("links")}
    told = models.ask("SELECT from_memory, to_memory, kind, score, identity::VARCHAR FROM links")
    return found, {(*ends, cause.replace("-", "")) for *ends, cause in told}


def said_of_actions(models, opened):
    """Return how started actions stand by checkpoints and by analytics."""
    reader = CheckpointReader.open(models.generations["checkpoints"])
    opened.enter_context(closing(reader))
    found = {one.started.identity: one.status.value for one in reader.actions()}
    told = models.ask(
        "SELECT started_identity::VARCHAR, status FROM actions WHERE started_identity IS NOT NULL"
    )
    return found, {id_.replace("-", ""): STATUS.get(one, one) for id_, one in told}


@SOME
@given(history=histories())
@example(history=SUPERSEDED)
@example(history=ACTED)
@example(history=CAUSED)
@example(history=FORGOTTEN)
@example(history=[FORGOTTEN[1], FORGOTTEN[0]])
def test_what_is_said_of_memories_links_and_actions_is_the_same_everywhere(history):
    with tempfile.TemporaryDirectory() as name, ExitStack() as opened:
        models = Models(Path(name), opened)
        for batch in batches(recorded(*history)):
            for projection in models.all:
                projection.apply(batch)
        by_memories, by_weights, by_analytics = said_of_memories(models, opened)
        assert by_weights == by_memories
        assert by_analytics == by_memories
        links, of_analysts = said_of_links(models)
        assert of_analysts == links
        actions, of_analysts = said_of_actions(models, opened)
        assert of_analysts == actions
