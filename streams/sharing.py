"""Which worker owns which tenant: each topic goes whole to one of those that want it.

Pure: the same members with the same claims give the same shares, whichever of them computes it.
"""

from collections.abc import Collection, Mapping
from typing import Final

NOBODY: Final = ""


def shared_out(
    wanted: Mapping[str, Collection[str]], held: Mapping[str, Collection[str]]
) -> dict[str, str]:
    """Return the member that each topic goes to.

    *wanted* has the topics that each member asks for, *held* those that it had until now. A topic
    stays where it was unless its holder has more than its share; the others go to whoever has
    least. Where two members claim to hold one, the first by name keeps it.

    >>> shared_out({"a": ["x", "y", "z"], "b": ["x", "y", "z"]}, {"a": ["x", "y", "z"]})
    {'x': 'a', 'y': 'a', 'z': 'b'}
    """
    askers = _askers(wanted)
    share = -(-len(askers) // max(1, len(wanted)))
    given: dict[str, list[str]] = {member: [] for member in wanted}
    for topic in sorted(askers):
        holder = _holder(topic, askers[topic], held)
        if holder and len(given[holder]) < share:
            given[holder].append(topic)
    placed = {topic for topics in given.values() for topic in topics}
    # The most wanted topics come last: they still find a place where the others could not go.
    for topic in sorted(askers.keys() - placed, key=lambda topic: (len(askers[topic]), topic)):
        least = min(askers[topic], key=lambda member: (len(given[member]), member))
        given[least].append(topic)
    return dict(sorted((topic, m) for m, topics in given.items() for topic in topics))


def _askers(wanted: Mapping[str, Collection[str]]) -> dict[str, list[str]]:
    askers: dict[str, list[str]] = {}
    for member in sorted(wanted):
        for topic in set(wanted[member]):
            askers.setdefault(topic, []).append(member)
    return askers


def _holder(topic: str, members: Collection[str], held: Mapping[str, Collection[str]]) -> str:
    return next((member for member in members if topic in held.get(member, ())), NOBODY)
