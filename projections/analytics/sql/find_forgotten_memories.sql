CREATE OR REPLACE TEMP TABLE forgotten_memories AS
SELECT memory, identity FROM formed_memories
WHERE ($whole OR identity IN (SELECT identity FROM batch))
    AND (identity IN (SELECT identity FROM forgotten_events)
        OR memory IN (SELECT memory FROM ledger.forgets WHERE kind = 'memory')
        OR memory IN (
            SELECT memory FROM ledger.texts
            WHERE memory IS NOT NULL
                AND ($whole OR identity IN (SELECT identity FROM batch))
                AND text_hash IN (SELECT text_hash FROM ledger.forgets WHERE kind = 'text')));
