"""Candidates for the lines of a summary: reports of the facts a session states, and of other sentences worth reporting."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from lethe_app.brain.reading.answers import complete_answer
from lethe_app.brain.reading.third_person import rewrite_in_third_person
from lethe_app.brain.summary.reported_facts import NAMES, QUOTATIONS, ReportedFact
from lethe_app.brain.summary.retelling import (
    add_story_prefix,
    is_showing_media,
    is_statement,
    retell,
    retell_joined,
    starts_with_he_or_she,
    starts_with_pronoun,
)
from lethe_app.brain.summary.salience import ConversationVocabulary, SentenceSignals
from lethe_app.brain.summary.sentence_weights import SummaryMaterial, find_answered_question, sentence_weight, weigh_sentences
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.reported_speech import MAX_QUOTE_LENGTH, Quote, quote_exchange, quote_sentence
from lethe_app.brain.text.sentences import Sentence, normalized_words
from lethe_app.domain.chat import Role

FACT_WEIGHT = 1.5
"""Weight of a fact in a summary against the sentences that state it."""
MIN_STATING_SALIENCE = 0.5
"""Minimum salience of the sentences that state a fact."""
MIN_SHARED_WORDS = 0.5
"""Share of the content words of a sentence (or of the fact, if it has fewer) that both must have in common for the sentence
to state the fact.
"""
REDUNDANT_SHARE = 0.75
"""Share of a report's words that another report of the same message must contain to make it redundant."""
RETOLD_SHARE = 0.8
"""Share of a fact's words that a sentence retold in the third person must contain to replace the fact's own wording."""
JOINED_SHARE = 0.6
"""The same share for a report joined with an earlier sentence that names whom a pronoun refers to. It is lower, because such
a report does not contain the question that a fact quotes.
"""
MAX_RETOLD_LENGTH = 200
"""Maximum characters of such a report."""
_PERSONAL_PRONOUN = re.compile(r"\b(?:he|she|he's|she's|him|her|his)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SummaryCandidate:
    """Report that may become a line of a summary."""

    quote: Quote
    speaker: str
    position: float
    """Relative position in the session, from 0 to below 1."""
    words: frozenset[str]
    """Its content words."""
    salience: float
    sources: tuple[int, ...] = ()
    """Indexes of the sentences it reports."""
    is_fact: bool = False
    is_unclear: bool = False
    """True if it is understood only with the preceding context."""

    @property
    def cost(self) -> int:
        """Its characters, including the line break."""
        return len(self.quote.full_text) + 1


def build_candidates(material: SummaryMaterial, max_length: int) -> tuple[list[SummaryCandidate], list[SummaryCandidate]]:
    """Return the facts of a session as reports, and the other sentences worth reporting.

    A question is reported only with its answer, and a pronoun only with the sentence that holds its noun.
    """
    reporter = _Reporter(material.sentences, material.signals, material.vocabulary, min(max_length, MAX_QUOTE_LENGTH))
    stating_sentences = _find_stating_sentences(material)
    stated = {index for indexes in stating_sentences for index in indexes}
    facts = _report_facts(material, reporter, stating_sentences)
    reported = {index for report in facts for index in report.sources}
    return facts, reporter.build_reports(weigh_sentences(material, stated | reported), reported)


def _find_stating_sentences(material: SummaryMaterial) -> list[list[int]]:
    """Return for each fact the indexes of the sentences that state it."""
    indexes_by_line: dict[int, list[int]] = {}
    sentence_words: list[frozenset[str]] = []
    for index, sentence in enumerate(material.sentences):
        sentence_words.append(content_words(sentence.text) if material.facts else frozenset())
        if sentence.role is Role.USER and not sentence.in_story:
            indexes_by_line.setdefault(sentence.line, []).append(index)
    return [
        [
            index
            for line in sorted(fact.lines)
            for index in indexes_by_line.get(line, ())
            if sentence_words[index]
            and len(sentence_words[index] & fact.words) >= MIN_SHARED_WORDS * min(len(sentence_words[index]), len(fact.words))
        ]
        for fact in material.facts
    ]


def _report_facts(
    material: SummaryMaterial, reporter: _Reporter, stating_sentences: Sequence[Sequence[int]]
) -> list[SummaryCandidate]:
    """Return the facts as reports, each in the words of a sentence that states it if that can be put into the third person."""
    values = [
        FACT_WEIGHT * fact.weight * max([MIN_STATING_SALIENCE, *(sentence_weight(material, index) for index in indexes)])
        for fact, indexes in zip(material.facts, stating_sentences, strict=True)
    ]
    weights: dict[int, float] = {}
    for value, indexes in zip(values, stating_sentences, strict=True):
        weights |= {index: max(value, weights.get(index, 0.0)) for index in indexes}
    retold = {report.sources[-1]: report for report in reporter.build_reports(dict(sorted(weights.items())))}
    count = max((sentence.line for sentence in material.sentences), default=0) + 1
    found: dict[str, SummaryCandidate] = {}
    joined_sentences: set[int] = set()
    for fact, indexes, value in zip(material.facts, stating_sentences, values, strict=True):
        report = next((retold[index] for index in indexes if index in retold and _states_fact(retold[index], fact)), None)
        earlier = set(report.sources[:-1]) if report else set()
        # An earlier sentence is joined with one fact only; a further fact is reported in its own wording.
        if report is None or (earlier & joined_sentences and report.quote.text not in found):
            line, informative = max(fact.lines), frozenset(material.vocabulary.informative_words(normalized_words(fact.text)))
            report = SummaryCandidate(
                Quote(line, "", fact.text), fact.speaker, line / count, informative, value, tuple(indexes)
            )
            report = replace(report, is_unclear=fact.is_unclear)
            earlier = set()
        joined_sentences |= earlier
        found.setdefault(report.quote.full_text, replace(report, is_fact=True))
    return _remove_contained(list(found.values()))


def _remove_contained(reports: Sequence[SummaryCandidate]) -> list[SummaryCandidate]:
    """Remove reports that another one contains: by all of their sentences, or by most of their words."""
    longest_by_sentence: dict[int, int] = {}
    by_line: dict[int, list[tuple[frozenset[str], SummaryCandidate]]] = {}
    for report in reports:
        by_line.setdefault(report.quote.line, []).append((content_words(report.quote.text), report))
        for index in report.sources:
            longest_by_sentence[index] = max(longest_by_sentence.get(index, 0), len(report.sources))
    return [
        one
        for line in by_line.values()
        for words, one in line
        if not (one.sources and all(longest_by_sentence[index] > len(one.sources) for index in one.sources))
        and not any(len(words) < len(other) and len(words & other) >= REDUNDANT_SHARE * len(words) for other, _report in line)
    ]


def _states_fact(report: SummaryCandidate, fact: ReportedFact) -> bool:
    """Return whether a report states a fact in the third person and briefly.

    A report joined with an earlier sentence is accepted only where the fact has a pronoun before anybody is named.
    """
    report_quote = report.quote
    is_brief_retelling = (
        not report_quote.lead_in and '"' not in report_quote.text and len(report_quote.text) <= MAX_RETOLD_LENGTH
    )
    is_joined = len(report.sources) > 1
    if not is_brief_retelling or (not _has_unresolved_pronoun(fact.text) if is_joined else fact.is_quoted):
        return False
    return len(content_words(report_quote.text) & fact.words) >= (JOINED_SHARE if is_joined else RETOLD_SHARE) * len(fact.words)


def _has_unresolved_pronoun(fact: str) -> bool:
    """Return whether the quotations of a fact have a “he” or “she” before anybody is named."""
    quoted = " ".join(QUOTATIONS.findall(fact))
    pronoun = _PERSONAL_PRONOUN.search(quoted)
    return pronoun is not None and not NAMES.search(quoted[: pronoun.start()])


class _Reporter:
    """Convert sentences into reports."""

    def __init__(
        self,
        sentences: Sequence[Sentence],
        signals: Sequence[SentenceSignals],
        vocabulary: ConversationVocabulary,
        max_length: int,
    ) -> None:
        self._sentences = sentences
        self._signals = signals
        self._vocabulary = vocabulary
        self._max_length = max_length

    def build_reports(self, weights: Mapping[int, float], reported: Collection[int] = ()) -> list[SummaryCandidate]:
        """Return the sentences of these indexes as reports with their weights, each joined with an earlier sentence that it
        refers to. A sentence that refers to one in `reported` is left out.
        """
        found: list[SummaryCandidate] = []
        joined: set[int] = set()
        # From the end, so that a sentence already joined with a later one is not reported again by itself.
        for index in reversed(list(weights)):
            if index in joined:
                continue
            earlier = self._find_antecedent(index)
            if earlier in reported:
                continue
            together = self._join_with_earlier(index, earlier) if earlier is not None else None
            if together is not None and earlier is not None:
                joined.add(earlier)
                found.append(
                    self._build_candidate(index, together, (earlier, index), weights[index] + weights.get(earlier, 0.0) / 2)
                )
            elif (alone := self._report_alone(index)) is not None:
                asked = find_answered_question(self._sentences, index)
                found.append(
                    self._build_candidate(index, alone, (index,) if asked is None else (index - 1, index), weights[index])
                )
        return found[::-1]

    def _build_candidate(
        self, index: int, report_quote: Quote, source_indexes: Sequence[int], weight: float
    ) -> SummaryCandidate:
        sentence, last = self._sentences[index], self._sentences[-1]
        source_words = (word for source in source_indexes for word in self._sentences[source].words)
        informative = frozenset(self._vocabulary.informative_words(source_words))
        return SummaryCandidate(
            report_quote, sentence.name, sentence.line / (last.line + 1), informative, weight, tuple(source_indexes)
        )

    def _find_antecedent(self, index: int) -> int | None:
        """Return the index of the same speaker's earlier sentence that names whom or what a pronoun refers to; None if there
        is none.
        """
        sentence = self._sentences[index]
        if not self._vocabulary.is_english or sentence.narrates or sentence.asks or not starts_with_pronoun(sentence.text):
            return None
        is_personal, nearest = starts_with_he_or_she(sentence.text), None
        for candidate in range(index - 1, -1, -1):
            earlier = self._sentences[candidate]
            if earlier.line < sentence.line - (4 if is_personal else 0):
                break
            if is_personal and earlier.name != sentence.name and earlier.line < sentence.line and self._has_person(candidate):
                return None  # the other one brought up whom the pronoun means
            fits = earlier.name == sentence.name and earlier.in_story == sentence.in_story
            if fits and not (earlier.narrates or earlier.asks):
                nearest = candidate if nearest is None else nearest
                if not is_personal or self._has_person(candidate):
                    return candidate
        return nearest

    def _has_person(self, index: int) -> bool:
        return self._signals[index].has_relative or self._signals[index].has_name

    def _join_with_earlier(self, index: int, earlier: int) -> Quote | None:
        sentence = self._sentences[index]
        statement = retell_joined(sentence, self._sentences[earlier], self._vocabulary.listener_of(sentence.name))
        return Quote(sentence.line, "", statement) if statement else None

    def _report_alone(self, index: int) -> Quote | None:
        """Return the sentence as a statement if possible, else as a quotation; None for fragments and sentences that depend
        on others.
        """
        sentence, question = self._sentences[index], find_answered_question(self._sentences, index)
        listener = self._vocabulary.listener_of(sentence.name)
        if not self._vocabulary.is_english:
            return quote_exchange(question, sentence) if question is not None else quote_sentence(sentence, self._max_length)
        if question is not None:
            completed = complete_answer(question.text, sentence.text)
            statement = rewrite_in_third_person(completed, sentence.name, "") if completed else None
            return (
                Quote(sentence.line, "", add_story_prefix(statement, sentence))
                if statement
                else quote_exchange(question, sentence)
            )
        if sentence.narrates:
            return quote_sentence(sentence, self._max_length)
        if is_showing_media(sentence.text):
            return None
        if (statement := retell(sentence, listener)) is not None:
            return Quote(sentence.line, "", statement)
        is_independent = (
            not starts_with_pronoun(sentence.text) or self._signals[index].is_informative or self._signals[index].has_relative
        )
        return quote_sentence(sentence, self._max_length) if is_independent and is_statement(sentence.text) else None
