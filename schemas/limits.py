"""Every bound on what the log may hold, by name. A setting may lower them, never lift them."""

from datetime import UTC, datetime
from typing import Final

EVENT_BYTES_MAX: Final = 1_048_576  # an encoded value; the topic allows this and 64 KiB
DEPTH_MAX: Final = 64  # arrays and objects within one another, the document's own included
ID_BYTES_MAX: Final = 256
NAME_BYTES_MAX: Final = 1_024  # agent, user, project, session, task, phase, tag, kind
TENANT_BYTES_MAX: Final = 256  # names topics and folders, too
TAGS_MAX: Final = 64
LIST_ITEMS_MAX: Final = 4_096  # of any list field of ours; a tool's own data is bound by bytes
TEXT_CHARS_MAX: Final = 1_000_000
BLOB_BYTES_MAX: Final = 16_777_216  # of a text beside the log
EVENT_BLOBS_MAX: Final = 256  # texts of one event that stand beside the log
EVENT_BLOBS_BYTES_MAX: Final = 67_108_864  # of all of them: who reads the event whole holds them
MEMORIES_PER_EVENT_MAX: Final = 16
TIME_MIN: Final = datetime(1900, 1, 1, tzinfo=UTC)
TIME_MAX: Final = datetime(2200, 1, 1, tzinfo=UTC)  # exclusive
