"""Lists and objects that were flattened into attributes, put together again.

`llm.input_messages.0.message.role` and its like: numbers are places in a list, and what is missing
between them is missing. Where a value and values below it stand under one name, those below stay.
"""

from collections.abc import Mapping
from typing import Any, Final

NAMES_MAX: Final = 24  # of a key; the rest of a longer one is its last


def unflattened(attributes: Mapping[str, Any], prefix: str) -> Any:
    """Return what stands under *prefix*: a value, or what its parts are put together to.

    >>> unflattened({"a.0.b": 1, "a.2.b": 3, "ab": 4}, "a"), unflattened({"a": 1}, "b")
    ([{'b': 1}, {'b': 3}], None)
    """
    tree: dict[str, Any] = {}
    for key, value in attributes.items():
        if key.startswith(f"{prefix}."):
            _put(tree, key[len(prefix) + 1 :].split(".", NAMES_MAX), value)
    return _listed(tree) if tree else _nested(attributes, prefix)


def _put(tree: dict[str, Any], names: list[str], value: Any) -> None:
    for name in names[:-1]:
        below = tree.get(name)
        if not isinstance(below, _Branch):
            below = tree[name] = _Branch()
        tree = below
    if not isinstance(tree.get(names[-1]), _Branch):
        tree[names[-1]] = value


class _Branch(dict[str, Any]):
    """A dictionary of ours, and no value that an attribute has."""


def _listed(tree: Mapping[str, Any]) -> Any:
    """Return a tree with lists where all its names are numbers."""
    inner = {
        name: _listed(value) if isinstance(value, _Branch) else value
        for name, value in tree.items()
    }
    if all(name.isdecimal() and name.isascii() for name in inner):
        places = sorted(inner, key=lambda name: (len(name.lstrip("0")), name.lstrip("0"), name))
        return [inner[name] for name in places]
    return inner


def _nested(attributes: Mapping[str, Any], prefix: str) -> Any:
    """Return the value of *prefix*, be its names keys within one another or one key."""
    if prefix in attributes:
        return attributes[prefix]
    at: Any = attributes
    for name in prefix.split("."):
        at = at.get(name) if isinstance(at, dict) else None
    return at
