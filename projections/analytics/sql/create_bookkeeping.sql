-- What the fold of analytics keeps beside its tables; see forgetting.py and counting.py.
CREATE TABLE ledger.forgets (
    kind VARCHAR NOT NULL, memory VARCHAR, identity UUID, text_hash UUID);
CREATE TABLE ledger.texts (text_hash UUID NOT NULL, identity UUID NOT NULL, memory VARCHAR);
CREATE TABLE ledger.row_counts (table_name VARCHAR NOT NULL, row_count BIGINT NOT NULL);
CREATE TABLE ledger.unpublished_forgets (log_partition INTEGER NOT NULL, log_offset BIGINT NOT NULL);
