INSERT INTO task_events BY NAME
SELECT
    identity, event_id, key, agent, user_id, project, session, task, phase, occurred_at,
    log_partition, log_offset, forgotten,
    type AS change,
    said.goal AS goal,
    said.parent_task AS parent_task,
    said.plan AS plan,
    CASE WHEN type = 'plan.changed' THEN coalesce(said.steps, []) END AS steps,
    said.note AS note,
    said.done AS done,
    said.node AS node,
    said.from_phase AS from_phase,
    said.to_phase AS to_phase,
    said.reason AS reason,
    said.needs AS needs,
    said.checkpoint AS checkpoint,
    said.outcome AS outcome,
    said.lesson AS lesson,
    CASE type WHEN 'task.completed' THEN coalesce(said.success, true)
        WHEN 'task.abandoned' THEN false END AS success
FROM (
    SELECT *, json_transform(data, '{
        "goal": "VARCHAR", "parent_task": "VARCHAR", "plan": "VARCHAR", "note": "VARCHAR",
        "node": "VARCHAR", "from_phase": "VARCHAR", "to_phase": "VARCHAR", "reason": "VARCHAR",
        "needs": "VARCHAR", "checkpoint": "VARCHAR", "outcome": "VARCHAR", "lesson": "VARCHAR",
        "steps": ["VARCHAR"], "done": "DOUBLE", "success": "BOOLEAN"}') AS said
    FROM batch WHERE type IN (
        'task.started', 'task.progressed', 'task.phase-changed', 'task.blocked',
        'task.paused', 'task.resumed', 'task.completed', 'task.abandoned',
        'plan.changed')
);
