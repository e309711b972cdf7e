INSERT INTO decisions BY NAME
SELECT
    identity, event_id, key, agent, user_id, project, session, task, phase, occurred_at,
    log_partition, log_offset, forgotten,
    said.what AS what,
    said.why AS why,
    coalesce(said.alternatives, []) AS alternatives,
    coalesce(said.because_events, []) AS because_events,
    coalesce(said.because_memories, []) AS because_memories,
    said.confidence AS confidence
FROM (
    SELECT *, json_transform(data, '{
        "what": "VARCHAR", "why": "VARCHAR", "alternatives": ["VARCHAR"],
        "because_events": ["VARCHAR"], "because_memories": ["VARCHAR"], "confidence": "DOUBLE"}') AS said
    FROM batch WHERE type = 'decision.made'
);
