"""The demo: two scenarios as data, and the show that tells them to a Memory and proves it."""
