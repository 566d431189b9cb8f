"""Detection of messages in which the user asks for any news, without naming a topic."""

from __future__ import annotations

import re

from lethe_app.brain.vocabulary.normalize import normalize_text
from lethe_app.language_tables import compile_table

_CLAUSE = re.compile(r"[.?!,;:]|\bbut\b")
_DENIAL = re.compile(
    r"\b(?:i|we|he|she|it|they|there)\b.*\b(?:not|no|never|without|hardly|"
    r"(?:do|does|did|have|has|had|is|are|was|were|wo|ca|could|would)nt)\b"
    r"|\b(?:ill|let me|i (?:will|can|could|should|want to|would like to|need to))\s+$"
)
"""Text before a phrase that rules it out: there is no news, or it is the user who will tell some."""


def find_news_request(message: str) -> str:
    """Return the words by which the user asks for news, or an empty string. “There isn't any news” is no request."""
    for clause in _CLAUSE.split(normalize_text(message, keep_case=False).replace("'", "").replace("_", " ")):
        found = compile_table("news_phrases", "phrases").search(clause)
        if found and not _DENIAL.search(clause[: found.start()]):
            return found[0]
    return ""
