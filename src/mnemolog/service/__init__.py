"""The HTTP service: `mnemolog serve`. Only the modules of this folder know FastAPI."""
