"""Equal content gives equal digests, whatever the order; any other content another one."""

from hypothesis import given
from hypothesis import strategies as st

from mnemolog.projections.digests import ContentDigest, ContentRow

rows = st.lists(
    st.builds(
        ContentRow,
        st.sampled_from(["a", "b"]),
        st.just("memories"),
        st.text(max_size=3),
        st.dictionaries(st.text(max_size=2), st.integers() | st.text(max_size=3), max_size=2),
    ),
    max_size=6,
)


@given(rows, st.randoms(use_true_random=False))
def test_order_does_not_matter(content, random):
    shuffled = list(content)
    random.shuffle(shuffled)
    assert ContentDigest.of(content) == ContentDigest.of(shuffled)


@given(rows)
def test_a_doubled_row_is_noticed(content):
    doubled = [*content, *content[:1]]
    assert (ContentDigest.of(content).hex == ContentDigest.of(doubled).hex) == (not content)


def test_a_pair_does_not_cancel():
    row = ContentRow("a", "memories", "m", {"text": "x"})
    assert ContentDigest.of([row, row]).hex != ContentDigest.of([]).hex


def test_a_changed_value_names_its_key():
    left = ContentDigest.of([ContentRow("a", "t", "1", {"n": 1}), ContentRow("b", "t", "1", {})])
    right = ContentDigest.of([ContentRow("a", "t", "1", {"n": 2}), ContentRow("b", "t", "1", {})])
    assert left.hex != right.hex
    assert left.differing_keys(right) == ["a"]


def test_the_digest_of_a_known_row_stays():
    row = ContentRow("ops-1", "memories", "mem_1", {"text": "池", "importance": 500})
    digest = ContentDigest.of([row])
    assert digest.rows == 1
    assert digest.hex == "371409896b530efeb45044286fcbece6604014fd06dca60cee1f0d18911717b6"
