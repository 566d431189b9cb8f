"""Facts in the user's own words, for sentences of which no rule has converted everything into a statement.

A sentence is kept if `sentence_classifier` rates it worth keeping. A first-person sentence that is understood alone is
converted into the third person; any other is quoted, with the sentence or the question it refers to.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from lethe_app.brain.reading import sentence_classifier
from lethe_app.brain.reading.attributes import find_kind
from lethe_app.brain.reading.pieces import DialoguePiece, SentenceMeaning
from lethe_app.brain.reading.rated_sentences import (
    CONTENT_THRESHOLD,
    KEEP_THRESHOLD,
    LEADING_TIME,
    PERSON_OR_THING,
    REFERRING_WORD,
    SUBJECT,
    RatedSentence,
    group_sentences,
    needs_antecedent,
    rate_sentence,
    strip_fillers,
)
from lethe_app.brain.reading.sentence_features import is_informative
from lethe_app.brain.reading.statements import SpeakerStatement
from lethe_app.brain.reading.third_person import rewrite_in_third_person
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.narration import split_narration
from lethe_app.brain.text.reported_speech import shorten
from lethe_app.brain.text.sentences import FIRST_PERSON_WORD, split_sentences
from lethe_app.brain.text.utterance import Utterance
from lethe_app.brain.vocabulary.verbs import is_past
from lethe_app.dates import resolve
from lethe_app.domain.facts import FactKind
from lethe_app.language_tables import table_pattern, table_words, word_class
from lethe_app.retrieval.query_terms import strip_addressing
from lethe_app.searchable_text import WORD

_pattern = partial(table_pattern, "sentences")
_words = partial(table_words, "sentences")

MIN_NEW_SHARE = 0.3
"""Share of a sentence's content words that must not be in any statement of its message for the sentence to be kept beside
them.
"""
MIN_CLEAR_WORDS = 3
"""Content words from which a sentence is informative even if its antecedent is unknown."""
MAX_FACT_LENGTH = 400
"""Maximum characters of one fact."""
MAX_REFERRING_WORDS = 20
"""Words up to which a sentence may need the speaker's previous message; a longer one is understood alone."""
MAX_QUESTION_WORDS = 16
"""Maximum words of a persona's question that is quoted with its answer."""
_EXISTENCE_DENIAL = re.compile(r"there(?:'s| is| was| are| were) (?:no|not an?)\b", re.IGNORECASE)
_THIRD_PERSON_PRONOUN = re.compile(r"\b(?:he|she|him|her|his|they|them|their)\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"^(?:I|I'm|I've|I'd|I'll|my)\b", re.IGNORECASE)
_OTHER_PERSON = re.compile(r"\b(?:you|your|yours|yourself|we|us|our|ours|ourselves|this|these|here)\b", re.IGNORECASE)
_QUESTION_WORD = re.compile(r"\b(?:what|who|whom|whose|which|when|where|why|how)\b", re.IGNORECASE)
"""Question that cannot be answered by yes or no."""
_OFTEN = re.compile(rf"{word_class('FREQUENCY')}|\b(?:when|whenever|every|each|always|usually)\b", re.IGNORECASE)
_PERSON_MENTION = re.compile(
    rf"(?<!^)\b(?!I\b|I')[A-Z][a-z]+\b|\b[Yy]our (?:\w+ )?{word_class('RELATION')}\b",
)
_ASKS_LISTENER = re.compile(r"\b(?:do|are|did|have|were|will|would|can|could) you\b", re.IGNORECASE)
_END_MARK = re.compile(r"[.!?…][\"')\]]*$")
_QUOTES = str.maketrans({"“": "'", "”": "'", '"': "'"})
"""Replaces quotation marks of the user, which would end the quotation."""


@dataclass(frozen=True)
class UserMessage:
    """Message of the user with its rated sentences."""

    line: Utterance
    replied_to: Utterance | None
    """The message it replies to."""
    question: str
    """The question at the end of that message; empty if there is none."""
    sentences: list[RatedSentence]


def read_message(line: Utterance, pieces: Sequence[DialoguePiece], replied_to: Utterance | None) -> UserMessage:
    """Return the user's message with its rated sentences, without those in character. It answers `replied_to`."""
    question = extract_question(replied_to.text) if replied_to else ""
    listener_names = [replied_to.name] if replied_to else []
    own_name = re.escape(line.name)
    introduction = re.compile(
        rf"^\W*(?:(?:it's |this is )?{own_name} here|(?:I'm|I am|im|my name is|"
        rf"my name's) {own_name})\b(?!'s)[\s,.!:;-]*(?:and )?(?=\w)",
        re.IGNORECASE,
    )
    texts = [strip_addressing(piece.text, listener_names) for piece in pieces if piece.meaning is SentenceMeaning.PLAIN]
    plain = [_pattern("heading").sub("", introduction.sub("", text)) for text in texts]
    sentences = [rate_sentence(text, question if index == 0 else "", index) for index, text in enumerate(plain)]
    return UserMessage(line, replied_to, question, sentences)


def keep_sentences_about(message: UserMessage, subjects: frozenset[str]) -> UserMessage:
    """Return the message with every sentence kept that mentions one of the `subjects` (stems), because it is news about
    them.
    """

    def rate_again(sentence: RatedSentence) -> RatedSentence:
        is_news = sentence.probability > 0 and not subjects.isdisjoint(content_words(sentence.clean_text))
        return replace(sentence, probability=max(sentence.probability, KEEP_THRESHOLD)) if is_news else sentence

    return replace(message, sentences=list(map(rate_again, message.sentences)))


def find_facts(
    message: UserMessage, previous_message: UserMessage | None, statements: Iterable[str], known_features: Collection[str] = ()
) -> Iterator[SpeakerStatement]:
    """Yield the facts of a user message that go beyond what rules have `statements`.

    `previous_message` is the user's previous message, `known_features` the `sentence_features.question_word_features` of
    everything mentioned before.
    """
    known_words = frozenset[str]().union(*map(content_words, statements), content_words(message.line.name))
    is_plausible = sentence_classifier.is_plausible_question(message.question, known_features)
    first_content_index = next((index for index, one in enumerate(message.sentences) if content_words(one.clean_text)), 0)
    for start, group in group_sentences(message.sentences):
        if _pattern("shown_or_agreed").match(group[0].clean_text) or _is_mere_denial(group, message.replied_to):
            continue
        is_answer = (
            message.replied_to is not None and start <= first_content_index and _needs_question(message.question, group[0])
        )
        if not _has_new_content(group, message.question if is_answer else "", known_words, message.line):
            continue
        if is_answer and is_plausible:
            yield _build_fact(message, group, message.replied_to)
        # Without a plausible question the sentence is quoted alone, unless it would then say something else.
        elif not (is_answer and _is_misleading_alone(group[0], message.question)):
            antecedent_message = (
                previous_message if start <= first_content_index and _refers_to_previous_message(message, group[0]) else None
            )
            antecedent = _find_antecedent(antecedent_message) if antecedent_message else None
            if antecedent_message and antecedent:
                yield _build_fact(message, [antecedent, *group], antecedent_message.line)
            elif not needs_antecedent(group[0]) or _is_informative_alone(group):
                yield _build_fact(message, group, None)


def _build_fact(message: UserMessage, sentences: Sequence[RatedSentence], source: Utterance | None) -> SpeakerStatement:
    """Return sentences as a fact; `source` is the question they answer, or the previous message they refer to."""
    line, kind = message.line, _classify_kind(sentences)
    rewritten = _convert_to_third_person(sentences[0], line) if len(sentences) == 1 and source is None else ""
    question = message.question if source is not None and source is message.replied_to else ""
    sources = (source.id, line.id) if source is not None else (line.id,)
    text = rewritten or _quote(sentences, line, question)
    return SpeakerStatement(text, line.name, sources, line.time, kind=kind)


def _classify_kind(sentences: Sequence[RatedSentence]) -> FactKind:
    """Return the kind of the most probable sentence, or HEALTH if one has a word that is only used for health."""
    likely_kind = max((one for one in sentences if one.is_kept), key=lambda one: one.probability).kind
    return find_kind(" ".join(one.clean_text for one in sentences if one.is_kept), "", likely_kind)


def _is_mere_denial(group: Sequence[RatedSentence], replied_to: Utterance | None) -> bool:
    """Return whether the sentences only deny the existence of something the persona mentioned."""
    words = frozenset[str]().union(*(content_words(sentence.clean_text) for sentence in group))
    return (
        replied_to is not None
        and bool(_EXISTENCE_DENIAL.match(group[0].clean_text))
        and words <= content_words(replied_to.text)
    )


def _find_antecedent(message: UserMessage) -> RatedSentence | None:
    """Return the last sentence of a message that names a person or a thing and is understood alone; None if there is none."""
    candidates = (one for one in reversed(message.sentences) if PERSON_OR_THING().search(one.text))
    return next((one for one in candidates if one.probability >= CONTENT_THRESHOLD and not needs_antecedent(one)), None)


def _is_informative_alone(group: Sequence[RatedSentence]) -> bool:
    """Return whether the sentences are informative about their speaker even if their antecedent is unknown."""
    text = " ".join(sentence.clean_text for sentence in group if sentence.is_kept)
    is_own = bool(FIRST_PERSON_WORD.search(text)) or not (SUBJECT().search(text) or REFERRING_WORD().search(text))
    return len(content_words(text)) >= MIN_CLEAR_WORDS and is_own


def extract_question(message: str) -> str:
    """Return the question at the end of a message, without actions; empty if it does not end with a question."""
    spoken_sentences = [
        sentence for part in split_narration(message) if not part.narrates for sentence in split_sentences(part.text)
    ]
    question = _normalize_quotes(spoken_sentences[-1]).strip("' ") if spoken_sentences else ""
    return question if question.endswith("?") else ""


def _has_new_content(group: Sequence[RatedSentence], question: str, known_words: frozenset[str], line: Utterance) -> bool:
    """Return whether enough content words of the kept sentences are not `known_words`; for a plain yes or no, those of the
    question count.
    """
    kept = [sentence.clean_text for sentence in group if sentence.is_kept]
    words = frozenset[str]().union(*(content_words(_resolve_dates(text, line)) for text in kept))
    if question and not content_words(_words("affirmation").sub(" ", " ".join(kept))):
        words = frozenset() if _QUESTION_WORD.search(question) else content_words(question)
    elif not question and (len(words) == 1 or all(map(str.isdigit, words))) and not any(map(SUBJECT().search, kept)):
        return False
    new_words = words - known_words
    if len(new_words) == 1 and len(words) > 1:  # “… so no satay for me” adds nothing to what a rule has worded, an illness does
        return any(is_informative(word) for text in kept for word in WORD.findall(text)[1:] if content_words(word) == new_words)
    return bool(words) and len(new_words) >= MIN_NEW_SHARE * len(words)


def _refers_to_previous_message(message: UserMessage, sentence: RatedSentence) -> bool:
    """Return whether a sentence refers to the speaker's previous message. An incomplete one more likely answers the
    question.
    """
    if (
        not (needs_antecedent(sentence) and REFERRING_WORD().search(sentence.clean_text))
        or len(sentence.clean_text.split()) > MAX_REFERRING_WORDS
    ):
        return False
    return not message.question or bool(
        _THIRD_PERSON_PRONOUN.search(sentence.clean_text) and not _PERSON_MENTION.search(message.question)
    )


def _convert_to_third_person(sentence: RatedSentence, line: Utterance) -> str:
    """Return a first-person sentence that is understood alone in the third person; empty if it cannot be converted."""
    resolved = _resolve_dates(sentence.clean_text, line, is_plan=sentence.kind is FactKind.PLAN)
    clause = LEADING_TIME().sub("", resolved)
    if len(resolved) > MAX_FACT_LENGTH:
        return ""
    if not _FIRST_PERSON.match(clause) or _OTHER_PERSON.search(resolved) or '"' in resolved or "?" in resolved:
        return ""
    if _pattern("ellipsis").match(clause) or _pattern("fragment").match(clause):
        return ""
    return "" if resolve.RELATIVE_TIME.search(resolved) else rewrite_in_third_person(resolved, line.name) or ""


def _needs_question(question: str, answer: RatedSentence) -> bool:
    """Return whether an answer is hardly understood without its question."""
    is_full_question = len(question.split()) > 1 or bool(_QUESTION_WORD.search(question))
    is_short = len(question.split()) <= MAX_QUESTION_WORDS
    text = answer.clean_text
    is_part = not SUBJECT().search(text) or bool(_pattern("ellipsis").match(text) or _pattern("fragment").match(text))
    return is_full_question and is_short and (is_part or needs_antecedent(answer))


def _is_misleading_alone(answer: RatedSentence, question: str) -> bool:
    """Return whether an answer without its question would be attributed to the speaker: “moved to leeds” of a sister."""
    first_word = answer.clean_text.split(" ", 1)[0].lower()
    is_subjectless_event = not SUBJECT().search(answer.clean_text) and (is_past(first_word) or first_word.endswith("ing"))
    return is_subjectless_event and is_about_others(question)


def is_about_others(question: str) -> bool:
    """Return whether a question asks about somebody else than the listener."""
    return bool(_PERSON_MENTION.search(question) or _THIRD_PERSON_PRONOUN.search(question)) and not _ASKS_LISTENER.search(
        question
    )


def _quote(group: Sequence[RatedSentence], line: Utterance, question: str) -> str:
    """Return sentences word for word, followed by the dates that their relative times mean; with the date of the message if
    some times have none.
    """
    texts = [_normalize_quotes(sentence.text) for sentence in group]
    whole = " ".join([*map(_add_end_mark, texts[:-1]), texts[-1]])
    stripped = strip_fillers(whole)
    quotation = shorten(stripped if WORD.search(stripped) else whole, MAX_FACT_LENGTH)
    is_plan = any(sentence.kind is FactKind.PLAN for sentence in group)
    resolved = _resolve_dates(quotation, line, is_plan=is_plan)
    date_phrase = f" on {resolve.format_date(line.time.date())}" if resolve.RELATIVE_TIME.search(resolved) else ""
    question_phrase = f"Asked “{question}”, " if question else ""
    dates = [date for date in resolve.ABSOLUTE_DATE.findall(resolved) if date not in quotation]
    meant = f" ({', '.join(dict.fromkeys(dates))})" if dates else ""
    return f"{question_phrase}{line.name} said{date_phrase}: “{quotation}”{meant}"


def _add_end_mark(text: str) -> str:
    """Return a sentence with an end mark."""
    return text if _END_MARK.search(text) else f"{text.rstrip(' ,;:–—-/')}."


def _resolve_dates(text: str, line: Utterance, *, is_plan: bool = False) -> str:
    """Return a text with its relative dates spelt out, those of a plan with their year."""
    is_upcoming = is_plan and not _OFTEN.search(text) and not resolve.is_past_tense(text)
    return resolve.resolve_dates(text, line.time.date(), event=is_upcoming)


def _normalize_quotes(text: str) -> str:
    """Return a text on one line without quotation marks of its own."""
    return " ".join(text.translate(_QUOTES).split())
