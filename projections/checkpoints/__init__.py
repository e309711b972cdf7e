"""Saved states and what led to them: snapshot files, their index, timelines, and resuming."""
