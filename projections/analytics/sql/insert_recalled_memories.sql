INSERT INTO recalled_memories BY NAME
SELECT
    identity, event_id, key, agent, user_id, project, session, task, phase, occurred_at,
    log_partition, log_offset, forgotten,
    place AS ordinal, hits[place].memory AS memory, hits[place].score AS score
FROM (
    SELECT *, json_transform(data, '{
        "memories": [{"memory": "VARCHAR", "score": "DOUBLE"}]}').memories AS hits,
        unnest(generate_series(1, coalesce(len(hits), 0)))::INTEGER AS place
    FROM batch WHERE type = 'memory.recalled'
);
