"""What an embedding model was trained to read before a question and before a text; without it it finds less."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Prefixes:
    """Put before a text as they are."""

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
    (r"\bbge", Prefixes(_SEARCHING)),
    (r"\be5-?mistral", Prefixes("Instruct: Find what the message reminds of in past conversations\nQuery: ")),
    (r"(?:^|[^a-z0-9])(?:multilingual-)?e5(?:$|[^a-z0-9])", Prefixes("query: ", "passage: ")),
)
"""By what their makers say of them; sentence-transformers models such as MiniLM, and gte, want nothing."""


def prefixes_of(name: str) -> Prefixes:
    """By the model's name or file name; nothing for one that is not known."""
    folded = name.casefold().replace("_", "-").replace(" ", "-")
    return next((prefixes for pattern, prefixes in _KNOWN if re.search(pattern, folded)), Prefixes())
