"""The typed state of a kind of task is lifted step by step, or refused."""

import pytest

from mnemolog.schemas.checkpoint import TypedState
from mnemolog.schemas.errors import InvalidSetting
from mnemolog.schemas.state_migrations import StateMigrations


@pytest.fixture
def migrations():
    migrations = StateMigrations()

    @migrations.register("crawl", from_version=1)
    def urls_are_a_list(values):
        values["urls"].append(values.pop("url"))
        return values

    @migrations.register("crawl", from_version=2)
    def depth_is_told(values):
        return {**values, "depth": 3}

    return migrations


def at(version, **values):
    return TypedState(state_schema="crawl", state_version=version, values=values)


def test_a_state_is_lifted_to_the_version_that_the_program_knows(migrations):
    old = at(1, urls=[], url="x")
    assert migrations.lifted(old, to_version=3) == at(3, urls=["x"], depth=3)
    assert migrations.lifted(old, to_version=1) == old == at(1, urls=[], url="x")
    assert migrations.lifted(at(2, urls=["x"]), to_version=3) == at(3, urls=["x"], depth=3)


def test_a_missing_step_is_refused_and_named(migrations):
    with pytest.raises(InvalidSetting, match="crawl = 3: no step leads from this version"):
        migrations.lifted(at(1, urls=[], url="x"), to_version=4)
    other = TypedState(state_schema="other", state_version=1)
    with pytest.raises(InvalidSetting, match="other = 1"):
        migrations.lifted(other, to_version=2)


def test_a_newer_state_is_refused(migrations):
    with pytest.raises(InvalidSetting, match="this code knows version 3"):
        migrations.lifted(at(4), to_version=3)


def test_a_second_step_for_a_version_is_refused(migrations):
    with pytest.raises(InvalidSetting, match="registered already"):
        migrations.register("crawl", from_version=1)(lambda values: values)
