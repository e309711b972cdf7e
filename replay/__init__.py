"""How it comes back: rebuild, verify, swap and travel in time."""
