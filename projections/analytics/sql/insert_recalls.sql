INSERT INTO recalls BY NAME
SELECT
    identity, event_id, key, agent, user_id, project, session, task, phase, occurred_at,
    log_partition, log_offset, forgotten,
    said.question AS question,
    coalesce(len(said.memories), 0)::INTEGER AS hits,
    coalesce(said.tokens, 0) AS tokens,
    coalesce(said.missing, []) AS missing
FROM (
    SELECT *, json_transform(data, '{
        "question": "VARCHAR", "memories": ["JSON"], "tokens": "BIGINT", "missing": ["VARCHAR"]}') AS said
    FROM batch WHERE type = 'memory.recalled'
);
