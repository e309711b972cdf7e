"""`mnemolog doctor`: what it prints, its exit codes, and what --fix and --bundle do and refuse."""

import json
import zipfile

import pytest

from mnemolog.folder import FORMAT_FILE
from support.doctoring import serving
from support.remembering import opened

STATES = {"ok", "look", "bad"}


@pytest.fixture
def weights(cli, say, data):
    """Return the store of weights in a folder whose projections are built."""
    say("the pool of auth")
    return serving(data, "weights") / "weights.db"


def states(done):
    return {one["state"] for one in done.json}


def test_each_finding_is_a_line_with_what_to_do_below(cli, weights):
    weights.write_bytes(b"no store")
    done = cli("doctor")
    assert (done.code, done.err) == (1, "")
    lines = done.out.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("bad   stores: weights: "))
    assert lines[at + 1] == "      `mnemolog doctor --fix` does it."
    assert {line.split()[0] for line in lines if not line.startswith(" ")} <= STATES
    assert not any(line.startswith(" ") for line in lines[:1])


def test_json_has_each_finding_with_its_repair(cli, weights):
    weights.write_bytes(b"no store")
    done = cli("doctor", "--json")
    assert done.code == 1
    assert {frozenset(one) for one in done.json} == {
        frozenset({"check", "state", "detail", "advice", "repair"})
    }
    (bad,) = [one for one in done.json if one["state"] == "bad"]
    assert (bad["check"], bad["repair"]) == ("stores", "build weights anew from the log")
    assert weights.read_bytes() == b"no store"


def test_fix_mends_tells_what_it_did_and_looks_again(cli, weights, data):
    weights.write_bytes(b"no store")
    done = cli("doctor", "--fix", "--json")
    assert done.code == 0
    told = [line for line in done.err.splitlines() if not line.startswith("{")]
    assert told[0] == "will build weights anew from the log"
    assert told[1].startswith("  done: generation 00000")
    assert "bad" not in states(done)
    cli("doctor", "--fix")  # what was set aside goes, too
    again = cli("doctor", "--json")
    assert (again.code, again.err, states(again)) == (0, "", {"ok"})


def test_what_can_not_be_mended_stays_bad_and_is_left(cli, weights, data):
    format_file = data / "default" / FORMAT_FILE
    format_file.write_text(json.dumps({"format": 99, "release": "9.9"}))
    weights.write_bytes(b"no store")
    done = cli("doctor", "--fix", "--json")
    assert done.code == 1
    assert ("opening", "bad") in {(one["check"], one["state"]) for one in done.json}
    assert weights.read_bytes() == b"no store"
    assert json.loads(format_file.read_text())["format"] == 99


def test_fix_beside_a_running_keeper_leaves_its_stores_alone(cli, weights, data):
    left = data / "default" / "weights" / "000009"
    draft = data / "default" / "published" / ".analytics.duckdb.draft"
    with opened(data, agent="ops-1") as mem:
        left.mkdir()
        draft.parent.mkdir(exist_ok=True)
        draft.write_bytes(b"the keeper is writing this")
        (data / "default" / "checkpoints" / "CURRENT").write_text("000042")
        done = cli("doctor", "--fix", "--json")
        assert done.code == 1
        assert "is held by process" in done.err
        assert left.exists()
        assert draft.exists()
        mem.wait_for(mem.observe("goes on").token, projections=["memories", "weights"])
    assert cli("doctor", "--fix").code == 0
    assert not left.exists()
    assert not draft.exists()


def test_a_leftover_that_another_began_to_write_meanwhile_stays(cli, weights, data):
    from mnemolog.doctor import generations, mend  # noqa: PLC0415
    from support.doctoring import patient_at  # noqa: PLC0415

    left = data / "default" / "weights" / "000009"
    left.mkdir()
    with patient_at(data) as patient:
        findings = list(generations.check(patient))
        told = []
        with opened(data):
            assert mend(findings, tell=told.append) == 1
    assert "not done: " in told[-1]
    assert left.exists()


# --bundle


def test_a_bundle_is_written_whatever_was_found(cli, weights, tmp_path):
    weights.write_bytes(b"no store")
    done = cli("doctor", "--bundle", tmp_path / "deep" / "b.zip")
    assert (done.code, done.err) == (1, f"written: {tmp_path / 'deep' / 'b.zip'}\n")
    with zipfile.ZipFile(tmp_path / "deep" / "b.zip") as bundle:
        assert len(bundle.namelist()) == 6


def test_a_bundle_replaces_nothing_and_nothing_is_mended_first(cli, weights, tmp_path):
    weights.write_bytes(b"no store")
    (tmp_path / "b.zip").write_text("mine")
    done = cli("doctor", "--fix", "--bundle", tmp_path / "b.zip")
    assert (done.code, done.out) == (2, "")
    assert "it is there already" in done.err
    assert (tmp_path / "b.zip").read_text() == "mine"
    assert weights.read_bytes() == b"no store"


@pytest.mark.parametrize("name", ["n" * 300, "file/b.zip"])
def test_a_bundle_that_can_not_be_written_is_told_behind_the_findings(cli, say, tmp_path, name):
    say("x")
    (tmp_path / "file").write_text("x")
    done = cli("doctor", "--json", "--bundle", tmp_path / name)
    assert done.code == 4
    assert "mnemolog: " in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    "variables",
    [
        {"MNEMOLOG_TENANT": "a" * 300},
        {"MNEMOLOG_LOG": "nonsense"},
        {"MNEMOLOG_EMBEDDER": "nobody's"},
    ],
)
def test_settings_that_can_not_be_used_are_findings_and_bundled(cli, say, tmp_path, variables):
    say("x")
    done = cli("doctor", "--fix", "--json", "--bundle", tmp_path / "b.zip", **variables)
    assert done.code in {0, 1}
    assert "Traceback" not in done.err
    assert (tmp_path / "b.zip").exists()
    if variables.keys() != {"MNEMOLOG_EMBEDDER"}:
        assert ("opening", "bad") in {(one["check"], one["state"]) for one in done.json}
