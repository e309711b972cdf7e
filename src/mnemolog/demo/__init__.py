"""Two histories that show what mnemolog does, offline."""
