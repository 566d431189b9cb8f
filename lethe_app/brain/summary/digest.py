"""Digest of a session without a model: title, extractive summary, keywords, goals and relevance."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from lethe_app.brain.reading.dialogue_acts import read_pieces
from lethe_app.brain.reading.extractor import extract_statements
from lethe_app.brain.reading.statements import SpeakerStatement
from lethe_app.brain.summary import endorsed_lines, plans
from lethe_app.brain.summary.endorsed_lines import ENDORSED_WEIGHT, select_endorsed_sentences, speaker_names
from lethe_app.brain.summary.keywords import find_topics, select_keywords
from lethe_app.brain.summary.ranking import Report, build_reports, choose_reports, find_answered_question
from lethe_app.brain.summary.salience import ConversationVocabulary, SentenceSignals, find_signals, lasting_factor, sum_signs
from lethe_app.brain.summary.titles import compose_title
from lethe_app.brain.text.markup import display_name
from lethe_app.brain.text.reported_speech import Quote, format_quotes, shorten
from lethe_app.brain.text.sentences import Sentence, normalized_words
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role
from lethe_app.language_tables import compile_table
from lethe_app.retrieval.passage_builder import SENTENCE_END

MAX_SUMMARY_LENGTH = 1200
"""Maximum characters of a summary, about 300 tokens."""
OLDEST_REPORT_WEIGHT = 0.7
"""Weight of the oldest report of a rolling summary against 1 of the newest."""
MIN_MOMENT_SALIENCE, MIN_EVENT_SALIENCE = 2.6, 1.8
"""Minimum salience of a key moment, and of one that reports an event of a life."""
ANSWER_VALUE = 0.5
"""Least value of a short answer, besides that of its question."""
MAX_MOMENT_LENGTH = 400
"""Maximum characters of a key moment."""
MIN_LENGTH_LIMIT, LENGTH_SHARE = 250, 0.7
"""Characters that a summary may always have, and the share of the endorsed sentences that it may have in addition."""
_REPORT_LEAD_IN = re.compile(r'(?P<name>[^"\n]{1,40}?)(?: (?:said|asked|wrote), "|：「)')


@dataclass(frozen=True)
class SessionDigest:
    """Result that the session list and the prompt show of a finished session."""

    title: str = ""
    summary: str = ""
    keywords: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    relevance: int = 1
    is_roleplay: bool = False


def build_digest(lines: Sequence[Utterance], *, max_length: int = MAX_SUMMARY_LENGTH) -> SessionDigest:
    """Return title, summary, keywords, goals and relevance of a session; an empty digest for no lines."""
    material = _prepare_material(lines)
    topics = find_topics(material.endorsed, material.vocabulary)
    return SessionDigest(
        title=compose_title(
            lines, material.sentences, material.salience, topics, material.vocabulary, is_played=material.is_played
        ),
        summary=_summarize(material, max_length),
        keywords=select_keywords(topics),
        goals=plans.select_goals(material.endorsed, [signal.plan for signal in material.endorsed_signals]),
        relevance=_rate_relevance(material.endorsed, material.endorsed_signals, len(lines)),
        is_roleplay=material.is_played,
    )


def build_summary(lines: Sequence[Utterance], max_length: int = MAX_SUMMARY_LENGTH) -> str:
    """Return the most salient lines in their order, one report per line, at most `max_length` characters, fewer for a short
    session.

    They are taken from the user's utterances and from those of the persona that the user took up
    (brain/summary/endorsed_lines).
    """
    return _summarize(_prepare_material(lines), max_length)


@dataclass(frozen=True)
class KeyMoment:
    """Report of something that mattered, with the messages that tell it."""

    text: str
    salience: float
    sources: tuple[UUID, ...]
    """Ids of the messages, in their order."""
    time: datetime
    """Time of the first of them."""


def find_key_moments(lines: Sequence[Utterance]) -> list[KeyMoment]:
    """Return what mattered in these lines, the most salient first: events of a life, and what else was told at length.

    Each message has one at most, reported as in a summary, in the language in which it was said.
    """
    material = _prepare_material(lines)
    events = {
        sentence.line for sentence, signal in zip(material.sentences, material.signals, strict=True) if signal.has_life_event
    }
    told: dict[int, list[Report]] = {}
    for report in _reports(material, MAX_MOMENT_LENGTH):
        if report.salience >= (MIN_MOMENT_SALIENCE if events.isdisjoint(report.lines) else MIN_EVENT_SALIENCE):
            told.setdefault(report.lines[-1], []).append(report)
    moments: list[KeyMoment] = []
    for reports in told.values():
        report = max(reports, key=lambda report: report.cost)  # a name alone is less than what happened
        value = max(report.salience for report in reports)
        ids = tuple(lines[line].id for line in report.lines)
        moments.append(KeyMoment(report.quote.full_text, value, ids, lines[report.lines[0]].time))
    return sorted(moments, key=lambda moment: -moment.salience)


@dataclass(frozen=True)
class _DigestMaterial:
    """Session prepared for its title and summary."""

    sentences: list[Sentence]
    signals: list[SentenceSignals]
    salience: list[float]
    facts: list[tuple[SpeakerStatement, tuple[int, ...]]]
    """Facts about the user, with the indexes of the messages that state them."""
    vocabulary: ConversationVocabulary
    is_played: bool
    """True if most of the user's words are in character."""

    @property
    def endorsed(self) -> list[Sentence]:
        """The user's own sentences and those the user took up."""
        return [sentence for sentence in self.sentences if sentence.weight >= ENDORSED_WEIGHT]

    @property
    def endorsed_signals(self) -> list[SentenceSignals]:
        """Signals of the sentences in `endorsed`."""
        return [
            signal for sentence, signal in zip(self.sentences, self.signals, strict=True) if sentence.weight >= ENDORSED_WEIGHT
        ]


def _prepare_material(lines: Sequence[Utterance], known: Sequence[Sentence] = ()) -> _DigestMaterial:
    """Analyse the lines. `known` are sentences of an earlier summary, whose words count for the vocabulary as well."""
    pieces = read_pieces(lines)
    endorsed = select_endorsed_sentences(lines, pieces)
    vocabulary = ConversationVocabulary.build([*known, *endorsed], speaker_names(lines))
    signals = [find_signals(sentence, vocabulary.speakers) for sentence in endorsed]
    signs = [sum_signs(sentence, signal, vocabulary) for sentence, signal in zip(endorsed, signals, strict=True)]
    values = [
        sign * sentence.weight * (lasting_factor(sentence) if vocabulary.is_english else 1.0)
        for sentence, sign in zip(endorsed, signs, strict=True)
    ]
    for index, value in enumerate(values):
        if value and signs[index - 1] and find_answered_question(endorsed, index):
            values[index] = max(value, ANSWER_VALUE + 2 * signs[index - 1])
    is_played = endorsed_lines.is_roleplay(lines, pieces)
    return _DigestMaterial(endorsed, signals, values, _find_facts(lines), vocabulary, is_played)


def _find_facts(lines: Sequence[Utterance]) -> list[tuple[SpeakerStatement, tuple[int, ...]]]:
    """Return the facts about the user that hold at the end of the lines, with the indexes of the messages that state them."""
    index_by_id = {line.id: index for index, line in enumerate(lines)}
    users = {display_name(line) for line in lines if line.role is Role.USER}
    facts = [fact for fact in extract_statements(lines) if fact.subject in users and not fact.in_story]
    ended = {text for fact in facts for text in fact.ended_statements}
    latest = {(fact.subject, fact.key): fact.text for fact in facts if fact.key and not _is_one_of_several(fact)}
    return [
        (fact, tuple(sorted(index_by_id[message] for message in fact.message_ids)))
        for fact in facts
        if fact.text not in ended and latest.get((fact.subject, fact.key), fact.text) == fact.text
    ]


def _is_one_of_several(fact: SpeakerStatement) -> bool:
    """Return whether a fact tells the name of a pet that has not been renamed, so that another may have another name."""
    is_name = " called " in fact.text and fact.key.endswith(" name")
    return is_name and not compile_table("fact_changes", "renamed").search(fact.text)


def _reports(material: _DigestMaterial, max_length: int) -> list[Report]:
    return build_reports(material.sentences, material.salience, material.facts, material.vocabulary, max_length)


def _summarize(material: _DigestMaterial, max_length: int) -> str:
    if max_length <= 0:
        return ""
    text_length = sum(len(sentence.text) for sentence in material.endorsed)
    reports = _reports(material, max_length)
    chosen = choose_reports(
        reports, material.vocabulary.weights, min(max_length, MIN_LENGTH_LIMIT + int(LENGTH_SHARE * text_length))
    )
    if not chosen and reports:
        return shorten(max(reports, key=lambda report: report.salience).quote.full_text, max_length)
    return format_quotes(report.quote for report in chosen)


def extend_rolling_summary(lines: Sequence[Utterance], previous: str, max_length: int) -> str:
    """Return the rolling summary `previous` extended by the `lines` that just left the context window, in at most `max_length`
    characters.

    While there is room, the new reports follow the old ones. When there is none, all of them compete again by the same rule
    as the sentences of a session, older ones with less weight, so that only the most salient old reports stay.
    """
    previous = previous.strip()
    known = [line for piece in previous.split("\n") for line in _split_report_lines(piece, max_length)]
    material = _prepare_material(lines, [*map(_as_sentence, known)])
    new_reports = _summarize(material, max(max_length // 2, 1) if known else max_length).split("\n")
    new = [line for line in new_reports if line and line not in known]
    joined = "\n".join([previous, *new] if previous else new)
    if len(joined) <= max_length:
        return joined
    all_lines = list(dict.fromkeys([*known, *new]))
    reports = [_as_report(line, index, len(all_lines), material.vocabulary) for index, line in enumerate(all_lines)]
    chosen = choose_reports(reports, material.vocabulary.weights, max_length)
    return "\n".join(report.quote.full_text for report in chosen) or shorten(all_lines[-1], max_length)


def _rate_relevance(sentences: Sequence[Sentence], signals: Sequence[SentenceSignals], messages: int) -> int:
    """Return the relevance 1 to 5: 1 + 5 x length x (1 + density + gravity) / 3, rounded, each of the three from 0 to 1.

    Length is log2(1 + informative sentences) / 6, full at 63 of them. Density is the share of informative sentences, full
    at a half, and gravity that of life events, of feelings and of plans, full at three in ten; both are counted by the message
    where there are more messages than sentences. `SentenceSignals.is_informative` decides which sentences are.
    """
    statement_signals = [signal for sentence, signal in zip(sentences, signals, strict=True) if not sentence.asks]
    informative_count = sum(signal.is_informative for signal in statement_signals)
    if not informative_count:
        return 1
    grave_sum = sum(
        signal.has_life_event + 0.5 * (signal.is_informative and signal.has_feeling) + 0.25 * (signal.plan is not None)
        for signal in statement_signals
    )
    length, count = min(1.0, math.log2(1 + informative_count) / 6), max(len(sentences), messages)
    density, gravity = min(1.0, 2 * informative_count / count), min(1.0, grave_sum / count / 0.3)
    return min(5, 1 + round(5 * length * (1 + density + gravity) / 3))


def _split_report_lines(piece: str, max_length: int) -> list[str]:
    """Split a line of an earlier summary: one of this module's reports stays whole, any other text is split into sentences."""
    found = [piece] if _REPORT_LEAD_IN.match(piece) else SENTENCE_END.split(piece)
    return [shorten(text, max_length) for line in found if (text := " ".join(line.split()))]


def _as_sentence(line: str) -> Sentence:
    return Sentence(-1, "", Role.USER, line, normalized_words(line), narrates=False)


def _as_report(line: str, index: int, count: int, vocabulary: ConversationVocabulary) -> Report:
    """Return a report of an earlier summary as a candidate for the next one."""
    lead_in = _REPORT_LEAD_IN.match(line)
    sentence = _as_sentence(line[lead_in.end() :] if lead_in else line)
    value = max(sum_signs(sentence, find_signals(sentence, vocabulary.speakers), vocabulary), 0.1)
    weight = (OLDEST_REPORT_WEIGHT + (1 - OLDEST_REPORT_WEIGHT) * index / count) * value
    return Report(
        Quote(index, "", line), index / count, frozenset(vocabulary.informative_words(sentence.words)), weight, lines=(index,)
    )
