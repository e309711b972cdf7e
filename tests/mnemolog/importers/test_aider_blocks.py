"""Lines of an Aider history are put together as the program wrote them."""

import io

import pytest

from mnemolog.importers import aider_blocks
from mnemolog.importers.aider_blocks import blocks
from mnemolog.importers.aider_edits import Edit, without_edits
from mnemolog.importers.aider_prints import print_of, use_of
from mnemolog.importers.base import Problem, Source


def source(text: str | bytes) -> Source:
    content = text if isinstance(text, bytes) else text.encode()
    return Source("h.md", content[:99], io.BufferedReader(io.BytesIO(content)))


def read(text: str | bytes) -> list[tuple[str, list[str]]]:
    found = list(blocks(source(text)))
    assert not any(isinstance(block, Problem) for block in found)
    return [(block.kind, block.texts) for block in found]


START = "\n# aider chat started at 2024-08-05 19:33:02\n\n"


def test_a_session_is_its_start_prompts_answers_and_prints():
    text = f"{START}> Aider v1  \n\n#### Mend it.  \n\nDone.\n\nReally.\n\n> Tokens: 1 sent  \n"
    assert read(text) == [
        ("start", ["# aider chat started at 2024-08-05 19:33:02"]),
        ("print", ["Aider v1"]),
        ("prompt", ["Mend it."]),
        ("answer", ["Done.\n\nReally."]),
        ("print", ["Tokens: 1 sent"]),
    ]


def test_a_prompts_lines_belong_together_and_an_empty_line_ends_it():
    text = "#### one  \n####   \n#### two  \n\n#### three  \n> out  \n"
    assert read(text) == [("prompt", ["one\n\ntwo"]), ("prompt", ["three"]), ("print", ["out"])]


def test_headings_and_quotations_of_an_answer_are_its_own():
    answer = "#### A heading\n\n> quoted\n\n>>>>>>> REPLACE"
    assert read(f"#### hi  \n\nSo:\n\n{answer}\n") == [
        ("prompt", ["hi"]),
        ("answer", [f"So:\n\n{answer}"]),
    ]


def test_a_print_of_several_lines_is_one_until_the_line_with_the_spaces():
    printed = "> === test\n\n    \n>   assert x\nE  no\n=== failed  \n> next  \n"
    assert read(f"#### /test  \n{printed}\nThe test fails.\n") == [
        ("prompt", ["/test"]),
        ("print", ["=== test\n\n    \n>   assert x\nE  no\n=== failed", "next"]),
        ("answer", ["The test fails."]),
    ]


def test_what_goes_on_without_an_empty_line_is_no_answer():
    printed = "> diff\n line with spaces  \n+added\n \n-gone  \n"
    assert read(f"#### /diff  \n{printed}\nSo.\n") == [
        ("prompt", ["/diff"]),
        ("print", ["diff\n line with spaces\n+added\n \n-gone"]),
        ("answer", ["So."]),
    ]


@pytest.mark.parametrize("ending", ["#### hi  \n", START])
def test_a_print_that_broke_off_ends_at_the_next_prompt_or_start(ending):
    kinds = [kind for kind, _ in read(f"> began\nand\n\n{ending}")]
    assert kinds == ["print", "start" if ending == START else "prompt"]


def test_a_start_stands_behind_an_empty_line():
    assert [kind for kind, _ in read("So:\n# aider chat started at 2024-08-05 19:33:02\n")] == [
        "answer"
    ]


def test_line_ends_of_windows_and_bytes_that_are_no_utf_8_are_borne():
    assert read(b"#### hi  \r\n\r\nD\xe9j\xc3\xa0.\r\n") == [
        ("prompt", ["hi"]),
        ("answer", ["D\udce9jà."]),
    ]


def test_a_long_block_is_told_in_pieces(monkeypatch):
    monkeypatch.setattr(aider_blocks, "BLOCK_CHARS_MAX", 10)
    assert read("a" * 11 + "\nbb\n") == [("answer", ["a" * 11]), ("answer", ["bb"])]


def test_a_line_that_is_too_long_is_named_and_passed_over(monkeypatch):
    monkeypatch.setattr(aider_blocks, "ITEM_BYTES_MAX", 20)
    found = list(blocks(source("#### one  \n\n" + "x" * 90 + "\n\n#### two  \n")))
    assert [str(f) for f in found if isinstance(f, Problem)] == [
        "h.md: line 3: 91 bytes; a line has at most 20"
    ]
    assert [f.texts for f in found if not isinstance(f, Problem)] == [["one"], ["two"]]


# Edits


BLOCK = "<<<<<<< SEARCH\n{}\n=======\n{}\n>>>>>>> REPLACE"


@pytest.mark.parametrize(
    ("answer", "words", "edits"),
    [
        ("No edits.", "No edits.", []),
        (
            f"So:\n\n**`a.py`:**\n```python\n{BLOCK.format('x', 'y')}\n```\nDone.",
            "So:\n\n[edit of a.py]\nDone.",
            [Edit("a.py", "x", "y")],
        ),
        (
            f"a.py\n```\n{BLOCK.format('', 'y')}\n\n{BLOCK.format('p', '')}\n```",
            "[edit of a.py]\n\n[edit of a.py]",
            [Edit("a.py", "", "y"), Edit("a.py", "p", "")],
        ),
        (
            f"docs/b.md\n<source>markdown\n{BLOCK.format('#', '##')}\n</source>",
            "[edit of docs/b.md]",
            [Edit("docs/b.md", "#", "##")],
        ),
        (f"I change it:\n{BLOCK.format('x', 'y')}", "I change it:\n[edit]", [Edit("", "x", "y")]),
        ("a.py\n<<<<<<< SEARCH\nx\n=======\ny", "a.py\n<<<<<<< SEARCH\nx\n=======\ny", []),
        (
            f"<<<<<<< SEARCH\nlost\n{BLOCK.format('x', 'y')}",
            "<<<<<<< SEARCH\n[edit of lost]",
            [Edit("lost", "x", "y")],
        ),
    ],
)
def test_edits_are_taken_out_of_an_answer(answer, words, edits):
    assert without_edits(answer) == (words, edits)


# Prints


@pytest.mark.parametrize(
    ("text", "kind", "about"),
    [
        ("Applied edit to aider/io.py", "applied", "aider/io.py"),
        ("Commit fd43cd4 feat: A thing", "commit", "fd43cd4"),
        ("Commit fd43cd4 feat: A thing\n\nLong.", "commit", "fd43cd4"),
        ("Commit all changes", "rest", ""),
        ("Models: m-1 with diff edit format, weak model m-2", "model", "m-1"),
        ("Main model: m/1 with ♾️ diff edit format", "model", "m/1"),
        ("Model m-1: unknown", "rest", ""),
        ("Attempt to fix lint errors? y", "broken", "lint"),
        ("Removed: fd43cd4 feat: A thing", "removed", "fd43cd4"),
        ("Tokens: 5 sent, 1 received.", "spent", ""),
        ("^C again to exit", "chatter", ""),
        ("", "chatter", ""),
        ("## NoExactMatch: This SEARCH block failed to match lines in a.py", "missed", "a.py"),
        ("# The other 2 SEARCH/REPLACE blocks were applied successfully.", "others applied", ""),
        ("Added a.py to the chat.", "rest", ""),
    ],
)
def test_what_is_printed_is_known_by_its_beginning(text, kind, about):
    found = print_of(text)
    assert (found.kind, found.about) == (kind, about)


@pytest.mark.parametrize(
    ("text", "use"),
    [
        (
            "Tokens: 5,244 sent, 604 received. Cost: $0.02 request, $0.05 session.",
            (5244, 604, 0.02),
        ),
        ("Tokens: 2.5k sent, 1.1k cache write, 12 received.", (2500, 12, None)),
        ("Tokens: 1M sent, 0 received. Cost: $1,000.5 message, $2 session.", (1000000, 0, 1000.5)),
    ],
)
def test_what_a_request_cost_is_read(text, use):
    found = use_of(text, "m-1")
    assert found is not None
    assert (found["tokens_in"], found["tokens_out"], found["cost_usd"]) == use


def test_numbers_beyond_reason_are_none():
    assert use_of(f"Tokens: {'9' * 400} sent, 1 received.", "m")["tokens_in"] < 10**17
