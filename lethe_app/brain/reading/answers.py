"""Answers that make a statement only together with the message before: “What's your cat called?” – “Whiskers”, and “You always
sail alone.” – “Yes, exactly.”
"""

from __future__ import annotations

import re
from functools import cache

from lethe_app.brain.text.clauses import strip_fillers
from lethe_app.brain.text.sentences import extract_sentences
from lethe_app.language_tables import compose, load_table, table_pattern, table_words

MAX_OBSERVATION_WORDS = 24
"""Maximum number of words of an observation."""
_ABOUT_LISTENER = re.compile(r"your?(?:['’](?:re|ve))?\b", re.IGNORECASE)
_EXCEPTION = re.compile(r"\W*(?:but|except|although|though|only)\b", re.IGNORECASE)


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


def confirm_observation(message: str, reply: str, user_name: str) -> str:
    """Return the observation about the user at the end of a message, as the user would say it, if the reply confirms it without
    reservation; else an empty string.
    """
    replies, observed = extract_sentences(reply), extract_sentences(message)
    if not replies or not observed or not table_pattern("answers", "confirmation").match(replies[0]):
        return ""
    if table_pattern("answers", "reservation").search(replies[0]) or any(map(_EXCEPTION.match, replies[1:2])):
        return ""
    plain = re.sub(rf",? {re.escape(user_name)}(?=[.!?]*\Z)", "", observed[-1].strip().strip('“”"*_ '), flags=re.IGNORECASE)
    statement = table_pattern("answers", "observation_tag").sub("", plain)
    statement = table_pattern("answers", "observation_lead").sub("", statement, count=1).strip()
    is_about_listener = _ABOUT_LISTENER.match(statement) and not statement.endswith("?")
    if not is_about_listener or len(statement.split()) > MAX_OBSERVATION_WORDS:
        return ""
    for pattern, replacement in load_table("answers")["first_person"]:
        statement = re.sub(rf"(?:{pattern})\b", replacement, statement, flags=re.IGNORECASE)
    return "" if table_words("answers", "passing").search(statement) else strip_fillers(statement)


def _add_article(noun: str) -> str:
    """Return a noun that began a message as one within a sentence: “an engineer at Siemens” of “Engineer, at Siemens”."""
    noun = noun[:1].lower() + noun[1:] if table_pattern("answers", "job_alone", 0).match(noun) else noun
    noun = re.sub(r",(?= (?:at|in|for|with)\b)", "", noun)
    return noun if re.match(r"an? ", noun, re.IGNORECASE) else f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def is_habit(statement: str) -> bool:
    """Return whether a statement says what is usually or most so, which lasts whatever its verb is."""
    return bool(table_words("answers", "habit").search(statement))


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
