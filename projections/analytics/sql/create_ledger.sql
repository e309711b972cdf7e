-- What the generation itself has to know. Nothing of it is published.
CREATE SCHEMA ledger;
CREATE TABLE ledger.progress (
    log_partition INTEGER NOT NULL, last_applied BIGINT NOT NULL, fingerprint VARCHAR NOT NULL);
CREATE TABLE ledger.firsts (
    log_partition INTEGER NOT NULL, last_applied BIGINT NOT NULL, fingerprint VARCHAR NOT NULL);
CREATE TABLE ledger.seen (identity UUID NOT NULL, content UUID NOT NULL);
CREATE TABLE ledger.policies (
    log_partition INTEGER NOT NULL, revision BIGINT NOT NULL, policy VARCHAR NOT NULL,
    since BIGINT NOT NULL);
CREATE TABLE ledger.skips (identity VARCHAR NOT NULL);
CREATE TABLE ledger.repeats (
    log_partition INTEGER NOT NULL, log_offset BIGINT NOT NULL, identity VARCHAR NOT NULL,
    content VARCHAR NOT NULL);
CREATE TABLE ledger.foreign_records (
    log_partition INTEGER NOT NULL, log_offset BIGINT NOT NULL, recorded_at BIGINT NOT NULL,
    key BLOB, value BLOB, headers VARCHAR NOT NULL, reason VARCHAR NOT NULL);
CREATE TABLE ledger.parked (
    log_partition INTEGER NOT NULL, log_offset BIGINT NOT NULL, recorded_at BIGINT NOT NULL,
    key BLOB, value BLOB, headers VARCHAR NOT NULL, reason VARCHAR NOT NULL,
    ordering_key VARCHAR NOT NULL, identity VARCHAR NOT NULL, event_type VARCHAR NOT NULL,
    newer BOOLEAN NOT NULL, behind BOOLEAN NOT NULL);
