"""The repository's files fit together: links, targets, decisions, and nothing of one machine.

Each check is shown to fail on a bad text.
"""

import re
from pathlib import Path
from urllib.parse import unquote

from support import markdown
from support.sources import ROOT, name_of, tracked_files

PAGES = [path for path in tracked_files() if path.suffix == ".md"]

# Put together here so that this file does not hold what it forbids.
MACHINE_PATH = re.compile(r"(?<![\w.~/-])/(?:" + "|".join(("wor" + "k", "roo" + "t")) + r")/")
REGISTRIES = [
    ".".join(host)
    for host in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("registry", "npmjs", "org"),
        ("repo", "maven", "apache", "org"),
        ("repo1", "maven", "org"),
        ("crates", "io"),
        ("proxy", "golang", "org"),
        ("deb", "debian", "org"),
    )
]


# Links, targets, decisions


def broken_links(text: str, folder: Path) -> list[str]:
    """Return the relative links of a page in *folder* that lead to no file or to no heading."""
    inner = [link for link in markdown.links(text) if not re.match(r"[a-z][a-z+.-]*:", link)]
    return [link for link in inner if not _resolves(link, text, folder)]


def _resolves(link: str, text: str, folder: Path) -> bool:
    target, _, anchor = unquote(link).partition("#")
    path = folder / target
    if target and not path.exists():
        return False
    there = path.read_text() if path.suffix == ".md" else text
    return not anchor or anchor in markdown.anchors(there)


def test_a_link_to_nowhere_is_found(tmp_path):
    (tmp_path / "there.md").write_text("# Two words\n")
    text = "# Top\n[a](there.md#two-words) [b](gone.md) [c](#top) [d](there.md#no) `[e](code.md)`"
    assert broken_links(text, tmp_path) == ["gone.md", "there.md#no"]


def test_relative_links_lead_somewhere():
    found = {name_of(path): broken_links(path.read_text(), path.parent) for path in PAGES}
    assert not {name: links for name, links in found.items() if links}


def make_targets() -> dict[str, bool]:
    """Return the targets of the Makefile, and whether each has its line of help."""
    found = re.findall(r"^([a-z-]+):(.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    return {name: "## " in rest for name, rest in found}


def test_every_target_of_make_has_its_line_of_help():
    assert [name for name, helped in make_targets().items() if not helped] == []


def test_every_target_that_a_page_names_exists():
    named = {t for path in PAGES for t in re.findall(r"`make ([a-z-]+)", path.read_text())}
    assert "check" in named
    assert named <= make_targets().keys()


def test_the_scripts_that_targets_run_are_there():
    makefile = (ROOT / "Makefile").read_text()
    scripts = re.findall(r"python[^ \n]* ([a-z_/]+\.py)", makefile.replace("$(PYTHON)", "python"))
    assert len(scripts) >= 3
    assert [name for name in scripts if not (ROOT / name).exists()] == []


def test_decisions_are_numbered_without_gaps_and_have_their_three_parts():
    pages = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert [int(path.name[:4]) for path in pages] == list(range(1, len(pages) + 1))
    for path in pages:
        assert markdown.sections(path.read_text()).keys() >= {
            "Context",
            "Decision",
            "Consequences",
        }, path


# Machines and registries


def machine_words(text: str) -> list[str]:
    """Return the paths and hosts in *text* that hold on one machine or network only."""
    hosts = [host for host in REGISTRIES if host in text]
    return [*MACHINE_PATH.findall(text), *hosts]


def test_a_path_of_a_machine_or_a_host_of_a_registry_is_found():
    assert machine_words("cd /" + "work/main")
    assert machine_words("HOME=/" + "root/")
    assert machine_words("https://" + REGISTRIES[0] + "/simple")
    assert not machine_words("src/work/main.py, ~/work/x, /var/lib/kafka, /home/alice/notes.md")


def test_no_tracked_file_names_a_machine_or_a_registry():
    found = {name_of(p): machine_words(p.read_text(errors="replace")) for p in tracked_files()}
    assert not {name: words for name, words in found.items() if words}
