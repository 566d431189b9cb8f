"""Topics of a session: its names, nouns and phrases with their scores, and the best of them as keywords."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from lethe_app.brain.summary.salience import ConversationVocabulary
from lethe_app.brain.summary.summary_tables import entries
from lethe_app.brain.text.sentences import Sentence
from lethe_app.brain.text.spelling import correct_spelling
from lethe_app.brain.vocabulary.common_words import DETERMINERS, VERB_CUES
from lethe_app.brain.vocabulary.stems import stem
from lethe_app.searchable_text import SPACELESS, fold

MAX_KEYWORDS = 6
"""Maximum number of keywords of a session."""
MAX_SENTENCES_READ = 5000
"""Maximum number of sentences read; of a longer session every second, third … sentence represents it well enough."""
MAX_WORD_LENGTH = 30
"""Maximum characters of a word that may be a topic."""
_TOKEN = re.compile(r"[A-Z][a-z]+ (?:of|of the|and the) [A-Z][a-z]+|[^\W_]+(?:['’\-&.:][^\W_]+)*")
"""Word or name; a name may contain “of”."""
_POSSESSIVE = re.compile("['’]s$")
_OPENING_MARKS = frozenset('“"(:')
_JOINER = re.compile("['’.&: -]")
_ARTICLES = frozenset({"the", "a", "an", "my", "our", "your", "his", "her", "their"})
HAN_OR_KANA = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_NOT_A_HEAD = ("ly", "ed", "n't")
_SELDOM_A_NOUN = ("ing", "al", "ic", "ous", "ful", "ive", "able", "ible", "less", "ish")
"""Endings of words that are rarely nouns; such a word needs at least one occurrence as a noun."""


@dataclass
class SummaryTopic:
    """Word, name or phrase of two or three words, with counts of its occurrences."""

    key: str
    lines: set[int] = field(default_factory=set)
    speakers: set[str] = field(default_factory=set)
    spellings: Counter[str] = field(default_factory=Counter)
    nominal: int = 0
    verbal: int = 0
    named: int = 0
    lower: int = 0
    inside: int = 0
    """Occurrences in speech, not at the beginning of a sentence."""
    first: int = 0

    @property
    def spelling(self) -> str:
        """The most frequent spelling."""
        return max(self.spellings, key=lambda form: (self.spellings[form], form))

    @property
    def word_count(self) -> int:
        """Number of words."""
        return self.key.count(" ") + 1

    @property
    def is_name(self) -> bool:
        """True if it is written with a capital more often than without."""
        return self.named > self.lower

    def score(self, count: int) -> float:
        """Return the score: the number of messages, raised for names, phrases, nouns, topics of several speakers, and
        occurrences all over the session. `count` is the number of messages.
        """
        spread = len({4 * line // max(count, 1) for line in self.lines}) / 4
        value: float = len(self.lines) ** 0.8 * (0.7 + 0.6 * spread) * (1.2 if len(self.speakers) > 1 else 1.0)
        value *= 1.5 if self.is_name else 1.0
        seen_twice = len(self.lines) > 1 or self.is_name
        value *= ((1.0, 1.5, 1.4) if seen_twice else (1.0, 1.1, 0.9))[min(self.word_count, 3) - 1]
        return value * (0.35 + 0.65 * (self.nominal + 0.5) / (self.nominal + 2 * self.verbal + 1))


def find_topics(sentences: Sequence[Sentence], vocabulary: ConversationVocabulary) -> list[SummaryTopic]:
    """Return all topics, the highest score first."""
    topics_by_key: dict[str, SummaryTopic] = {}
    for sentence in sentences[:: 1 + len(sentences) // MAX_SENTENCES_READ]:
        if not sentence.text.isascii() and SPACELESS.search(sentence.text):
            _collect_unspaced_topics(sentence, topics_by_key)
        _collect_topics(sentence, vocabulary, topics_by_key)
    count = sentences[-1].line + 1 if sentences else 0
    kept = [topic for topic in topics_by_key.values() if _is_topic(topic, is_english=vocabulary.is_english)]
    return sorted(kept, key=lambda topic: (-topic.score(count), topic.first, topic.key))


def select_keywords(ranked: Sequence[SummaryTopic]) -> tuple[str, ...]:
    """Return up to `MAX_KEYWORDS` different topics in their most frequent spelling."""
    return tuple(topic.spelling for topic in select_distinct(ranked, MAX_KEYWORDS))


def select_distinct(ranked: Sequence[SummaryTopic], limit: int) -> list[SummaryTopic]:
    """Return the first `limit` topics that share no word with a better one."""
    chosen: list[SummaryTopic] = []
    used: set[str] = set()
    for topic in ranked:
        parts = set(map(stem, topic.key.split()))
        if len(chosen) == limit:
            break
        if not parts & used and not any(topic.key in other.key or other.key in topic.key for other in chosen):
            chosen.append(topic)
            used |= parts
    return chosen


def _collect_topics(sentence: Sentence, vocabulary: ConversationVocabulary, topics_by_key: dict[str, SummaryTopic]) -> None:
    # In a sentence written in capitals they do not mark names.
    tokens = _tokenize(correct_spelling(sentence.text.lower() if sentence.text.isupper() else sentence.text), vocabulary)
    last = len(tokens) - 1
    for start, token in enumerate(tokens):
        before = tokens[start - 1].folded if start and (token.is_adjacent or token.is_stop_word) else ""
        first = start
        if token.is_stop_word:
            is_noun = before in _ARTICLES or (start and not tokens[start - 1].is_stop_word)
            if not is_noun or not token.folded.endswith("ing"):
                continue
            first = start + 1  # as in “the reading group”: by itself it is a verb
        for end in range(first, min(start + 3, last + 1)):
            if tokens[end].is_stop_word or (end > start and not tokens[end].is_adjacent):
                break
            is_head = end == last or tokens[end + 1].is_stop_word or not tokens[end + 1].is_adjacent
            _count_occurrence(topics_by_key, sentence, tokens[start : end + 1], before, is_head=is_head)


def _count_occurrence(
    topics_by_key: dict[str, SummaryTopic], sentence: Sentence, phrase: Sequence[_Token], before: str, *, is_head: bool
) -> None:
    key = " ".join(part.key for part in phrase)
    topic = topics_by_key.setdefault(key, SummaryTopic(key, first=sentence.line))
    topic.lines.add(sentence.line)
    topic.speakers.add(sentence.name)
    named = all(part.is_capitalised for part in phrase)
    starts = phrase[0].is_first and not named
    topic.named += named and not phrase[0].is_first
    topic.lower += phrase[-1].text[0].islower()
    text = " ".join(part.text for part in phrase)
    topic.spellings[text[0].lower() + text[1:] if starts and not text[1:2].isupper() else text] += 1 if starts else 3
    topic.nominal += is_head and (before in DETERMINERS or (len(phrase) > 1 and not before) or named)
    topic.verbal += before in VERB_CUES or not is_head
    topic.inside += not phrase[0].is_first and not sentence.narrates


class _Token(NamedTuple):
    text: str
    """The word as written, without “'s”."""
    folded: str
    key: str
    """Its singular in most cases."""
    is_stop_word: bool
    is_capitalised: bool
    """True if it has a capital that is not due to the beginning of a sentence."""
    is_first: bool
    is_adjacent: bool
    """True if only a space separates it from the preceding token, and no phrase ends between them."""


def _tokenize(text: str, vocabulary: ConversationVocabulary) -> list[_Token]:
    tokens: list[_Token] = []
    end, ends_phrase = -1, False
    for match in _TOKEN.finditer(text):
        word = _POSSESSIVE.sub("", match[0])
        folded, between = fold(word), text[end : match.start()] if tokens else ""
        is_first = not tokens or between.rstrip(" ")[-1:] in _OPENING_MARKS
        is_name = not is_first and word[0].isupper()
        is_stop_word = _is_unusable(word) or _is_stop_word(folded, vocabulary)
        is_adjacent = between == " " and not ends_phrase
        tokens.append(_Token(word, folded, _singular(folded), is_stop_word, is_name, is_first, is_adjacent))
        end, ends_phrase = match.end(), word != match[0] and not is_name  # a phrase ends after “dog's”, but not after “Ana's”
    return tokens


def _is_unusable(word: str) -> bool:
    return len(word) > MAX_WORD_LENGTH or len(word) == 1 or word.isdigit() or bool(SPACELESS.search(word))


def _is_stop_word(folded: str, vocabulary: ConversationVocabulary) -> bool:
    first, *others = map(vocabulary.is_stop_word, pieces := _JOINER.split(folded))
    if others and first and (" " in folded or "'" in folded or "’" in folded):
        return True
    return all(is_stop or len(piece) < 2 for piece, is_stop in zip(pieces, (first, *others), strict=True))


def _collect_unspaced_topics(sentence: Sentence, topics_by_key: dict[str, SummaryTopic]) -> None:
    """Collect topics from text without spaces: runs of two to eight characters between grammatical ones. Katakana and Han
    runs are words in most cases.
    """
    for run in re.findall(f"{SPACELESS.pattern}+", sentence.text):
        for piece in _grammatical_characters().split(run):
            for part in re.findall("[\u30a0-\u30ff]+|[^\u30a0-\u30ff]+", piece):
                if 2 <= len(part) <= 8 and HAN_OR_KANA.match(part):
                    topic = topics_by_key.setdefault(part, SummaryTopic(part, first=sentence.line, nominal=1))
                    topic.lines.add(sentence.line)
                    topic.speakers.add(sentence.name)
                    topic.spellings[part] += 1


@cache
def _grammatical_characters() -> re.Pattern[str]:
    """Return the separators in Japanese and Chinese text: grammatical kana and the commonest characters."""
    return re.compile(f"[\u3040-\u309f]+|[{''.join(entries('grammatical'))}]+")


def _is_topic(topic: SummaryTopic, *, is_english: bool) -> bool:
    """Return whether the topic is a name or most likely a noun. In languages without capitals or spaces every longer word
    may be one.
    """
    if topic.is_name:
        return True
    if topic.spelling.upper() == topic.spelling.lower():
        return topic.word_count == 1 and (bool(SPACELESS.search(topic.key)) or len(topic.key) > 3)
    last = topic.key.rsplit(" ", 1)[-1]
    if last.endswith(_NOT_A_HEAD) or (topic.nominal == 0 and (topic.inside == 0 or last.endswith(_SELDOM_A_NOUN))):
        return False
    if topic.word_count > 1 and (not is_english or (topic.inside == 0 and len(topic.lines) == 1)):
        return False
    return topic.verbal <= topic.nominal and (is_english or topic.nominal > 0 or len(topic.lines) > 1)


def _singular(word: str) -> str:
    """Return the singular of most plurals."""
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith("s") and len(word) > 3 and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
