-- A memory that draws others together is linked with each of them.
INSERT INTO links BY NAME
SELECT
    b.identity, b.event_id, b.key, b.agent, b.user_id, b.project, b.session, b.task, b.phase,
    b.occurred_at, b.log_partition, b.log_offset, b.forgotten,
    m.memory AS from_memory, m.drawn AS to_memory, 'summarises' AS kind, 1000 AS score
FROM (SELECT identity::UUID AS identity, memory, unnest(from_memories) AS drawn
      FROM incoming_memories) m
JOIN batch b ON b.identity = m.identity;
