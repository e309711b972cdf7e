"""Before a costly action no processor is in time: the state is saved here, and then the action."""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

import structlog

from mnemolog.agent_views import AgentViews
from mnemolog.engine import Engine, present
from mnemolog.schemas.events import Event
from mnemolog.schemas.events.experience import CheckpointSaved
from mnemolog.schemas.ids import check_name, derived_id, fresh_id
from mnemolog.schemas.policy import Trigger
from mnemolog.schemas.times import instant
from mnemolog.scope import Names, Scope
from mnemolog.streams.processors.filling import checkpoint_of
from mnemolog.streams.publishing import Appended

COSTLY: Final[Trigger] = "costly"
_AROUND: Final = ("agent", "user", "project", "session", "task", "phase", "correlation", "source")

_log = structlog.get_logger("mnemolog.acting")

Append = Callable[[type[Event], Mapping[str, Any], Scope], Appended]


class Saving:
    """The half of `Memory` that saves a state before a costly action."""

    _views: AgentViews | None = None
    _defaults: Names

    def __init__(self, engine: Engine) -> None:
        self._views = AgentViews(engine.log, engine.codec, tenant_folder=engine.folder)

    def _append(self, event: type[Event], fields: Mapping[str, Any], scope: Scope) -> Appended:
        return cast("Appended", super()._append(event, fields, scope))  # type: ignore[misc]

    def _save_before(self, scope: Scope) -> Appended | None:
        if self._views is None:
            return None
        return save_before(self._append, self._views, scope, self._defaults)


def save_before(
    append: Append, views: AgentViews, scope: Scope, defaults: Names
) -> Appended | None:
    """Append a checkpoint of what the agent was told since the last one, by the processor's rule.

    None where nothing was, where no agent acts, or where the policy wants none. With an id the
    checkpoint's id is derived from it. Raises as an append does.
    """
    named: dict[str, Any] = {**defaults, **scope}
    agent, task = named.get("agent"), named.get("task")
    if agent is None:
        return None
    view, policy = views.view(check_name(agent, field="agent"), task)
    if not (view.events and policy.enabled and COSTLY in policy.triggers):
        _log.info("nothing to save before a costly action", agent=agent, task=task)
        return None
    given, when = named.get("id"), named.get("occurred_at")
    moment = instant(present() if when is None else when, field="occurred_at")[0]
    checkpoint_id = fresh_id() if given is None else derived_id("costly checkpoint", given)
    told = checkpoint_of(view, COSTLY, checkpoint_id=checkpoint_id, agent=agent, at=moment)
    around: Any = {name: named[name] for name in _AROUND if named.get(name) is not None}
    around = {**around, "id": checkpoint_id, "occurred_at": moment}
    return append(CheckpointSaved, {"checkpoint": told}, around)
