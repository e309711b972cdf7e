"""Sound histories of every format, damaged in every way: an import ends with a report.

What can't be read is named; what is beside it, and what was there before, is there afterwards.
"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.importers.formats import names
from support import nasty
from support.any_history import examples
from support.import_log import TENANT, ImportLog
from support.import_samples import samples
from support.log_records import everything
from support.remembering import opened, texts


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """Draw *content* after some accidents: bytes lost, doubled, swapped, put in, cut off."""
    for _ in range(draw(st.integers(1, 4))):
        if not content:
            break
        start = draw(st.integers(0, len(content) - 1))
        end = min(len(content), start + draw(st.sampled_from([1, 2, 8, 64, 512])))
        match draw(st.sampled_from(["drop", "double", "swap", "insert", "cut", "flip"])):
            case "drop":
                content = content[:start] + content[end:]
            case "double":
                content = content[:end] + content[start:end] + content[end:]
            case "swap":
                content = content[:start] + content[end:] + content[start:end]
            case "insert":
                content = content[:start] + draw(INSERTED) + content[start:]
            case "flip":
                flipped = bytes([content[start] ^ (1 << draw(st.integers(0, 7)))])
                content = content[:start] + flipped + content[start + 1 :]
            case _:
                content = content[:start]
    return content


INSERTED = st.binary(max_size=8) | st.sampled_from(
    [b"\0" * 600, b"\n", b'"', b"{", b"}]", b"NaN", b"\\ud83e", b"\xff", b"\x1f\x8b", b"\r\n", b","]
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of each value within *value*, itself included."""
    if isinstance(value, dict):
        inside = value.items()
    elif isinstance(value, list):
        inside = enumerate(value)
    else:
        return [path]
    return [path, *(deep for name, item in inside for deep in places(item, (*path, name)))]


def changed(value: Any, path: tuple[Any, ...], change: Any) -> Any:
    """Return *value* with *change* made of what stands at *path*."""
    if not path:
        return change(value)
    copy = list(value) if isinstance(value, list) else dict(value)
    copy[path[0]] = changed(value[path[0]], path[1:], change)
    return copy


def without(value: Any, path: tuple[Any, ...]) -> Any:
    if not path:
        return None

    def drop(holder: Any) -> Any:
        if isinstance(holder, list):
            return [item for at, item in enumerate(holder) if at != path[-1]]
        return {name: item for name, item in holder.items() if name != path[-1]}

    return changed(value, path[:-1], drop)


def _is_written(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


WRITABLE = nasty.json.filter(_is_written)


@st.composite
def spoilt(draw: st.DrawFn, document: Any) -> Any:
    """Draw a JSON *document* with values of another type, lost, doubled, renamed or moved."""
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(places(document)))
        match draw(st.sampled_from(["type", "drop", "double", "wrap", "move"])):
            case "type":
                other = draw(WRITABLE)
                document = changed(document, path, lambda _, other=other: other)
            case "drop":
                document = without(document, path)
            case "double":
                document = changed(
                    document,
                    path,
                    lambda held: [*held, *held] if isinstance(held, list) else [held],
                )
            case "wrap":
                document = changed(document, path, lambda held: {"value": held})
            case _:
                other = draw(st.sampled_from(places(document)))
                moved = at(document, path)
                document = changed(document, other, lambda _, moved=moved: moved)
    return document


def at(value: Any, path: tuple[Any, ...]) -> Any:
    return at(value[path[0]], path[1:]) if path else value


def taken(folder, name, file, content):
    """Import *content* twice beside a sound file; return what came in, and the first report."""
    (folder / file).write_bytes(content)
    sound = folder / "sound.json"
    sound.write_text(json.dumps([{"role": "user", "content": "the lighthouse is lit"}]))
    log = ImportLog()
    log.take(sound, format="openai-chat")
    report = log.take(folder / file, format=name)
    held = everything(log.log)
    again = log.take(folder / file, format=name)
    assert (again.added, again.problems) == (0, report.problems)
    assert len(everything(log.log)) == len(held)
    for problem in report.problems:
        str(problem).encode()
        assert problem.reason
    assert b"the lighthouse is lit" in b"".join(record.value for record in held)
    log.take(folder / "sound.json", format="openai-chat")
    assert sorted(path.name for path in folder.iterdir()) == sorted({file, "sound.json"})
    return held, report


@pytest.mark.parametrize("name", names())
@examples(15)
@given(data=st.data())
def test_a_damaged_file_ends_as_a_report_and_costs_no_neighbour(tmp_path_factory, name, data):
    folder = tmp_path_factory.mktemp("damaged", numbered=True)
    file, content = data.draw(st.sampled_from(samples(name)))
    held, report = taken(folder, name, file, data.draw(damaged(content)))
    assert len(held) >= report.added


@pytest.mark.parametrize("name", [name for name in names() if name != "aider"])
@examples(15)
@given(data=st.data())
def test_a_document_with_anything_in_any_place_ends_as_a_report(tmp_path_factory, name, data):
    folder = tmp_path_factory.mktemp("spoilt", numbered=True)
    whole = [one for one in samples(name) if one[0].endswith((".json", ".jsonl", ".traj"))]
    file, content = data.draw(st.sampled_from(whole))
    lines = content.splitlines() if file.endswith(".jsonl") else [content]
    number = data.draw(st.integers(0, len(lines) - 1))
    document = data.draw(spoilt(json.loads(lines[number])))
    lines[number] = json.dumps(document).encode()  # NaN and lone surrogates too
    taken(folder, name, file, b"\n".join(lines))


@pytest.mark.parametrize("name", names())
@examples(3)
@given(data=st.data())
def test_what_came_of_it_is_taken_by_every_projection(tmp_path_factory, name, data):
    folder = tmp_path_factory.mktemp("whole", numbered=True)
    file, content = data.draw(st.sampled_from(samples(name)))
    (folder / file).write_bytes(data.draw(damaged(content)))
    with opened(folder / "data", tenant=TENANT) as mem:
        mem.observe("the lighthouse is lit", agent="keeper")
        ImportLog(mem.engine.log).take(folder / file, format=name)
        last = mem.observe("the lighthouse is dark", agent="keeper")
        mem.wait_for(mem.end())
        found = mem.recall("lighthouse", agent="keeper", after=last.token)
        assert sorted(texts(found)) == ["the lighthouse is dark", "the lighthouse is lit"]
        with mem.engine.dispatcher.paused() as projector:
            parked = [one.parked() for one in projector.projections]
        # What another release wrote waits for it, and so do copies of what was parked elsewhere.
        assert all(held.newer or name == "cloudevents" for some in parked for held in some)
    assert sorted(path.name for path in folder.iterdir()) == sorted(["data", file])
