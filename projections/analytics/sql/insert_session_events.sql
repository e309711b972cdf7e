INSERT INTO session_events BY NAME
SELECT
    identity, event_id, key, agent, user_id, project, session, task, phase, occurred_at,
    log_partition, log_offset, forgotten,
    type AS change,
    said.title AS title,
    said.instructions AS instructions,
    said.outcome AS outcome,
    said.success AS success
FROM (
    SELECT *, json_transform(data, '{
        "title": "VARCHAR", "instructions": "VARCHAR", "outcome": "VARCHAR", "success": "BOOLEAN"}') AS said
    FROM batch WHERE type IN ('session.started', 'session.ended')
);
