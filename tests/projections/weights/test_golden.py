"""Version 1 of the fold gives the history in tests/golden/weights_v1 its digest for ever.

A test that fails here means: the same events give other content. Then the fold's version has to
be raised, and a history added for the new one.
"""

import json
from pathlib import Path

from mnemolog.projections.digests import ContentDigest
from mnemolog.projections.weights.projection import WeightsProjection
from mnemolog.schemas.partitioning import partition_of
from mnemolog.schemas.records import LogRecord
from mnemolog.schemas.values import json_bytes
from support.histories import START, batches
from support.weights import place

GOLDEN = Path(__file__).parents[2] / "golden" / "weights_v1"


def history(*, partitions: int) -> list[LogRecord]:
    """Return the golden events, a CloudEvent a line, as a log of *partitions* holds them."""
    ends = [0] * partitions
    records = []
    for line in (GOLDEN / "history.jsonl").read_text().splitlines():
        document = json.loads(line)
        key = document["partitionkey"].encode()
        partition = partition_of(key, partitions=partitions)
        records.append(LogRecord(partition, ends[partition], START, key, json_bytes(document)))
        ends[partition] += 1
    return records


def content(folder: Path, *, partitions: int) -> ContentDigest:
    projection = WeightsProjection.open(place(folder))
    for batch in batches(history(partitions=partitions), partitions=partitions):
        projection.apply(batch)
    digest = ContentDigest.of(projection.content())
    projection.close()
    return digest


def test_version_3_gives_the_golden_history_the_digest_that_version_1_gave_it(tmp_path):
    assert WeightsProjection.version == 3  # what differs is what is kept beside rows, or forgotten
    expected = json.loads((GOLDEN / "digest.json").read_text())
    digest = content(tmp_path, partitions=1)
    assert {"rows": digest.rows, "hex": digest.hex} == expected


def test_the_number_of_partitions_does_not_matter(tmp_path):
    one, four = (content(tmp_path / str(count), partitions=count) for count in (1, 4))
    assert one.hex == four.hex


def test_the_golden_history_holds_every_kind_of_row(tmp_path):
    projection = WeightsProjection.open(place(tmp_path))
    for batch in batches(history(partitions=1)):
        projection.apply(batch)
    tables = {row.table for row in projection.content()}
    projection.close()
    assert tables == {"memories", "uses", "feedback", "marks", "forgotten", "gone"}
