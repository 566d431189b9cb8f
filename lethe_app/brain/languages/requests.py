"""Requests of the user to go on in another language, such as “Please speak German” or “Sprich bitte Französisch”; and whether
a text may be one to forget something.
"""

from __future__ import annotations

import re
from functools import cache

from lethe_app.brain.text.sentences import split_sentences
from lethe_app.language_tables import alternatives, compile_table, languages_with, load_table

MAX_WORDS_BETWEEN = 4
"""Words between the verb and the name of the language."""
_TABLE = "language_requests"


def find_requested_language(text: str) -> str:
    """Return the language in which the user asks to go on, as an ISO 639-1 code; empty if there is no such request."""
    for sentence in split_sentences(text[:1000]):
        for pattern in _request_patterns():
            if match := pattern.search(sentence.strip(' *"“”«»„')):
                return _codes_by_name()[match["name"].lower()]
    return ""


def may_ask_to_forget(text: str) -> bool:
    """Return whether a text has a word of any language that occurs in requests to forget; most texts have none."""
    return any(compile_table("forgetting", "cue", language).search(text) for language in languages_with("forgetting.toml"))


@cache
def _codes_by_name() -> dict[str, str]:
    tables = [load_table(_TABLE, language) for language in languages_with(f"{_TABLE}.toml")]
    return {name: code for table in tables for code, names in table["names"].items() for name in names}


@cache
def _request_patterns() -> list[re.Pattern[str]]:
    """Return the pattern of requests in each language that has a table; all know the names of all tables."""
    patterns = []
    for language in languages_with(f"{_TABLE}.toml"):
        parts = {key: alternatives(entries) for key, entries in load_table(_TABLE, language).items() if key != "names"}
        end = rf"(?= ?(?:$|[.,;:!?…]|(?:{parts['followers']})\b))" if "followers" in parts else ""
        patterns.append(
            re.compile(
                rf"^(?:(?:{parts['openings']})[ ,]+)*(?:{parts['verbs']})\b(?: \w+){{0,{MAX_WORDS_BETWEEN}}}? "
                rf"(?:(?:{parts['prepositions']}) )?(?P<name>{alternatives(_codes_by_name())})\b{end}",
                re.IGNORECASE,
            )
        )
    return patterns
