INSERT INTO action_events BY NAME
SELECT
    identity, event_id, key, agent, user_id, project, session, task, phase, occurred_at,
    log_partition, log_offset, forgotten,
    said.action AS action,
    type AS change,
    said.tool AS tool,
    CASE WHEN type = 'action.started' THEN coalesce(said.arguments, '{}') END AS arguments,
    said.raw AS raw,
    CASE WHEN type = 'action.started' THEN coalesce(said.costly, false) END AS costly,
    said.success AS success,
    CASE WHEN type = 'action.finished' THEN coalesce(said.orphaned, false) END AS orphaned,
    said.result AS result,
    said.error AS error,
    CASE WHEN type = 'action.finished' THEN coalesce(said.data, '{}') END AS data,
    said.duration_ms AS duration_ms,
    said.cost_usd AS cost_usd
FROM (
    SELECT *, json_transform(data, '{
        "action": "VARCHAR", "tool": "VARCHAR", "raw": "VARCHAR", "result": "VARCHAR",
        "error": "VARCHAR", "arguments": "JSON", "data": "JSON", "costly": "BOOLEAN",
        "success": "BOOLEAN", "orphaned": "BOOLEAN", "duration_ms": "BIGINT", "cost_usd": "DOUBLE"}') AS said
    FROM batch WHERE type IN ('action.started', 'action.finished')
);
