"""Python imports what the command line does: same events, same report, same refusals."""

import asyncio
import json
import subprocess
import sys

import pytest

from mnemolog import AsyncMemory
from mnemolog.schemas.errors import InvalidSetting, ReadOnly
from support.remembering import QUICK, opened, recorded, texts

SAID = [{"role": "user", "content": "the pool of auth is exhausted"}]


@pytest.fixture
def chat(tmp_path):
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(SAID))
    return path


def test_a_history_can_be_recalled_once_its_token_is_there(chat):
    with opened() as mem:
        report = mem.import_histories(chat, agent="ops-1")
        assert (report.files, report.problems, report.added) == (1, [], len(recorded(mem)))
        mem.wait_for(report.token)
        found = mem.recall("which pool?", agent="ops-1")
        assert texts(found) == ["the pool of auth is exhausted"]
        again = mem.import_histories(str(chat), agent="ops-1")
        assert (again.added, again.already_there) == (0, report.added)


def test_what_is_said_of_a_history_holds_and_this_handles_defaults_do_not(chat):
    with opened(agent="me", user="mine", project="ours", session="now") as mem:
        mem.import_histories(chat)
        said = recorded(mem)[-1].envelope
        assert (said.agent, said.user, said.project) == ("assistant", None, None)
        assert said.session != "now"
        start = "2025-06-01T00:00:00Z"
        mem.import_histories(chat, agent="a", user="u", project="p", start=start)
        said = recorded(mem)[-1].envelope
        assert (said.agent, said.user, said.project) == ("a", "u", "p")
        assert said.occurred_at.isoformat() == "2025-06-01T00:00:00+00:00"


def test_a_dry_run_appends_nothing_and_a_handle_that_only_reads_may_try_one(chat, tmp_path):
    with opened(tmp_path / "data") as mem:
        would = mem.import_histories(chat, dry_run=True)
        assert would.dry_run
        assert would.added > 0
        assert mem.end().offsets == {}
        mem.observe("x", agent="ops-1")
    with opened(tmp_path / "data", read_only=True) as mem:
        assert mem.import_histories(chat, dry_run=True).added == would.added
        with pytest.raises(ReadOnly):
            mem.import_histories(chat)


def test_what_is_bad_is_in_the_report_and_its_neighbours_come(chat, tmp_path):
    heard = []
    with opened() as mem:
        report = mem.import_histories(tmp_path / "none.json", chat, on_progress=heard.append)
        assert [problem.file for problem in report.problems] == [str(tmp_path / "none.json")]
        assert (report.unread, report.added) == (1, len(recorded(mem)))
        assert (heard[-1].file, heard[-1].bytes_read) == (str(chat), chat.stat().st_size)


@pytest.mark.parametrize(
    "given", [{"format": "csv"}, {"agent": ""}, {"start": "soon"}], ids=["format", "agent", "start"]
)
def test_what_no_history_can_have_is_refused_before_anything_is_read(chat, given):
    with opened() as mem:
        with pytest.raises(InvalidSetting, match=next(iter(given))):
            mem.import_histories(chat, **given)
        assert recorded(mem) == []


def test_the_async_twin_imports_too(chat):
    async def live():
        async with await AsyncMemory.open(":memory:", **QUICK) as mem:
            report = await mem.import_histories(chat, agent="ops-1")
            await mem.wait_for(report.token)
            return texts(await mem.recall("which pool?"))

    assert asyncio.run(asyncio.wait_for(live(), 60)) == ["the pool of auth is exhausted"]


def test_what_only_remembers_loads_no_importer():
    told = "print([name for name in sys.modules if name.startswith('mnemolog.importers.')])"
    code = f"import sys; from mnemolog import AsyncMemory, Memory; {told}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
