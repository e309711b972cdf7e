-- What was said in a forgotten event; ids, names, numbers and times stay.
UPDATE events SET forgotten = true, data = NULL
WHERE NOT forgotten AND identity IN (SELECT identity FROM forgotten_events);
UPDATE messages SET forgotten = true, text = NULL, parts = NULL
WHERE NOT forgotten AND identity IN (SELECT identity FROM forgotten_events);
UPDATE observations SET forgotten = true, text = NULL, data = NULL
WHERE NOT forgotten AND identity IN (SELECT identity FROM forgotten_events);
UPDATE decisions SET forgotten = true, what = NULL, why = NULL, alternatives = NULL
WHERE NOT forgotten AND identity IN (SELECT identity FROM forgotten_events);
UPDATE action_events
SET forgotten = true, arguments = NULL, raw = NULL, result = NULL, error = NULL, data = NULL
WHERE NOT forgotten AND identity IN (SELECT identity FROM forgotten_events);
UPDATE feedback SET forgotten = true, label = NULL, comment = NULL
WHERE NOT forgotten AND identity IN (SELECT identity FROM forgotten_events);
UPDATE memory_changes SET forgotten = true, text = NULL, reason = NULL
WHERE NOT forgotten AND identity IN (SELECT identity FROM forgotten_events);
UPDATE told_links SET forgotten = true, reason = NULL
WHERE NOT forgotten AND identity IN (SELECT identity FROM forgotten_events);
UPDATE recalls SET forgotten = true, question = NULL, missing = NULL
WHERE NOT forgotten AND identity IN (SELECT identity FROM forgotten_events);
UPDATE recalled_memories SET forgotten = true
WHERE NOT forgotten AND identity IN (SELECT identity FROM forgotten_events);
UPDATE uses SET forgotten = true, purpose = NULL
WHERE NOT forgotten AND identity IN (SELECT identity FROM forgotten_events);
UPDATE task_events
SET forgotten = true, goal = NULL, plan = NULL, steps = NULL, note = NULL, reason = NULL,
    needs = NULL, outcome = NULL, lesson = NULL
WHERE NOT forgotten AND identity IN (SELECT identity FROM forgotten_events);
UPDATE session_events SET forgotten = true, title = NULL, instructions = NULL, outcome = NULL
WHERE NOT forgotten AND identity IN (SELECT identity FROM forgotten_events);
UPDATE checkpoints
SET forgotten = true, goal = NULL, sub_goal = NULL, plan = NULL, observations = NULL,
    rationale = NULL, reflection = NULL, tags = NULL
WHERE NOT forgotten AND identity IN (SELECT identity FROM forgotten_events);
