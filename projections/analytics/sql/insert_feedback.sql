INSERT INTO feedback BY NAME
SELECT
    identity, event_id, key, agent, user_id, project, session, task, phase, occurred_at,
    log_partition, log_offset, forgotten,
    said.target AS target,
    coalesce(said.target_kind, 'event') AS target_kind,
    said.score AS score,
    said.label AS label,
    said.comment AS comment,
    said.given_by AS given_by
FROM (
    SELECT *, json_transform(data, '{
        "target": "VARCHAR", "target_kind": "VARCHAR", "label": "VARCHAR", "comment": "VARCHAR",
        "given_by": "VARCHAR", "score": "DOUBLE"}') AS said
    FROM batch WHERE type = 'feedback.given'
);
