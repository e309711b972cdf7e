"""The recall index: memories with their links, words and vectors (LanceDB)."""
