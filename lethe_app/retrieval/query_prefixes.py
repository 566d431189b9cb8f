"""Prefixes that embedding models were trained to read before a query and before a passage; without them they find less."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class EmbeddingPrefixes:
    """Texts put verbatim before a query and before a passage."""

    question: str = ""
    passage: str = ""


_SEARCHING = "Represent this sentence for searching relevant passages: "
_KNOWN = (
    (r"nomic-?embed", EmbeddingPrefixes("search_query: ", "search_document: ")),
    (r"embedding-?gemma", EmbeddingPrefixes("task: search result | query: ", "title: none | text: ")),
    (r"qwen3-?embed", EmbeddingPrefixes("Instruct: Find what the message reminds of in past conversations\nQuery: ")),
    (r"(?:arctic-?embed).*v2", EmbeddingPrefixes("query: ")),
    (r"arctic-?embed", EmbeddingPrefixes(_SEARCHING)),
    (r"mxbai-?embed", EmbeddingPrefixes(_SEARCHING)),
    (r"bge-?m3", EmbeddingPrefixes()),
    # bge-m3 matches before this and, unlike the older bge models, takes no instruction.
    (r"\bbge", EmbeddingPrefixes(_SEARCHING)),
    (r"\be5-?mistral", EmbeddingPrefixes("Instruct: Find what the message reminds of in past conversations\nQuery: ")),
    (r"(?:^|[^a-z0-9])(?:multilingual-)?e5(?:$|[^a-z0-9])", EmbeddingPrefixes("query: ", "passage: ")),
)
"""Patterns of model names with the prefixes their makers document; the first match wins. Sentence-transformers models such
as MiniLM, and gte, take none.
"""


def prefixes_of(name: str) -> EmbeddingPrefixes:
    """Return the prefixes for a model name or file name; empty ones for an unknown model."""
    folded = name.casefold().replace("_", "-").replace(" ", "-")
    return next((prefixes for pattern, prefixes in _KNOWN if re.search(pattern, folded)), EmbeddingPrefixes())
