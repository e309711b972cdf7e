"""A bundle has what a maintainer needs, whatever is broken, and not a word of anybody's."""

import json
import shutil
import zipfile

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from mnemolog.doctor import examined
from mnemolog.doctor.bundle import NOT_OURS, NOT_SHOWN, write_bundle
from mnemolog.doctor.finding import Finding
from mnemolog.engine import present
from mnemolog.error_log import FILE, ErrorLog
from mnemolog.projections.kinds import NAMES
from mnemolog.schemas.errors import InvalidSetting, LogDamaged, StoreUnavailable
from mnemolog.settings import KNOWN, Settings
from mnemolog.streams.sqlite_log import SQLiteLog
from support.doctoring import overwritten, patient_at, serving
from support.raw_records import put, put_changed
from support.remembering import opened

PARTS = {"versions", "settings", "sizes", "positions", "findings", "errors"}
SECRET = "Zq7-secret"  # stands wherever somebody else's words may stand


def bundled(data, path, **more):
    """Write a bundle of all that doctor finds in *data*; return its parts."""
    with patient_at(data, **more) as patient:
        write_bundle(path, patient, examined(patient))
    return read(path)


def read(path):
    with zipfile.ZipFile(path) as bundle:
        assert bundle.testzip() is None
        return {
            name.removesuffix(".json"): json.loads(bundle.read(name)) for name in bundle.namelist()
        }


def test_it_has_versions_settings_sizes_positions_findings_and_errors(data, tmp_path):
    ErrorLog(data / "default", now=present).note(StoreUnavailable("x", "y"), where="projecting")
    found = bundled(data, tmp_path / "b.zip", disk_warn_percent="70")
    assert found.keys() == PARTS
    assert found["versions"].keys() >= {"mnemolog", "lancedb", "duckdb", "python", "sqlite"}
    assert found["settings"].keys() == KNOWN.keys()
    assert found["settings"]["disk_warn_percent"] == {"value": "70", "origin": "argument"}
    assert found["settings"]["embedder"]["value"] == "hashing"
    assert found["sizes"]["largest"]["log/log.db"] == (data / "default/log/log.db").stat().st_size
    assert found["sizes"]["files"] == len(found["sizes"]["largest"])
    assert NOT_OURS not in json.dumps(found["sizes"])
    assert found["positions"]["ends"] == {"0": 5}
    assert found["positions"]["projections"].keys() == set(NAMES)
    assert {one["applied"]["0"] for one in found["positions"]["projections"].values()} == {4}
    assert found["findings"][0]["check"] == "packages"
    assert [line["error"] for line in found["errors"]] == ["StoreUnavailable"]


def test_of_an_error_it_has_what_we_write_and_nothing_that_others_put_there(data, tmp_path):
    (tmp_path / "log.db").write_bytes(b"no file of SQLite's" * 99)
    with pytest.raises(LogDamaged) as raised:
        SQLiteLog.open(tmp_path / "log.db", tenant="default")
    ErrorLog(data / "default", now=present).note(raised.value, where="projecting")
    ours = json.loads((data / "default" / FILE).read_bytes())
    words = dict.fromkeys(ours, SECRET) | {"frames": [SECRET, [SECRET]], SECRET: SECRET}
    with (data / "default" / FILE).open("a") as file:
        file.write(json.dumps(words) + "\n")
    written, theirs = bundled(data, tmp_path / "b.zip")["errors"]
    assert written["frames"]
    assert {name: written[name] for name in ours} == ours
    assert SECRET not in json.dumps(theirs)


def test_it_replaces_nothing(data, tmp_path):
    (tmp_path / "b.zip").write_text("mine")
    with pytest.raises(InvalidSetting, match="it is there already"):
        bundled(data, tmp_path / "b.zip")
    assert (tmp_path / "b.zip").read_text() == "mine"


def test_what_the_disk_refuses_is_told_and_leaves_nothing(data, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreUnavailable):
        bundled(data, tmp_path / "file" / "b.zip")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "file"]


@pytest.mark.parametrize(
    "spoilt", ["log/log.db", "memories/CURRENT", "vectors.db", "published/analytics.duckdb"]
)
def test_it_is_written_of_a_damaged_folder(data, tmp_path, spoilt):
    overwritten(data / "default" / spoilt, at=0.0, count=10_000)
    found = bundled(data, tmp_path / "b.zip")
    assert found.keys() == PARTS
    assert "bad" in {one["state"] for one in found["findings"]}


def test_it_is_written_where_there_is_nothing_or_nothing_that_can_be_opened(tmp_path):
    found = bundled(tmp_path / "none", tmp_path / "a.zip")
    assert (found["positions"], found["sizes"]["files"]) == ({}, 0)
    found = bundled(tmp_path / "none", tmp_path / "b.zip", tenant="a" * 999, partitions="x")
    assert "bad" in {one["state"] for one in found["findings"]}
    (tmp_path / "file").write_text("x")
    assert bundled(tmp_path / "file", tmp_path / "c.zip").keys() == PARTS


def test_it_is_written_where_nothing_may_be_written(data, tmp_path, monkeypatch):
    monkeypatch.setattr("mnemolog.doctor.rights.os.access", lambda *_: False)
    found = bundled(data, tmp_path / "b.zip")
    assert "rights" in {one["check"] for one in found["findings"] if one["state"] == "bad"}


# Nobody's words


@pytest.fixture(scope="module")
def talkative(tmp_path_factory):
    """A folder of which every name, text and id is a secret, and in which all goes wrong."""
    data = tmp_path_factory.mktemp("data") / f"home of {SECRET}"
    names = {name: f"{SECRET} {name}" for name in ("agent", "user", "project", "task", "session")}
    with opened(data, tenant=SECRET, **names) as mem:
        mem.observe(f"the PIN is {SECRET}", id=f"{SECRET} e-1", data={SECRET: SECRET})
        put(mem, SECRET.encode(), key=SECRET.encode())
        for text in (SECRET, f"{SECRET}!"):
            put_changed(mem, {"text": text}, lambda _: None, event_id=SECRET, agent=SECRET)
        put_changed(mem, {"text": SECRET}, lambda d: d["data"].update({SECRET: 1}), agent=SECRET)
        put_changed(mem, {"text": "x"}, lambda d: d["data"].update(text=[SECRET]), agent="bob")
        put_changed(mem, {"text": "x"}, lambda d: d.update(type=f"mnemolog.{SECRET}"), agent="eve")
        mem.wait_for(mem.observe("of another", agent="ops-2").token, projections=NAMES)
    (folder,) = data.iterdir()
    (folder / f"{SECRET}.txt").write_text(SECRET)
    (folder / "published" / f"{SECRET}.in-the-way-1").mkdir()
    (folder / "published" / f"{SECRET}.sql").write_text(SECRET)
    (folder / FILE).write_text(json.dumps({"at": "2030-01-01", "said": SECRET}) + "\n")
    for ours in ("log", "memories", "analytics", "checkpoints", "weights", "blobs"):
        (folder / ours / SECRET).mkdir(parents=True)
        (folder / ours / SECRET / f"{SECRET}.txt").write_text(SECRET)
        (folder / ours / f"letter to {SECRET}.txt").write_text(SECRET)
    (folder / "vectors.db").write_bytes(b"no store")
    return data


SETTINGS = {
    "kafka_sasl_password": SECRET,
    "kafka_sasl_username": SECRET,
    "kafka_sasl_password_file": f"/home/{SECRET}/password",
    "kafka_ssl_ca_file": f"~/{SECRET}",
    "blobs_folder": f"/home/{SECRET}",
    "tenant": SECRET,
}
BAD_SETTINGS = {name: SECRET for name in KNOWN if name not in {"data", "log"}}


@pytest.mark.parametrize(
    ("more", "spoil"),
    [
        *((SETTINGS, None), (BAD_SETTINGS, None)),
        *(({"tenant": SECRET}, spoil) for spoil in (None, "memories", "log", "rights")),
    ],
)
def test_not_a_word_of_anybody_leaves_the_machine(talkative, tmp_path, monkeypatch, more, spoil):
    data = tmp_path / SECRET
    shutil.copytree(talkative, data)
    (folder,) = data.iterdir()
    if spoil == "log":
        (folder / "log" / "log.db").unlink()
    elif spoil == "rights":
        monkeypatch.setattr(
            "mnemolog.doctor.rights.os.access", lambda path, _: SECRET not in path.name
        )
    elif spoil is not None:
        current = (folder / spoil / "CURRENT").read_text()
        overwritten(folder / spoil / current / "generation.json", count=9_999)
    found = bundled(data, tmp_path / "b.zip", **more)
    written = json.dumps(found, ensure_ascii=False)
    assert SECRET not in written
    assert str(tmp_path) not in written
    assert "ops-2" not in written
    assert "process " not in json.dumps(found["findings"])  # nor on which host


def test_what_is_hidden_is_said_to_be(data, tmp_path):
    more = {"kafka_sasl_password": SECRET, "log": f"kafka://{SECRET}:x@a:1,b:2"}
    settings = bundled(tmp_path / "none", tmp_path / "b.zip", **more)["settings"]
    assert settings["kafka_sasl_password"]["value"] == NOT_SHOWN
    assert settings["log"]["value"] == "kafka://<2 brokers>"


@examples(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.dictionaries(st.sampled_from(sorted(KNOWN)), st.text(min_size=9).map(SECRET.__add__)))
def test_no_value_of_a_setting_leaves_that_is_not_a_word_of_ours(tmp_path, values):
    from mnemolog.doctor.bundle import _settings  # noqa: PLC0415 - it is what decides

    told = _settings(Settings.unchecked(**values))
    assert SECRET not in json.dumps(told)
    assert {name for name, one in told.items() if one["value"] == NOT_SHOWN} == values.keys()


@given(st.text(alphabet="/ab.~ :\\", max_size=40))
def test_no_path_of_a_finding_leaves(text):
    from mnemolog.doctor.bundle import _finding  # noqa: PLC0415

    told = _finding(Finding("x", "bad", f"at /home/{SECRET}/{text.strip()}"))
    assert SECRET not in told["detail"]


def test_findings_keep_what_they_count(data, tmp_path):
    (serving(data, "weights") / "weights.db").write_bytes(b"no store")
    found = bundled(data, tmp_path / "b.zip")["findings"]
    assert {
        "check": "log",
        "state": "ok",
        "detail": "5 records in 1 partition(s)",
        "repair": None,
    } in found
    (stores,) = [one for one in found if (one["check"], one["state"]) == ("stores", "bad")]
    assert stores["detail"] == "weights is damaged"
    assert stores["repair"] == "build weights anew from the log"
