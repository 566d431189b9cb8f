"""Selection of the sentences that count as stated: the user's own, and those of the persona that the user took up.

Without it, up to twelve of thirteen summary lines were inventions of the persona, which then entered every later prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lethe_app.brain.reading.pieces import DialoguePiece, SentenceMeaning
from lethe_app.brain.summary.summary_tables import beginning, pattern
from lethe_app.brain.text.markup import display_name
from lethe_app.brain.text.sentences import Sentence, normalized_words
from lethe_app.brain.text.utterance import Utterance
from lethe_app.brain.vocabulary.common_words import FOREIGN_STOP_WORDS, NON_TOPIC_WORDS
from lethe_app.brain.vocabulary.stems import stem
from lethe_app.domain.chat import Role

ENDORSED_WEIGHT = 0.7
"""Weight of a persona's sentence that the user took up, against 1 of the user's own."""
SCENE_WEIGHT = 0.4
"""Weight of a persona's sentence in a scene in which the user plays along."""
ROLEPLAY_SHARE = 0.6
"""Share of the user's words in character from which a session is roleplay."""
MIN_ROLEPLAY_WORDS = 5
"""Minimum number of words in character; a smile between asterisks does not make a scene."""
MIN_REPEATED_SHARE = 0.34
"""Share of a sentence's new words that the user must repeat to take it up, if only one word is repeated."""


def select_endorsed_sentences(lines: Sequence[Utterance], pieces: Sequence[Sequence[DialoguePiece]]) -> list[Sentence]:
    """Return the sentences on which titles, summaries, keywords and goals may be based, in their order.

    `pieces` are those of each line (`read_pieces`). The weight of a sentence is 1 for the user's,
    `ENDORSED_WEIGHT` for a persona's that the user answered with assent or with words of it, `SCENE_WEIGHT` for a persona's in
    a roleplay session, and 0 for a persona's question that is only the context of the user's answer. Sentences that the user
    denied or nobody took up are left out. A persona's claim about the user, or about a common past, needs assent: a word of it
    in the answer confirms nothing.
    """
    is_played = is_roleplay(lines, pieces)
    answers = _next_user_lines(lines)
    found: list[Sentence] = []
    known_words: set[str] = set()
    for index, line in enumerate(lines):
        line_sentences = _build_sentences(index, line, pieces[index])
        if line.role is Role.USER:
            known_words.update(*(_content_stems(sentence.words) for sentence in line_sentences))
            found += line_sentences
        else:
            answer = answers[index]
            reply = pieces[answer] if answer < len(lines) else []
            found += _endorsed_by_answer(line_sentences, reply, known_words, is_played=is_played, is_next=answer == index + 1)
    return found


def is_roleplay(lines: Sequence[Utterance], pieces: Sequence[Sequence[DialoguePiece]]) -> bool:
    """Return whether most of the user's words are in character. The persona's lines are not considered."""
    own = [piece for line, found in zip(lines, pieces, strict=True) if line.role is Role.USER for piece in found]
    played = sum(len(normalized_words(piece.text)) for piece in own if piece.meaning is SentenceMeaning.IN_CHARACTER)
    stated = sum(len(normalized_words(piece.text)) for piece in own if piece.meaning is SentenceMeaning.PLAIN)
    return played >= MIN_ROLEPLAY_WORDS and played >= ROLEPLAY_SHARE * (played + stated)


def speaker_names(lines: Sequence[Utterance]) -> tuple[str, ...]:
    """Return the names of the speakers without duplicates, in the order of their first line."""
    return tuple(dict.fromkeys(map(display_name, lines)))


def _next_user_lines(lines: Sequence[Utterance]) -> list[int]:
    """Return for each line the index of the user's next message, or the number of lines if there is none."""
    following = len(lines)
    found: list[int] = []
    for index in range(len(lines) - 1, -1, -1):
        found.append(following)
        following = index if lines[index].role is Role.USER else following
    return found[::-1]


def _endorsed_by_answer(
    persona_sentences: Sequence[Sentence],
    answer: Sequence[DialoguePiece],
    known_words: set[str],
    *,
    is_played: bool,
    is_next: bool,
) -> Iterator[Sentence]:
    """Yield the persona's sentences that count, judged by the user's next message. `is_next`: that message follows
    immediately.
    """
    reply = " ".join(piece.text for piece in answer if piece.meaning is not SentenceMeaning.DROPPED)
    agreed = _find_agreed_sentence(persona_sentences, reply)
    begins_with_statement = bool(answer) and answer[0].meaning is not SentenceMeaning.DROPPED  # which may answer a question
    repeated = set() if pattern("denied").search(reply) else _content_stems(normalized_words(reply)) - known_words
    for index, sentence in enumerate(persona_sentences):
        new_words = _content_stems(sentence.words) - known_words
        shared = len(new_words & repeated)
        repeats = shared >= 2 or (shared > 0 and shared >= MIN_REPEATED_SHARE * len(new_words))
        if index == agreed or (repeats and not pattern("claimed").search(sentence.text)):
            yield replace(sentence, weight=ENDORSED_WEIGHT)
        elif is_played and sentence.in_story:
            yield replace(sentence, weight=SCENE_WEIGHT)
        elif index == len(persona_sentences) - 1 and sentence.asks and is_next and begins_with_statement:
            yield replace(sentence, weight=0.0)


def _find_agreed_sentence(persona_sentences: Sequence[Sentence], reply: str) -> int | None:
    """Return the index of the last proposal or claim that the reply assents to; None if there is none."""
    if beginning("confirmed").match(reply):
        fitting = [index for index, sentence in enumerate(persona_sentences) if not (sentence.asks or sentence.narrates)]
    elif beginning("agreed").match(reply):
        spoken = [index for index, sentence in enumerate(persona_sentences) if not sentence.narrates]
        fitting = [index for index in spoken if pattern("proposed").search(persona_sentences[index].text)]
    else:
        return None
    return fitting[-1] if fitting else None


def _build_sentences(line_index: int, line: Utterance, pieces: Sequence[DialoguePiece]) -> list[Sentence]:
    return [
        Sentence(
            line_index,
            display_name(line),
            line.role,
            piece.text,
            words,
            piece.narrates,
            asks=piece.text.rstrip("\"”’') ").endswith(("?", "？", "؟")),
            in_story=piece.meaning is SentenceMeaning.IN_CHARACTER,
        )
        for piece in pieces
        if piece.meaning is not SentenceMeaning.DROPPED and (words := normalized_words(piece.text))
    ]


def _content_stems(tokens: Sequence[str]) -> set[str]:
    """Return the stems of the content words."""
    return {stem(word) for word in tokens if word not in NON_TOPIC_WORDS and word not in FOREIGN_STOP_WORDS and len(word) > 1}
