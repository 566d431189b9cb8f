"""Weights of the sentences of a session for its title and summary, and which are left out."""

from __future__ import annotations

import heapq
import re
from collections.abc import Sequence
from dataclasses import dataclass

from lethe_app.brain.reading.changes import announces_change
from lethe_app.brain.reading.durability import is_figurative
from lethe_app.brain.reading.pasted_text import has_lost_quotation
from lethe_app.brain.reading.rated_sentences import asks_to_remember, is_comparison, is_momentary
from lethe_app.brain.reading.sentence_classifier import predict_probability
from lethe_app.brain.reading.sentence_features import extract_features
from lethe_app.brain.summary.reported_facts import ReportedFact
from lethe_app.brain.summary.salience import ConversationVocabulary, SentenceSignals, is_empty_answer, salience
from lethe_app.brain.summary.title_events import TitleEvent
from lethe_app.brain.text.sentences import Sentence
from lethe_app.domain.chat import Role
from lethe_app.retrieval.assertions import FIRST_PERSON

MAX_CANDIDATES = 1000
"""Maximum number of sentences of a very long session, the most salient ones, that are compared with each other."""
MIN_SALIENCE_SHARE = 0.3
"""Share of the highest salience (counted up to 2) below which a sentence is left out as filler."""
MOMENTARY_WEIGHT = 0.5
"""Weight in a summary of a sentence that is not worth remembering, against 1 of one that is."""
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
MAX_QUESTIONS = 2
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
_INTENDS = re.compile(r"\b(?:going to|gonna|moving|flying|want to|wanna|planning)\b", re.IGNORECASE)


@dataclass(frozen=True)
class SummaryMaterial:
    """Session prepared for its title and summary."""

    sentences: list[Sentence]
    signals: list[SentenceSignals]
    events: list[TitleEvent | None]
    """The event that each sentence reports, or None."""
    facts: list[ReportedFact]
    """Facts about the user that still hold at the end of the session."""
    vocabulary: ConversationVocabulary


def sentence_weight(material: SummaryMaterial, index: int) -> float:
    """Return the salience of a sentence, weighted by whether it is worth remembering, plus the weight of its event."""
    sentence, event = material.sentences[index], material.events[index]
    value = salience(sentence, material.signals[index], material.vocabulary) * lasting_weight(sentence, MOMENTARY_WEIGHT)
    return value + (event.weight if event else 0.0)


def weigh_sentences(material: SummaryMaterial, stated: set[int]) -> dict[int, float]:
    """Return the weights of the sentences worth reporting, by index, without those `stated` as facts."""
    sentences, signals, vocabulary = material.sentences, material.signals, material.vocabulary
    weights: dict[int, float] = {}
    questions: dict[int, float] = {}
    left_out = find_outdated_plans(sentences, signals, vocabulary)
    story_sentences = [index for index, sentence in enumerate(sentences) if sentence.in_story and sentence.role is Role.USER]
    lone_story_sentence = story_sentences[0] if len(story_sentences) == 1 else None  # a figure of speech
    for index, sentence in enumerate(sentences):
        if (
            index in stated
            or index in left_out
            or index == lone_story_sentence
            or not sentence.weight
            or is_uninformative(sentence.text)
        ):
            continue
        if sentence.in_story and len(material.facts) >= ENOUGH_FACTS:
            continue
        weight = salience(sentence, signals[index], vocabulary) * (
            lasting_weight(sentence, MOMENTARY_WEIGHT) if vocabulary.is_english else 1.0
        )
        question = find_answered_question(sentences, index)
        if (
            question is not None
            and vocabulary.informative_words(question.words)
            and vocabulary.informative_words(sentence.words)
        ):
            weight = max(weight, 0.5 + 2 * salience(question, signals[index - 1], vocabulary))
        if weight > 0:
            is_user_question = sentence.role is Role.USER and (sentence.asks or asks_to_remember(sentence.text))
            own_factor = USER_WEIGHT_BESIDE_FACTS * _personal_weight(sentence.text, signals[index])
            factor = 1.0 if not stated else own_factor if sentence.role is Role.USER else PERSONA_WEIGHT_BESIDE_FACTS
            if not (
                is_user_question and FIRST_PERSON.search(sentence.text)
            ):  # what somebody asks about themselves tells nothing
                (questions if is_user_question else weights)[index] = weight * sentence.weight * factor
    user_indexes = [index for index in weights if sentences[index].role is Role.USER]
    if len(user_indexes) + len(material.facts) >= ENOUGH_FACTS:
        weights = {index: weights[index] for index in user_indexes}
    if not weights and not stated:  # nothing but questions was said
        weights = {index: questions[index] for index in heapq.nlargest(MAX_QUESTIONS, questions, key=questions.__getitem__)}
    best_indexes = heapq.nlargest(MAX_CANDIDATES, weights, key=lambda index: (weights[index], -index))
    min_weight = MIN_SALIENCE_SHARE * min(2.0, weights[best_indexes[0]]) if best_indexes else 0.0
    return {index: weights[index] for index in sorted(best_indexes) if weights[index] >= min_weight}


def _personal_weight(text: str, signal: SentenceSignals) -> float:
    """Return 1 for a sentence about the speaker's own life, and `GENERAL_WEIGHT` for one that is true of everybody."""
    is_particular = signal.is_first_person or signal.has_relative or signal.has_name or signal.has_time
    return 1.0 if is_particular and not _OF_EVERYBODY.match(text) else GENERAL_WEIGHT


def find_outdated_plans(
    sentences: Sequence[Sentence], signals: Sequence[SentenceSignals], vocabulary: ConversationVocabulary
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
        if (signals[index].plan is not None or _INTENDS.search(sentence.text))
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


def find_answered_question(sentences: Sequence[Sentence], index: int) -> Sentence | None:
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
