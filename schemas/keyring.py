"""The port for keys that seal an event's data. Empty by default: nothing is sealed."""

from typing import Protocol


class KeyMissing(Exception):
    """There is no key of this id: it was never here, or was destroyed."""


class KeyRing(Protocol):
    """Opens what was sealed with a key that it holds."""

    def opened(self, key_id: str, sealed: bytes) -> bytes:
        """Return the data as JSON bytes. Raises KeyMissing for a key that it doesn't hold."""
        ...


class EmptyKeyRing:
    """Holds no key."""

    def opened(self, key_id: str, sealed: bytes) -> bytes:  # noqa: ARG002 - the port's shape
        """Raise KeyMissing."""
        raise KeyMissing(key_id)
