"""Digest of a session without a model: title, extractive summary, keywords, goals and relevance."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from lethe_app.brain.reading.dialogue_acts import read_pieces
from lethe_app.brain.reading.third_person import possessive
from lethe_app.brain.summary import endorsed_lines, plans
from lethe_app.brain.summary.candidates import SummaryCandidate, build_candidates
from lethe_app.brain.summary.endorsed_lines import ENDORSED_WEIGHT, select_endorsed_sentences, speaker_names
from lethe_app.brain.summary.keywords import SummaryTopic, find_topics, select_keywords
from lethe_app.brain.summary.reported_facts import build_reported_facts
from lethe_app.brain.summary.salience import ConversationVocabulary, SentenceSignals, find_signals, salience
from lethe_app.brain.summary.selection import choose_reports
from lethe_app.brain.summary.sentence_weights import SummaryMaterial, find_outdated_plans, is_uninformative, lasting_weight
from lethe_app.brain.summary.title_events import TitleEvent, find_event
from lethe_app.brain.summary.titles import compose_title
from lethe_app.brain.text.markup import remove_markup
from lethe_app.brain.text.narration import split_narration
from lethe_app.brain.text.reported_speech import Quote, format_quotes, shorten, strip_enclosing_quotes
from lethe_app.brain.text.sentences import Sentence, normalized_words
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role
from lethe_app.domain.facts import FactKind
from lethe_app.domain.list_items import end_at_word
from lethe_app.retrieval.passage_builder import SENTENCE_END

MAX_SUMMARY_LENGTH = 1200
"""Maximum characters of a summary, about 300 tokens."""
MAX_SEARCHED = 50
"""Messages in which a sentence with a topic is searched for."""
MAX_OPENING_WORDS = 6
"""Maximum number of words of a title taken from the beginning of the session."""
MAX_OPENING_LENGTH = 48
"""Maximum characters of a title taken from the beginning of the session."""
MIN_OPENING_WORDS = 3
"""Number of words from which a sentence or clause at the beginning of the session is a title by itself."""
SENTENCE_MARKS, CLAUSE_MARKS = ".!?…。！？", ",;:–—"
"""Marks after the last word of a sentence, and of a clause."""
OLDEST_REPORT_WEIGHT = 0.7
"""Weight of the oldest report of a rolling summary against 1 of the newest."""
MOMENTARY_WEIGHT = 0.6
"""Weight for the title of a sentence that is not worth remembering, against 1 of one that is."""
MIN_MOMENT_SALIENCE, MIN_EVENT_SALIENCE = 1.8, 1.2
"""Minimum salience of a key moment, and of one that reports an event of a life."""
MAX_MOMENT_LENGTH = 400
"""Maximum characters of a key moment."""
MIN_LENGTH_LIMIT = 250
"""Characters that a summary may always have, in addition to its share of the text."""
LENGTH_SHARE = 0.5
"""Share of the characters of the endorsed sentences that a summary may have in addition to `MIN_LENGTH_LIMIT`."""
FACTS_LENGTH_SHARE = 0.7
"""The same share for the facts of a summary."""
MIN_FACTS_FOR_SUBJECTS = 6
"""Number of facts from which a title may name their general subjects."""
_SUBJECT_BY_KIND = {
    FactKind.PEOPLE: "family",
    FactKind.WORK: "work",
    FactKind.HOME: "home",
    FactKind.HEALTH: "health",
    FactKind.TASTE: "tastes",
    FactKind.PLAN: "plans",
    FactKind.IDENTITY: "life",
}
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
    session_topics = find_topics(material.endorsed, material.vocabulary)
    return SessionDigest(
        title=_compose_title(lines, material, session_topics),
        summary=_summarize(material, max_length),
        keywords=select_keywords(session_topics),
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

    Each is retold as in a summary, in the language in which it was said.
    """
    material = _prepare_material(lines)
    facts, others = build_candidates(material, MAX_MOMENT_LENGTH)
    moments: dict[str, KeyMoment] = {}
    for report in sorted([*facts, *others], key=lambda report: -report.salience):
        sources = sorted({material.sentences[index].line for index in report.sources} | {report.quote.line})
        signals = [material.signals[index] for index in report.sources]
        has_event = any(signal.has_life_event for signal in signals)
        if report.is_unclear or report.salience < (MIN_EVENT_SALIENCE if has_event else MIN_MOMENT_SALIENCE):
            continue
        ids, text = tuple(lines[line].id for line in sources), report.quote.full_text
        if not any(set(ids) <= set(moment.sources) for moment in moments.values()):  # told already, in other words
            moments.setdefault(text, KeyMoment(text, report.salience, ids, lines[sources[0]].time))
    return list(moments.values())


def build_title(lines: Sequence[Utterance]) -> str:
    """Return a title of two to seven words; if no topic stands out, the beginning of the user's first message."""
    material = _prepare_material(lines)
    return _compose_title(lines, material, find_topics(material.endorsed, material.vocabulary))


@dataclass(frozen=True)
class _DigestMaterial(SummaryMaterial):
    """Session material, restricted to what counts as stated."""

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
    is_played = endorsed_lines.is_roleplay(lines, pieces)
    # Facts and events are found by English rules only.
    if not vocabulary.is_english:
        return _DigestMaterial(endorsed, signals, [None] * len(endorsed), [], vocabulary, is_played)
    left_out = find_outdated_plans(endorsed, signals, vocabulary)
    events = [None if index in left_out else _event_of(sentence) for index, sentence in enumerate(endorsed)]
    return _DigestMaterial(endorsed, signals, events, build_reported_facts(lines, pieces), vocabulary, is_played)


def _event_of(sentence: Sentence) -> TitleEvent | None:
    """Return the event a sentence of the user reports; None if it reports none, is a joke or is in character."""
    is_plain = sentence.role is Role.USER and not (sentence.in_story or sentence.asks or sentence.narrates)
    return find_event(sentence.text) if is_plain and not is_uninformative(sentence.text) else None


def is_roleplay(lines: Sequence[Utterance]) -> bool:
    """Return whether most of the user's words are in character. The persona's lines are not considered."""
    return endorsed_lines.is_roleplay(lines, read_pieces(lines))


def _summarize(material: _DigestMaterial, max_length: int) -> str:
    if max_length <= 0:
        return ""
    text_length = sum(len(sentence.text) for sentence in material.endorsed)
    length_limit, facts_length_limit = (
        min(max_length, MIN_LENGTH_LIMIT + int(share * text_length)) for share in (LENGTH_SHARE, FACTS_LENGTH_SHARE)
    )
    facts, others = build_candidates(material, max_length)
    chosen = choose_reports(facts, others, dict(material.vocabulary.weights), length_limit, facts_length_limit)
    if not chosen and (facts or others):
        best = max([*facts, *others], key=lambda report: report.salience)
        return shorten(best.quote.full_text, max_length)
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
    all_candidates = [_as_candidate(line, index, len(all_lines), material.vocabulary) for index, line in enumerate(all_lines)]
    chosen = choose_reports([], all_candidates, dict(material.vocabulary.weights), max_length, max_length)
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


def _compose_title(lines: Sequence[Utterance], material: _DigestMaterial, session_topics: Sequence[SummaryTopic]) -> str:
    by_role = sorted(lines, key=lambda line: line.role is not Role.USER)
    opening = next(filter(None, map(_opening_words, by_role)), "")
    if not material.facts and all(sentence.asks or is_uninformative(sentence.text) for sentence in material.endorsed):
        return opening  # a title made of what was only asked would say that something was told
    min_weight = MOMENTARY_WEIGHT if material.vocabulary.is_english else 1.0
    weights = [
        0.0
        if sentence.in_story and not material.is_played
        else salience(sentence, signal, material.vocabulary) * sentence.weight * lasting_weight(sentence, min_weight)
        for sentence, signal in zip(material.endorsed, material.endorsed_signals, strict=True)
    ]
    events = [
        one for sentence, one in zip(material.sentences, material.events, strict=True) if sentence.weight >= ENDORSED_WEIGHT
    ]
    found = compose_title(
        session_topics,
        material.endorsed,
        weights,
        events,
        is_english=material.vocabulary.is_english,
        subjects=_main_subjects(material),
    )
    if found and " " not in found:
        return _find_sentence_with(found, lines) or found
    return found or opening


def _find_sentence_with(topic: str, lines: Sequence[Utterance]) -> str:
    """Return the user's first short statement that contains a topic of one word; empty if there is none.

    It says more than the topic alone: “Remind me to call my mum on Friday” instead of “Mum”.
    """
    user_lines = [line for line in lines if line.role is Role.USER][:MAX_SEARCHED]
    pattern = re.compile(rf"\b{re.escape(topic)}\b", re.IGNORECASE)
    for sentence in (sentence for line in user_lines for sentence in SENTENCE_END.split(_spoken_text(line))):
        if not pattern.search(sentence) or sentence.rstrip().endswith("?"):
            continue
        if len(sentence.split()) >= MIN_OPENING_WORDS and len(sentence) <= MAX_OPENING_LENGTH:
            return _format_opening(sentence.split())
    return ""


def _main_subjects(material: _DigestMaterial) -> str:
    """Return the subjects of most facts, such as “Frank's family and work”; empty if there are fewer than
    `MIN_FACTS_FOR_SUBJECTS`.
    """
    kinds = Counter(_SUBJECT_BY_KIND[fact.kind] for fact in material.facts if fact.kind in _SUBJECT_BY_KIND)
    if sum(kinds.values()) < MIN_FACTS_FOR_SUBJECTS:
        return ""
    return f"{possessive(material.facts[0].speaker)} {' and '.join(subject for subject, _count in kinds.most_common(2))}"


def _opening_words(line: Utterance) -> str:
    """Return the first words of a message, without actions: its first sentence or clause if that is short, else as many words
    as fit, with an ellipsis.
    """
    text = _spoken_text(line)
    words = text.split()
    first_sentence = SENTENCE_END.split(text.strip(), maxsplit=1)[0].split()
    if len(first_sentence) >= MIN_OPENING_WORDS and len(" ".join(first_sentence)) <= MAX_OPENING_LENGTH:
        return _format_opening(first_sentence)
    kept = words[:MAX_OPENING_WORDS]
    while len(kept) > 1 and len(" ".join(kept)) >= MAX_OPENING_LENGTH:
        kept.pop()
    if len(kept) < len(words):
        sentence_end = max((number for number, word in enumerate(kept, 1) if word[-1] in SENTENCE_MARKS), default=0)
        clause_end = max((number for number, word in enumerate(kept, 1) if word[-1] in CLAUSE_MARKS), default=0)
        if sentence_end >= MIN_OPENING_WORDS:
            kept = kept[:sentence_end]
        else:
            kept = end_at_word(" ".join(kept[:clause_end] if clause_end >= MIN_OPENING_WORDS else kept)).split()
    return _format_opening(kept)


def _spoken_text(line: Utterance) -> str:
    """Return a message without markup and actions; with the actions if it has nothing else."""
    text = remove_markup(line.text)
    return " ".join(part.text for part in split_narration(text) if not part.narrates) or text.replace("*", "")


def _format_opening(words: Sequence[str]) -> str:
    title = strip_enclosing_quotes(" ".join(words)).rstrip(" ,;:.!?。！？")
    return shorten(title[:1].upper() + title[1:], MAX_OPENING_LENGTH)


def _split_report_lines(piece: str, max_length: int) -> list[str]:
    """Split a line of an earlier summary: one of this module's reports stays whole, any other text is split into sentences."""
    found = [piece] if _REPORT_LEAD_IN.match(piece) else SENTENCE_END.split(piece)
    return [shorten(text, max_length) for line in found if (text := " ".join(line.split()))]


def _as_sentence(line: str) -> Sentence:
    return Sentence(-1, "", Role.USER, line, normalized_words(line), narrates=False)


def _as_candidate(line: str, index: int, count: int, vocabulary: ConversationVocabulary) -> SummaryCandidate:
    """Return a report of an earlier summary as a candidate for the next one."""
    lead_in = _REPORT_LEAD_IN.match(line)
    sentence = _as_sentence(line[lead_in.end() :] if lead_in else line)
    line_salience = salience(sentence, find_signals(sentence, vocabulary.speakers), vocabulary)
    weight = (OLDEST_REPORT_WEIGHT + (1 - OLDEST_REPORT_WEIGHT) * index / count) * max(line_salience, 0.1)
    speaker = lead_in["name"] if lead_in else ""
    return SummaryCandidate(
        Quote(index, "", line), speaker, index / count, frozenset(vocabulary.informative_words(sentence.words)), weight
    )
