"""What every adapter of a port does, one class a port; `tests/conftest.py` makes it importable."""
