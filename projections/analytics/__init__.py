"""Tables for analysts (DuckDB)."""
