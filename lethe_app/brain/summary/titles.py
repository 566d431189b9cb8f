"""Title of a session: the statement of the user that tells most, in their own words, or what the session began with."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lethe_app.brain.summary.keywords import HAN_OR_KANA, SummaryTopic, select_distinct
from lethe_app.brain.summary.salience import ConversationVocabulary, has_life_event
from lethe_app.brain.summary.summary_tables import ENGLISH, pattern
from lethe_app.brain.text.markup import remove_markup
from lethe_app.brain.text.narration import split_narration
from lethe_app.brain.text.reported_speech import remove_opener, shorten, strip_enclosing_quotes
from lethe_app.brain.text.sentences import Sentence, normalized_words
from lethe_app.brain.text.spelling import correct_spelling
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role
from lethe_app.retrieval.passage_builder import SENTENCE_END

MAX_TITLE_LENGTH = 48
"""Maximum characters of a title."""
MIN_TITLE_WORDS = 3
"""Number of words from which a sentence or clause is a title by itself."""
NO_SUBJECT_FACTOR, CUT_FACTOR, FRAGMENT_FACTOR = 0.8, 0.7, 0.2
"""Factors for a sentence that does not begin with its subject, and for a clause of a longer one, with a subject and without."""
VAGUE_FACTOR = 0.5
"""Factor for a clause with a pronoun for something outside it."""
BEGINNING_BONUS, TOPIC_BONUS, EVENT_BONUS = 1.0, 0.3, 1.0
"""What the first message, words that occur again, and an event of a life add to the value of a clause."""
BEGINNING_LENGTH = 8
"""Messages after which the bonus of the beginning is half."""
ENOUGH_WORDS = 3
"""Words that may be a topic from which a clause is worth its whole value."""
MAX_REPEATED = 2.0
"""Sum of the weights of repeated words (ln of the number of messages) above which more add nothing."""
_CLAUSE = re.compile(r"[,;:]\s|\s+[-–—]+\s|\s(?=(?:and|but|so|because|since)\s(?:I|we|my|it|he|she|they)\b)")
_CONJUNCTION = re.compile(r"^(?:and|but|so|because|since)\s", re.IGNORECASE)


def compose_title(
    lines: Sequence[Utterance],
    sentences: Sequence[Sentence],
    salience: Sequence[float],
    topics: Sequence[SummaryTopic],
    vocabulary: ConversationVocabulary,
    *,
    is_played: bool,
) -> str:
    """Return a title of at most `MAX_TITLE_LENGTH` characters; empty if nothing was said.

    `salience` is that of each sentence. In other languages than English it is made of the main topics.
    """
    by_role = sorted(lines, key=lambda line: line.role is not Role.USER)
    opening = next(filter(None, map(_opening_words, by_role)), "")
    if not any(value and not sentence.asks for value, sentence in zip(salience, sentences, strict=True)):
        return opening  # a title made of what was only asked would say that something was told
    if not vocabulary.is_english:
        return _join_names([topic.spelling for topic in select_distinct(topics, 2)]) or opening
    ranked: list[tuple[float, str]] = [(0.0, "")]
    for sentence, value in zip(sentences, salience, strict=True):
        if sentence.role is Role.USER and not (sentence.asks or (sentence.in_story and not is_played)):
            weight = value * (1 + BEGINNING_BONUS / (1 + sentence.line / BEGINNING_LENGTH))
            ranked += [
                (weight * factor * _clause_factor(clause, vocabulary), clause)
                for clause, factor in _split_clauses(sentence.text)
            ]
    return _format(max(ranked, key=lambda pair: pair[0])[1]) or opening


def _split_clauses(text: str) -> list[tuple[str, float]]:
    """Return what of a sentence may be a title, with its factor: all of it if that is short, else its clauses."""
    plain = correct_spelling(remove_opener(text)).strip()
    is_short = len(plain) <= MAX_TITLE_LENGTH
    clauses = [plain] if is_short else [_CONJUNCTION.sub("", clause.strip()) for clause in _CLAUSE.split(plain)]
    found: list[tuple[str, float]] = []
    for clause in clauses:
        title, has_subject = clause, bool(pattern("title_subject").match(clause))
        while lead := pattern("title_lead", ENGLISH).match(title):
            title, has_subject = title[lead.end() :].strip(), True
        title = _cut_to_length(title)
        factor = (1.0 if has_subject else NO_SUBJECT_FACTOR) if is_short else CUT_FACTOR if has_subject else FRAGMENT_FACTOR
        is_complete = not (pattern("title_dependent").match(title) or pattern("title_unfinished").search(title))
        if is_complete and len(title.split()) >= MIN_TITLE_WORDS:
            found.append((title, factor))
    return found


def _cut_to_length(clause: str) -> str:
    """Return the beginning of a clause that fits into a title and ends before a preposition or a conjunction; else nothing."""
    if len(clause) <= MAX_TITLE_LENGTH:
        return clause
    ends = [found.start() for found in pattern("title_end").finditer(clause[: MAX_TITLE_LENGTH + 2])]
    return clause[: ends[-1]].rstrip(" ,;:") if ends else ""


def _clause_factor(clause: str, vocabulary: ConversationVocabulary) -> float:
    """Return a factor that is higher for what the session speaks of again and for events of a life, and lower for a clause with
    a pronoun that nobody understands.
    """
    tokens = normalized_words(clause)
    informative = vocabulary.informative_words(tokens)
    repeated = sum(vocabulary.weights[word] - 1 for word in informative)
    is_event = has_life_event(tokens)
    factor = 1 + TOPIC_BONUS * min(MAX_REPEATED, repeated) + EVENT_BONUS * is_event
    factor *= min(1.0, (len(informative) + 2 * is_event) / ENOUGH_WORDS)
    return factor * (VAGUE_FACTOR if pattern("title_vague").search(clause) else 1.0)


def _opening_words(line: Utterance) -> str:
    """Return the beginning of a message, without actions: its first sentence if that has a few words, cut where it is long."""
    text = " ".join(_spoken_text(line).split())
    first_sentence = SENTENCE_END.split(text, maxsplit=1)[0]
    return _format(first_sentence if len(first_sentence.split()) >= MIN_TITLE_WORDS else text)


def _spoken_text(line: Utterance) -> str:
    """Return a message without markup and actions; with the actions if it has nothing else."""
    text = remove_markup(line.text)
    return " ".join(part.text for part in split_narration(text) if not part.narrates) or text.replace("*", "")


def _format(text: str) -> str:
    title = strip_enclosing_quotes(text).rstrip(" ,;:.!?。！？)")
    return shorten(title[:1].upper() + title[1:], MAX_TITLE_LENGTH)


def _join_names(names: Sequence[str]) -> str:
    comma = "、" if names and HAN_OR_KANA.match(names[0]) else ", "
    text = comma.join(names)
    return text[:1].upper() + text[1:]
