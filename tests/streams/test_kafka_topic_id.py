"""A topic deleted and made anew is told from the one that was opened, however long it has grown."""

import pytest

from mnemolog.schemas.errors import LogReplaced
from mnemolog.streams.kafka_topic_id import NO_ID
from support.log_engines import KafkaEngine
from support.log_records import numbered
from support.polling import eventually

pytestmark = pytest.mark.kafka


@pytest.fixture
def engine(kafka):
    engine = KafkaEngine(kafka.bootstrap)
    yield engine
    engine.close()


def made_anew(engine, log):
    """Delete the topic under an open *log*, and return a handle on the next one of its name."""
    engine._handles.remove(log)
    engine.make_anew()
    return engine.open()


def test_a_reader_is_given_nothing_of_a_topic_that_has_grown_beyond_where_it_was(engine):
    log = engine.open()
    log.append([numbered(n) for n in range(5)])
    reader = log.reader({0: 0})
    assert len(reader.poll(records_max=10, wait_seconds=5)) == 5

    anew = made_anew(engine, log)
    anew.append([numbered(("new", n)) for n in range(9)])

    with pytest.raises(LogReplaced, match="deleted and made anew"):
        eventually(lambda: reader.poll(records_max=10, wait_seconds=1), what="something comes")
    log.close()


def test_a_handle_opened_afterwards_reads_the_new_topic(engine):
    log = engine.open()
    log.append([numbered("old")])
    anew = made_anew(engine, log)
    anew.append([numbered("new")])
    assert len(anew.reader({0: 0}).poll(records_max=10, wait_seconds=5)) == 1
    assert anew._topic_id not in {None, NO_ID, log._topic_id}
    log.close()


def test_brokers_that_tell_no_ids_are_read_all_the_same(engine):
    log = engine.open()
    log._topic_id = None
    log.append([numbered("old")])
    assert len(log.reader({0: 0}).poll(records_max=10, wait_seconds=5)) == 1
