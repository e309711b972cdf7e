"""The processors that come with mnemolog. Their rules are pure; the harness does the rest."""
