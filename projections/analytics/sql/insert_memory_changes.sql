-- A share becomes whole thousandths, as everywhere a digest looks.
INSERT INTO memory_changes BY NAME
SELECT
    identity, event_id, key, agent, user_id, project, session, task, phase, occurred_at,
    log_partition, log_offset, forgotten,
    said.memory AS memory,
    type AS change,
    CASE WHEN type = 'memory.pinned' THEN coalesce(said.pinned, true) END AS pinned,
    round_even(said.importance * 1000, 0)::INTEGER AS importance,
    said.superseded_by AS superseded_by,
    CASE WHEN type = 'memory.superseded' THEN named_at END AS valid_until,
    said.level AS level,
    said.text AS text,
    said.reason AS reason
FROM (
    SELECT *, json_transform(data, '{
        "memory": "VARCHAR", "superseded_by": "VARCHAR", "text": "VARCHAR", "reason": "VARCHAR",
        "pinned": "BOOLEAN", "importance": "DOUBLE", "level": "INTEGER"}') AS said
    FROM batch WHERE type IN (
        'memory.pinned', 'memory.importance-changed', 'memory.superseded', 'memory.archived',
        'memory.summarised')
);
