"""Detection of messages in which the user asks for any news, without naming a topic."""

from __future__ import annotations

import re

from lethe_app.brain.vocabulary.normalize import normalize_text
from lethe_app.language_tables import compile_table, table_pattern

_CLAUSE = re.compile(r"[.?!,;:]|\bbut\b")


def find_news_request(message: str) -> str:
    """Return the words by which the user asks for news, or an empty string. “There isn't any news” is no request."""
    for clause in _CLAUSE.split(normalize_text(message, keep_case=False).replace("'", "").replace("_", " ")):
        found = compile_table("news_phrases", "phrases").search(clause)
        if found and not table_pattern("news_phrases", "denial").search(clause[: found.start()]):
            return found[0]
    return ""
