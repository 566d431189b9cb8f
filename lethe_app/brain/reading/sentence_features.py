"""Features of a user sentence for the classifier that decides whether it states a fact worth keeping."""

from __future__ import annotations

import re
from itertools import pairwise

from lethe_app.brain.text.spelling import correct_spelling
from lethe_app.brain.vocabulary.stems import stem
from lethe_app.dates.words import MONTH, WEEKDAY
from lethe_app.language_tables import word_class
from lethe_app.retrieval import word_vectors
from lethe_app.retrieval.query_terms import STOP_WORDS

WORD_PREFIX = "w "
"""Prefix of the name of a word feature."""
MAX_WORDS = 60
"""Maximum number of words of a sentence that are read."""
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|\d+")
_CLASSES = {
    "kin": re.compile(rf"\b(?:{word_class('RELATIVE')})\b", re.IGNORECASE),
    "animal": re.compile(rf"\b(?:{word_class('ANIMAL')})\b", re.IGNORECASE),
    "owned": re.compile(rf"\b(?:{word_class('POSSESSION')})\b", re.IGNORECASE),
    "condition": re.compile(rf"\b(?:{word_class('CONDITION')})\b", re.IGNORECASE),
    "state": re.compile(rf"\b(?:{word_class('STATE')}|allergic|intolerant|scared of|afraid of)\b", re.IGNORECASE),
    "event": re.compile(rf"\b(?:{word_class('EVENT')})\b", re.IGNORECASE),
    "job": re.compile(rf"\b(?:{word_class('JOB')})\b", re.IGNORECASE),
    "time": re.compile(word_class("TIME"), re.IGNORECASE),
    "often": re.compile(word_class("FREQUENCY"), re.IGNORECASE),
    "month": re.compile(rf"\b(?:{MONTH}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b", re.IGNORECASE),
    "day": re.compile(rf"\b(?:{WEEKDAY}|mon|tues?|weds?|thurs?|fri|sat|sun)\b", re.IGNORECASE),
    "number": re.compile(r"\d"),
    "name": re.compile(r"(?<=[\w,;] )(?!I\b|I')[A-Z][\w'’-]+"),
    "you": re.compile(r"\b(?:you|your|you're|yours|yourself)\b", re.IGNORECASE),
    "self": re.compile(r"\b(?:I|my|me|mine|I'm|I've|I'd|I'll|we|our|us)\b"),
    "third": re.compile(r"\b(?:he|she|they|his|her|their)\b", re.IGNORECASE),
    "past": re.compile(r"\b[a-z]{3,}ed\b"),
    "hedge": re.compile(r"\b(?:if|would|could|should|might|maybe|imagine|wish|guess|probably|suppose)\b", re.IGNORECASE),
}
_INFORMATIVE_CLASSES = ("kin", "animal", "owned", "condition", "event", "job", "month", "day", "number")
_EMOJI = re.compile(r"[\u2600-\u27bf\U0001f300-\U0001faff]")
_LENGTH_THRESHOLDS = (1, 2, 3, 4, 6, 8, 11, 15, 20, 30)
_VECTOR_FACTOR = 3.0
"""Factor on the sentence vector, relative to binary features of 1."""


def extract_features(sentence: str, question: str = "", index: int = 0) -> dict[str, float]:
    """Return the features of a sentence by name: 1 for each that applies, and the components of the mean word vector.

    `question` is the persona's last question if this sentence begins the answer; `index` is that of the sentence in its
    message.
    """
    text = correct_spelling(sentence)
    words = _stemmed_words(text)
    names = {f"{WORD_PREFIX}{word}" for word in words}
    names |= {f"b {one} {other}" for one, other in pairwise(["^", *words, "$"])}
    names |= {f"first {' '.join(words[:3])}"} if words else set()
    names |= {f"has {name}" for name, pattern in _CLASSES.items() if pattern.search(text)}
    content = [word for word in words if word not in STOP_WORDS]
    names |= {f"long {length}" for length in _LENGTH_THRESHOLDS if len(words) >= length}
    names |= {f"content {length}" for length in _LENGTH_THRESHOLDS if len(content) >= length}
    names |= {f"longest {length}" for length in (5, 7, 9, 11) if any(len(word) >= length for word in content)}
    if sentence.rstrip("\"”’') ").endswith("?"):
        names.add("asks")
    if sentence.rstrip().endswith("!"):
        names.add("exclaims")
    if _EMOJI.search(sentence):
        names.add("picture")
    names.add(f"place {min(index, 3)}")
    if question:
        names |= _question_features(question, is_short=len(words) < 6)
    # Word vectors carry the features over to words that the training sentences did not contain.
    vector = word_vectors.mean_vector(lowercase_words(text))
    return dict.fromkeys(names, 1.0) | {f"meaning {axis}": _VECTOR_FACTOR * float(value) for axis, value in enumerate(vector)}


def lowercase_words(text: str) -> list[str]:
    """Return the lowercase words of a text with corrected spelling, at most `MAX_WORDS`."""
    return [word.lower() for word in _WORD.findall(text)[:MAX_WORDS]]


def is_informative(word: str) -> bool:
    """Return whether a word is informative by itself: a name, a number, a relative, an animal, an illness, an event, an
    occupation.
    """
    return word[:1].isupper() or any(_CLASSES[name].search(word) for name in _INFORMATIVE_CLASSES)


def question_word_features(question: str) -> set[str]:
    """Return the features of the content words of a question."""
    return {f"asked about {word}" for word in _stemmed_words(correct_spelling(question)) if word not in STOP_WORDS}


def remove_relatives(text: str) -> str:
    """Return a text without its words for relatives."""
    return _CLASSES["kin"].sub(" ", text)


def _question_features(question: str, *, is_short: bool) -> set[str]:
    words = _stemmed_words(correct_spelling(question))
    names = {"answers", f"asked {' '.join(words[:1])}", f"asked {' '.join(words[:2])}"} | question_word_features(question)
    if {"you", "your"} & set(words):
        names.add("asked you")
    return names | ({f"{name} shortly" for name in names} if is_short else set())


def _stemmed_words(text: str) -> list[str]:
    return ["0" if word.isdigit() else stem(word) for word in lowercase_words(text)]
