"""Rating of the sentences of a user message: the probability that each is worth keeping, and which ones are understood only
together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from lethe_app.brain.reading import sentence_classifier
from lethe_app.brain.reading.durability import is_figurative
from lethe_app.brain.reading.first_person import add_subject
from lethe_app.brain.reading.sentence_features import extract_features
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.spelling import correct_spelling
from lethe_app.brain.vocabulary.verbs import is_past
from lethe_app.domain.facts import FactKind
from lethe_app.language_tables import table_pattern
from lethe_app.retrieval.query_terms import STOP_WORDS
from lethe_app.searchable_text import WORD

_pattern = partial(table_pattern, "sentences")

KEEP_THRESHOLD = 0.45
"""Probability from which a sentence is kept."""
CONTENT_THRESHOLD = 0.12
"""Probability below which a sentence is a mere reaction, to which no other sentence refers."""
MAX_ANTECEDENT_DISTANCE = 3
"""Number of preceding sentences among which the antecedent is searched."""
REFERRING_WORD = partial(table_pattern, "sentences", "referring_word")
_CONTINUATION_WORD = re.compile(r"(?:not|same|only|just|since|until|till|for|with|in|at|on|to|from)\b", re.IGNORECASE)
"""Words that begin a part of a sentence, if there is no subject."""
_DESCRIPTION = re.compile(r"(?:it's|it is|it was|she's|he's|they're) (?:an?|the|\d)\b", re.IGNORECASE)
"""Sentence that describes what was just mentioned: “It's a 2009 Octavia”."""
PERSON_OR_THING = partial(table_pattern, "sentences", "person_or_thing", flags=0)
LEADING_TIME = partial(table_pattern, "sentences", "leading_time")
_NAME_OF_RELATION = re.compile(r"^my (?:[\w'-]+ ){1,2}name\W*$", re.IGNORECASE)
SUBJECT = partial(table_pattern, "sentences", "subject")
_MAX_SHORT_WORDS = 6
"""Words up to which a sentence without a subject is read as the rest of the one before."""


@dataclass(frozen=True)
class RatedSentence:
    """Sentence the user utters as themselves, with its rating."""

    text: str
    clean_text: str
    """Text with corrected spelling and without introduction and trailing fillers."""
    features: Mapping[str, float]
    probability: float
    """Probability that it is worth keeping, 0 to 1."""

    @property
    def kind(self) -> FactKind:
        """Most likely kind of the sentence."""
        return sentence_classifier.predict_kind(self.features)

    @property
    def is_kept(self) -> bool:
        """True if it is worth keeping."""
        return self.probability >= KEEP_THRESHOLD


def strip_fillers(text: str) -> str:
    """Remove introductory and trailing fillers."""
    return _pattern("trailing_fillers").sub("", _pattern("leading_fillers").sub("", text))


def rate_sentence(text: str, question: str, index: int) -> RatedSentence:
    """Rate a sentence of a message. `index` is its index in the message; the first one may answer a `question`."""
    feature_values = extract_features(text, question, index)
    clean_text = strip_fillers(correct_spelling(text))
    is_question = text.rstrip("\"”’') ").endswith("?")
    is_empty = is_question or any(
        (_pattern("empty_answer").fullmatch(clean_text), is_momentary(clean_text), _pattern("reminder").match(clean_text))
    )
    is_empty = is_empty or bool(_pattern("reminder_request").match(clean_text)) or is_figurative(clean_text)
    probability = 0.0 if is_empty else sentence_classifier.predict_probability(feature_values)
    return RatedSentence(text, clean_text, feature_values, probability)


def is_momentary(text: str) -> bool:
    """Return whether a sentence states a mood or a triviality, or that its speaker comes or goes."""
    return bool(_pattern("momentary").match(strip_fillers(correct_spelling(text))))


def asks_to_remember(text: str) -> bool:
    """Return whether a sentence asks for something to be remembered, with or without its question mark: “whats our dog
    called again”.
    """
    return bool(table_pattern("sentences", "memory_question").match(text))


def group_sentences(sentences: Sequence[RatedSentence]) -> Iterator[tuple[int, list[RatedSentence]]]:
    """Yield groups of sentences that are kept together with those they refer to, each with the index of its first sentence."""
    start, group, last_index = 0, list[RatedSentence](), -1
    for index, sentence in enumerate(sentences):
        is_about_joke = index > 0 and needs_antecedent(sentence) and is_figurative(sentences[index - 1].clean_text)
        if is_about_joke or not sentence.is_kept:
            continue
        member_indexes = _find_referred_indexes(sentences, index)
        is_continuation = needs_antecedent(sentence) or bool(_DESCRIPTION.match(sentence.clean_text))
        if group and (last_index in member_indexes or (last_index + 1 == member_indexes[0] == index and is_continuation)):
            group += [sentences[one] for one in member_indexes if one > last_index]
        else:
            if group:
                yield start, group
            start, group = member_indexes[0], [sentences[one] for one in member_indexes]
        last_index = index
    if group:
        yield start, group


def _find_referred_indexes(sentences: Sequence[RatedSentence], index: int) -> list[int]:
    """Return the index of a sentence, preceded by those of the sentences it refers to.

    Mere reactions are left out, unless there is nothing else it can refer to.
    """
    indexes = [index]
    for earlier in range(index - 1, max(-1, index - 1 - MAX_ANTECEDENT_DISTANCE), -1):
        if not (needs_antecedent(sentences[indexes[0]]) or _DESCRIPTION.match(sentences[indexes[0]].clean_text)):
            break
        if sentences[earlier].probability >= CONTENT_THRESHOLD or _pattern("some_person").search(sentences[earlier].text):
            indexes.insert(0, earlier)
    if len(indexes) == 1 and index and needs_antecedent(sentences[index]) and _has_antecedent(sentences[index - 1]):
        indexes.insert(0, index - 1)
    return indexes


def _has_antecedent(sentence: RatedSentence) -> bool:
    """Return whether a sentence mentions somebody or something to which the next one may refer."""
    return bool(PERSON_OR_THING().search(sentence.text)) or len(content_words(sentence.clean_text)) > 1


def _has_verb(text: str) -> bool:
    """Return whether a past verb follows a noun at the beginning: “Göztepe lost again”."""
    first_word, *other_words = WORD.findall(text)[:4] or [""]
    return (
        len(first_word) > 3
        and first_word.lower() not in STOP_WORDS
        and not is_past(first_word)
        and any(map(is_past, other_words[:2]))
    )


def needs_antecedent(sentence: RatedSentence) -> bool:
    """Return whether a sentence is understood only with the one before."""
    text = LEADING_TIME().sub("", sentence.clean_text)
    if _NAME_OF_RELATION.match(text):
        return True
    has_omitted_subject = add_subject(text) != text
    if (
        not SUBJECT().search(text)
        and not has_omitted_subject
        and not _pattern("other_subject").match(text)
        and not _has_verb(text)
    ):
        return len(text.split()) <= _MAX_SHORT_WORDS or bool(_CONTINUATION_WORD.match(text))
    match = REFERRING_WORD().search(text)
    return (
        bool(match)
        and not _pattern("dummy_subject").match(text)
        and not PERSON_OR_THING().search(text[: match.start()] if match else "")
    )
