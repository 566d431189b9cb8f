"""Composition of a session's title from its news and topics."""

from __future__ import annotations

import heapq
import re
from collections.abc import Mapping, Sequence
from itertools import islice

from lethe_app.brain.summary.keywords import HAN_OR_KANA, SummaryTopic, distinct
from lethe_app.brain.summary.title_events import News
from lethe_app.brain.summary.title_phrases import MOST_WORDS, Phrase, is_denied, is_lone, is_nominal, phrase_of, words_of
from lethe_app.brain.text.sentences import Sentence
from lethe_app.brain.vocabulary.common_words import GRAVE

SECOND = 0.24
"""Share of the best topic's value that a second part needs."""
ALSO = 0.35
"""Share of the best news' value that a second news item needs."""
MOST_TRIED = 12
"""Number of topics tried."""
MOST_READ = 20
"""Sentences of a topic that are searched for a negation; searching all took minutes for a session of 10,000 lines."""
LONE_NAME = 0.6
"""Factor for a name by itself, which does not say what happened."""
FULLER = 1.25
"""Factor for a phrase of several words, against 1 for a single noun."""
DONE = 1.6
"""Factor for an activity such as “moving to Porto”, against 1 for “Porto”."""
MOURNED = 1 / 8
"""Share of sentences about a death from which the session is about it."""
_DEATH = re.compile(r"\b(?:deaths?|died|dead|funeral|passed away|grief|stroke)\b", re.IGNORECASE)
GRAVER = 2.0
"""Factor for a life event such as an exam or a wedding, against 1 for other topics."""


def titled(
    found: Sequence[SummaryTopic],
    said: Sequence[Sentence],
    worth: Sequence[float],
    news: Sequence[News | None],
    *,
    is_english: bool,
    matters: str = "",
) -> str:
    """Return a title of two to seven words with the one or two main topics; empty if there are none.

    `worth` is the salience of each sentence, `news` the event it reports. `matters` names the general subjects, for sessions
    in which nothing but a noun or a name stands out.
    """
    if not is_english:
        return _listed([topic.spelling for topic in distinct(found, 2)])
    order = sorted(range(len(said)), key=lambda place: -worth[place])
    telling = [said[place] for place in order]
    lines: dict[int, float] = {}
    for place in reversed(order):
        lines[said[place].line] = worth[place]
    begun = _news(said, worth, news)
    parts = [*begun, *_topics(found, telling, lines, begun)]
    if matters and not begun and not any(map(_is_done, parts)):
        return matters[:1].upper() + matters[1:]
    if not parts and found:
        parts = [phrase_of(topic, telling, leads=False) for topic in distinct(found, 2)]
    text = " and ".join(part.text for part in parts)
    return text[:1].upper() + text[1:]


def _topics(
    found: Sequence[SummaryTopic], telling: Sequence[Sentence], worth: Mapping[int, float], begun: Sequence[Phrase]
) -> list[Phrase]:
    """Return the phrases of the best topics that still fit after the parts in `begun`."""
    count = max(worth, default=0) + 1
    values = {topic.key: _value(topic, count, worth) for topic in found}
    tried = heapq.nlargest(MOST_TRIED, filter(is_nominal, found), key=lambda topic: values[topic.key])
    clear = [(topic, phrase_of(topic, telling, leads=True)) for topic in tried if not _is_denied(topic, telling)]
    ranked = [(values[topic.key] * _clarity(phrase), topic) for topic, phrase in clear]
    ranked.sort(key=lambda pair: -pair[0])
    if not begun and (not ranked or ranked[0][0] < SECOND * max(values.values())):
        return []
    parts = list(begun)
    for value, topic in ranked:
        if len(parts) == 2 or (parts and value < SECOND * ranked[0][0]):
            break
        phrase = phrase_of(topic, telling, leads=not parts)
        overlaps = any(phrase.words & other.words for other in parts)
        is_random = _adds_little(phrase) if begun else bool(parts) and _is_mere(phrase, parts[0])
        if not overlaps and not is_random and _fits([*parts, phrase]):
            parts.append(phrase)
    return parts[len(begun) :]


def _is_mere(phrase: Phrase, first: Phrase) -> bool:
    """Return whether a phrase is only a name, or a single noun beside a first part of several words."""
    return is_lone(phrase) or (" " not in phrase.text.removeprefix("the ") and " " in first.text)


def _is_done(phrase: Phrase) -> bool:
    """Return whether a phrase names an activity: “Moving to Porto”."""
    words = phrase.text.split()
    return len(words) > 1 and words[0].endswith("ing")


def _adds_little(phrase: Phrase) -> bool:
    """Return whether a phrase adds neither an activity, nor an owner, nor something new to the news."""
    return not (_is_done(phrase) or "'s " in phrase.text or phrase.text.startswith("the new "))


def _is_denied(topic: SummaryTopic, telling: Sequence[Sentence]) -> bool:
    said = (sentence.text for sentence in telling if sentence.line in topic.lines)
    return any(is_denied(topic, text) for text in islice(said, MOST_READ))


def _news(said: Sequence[Sentence], worth: Sequence[float], news: Sequence[News | None]) -> list[Phrase]:
    """Return the one or two best news, each weighted by the salience of its sentence relative to the highest one.

    A death of which little is said does not become the title.
    """
    best = max(worth, default=0.0)
    is_mourned = _is_mourned(said, news)
    values: dict[str, float] = {}
    for told, telling in zip(news, worth, strict=True):
        if told is not None and (is_mourned or not _DEATH.search(told.text)):
            values[told.text] = values.get(told.text, 0.0) + told.weight * (best + telling) / 2
    parts: list[Phrase] = []
    ranked = sorted(values.items(), key=lambda item: -item[1])
    for text, value in ranked:
        phrase = Phrase(_inner(text) if parts else text, words_of(text))
        if value < (ALSO * ranked[0][1] if parts else best) or len(parts) == 2:
            break
        if not any(phrase.words & other.words for other in parts) and _fits([*parts, phrase]):
            parts.append(phrase)
    return parts


def _inner(text: str) -> str:
    """Return a part of a title in the form within the title: a name or an abbreviation keeps its capital."""
    first = text.partition(" ")[0]
    is_name = "'s" in first or first[1:] != first[1:].lower()
    return text if is_name else text[:1].lower() + text[1:]


def _is_mourned(said: Sequence[Sentence], news: Sequence[News | None]) -> bool:
    """Return whether many of the sentences are about a death."""
    texts = [one.text for one in said if not (one.in_story or one.asks)] + [one.text for one in news if one is not None]
    return sum(bool(_DEATH.search(text)) for text in texts) >= MOURNED * len(said)


def _clarity(phrase: Phrase) -> float:
    """Return a factor that is higher for activities and life events, and lower for a mere name."""
    words = phrase.text.removeprefix("the ").split()
    if is_lone(phrase):
        return LONE_NAME
    fullness = DONE if _is_done(phrase) else FULLER if len(words) > 1 else 1.0
    return fullness * (1.0 if GRAVE.isdisjoint(phrase.words) else GRAVER)


def _value(topic: SummaryTopic, count: int, worth: Mapping[int, float]) -> float:
    """Return the share of the session a topic represents, by its score and the salience of its messages."""
    return topic.score(count) * (0.5 + max((worth.get(line, 0.0) for line in topic.lines), default=0.0))


def _fits(parts: Sequence[Phrase]) -> bool:
    return sum(len(part.text.split()) for part in parts) + len(parts) - 1 <= MOST_WORDS + 1


def _listed(names: Sequence[str]) -> str:
    comma = "、" if names and HAN_OR_KANA.match(names[0]) else ", "
    text = comma.join(names)
    return text[:1].upper() + text[1:]
