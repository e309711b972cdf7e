"""What people and machines hand to a memory by mistake or with intent: texts, names, ids, times,
numbers, JSON, bytes. Each strategy mixes what is sound with what has broken such systems.
"""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Final

from hypothesis import strategies as st

from support.histories import START

FAMILY: Final = "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
ODD_TEXTS: Final = (
    *(
        "",
        " ",
        "\n",
        "\u3000\u200b\n",
        "\ufeff",
        "\0",
        "a\0b",
        "\x1b[31m",
        "\x85",
        "\r\n",
        "\u2028",
    ),
    *("\ud83e", "caf\udce9", "\udc00\ud800", "\ufffd", "\uffff", "\U0010ffff", "e\u0301" * 9),
    *(FAMILY, FAMILY * 40, "\u202egnp.exe", "ﷺ" * 20, "é" * 400, "会议" * 64, "x" * 5_000),
    *("O'Brien", "x' OR '1'='1", "'; DROP TABLE events; --", '"', "`", "\\", "%", "_", "$1", "?"),
    *("../../pwn", "/etc/passwd", "..\\..\\x", "C:\\x", "~/x", "file:///etc/passwd", "a/../../b"),
    *("null", "None", "NaN", "Infinity", "true", "-0", "1e400", "undefined", "[object Object]"),
    *("{}", "[]", '{"a":', "{{x}}", "${x}", "<script>", "data:image/png;base64,AAAA", "a" * 300),
    *("mnemolog:no-agent", "mnemolog:", "mem_" + "0" * 32, "0" * 32, "kafka://x", "2030-01-01"),
)
_characters = st.characters(codec=None)  # every code point, lone surrogates too
texts: st.SearchStrategy[str] = st.one_of(
    st.sampled_from(ODD_TEXTS),
    st.text(_characters, max_size=40),
    st.sampled_from(["the pool is full", "必须在 3 天内完成迁移。", "Never deploy on a Friday!"]),
    st.builds(str.__add__, st.sampled_from(ODD_TEXTS), st.text(_characters, max_size=9)),
)
names: st.SearchStrategy[str] = st.sampled_from(["ops-1", "s 1", "北京", "a.b", "o'brien"]) | texts
ids: st.SearchStrategy[str] = names

ODD_NUMBERS: Final = (
    *(0, -1, 1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**400),
    *(0.0, -0.0, 0.5, 1.0, 1.5, -1.0, 1e-320, 1e308, float("nan"), float("inf"), float("-inf")),
    *(True, False, Decimal(1), Decimal("NaN"), complex(1, 1)),
)
_huge = st.integers(4_200, 5_000).map(lambda digits: 10**digits)  # Python writes 4,300 digits
numbers: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(ODD_NUMBERS), st.integers(), st.floats(), _huge
)

ODD_TIMES: Final = (
    *(
        datetime.min,  # noqa: DTZ901 - a naive one is meant
        datetime.max,  # noqa: DTZ901
        datetime.min.replace(tzinfo=UTC),
        datetime.max.replace(tzinfo=UTC),
    ),
    *(date(2030, 1, 2), date.min, START, START.replace(tzinfo=None), START.replace(year=2199)),
    *(datetime(2030, 1, 1, tzinfo=timezone(timedelta(hours=23, minutes=59))), timedelta(days=1)),
    *("2025-04-30T16:32:54.707474", "2025-05-12T20:27:38-04:00", "2025-08-22T09:38:56Z"),
    *("2025-02-30", "2025-08-22T25:00:00Z", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:60Z"),
    *("1757015076", "1757015076651", "2012011012345", "yesterday", "2025-W01-1", "２０２５-01-01"),
    *(1_757_015_076, 1_757_015_076_651, 1_757_015_076.651, 1_757_015_076_651_000, -1),
)
times: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(ODD_TIMES),
    st.datetimes(timezones=st.none() | st.timezones() | st.just(UTC)),
    st.datetimes(datetime(2000, 1, 1), datetime(2040, 1, 1)).map(datetime.isoformat),  # noqa: DTZ001
    texts,
)


def _nested(depth: int) -> Any:
    value: Any = "end"
    for level in range(depth):
        value = [value] if level % 2 else {"in": value}
    return value


def _itself() -> Any:
    value: dict[str, Any] = {}
    value["me"] = [value]
    return value


_scalars = st.none() | st.booleans() | numbers | texts
_keys = texts | st.sampled_from(["a", "A", "b", "text", "é", "e\u0301"])
json: st.SearchStrategy[Any] = st.recursive(
    _scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(_keys, inner, max_size=3)
        | st.lists(inner, max_size=2).map(tuple)
    ),
    max_leaves=6,
)
DEEP: Final = (1, 60, 61, 62, 63, 64, 65, 1_500, 20_000)
deep: st.SearchStrategy[Any] = st.sampled_from(DEEP).map(_nested) | st.builds(_itself)
objects: st.SearchStrategy[dict[str, Any]] = st.dictionaries(_keys, json | deep, max_size=3)
# What is no JSON at all.
others: st.SearchStrategy[Any] = st.one_of(
    st.binary(max_size=9),
    times,
    st.builds(set),
    st.builds(object),
    st.dictionaries(st.integers() | st.none() | st.binary(max_size=3), json, max_size=2),
)
anything: st.SearchStrategy[Any] = json | deep | others
