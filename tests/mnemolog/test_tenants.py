"""A tenant is fixed at opening: two in one folder see nothing of one another, on any surface."""

import pytest

from mnemolog.schemas.errors import InvalidSetting, NotFound
from support.remembering import opened, recorded, texts

ODD = [
    "acme",
    "Acme",
    "ACME",
    "北京",
    "北 京",
    "a/b",
    "a_2fb",
    "a.b",
    "a b",
    "co\u0301",
    "c\u00f3",
    "会议" * 42,
]


def filled(data, tenant):
    """Open *tenant*'s memory and tell it one thing of each kind."""
    mem = opened(data, tenant=tenant, agent="ops-1")
    mem.observe(f"the pool of {tenant}", task="t-1", id="e-1")
    mem.remember(f"the rule of {tenant}", id="e-2")
    mem.checkpoint(f"the goal of {tenant}", plan_summary="go", task="t-1", id="e-3")
    mem.wait_for(mem.decide(f"the choice of {tenant}", id="e-4").token)
    return mem


@pytest.fixture(scope="module")
def neighbours(tmp_path_factory):
    data = tmp_path_factory.mktemp("data")
    with filled(data, "acme") as ours, filled(data, "Acme") as theirs:
        yield ours, theirs


def test_recall_finds_ones_own_only(neighbours):
    for mem, mine in zip(neighbours, ("acme", "Acme"), strict=True):
        found = texts(mem.recall("pool rule goal choice of acme", hits_max=50))
        assert len(found) == 4
        assert all(f"of {mine}" in text for text in found)


def test_ids_lead_to_ones_own_only(neighbours):
    for mem, mine in zip(neighbours, ("acme", "Acme"), strict=True):
        assert mem.get("e-1").event.text == f"the pool of {mine}"
        assert f"the choice of {mine}" in str(mem.why("e-4"))
        assert f"the goal of {mine}" in mem.resume("t-1").text
        assert len(mem.timeline(agent="ops-1")) == 4
        assert len(mem.checkpoints()) == 1
        assert {event.envelope.tenant for event in recorded(mem)} == {mine}


def test_a_memorys_id_of_a_neighbour_means_nothing_here(neighbours):
    ours, theirs = neighbours
    only_theirs = theirs.remember("a word of theirs")
    theirs.wait_for(only_theirs.token)
    for ask in (ours.get, ours.history, ours.why):
        with pytest.raises(NotFound):
            ask(only_theirs.memory_id)


def test_sql_can_not_name_anothers_tables(neighbours, tmp_path_factory):
    ours, theirs = neighbours
    theirs.sql("SELECT 1")
    published = next(theirs.engine.folder.rglob("published/analytics.duckdb"))
    assert ours.sql("SELECT count(*) FROM events WHERE event_id LIKE 'e-%'").rows == [(4,)]
    for statement in (
        f"ATTACH '{published}' AS theirs",
        f"SELECT * FROM '{published.parent}/parquet/events.parquet'",
        f"SELECT * FROM read_text('{published.parent}/REQUEST')",
        "SELECT * FROM glob('/**')",
    ):
        with pytest.raises(InvalidSetting, match="sql"):
            ours.sql(statement)


def test_forgetting_and_rebuilding_leave_the_neighbour_alone(tmp_path):
    with filled(tmp_path, "acme") as ours, filled(tmp_path, "Acme") as theirs:
        before = theirs.digests()
        ours.wait_for(ours.forget("e-1", text="the rule of Acme").token)
        ours.rebuild("weights")
        assert theirs.digests() == before
        assert theirs.get("e-1").event.text == "the pool of Acme"
        with pytest.raises(NotFound):
            ours.get("e-1")


def test_names_that_differ_at_all_are_other_tenants(tmp_path):
    for number, tenant in enumerate(ODD):
        with opened(tmp_path, tenant=tenant, projects=False, agent="ops-1") as mem:
            assert mem.end().offsets == {}, f"{tenant!r} is somebody else's"
            mem.observe(f"number {number}")
    folders = [path.name for path in tmp_path.iterdir()]
    assert len({name.casefold() for name in folders}) == len(folders) == len(ODD)
    for number, tenant in enumerate(ODD):
        with opened(tmp_path, tenant=tenant, projects=False) as mem:
            (event,) = recorded(mem)
            assert event.event.text == f"number {number}"


@pytest.mark.parametrize(
    "tenant",
    [
        "",
        " ",
        "..",
        "../x",
        "/etc",
        "a/../b",
        "C:\\x",
        "mnemolog:x",
        "a\nb",
        "a\x00b",
        "x" * 257,
        "\ud83e",
    ],
    ids=repr,
)
def test_a_name_that_no_tenant_may_have_is_refused_and_makes_nothing(tmp_path, tenant):
    with pytest.raises(InvalidSetting, match=r"tenant = .*"):
        opened(tmp_path / "data", tenant=tenant)
    assert list(tmp_path.iterdir()) == []
