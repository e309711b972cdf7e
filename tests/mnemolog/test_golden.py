"""Golden queries: read from TOML or JSON Lines, asked without a trace, and told in a share."""

import pytest

from mnemolog.golden import RATE_MIN, Golden, Probed, file_for, probe, read_golden
from mnemolog.schemas.errors import InvalidSetting, LogUnavailable, NotFound
from support.remembering import opened, recorded

TOML = """
[[question]]
ask = "which pool?"
text = "Pool of AUTH"
agent = "ops-1"

[[question]]
ask = "what colour is the sky?"
id = "no such memory"
hits = 3
"""
LINES = (
    '{"ask": "which pool?", "text": "pool of auth", "agent": "ops-1"}\n\n{"ask": "x", "id": "y"}\n'
)


@pytest.fixture(scope="module")
def memory():
    with opened(record_recalls=True) as memory:
        memory.wait_for(
            memory.observe("the connection pool of auth is exhausted", agent="ops-1", id="e1").token
        )
        yield memory


def written(folder, text, name="golden.toml"):
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(("name", "text"), [("golden.toml", TOML), ("golden.jsonl", LINES)])
def test_questions_are_read_from_either_format(tmp_path, name, text):
    first, second = read_golden(written(tmp_path, text, name))
    assert (first.ask, first.agent, first.hits) == ("which pool?", "ops-1", 10)
    assert first.text.casefold() == "pool of auth"
    assert second.id


def test_what_is_found_by_its_text_or_by_its_event_counts(memory):
    found = probe(
        memory,
        [
            Golden(ask="which pool?", text="pool of AUTH"),
            Golden(ask="which pool?", id="e1"),
            Golden(ask="which pool?", id=memory.recall("which pool?")[0].id),
            Golden(ask="which pool?", text="of payments"),
            Golden(ask="which pool?", text="pool of auth", agent="ops-2"),
        ],
    )
    assert [one.is_found for one in found.asked] == [True, True, True, False, False]
    assert found.rate == 0.6
    assert not found.is_good
    assert found.asked[3].first == "the connection pool of auth is exhausted"
    assert found.asked[4].first is None


def test_four_of_five_are_enough():
    hit, miss = (probe(_Silent(n), [Golden(ask="x", text="y")]).asked for n in (1, 0))
    assert RATE_MIN == 0.8
    assert Probed((*hit * 4, *miss)).is_good
    assert not Probed((*hit * 3, *miss)).is_good


class _Silent:
    """Finds *number* memories that hold a y."""

    def __init__(self, number):
        self.memories = [type("One", (), {"id": "1", "text": "y"})] * number

    def recall(self, question, **asked):
        return self


def test_one_that_can_not_be_asked_found_nothing_and_says_why(memory, monkeypatch):
    def away(*_, **__):
        raise LogUnavailable("the topic", "no broker")

    monkeypatch.setattr(memory, "recall", away)
    found = probe(memory, [Golden(ask="which pool?", text="pool")])
    assert found.to_dict()["questions"] == [
        {
            "ask": "which pool?",
            "text": "pool",
            "hits": 10,
            "found": False,
            "first": None,
            "error": "the topic: no broker",
        }
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[question]]\ntext = 'x'", "question 1"),
        ("[[question]]\nask = 'x'", "either `id` or `text`"),
        ("[[question]]\nask = 'x'\nid = 'a'\ntext = 'b'", "either `id` or `text`"),
        ("[[question]]\nask = 'x'\ntext = ''", "not empty"),
        ("[[question]]\nask = 'x'\ntext = 'y'\nhits = 51", "from 1 to 50"),
        ("[[question]]\nask = 'x'\ntext = 'y'\nhits = true", "from 1 to 50"),
        ("[[question]]\nask = 'x'\ntext = 'y'\nagents = 'z'", "agent"),
        ("[[questions]]\nask = 'x'", "question"),
        ("question = 1", "question"),
        ("question = [1]", "question 1"),
        ("", "question"),
        ("nonsense", "golden.toml"),
    ],
)
def test_a_file_that_is_none_is_refused_with_its_place(tmp_path, text, said):
    with pytest.raises(InvalidSetting, match=said.replace("|", ".")):
        read_golden(written(tmp_path, text))


@pytest.mark.parametrize("line", ["{", "1", '{"ask": 1, "id": "x"}', "[" * 10_000, "\x00"])
def test_a_line_that_is_none_is_refused_with_its_number(tmp_path, line):
    path = written(tmp_path, '{"ask": "x", "id": "y"}\n' + line, "golden.jsonl")
    with pytest.raises(InvalidSetting, match="line 2"):
        read_golden(path)


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(NotFound):
        read_golden(tmp_path / "golden.toml")


def test_the_file_is_the_one_named_or_one_in_the_folder(tmp_path):
    assert file_for(tmp_path, None) is None
    lines = written(tmp_path, LINES, "golden.jsonl")
    assert file_for(tmp_path, None) == lines
    toml = written(tmp_path, TOML)
    assert file_for(tmp_path, None) == toml
    assert file_for(tmp_path, tmp_path / "x.toml") == tmp_path / "x.toml"


def test_who_only_asks_appends_nothing(memory):
    from mnemolog.asking import Asker  # noqa: PLC0415 - of this test alone

    before = len(recorded(memory))
    asker = Asker(memory.engine, memory._readers, {})
    assert probe(asker, [Golden(ask="which pool?", text="pool")]).is_good
    assert len(recorded(memory)) == before
