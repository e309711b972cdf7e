"""What the pages say is what the code does. Each check is shown to fail on a bad page."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mnemolog.schemas.registry import built_in
from support import markdown
from support.sources import ROOT

DESIGN = ROOT.parent / "shared" / "design.md"
TOUR = "Five-minute tour"
TOUR_SECONDS_MAX = 280
WORDS = """event, key, recorded event, log, position, progress, checkpoint, memory, projection,
generation, fold, processor, replay, recall, parked, policy"""


def page(name: str) -> str:
    """Return the text of a page."""
    return (ROOT / name).read_text()


# Events


def undocumented_events(text: str) -> set[str]:
    return {
        event.event_type for event in built_in().events() if f"`{event.event_type}`" not in text
    }


def unknown_events(text: str) -> set[str]:
    """Return what tables list under "event" or "type" though no event is called so."""
    rows = [r for t in markdown.tables(text) if t[0][0].lower() in {"event", "type"} for r in t[1:]]
    known = {event.event_type for event in built_in().events()}
    return {row[0].strip("`") for row in rows} - known


def test_an_event_that_is_missing_or_made_up_is_found():
    first = built_in().events()[0].event_type
    table = f"| event | when |\n| --- | --- |\n| `{first}` | now |\n| `dream dreamt` | never |\n"
    assert first not in undocumented_events(table)
    assert len(undocumented_events(table)) == len(built_in().events()) - 1
    assert unknown_events(table) == {"dream dreamt"}


def test_every_event_stands_in_docs_events():
    assert not undocumented_events(page("docs/events.md"))


def test_docs_events_lists_no_event_that_does_not_exist():
    assert not unknown_events(page("docs/events.md"))


# Words


def glossary(text: str) -> list[list[str]]:
    """Return the rows of the table of words in *text*."""
    return next((t for t in markdown.tables(text) if t[0][:2] == ["word", "means"]), [])


def test_the_glossary_is_read_as_a_table_without_its_ruler():
    text = "# Words\n\n| word | means |\n| --- | --- |\n| log | events |\n\nmore\n"
    assert glossary(text) == [["word", "means"], ["log", "events"]]
    assert glossary("no table") == []


def test_the_glossary_has_the_words_of_the_code():
    words = [row[0] for row in glossary(page("docs/glossary.md"))[1:]]
    assert words == re.split(r",\s+", WORDS)


def test_the_glossary_says_what_the_design_says():
    text = page("docs/glossary.md")
    if not DESIGN.exists():
        pytest.skip("the design page is not beside this checkout")
    assert glossary(text) == glossary(DESIGN.read_text())


# The command line


def options_by_command(command, name: str) -> dict[str, set[str]]:
    """Return the long options of *command* and all its subcommands, by their full names."""
    shown = [p for p in command.params if p.param_type_name == "option" and not p.hidden]
    spelled = {o for p in shown for o in (*p.opts, *p.secondary_opts) if o.startswith("--")}
    found = {name: spelled - {"--help", "--install-completion", "--show-completion"}}
    for child, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            found |= options_by_command(inner, f"{name} {child}")
    return found


def undocumented_options(text: str, commands: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return what docs/cli.md lacks, by command.

    A command has a heading with its name in backticks; its options stand below it, or, when
    they are common to many, before the first command's heading.
    """
    parts = markdown.sections(text)
    own = {name: [h for h in parts if f"`{name}`" in h] for name in commands if " " in name}
    headings = {heading for found in own.values() for heading in found}
    first = next((i for i, heading in enumerate(parts) if heading in headings), len(parts))
    common = " ".join(list(parts.values())[:first])
    missing = {}
    for name, found in own.items():
        there = set(re.findall(r"--[a-z][a-z0-9-]*", common + " ".join(parts[h] for h in found)))
        if lacking := commands[name] - there if found else {name}:
            missing[name] = lacking
    return missing


def test_a_command_or_option_that_is_missing_is_found():
    commands = {"m": set(), "m ask": {"--data", "--json"}, "m go": {"--data"}}
    text = "# CLI\n\nAll take `--data`.\n\n## `m ask`\n\nAsks.\n"
    assert undocumented_options(text, commands) == {"m ask": {"--json"}, "m go": {"m go"}}
    whole = f"{text}With `--json` too.\n\n## `m go`\n"
    assert undocumented_options(whole, commands) == {}


def test_every_command_and_option_stands_in_docs_cli():
    text = page("docs/cli.md")
    import typer  # noqa: PLC0415 - as above

    import mnemolog.cli.main as cli  # noqa: PLC0415 - only this test needs it, and it loads slowly

    app = next(value for value in vars(cli).values() if isinstance(value, typer.Typer))
    commands = options_by_command(typer.main.get_command(app), "mnemolog")
    assert len(commands) > 1
    assert undocumented_options(text, commands) == {}


# The tour


def tour(text: str) -> str:
    """Return one script of all the tour's commands, which stops at the first that fails."""
    found = markdown.blocks(markdown.section(text, TOUR), "console", "sh", "python")
    return "".join(_step(language, block) for language, block in found)


def _step(language: str, block: str) -> str:
    if language == "python":
        return f"python - <<'END_OF_BLOCK'\n{block}END_OF_BLOCK\n"
    return markdown.shell(language, block)


def run_tour(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the tour of *text* in *folder*, beside the examples, with our `mnemolog` on the path."""
    (folder / "examples").symlink_to(ROOT / "examples")
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", tour(text)],
        cwd=folder,
        env={**os.environ, "PATH": path},
        check=False,
        capture_output=True,
        text=True,
        timeout=TOUR_SECONDS_MAX,
    )


def test_the_tour_is_run_block_by_block_and_a_failing_command_is_found(tmp_path):
    good = f"""# x
```sh
echo outside > left.txt
```
## {TOUR}
```console
$ echo one > a.txt
output is not run
```
```python
print(open("a.txt").read() + "two")
```
```json
{{}}
```
## After
```sh
exit 3
```
"""
    done = run_tour(good, tmp_path)
    assert (done.returncode, done.stdout) == (0, "one\ntwo\n"), done.stderr
    assert not (tmp_path / "left.txt").exists()
    (tmp_path / "again").mkdir()
    assert run_tour(good.replace("$ echo", "$ false; echo"), tmp_path / "again").returncode == 1


@pytest.mark.slow
def test_the_tour_of_the_readme_runs(tmp_path):
    text = page("README.md")
    assert tour(text), f"no commands under '{TOUR}'"
    done = run_tour(text, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
