"""Saved states of agents and tasks, as files with an index."""
