-- Which events and memories the forgets reach. `$whole` looks at all rows, else at the batch's.
CREATE OR REPLACE TEMP TABLE forgotten_events AS
SELECT identity FROM events
WHERE ($whole OR identity IN (SELECT identity FROM batch))
    AND identity IN (SELECT identity FROM ledger.forgets WHERE kind = 'event')
UNION
SELECT identity FROM ledger.texts
WHERE memory IS NULL AND ($whole OR identity IN (SELECT identity FROM batch))
    AND text_hash IN (SELECT text_hash FROM ledger.forgets WHERE kind = 'text');
