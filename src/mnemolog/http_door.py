"""How `Memory("http://host:port")` becomes a client of a service: the class is chosen here."""

from typing import Any, Final, Self, cast

SCHEMES: Final = ("http://", "https://")


class Door:
    """Makes the client of a service where the data's place is an address, and else what is asked.

    The client is a subclass, with the same verbs: it is loaded when it is needed.
    """

    def __new__(cls, data: Any = None, *_: Any, **__: Any) -> Self:
        """Return an object of the class that serves *data*."""
        if not is_address(data):
            return super().__new__(cls)
        from mnemolog.http_memory import HttpMemory  # noqa: PLC0415 - only who asks a service

        served = cls if issubclass(cls, HttpMemory) else HttpMemory
        return cast("Self", super().__new__(served))


def is_address(data: Any) -> bool:
    """Say whether *data* is the address of a service."""
    return isinstance(data, str) and data.lower().startswith(SCHEMES)
