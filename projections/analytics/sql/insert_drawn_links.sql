-- What consolidates memories summarises them; a decision or a comment was caused by what it names.
INSERT INTO told_links BY NAME
SELECT
    b.identity, b.event_id, b.key, b.agent, b.user_id, b.project, b.session, b.task, b.phase,
    b.occurred_at, b.log_partition, b.log_offset, b.forgotten,
    CASE WHEN m.summarises THEN m.memory ELSE m.drawn END AS from_memory,
    CASE WHEN m.summarises THEN m.drawn ELSE m.memory END AS to_memory,
    CASE WHEN m.summarises THEN 'summarises' ELSE 'causes' END AS kind,
    1000 AS score
FROM (SELECT identity::UUID AS identity, memory, unnest(from_memories) AS drawn,
             event_type = 'knowledge.consolidated' AS summarises
      FROM incoming_memories) m
JOIN batch b ON b.identity = m.identity;
