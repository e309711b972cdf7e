-- A memory was used where an event says so, and where a decision rests on it.
INSERT INTO uses BY NAME
SELECT
    identity, event_id, key, agent, user_id, project, session, task, phase, occurred_at,
    log_partition, log_offset, forgotten,
    place AS ordinal, used[place] AS memory, type AS via, purpose
FROM (
    SELECT * EXCLUDE (said), said.purpose AS purpose,
        coalesce(said.memories, said.because_memories) AS used,
        unnest(generate_series(1, coalesce(len(used), 0)))::INTEGER AS place
    FROM (
        SELECT *, json_transform(data, '{
            "memories": ["VARCHAR"], "because_memories": ["VARCHAR"], "purpose": "VARCHAR"}') AS said
        FROM batch WHERE type IN ('memory.used', 'decision.made')
    )
);
