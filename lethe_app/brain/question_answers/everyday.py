"""Completion of answers to everyday questions: “Any pets?” – “nope never had one”, “What do you play?” – “the banjo”."""

from __future__ import annotations

import re
from collections.abc import Sequence
from uuid import UUID

from lethe_app.brain.people.noun_phrases import expand_abbreviations
from lethe_app.brain.question_answers import patterns
from lethe_app.brain.question_answers.answer_kinds import OWN_RELATION, parse_answer
from lethe_app.brain.text.clauses import strip_fillers
from lethe_app.brain.text.sentences import extract_sentences
from lethe_app.brain.text.utterance import Utterance

_COMPILED = [
    (re.compile(rf"(?:{pattern})\Z", re.IGNORECASE), kind, full, key) for pattern, kind, full, key in patterns.QUESTIONS
]
_MAX_MESSAGES_BACK = 3
"""Number of messages back among which the question of an answer is searched."""
_MAX_LAST_SENTENCES = 3
"""Number of sentences at the end of a message among which its questions are searched."""
_QUESTION_FILLER = re.compile(
    r"(?:,? (?:then|by the way|these days|at the moment|right now|exactly|again|if I may(?: ask)?|if you don't mind(?: "
    r"me asking)?|"
    r"my dear|dear|friend|traveller|stranger|lass|lad|love|now|though|anyway|actually)|, [A-Z]\w+)$"
)
_QUESTION_START = re.compile(r"(?:what|where|who|when|how|which|do|are|have|did|any|got|is|been)\b", re.IGNORECASE)
_PAST = {
    "begin": "began",
    "leave": "left",
    "quit": "quit",
    "get married": "got married",
    "lose": "lost",
    "buy": "bought",
    "start": "started",
    "finish": "finished",
    "stop": "stopped",
}
_OTHER_GENDER = {
    "he": re.compile(r"(?:mother|mum|mom|mam|daughter|sister|wife|girlfriend|niece|aunt|auntie|girl|gran|granny|nan|nani)$"),
    "she": re.compile(r"(?:father|dad|son|brother|husband|boyfriend|nephew|uncle|boy|grandad|lad)$"),
}
"""Relatives to whom the pronoun cannot refer."""


def read_answers(lines: Sequence[Utterance], index: int) -> list[tuple[UUID, str, str]]:
    """Return the statements of the message at an index as an answer, each as the id of the question's message, a clause and
    its key.
    """
    name = lines[index].name
    question_line = next(
        (other for other in reversed(lines[max(0, index - _MAX_MESSAGES_BACK) : index]) if other.name != name), None
    )
    if question_line is None:
        return []
    previous_text = " ".join(other.text for other in lines[max(0, index - 5) : index] if other.name == name)
    return [
        (question_line.id, clause, key)
        for clause, key in complete_answers(question_line.text, lines[index].text, previous_text)
    ]


def complete_answers(question: str, answer: str, previous_text: str = "") -> list[tuple[str, str]]:
    """Return the statements an answer makes together with the question before it, as first-person clauses with their keys.

    `question` and `answer` are whole messages of two speakers; `previous_text` is the answerer's previous text.
    """
    pieces = [expand_abbreviations(strip_fillers(part)) for part in extract_sentences(answer)[:3] if not part.endswith("?")]
    first_sentence = " ".join(extract_sentences(answer)[:1])
    if not pieces:
        return []
    for candidate in _find_questions(question):
        for pattern, kind, template, key in _COMPILED:
            if match := pattern.match(candidate):
                groups = {name: (value or "").lower() for name, value in match.groupdict().items()}
                if "whose" in groups and not (owner := _resolve_owner(match["whose"], previous_text)):
                    continue
                if "whose" in groups:
                    groups["whose"] = owner
                if answers := parse_answer(kind, pieces, first_sentence, candidate, previous_text, groups):
                    return [_fill_template(parsed, template, key, groups) for parsed in answers]
    return []


def _find_questions(message: str) -> list[str]:
    """Return the questions at the end of a message with and without fillers, the last first; for “So, where …” also “where
    …”.
    """
    questions = []
    for part in reversed(extract_sentences(message)[-_MAX_LAST_SENTENCES:]):
        if not part.endswith("?"):
            continue
        stripped = part.strip(" ?!.,")
        questions.append(stripped)
        questions.append(_QUESTION_FILLER.sub("", stripped))
        tail = stripped.rsplit(", ", 1)[-1]
        if tail != stripped and _QUESTION_START.match(tail):
            questions.append(_QUESTION_FILLER.sub("", tail))
        questions.append(strip_fillers(stripped))
    return list(dict.fromkeys(questions))


def _fill_template(answer: str | tuple[str, str], template: str, key: str, groups: dict[str, str]) -> tuple[str, str]:
    """Return the full sentence of a pattern with its answer, and its key. An answer that is a clause already is returned
    unchanged.
    """
    if isinstance(answer, tuple):
        return answer
    topic = groups.get("what", "")
    if "past" in groups:
        groups = {**groups, "verb": _past_form(groups["past"])}
    text = template.format(
        whose=groups.get("whose", ""),
        name=groups.get("name", ""),
        answer=answer,
        verb=groups.get("verb", ""),
        rest=groups.get("rest", ""),
        what=topic,
        work=answer,
    )
    return text, key.format(what=topic, answer=answer)


def _past_form(verb: str) -> str:
    return _PAST.get(verb) or (f"{verb}d" if verb.endswith("e") else f"{verb[:-1]}ied" if verb.endswith("y") else f"{verb}ed")


def _resolve_owner(owner: str, previous_text: str) -> str:
    """Return whom “he” or “your son” refers to: the relative the speaker mentioned last, or a name; empty if unknown."""
    if owner.lower().startswith("your "):
        return f"my {owner[5:].lower()}"
    if owner.lower() not in {"he", "she", "it", "they"}:
        return owner
    relation_matches = list(OWN_RELATION.finditer(previous_text.lower()))
    matching_relations = [
        match["who"]
        for match in relation_matches
        if not match["who"].endswith("s")
        and (owner.lower() not in _OTHER_GENDER or not _OTHER_GENDER[owner.lower()].search(match["who"]))
    ]
    return f"my {matching_relations[-1]}" if matching_relations else ""
