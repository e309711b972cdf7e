"""A process of its own that reads a generation of memories while another one writes it.

Run as a command with the generation's folder: it reads without a pause until a memory says "the
end", and prints how many memories it saw at last, in how many reads, and whether that ever fell.
After its first read it says "reading".
"""

import sys
from pathlib import Path

from mnemolog.projections.memories.lance_reader import LanceMemoryReader
from mnemolog.projections.memories.rows import Filter

ALL = Filter(current=False)
READS_MAX = 100_000


def main() -> None:
    reader = LanceMemoryReader.open(Path(sys.argv[1]))
    seen, reads, fell = 0, 0, False
    while reads < READS_MAX:
        found = reader.counts()["memories"]
        fell, seen, reads = fell or found < seen, found, reads + 1
        reader.matching("number", where=ALL, hits_max=5)
        reader.links([row.id for row in reader.latest(where=ALL, rows_max=3)], links_max=3)
        if any(row.text == "the end" for row in reader.latest(where=ALL, rows_max=1)):
            break
        if reads == 1:
            print("reading", flush=True)
    print(reader.counts()["memories"], reads, fell, flush=True)


if __name__ == "__main__":
    main()
