"""Completion of sentences that share a subject, and detection of whom a question and its answer are about."""

from __future__ import annotations

import re

from lethe_app.brain.text.clauses import strip_fillers
from lethe_app.brain.text.sentences import extract_sentences
from lethe_app.brain.vocabulary.entities import ANIMALS, JOBS, RELATIVES, STATES

_YOUR_RELATION = re.compile(rf"\byour ((?:[a-z]+ )?(?:{RELATIVES}|{ANIMALS}))\b(?!'s)", re.IGNORECASE)
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
_LIST_START = re.compile(rf"(?:I'm|I am) (?:(?:\w+ irl|\d\d|(?-i:[A-Z])\w+|[a-z]+)$|from )|\d\d$|{STATES}$", re.IGNORECASE)
_LIST_ITEM = re.compile(
    rf"(?:\d\d(?: years old| yo)?|{STATES}|from [\w' ]+|an? (?:\w+ ){{0,2}}(?:{JOBS}|[a-z]{{3,}}(?:er|or|ist|ian)))",
    re.IGNORECASE,
)
_SUBJECT = re.compile(rf"^(?P<who>I(?:'\w+)?\b|my (?:[\w-]+ ){{0,2}}?(?:{RELATIVES})(?: [A-Z]\w+)?(?= ))", re.IGNORECASE)
_SHARED_SUBJECT_BREAK = re.compile(
    r", (?=(?:(?:just|only|also|still|recently|then) )?(?:started|moved|retired|dropped out|grew up|died|left|quit|lost|sold|"
    r"bought|finished|married|divorced|used to|studied|been|never (?:had|been|smoked|married)|got (?:married|divorced|an?)|"
    r"turned|lived|worked|trained|joined|met (?:my|his|her|him|them))\b)",
    re.IGNORECASE,
)


def split_shared_subject(sentence: str) -> list[str]:
    """Return “I drive a bus, started at 5” as two sentences with the same subject; any other sentence as it is."""
    if list_sentences := _split_list(sentence):
        return list_sentences
    subject = _SUBJECT.match(sentence)
    head, *rest = _SHARED_SUBJECT_BREAK.split(sentence)
    if not subject or not rest or sentence.endswith("?") or re.search(r"\bwho\b", head):
        return [sentence]
    subject_text = "I" if subject["who"].upper().startswith("I") else subject["who"]
    return [f"{head}.", *(_prepend_subject(subject_text, part) for part in rest)]


def _split_list(sentence: str) -> list[str]:
    """Return “I'm 34, divorced, 2 kids” as one sentence for each part; an empty list if the sentence is no such list."""
    if "," not in sentence:
        return []
    parts = [part.strip() for part in strip_fillers(sentence).split(",")]
    if len(parts) < 2 or sentence.endswith("?") or not _LIST_START.match(parts[0]) or parts[-1].startswith("and "):
        return []
    list_sentences = [
        f"{parts[0]}.",
        *(f"I'm {part}." for part in parts[1:] if _LIST_ITEM.fullmatch(part) and len(part.split()) < 5),
    ]
    return list_sentences if len(list_sentences) > 1 else []


def _prepend_subject(subject: str, part: str) -> str:
    shortened = re.sub(r"^(?P<silent>(?:just|only|also|still|recently|then) )(?=been|never)", "", part, flags=re.IGNORECASE)
    if re.match(r"(?:been|never (?:had|been|smoked|married))\b", shortened, re.IGNORECASE):
        return f"{subject} {'have' if subject == 'I' else 'has'} {shortened}"
    if subject != "I" and re.match(r"been\b|got\b", part, re.IGNORECASE):
        part = f"has {part}"
    return f"{subject} {part}"


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
    return f"{subject} {_lower_first_letter(sentence)}"


def _lower_first_letter(text: str) -> str:
    return text[:1].lower() + text[1:]
