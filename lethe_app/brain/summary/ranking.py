"""Lines of a summary: what a session states as reports, and the choice of the few that together cover most of it."""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lethe_app.brain.reading.statements import SpeakerStatement
from lethe_app.brain.summary.salience import ConversationVocabulary, is_courtesy
from lethe_app.brain.summary.summary_tables import beginning, words
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.reported_speech import MAX_QUOTE_LENGTH, Quote, quote_exchange, quote_sentence, remove_opener, shorten
from lethe_app.brain.text.sentences import Sentence, normalized_words
from lethe_app.brain.text.spelling import correct_spelling
from lethe_app.domain.chat import Role

FACT_WEIGHT = 2.0
"""Weight of a fact in a summary against the sentences that state it."""
MIN_FACT_SALIENCE = 0.5
"""Minimum salience of the sentences that state a fact."""
STATED_SHARE, MIN_FACT_WORDS = 0.5, 4
"""Share of the content words of a sentence (or of the fact, if it has fewer) that both must have in common for the fact to
state the sentence, and the content words from which a fact is not short.
"""
ENOUGH_REPORTS = 4
"""Number of reports of the user's words beside which nothing of the persona's is reported."""
MIN_SALIENCE_SHARE = 0.3
"""Share of the highest salience (counted up to 2) below which a sentence is left out as filler."""
MAX_CANDIDATES = 1000
"""Maximum number of sentences of a very long session, the most salient ones, that are compared with each other."""
MAX_SHORT_ANSWER_WORDS = 6
"""Number of words up to which an answer is reported only with its question."""
COVERED_WORD_WEIGHT = 0.1
"""Remaining weight of a word that a chosen report contains already."""
RESERVED_SHARE = 0.06
"""Share of a summary that facts leave to other reports, if there are any."""
SECTION_FACTOR, MESSAGE_FACTOR = 0.7, 0.7
"""Factors per chosen report for the others of its section of the session, and of its message."""
SECTION_LENGTH, MAX_SECTIONS = 130, 12
"""Characters of summary per section into which the session is divided, and the maximum number of sections."""
BASE_VALUE = 2.0
"""Base value of a report, in word weights, because a death may be told in a word that occurs only once."""
LENGTH_EXPONENT, MIN_CHARGED_LENGTH = 0.7, 60
"""Exponent of a report's length in its price, and the minimum length, so that few words are no advantage."""
MIN_WORDS_WITHOUT_QUESTION = 3
"""Content words from which an answer is understood without its question."""
_ANSWERED = re.compile(r"Asked “[^“”]*”, [^“”]+? said: “(?P<answer>[^“”]+)”(?P<dates> \([^()]*\))?")
_LAST_MARK = re.compile("[,;:]”(?= \\(|$)")
_QUOTATION_MARKS = str.maketrans('“”"', '""\'')


@dataclass(frozen=True, slots=True)
class Report:
    """Line that a summary may have."""

    quote: Quote
    position: float
    """Relative position in the session, from 0 to below 1."""
    words: frozenset[str]
    """Its words that may be a topic."""
    salience: float
    is_fact: bool = False
    lines: tuple[int, ...] = ()
    """Indexes of the messages it reports."""

    @property
    def cost(self) -> int:
        """Its characters, including the line break."""
        return len(self.quote.full_text) + 1


def build_reports(
    sentences: Sequence[Sentence],
    salience: Sequence[float],
    facts: Sequence[tuple[SpeakerStatement, tuple[int, ...]]],
    vocabulary: ConversationVocabulary,
    max_length: int,
) -> list[Report]:
    """Return the facts of a session, given with the indexes of their messages, and what other sentences state, as reports of at
    most `max_length` characters in the order of their messages.

    A short answer is reported with its question, and a user's question about nothing else only if nothing was stated.
    """
    count = sentences[-1].line + 1 if sentences else 1
    reports: list[Report] = []
    stated: dict[int, list[frozenset[str]]] = {}
    by_line: dict[int, list[int]] = {}
    for index, sentence in enumerate(sentences):
        by_line.setdefault(sentence.line, []).append(index)
    for fact, lines in facts:
        fact_words = content_words(fact.text) - content_words(fact.subject)
        for line in lines:
            stated.setdefault(line, []).append(fact_words)
        value = max([MIN_FACT_SALIENCE, *(salience[index] for index in by_line.get(lines[-1], ()))])
        informative = frozenset(vocabulary.informative_words(normalized_words(fact.text)))
        reports.append(
            Report(_quote_fact(fact, lines[-1]), lines[-1] / count, informative, FACT_WEIGHT * value, is_fact=True, lines=lines)
        )
    weights = {
        index: weight
        for index, (sentence, weight) in enumerate(zip(sentences, salience, strict=True))
        if weight > 0 and not _is_stated(sentence, stated.get(sentence.line, ()))
    }
    return sorted(
        [*reports, *_report_sentences(sentences, _leave_out_filler(sentences, weights, len(reports)), vocabulary, max_length)],
        key=lambda report: report.lines,
    )


def choose_reports(reports: Sequence[Report], weights: Mapping[str, float], max_length: int) -> list[Report]:
    """Return reports of at most `max_length` characters together, in their order.

    Greedy, by salience x weight of the words not yet covered / length ** `LENGTH_EXPONENT`, reduced for sections and messages
    already covered. The gain only falls as others are chosen, so that a stale value in the heap is an upper bound (Minoux 1978,
    accelerated greedy).
    """
    sections = max(1, min(MAX_SECTIONS, max_length // SECTION_LENGTH))
    covered: set[str] = set()
    counts: Counter[tuple[str, int]] = Counter()

    def compute_gain(report: Report) -> float:
        # Sorted, because set order varies between runs and the rounding of the sum could decide a tie.
        new = sum(weights.get(word, 1.0) * (COVERED_WORD_WEIGHT if word in covered else 1.0) for word in sorted(report.words))
        penalty = SECTION_FACTOR ** counts["section", int(report.position * sections)]
        penalty *= MESSAGE_FACTOR ** counts["message", report.quote.line]
        return float(report.salience * (BASE_VALUE + new) * penalty / max(report.cost, MIN_CHARGED_LENGTH) ** LENGTH_EXPONENT)

    heap = [(-compute_gain(report), index) for index, report in enumerate(reports)]
    heapq.heapify(heap)
    chosen: list[int] = []
    remaining = max_length + 1  # the last line has no line break
    reserved = 0 if all(report.is_fact for report in reports) else int(RESERVED_SHARE * max_length)
    while heap and remaining > 0:
        _stale, index = heapq.heappop(heap)
        report = reports[index]
        if report.cost > remaining - reserved * report.is_fact:
            continue
        gain = compute_gain(report)
        if heap and -heap[0][0] > gain + 1e-12:
            heapq.heappush(heap, (-gain, index))
            continue
        chosen.append(index)
        remaining -= report.cost
        covered |= report.words
        counts["section", int(report.position * sections)] += 1
        counts["message", report.quote.line] += 1
    return [reports[index] for index in sorted(chosen)]


def find_answered_question(sentences: Sequence[Sentence], index: int) -> Sentence | None:
    """Return the question that a short answer answers: the last sentence of the other speaker's message before it; None if
    there is none.
    """
    answer, question = sentences[index], sentences[index - 1] if index else None
    if question is None or not question.asks or question.narrates or question.line == answer.line:
        return None
    is_long = len(answer.words) > 2 * MAX_SHORT_ANSWER_WORDS or len(answer.text.split()) > MAX_SHORT_ANSWER_WORDS
    is_answer = not (is_long or answer.asks or answer.narrates or is_courtesy(answer))
    return question if is_answer and question.name != answer.name and question.in_story == answer.in_story else None


def _quote_fact(fact: SpeakerStatement, line: int) -> Quote:
    """Return a fact as a line of a summary, in plain quotation marks, and without a question where the answer says enough."""
    text = fact.text
    if (found := _ANSWERED.fullmatch(text)) and len(content_words(found["answer"])) >= MIN_WORDS_WITHOUT_QUESTION:
        text = f"{fact.subject} said: “{found['answer']}”{found['dates'] or ''}"
    text = _LAST_MARK.sub("”", text.replace(" said: “", " said, “")).translate(_QUOTATION_MARKS)
    cut = shorten(text, MAX_QUOTE_LENGTH)
    return Quote(line, "", f'{cut}"' if cut.count('"') % 2 else cut)


def _is_stated(sentence: Sentence, fact_words: Sequence[frozenset[str]]) -> bool:
    """Return whether a fact of the same message states the sentence; a short one only if it has all of its words."""
    tokens = content_words(correct_spelling(remove_opener(sentence.text)))
    return any(
        len(tokens & stated) >= STATED_SHARE * min(len(tokens), len(stated))
        if len(stated) >= MIN_FACT_WORDS
        else tokens <= stated
        for stated in fact_words
    )


def _leave_out_filler(sentences: Sequence[Sentence], weights: Mapping[int, float], facts: int) -> dict[int, float]:
    """Return the weights, by index, of the sentences worth reporting beside a number of facts."""
    asked = {index for index in weights if sentences[index].asks and sentences[index].role is Role.USER}
    kept = {index: weight for index, weight in weights.items() if index not in asked}
    if not kept and not facts:  # what somebody asks about themselves tells nothing
        kept = {index: weights[index] for index in asked if words("first_person").isdisjoint(sentences[index].words)}
    own = {index: weight for index, weight in kept.items() if sentences[index].role is Role.USER}
    if len(own) + facts >= ENOUGH_REPORTS:
        kept = own
    best = heapq.nlargest(MAX_CANDIDATES, kept, key=lambda index: (kept[index], -index))
    minimum = MIN_SALIENCE_SHARE * min(2.0, max(weights.values(), default=0.0))
    return {index: kept[index] for index in best if kept[index] >= minimum}


def _report_sentences(
    sentences: Sequence[Sentence], weights: Mapping[int, float], vocabulary: ConversationVocabulary, max_length: int
) -> list[Report]:
    """Return the sentences of these indexes as quotations with their weights."""
    count = sentences[-1].line + 1 if sentences else 1
    reports: list[Report] = []
    for index, weight in weights.items():
        sentence, question = sentences[index], find_answered_question(sentences, index)
        if question is None and vocabulary.is_english and beginning("pronoun").match(sentence.text):
            continue  # nobody would know what it means
        quote = quote_sentence(sentence, min(max_length, MAX_QUOTE_LENGTH))
        if question is not None:
            quote = quote_exchange(question, sentence)
        lines = (sentence.line,) if question is None else (question.line, sentence.line)
        tokens = (*sentence.words, *(question.words if question else ()))
        informative = frozenset(vocabulary.informative_words(tokens))
        reports.append(Report(quote, sentence.line / count, informative, weight, lines=lines))
    return reports
