"""A small projection of one's own: every observation's text, in a SQLite file."""

from mnemolog.projections.choosing import choose
from mnemolog.projections.digests import ContentRow
from mnemolog.projections.kinds import Kind
from mnemolog.projections.sqlite_ledger import LEDGER_SCHEMA, SQLiteLedger
from mnemolog.projections.sqlite_store import open_store, transaction
from mnemolog.schemas.errors import StoreUnavailable

SCHEMA = LEDGER_SCHEMA + "CREATE TABLE IF NOT EXISTS texts (agent TEXT, text TEXT);"


def kind(*, version=1, options=None):
    """Return the projection as a kind that a shelf can open."""
    return Kind("texts", version, lambda place: Texts(place.folder / "texts.db"), options or {})


class Texts:
    """Keeps every observation's text, and can be made to fail."""

    name = "texts"
    version = 1

    def __init__(self, path):
        self._store = open_store(path, schema=SCHEMA)
        self._ledger = SQLiteLedger(self._store)
        self.fails = 0

    def progress(self):
        return self._ledger.progress()

    def apply(self, batch):
        with transaction(self._store, store="texts"):
            choice = choose(batch, self._ledger, projection=self.name, wants=is_observation)
            for step in list(choice.steps):
                event = step.item.recorded.event
                if "poison" in event.text:
                    if step in choice.steps:
                        choice.park(step, "it is poison")
                    continue
                if step in choice.steps:
                    row = (step.item.key, event.text)
                    self._store.execute("INSERT INTO texts VALUES (?,?)", row)
            if self.fails:
                self.fails -= 1
                raise StoreUnavailable("texts", "made to fail")
            self._ledger.record(choice.entries)

    def follow_up(self, *, seconds_max):
        return False

    def settled(self):
        return {p: at.last_applied for p, at in self.progress().items()}

    def content(self):
        for number, (agent, text) in enumerate(
            self._store.execute("SELECT * FROM texts ORDER BY rowid")
        ):
            yield ContentRow(agent, "texts", str(number), {"text": text})

    def parked(self):
        return self._ledger.parked()

    def close(self):
        self._store.close()

    def texts(self):
        return [text for (text,) in self._store.execute("SELECT text FROM texts ORDER BY rowid")]


def is_observation(item):
    return item.event_type == "observation.recorded"
