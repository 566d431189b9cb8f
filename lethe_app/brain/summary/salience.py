"""Salience of a sentence: what it tells of a life, whether it is worth remembering, and how much of the session's vocabulary it
contains.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from lethe_app.brain.reading.sentence_classifier import predict_probability
from lethe_app.brain.reading.sentence_features import extract_features
from lethe_app.brain.summary.plans import StatedPlan, find_plan
from lethe_app.brain.summary.summary_tables import beginning, pattern, words
from lethe_app.brain.text.sentences import Sentence
from lethe_app.brain.vocabulary.common_words import (
    FEELINGS,
    FOREIGN_STOP_WORDS,
    LIFE_EVENT_PAIRS,
    LIFE_EVENT_WORDS,
    NON_TOPIC_WORDS,
    RELATIVE_WORDS,
    TIME_WORDS,
)
from lethe_app.retrieval.query_terms import STOP_WORDS
from lethe_app.searchable_text import WORD, fold

MOMENTARY_WEIGHT = 0.4
"""Weight of a sentence that is not worth remembering, against 1 of one that is."""
GENERAL_VALUE = 0.45
"""Value of a sentence without any sign, against 1 of one that has a sign."""
QUESTION_FACTOR, OTHERS_FACTOR, PRONOUN_FACTOR = 0.25, 0.4, 0.6
"""Factors for a question, for a sentence about the listener, and for one that begins with a pronoun."""
MAX_COURTESY_WORDS = 6
"""Words below which a sentence that begins with thanks, praise or a greeting is nothing else."""
_NAME = re.compile(r"(?<=[^\s.!?…\"“:*] )[A-Z][a-zà-ÿ]+")


@dataclass(frozen=True)
class SentenceSignals:
    """Signs of salience of a sentence that do not depend on its session."""

    is_first_person: bool = False
    """True if the speaker refers to themselves."""
    plan: StatedPlan | None = None
    has_feeling: bool = False
    has_life_event: bool = False
    has_relative: bool = False
    has_time: bool = False
    has_name: bool = False
    """True if it names a person or place."""

    @property
    def is_informative(self) -> bool:
        """True if the sentence tells something about a life."""
        return (
            self.has_life_event
            or self.plan is not None
            or (self.is_first_person and (self.has_feeling or self.has_relative or self.has_time or self.has_name))
        )

    @property
    def value(self) -> float:
        """The sum of the signs, `GENERAL_VALUE` without any."""
        value = 0.5 * self.is_first_person + 0.5 * (self.plan is not None) + 0.25 * self.has_feeling + self.has_life_event
        value += 0.35 * self.has_relative + 0.25 * self.has_time + 0.35 * self.has_name
        return 1 + value if value else GENERAL_VALUE


def find_signals(sentence: Sentence, speakers: frozenset[str]) -> SentenceSignals:
    """Return the signals of a sentence. `speakers` are the normalised words of the speakers' names, which do not count as
    names.
    """
    text, tokens = sentence.text, sentence.words
    names = [fold(name) for name in _NAME.findall(text)]
    return SentenceSignals(
        is_first_person=not words("first_person").isdisjoint(tokens)
        or bool(not text.isascii() and pattern("first_person").search(text)),
        plan=find_plan(sentence),
        has_feeling=not FEELINGS.isdisjoint(tokens),
        has_life_event=has_life_event(tokens),
        has_relative=not RELATIVE_WORDS.isdisjoint(tokens),
        has_time=not TIME_WORDS.isdisjoint(tokens) or any(map(str.isdigit, tokens)),
        has_name=any(name not in speakers and name not in NON_TOPIC_WORDS for name in names),
    )


@dataclass(frozen=True)
class ConversationVocabulary:
    """Weights of the words of one session."""

    is_english: bool = True
    speakers: frozenset[str] = frozenset()
    """Normalised words of the speakers' names."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Weight of every word that may be a topic: 1 + ln of the number of messages that contain it."""

    @classmethod
    def build(cls, sentences: Sequence[Sentence], names: Sequence[str]) -> ConversationVocabulary:
        """Build the vocabulary of these sentences, of speakers with these names."""
        counts: Counter[str] = Counter()
        for sentence in sentences:
            counts.update(sentence.words)
        is_english = _is_english(counts)
        name_words = {fold(word) for name in names for word in WORD.findall(name)}
        speakers = frozenset(name_words | {word for word in counts if _is_short_for(word, name_words)} - NON_TOPIC_WORDS)
        lines = {(word, sentence.line) for sentence in sentences for word in sentence.words}
        messages = Counter(word for word, _line in lines)
        weights = {
            word: 1 + math.log(count)
            for word, count in messages.items()
            if word not in speakers and not is_stop_word(word, is_english=is_english)
        }
        return cls(is_english, speakers, weights)

    def is_stop_word(self, word: str) -> bool:
        """Return whether a normalised word is never a topic in this session."""
        return word in self.speakers or is_stop_word(word, is_english=self.is_english)

    def informative_words(self, tokens: Iterable[str]) -> set[str]:
        """Return the words among these that may be a topic."""
        return {word for word in tokens if word in self.weights}


def is_stop_word(word: str, *, is_english: bool) -> bool:
    """Return whether a normalised word is never a topic; in an English session the stop words of other languages may be."""
    return word in NON_TOPIC_WORDS or (not is_english and word in FOREIGN_STOP_WORDS)


def sum_signs(sentence: Sentence, signals: SentenceSignals, vocabulary: ConversationVocabulary) -> float:
    """Return the value of a sentence by its signs; 0 for a greeting, praise or filler, less for weak forms.

    Coverage of the session is weighed at the selection (brain/summary/ranking).
    """
    informative = vocabulary.informative_words(sentence.words)
    if not (informative or signals.has_life_event) or (is_courtesy(sentence) and not signals.is_informative):
        return 0.0
    value = signals.value
    if sentence.asks:
        value *= QUESTION_FACTOR
    if not (signals.is_first_person or words("second_person").isdisjoint(sentence.words)):
        value *= OTHERS_FACTOR
    if beginning("pronoun").match(sentence.text):
        value *= PRONOUN_FACTOR
    return value * min(1.0, 0.25 + 0.25 * (len(informative) + signals.has_life_event + signals.has_relative))


def lasting_factor(sentence: Sentence) -> float:
    """Return a factor from `MOMENTARY_WEIGHT` to 1 by the probability that an English sentence is worth remembering; 1 for one
    of a scene.
    """
    if sentence.in_story or sentence.narrates:
        return 1.0
    return MOMENTARY_WEIGHT + (1 - MOMENTARY_WEIGHT) * predict_probability(extract_features(sentence.text))


def has_life_event(tokens: Sequence[str]) -> bool:
    """Return whether normalised words name an event of a life, such as an illness, a birth or a move."""
    return not LIFE_EVENT_WORDS.isdisjoint(tokens) or not LIFE_EVENT_PAIRS.isdisjoint(pairwise(tokens))


def is_courtesy(sentence: Sentence) -> bool:
    """Return whether a short sentence only greets, thanks or praises."""
    return len(sentence.words) < MAX_COURTESY_WORDS and bool(beginning("courtesy").match(sentence.text))


def _is_english(counts: Counter[str]) -> bool:
    """Return whether at least a tenth of the words are English stop words and no more are those of other languages. A text
    of fewer than 30 words, all ASCII, counts as English without any.
    """
    total = counts.total()
    english = sum(counts[word] for word in STOP_WORDS)
    if english < sum(counts[word] for word in FOREIGN_STOP_WORDS - STOP_WORDS):
        return False
    return 10 * english >= total or (total < 30 and all(map(str.isascii, counts)))


def _is_short_for(word: str, names: Collection[str]) -> bool:
    """Return whether the word is the beginning of a name, as Mel is of Melanie."""
    return len(word) >= 2 and any(name.startswith(word) for name in names)
