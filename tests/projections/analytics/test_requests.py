"""When the owner publishes: soon if somebody waits, else now and then, and never for nothing."""

import subprocess
import sys

from mnemolog.projections import fault_points
from mnemolog.projections.analytics import publishing as pub
from mnemolog.projections.analytics.publisher import IDLE_PUBLISH_SECONDS, IDLE_PUBLISH_SHARE_MAX
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.positions import Token
from support.histories import batches, recorded


def apply(owner, *events, after: int = 0):
    for batch in batches(recorded(*events)[after:]):
        owner.apply(batch)


def notes(count: int):
    return [ex.ObservationRecorded(text=f"note {number}") for number in range(count)]


def test_the_first_publish_needs_no_request_and_nothing_new_needs_none(owner, tmp_path):
    apply(owner, *notes(1))
    assert owner.follow_up(seconds_max=1) is False
    assert pub.published_positions(tmp_path) == {0: 0}
    before = pub.published_file(tmp_path).stat().st_ino
    owner.follow_up(seconds_max=1)
    assert pub.published_file(tmp_path).stat().st_ino == before


def test_without_a_request_a_change_is_published_when_the_time_has_come(owner, tmp_path, clock):
    apply(owner, *notes(1))
    owner.follow_up(seconds_max=1)
    apply(owner, *notes(2))
    owner.follow_up(seconds_max=1)
    assert pub.published_positions(tmp_path) == {0: 0}
    clock.seconds += IDLE_PUBLISH_SECONDS
    owner.follow_up(seconds_max=1)
    assert pub.published_positions(tmp_path) == {0: 1}


def publish_taking(owner, clock, seconds):
    """Let the owner follow up; a publish takes *seconds*."""

    def passes(point):
        if point == "analytics.draft-written":
            clock.seconds += seconds

    with fault_points.listening(passes):
        owner.follow_up(seconds_max=1)


def test_a_publish_that_took_long_is_not_repeated_soon_unless_somebody_waits(
    owner, tmp_path, clock
):
    apply(owner, *notes(1))
    publish_taking(owner, clock, 12.0)
    apply(owner, *notes(2))
    clock.seconds += 12.0 / IDLE_PUBLISH_SHARE_MAX - 1
    publish_taking(owner, clock, 1.0)
    assert pub.published_positions(tmp_path) == {0: 0}
    clock.seconds += 1
    publish_taking(owner, clock, 1.0)
    assert pub.published_positions(tmp_path) == {0: 1}
    apply(owner, *notes(3))
    clock.seconds += IDLE_PUBLISH_SECONDS  # the last one was quick again
    publish_taking(owner, clock, 60.0)
    assert pub.published_positions(tmp_path) == {0: 2}
    apply(owner, *notes(4))
    pub.request_publish(tmp_path, Token({0: 3}))
    publish_taking(owner, clock, 60.0)
    assert pub.published_positions(tmp_path) == {0: 3}


def test_a_request_is_met_once_what_it_covers_is_applied(owner, tmp_path):
    apply(owner, *notes(1))
    owner.follow_up(seconds_max=1)
    pub.request_publish(tmp_path, Token({0: 2}))
    apply(owner, *notes(2))
    owner.follow_up(seconds_max=1)
    assert pub.published_positions(tmp_path) == {0: 0}
    apply(owner, *notes(3))
    owner.follow_up(seconds_max=1)
    assert pub.published_positions(tmp_path) == {0: 2}


def test_many_requests_are_met_by_one_publish(owner, tmp_path):
    apply(owner, *notes(1))
    owner.follow_up(seconds_max=1)
    apply(owner, *notes(9))
    for offset in (3, 8, 5):
        pub.request_publish(tmp_path, Token({0: offset}))
    published = []
    with fault_points.listening(published.append):
        for _ in range(3):
            owner.follow_up(seconds_max=1)
    assert published.count("analytics.published") == 1
    assert pub.published_positions(tmp_path) == {0: 8}


def test_requests_of_many_processes_are_all_heard(tmp_path):
    code = (
        "import sys; from pathlib import Path\n"
        "from mnemolog.projections.analytics.publishing import request_publish\n"
        "from mnemolog.schemas.positions import Token\n"
        "[request_publish(Path(sys.argv[1]), Token({int(sys.argv[2]): n})) for n in range(200)]"
    )
    asking = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(partition)])
        for partition in range(2)
    ]
    assert [process.wait() for process in asking] == [0, 0]
    wanted = {(p, n) for p in range(2) for n in range(200)}
    heard = {
        item for token in pub.requested(tmp_path / "published") for item in token.offsets.items()
    }
    assert heard == wanted


def test_a_request_that_is_no_token_or_torn_asks_for_nothing(owner, tmp_path):
    apply(owner, *notes(1))
    owner.follow_up(seconds_max=1)
    (tmp_path / "published" / pub.REQUEST).write_bytes(b"0@x\n\xff\xfe\n\n0@0,1@\n7@")
    pub.request_publish(tmp_path, Token({}))
    assert [t for t in pub.requested(tmp_path / "published") if t.offsets] == []
    owner.follow_up(seconds_max=1)


def test_the_file_of_requests_does_not_grow_for_ever(owner, tmp_path):
    apply(owner, *notes(1))
    path = tmp_path / "published" / pub.REQUEST
    path.parent.mkdir()
    path.write_text("0@0\n" * (pub.REQUEST_BYTES_MAX // 4 + 1))
    owner.follow_up(seconds_max=1)
    owner.follow_up(seconds_max=1)
    assert not path.exists()
