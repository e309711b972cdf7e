-- What several events say of one thing. Of one key's events the last by position counts, for there
-- is an order; of several keys the one that occurred last, ties by identity, for there is none.

CREATE VIEW sessions AS
WITH named AS (
    SELECT session, min(occurred_at) AS first_at, max(occurred_at) AS last_at,
           count(*) AS events, count(DISTINCT agent) AS agents,
           count(*) FILTER (type = 'message.exchanged' AND NOT guest) AS messages,
           least(coalesce(sum(tokens_in), 0), 9223372036854775807)::BIGINT AS tokens_in,
           least(coalesce(sum(tokens_out), 0), 9223372036854775807)::BIGINT AS tokens_out,
           sum(cost_usd) AS cost_usd
    FROM events WHERE session IS NOT NULL GROUP BY session
), of_key AS (
    SELECT * FROM session_events WHERE session IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY session, key ORDER BY log_offset DESC) = 1
), last_change AS (
    SELECT * FROM of_key
    QUALIFY row_number() OVER (PARTITION BY session ORDER BY occurred_at DESC, identity DESC) = 1
), start_of_key AS (
    SELECT * FROM session_events WHERE session IS NOT NULL AND change = 'session.started'
    QUALIFY row_number() OVER (PARTITION BY session, key ORDER BY log_offset) = 1
), started AS (
    SELECT * FROM start_of_key
    QUALIFY row_number() OVER (PARTITION BY session ORDER BY occurred_at, identity) = 1
)
SELECT n.session,
       CASE WHEN l.change = 'session.ended' THEN 'ended' ELSE 'open' END AS status,
       s.occurred_at AS started_at,
       CASE WHEN l.change = 'session.ended' THEN l.occurred_at END AS ended_at,
       n.first_at, n.last_at, s.agent, s.user_id, s.project, s.title, s.instructions,
       l.outcome, l.success, n.events, n.agents, n.messages, n.tokens_in, n.tokens_out, n.cost_usd
FROM named n
LEFT JOIN last_change l ON l.session = n.session
LEFT JOIN started s ON s.session = n.session;

CREATE VIEW tasks AS
WITH named AS (
    SELECT task, min(occurred_at) AS first_at, max(occurred_at) AS last_at,
           count(*) AS events, count(DISTINCT agent) AS agents,
           least(coalesce(sum(tokens_in), 0), 9223372036854775807)::BIGINT AS tokens_in,
           least(coalesce(sum(tokens_out), 0), 9223372036854775807)::BIGINT AS tokens_out,
           sum(cost_usd) AS cost_usd
    FROM events WHERE task IS NOT NULL GROUP BY task
), sorted AS (
    SELECT *, CASE WHEN change IN ('task.progressed', 'plan.changed', 'task.phase-changed')
                   THEN change ELSE 'status' END AS about
    FROM task_events WHERE task IS NOT NULL
), of_key AS (
    SELECT * FROM sorted
    QUALIFY row_number() OVER (PARTITION BY task, about, key ORDER BY log_offset DESC) = 1
), latest AS (
    SELECT * FROM of_key
    QUALIFY row_number() OVER (PARTITION BY task, about ORDER BY occurred_at DESC, identity DESC) = 1
), start_of_key AS (
    SELECT * FROM sorted WHERE change = 'task.started'
    QUALIFY row_number() OVER (PARTITION BY task, key ORDER BY log_offset) = 1
), started AS (
    SELECT * FROM start_of_key
    QUALIFY row_number() OVER (PARTITION BY task ORDER BY occurred_at, identity) = 1
)
SELECT n.task,
       CASE l.change WHEN 'task.completed' THEN 'completed' WHEN 'task.abandoned' THEN 'abandoned'
            WHEN 'task.blocked' THEN 'blocked' WHEN 'task.paused' THEN 'paused'
            WHEN 'task.started' THEN 'running' WHEN 'task.resumed' THEN 'running' END AS status,
       f.to_phase AS phase,
       s.occurred_at AS started_at,
       CASE WHEN l.change IN ('task.completed', 'task.abandoned') THEN l.occurred_at END AS ended_at,
       n.first_at, n.last_at, s.agent, s.user_id, s.project, s.goal, s.parent_task,
       coalesce(p.plan, s.plan) AS plan, d.note AS last_note, d.done,
       CASE WHEN l.change IN ('task.blocked', 'task.paused') THEN l.reason END AS reason,
       l.outcome, l.lesson, l.success,
       n.events, n.agents, n.tokens_in, n.tokens_out, n.cost_usd
FROM named n
LEFT JOIN latest l ON l.task = n.task AND l.about = 'status'
LEFT JOIN latest f ON f.task = n.task AND f.about = 'task.phase-changed'
LEFT JOIN latest d ON d.task = n.task AND d.about = 'task.progressed'
LEFT JOIN latest p ON p.task = n.task AND p.about = 'plan.changed'
LEFT JOIN started s ON s.task = n.task;

-- As many actions of one id as ended have ended, the first ones first, and those said to be orphaned
-- last: so neither a repeated id nor an end that comes before its start matters. What has no end is
-- orphaned once its session or task ended after its start: by position within a key, by the world's
-- time where there is no order.
CREATE VIEW actions AS
WITH started AS (
    SELECT *, row_number() OVER (PARTITION BY key, action ORDER BY log_offset) AS turn
    FROM action_events WHERE change = 'action.started'
), finished AS (
    SELECT *, row_number() OVER (PARTITION BY key, action ORDER BY orphaned, log_offset) AS turn
    FROM action_events WHERE change = 'action.finished'
), paired AS (
    SELECT coalesce(s.action, f.action) AS action, coalesce(s.key, f.key) AS key,
           coalesce(s.agent, f.agent) AS agent, coalesce(s.user_id, f.user_id) AS user_id,
           coalesce(s.project, f.project) AS project, coalesce(s.session, f.session) AS session,
           coalesce(s.task, f.task) AS task, coalesce(s.phase, f.phase) AS phase,
           s.identity AS started_identity, f.identity AS finished_identity,
           coalesce(s.tool, f.tool) AS tool, s.arguments, s.raw, s.costly,
           s.occurred_at AS started_at, f.occurred_at AS finished_at,
           f.success, f.orphaned, f.result, f.error, f.data, f.duration_ms, f.cost_usd,
           coalesce(s.forgotten, false) OR coalesce(f.forgotten, false) AS forgotten
    FROM started s FULL JOIN finished f ON f.key = s.key AND f.action = s.action AND f.turn = s.turn
    WHERE s.turn IS NOT NULL OR f.turn = 1
), session_ends AS (
    SELECT session, key, max(log_offset) AS log_offset, max(occurred_at) AS occurred_at
    FROM session_events WHERE change = 'session.ended' GROUP BY session, key
), task_ends AS (
    SELECT task, key, max(log_offset) AS log_offset, max(occurred_at) AS occurred_at
    FROM task_events WHERE change IN ('task.completed', 'task.abandoned') GROUP BY task, key
), left_behind AS (
    SELECT s.identity FROM started s JOIN session_ends e ON e.session = s.session
    AND CASE WHEN e.key = s.key THEN e.log_offset > s.log_offset ELSE e.occurred_at >= s.occurred_at END
    UNION
    SELECT s.identity FROM started s JOIN task_ends e ON e.task = s.task
    AND CASE WHEN e.key = s.key THEN e.log_offset > s.log_offset ELSE e.occurred_at >= s.occurred_at END
)
SELECT p.action, p.key, p.agent, p.user_id, p.project, p.session, p.task, p.phase,
       CASE WHEN p.orphaned THEN 'orphaned' WHEN p.success THEN 'succeeded' WHEN NOT p.success THEN 'failed'
            WHEN l.identity IS NOT NULL THEN 'orphaned' ELSE 'running' END AS status,
       p.tool, p.arguments, p.raw, p.costly, p.started_at, p.finished_at, p.duration_ms,
       p.result, p.error, p.data, p.cost_usd, p.started_identity, p.finished_identity, p.forgotten
FROM paired p
LEFT JOIN left_behind l ON l.identity = p.started_identity;

-- Both ends have to be there. A memory whose event names another's as its cause was caused by it.
CREATE VIEW links AS
SELECT t.* FROM told_links t
JOIN formed_memories a ON a.memory = t.from_memory
JOIN formed_memories b ON b.memory = t.to_memory
UNION
SELECT e.identity, e.event_id, e.key, e.agent, e.user_id, e.project, e.session, e.task, e.phase,
       e.occurred_at, e.log_partition, e.log_offset, e.forgotten,
       a.memory AS from_memory, b.memory AS to_memory, 'causes' AS kind, 1000 AS score, NULL AS reason
FROM formed_memories b
JOIN events e ON e.identity = b.identity
JOIN formed_memories a ON a.event_id = e.cause AND a.identity <> b.identity;

CREATE VIEW memories AS
WITH of_key AS (
    SELECT * FROM memory_changes
    QUALIFY row_number() OVER (PARTITION BY memory, change, key ORDER BY log_offset DESC) = 1
), latest AS (
    SELECT * FROM of_key
    QUALIFY row_number() OVER (
        PARTITION BY memory, change ORDER BY occurred_at DESC, identity DESC) = 1
), replacement_of_key AS (
    SELECT * FROM memory_changes WHERE superseded_by IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY memory, key ORDER BY log_offset DESC) = 1
), replacement AS (
    SELECT * FROM replacement_of_key
    QUALIFY row_number() OVER (PARTITION BY memory ORDER BY occurred_at DESC, identity DESC) = 1
), ends AS (
    SELECT memory, min(valid_until) AS valid_until, bool_or(change = 'memory.superseded') AS superseded,
           bool_or(change = 'memory.archived') AS archived
    FROM memory_changes GROUP BY memory
), used AS (
    SELECT memory, count(DISTINCT identity) AS uses, max(occurred_at) AS last_used_at FROM uses GROUP BY memory
)
SELECT m.memory, m.kind, m.text, coalesce(i.importance, m.importance) AS importance,
       m.importance AS importance_formed, m.confidence, m.stated_by, m.tags, m.entities, m.reason,
       m.occurred_at, m.valid_from, least(m.valid_until, e.valid_until) AS valid_until,
       coalesce(p.pinned, false) AS pinned, coalesce(e.archived, false) AS archived,
       coalesce(e.superseded, false) AS superseded, r.superseded_by,
       coalesce(u.uses, 0) AS uses, u.last_used_at,
       m.key, m.agent, m.user_id, m.project, m.session, m.task,
       m.identity, m.event_id, m.event_type, m.ordinal, m.from_events, m.from_memories
FROM formed_memories m
LEFT JOIN latest i ON i.memory = m.memory AND i.change = 'memory.importance-changed'
LEFT JOIN latest p ON p.memory = m.memory AND p.change = 'memory.pinned'
LEFT JOIN replacement r ON r.memory = m.memory
LEFT JOIN ends e ON e.memory = m.memory
LEFT JOIN used u ON u.memory = m.memory;
