from contextlib import contextmanager

from contracts.ledger_contract import LedgerContract
from mnemolog.projections.sqlite_ledger import LEDGER_SCHEMA, SQLiteLedger
from mnemolog.projections.sqlite_store import open_store, transaction


class TestSQLiteLedger(LedgerContract):
    @contextmanager
    def opened(self, folder):
        connection = open_store(folder / "ledger.db", schema=LEDGER_SCHEMA)
        yield SQLiteLedger(connection)
        connection.close()

    def transaction(self, ledger):
        return transaction(ledger._connection, store="ledger.db")
