"""What needs the broker runs in one process, everything else by modules."""

from support.scheduling import BROKER, group_of


def test_modules_that_need_the_broker_are_one_group():
    ways_to_need_it = ("tests/streams/test_kafka_log.py", "tests/mnemolog/test_lost_blobs.py")
    assert {group_of(module) for module in ways_to_need_it} == {BROKER}


def test_any_other_module_is_by_itself_and_so_is_the_storm_which_has_a_broker_of_its_own():
    for module in ("tests/test_scheduling.py", "tests/integration/test_worker_storm.py"):
        assert group_of(module) == module
