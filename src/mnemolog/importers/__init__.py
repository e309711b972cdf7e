"""Real histories in: formats that others write, told as events of ours."""
