"""A release before this one: it reads no change of policy, for they are newer than it."""

from mnemolog.schemas.codec import Codec
from mnemolog.schemas.decoded import Decoded, Ours, Unusable
from mnemolog.schemas.events.governance import PolicyChanged
from mnemolog.schemas.records import LogRecord


class EarlierCodec(Codec):
    """Finds that each `policy.changed` is newer than this code."""

    def decode(self, record: LogRecord) -> Decoded:
        item = super().decode(record)
        if not (isinstance(item, Ours) and isinstance(item.recorded.event, PolicyChanged)):
            return item
        return Unusable(record, item.key, item.identity, item.event_type, "newer", newer=True)
