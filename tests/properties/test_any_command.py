"""Whatever is typed after `mnemolog`: an answer or a refusal in its own words, and an exit code."""

import os
from typing import Any, Final

import pytest
import typer.main
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.cli.main import app
from support import nasty
from support.any_history import examples
from support.command_line import run
from support.import_samples import samples
from support.surviving import beside

CODES: Final = {0, 1, 2, 3, 4, 5}


def leaves(group: Any, *names: str) -> dict[tuple[str, ...], Any]:
    """Return the commands of *group* and of the groups in it, by the words that one types."""
    found: dict[tuple[str, ...], Any] = {}
    for name, command in group.commands.items():
        is_group = hasattr(command, "commands")
        below = leaves(command, *names, name) if is_group else {(*names, name): command}
        found.update(below)
    return found


COMMANDS: Final = leaves(typer.main.get_command(app))
# What goes on for ever, reaches elsewhere on purpose, opens a port, or lets all others wait.
LEFT_OUT: Final = {"demo", "worker", "serve", "mcp", "control"}
FOREVER: Final = ("-f", "--follow", "--watch")
NOT_TYPED: Final = {"--data", "--log", "--keep", "--bundle", "--help", "--to", *FOREVER}


def _as_a_system_hands_it_on(text: str) -> str:
    """Return *text* as an argument or a variable may hold it: bytes without a NUL."""
    return os.fsdecode(text.encode("utf-8", "surrogatepass").replace(b"\0", b""))


typed = nasty.texts.map(_as_a_system_hands_it_on)
words: st.SearchStrategy[str] = st.one_of(
    typed,
    st.sampled_from(["the pool", "observation.recorded", "lamp-1", "t1", "ops-1", "memories", "-"]),
    st.sampled_from(
        ["{}", '{"text": "x"}', '{"text": 1}', "[]", "SELECT 1", "SELECT * FROM events"]
    ),
    st.sampled_from(["--", "-x", "--nothing", "-n", "5", "-5", "1e9", "0.5", "nan", "2030-01-01"]),
)


def options(command: Any) -> st.SearchStrategy[list[str]]:
    """Return some of a command's options, each with any value."""
    known = [one for one in command.params if one.param_type_name == "option"]
    offered = [
        st.builds(lambda value, name=one.opts[0]: [f"{name}={value}"], words)
        if not one.is_flag
        else st.just([one.opts[0]])
        for one in known
        if not NOT_TYPED.intersection(one.opts)
    ]
    return st.lists(st.one_of(offered or [st.just([])]), max_size=3).map(
        lambda some: [word for pair in some for word in pair]
    )


def arguments(command: Any) -> st.SearchStrategy[list[str]]:
    """Return as many arguments as a command takes, or now and then another number."""
    takes = sum(one.param_type_name == "argument" for one in command.params)
    return st.lists(words, min_size=takes, max_size=takes) | st.lists(words, max_size=3)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a folder that holds a folder of data, in which something was said."""
    folder = tmp_path_factory.mktemp("any-command")
    fields = '{"text": "the lighthouse is lit"}'
    given_ = ["append", "observation.recorded", fields, "--agent", "keeper", "--id", "lamp-1"]
    assert typed_in(folder, given_).code == 0
    return folder


def typed_in(folder, told, *, stdin=b""):
    environment = {
        "MNEMOLOG_DATA": str(folder / "data"),
        "MNEMOLOG_EMBEDDER": "hashing",
        "MNEMOLOG_RECORD_RECALLS": "no",
    }
    return run(told, stdin=stdin, environment=environment)


def check(folder, ended):
    assert ended.error is None
    assert ended.code in CODES
    assert "Traceback" not in ended.err + ended.out
    if ended.code in {2, 3, 4, 5}:
        assert ended.err.strip() or ended.out.strip()
    assert beside(folder, folder / "data") == []


@pytest.mark.parametrize(
    "names", [names for names in sorted(COMMANDS) if names[0] not in LEFT_OUT], ids=" ".join
)
@examples(8)
@given(data=st.data())
def test_anything_typed_after_a_command_ends_with_one_of_the_codes(place, names, data):
    command = COMMANDS[names]
    told = [*data.draw(arguments(command)), *data.draw(options(command))]
    told = [word for word in told if not word.startswith(FOREVER)]
    stdin = data.draw(st.binary(max_size=60) | st.sampled_from([b'{"text": "x"}', b"[" * 9_000]))
    check(place, typed_in(place, [*names, *told], stdin=stdin))
    neighbour = typed_in(place, ["recall", "lighthouse", "--agent", "keeper"])
    assert "the lighthouse is lit" in neighbour.out
    check(place, neighbour)


@examples(30)
@given(told=st.lists(words, max_size=4))
def test_anything_typed_at_all_ends_with_one_of_the_codes(place, told):
    known = {names[0] for names in COMMANDS}
    unknown = [word for word in told if word not in known and not word.startswith(FOREVER)]
    check(place, typed_in(place, unknown))


@examples(30)
@given(value=typed, name=st.sampled_from(["TENANT", "PARTITIONS", "EVENT_BYTES_MAX", "EMBEDDER"]))
def test_anything_in_the_environment_ends_with_one_of_the_codes(place, value, name):
    environment = {"MNEMOLOG_DATA": str(place / "data"), f"MNEMOLOG_{name}": value}
    for command in ("config", "status"):
        check(place, run([command], environment=environment))


@examples(20)
@given(data=st.data())
def test_anything_on_standard_input_is_imported_or_refused(place, data):
    name = data.draw(st.sampled_from(["openai-chat", "codex", "cloudevents", "aider"]))
    content = data.draw(st.sampled_from(samples(name)))[1]
    cut = content[: data.draw(st.integers(0, len(content)))] + data.draw(st.binary(max_size=9))
    told = ["import", "-", "--no-wait", "--dry-run", *data.draw(st.sampled_from([[], ["--json"]]))]
    check(place, typed_in(place, told, stdin=cut))
