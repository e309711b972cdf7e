"""What tests share; `tests/conftest.py` makes it importable as `support`."""
