"""The first differing rows are named, however many differ."""

from dataclasses import dataclass, field

from mnemolog.projections.digests import ContentRow
from mnemolog.replay.comparing import DIFFERENCES_SHOWN_MAX, compare


@dataclass
class Rows:
    """What serves these rows."""

    rows: list
    name: str = "rows"
    reads: int = field(default=0)

    def content(self):
        self.reads += 1
        yield from self.rows


def row(number, text="same", key="a"):
    return ContentRow(key, "memories", f"{number:04}", {"text": text})


def test_equal_rows_are_read_once_in_any_order():
    left, right = Rows([row(1), row(2)]), Rows([row(2), row(1)])
    compared = compare(left, right)
    assert compared.is_equal
    assert compared.differences == ()
    assert (left.reads, right.reads) == (1, 1)


def test_the_first_of_many_differences_are_named_in_order():
    left = Rows([row(n) for n in range(500)])
    right = Rows([row(n, "other") for n in reversed(range(500))])
    compared = compare(left, right)
    named = [difference.row_id for difference in compared.differences]
    assert named == [f"{n:04}" for n in range(DIFFERENCES_SHOWN_MAX)]
    assert "same" in compared.differences[0].left
    assert "other" in compared.differences[0].right


def test_rows_of_one_side_alone_are_differences_of_either_kind():
    compared = compare(Rows([row(1), row(3)]), Rows([row(3), row(4)]))
    assert [(d.row_id, d.left is None, d.right is None) for d in compared.differences] == [
        ("0001", False, True),
        ("0004", True, False),
    ]


def test_keys_whose_subtotals_agree_are_not_looked_at():
    compared = compare(Rows([row(1), row(1, key="b")]), Rows([row(1), row(1, "x", key="b")]))
    assert [difference.key for difference in compared.differences] == ["b"]
