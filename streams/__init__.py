"""How it flows: the log with its adapters, publishing, processors and parked events."""
