"""Composition of a session's title from its events and topics."""

from __future__ import annotations

import heapq
import re
from collections.abc import Mapping, Sequence
from itertools import islice

from lethe_app.brain.summary.keywords import HAN_OR_KANA, SummaryTopic, select_distinct
from lethe_app.brain.summary.title_events import TitleEvent
from lethe_app.brain.summary.title_phrases import (
    MAX_WORDS,
    TitlePhrase,
    build_phrase,
    is_denied,
    is_lone_name,
    is_nominal,
    phrase_words,
)
from lethe_app.brain.text.sentences import Sentence
from lethe_app.brain.vocabulary.common_words import LIFE_EVENT_WORDS

MIN_SECOND_TOPIC_SHARE = 0.24
"""Share of the best topic's value that a second part needs."""
MIN_SECOND_EVENT_SHARE = 0.35
"""Share of the best event's value that a second event needs."""
MAX_TOPICS_TRIED = 12
"""Number of topics tried."""
MAX_SENTENCES_READ = 20
"""Sentences of a topic that are searched for a negation; searching all took minutes for a session of 10,000 lines."""
LONE_NAME_FACTOR = 0.6
"""Factor for a name by itself, which does not say what happened."""
PHRASE_FACTOR = 1.25
"""Factor for a phrase of several words, against 1 for a single noun."""
ACTIVITY_FACTOR = 1.6
"""Factor for an activity such as “moving to Porto”, against 1 for “Porto”."""
MIN_DEATH_SHARE = 1 / 8
"""Share of sentences about a death from which the session is about it."""
_DEATH = re.compile(r"\b(?:deaths?|died|dead|funeral|passed away|grief|stroke)\b", re.IGNORECASE)
LIFE_EVENT_FACTOR = 2.0
"""Factor for a life event such as an exam or a wedding, against 1 for other topics."""


def compose_title(
    topics: Sequence[SummaryTopic],
    sentences: Sequence[Sentence],
    weights: Sequence[float],
    events: Sequence[TitleEvent | None],
    *,
    is_english: bool,
    subjects: str = "",
) -> str:
    """Return a title of two to seven words with the one or two main topics; empty if there are none.

    `weights` is the salience of each sentence, `events` the event it reports. `subjects` names the general subjects, for
    sessions in which nothing but a noun or a name stands out.
    """
    if not is_english:
        return _join_names([topic.spelling for topic in select_distinct(topics, 2)])
    order = sorted(range(len(sentences)), key=lambda index: -weights[index])
    by_weight = [sentences[index] for index in order]
    weight_by_line: dict[int, float] = {}
    for index in reversed(order):
        weight_by_line[sentences[index].line] = weights[index]
    event_phrases = _event_phrases(sentences, weights, events)
    parts = [*event_phrases, *_topic_phrases(topics, by_weight, weight_by_line, event_phrases)]
    if subjects and not event_phrases and not any(map(_is_activity, parts)):
        return subjects[:1].upper() + subjects[1:]
    if not parts and topics:
        parts = [build_phrase(topic, by_weight, is_first=False) for topic in select_distinct(topics, 2)]
    text = " and ".join(part.text for part in parts)
    return text[:1].upper() + text[1:]


def _topic_phrases(
    topics: Sequence[SummaryTopic],
    by_weight: Sequence[Sentence],
    weight_by_line: Mapping[int, float],
    event_phrases: Sequence[TitlePhrase],
) -> list[TitlePhrase]:
    """Return the phrases of the best topics that still fit after the parts in `event_phrases`."""
    count = max(weight_by_line, default=0) + 1
    values = {topic.key: _topic_value(topic, count, weight_by_line) for topic in topics}
    tried = heapq.nlargest(MAX_TOPICS_TRIED, filter(is_nominal, topics), key=lambda topic: values[topic.key])
    undenied = [(topic, build_phrase(topic, by_weight, is_first=True)) for topic in tried if not _is_denied(topic, by_weight)]
    ranked = [(values[topic.key] * _phrase_factor(phrase), topic) for topic, phrase in undenied]
    ranked.sort(key=lambda pair: -pair[0])
    if not event_phrases and (not ranked or ranked[0][0] < MIN_SECOND_TOPIC_SHARE * max(values.values())):
        return []
    parts = list(event_phrases)
    for value, topic in ranked:
        if len(parts) == 2 or (parts and value < MIN_SECOND_TOPIC_SHARE * ranked[0][0]):
            break
        phrase = build_phrase(topic, by_weight, is_first=not parts)
        overlaps = any(phrase.words & other.words for other in parts)
        is_negligible = _adds_little(phrase) if event_phrases else bool(parts) and _is_minor(phrase, parts[0])
        if not overlaps and not is_negligible and _fits([*parts, phrase]):
            parts.append(phrase)
    return parts[len(event_phrases) :]


def _is_minor(phrase: TitlePhrase, first: TitlePhrase) -> bool:
    """Return whether a phrase is only a name, or a single noun beside a first part of several words."""
    return is_lone_name(phrase) or (" " not in phrase.text.removeprefix("the ") and " " in first.text)


def _is_activity(phrase: TitlePhrase) -> bool:
    """Return whether a phrase names an activity: “Moving to Porto”."""
    words = phrase.text.split()
    return len(words) > 1 and words[0].endswith("ing")


def _adds_little(phrase: TitlePhrase) -> bool:
    """Return whether a phrase adds neither an activity, nor an owner, nor anything new to the events."""
    return not (_is_activity(phrase) or "'s " in phrase.text or phrase.text.startswith("the new "))


def _is_denied(topic: SummaryTopic, by_weight: Sequence[Sentence]) -> bool:
    texts = (sentence.text for sentence in by_weight if sentence.line in topic.lines)
    return any(is_denied(topic, text) for text in islice(texts, MAX_SENTENCES_READ))


def _event_phrases(
    sentences: Sequence[Sentence], weights: Sequence[float], events: Sequence[TitleEvent | None]
) -> list[TitlePhrase]:
    """Return the one or two best events, each weighted by the salience of its sentence relative to the highest one.

    A death of which little is said does not become the title.
    """
    best = max(weights, default=0.0)
    is_mourned = _is_about_death(sentences, events)
    values: dict[str, float] = {}
    for event, weight in zip(events, weights, strict=True):
        if event is not None and (is_mourned or not _DEATH.search(event.text)):
            values[event.text] = values.get(event.text, 0.0) + event.weight * (best + weight) / 2
    parts: list[TitlePhrase] = []
    ranked = sorted(values.items(), key=lambda item: -item[1])
    for text, value in ranked:
        phrase = TitlePhrase(_inner_form(text) if parts else text, phrase_words(text))
        if value < (MIN_SECOND_EVENT_SHARE * ranked[0][1] if parts else best) or len(parts) == 2:
            break
        if not any(phrase.words & other.words for other in parts) and _fits([*parts, phrase]):
            parts.append(phrase)
    return parts


def _inner_form(text: str) -> str:
    """Return a part of a title in the form within the title: a name or an abbreviation keeps its capital."""
    first = text.partition(" ")[0]
    is_name = "'s" in first or first[1:] != first[1:].lower()
    return text if is_name else text[:1].lower() + text[1:]


def _is_about_death(sentences: Sequence[Sentence], events: Sequence[TitleEvent | None]) -> bool:
    """Return whether many of the sentences are about a death."""
    texts = [one.text for one in sentences if not (one.in_story or one.asks)] + [one.text for one in events if one is not None]
    return sum(bool(_DEATH.search(text)) for text in texts) >= MIN_DEATH_SHARE * len(sentences)


def _phrase_factor(phrase: TitlePhrase) -> float:
    """Return a factor that is higher for activities and life events, and lower for a mere name."""
    words = phrase.text.removeprefix("the ").split()
    if is_lone_name(phrase):
        return LONE_NAME_FACTOR
    shape_factor = ACTIVITY_FACTOR if _is_activity(phrase) else PHRASE_FACTOR if len(words) > 1 else 1.0
    return shape_factor * (1.0 if LIFE_EVENT_WORDS.isdisjoint(phrase.words) else LIFE_EVENT_FACTOR)


def _topic_value(topic: SummaryTopic, count: int, weight_by_line: Mapping[int, float]) -> float:
    """Return the share of the session a topic represents, by its score and the salience of its messages."""
    return topic.score(count) * (0.5 + max((weight_by_line.get(line, 0.0) for line in topic.lines), default=0.0))


def _fits(parts: Sequence[TitlePhrase]) -> bool:
    return sum(len(part.text.split()) for part in parts) + len(parts) - 1 <= MAX_WORDS + 1


def _join_names(names: Sequence[str]) -> str:
    comma = "、" if names and HAN_OR_KANA.match(names[0]) else ", "
    text = comma.join(names)
    return text[:1].upper() + text[1:]
