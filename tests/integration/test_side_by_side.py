"""Several processes on one folder: one keeps, all append and read, and a death is made good."""

import json
import threading
from collections import Counter

import pytest

from mnemolog.projections.kinds import NAMES
from support.polling import eventually
from support.processes import command, other
from support.remembering import opened, recorded, texts


def test_one_keeps_and_another_appends_and_recalls_what_it_just_said(tmp_path):
    with opened(tmp_path, agent="ops-1") as keeper, other(tmp_path, agent="ops-2") as guest:
        assert keeper.engine.is_owner
        assert guest.ask("memory.engine.is_owner") is False
        for number in range(5):
            text = f"reading number{number} of the gauge"
            found = guest.ask(
                f"[m.text for m in memory.recall('number{number}', hits_max=50,"
                f" after=memory.observe({text!r}).token)]"
            )
            assert text in found
        assert keeper.sql("SELECT count(*) FROM events").rows == [(5,)]
        assert guest.ask("memory.engine.is_owner") is False


def test_tables_hold_what_was_just_appended_whoever_asks(tmp_path):
    with opened(tmp_path, agent="ops-1") as keeper, other(tmp_path, agent="ops-2") as guest:
        for number in range(3):
            keeper.observe(f"by the keeper {number}")
            assert guest.ask("memory.sql('SELECT count(*) FROM events').rows") == [[2 * number + 1]]
            guest.ask(f"memory.observe('by the guest {number}').id")
            assert keeper.sql("SELECT count(*) FROM events").rows == [(2 * number + 2,)]


def test_a_reader_beside_a_writer_sees_its_commits_and_writes_nothing(tmp_path):
    with opened(tmp_path, agent="ops-1") as writer:
        writer.wait_for(writer.observe("the first reading").token)
        with other(tmp_path, read_only=True) as reader:
            assert reader.ask("memory.observe('x')").startswith("ReadOnly: ")
            for number in range(3):
                writer.observe(f"reading number{number}", task="t-1")
                answer = reader.ask(
                    f"[m.text for m in memory.recall('number{number}', after=memory.end(),"
                    " hits_max=50)]"
                )
                assert f"reading number{number}" in answer
                assert reader.ask("len(memory.timeline(task='t-1'))") == number + 1
                assert reader.ask("memory.sql('SELECT count(*) FROM events').rows") == [
                    [number + 2]
                ]
        assert len(recorded(writer)) == 4


def test_who_waits_takes_the_lease_of_a_keeper_that_was_killed_and_goes_on(tmp_path):
    with other(tmp_path, agent="ops-1") as keeper, opened(tmp_path, agent="ops-2") as waiting:
        assert keeper.ask("memory.engine.is_owner") is True
        keeper.ask("memory.wait_for(memory.observe('said before the death').token)")
        keeper.kill()
        assert not waiting.engine.is_owner
        said = waiting.observe("said after the death")
        found = texts(waiting.recall("who said what before the death?", after=said.token))
        assert set(found) == {"said before the death", "said after the death"}
        assert waiting.engine.is_owner
        assert all(compared.is_equal for compared in waiting.verify())


def test_a_waiter_in_mid_wait_goes_on_when_the_keeper_is_killed(tmp_path):
    with other(tmp_path, agent="ops-1") as keeper, opened(tmp_path, agent="ops-2") as waiting:
        end = waiting.observe("the last word").token
        beyond = type(end)({0: 5})
        heard = []
        thread = threading.Thread(target=lambda: heard.append(waiting.wait_for(beyond)))
        thread.start()
        keeper.kill()
        for number in range(5):
            waiting.observe(f"and another {number}")
        thread.join(60)
        assert heard == [None]
        assert waiting.engine.is_owner


def test_the_lease_goes_from_one_to_the_next_when_a_keeper_closes(tmp_path):
    with other(tmp_path, agent="ops-1") as keeper, opened(tmp_path, agent="ops-2") as heir:
        assert keeper.ask("memory.observe('by the first keeper').id")
        assert keeper.end() == 0
        heir.wait_for(heir.end())
        assert heir.engine.is_owner
        assert texts(heir.recall("who kept first?")) == ["by the first keeper"]


def test_rebuilding_beside_a_keeper_is_refused_with_its_name(tmp_path):
    with other(tmp_path) as keeper, opened(tmp_path) as guest:
        keeper.ask("memory.observe('x').id")
        done = command("rebuild", "weights", data=tmp_path)
        assert done.returncode == 4
        assert f"process {keeper.pid}" in done.stderr.decode()
        assert not guest.engine.is_owner


def test_the_keeper_may_rebuild_while_others_read_and_append(tmp_path):
    with opened(tmp_path, agent="ops-1") as keeper, other(tmp_path, agent="ops-2") as guest:
        keeper.wait_for(keeper.observe("the pool of auth", task="t-1").token)
        assert guest.ask("len(memory.recall('pool'))") == 1
        for number in range(3):
            keeper.rebuild()
            found = guest.ask(
                f"[m.text for m in memory.recall('pool', hits_max=50,"
                f" after=memory.observe('pool number {number}', task='t-1').token)]"
            )
            assert {"the pool of auth", f"pool number {number}"} <= set(found)
            assert guest.ask("len(memory.timeline(task='t-1'))") == number + 2


def test_commands_beside_an_open_memory_append_ask_and_wait(tmp_path):
    with opened(tmp_path, agent="ops-1") as mem:
        mem.observe("by the program")
        fields = json.dumps({"text": "by the command line"})
        done = command("append", "observation.recorded", fields, "--agent", "cli", data=tmp_path)
        assert done.returncode == 0, done.stderr.decode()
        assert mem.engine.is_owner
        assert mem.sql("SELECT count(*) FROM events", fresh=False).rows == [(2,)]
        assert "by the command line" in texts(mem.recall("who?"))
        done = command("sql", "SELECT count(*) AS n FROM events", "--json", data=tmp_path)
        assert json.loads(done.stdout) == [{"n": 2}]
        done = command("recall", "who was it?", "--no-record", "--json", data=tmp_path)
        found = {one["text"] for one in json.loads(done.stdout)["memories"]}
        assert found == {"by the program", "by the command line"}


def test_two_that_append_at_once_lose_nothing_and_double_nothing(tmp_path):
    each = 200
    with (
        opened(tmp_path, agent="ops-1") as keeper,
        other(tmp_path, agent="ops-2") as two,
        other(tmp_path, agent="ops-3") as three,
    ):
        for guest in (two, three):
            guest.tell(
                f"[memory.observe(f'{{n}}', id=f'{guest.pid}-{{n}}').id for n in range({each})]"
            )
        for number in range(each):
            keeper.observe(f"{number}", id=f"mine-{number}")
        acknowledged = [*two.hear(), *three.hear(), *(f"mine-{n}" for n in range(each))]
        keeper.wait_for(keeper.end(), projections=NAMES)
        ids = [event.id for event in recorded(keeper)]
        assert Counter(ids) == Counter(acknowledged)
        rows = keeper.sql("SELECT event_id, count(*) FROM events GROUP BY ALL").rows
        assert dict(rows) == dict.fromkeys(acknowledged, 1)
        for agent in ("ops-1", "ops-2", "ops-3"):
            said = [int(e.event.text) for e in recorded(keeper) if e.envelope.agent == agent]
            assert said == list(range(each))


def test_the_same_event_from_two_processes_counts_once(tmp_path):
    same = {"id": "e-1", "occurred_at": "2030-01-01T00:00:00Z"}
    with opened(tmp_path, agent="ops-1") as mem, other(tmp_path, agent="ops-1") as guest:
        mine = mem.observe("once", **same)
        place = guest.ask(f"tuple(memory.observe('once', **{same!r}).position)")
        assert tuple(place) == mine.position
        assert len(recorded(mem)) == 1


@pytest.mark.parametrize("read_only", [True, False])
def test_a_guest_that_is_open_before_anything_is_projected_reads_it_later(tmp_path, read_only):
    with opened(tmp_path, projects=False, agent="ops-1") as writer:
        said = writer.observe("the pool of auth")
        with other(tmp_path, read_only=read_only, projects=False) as guest:
            assert guest.ask("len(memory.recall('pool'))") == 0
            with opened(tmp_path) as keeper:
                keeper.wait_for(said.token)
                found = "[m.text for m in memory.recall('pool')]"
                eventually(
                    lambda: guest.ask(found) == ["the pool of auth"], what="the guest sees it"
                )
