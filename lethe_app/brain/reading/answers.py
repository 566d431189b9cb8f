"""Answers that make a statement only together with the message before: “What's your cat called?” – “Whiskers”, and “You always
sail alone.” – “Yes, exactly.”
"""

from __future__ import annotations

import re
from functools import cache

from lethe_app.brain.text.sentences import extract_sentences
from lethe_app.language_tables import compose, load_table


def complete_answer(question: str, answer: str) -> str:
    """Return the first sentence of an answer as a first-person clause with what was asked; empty if it is no such answer.

    `question` is the question at the end of the message before, `answer` the whole message.
    """
    asked = next((part.strip(" ?!.,") for part in reversed(extract_sentences(question)) if part.endswith("?")), "")
    first_sentence = next(iter(extract_sentences(answer)), "").strip(" .,!")
    for asks, answers, statement in _rows():
        match, given = asks.fullmatch(asked), answers.fullmatch(first_sentence)
        if asked and match and given:
            return statement.format(**match.groupdict(), answer=given["answer"], a_answer=_add_article(given["answer"]))
    return ""


def _add_article(noun: str) -> str:
    return noun if re.match(r"an? ", noun, re.IGNORECASE) else f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


@cache
def _rows() -> tuple[tuple[re.Pattern[str], re.Pattern[str], str], ...]:
    """Return the patterns of the question and of its answer, and the statement."""
    table = load_table("answers")
    # A name and a place are told by their capitals.
    return tuple(
        (
            re.compile(compose(row["question"]), re.IGNORECASE),
            re.compile(compose(table["answers"][row["answer"]]), 0 if row["answer"] in {"name", "place"} else re.IGNORECASE),
            row["statement"],
        )
        for row in table["answer"]
    )
