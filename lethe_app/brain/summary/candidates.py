"""Candidates for a summary: the facts a session states, and the other sentences worth reporting."""

from __future__ import annotations

import heapq
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from lethe_app.brain.dialogue.pasted_text import has_lost_quotation
from lethe_app.brain.fact_rules.durability import is_figurative
from lethe_app.brain.fact_rules.endings import announces_change
from lethe_app.brain.fact_rules.judged_sentences import is_momentary
from lethe_app.brain.fact_rules.sentence_classifier import predict_probability
from lethe_app.brain.fact_rules.sentence_features import extract_features
from lethe_app.brain.fact_rules.third_person import rewrite_in_third_person
from lethe_app.brain.people.introductions import asks_to_remember, is_comparison
from lethe_app.brain.question_answers.completion import complete_answer
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
from lethe_app.brain.summary.salience import ConversationVocabulary, SentenceSignals, is_empty_answer, salience
from lethe_app.brain.summary.title_events import TitleEvent
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.reported_speech import MAX_QUOTE_LENGTH, Quote, quote_exchange, quote_sentence
from lethe_app.brain.text.sentences import Sentence, normalized_words
from lethe_app.domain.chat import Role
from lethe_app.retrieval.assertions import FIRST_PERSON

MOST_CANDIDATES = 1000
"""Maximum number of sentences of a very long session, the most salient ones, that are compared with each other."""
MIN_SALIENCE_SHARE = 0.3
"""Share of the highest salience (counted up to 2) below which a sentence is left out as filler."""
MOMENTARY_WEIGHT = 0.5
"""Weight in a summary of a sentence that is not worth remembering, against 1 of one that is."""
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
USER_WEIGHT_BESIDE_FACTS = 0.6
"""Weight of a user's sentence where facts cover the session already."""
GENERAL_WEIGHT = 0.3
"""Further weight of such a sentence that says nothing about the user's own life."""
PERSONA_WEIGHT_BESIDE_FACTS = 0.3
"""Weight of a persona's sentence where facts cover the session already."""
ENOUGH_FACTS = 4
"""Number of facts that cover most of a session by themselves. Beside so many facts no scene is reported, and beside so many
reports of the user's words nothing of the persona's.
"""
MOST_QUESTIONS = 2
"""Maximum number of the user's questions in the summary of a session in which the user did nothing but ask."""
MAX_SHORT_ANSWER_WORDS = 6
"""Number of words up to which an answer is reported only with its question."""
_EMPTY = re.compile(
    r"^\W*(?:(?:awesome|great|nice|good|amazing|wonderful|fantastic) (?:job|work|idea|going|to (?:hear|see)|that)|sounds|"
    r"congrat\w*|wish (?:me|us)|"
    r"I (?:knew|hope|bet) you|let me know|just let me|I can (?:help|give|show) you|you(?:'re| are|'ve|'ll)?|your|"
    r"I (?:\S+ )?agree|i kn?ow? right|myself [A-Z]|kindly)\b|"
    r"\b(?:this|that|these) (?:pic|photo|picture|moment|app|one|song)s?\b",
    re.IGNORECASE,
)
"""Assent, praise, or remarks about a picture that was shown."""
_CATCHES_UP = re.compile(
    r"\bsince we(?:'ve)? (?:last )?(?:talked|spoke|chatted|met)(?: last)?\W*$|\bI(?:'m| am) off to\b(?! [A-Z])(?!.*\b(?:on|in|"
    r"next|for) )|"
    r"\b(?:I(?:'ll| will) (?:have|need) to|I must|I have to|gotta) (?:go|run)\b(?! (?:to|for|on|through|back)\b)|"
    r"^\W*I remember (?:that|it)\W*$|"
    r"\b(?:good ?night|sleep on it|talk (?:to you )?(?:soon|later|tomorrow))\b",
    re.IGNORECASE,
)
"""Phrases that open or close a conversation."""
_OF_EVERYBODY = re.compile(
    r"\W*(?:and |so |but )?(?:we (?:all|can)\b|it's (?:so |really |such )?(?:important|great|amazing|nice|good|a blessing)|"
    r"(?:life|family|love|kindness|music|nature)(?:'s| is| can| has)\b|(?:making|seeing|sharing|staying|investing|working|"
    r"having|"
    r"taking|being|spending) |(?:tough|good|hard) (?:times|food)|(?:stay|keep|find|remember|believe|let's)\b)",
    re.IGNORECASE,
)
"""Beginnings of general wisdom."""
_PERSON = re.compile(r"\b(?:he|she|he's|she's|him|her|his)\b", re.IGNORECASE)
_INTENDS = re.compile(r"\b(?:going to|gonna|moving|flying|want to|wanna|planning)\b", re.IGNORECASE)


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


@dataclass(frozen=True)
class SummaryMaterial:
    """Session prepared for its title and summary."""

    sentences: list[Sentence]
    signs: list[SentenceSignals]
    news: list[TitleEvent | None]
    """The event that each sentence reports, or None."""
    facts: list[ReportedFact]
    """Facts about the user that still hold at the end of the session."""
    vocabulary: ConversationVocabulary


def build_candidates(material: SummaryMaterial, max_length: int) -> tuple[list[SummaryCandidate], list[SummaryCandidate]]:
    """Return the facts of a session as reports, and the other sentences worth reporting.

    A question is reported only with its answer, and a pronoun only with the sentence that holds its noun.
    """
    reporter = _Reporter(material.sentences, material.signs, material.vocabulary, min(max_length, MAX_QUOTE_LENGTH))
    stating_sentences = _find_stating_sentences(material)
    stated = {place for places in stating_sentences for place in places}
    facts = _report_facts(material, reporter, stating_sentences)
    reported = {place for report in facts for place in report.sources}
    return facts, reporter.build_reports(_weigh_sentences(material, stated | reported), reported)


def _find_stating_sentences(material: SummaryMaterial) -> list[list[int]]:
    """Return for each fact the indexes of the sentences that state it."""
    indexes_by_line: dict[int, list[int]] = {}
    sentence_words: list[frozenset[str]] = []
    for place, sentence in enumerate(material.sentences):
        sentence_words.append(content_words(sentence.text) if material.facts else frozenset())
        if sentence.role is Role.USER and not sentence.in_story:
            indexes_by_line.setdefault(sentence.line, []).append(place)
    return [
        [
            place
            for line in sorted(fact.lines)
            for place in indexes_by_line.get(line, ())
            if sentence_words[place]
            and len(sentence_words[place] & fact.words) >= MIN_SHARED_WORDS * min(len(sentence_words[place]), len(fact.words))
        ]
        for fact in material.facts
    ]


def _report_facts(
    material: SummaryMaterial, reporter: _Reporter, stating_sentences: Sequence[Sequence[int]]
) -> list[SummaryCandidate]:
    """Return the facts as reports, each in the words of a sentence that states it if that can be put into the third person."""
    values = [
        FACT_WEIGHT * fact.weight * max([MIN_STATING_SALIENCE, *(_sentence_weight(material, place) for place in places)])
        for fact, places in zip(material.facts, stating_sentences, strict=True)
    ]
    weights: dict[int, float] = {}
    for value, places in zip(values, stating_sentences, strict=True):
        weights |= {place: max(value, weights.get(place, 0.0)) for place in places}
    retold = {report.sources[-1]: report for report in reporter.build_reports(dict(sorted(weights.items())))}
    count = max((sentence.line for sentence in material.sentences), default=0) + 1
    found: dict[str, SummaryCandidate] = {}
    joined_sentences: set[int] = set()
    for fact, places, value in zip(material.facts, stating_sentences, values, strict=True):
        report = next((retold[place] for place in places if place in retold and _states_fact(retold[place], fact)), None)
        earlier = set(report.sources[:-1]) if report else set()
        # An earlier sentence is joined with one fact only; a further fact is reported in its own wording.
        if report is None or (earlier & joined_sentences and report.quote.text not in found):
            line, informative = max(fact.lines), frozenset(material.vocabulary.informative_words(normalized_words(fact.text)))
            report = SummaryCandidate(Quote(line, "", fact.text), fact.speaker, line / count, informative, value, tuple(places))
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
        for place in report.sources:
            longest_by_sentence[place] = max(longest_by_sentence.get(place, 0), len(report.sources))
    return [
        one
        for line in by_line.values()
        for said, one in line
        if not (one.sources and all(longest_by_sentence[place] > len(one.sources) for place in one.sources))
        and not any(len(said) < len(other) and len(said & other) >= REDUNDANT_SHARE * len(said) for other, _report in line)
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
    pronoun = _PERSON.search(quoted)
    return pronoun is not None and not NAMES.search(quoted[: pronoun.start()])


def _sentence_weight(material: SummaryMaterial, index: int) -> float:
    sentence, event = material.sentences[index], material.news[index]
    value = salience(sentence, material.signs[index], material.vocabulary) * lasting_weight(sentence, MOMENTARY_WEIGHT)
    return value + (event.weight if event else 0.0)


def _weigh_sentences(material: SummaryMaterial, stated: set[int]) -> dict[int, float]:
    """Return the weights of the sentences worth reporting, by index, without those `stated` as facts."""
    sentences, signs, vocabulary = material.sentences, material.signs, material.vocabulary
    weights: dict[int, float] = {}
    questions: dict[int, float] = {}
    left_out = find_outdated_plans(sentences, signs, vocabulary)
    story_sentences = [index for index, sentence in enumerate(sentences) if sentence.in_story and sentence.role is Role.USER]
    lone_story_sentence = story_sentences[0] if len(story_sentences) == 1 else None  # a figure of speech
    for index, sentence in enumerate(sentences):
        if (
            index in stated
            or index in left_out
            or index == lone_story_sentence
            or not sentence.standing
            or is_uninformative(sentence.text)
        ):
            continue
        if sentence.in_story and len(material.facts) >= ENOUGH_FACTS:
            continue
        weight = salience(sentence, signs[index], vocabulary) * (
            lasting_weight(sentence, MOMENTARY_WEIGHT) if vocabulary.is_english else 1.0
        )
        question = _question_answered_by(sentences, index)
        if (
            question is not None
            and vocabulary.informative_words(question.words)
            and vocabulary.informative_words(sentence.words)
        ):
            weight = max(weight, 0.5 + 2 * salience(question, signs[index - 1], vocabulary))
        if weight > 0:
            is_user_question = sentence.role is Role.USER and (sentence.asks or asks_to_remember(sentence.text))
            own_factor = USER_WEIGHT_BESIDE_FACTS * _personal_weight(sentence.text, signs[index])
            factor = 1.0 if not stated else own_factor if sentence.role is Role.USER else PERSONA_WEIGHT_BESIDE_FACTS
            if not (
                is_user_question and FIRST_PERSON.search(sentence.text)
            ):  # what somebody asks about themselves tells nothing
                (questions if is_user_question else weights)[index] = weight * sentence.standing * factor
    user_indexes = [index for index in weights if sentences[index].role is Role.USER]
    if len(user_indexes) + len(material.facts) >= ENOUGH_FACTS:
        weights = {index: weights[index] for index in user_indexes}
    if not weights and not stated:  # nothing but questions was said
        weights = {index: questions[index] for index in heapq.nlargest(MOST_QUESTIONS, questions, key=questions.__getitem__)}
    best_indexes = heapq.nlargest(MOST_CANDIDATES, weights, key=lambda index: (weights[index], -index))
    min_weight = MIN_SALIENCE_SHARE * min(2.0, weights[best_indexes[0]]) if best_indexes else 0.0
    return {index: weights[index] for index in sorted(best_indexes) if weights[index] >= min_weight}


def _personal_weight(text: str, sign: SentenceSignals) -> float:
    """Return 1 for a sentence about the speaker's own life, and `GENERAL_WEIGHT` for one that is true of everybody."""
    is_particular = sign.own or sign.kin or sign.named or sign.when
    return 1.0 if is_particular and not _OF_EVERYBODY.match(text) else GENERAL_WEIGHT


def find_outdated_plans(
    sentences: Sequence[Sentence], signs: Sequence[SentenceSignals], vocabulary: ConversationVocabulary
) -> set[int]:
    """Return the indexes of plans that a later message of the same speaker changes."""
    lines = {sentence.line for sentence in sentences if sentence.role is Role.USER and announces_change(sentence.text)}
    last_mentioned: dict[tuple[str, str], int] = {}
    for sentence in sentences:
        if sentence.line in lines:
            last_mentioned |= {(sentence.name, word): sentence.line for word in vocabulary.informative_words(sentence.words)}
    return {
        index
        for index, sentence in enumerate(sentences)
        if (signs[index].plan is not None or _INTENDS.search(sentence.text))
        and any(
            last_mentioned.get((sentence.name, word), -1) > sentence.line
            for word in vocabulary.informative_words(sentence.words)
        )
    }


def is_uninformative(text: str) -> bool:
    """Return whether a sentence is a joke, holds for the moment only, or has lost the text it quotes."""
    if is_figurative(text) or is_comparison(text) or has_lost_quotation(text) or is_momentary(text):
        return True
    return bool(_EMPTY.search(text) or _CATCHES_UP.search(text))


def lasting_weight(sentence: Sentence, min_weight: float) -> float:
    """Return the weight of a sentence by its probability of being worth remembering, from `min_weight` to 1; sentences of a
    scene get 1.
    """
    if sentence.in_story or sentence.narrates:
        return 1.0
    return min_weight + (1 - min_weight) * predict_probability(extract_features(sentence.text))


class _Reporter:
    """Convert sentences into reports."""

    def __init__(
        self,
        sentences: Sequence[Sentence],
        signs: Sequence[SentenceSignals],
        vocabulary: ConversationVocabulary,
        max_length: int,
    ) -> None:
        self._sentences = sentences
        self._signs = signs
        self._vocabulary = vocabulary
        self._max_length = max_length

    def build_reports(self, weights: Mapping[int, float], reported: Collection[int] = ()) -> list[SummaryCandidate]:
        """Return the sentences of these indexes as reports with their weights, each joined with an earlier sentence that it
        refers to. A sentence that refers to one in `told`, which is reported already, is left out.
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
                asked = _question_answered_by(self._sentences, index)
                found.append(
                    self._build_candidate(index, alone, (index,) if asked is None else (index - 1, index), weights[index])
                )
        return found[::-1]

    def _build_candidate(
        self, index: int, report_quote: Quote, source_indexes: Sequence[int], weight: float
    ) -> SummaryCandidate:
        sentence, last = self._sentences[index], self._sentences[-1]
        source_words = (word for place in source_indexes for word in self._sentences[place].words)
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
        for place in range(index - 1, -1, -1):
            earlier = self._sentences[place]
            if earlier.line < sentence.line - (4 if is_personal else 0):
                break
            if is_personal and earlier.name != sentence.name and earlier.line < sentence.line and self._has_person(place):
                return None  # the other one brought up whom the pronoun means
            fits = earlier.name == sentence.name and earlier.in_story == sentence.in_story
            if fits and not (earlier.narrates or earlier.asks):
                nearest = place if nearest is None else nearest
                if not is_personal or self._has_person(place):
                    return place
        return nearest

    def _has_person(self, index: int) -> bool:
        return self._signs[index].kin or self._signs[index].named

    def _join_with_earlier(self, index: int, earlier: int) -> Quote | None:
        sentence = self._sentences[index]
        statement = retell_joined(sentence, self._sentences[earlier], self._vocabulary.listener_of(sentence.name))
        return Quote(sentence.line, "", statement) if statement else None

    def _report_alone(self, index: int) -> Quote | None:
        """Return the sentence as a statement if possible, else as a quotation; None for fragments and sentences that depend
        on others.
        """
        sentence, question = self._sentences[index], _question_answered_by(self._sentences, index)
        listener = self._vocabulary.listener_of(sentence.name)
        if not self._vocabulary.is_english:
            return quote_exchange(question, sentence) if question is not None else quote_sentence(sentence, self._max_length)
        if question is not None:
            completed = complete_answer(question.text, sentence.text)
            statement = rewrite_in_third_person(completed[0], sentence.name, "") if completed is not None else None
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
        is_independent = not starts_with_pronoun(sentence.text) or self._signs[index].is_informative or self._signs[index].kin
        return quote_sentence(sentence, self._max_length) if is_independent and is_statement(sentence.text) else None


def _question_answered_by(sentences: Sequence[Sentence], index: int) -> Sentence | None:
    """Return the question that a short answer answers: the last sentence of the other speaker's message before it; None if
    there is none.
    """
    answer = sentences[index]
    if (
        len(answer.words) > 2 * MAX_SHORT_ANSWER_WORDS
        or len(answer.text.split()) > MAX_SHORT_ANSWER_WORDS
        or answer.asks
        or not index
    ):
        return None
    question = sentences[index - 1]
    if question.narrates or answer.narrates:
        return None
    fits = (
        question.asks
        and question.in_story == answer.in_story
        and question.name != answer.name
        and question.line != answer.line
        and not is_empty_answer(answer)
    )
    return question if fits else None
