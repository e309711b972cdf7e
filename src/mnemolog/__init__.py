"""Event-sourced memory for long-running AI agents."""
