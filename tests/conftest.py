"""What every test gets: the shared helpers, one Kafka broker a session, a clean environment."""

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.remote import Producer

TESTS = Path(__file__).parent


def _import_shared(name: str) -> None:
    """Import the folder tests/*name* as the package *name*.

    Not by putting tests/ on the path: its folders carry the names of the product's packages, and
    a folder on the path hides an installed package that is found by an import hook.
    """
    pytest.register_assert_rewrite(name)
    home = TESTS / name
    spec = importlib.util.spec_from_file_location(
        name, home / "__init__.py", submodule_search_locations=[str(home)]
    )
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = package = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)


_import_shared("support")
_import_shared("contracts")

from support.kafka_broker import (  # noqa: E402 - made just above
    KafkaBroker,
    KafkaUnavailable,
    check_java,
    jars,
)
from support.profiles import DEFAULT_EXAMPLES, examples_times, profile_wanted  # noqa: E402
from support.scheduling import ByModule, longest_first  # noqa: E402

# A busy machine is no failure; what failed can be repeated from the blob that is printed.
settings.register_profile("mnemolog", deadline=None, print_blob=True)
# In CI the same examples each time, so that a change is what makes it fail; `make fuzz` looks for
# others, longer.
settings.register_profile("ci", settings.get_profile("mnemolog"), derandomize=True)
settings.register_profile(
    "fuzz", settings.get_profile("mnemolog"), max_examples=DEFAULT_EXAMPLES * examples_times()
)
settings.load_profile(profile_wanted())

# Nothing that the person at the keyboard has set decides what a test does.
for name in ("DATA", "LOG", "TENANT", "BLOBS", "BLOBS_FOLDER", "BLOB_TEXT_BYTES"):
    os.environ.pop(f"MNEMOLOG_{name}", None)
os.environ["MNEMOLOG_PROCESSORS"] = "no"  # a log has what its test appends; theirs say "yes"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    longest_first(items)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByModule | None:
    return ByModule(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.fixture(scope="session")
def kafka_can_run() -> None:
    """Skip what needs a broker on a machine that can't run one; none is started."""
    try:
        check_java()
        jars()
    except KafkaUnavailable as error:
        # Under CI these tests must run; elsewhere they need not.
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(str(error))


@pytest.fixture(scope="session")
def kafka(kafka_can_run: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaBroker]:
    """Yield a running broker that all tests of the session share; who kills it restarts it.

    Tests keep apart by their topics' names.
    """
    with KafkaBroker(tmp_path_factory.mktemp("kafka")) as broker:
        yield broker
