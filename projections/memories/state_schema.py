"""The tables of a generation's `state.db`: what the served rows are composed from.

`state.db` is the generation's truth and moves with its progress; what `lance/` holds can be
written again from it. A forgotten memory leaves nothing here but its id, its event's identity
or the hash of its text.
"""

from typing import Final

from mnemolog.projections.sqlite_ledger import LEDGER_SCHEMA

STATE_FILE: Final = "state.db"
INDEX_FOLDER: Final = "lance"  # beside it

# What `memories.vector` says.
OUTSTANDING: Final = 0
THERE: Final = 1
UNEMBEDDABLE: Final = 2

STATE_SCHEMA: Final = (
    LEDGER_SCHEMA
    + """
PRAGMA secure_delete = ON;
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS memories (
    id TEXT PRIMARY KEY, identity TEXT NOT NULL, event_id TEXT NOT NULL, cause_event TEXT,
    key TEXT NOT NULL, partition INTEGER NOT NULL, "offset" INTEGER NOT NULL,
    text_hash TEXT NOT NULL, vector_key TEXT NOT NULL, vector INTEGER NOT NULL, why_none TEXT,
    seq INTEGER NOT NULL, formed TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS memories_by_event ON memories (event_id);
CREATE INDEX IF NOT EXISTS memories_by_identity ON memories (identity);
CREATE INDEX IF NOT EXISTS memories_by_cause ON memories (cause_event)
    WHERE cause_event IS NOT NULL;
CREATE INDEX IF NOT EXISTS memories_by_text ON memories (text_hash);
CREATE INDEX IF NOT EXISTS memories_by_vector_key ON memories (vector_key);
CREATE INDEX IF NOT EXISTS memories_by_seq ON memories (seq, vector);
CREATE INDEX IF NOT EXISTS outstanding ON memories (partition, "offset") WHERE vector = 0;
CREATE TABLE IF NOT EXISTS event_texts (
    text_hash TEXT, identity TEXT, PRIMARY KEY (text_hash, identity)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS contributions (
    target TEXT, kind TEXT, level INTEGER, cause TEXT, key TEXT NOT NULL,
    "offset" INTEGER NOT NULL, occurred_at INTEGER NOT NULL, number INTEGER, text TEXT,
    text_hash TEXT, PRIMARY KEY (target, kind, level, cause)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS contributions_by_text ON contributions (text_hash)
    WHERE text_hash IS NOT NULL;
CREATE TABLE IF NOT EXISTS forgotten (
    kind TEXT, target TEXT, PRIMARY KEY (kind, target)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS links (
    from_memory TEXT, to_memory TEXT, kind TEXT, cause TEXT, score INTEGER NOT NULL,
    event_id TEXT NOT NULL, key TEXT NOT NULL,
    PRIMARY KEY (from_memory, to_memory, kind, cause)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS links_to ON links (to_memory);
CREATE TABLE IF NOT EXISTS dropped_vectors (vector_key TEXT PRIMARY KEY) WITHOUT ROWID;
"""
)
