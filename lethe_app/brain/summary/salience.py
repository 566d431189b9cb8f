"""Salience of a sentence: its signals of a life event, a plan or a feeling, and the share of the session's vocabulary it
contains.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import pairwise

from lethe_app.brain.summary.plans import StatedPlan, find_plan
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
from lethe_app.retrieval.query_terms import STOP_WORDS, WORD, fold

_FIRST_PERSON_WORDS = frozenset(
    """
    i my mine me we our us ich mein meine meinen meiner meinem wir je mon ma mes yo mi io mio mia eu meu minha ik mijn
    """.split()  # noqa: SIM905 - see retrieval/query_terms
)
_FIRST_UNSPACED = re.compile("[我私僕俺]|ฉัน|ผม|나는|저는")
_HEDGE = r"(?:(?:so|and|but|yeah|yes|no|wow|oh|well),? )*"
_COMMENT_START = re.compile(_HEDGE + r"(?:you|your|you're|you've|that|that's|sounds?|looks?|what an?|how)\b", re.IGNORECASE)
_INCOMPLETE = re.compile(
    _HEDGE + r"(?:it|it's|its|that|that's|they|they're|he|he's|she|she's|this|these|those|them)\b", re.IGNORECASE
)
_GREETING = re.compile(
    _HEDGE + r"(?:(?:hey|hi+|hiya|hello|yo|greetings|good (?:morning|evening|night|afternoon)|bye|goodbye|see (?:you|ya)"
    r"|take care|talk (?:soon|later)|(?:i'm )?sorry|thanks|thank you|thx|wow|whoa|congrats|congratulations|cool"
    r"|nice|awesome|great|glad|aww?|good luck|no (?:worries|problem)|you're welcome|have (?:a|fun)|keep (?:up|it|me|going|on)"
    r"|welcome|sounds|let me know|hope (?:you|to hear)|can't wait to (?:hear|see (?:it|you|what))|hallo|guten|danke|tschüss"
    r"|bonjour|salut|merci|hola|gracias|ciao|grazie|привет|спасибо|مرحبا|שלום)\b"
    r"|你好|您好|嗨|早上好|晚安|谢谢|謝謝|真的|こんにちは|こんばんは|おはよう|ありがとう|本当|안녕|감사|สวัสดี|ขอบคุณ)",
    re.IGNORECASE,
)
_ADDRESSED = frozenset({"you", "your", "yours", "yourself"})
_ACKNOWLEDGEMENT = re.compile(
    _HEDGE + r"(?:i(?:'m| am)? (?:totally |really |just |so |also |can )?(?:sure|understand|agree|bet|hope (?:you|it|that)|"
    r"know (?:what|how|that|you)|see\b|guess|appreciate|glad|happy (?:for|to hear|you)|proud of you|here for|imagine|owe you|"
    r"will keep|feel you|hear you|love (?:that|it|your|how)|think (?:you|that's|so)|wish you|get (?:it|that|what))\b"
    r"|i'll (?:keep|let|be (?:here|there|sure)|make sure|always)\b|tell me\b)",
    re.IGNORECASE,
)
"""Assent and sympathy, which tell nothing about the speaker."""
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


def find_signals(sentence: Sentence, speakers: frozenset[str]) -> SentenceSignals:
    """Return the signals of a sentence. `speakers` are the normalised words of the speakers' names, which do not count as
    names.
    """
    text, tokens = sentence.text, sentence.words
    return SentenceSignals(
        is_first_person=not _FIRST_PERSON_WORDS.isdisjoint(tokens)
        or tokens[:2] == ("guess", "who")
        or bool(not text.isascii() and _FIRST_UNSPACED.search(text)),
        plan=find_plan(sentence),
        has_feeling=not FEELINGS.isdisjoint(tokens),
        has_life_event=not LIFE_EVENT_WORDS.isdisjoint(tokens) or not LIFE_EVENT_PAIRS.isdisjoint(pairwise(tokens)),
        has_relative=not RELATIVE_WORDS.isdisjoint(tokens),
        has_time=not TIME_WORDS.isdisjoint(tokens) or any(map(str.isdigit, tokens)),
        has_name=any(
            name.casefold() not in speakers and name.casefold() not in NON_TOPIC_WORDS for name in _NAME.findall(text)
        ),
    )


@dataclass(frozen=True)
class ConversationVocabulary:
    """Weights of the words of one session."""

    stop_words: Set[str]
    """Normalised words that are never a topic in this session."""
    speakers: frozenset[str]
    """Normalised words of the speakers' names."""
    names: tuple[str, ...] = ()
    """Names of the speakers."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Weight of every other word: 1 + ln of the number of messages that contain it."""

    @classmethod
    def build(cls, sentences: Sequence[Sentence], names: Sequence[str]) -> ConversationVocabulary:
        """Build the vocabulary of these sentences, of speakers with these names."""
        counts: Counter[str] = Counter()
        for sentence in sentences:
            counts.update(sentence.words)
        name_words = {fold(word) for name in names for word in WORD.findall(name)}
        speakers = frozenset(name_words | {word for word in counts if _is_short_for(word, name_words)} - NON_TOPIC_WORDS)
        stop_words = NON_TOPIC_WORDS if _is_english(counts) else NON_TOPIC_WORDS | FOREIGN_STOP_WORDS
        return cls(stop_words, speakers, tuple(names), _word_weights(sentences, stop_words | speakers))

    @property
    def is_english(self) -> bool:
        """True if the session is in English."""
        return self.stop_words is NON_TOPIC_WORDS

    def listener_of(self, name: str) -> str:
        """Return the name of the listener of a speaker if there are two; empty if there are more."""
        others = [other for other in self.names if other != name]
        return others[0] if len(others) == 1 else ""

    def informative_words(self, words: Iterable[str]) -> set[str]:
        """Return the content words among these words."""
        return {word for word in words if word in self.weights}


def salience(sentence: Sentence, signals: SentenceSignals, vocabulary: ConversationVocabulary) -> float:
    """Return the salience of a sentence; 0 for a greeting, praise or filler.

    Signs add up, a sentence without any is general talk, and weak forms reduce the value. Coverage of the session is weighed
    at the selection (brain/summary/selection).
    """
    informative = vocabulary.informative_words(sentence.words)
    if not (informative or signals.has_life_event) or (
        _GREETING.match(sentence.text) and (len(sentence.words) < 6 or not signals.is_informative)
    ):
        return 0.0
    value = 1 + 0.5 * signals.is_first_person + 0.5 * (signals.plan is not None) + 0.25 * signals.has_feeling
    value += signals.has_life_event
    value += 0.35 * signals.has_relative + 0.25 * signals.has_time + 0.35 * signals.has_name
    # Without any signal the sentence is general talk.
    if value == 1:
        value = 0.45
    if sentence.asks:
        value *= 0.25
    if _COMMENT_START.match(sentence.text):
        value *= 0.4
    if not signals.is_first_person and not _ADDRESSED.isdisjoint(sentence.words):
        value *= 0.5
    if _ACKNOWLEDGEMENT.match(sentence.text):
        value *= 0.3
    if _INCOMPLETE.match(sentence.text):
        value *= 0.6
    return value * min(1.0, 0.25 + 0.25 * (len(informative) + signals.has_life_event + signals.has_relative))


def _is_english(counts: Counter[str]) -> bool:
    """Return whether at least a tenth of the words are English stop words and no more are those of other languages. A text
    of fewer than 30 words, all ASCII, counts as English without any.
    """
    total = counts.total()
    english = sum(counts[word] for word in STOP_WORDS)
    if english < sum(counts[word] for word in FOREIGN_STOP_WORDS - STOP_WORDS):
        return False
    return 10 * english >= total or (total < 30 and all(map(str.isascii, counts)))


def is_empty_answer(sentence: Sentence) -> bool:
    """Return whether the sentence only thanks or praises, whatever the question was."""
    return bool(_GREETING.match(sentence.text) or _COMMENT_START.match(sentence.text))


def _is_short_for(word: str, names: Collection[str]) -> bool:
    """Return whether the word is the beginning of a name, as Mel is of Melanie."""
    return len(word) >= 2 and any(name.startswith(word) for name in names)


def _word_weights(sentences: Sequence[Sentence], stop_words: Set[str]) -> dict[str, float]:
    line_counts: Counter[str] = Counter()
    last_line: dict[str, int] = {}
    for sentence in sentences:
        for word in sentence.words:
            if word not in stop_words and last_line.get(word) != sentence.line:
                last_line[word] = sentence.line
                line_counts[word] += 1
    return {word: 1 + math.log(count) for word, count in line_counts.items()}
