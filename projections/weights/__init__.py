"""How much a memory weighs, and why (SQLite)."""
