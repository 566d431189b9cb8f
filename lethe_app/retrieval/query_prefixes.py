"""Prefixes that embedding models were trained to read before a query and before a passage; without them they find less."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Prefixes:
    """Texts put verbatim before a query and before a passage."""

    question: str = ""
    passage: str = ""


_SEARCHING = "Represent this sentence for searching relevant passages: "
_KNOWN = (
    (r"nomic-?embed", Prefixes("search_query: ", "search_document: ")),
    (r"embedding-?gemma", Prefixes("task: search result | query: ", "title: none | text: ")),
    (r"qwen3-?embed", Prefixes("Instruct: Find what the message reminds of in past conversations\nQuery: ")),
    (r"(?:arctic-?embed).*v2", Prefixes("query: ")),
    (r"arctic-?embed", Prefixes(_SEARCHING)),
    (r"mxbai-?embed", Prefixes(_SEARCHING)),
    (r"bge-?m3", Prefixes()),
    # bge-m3 matches before this and, unlike the older bge models, takes no instruction.
    (r"\bbge", Prefixes(_SEARCHING)),
    (r"\be5-?mistral", Prefixes("Instruct: Find what the message reminds of in past conversations\nQuery: ")),
    (r"(?:^|[^a-z0-9])(?:multilingual-)?e5(?:$|[^a-z0-9])", Prefixes("query: ", "passage: ")),
)
"""Patterns of model names with the prefixes their makers document; the first match wins. Sentence-transformers models such
as MiniLM, and gte, take none.
"""


def prefixes_of(name: str) -> Prefixes:
    """Return the prefixes for a model name or file name; empty ones for an unknown model."""
    folded = name.casefold().replace("_", "-").replace(" ", "-")
    return next((prefixes for pattern, prefixes in _KNOWN if re.search(pattern, folded)), Prefixes())
