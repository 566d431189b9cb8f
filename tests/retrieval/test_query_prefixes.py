"""Every family of embedding models gets what it was trained with, and a stranger nothing."""

from __future__ import annotations

import pytest

from lethe_app.retrieval.query_prefixes import EmbeddingPrefixes, prefixes_of


@pytest.mark.parametrize(
    ("name", "question", "passage"),
    [
        ("nomic-embed-text-v1.5.Q8_0", "search_query: ", "search_document: "),
        ("Multilingual E5 small", "query: ", "passage: "),
        ("e5-base-v2.gguf", "query: ", "passage: "),
        ("intfloat_e5_large", "query: ", "passage: "),
        ("bge-small-en-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("mxbai-embed-large-v1", "Represent this sentence for searching relevant passages: ", ""),
        ("snowflake-arctic-embed-m-v2.0", "query: ", ""),
        ("snowflake-arctic-embed-s", "Represent this sentence for searching relevant passages: ", ""),
        ("embeddinggemma-300m", "task: search result | query: ", "title: none | text: "),
    ],
)
def test_known_families_get_their_prefixes(name: str, question: str, passage: str):
    assert prefixes_of(name) == EmbeddingPrefixes(question, passage)


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "gte-large", "bge-m3", "", "quaver5", "we5t"])
def test_others_get_none(name: str):
    assert prefixes_of(name) == EmbeddingPrefixes()
