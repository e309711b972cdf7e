INSERT INTO observations BY NAME
SELECT
    identity, event_id, key, agent, user_id, project, session, task, phase, occurred_at,
    log_partition, log_offset, forgotten,
    said.text AS text,
    coalesce(said.stated_by, 'agent') AS stated_by,
    said.success AS success,
    coalesce(said.data, '{}') AS data
FROM (
    SELECT *, json_transform(data, '{
        "text": "VARCHAR", "stated_by": "VARCHAR", "success": "BOOLEAN", "data": "JSON"}') AS said
    FROM batch WHERE type = 'observation.recorded'
);
