"""Clauses about the speaker in full: “Just moved to Leeds” with its “I”, “we went …” as “I went …”."""

from __future__ import annotations

import re
from functools import cache

from lethe_app.language_tables import compose, load_table, table_pattern

_WE = re.compile(r"^(?:we|our)\b", re.IGNORECASE)
_SINGULAR = {"we": "I", "we're": "I'm", "we are": "I am", "we were": "I was", "our": "my", "ourselves": "myself", "us": "me"}
_PLURAL_WORD = re.compile(r"\b(?:we(?:'re| are| were)?|our|ourselves|us)\b", re.IGNORECASE)
_IS_OF_NOUN = re.compile(r"(?<=[a-z])'s(?= (?!name\b))")


def add_subject(sentence: str) -> str:
    """Return a sentence that begins with its verb (“Just moved to Leeds”) with the omitted “I”; any other sentence
    unchanged.
    """
    for pattern, subject in _omitted_subjects():
        if match := pattern.match(sentence):
            rest = sentence[match.end("prefix") if "prefix" in pattern.groupindex else 0 :]
            rest = _IS_OF_NOUN.sub(" is", rest, count=1) if subject == "my" else rest
            return f"{subject} {rest[:1].lower()}{rest[1:]}"
    return sentence


def complete_clause(clause: str) -> str:
    """Return a clause without its introduction (“I forgot to say that …”), and one about “we” as one about “I” if “we” does not
    include the listener.
    """
    clause = table_pattern("first_person", "the_occasion").sub(
        "my ", table_pattern("first_person", "introduction").sub("", clause)
    )
    if not _WE.match(clause) or table_pattern("first_person", "with_listener").search(clause):
        return clause
    singular = _PLURAL_WORD.sub(lambda match: match[0] if match[0] == "US" else _SINGULAR[match[0].lower()], clause)
    return singular[:1].upper() + singular[1:]


@cache
def _omitted_subjects() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return what begins a sentence without a subject, and that subject."""
    table = load_table("first_person")
    verbs = "|".join(table["past_verbs"].split())
    return tuple(
        (re.compile(compose(row["pattern"]).replace("{past}", verbs), re.IGNORECASE), row["subject"])
        for row in table["omitted"]
    )
