INSERT INTO checkpoints BY NAME
SELECT
    identity, event_id, key, agent, user_id, project, session, task, phase, occurred_at,
    log_partition, log_offset, forgotten,
    said.id AS checkpoint,
    said.parent AS parent,
    named_at AS saved_at,
    said.current_goal AS goal,
    said.current_sub_goal AS sub_goal,
    said.plan_summary AS plan,
    coalesce(said.key_observations, []) AS observations,
    said.decision_rationale AS rationale,
    said.self_reflection AS reflection,
    coalesce(said.tags, []) AS tags,
    state.task_id AS state_task,
    state.state.state_schema AS state_schema,
    CASE WHEN state.state.state_schema IS NOT NULL
        THEN TRY_CAST(coalesce(state.state.state_version, '1') AS BIGINT) END AS state_version,
    CASE WHEN state.task_id IS NOT NULL THEN coalesce(len(state.nodes), 0) END AS nodes,
    CASE WHEN state.task_id IS NOT NULL
        THEN coalesce(len(state.completed), 0) END AS nodes_completed,
    CASE WHEN state.task_id IS NOT NULL THEN coalesce(len(state.blocked), 0) END AS nodes_blocked,
    CASE WHEN state.task_id IS NOT NULL
        THEN coalesce(len(state.pending_actions), 0) END AS pending_actions,
    CASE WHEN state.task_id IS NOT NULL THEN coalesce(state.iterations, 0) END AS iterations,
    CASE WHEN state.task_id IS NOT NULL THEN coalesce(state.tokens.used, 0) END AS tokens_used,
    state.tokens."limit" AS tokens_limit
FROM (
    SELECT *, said.task_state AS state
    FROM (
        SELECT *, json_transform(data, '{"checkpoint": {
            "id": "VARCHAR", "current_goal": "VARCHAR", "plan_summary": "VARCHAR",
            "current_sub_goal": "VARCHAR", "key_observations": ["VARCHAR"],
            "decision_rationale": "VARCHAR", "self_reflection": "VARCHAR", "parent": "VARCHAR",
            "tags": ["VARCHAR"], "task_state": {
                "task_id": "VARCHAR", "nodes": ["JSON"], "completed": ["VARCHAR"],
                "blocked": ["VARCHAR"], "pending_actions": ["JSON"], "iterations": "BIGINT",
                "tokens": {"used": "BIGINT", "limit": "BIGINT"},
                "state": {"state_schema": "VARCHAR", "state_version": "VARCHAR"}}}}'
            ).checkpoint AS said
        FROM batch WHERE type = 'checkpoint.saved'
    )
);
