"""Which event a reference means, also one whose event was appended just now."""

from contextlib import suppress

from mnemolog.asking import Asker
from mnemolog.schemas.errors import InvalidSetting, NotFound, Parked
from mnemolog.scope import Ref, is_memory, ref_id, ref_identity


class Finder(Asker):
    """The part of `Memory` that finds the event that is meant."""

    def _identity(self, ref: Ref) -> str:
        """Return the identity of the event that *ref* is, or that formed the memory *ref*.

        What the read models don't know is looked up again once they hold all that the log holds
        now. Raises NotFound then, or TimedOut: as long as they lag nobody knows.
        """
        known = ref_identity(ref)
        if known is not None:
            return known
        with suppress(NotFound):
            return self._looked_up(ref)
        with suppress(Parked):  # all else is there
            self._wait(self.end())
        return self._looked_up(ref)

    def _looked_up(self, ref: Ref) -> str:
        if is_memory(ref):
            return self.memory(ref).row.identity
        named = {entry.identity for entry in self._entries(ref_id(ref))}
        if len(named) > 1:
            limit = f"{len(named)} events have this id; pass what append returned, or the memory"
            raise InvalidSetting("forget", ref_id(ref), limit)
        if not named:
            raise NotFound("event", ref_id(ref))
        return named.pop()
