"""The marks of a disk: a warning, then a refusal of what can wait."""

import os

import pytest

from mnemolog.projections.room import REFUSE_SHARE, WARN_SHARE, Room, Usage, usage_of
from mnemolog.schemas.errors import NoRoom


def room(used, *, of=100, **marks):
    return Room(usage_of=lambda _: Usage(used, of - used), **marks)


@pytest.mark.parametrize(
    ("used", "warns", "is_there"),
    [(0, False, True), (79, False, True), (80, True, True), (94, True, True), (95, True, False)],
)
def test_the_marks_are_80_and_95_percent(tmp_path, used, warns, is_there):
    assert (WARN_SHARE, REFUSE_SHARE) == (0.80, 0.95)
    assert room(used).warns(tmp_path) is warns
    assert room(used).is_there(tmp_path) is is_there


def test_the_marks_can_be_set(tmp_path):
    assert room(50, warn_share=0.5).warns(tmp_path)
    assert not room(50, refuse_share=0.5).is_there(tmp_path)
    assert room(99, refuse_share=1.0).is_there(tmp_path)


def test_beyond_the_mark_work_is_refused_by_name(tmp_path):
    room(94).check(tmp_path, "a rebuild")
    with pytest.raises(NoRoom, match="95% of the disk is used; a rebuild waits from 95% on"):
        room(95).check(tmp_path, "a rebuild")


def test_work_that_would_go_beyond_the_mark_is_refused_before_it_begins(tmp_path):
    room(90).check(tmp_path, "a rebuild", bytes_wanted=4)
    with pytest.raises(NoRoom, match="0 MiB more would be written"):
        room(90).check(tmp_path, "a rebuild", bytes_wanted=5)
    with pytest.raises(NoRoom):
        room(90).check(tmp_path, "a rebuild", bytes_wanted=10**9)


def test_a_disk_of_no_size_is_full():
    assert Usage(0, 0).share == 1.0


def test_usage_is_what_users_may_fill_of_the_disk_that_will_hold_the_folder(tmp_path):
    found = os.statvfs(tmp_path)
    usage = usage_of(tmp_path / "not" / "there" / "yet")
    assert usage.used + usage.free <= found.f_blocks * found.f_frsize
    assert 0 < usage.share < 1
