"""Any file of a data folder is damaged: what the log can bring back comes back, the rest is named.

The files are found by walking the folder, so that a new kind of file is spoilt here, too.
"""

import json
import shutil
from itertools import chain

import pytest

from mnemolog.projections.kinds import NAMES
from support.profiles import examples_times
from support.remembering import opened
from support.trouble import (
    LARGE,
    SPOILS,
    asked,
    bad,
    can_be_opened,
    findings,
    kinds,
    left,
    made,
    refused,
    say,
)

TRUTH = ("log", "blobs")  # the only files that can't be brought back
TURNS = 4  # in which each kind of file is spoilt at least once
ROUNDS = TURNS * examples_times()  # later ones spoil them in other ways


@pytest.fixture(scope="module")
def lived(tmp_path_factory):
    """Return a folder that was closed, one as a kill leaves it, and what is in both."""
    folder = tmp_path_factory.mktemp("trouble")
    before = made(folder / "closed", alive=folder / "killed")
    return folder / "closed", folder / "killed", before


@pytest.fixture
def data(lived, tmp_path):
    shutil.copytree(lived[0], tmp_path / "data")
    return tmp_path / "data"


def spoilt_in(tenant, turn):
    """Spoil all files of some kinds in each part of the folder; return kinds and ways."""
    parts = {}
    for kind, paths in kinds(tenant).items():
        part = kind.split("/")[0]
        if part not in TRUTH:
            parts.setdefault(part, []).append((kind, paths))
    done = {}
    for number, found in enumerate(parts.values()):
        few = found[turn % TURNS :: TURNS] or [found[turn % len(found)]]
        for place, (kind, paths) in enumerate(few):
            way = list(SPOILS)[(number + place + turn + turn // TURNS) % len(SPOILS)]
            for path in paths:
                SPOILS[way](tenant / path)
            done[kind] = way
    return done


@pytest.mark.parametrize("turn", range(ROUNDS))
def test_what_is_not_the_truth_comes_back_from_the_log(lived, data, turn):
    """Doctor mends what it finds; a changed word that it takes for sound is found by verify."""
    done = spoilt_in(data / "default", turn)
    named = findings(data)
    assert named, done
    assert bad(data, "--fix") == [], done
    assert findings(data, "--fix") == [], done  # what was set aside has gone, too
    now = left(data)
    assert now.records == lived[2].records
    differing = [n for n, digest in lived[2].digests.items() if now.digests[n] != digest]
    if differing:
        told = asked(data, "verify", *differing, "--json")
        assert told.code == 1
        assert asked(data, "rebuild", *differing).code == 0
        assert left(data) == lived[2], done


@pytest.mark.parametrize("turn", range(examples_times()))
def test_without_a_doctor_each_start_answers_or_says_what_to_do(lived, data, turn):
    done = spoilt_in(data / "default", turn + 1)
    for command in (["status"], ["sql", "SELECT 1"], ["resume", "t"], ["recall", "lamp"]):
        answer = asked(data, *command)
        if answer.code:
            refused(answer, answer.code)
    assert say(data, "lamp 13 is on").code == 0, done
    assert left(data).records == lived[2].records + 1


def log_of(data):
    return data / "default" / "log" / "log.db"


@pytest.mark.parametrize("way", ["its middle", "its end", "empty", "gone"])
def test_a_damaged_log_is_named_left_as_it_is_and_restored(lived, data, way):
    """The index of identities is the one thing in it that can be written anew."""
    SPOILS[way](log_of(data))
    as_it_is = log_of(data).read_bytes() if log_of(data).exists() else None
    found = findings(data, "--fix")
    if found:  # with luck it was a page of that index alone
        assert any(one["state"] == "bad" for one in found)
        assert any("log" in one["detail"] for one in found)
        now = log_of(data).read_bytes() if log_of(data).exists() else None
        assert now == as_it_is
        restore = (one["advice"] for one in found)
        assert any("estore" in advice or "right log" in advice for advice in restore), found
        if not can_be_opened(data):
            refused(say(data, "lamp 13"), 5, "log.db")
            refused(asked(data, "import", "-", stdin=b"{}\n"), 5, "log.db")
        shutil.copy(log_of(lived[0]), log_of(data))
    assert findings(data) == []
    assert left(data) == lived[2]


@pytest.mark.parametrize("way", ["its start", "cut short"])
def test_commits_that_can_not_be_read_are_not_dropped(lived, tmp_path, way):
    data = tmp_path / "data"
    shutil.copytree(lived[1], data)
    wal = log_of(data).with_name("log.db-wal")
    sound = wal.read_bytes()
    SPOILS[way](wal)
    spoilt = wal.read_bytes()
    if way == "cut short":  # nobody can tell that more was there, but those who have applied it
        found = bad(data)
        assert any("acknowledged" in one or "log" in one for one in found), found
    else:
        refused(say(data, "lamp 13"), 5, "log.db-wal", "nothing was changed")
        assert any("log.db-wal" in one for one in bad(data, "--fix"))
    assert wal.read_bytes() == spoilt
    wal.write_bytes(sound)
    assert bad(data) == []
    assert left(data) == lived[2]


@pytest.mark.parametrize("way", ["its middle", "gone"])
def test_a_damaged_text_beside_the_log_is_named_and_comes_back_with_its_words(lived, data, way):
    (path,) = chain(*(p for kind, p in kinds(data / "default").items() if kind.startswith("blobs")))
    SPOILS[way](data / "default" / path)
    (found,) = findings(data, "--fix")
    assert (found["check"], found["state"]) == ("blobs", "bad")
    assert path.name in found["detail"]
    assert "append its text again" in found["advice"] or "backup" in found["advice"]
    with opened(data, agent="ops-1") as mem:
        assert mem.recall("lamp 3").memories  # all else goes on
        mem.wait_for(mem.observe(LARGE).token, projections=NAMES)
    assert findings(data) == []


def test_a_bundle_of_a_spoilt_folder_is_written_without_a_word_of_a_payload(data, tmp_path):
    spoilt_in(data / "default", 0)
    done = asked(data, "doctor", "--bundle", str(tmp_path / "bundle.zip"), "--json")
    assert done.code == 1
    assert json.loads(done.out)
    assert b"lamp" not in (tmp_path / "bundle.zip").read_bytes()
