"""How the index's table is searched by words and by vectors, and whether it can be.

A search index is derived from the table's own rows: where its files are damaged it is made anew,
and nothing has to be written again.
"""

from typing import Any

from mnemolog.projections.memories.lexical import FTS_TOKEN_LENGTH_MAX


def full_text_index() -> Any:
    """Return how the column `words` is indexed: its tokens are ours, the stemmer is the index's."""
    from lancedb.index import FTS  # noqa: PLC0415 - heavy

    return FTS(
        base_tokenizer="whitespace",
        language="English",
        max_token_length=FTS_TOKEN_LENGTH_MAX,
        lower_case=True,
        stem=True,
        remove_stop_words=True,
        ascii_folding=True,
        with_position=False,
    )


def vector_index() -> Any:
    """Return how the column `vector` is indexed where a scan would take too long."""
    from lancedb.index import IvfSq  # noqa: PLC0415 - heavy

    return IvfSq(distance_type="cosine")


def has_vector_index(table: Any) -> bool:
    """Say whether vectors are indexed in *table*."""
    return any(index.columns == ["vector"] for index in table.list_indices())


def index_anew(table: Any) -> None:
    """Write the search indices of *table* anew from its rows."""
    table.create_index("words", config=full_text_index(), replace=True)
    if has_vector_index(table):
        table.create_index("vector", config=vector_index(), replace=True)


def matching_any(words: str) -> Any:
    """Return the question for rows that have any of *words*."""
    from lancedb.query import FullTextOperator, MatchQuery  # noqa: PLC0415 - heavy

    return MatchQuery(
        words,
        "words",
        boost=1.0,
        fuzziness=0,
        max_expansions=50,
        operator=FullTextOperator.OR,
        prefix_length=0,
        document_granularity=None,
    )


def search_each_way(table: Any, *, dimensions: int) -> None:
    """Search *table* once by a word and once by a vector, so that damage to its indices shows."""
    asked = table.search(matching_any("pool"), query_type="fts")
    asked.select(["id", "_score"]).limit(1).to_arrow()
    if has_vector_index(table):
        anywhere = [1.0] + [0.0] * (dimensions - 1)
        near = table.search(anywhere, vector_column_name="vector", query_type="vector")
        near.select(["id", "_distance"]).limit(1).to_arrow()
