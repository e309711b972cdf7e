"""How the typed state of a kind of task is lifted to the version that its code knows.

A program registers one step a version; a chain with a gap is refused when it is asked for.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from mnemolog.schemas.checkpoint import TypedState
from mnemolog.schemas.errors import InvalidSetting

Migrate = Callable[[dict[str, Any]], dict[str, Any]]


class StateMigrations:
    """The steps from version to version, by state schema."""

    def __init__(self) -> None:
        self._steps: dict[tuple[str, int], Migrate] = {}

    def register(self, state_schema: str, *, from_version: int) -> Callable[[Migrate], Migrate]:
        """Register the decorated step from *from_version* to the next. A second one is refused."""

        def keep(step: Migrate) -> Migrate:
            if (state_schema, from_version) in self._steps:
                raise InvalidSetting(state_schema, from_version, "this step is registered already")
            self._steps[state_schema, from_version] = step
            return step

        return keep

    def lifted(self, state: TypedState, *, to_version: int) -> TypedState:
        """Return *state* at *to_version*. Raises InvalidSetting where a step is missing."""
        if state.state_version > to_version:
            limit = f"this code knows version {to_version}; use the newer code"
            raise InvalidSetting(state.state_schema, state.state_version, limit)
        values = deepcopy(state.values)  # a step may change what it is given
        for version in range(state.state_version, to_version):
            step = self._steps.get((state.state_schema, version))
            if step is None:
                raise InvalidSetting(state.state_schema, version, "no step leads from this version")
            values = step(values)
        return state.model_copy(update={"state_version": to_version, "values": values})
