"""Whom a question and its answer are about: the user, a relative, or somebody else."""

from __future__ import annotations

import re

from lethe_app.brain.text.sentences import extract_sentences
from lethe_app.brain.vocabulary.entities import ANIMALS, RELATIVES
from lethe_app.brain.vocabulary.phrases import RELATIVE_OR_ANIMAL

_YOUR_RELATION = re.compile(rf"\byour ((?:[a-z]+ )?{RELATIVE_OR_ANIMAL})\b(?!'s)", re.IGNORECASE)
_ASKS_ABOUT_YOU = re.compile(r"\b(?:do|are|did|have|were|will|would|can|could) you\b", re.IGNORECASE)
_OTHER_PERSON = re.compile(
    rf"\b(?:he|she|they|him|her|them|his|their)\b|(?:\b(?:is|does|did|has|was|will|about|and|And)|'s) "
    rf"(?!I\b)[A-Z][a-z]+\b|\bthe (?:\w+ )?(?:{RELATIVES}|{ANIMALS}|baby)\b"
)
_EVENT_WITHOUT_SUBJECT = re.compile(
    r"(?:died|passed away|left|moved|retired|lives|works|teaches|runs|drives|studies|plays|loves|hates|was an?|is an?|married|"
    r"used to|grew up|turned|turns)\b",
    re.IGNORECASE,
)


def find_question_subject(message: str) -> str:
    """Return whom the question at the end of a message is about: “you”, “my dad” or “other”; empty if it does not end with a
    question.
    """
    question = next((part for part in reversed(extract_sentences(message)[-2:]) if part.endswith("?")), "")
    if not question:
        return ""
    relations = _YOUR_RELATION.findall(question)
    if len(relations) == 1 and not _ASKS_ABOUT_YOU.search(question):
        return f"my {relations[0].lower()}"
    if re.search(r"\byou\b", question, re.IGNORECASE):
        return "you"
    return "other" if _OTHER_PERSON.search(question) else "you"


def prepend_question_subject(sentence: str, subject: str) -> str:
    """Return “left when I was 6” as “my dad left when I was 6” if the question was about the dad; any other sentence
    unchanged.
    """
    if subject in {"", "you", "other"} or not _EVENT_WITHOUT_SUBJECT.match(sentence):
        return sentence
    return f"{subject} {sentence[:1].lower()}{sentence[1:]}"
