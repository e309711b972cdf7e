"""The pages on watching say what the code says, their commands run, alerts ask what is there."""

import re
import shlex
import sys
import urllib.request
from pathlib import Path

import pytest
import yaml

from mnemolog import metrics
from mnemolog.cli.main import main
from mnemolog.health_listener import HealthListener
from support import markdown
from support.polling import eventually
from support.remembering import opened
from support.sources import ROOT
from support.watched import Clock, watch_of

SYMPTOMS = (ROOT / "docs" / "symptoms.md").read_text()
OPERATING = (ROOT / "docs" / "operating.md").read_text()
ALERTS = yaml.safe_load((ROOT / "deploy" / "alerts.yml").read_text())
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
WATCHING = ("Watching", "Golden queries", "Upkeep")
PORT = ":8421"
SAID = "the connection pool of auth is exhausted"


def commands(lines):
    """Return the commands of the shell blocks in *lines*, each as its words."""
    blocks = markdown.blocks(lines, "sh")
    return [line for _, block in blocks for line in block.splitlines() if line.strip()]


PAGES = {
    **{title: markdown.section(OPERATING, title) for title in WATCHING},
    **{
        title: markdown.section(SYMPTOMS, title)
        for title in markdown.sections(SYMPTOMS)
        if title not in {"", "Symptoms"}
    },
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Return a small data folder, and what stands in it for the pages' variables."""
    data = tmp_path_factory.mktemp("data")
    with opened(data) as memory:
        memory.observe(SAID, agent="ops-1", task="t-42")
        saved = memory.checkpoint(
            "mend auth", plan_summary="find, mend", agent="ops-1", task="t-42"
        )
        memory.wait_for(saved.token, vectors=True)
        found = memory.recall("which pool?")[0].id
    (data / "golden.toml").write_text('[[question]]\nask = "which pool?"\ntext = "pool of auth"\n')
    return data, {"$MEMORY": found, "$TASK": "t-42"}


@pytest.fixture
def told(kept, monkeypatch):
    """Return a function that runs a command as the pages have it, and gives its exit code."""
    data, named = kept
    monkeypatch.setenv("MNEMOLOG_DATA", str(data))
    monkeypatch.setenv("MNEMOLOG_EMBEDDER", "hashing")
    monkeypatch.chdir(data)

    def run(line):
        for name, value in named.items():
            line = line.replace(name, value)
        program, *arguments = shlex.split(line)
        return curl(arguments[-1]) if program == "curl" else called(program, arguments)

    def called(program, arguments):
        assert program == "mnemolog"
        monkeypatch.setattr(sys, "argv", [program, *arguments])
        try:
            main()
        except SystemExit as end:
            return end.code or 0
        return 0

    return run


def curl(url):
    """Ask a listener of this test what the page asks a worker's."""
    with opened() as memory:
        watch = watch_of(Clock(), default=memory)
        listener = HealthListener(watch, "127.0.0.1", 0)
        try:
            eventually(lambda: memory.engine.dispatcher.reached, what="it took a turn")
            watch.look()
            assert PORT in url
            with urllib.request.urlopen(url.replace(PORT, f":{listener.port}")) as answer:
                return 0 if answer.status == 200 and answer.read() else 1
        finally:
            listener.close()
            watch.stop()


@pytest.mark.parametrize("title", [title for title, lines in PAGES.items() if commands(lines)])
def test_the_commands_of_a_page_run(title, told):
    for line in commands(PAGES[title]):
        assert told(line) == 0, line


def test_every_symptom_has_its_commands():
    symptoms = [title for title in PAGES if title not in WATCHING]
    assert len(symptoms) == 7
    assert all(len(commands(PAGES[title])) >= 3 for title in symptoms)


def test_a_command_that_fails_is_found(told):
    assert told("mnemolog resume no-such-task") == 3
    assert told("mnemolog no-such-command") == 2


def test_the_metrics_of_the_page_are_those_that_are_told():
    written = set(re.findall(r"`(mnemolog_[a-z_]+)`", OPERATING))
    told = {re.sub(r"(_seconds)_(bucket|count|sum)$", r"\1", name) for name in metrics.names()}
    assert written == told


def names_in(expression):
    return set(re.findall(r"\bmnemolog_[a-z_]+\b", expression))


def test_a_metric_that_is_not_told_is_found_in_a_rule():
    assert names_in('rate(mnemolog_made_up_total[5m]) > mnemolog_open{a="b"}') == {
        "mnemolog_made_up_total",
        "mnemolog_open",
    }


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_a_rule_asks_for_what_is_told_and_leads_to_a_page(rule):
    assert names_in(rule["expr"]) <= metrics.names()
    assert names_in(rule["expr"]) or "up{" in rule["expr"]
    assert rule["expr"].count("(") == rule["expr"].count(")")
    assert rule["labels"]["severity"] in {"page", "ticket"}
    path, _, anchor = rule["annotations"]["runbook"].partition("#")
    assert anchor in markdown.anchors(Path(ROOT, path).read_text())
    assert f"`{rule['alert']}`" in SYMPTOMS
    assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}


def test_every_alert_of_the_page_is_a_rule_of_the_group_of_its_symptom():
    written = dict.fromkeys(re.findall(r"`(Mnemolog[A-Za-z]+)`", SYMPTOMS))
    assert set(written) == {rule["alert"] for rule in RULES}
    assert len(RULES) == len(written)
    assert all(re.fullmatch(r"\d+[smh]", rule.get("for", "1m")) for rule in RULES)
