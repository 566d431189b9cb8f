"""Chooses the few reports that together say most of what a conversation said, from its beginning to its end."""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lethe_app.brain.endings import announces_change
from lethe_app.brain.fact_classifier import probability
from lethe_app.brain.fact_sentences import features
from lethe_app.brain.introductions import asks_memory, compares
from lethe_app.brain.lasting import is_figurative
from lethe_app.brain.pasted_text import has_lost_quotation
from lethe_app.brain.quotable import Sentence
from lethe_app.brain.quoting import LONGEST, Quote, exchange, quote
from lethe_app.brain.retelling import is_statement, leans, leans_on_person, marked, retell, retell_after, shows
from lethe_app.brain.salience import Signs, Vocabulary, answers_nothing, salience
from lethe_app.brain.short_answers import complete
from lethe_app.brain.third_person import rewrite
from lethe_app.domain.chat import Role

COVERED = 0.1
"""What a word is still worth when another chosen report has it."""
CROWDED = 0.7
"""What each chosen report leaves to the others of its stretch of the conversation."""
AGAIN = 0.7
"""And to the others of its message."""
SPOKEN = 0.95
"""What each chosen report leaves to the others of its speaker."""
STRETCH = 130
"""Characters of summary for which the conversation has one stretch."""
MOST_STRETCHES = 12
MOST_CANDIDATES = 1000
"""Of an endless conversation only so many sentences, the most telling, are weighed against each other."""
LEAST_SHARE = 0.3
"""Of the most telling report's salience, up to 2; what has less is only filler beside it."""
ALONE = 2.0
"""What a report is worth by its salience alone, in words: a death may be told in a word nobody says again."""
PRICE = 0.5
"""The power of its length by which a report is dear."""
FLEETING = 0.5
"""What a sentence that nobody would note counts in a summary against one to be remembered."""
_INTENDS = re.compile(r"\b(?:going to|gonna|moving|flying|want to|wanna|planning)\b", re.IGNORECASE)
MOST_QUESTIONS = 2
"""Questions of the user in a summary of a conversation in which they did nothing but ask."""
SHORT_ANSWER = 6
"""Words; so short an answer does not stand without its question."""


@dataclass(frozen=True, slots=True)
class Report:
    """A candidate for a summary."""

    quote: Quote
    speaker: str
    place: float
    """Where in the conversation it is, from 0 to below 1."""
    words: frozenset[str]
    """Its words that say something."""
    salience: float

    @property
    def cost(self) -> int:
        """Characters it takes, with its line break."""
        return len(self.quote.alone) + 1


def reports(sentences: Sequence[Sentence], signs: Sequence[Signs], vocabulary: Vocabulary, longest: int) -> list[Report]:
    """Whatever is worth reporting; a question only together with its answer, a pronoun only with the sentence it leans on."""
    worth: dict[int, float] = {}
    questions: dict[int, float] = {}
    outdated = _outdated(sentences, signs, vocabulary)
    for index, sentence in enumerate(sentences):
        if index in outdated or not sentence.standing or _says_nothing(sentence.text):
            continue
        told = salience(sentence, signs[index], vocabulary) * (lasting(sentence, FLEETING) if vocabulary.is_english else 1.0)
        asked = _question_before(sentences, index)
        if asked is not None and vocabulary.telling(asked.words) and vocabulary.telling(sentence.words):
            told = max(told, 0.5 + 2 * salience(asked, signs[index - 1], vocabulary))
        if told > 0:
            of_user = sentence.role is Role.USER and (sentence.asks or asks_memory(sentence.text))
            (questions if of_user else worth)[index] = told * sentence.standing
    if not worth:  # nothing but questions was said
        worth = {index: questions[index] for index in heapq.nlargest(MOST_QUESTIONS, questions, key=questions.__getitem__)}
    best = heapq.nlargest(MOST_CANDIDATES, worth, key=lambda index: (worth[index], -index))
    least = LEAST_SHARE * min(2.0, worth[best[0]]) if best else 0.0
    kept = {index: worth[index] for index in sorted(best) if worth[index] >= least}
    return _Reporter(sentences, signs, vocabulary, min(longest, LONGEST)).report(kept)


def _outdated(sentences: Sequence[Sentence], signs: Sequence[Signs], vocabulary: Vocabulary) -> set[int]:
    """Return the places of plans that a later message of the same speaker changes."""
    lines = {sentence.line for sentence in sentences if sentence.role is Role.USER and announces_change(sentence.text)}
    last: dict[tuple[str, str], int] = {}
    for sentence in sentences:
        if sentence.line in lines:
            last |= {(sentence.name, word): sentence.line for word in vocabulary.telling(sentence.words)}
    return {
        index
        for index, sentence in enumerate(sentences)
        if (signs[index].plan is not None or _INTENDS.search(sentence.text))
        and any(last.get((sentence.name, word), -1) > sentence.line for word in vocabulary.telling(sentence.words))
    }


def _says_nothing(text: str) -> bool:
    """Return whether a sentence is said in jest or has lost what it quotes."""
    return is_figurative(text) or compares(text) or has_lost_quotation(text)


def lasting(sentence: Sentence, least: float) -> float:
    """Return what a sentence is worth as one to be remembered, from `least` to 1; speech of a scene counts in full."""
    if sentence.in_story or sentence.narrates:
        return 1.0
    return least + (1 - least) * probability(features(sentence.text))


def choose(candidates: Sequence[Report], weights: dict[str, float], longest: int) -> list[Report]:
    """Candidates of at most `longest` characters together, in their order.

    Greedy, by salience x weight of the words not yet covered / sqrt(characters), less in a stretch or of a speaker that has
    been heard: a gain that only falls as others are chosen, so that a stale value in the heap is an upper bound
    (Minoux 1978, accelerated greedy).
    """
    state = _State(weights, max(1, min(MOST_STRETCHES, longest // STRETCH)))
    heap = [(-state.gain(report), index) for index, report in enumerate(candidates)]
    heapq.heapify(heap)
    chosen: list[int] = []
    left = longest + 1
    while heap and left > 0:
        _stale, index = heapq.heappop(heap)
        if candidates[index].cost > left:
            continue
        gain = state.gain(candidates[index])
        if heap and -heap[0][0] > gain + 1e-12:
            heapq.heappush(heap, (-gain, index))
            continue
        chosen.append(index)
        left -= candidates[index].cost
        state.take(candidates[index])
    return [candidates[index] for index in sorted(chosen)]


class _State:
    """What has been said by the reports chosen so far."""

    def __init__(self, weights: dict[str, float], stretches: int) -> None:
        self._weights = weights
        self._stretches = stretches
        self._covered: set[str] = set()
        self._heard: Counter[int | str] = Counter()

    def gain(self, report: Report) -> float:
        weights, covered = self._weights, self._covered
        words = sum(weights.get(word, 1.0) * (COVERED if word in covered else 1.0) for word in sorted(report.words))
        heard = self._heard
        crowd: float = CROWDED ** heard[int(report.place * self._stretches)] * SPOKEN ** heard[report.speaker]
        crowd *= AGAIN ** heard[f"message {report.quote.line}"]
        return report.salience * (ALONE + words) / math.pow(report.cost, PRICE) * crowd

    def take(self, report: Report) -> None:
        self._covered |= report.words
        self._heard[int(report.place * self._stretches)] += 1
        self._heard[f"message {report.quote.line}"] += 1
        self._heard[report.speaker] += 1


class _Reporter:
    """Puts sentences into the words of a report."""

    def __init__(self, sentences: Sequence[Sentence], signs: Sequence[Signs], vocabulary: Vocabulary, longest: int) -> None:
        self._sentences = sentences
        self._signs = signs
        self._vocabulary = vocabulary
        self._longest = longest

    def report(self, kept: Mapping[int, float]) -> list[Report]:
        """The sentences at these places with what they are worth; one that leans on an earlier one takes that along."""
        found: list[Report] = []
        joined: set[int] = set()
        for index in reversed(list(kept)):
            if index in joined:
                continue
            earlier = self._leant_on(index)
            together = self._together(index, earlier) if earlier is not None else None
            if together is not None and earlier is not None:
                joined.add(earlier)
                found.append(self._made(index, together, (earlier, index), kept[index] + kept.get(earlier, 0.0) / 2))
            elif (alone := self._alone(index)) is not None:
                asked = _question_before(self._sentences, index)
                found.append(self._made(index, alone, (index,) if asked is None else (index - 1, index), kept[index]))
        return found[::-1]

    def _made(self, index: int, made: Quote, places: Sequence[int], worth: float) -> Report:
        sentence, last = self._sentences[index], self._sentences[-1]
        said = (word for place in places for word in self._sentences[place].words)
        return Report(made, sentence.name, sentence.line / (last.line + 1), frozenset(self._vocabulary.telling(said)), worth)

    def _leant_on(self, index: int) -> int | None:
        """The place of the speaker's sentence just before that names whom or what a pronoun means."""
        sentence = self._sentences[index]
        if not self._vocabulary.is_english or sentence.narrates or sentence.asks or not leans(sentence.text):
            return None
        of_person, nearest = leans_on_person(sentence.text), None
        for place in range(index - 1, -1, -1):
            before = self._sentences[place]
            if before.line < sentence.line - (4 if of_person else 0):
                break
            fits = before.name == sentence.name and before.in_story == sentence.in_story
            if fits and not (before.narrates or before.asks):
                nearest = place if nearest is None else nearest
                if not of_person or self._names_somebody(place):
                    return place
        return nearest

    def _names_somebody(self, place: int) -> bool:
        return self._signs[place].kin or self._signs[place].named

    def _together(self, index: int, earlier: int) -> Quote | None:
        sentence = self._sentences[index]
        told = retell_after(sentence, self._sentences[earlier], self._vocabulary.other(sentence.name))
        return Quote(sentence.line, "", told) if told else None

    def _alone(self, index: int) -> Quote | None:
        """A statement where it can be told as one, else in quotation marks; neither fragments nor what only leans."""
        sentence, asked = self._sentences[index], _question_before(self._sentences, index)
        other = self._vocabulary.other(sentence.name)
        if not self._vocabulary.is_english:
            return exchange(asked, sentence) if asked is not None else quote(sentence, self._longest)
        if asked is not None:
            full = complete(asked.text, sentence.text)
            told = rewrite(full[0], sentence.name, "") if full is not None else None
            return Quote(sentence.line, "", marked(told, sentence)) if told else exchange(asked, sentence)
        if sentence.narrates:
            return quote(sentence, self._longest)
        if shows(sentence.text):
            return None
        if (told := retell(sentence, other)) is not None:
            return Quote(sentence.line, "", told)
        is_firm = not leans(sentence.text) or self._signs[index].tells or self._signs[index].kin
        return quote(sentence, self._longest) if is_firm and is_statement(sentence.text) else None


def _question_before(sentences: Sequence[Sentence], index: int) -> Sentence | None:
    """The question that a short answer answers: the last sentence of the message before, by somebody else."""
    answer = sentences[index]
    if len(answer.words) > 2 * SHORT_ANSWER or len(answer.text.split()) > SHORT_ANSWER or answer.asks or not index:
        return None
    before = sentences[index - 1]
    if before.narrates or answer.narrates:
        return None
    fits = (
        before.asks
        and before.in_story == answer.in_story
        and before.name != answer.name
        and before.line != answer.line
        and not answers_nothing(answer)
    )
    return before if fits else None
