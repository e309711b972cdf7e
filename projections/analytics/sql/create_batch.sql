-- The envelope of each event of the Arrow batch `incoming`; `data` stays JSON, with every digit.
-- `type` is null for a guest's event, so that it can't pass for one of ours.
CREATE OR REPLACE TEMP TABLE batch AS
SELECT
    identity::UUID AS identity,
    said.id AS event_id,
    key,
    said.agent AS agent,
    said."user" AS user_id,
    said.project AS project,
    said.session AS session,
    said.task AS task,
    said.phase AS phase,
    make_timestamp(epoch_us(occurred_at)) AS occurred_at,
    partition AS log_partition,
    "offset" AS log_offset,
    false AS forgotten,
    ordinal AS batch_ordinal,
    CASE WHEN guest THEN NULL ELSE substr(said.type, length('mnemolog.') + 1) END AS type,
    CASE WHEN guest THEN said.type END AS guest_type,
    said.dataschema AS dataschema,
    said.source AS source,
    said.tenant AS tenant,
    said.subject AS subject,
    said.causationid AS cause,
    said.correlationid AS correlation,
    assumed_utc,
    large_texts,
    large_text_bytes,
    make_timestamp(epoch_us(recorded_at)) AS recorded_at,
    make_timestamp(epoch_us(named_at)) AS named_at,
    said.data AS data
FROM (
    SELECT *, json_transform(decode(canonical), '{
        "id": "VARCHAR", "source": "VARCHAR", "type": "VARCHAR", "dataschema": "VARCHAR",
        "tenant": "VARCHAR", "agent": "VARCHAR", "user": "VARCHAR", "project": "VARCHAR",
        "session": "VARCHAR", "task": "VARCHAR", "phase": "VARCHAR", "subject": "VARCHAR",
        "causationid": "VARCHAR", "correlationid": "VARCHAR", "data": "JSON"}') AS said
    FROM incoming
);
