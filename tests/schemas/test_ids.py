"""Ids and names: which are allowed, that no two are taken for one, and that none becomes a path."""

import re
from contextlib import nullcontext
from pathlib import PurePosixPath, PureWindowsPath
from uuid import UUID, uuid5

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.ids import (
    _PLAIN_NAME,
    NAMESPACE,
    RESERVED_PREFIX,
    check_id,
    check_key,
    check_name,
    check_tenant,
    derived_id,
    encoded_name,
    fresh_id,
    identity_of,
    joined,
    memory_id,
)


def test_fresh_ids_are_version_7_and_never_the_same():
    ids = [fresh_id() for _ in range(1_000)]
    assert len(set(ids)) == 1_000
    assert {UUID(one).version for one in ids} == {7}
    assert {UUID(one).variant for one in ids} == {"specified in RFC 4122"}
    assert ids[0][:8] <= ids[-1][:8]


def test_derived_ids_are_version_5_and_the_same_for_ever():
    assert UUID(derived_id("a", "b")).version == 5
    assert derived_id("a", "b") == "3b358c6c-f359-50f0-b56e-f063da3d6c75"
    assert memory_id("0" * 32, 0) == "mem_e934a565d2db55cb86702b25a6cda649"


@given(st.lists(st.text(), min_size=1))
def test_derived_ids_are_those_of_the_standard_library(parts):
    assert derived_id(*parts) == str(uuid5(NAMESPACE, joined(parts)))


@given(st.from_regex(_PLAIN_NAME, fullmatch=True))
def test_a_name_that_is_let_pass_without_a_further_look_is_no_path_and_not_ours(name):
    assert check_name(name, field="agent") == name
    assert 1 <= len(name.encode()) <= 256
    assert name not in {".", ".."}
    assert not set(name) & {"/", "\\", ":"}
    assert name.isprintable()
    assert name.strip() == name


@given(st.text(st.characters(codec="ascii"), max_size=4))
def test_an_id_of_ascii_has_no_control_characters_and_is_not_empty(text):
    may = bool(text) and not re.search(r"[\x00-\x1f\x7f]", text)
    with nullcontext() if may else pytest.raises(InvalidEvent):
        assert check_id(text, field="id") == text


@pytest.mark.bad_input(79)
@given(st.lists(st.text()), st.lists(st.text()))
def test_two_lists_of_parts_are_never_joined_to_one_text(one, other):
    assume(one != other)
    assert joined(one) != joined(other)


def test_names_with_delimiters_are_told_apart():
    first = identity_of(key="a&run_id=b", source="c", event_id="1")
    second = identity_of(key="a", source="b&run_id=c", event_id="1")
    assert first != second
    assert re.fullmatch(r"[0-9a-f]{32}", first)


def test_memories_of_one_event_have_their_own_ids():
    assert len({memory_id("0" * 32, ordinal) for ordinal in range(16)}) == 16


# What is allowed


@pytest.mark.parametrize("value", ["a", "x' OR '1'='1", "会议" * 42, "a/../b", " ", "a" * 256])
def test_an_id_is_any_text_of_256_bytes(value):
    assert check_id(value, field="id") == value


@pytest.mark.parametrize(
    "value", ["", "a" * 257, "会" * 86, "a\nb", "a\0", "\x7f", "\x85", "\ud800"]
)
def test_an_id_that_is_empty_or_long_or_has_controls_is_refused(value):
    with pytest.raises(InvalidEvent) as caught:
        check_id(value, field="event_id")
    assert caught.value.field == "event_id"
    assert caught.value.value == value
    assert caught.value.limit


def test_the_limit_counts_bytes_and_says_both_numbers():
    with pytest.raises(InvalidEvent, match="384 bytes; an id has 1 to 256"):
        check_id("会议" * 64, field="id")
    assert check_name("会议" * 64, field="session") == "会议" * 64
    with pytest.raises(InvalidEvent, match="1026 bytes; a name has 1 to 1024"):
        check_name("会" * 342, field="session")
    with pytest.raises(InvalidEvent, match="384 bytes; a tenant has 1 to 256"):
        check_tenant("会议" * 64, field="tenant")


@pytest.mark.parametrize("value", ["", "a" * 1_025, "会" * 342, "a\nb", "a\0", "\x85", "\ud800"])
def test_a_name_that_is_empty_or_long_or_has_controls_is_refused(value):
    for check in (check_name, check_tenant, check_key):
        with pytest.raises(InvalidEvent):
            check(value, field="agent")


@pytest.mark.parametrize("value", ["a" * 1_024, "会" * 341, "é" * 512])
def test_a_name_is_any_text_of_1024_bytes_and_a_tenants_one_of_256(value):
    assert check_name(value, field="agent") == check_key(value, field="key") == value
    with pytest.raises(InvalidEvent, match="a tenant has 1 to 256"):
        check_tenant(value, field="tenant")


@pytest.mark.parametrize("value", [None, 5, b"a", ["a"]])
def test_an_id_is_a_text(value):
    with pytest.raises(InvalidEvent, match="an id is a text"):
        check_id(value, field="id")


@pytest.mark.parametrize(
    "value",
    [
        "../../tmp/pwn",
        "/etc/x",
        "..\\..\\x",
        "C:\\x",
        "c:/x",
        ".",
        "..",
        "a/..",
        "\\\\host\\x",
        "   ",
        "mnemolog:no-agent",
    ],
)
def test_a_name_that_is_a_path_or_blank_or_ours_is_refused(value):
    with pytest.raises(InvalidEvent) as caught:
        check_name(value, field="agent")
    assert caught.value.field == "agent"


@pytest.mark.parametrize("value", ["ops-7", "team/ops", "北京", "a.b", "...", "o'brien", "a:b"])
def test_a_name_may_hold_what_does_no_harm(value):
    assert check_name(value, field="agent") == value


def test_only_our_own_names_begin_as_ours_do():
    with pytest.raises(InvalidEvent, match="are ours"):
        check_name(RESERVED_PREFIX + "x", field="agent")


# Folders


@pytest.mark.bad_input(79, 81)
@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
)
def test_different_names_never_meet_in_a_folder_on_any_disk(one, other):
    assume(one != other)
    assert encoded_name(one).casefold() != encoded_name(other).casefold()


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_an_encoded_name_is_one_short_plain_part_of_a_path(name):
    encoded = encoded_name(name)
    assert re.fullmatch(r"[a-z0-9_-]{1,120}", encoded)
    assert len(PurePosixPath(encoded).parts) == len(PureWindowsPath(encoded).parts) == 1
