-- The memories go, and their ids stay forgotten. So do the words of the events that formed them
-- and of those that speak of them, whichever came first.
INSERT INTO ledger.forgets (kind, memory)
SELECT 'memory', memory FROM forgotten_memories
WHERE memory NOT IN (SELECT memory FROM ledger.forgets WHERE kind = 'memory');

INSERT INTO forgotten_events
SELECT identity FROM forgotten_memories
UNION
SELECT identity FROM memory_changes
WHERE memory IN (SELECT memory FROM forgotten_memories)
    OR (($whole OR identity IN (SELECT identity FROM batch))
        AND memory IN (SELECT memory FROM ledger.forgets WHERE kind = 'memory'))
UNION
SELECT identity FROM told_links
WHERE from_memory IN (SELECT memory FROM forgotten_memories)
    OR to_memory IN (SELECT memory FROM forgotten_memories)
    OR (($whole OR identity IN (SELECT identity FROM batch))
        AND (from_memory IN (SELECT memory FROM ledger.forgets WHERE kind = 'memory')
            OR to_memory IN (SELECT memory FROM ledger.forgets WHERE kind = 'memory')));
