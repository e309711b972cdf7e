"""What every test gets: the shared helpers, one Kafka broker a session, a clean environment."""

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

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

from support.kafka_broker import KafkaBroker, KafkaUnavailable  # noqa: E402 - made just above
from support.profiles import DEFAULT_EXAMPLES, examples_times, profile_wanted  # noqa: E402

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


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaBroker]:
    """Yield a running broker that all tests of the session share; who kills it restarts it.

    Tests keep apart by their topics' names.
    """
    try:
        broker = KafkaBroker(tmp_path_factory.mktemp("kafka")).start()
    except KafkaUnavailable as error:
        # Under CI these tests must run; elsewhere they need not.
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(str(error))
    yield broker
    broker.stop()
