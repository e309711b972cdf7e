DELETE FROM formed_memories WHERE memory IN (SELECT memory FROM forgotten_memories);
