"""Foreign histories turned into events."""
