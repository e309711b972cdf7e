-- Links that were told, and those from a memory to the one that it supersedes.
INSERT INTO told_links BY NAME
SELECT
    identity, event_id, key, agent, user_id, project, session, task, phase, occurred_at,
    log_partition, log_offset, forgotten,
    coalesce(said.from_memory, said.superseded_by) AS from_memory,
    coalesce(said.to_memory, said.memory) AS to_memory,
    coalesce(said.kind, 'supersedes') AS kind,
    round_even(coalesce(said.score, 1) * 1000, 0)::INTEGER AS score,
    said.reason AS reason
FROM (
    SELECT *, json_transform(data, '{
        "from_memory": "VARCHAR", "to_memory": "VARCHAR", "kind": "VARCHAR", "memory": "VARCHAR",
        "superseded_by": "VARCHAR", "reason": "VARCHAR", "score": "DOUBLE"}') AS said
    FROM batch WHERE type IN ('memory.linked', 'memory.superseded')
)
WHERE said.from_memory IS NOT NULL OR said.superseded_by IS NOT NULL;
