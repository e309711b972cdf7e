-- Every event, ours and guests'. What is to be forgotten is not repeated by the forgetting event.
INSERT INTO events BY NAME
SELECT
    identity, event_id, key, agent, user_id, project, session, task, phase, occurred_at,
    log_partition, log_offset, forgotten,
    source,
    coalesce(type, guest_type) AS type,
    CASE WHEN type IS NOT NULL THEN split_part(dataschema, ':', -1)::INTEGER END AS version,
    type IS NULL AS guest,
    tenant,
    subject,
    recorded_at,
    assumed_utc,
    large_texts,
    large_text_bytes,
    cause,
    correlation,
    coalesce(said.tags, []) AS tags,
    said.model_use.model AS model,
    CASE WHEN said.model_use.model IS NOT NULL
        THEN coalesce(said.model_use.tokens_in, 0) END AS tokens_in,
    CASE WHEN said.model_use.model IS NOT NULL
        THEN coalesce(said.model_use.tokens_out, 0) END AS tokens_out,
    said.model_use.cost_usd AS cost_usd,
    CASE WHEN type = 'memory.forgotten' THEN json_merge_patch(data, '{"texts": null}')
        ELSE data END AS data
FROM (
    SELECT *, json_transform(CASE WHEN type IS NOT NULL THEN data END, '{
        "tags": ["VARCHAR"], "model_use": {"model": "VARCHAR", "tokens_in": "BIGINT",
        "tokens_out": "BIGINT", "cost_usd": "DOUBLE"}}') AS said
    FROM batch
);
