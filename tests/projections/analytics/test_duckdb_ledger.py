from contextlib import contextmanager

from contracts.ledger_contract import LedgerContract
from mnemolog.projections.analytics.duckdb_ledger import DuckDBLedger, create_ledger
from mnemolog.projections.analytics.duckdb_store import open_live, transaction


class TestDuckDBLedger(LedgerContract):
    @contextmanager
    def opened(self, folder):
        path = folder / "ledger.duckdb"
        is_new = not path.exists()
        connection = open_live(path)
        if is_new:
            create_ledger(connection)
        yield DuckDBLedger(connection)
        connection.close()

    def transaction(self, ledger):
        return transaction(ledger._connection)
