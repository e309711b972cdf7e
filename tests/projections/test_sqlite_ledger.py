from contextlib import contextmanager

from contracts.ledger_contract import LedgerContract, digits, parked
from mnemolog.projections.ledger import Entries, ParkedSummary
from mnemolog.projections.sqlite_ledger import LEDGER_SCHEMA, SQLiteLedger
from mnemolog.projections.sqlite_store import open_store, transaction
from mnemolog.schemas.positions import Position


class TestSQLiteLedger(LedgerContract):
    @contextmanager
    def opened(self, folder):
        connection = open_store(folder / "ledger.db", schema=LEDGER_SCHEMA)
        yield SQLiteLedger(connection)
        connection.close()

    def transaction(self, ledger):
        return transaction(ledger._connection, store="ledger.db")

    def test_parked_events_are_found_by_their_positions_and_no_others(self, ledger):
        places = [Position(1, 2), Position(0, 2), Position(0, 7)]
        assert ledger.parked_at(places) == []
        ledger.record(Entries(parked=[parked(1), parked(2), parked(2, partition=1, newer=True)]))
        found = ledger.parked_at(places)
        assert found == [
            ParkedSummary(
                place,
                "agent-1",
                digits(2),
                "decision.made",
                "bad",
                newer=place == (1, 2),
                behind=False,
            )
            for place in places[:2]
        ]

    def test_the_first_parked_are_those_by_their_own_fault(self, ledger):
        ledger.record(Entries(parked=[parked(n, behind=n % 2 == 0) for n in range(9)]))
        first = ledger.first_parked(events_max=2)
        assert [one.position for one in first] == [(0, 1), (0, 3)]
        assert [one.behind for one in first] == [False, False]
