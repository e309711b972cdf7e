INSERT INTO messages BY NAME
SELECT
    identity, event_id, key, agent, user_id, project, session, task, phase, occurred_at,
    log_partition, log_offset, forgotten,
    said.role AS role,
    said.speaker AS speaker,
    said.text AS text,
    coalesce(said.parts, '[]') AS parts
FROM (
    SELECT *, json_transform(data, '{
        "role": "VARCHAR", "speaker": "VARCHAR", "text": "VARCHAR", "parts": "JSON"}') AS said
    FROM batch WHERE type = 'message.exchanged'
);
