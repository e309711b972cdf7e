"""Is this still the log that was read? Asked whenever a projection resumes.

A topic deleted and made anew under its name gives no error to a reader: its new records are
skipped in silence up to the old progress. So the last applied record is read again.
"""

from collections.abc import Mapping

from mnemolog.schemas.errors import LogReplaced
from mnemolog.schemas.positions import Position
from mnemolog.schemas.records import fingerprint
from mnemolog.streams.admission import check_partitions, check_reach
from mnemolog.streams.log import Log


def check_continuity(log: Log, *, last_applied: Mapping[int, tuple[int, str]]) -> None:
    """Check that *log* still holds what was applied and what comes next.

    *last_applied* has the offset and the fingerprint of the last applied record of each
    partition; an offset below 0 says that nothing was applied. Raises LogReplaced where another
    record stands there, none does, or the log ends before it; HistoryLost where the log starts
    after the next record to apply. That the last applied record itself is gone is no harm.
    """
    check_partitions(log.topic, last_applied, partitions=log.partitions)
    ends = log.ends()
    for partition, (offset, expected) in sorted(last_applied.items()):
        record = log.at(Position(partition, offset)) if offset >= 0 else None
        start = log.starts()[partition]  # asked after the record, which may go at any time
        check_reach(
            log.topic, partition=partition, wanted=offset + 1, start=start, end=ends[partition]
        )
        if start <= offset and (record is None or fingerprint(record) != expected):
            found = "none" if record is None else "another one"
            reason = f"the record that was applied no longer stands there, but {found}"
            raise LogReplaced(log.topic, partition=partition, offset=offset, reason=reason)
