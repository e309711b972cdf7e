"""Logs of a test's own, closed at its end."""

import contextlib
import uuid

import pytest
from confluent_kafka.admin import AdminClient

from mnemolog.streams.kafka_log import KafkaLog
from mnemolog.streams.sqlite_log import SQLiteLog


@pytest.fixture
def open_sqlite():
    """Return a function that opens embedded logs of tenant acme."""
    with contextlib.ExitStack() as stack:

        def opened(path, **settings):
            log = SQLiteLog.open(path, **{"tenant": "acme", **settings})
            stack.callback(log.close)
            return log

        yield opened


@pytest.fixture
def tenant():
    """Return a tenant that no other test has."""
    return f"t-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def open_kafka(kafka, tenant):
    """Return a function that opens the tenant's log on Kafka."""
    with contextlib.ExitStack() as stack:

        def opened(**settings):
            log = KafkaLog.open(kafka.bootstrap, tenant=tenant, **settings)
            stack.callback(log.close)
            return log

        yield opened


@pytest.fixture
def admin(kafka):
    """Return an administrator of the broker."""
    return AdminClient({"bootstrap.servers": kafka.bootstrap})
