INSERT INTO formed_memories BY NAME
SELECT
    memory, identity::UUID AS identity, event_id, key, agent, user_id, project, session, task,
    make_timestamp(occurred_us) AS occurred_at, log_partition, log_offset,
    event_type, ordinal, kind, text, importance, confidence, stated_by, tags, entities, reason,
    make_timestamp(valid_from_us) AS valid_from, make_timestamp(valid_until_us) AS valid_until,
    from_events, from_memories
FROM incoming_memories;
