"""What a worker made of a stream equals a rebuild of it, and the embedded log's, whatever came."""

import uuid

import pytest

from support import streamed_digests

pytestmark = pytest.mark.kafka

SEEDS = 20
KILLS = 4


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_streamed_rebuilt_and_embedded_are_one_content_for_twenty_histories(tmp_path, kafka):
    mark = uuid.uuid4().hex[:6]
    events = streamed_digests.run(tmp_path, kafka.bootstrap, seeds=SEEDS, kills=KILLS, mark=mark)
    assert events > SEEDS * 30
