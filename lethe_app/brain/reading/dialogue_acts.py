"""Classify each sentence of a session as a plain statement, in-character text, or text to be dropped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import Enum
from functools import partial
from statistics import median
from uuid import UUID

from lethe_app.brain.languages.forget_requests import ForgetRequest, regrets_statement
from lethe_app.brain.languages.requests import may_ask_to_forget
from lethe_app.brain.reading import roleplay
from lethe_app.brain.reading.corrections import apply_retractions, correct_details, is_joke
from lethe_app.brain.reading.pasted_text import (
    announces_text,
    extract_own_text,
    remove_quotations,
    remove_words_of_others,
    states_no_fact,
)
from lethe_app.brain.reading.pieces import DialoguePiece, MessageParts, SentenceMeaning, join_pieces
from lethe_app.brain.reading.withdrawals import apply_requests, withdraw_statements
from lethe_app.brain.text.markup import MAX_CHARACTERS_READ, remove_markup
from lethe_app.brain.text.narration import MessagePart, is_prose, split_narration
from lethe_app.brain.text.sentences import split_sentences
from lethe_app.brain.text.utterance import Utterance
from lethe_app.brain.text.withdrawn import digests_of, remove_withdrawn
from lethe_app.domain.chat import Role
from lethe_app.language_tables import table_pattern, table_words
from lethe_app.retrieval.query_terms import STOP_WORDS
from lethe_app.searchable_text import WORD, fold

_pattern = partial(table_pattern, "roleplay")
_words = partial(table_words, "roleplay")

SCENE_TIMEOUT = timedelta(hours=3)
"""Gap between messages after which a scene ends unless it is set up again."""
MAX_QUIET_MESSAGES = 3
"""Number of user messages without anything acted after which an undeclared scene ends."""
MAX_HINT_MESSAGES = 4
"""Number of user messages in which a first sentence that only a character can say stays a hint."""
MIN_LONG_ACTION_WORDS = 4
"""Minimum number of words of narrated actions for the rest of the message to count as acted as well."""
_OUT_OF_CHARACTER = partial(table_pattern, "roleplay", "out_of_character", re.IGNORECASE | re.DOTALL | re.MULTILINE)
_BRACKETED = re.compile(r"(?:^|(?<=[\s*]))[(\[](?P<inside>[^()\[\]\n]{12,400})[)\]](?=\s|$|\*)")
_EMOTE = re.compile(r"^\s*/me\s+(?P<act>[^\n.!?]+[.!?]?)", re.MULTILINE)
_WHOLLY_QUOTED = re.compile(r"^\s*[\"“](?P<said>[^\"“”]+)[\"”]\s*$")
_QUOTES = re.compile(r"[\"“”]")
_SPEECH = re.compile(r"[\"“](?P<said>[^\"“”\n]+)[\"”]")
_THIRD_PERSON_ACT = re.compile(r"\b(?:his|her|their|himself|herself|themselves)\b", re.IGNORECASE)
_THIRD_PERSON_START = re.compile(r"^\W*(?:He|She|They|His|Her|Their)\b")


class _Scene(Enum):
    """Whether the user's messages belong to a roleplay scene."""

    NONE = 0
    LOOSE = 1
    """Acted without a declaration, or in a relationship with the persona; sentences about everyday life stay the user's own."""
    DECLARED = 2
    """Set up with a role for the user; everything but out-of-character asides is in character."""


@dataclass
class _Reading:
    """State of the session while its messages are read in order."""

    usual_word_count: int
    """Median number of words of the user's messages."""
    scene: _Scene = _Scene.NONE
    quiet_messages: int = 0
    hint_messages: int = 0
    """Remaining user messages for which a second sentence that only a character can say begins a scene; a single one may be
    a figure of speech.
    """
    is_third_person: bool = False
    """True if the user narrates themselves in the third person in this scene."""
    is_character_requested: bool = False
    """True after the user asked the persona to speak as somebody else."""
    is_text_announced: bool = False
    is_dream_announced: bool = False
    """True if the user's last message ended with the announcement of a dream."""
    previous_line: Utterance | None = None
    pieces_by_speaker: dict[str, list[DialoguePiece]] = field(default_factory=dict)
    """Pieces of the last message of each speaker, by name."""
    scene_words: set[str] = field(default_factory=set)
    """Folded names that the user gave in character."""


def read_parts(lines: Sequence[Utterance]) -> list[MessageParts]:
    """Return the parts of every message, in the order of `lines`.

    Only the user's messages decide whether a scene is played. If in doubt, a statement of everyday life is plain and a
    sentence that only fits a story is in character.
    """
    return [join_pieces(pieces) for pieces in read_pieces(lines)]


def read_pieces(lines: Sequence[Utterance]) -> list[list[DialoguePiece]]:
    """Return the classified sentences and actions of every message, in the order of `lines`; corrections are applied to the
    text.
    """
    counts = [len(WORD.findall(line.text[:MAX_CHARACTERS_READ])) for line in lines if line.role is Role.USER]
    reading = _Reading(usual_word_count=int(median(counts)) if counts else 0)
    pieces = [_read_message(line, reading) for line in lines]
    withdraw_statements(lines, pieces)
    correct_details(lines, pieces)
    return pieces


def read_requests(lines: Sequence[Utterance]) -> tuple[list[ForgetRequest], dict[UUID, list[str]]]:
    """Return the requests to forget of the last line, and the parts of messages that they withdraw, its own included."""
    pieces = read_pieces(lines)
    requests = [request for piece in pieces[-1] for request in piece.requests] if pieces else []
    return requests, {
        line.id: parts
        for line, line_pieces in zip(lines if requests else (), pieces, strict=False)
        if (parts := [part for piece in line_pieces for part in piece.withdrawn])
    }


def drop_withdrawn(lines: Sequence[Utterance]) -> list[Utterance]:
    """Return the lines without what the user's requests to forget withdraw, and without these."""
    if not any(line.role is Role.USER and may_ask_to_forget(line.text) for line in lines):
        return list(lines)
    kept = []
    for line, pieces in zip(lines, read_pieces(lines), strict=True):
        withdrawn = [part for piece in pieces for part in piece.withdrawn]
        text = remove_withdrawn(line.text, digests_of(line.text, withdrawn))
        kept += [replace(line, text=text)] if text.strip() else []
    return kept


def _read_message(line: Utterance, reading: _Reading) -> list[DialoguePiece]:
    previous_line = reading.previous_line
    if previous_line is not None and line.time - previous_line.time > SCENE_TIMEOUT:
        reading.scene, reading.is_character_requested = _Scene.NONE, False
    is_user = line.role is Role.USER
    text = extract_own_text(
        line.text[:MAX_CHARACTERS_READ], reading.usual_word_count, is_announced=is_user and reading.is_text_announced
    )
    if is_user:
        reading.is_text_announced = announces_text(line.text)
        text = remove_words_of_others(text, line.name)
    pieces = list(
        _classify_user_text(remove_markup(text), reading) if is_user else _classify_persona_text(remove_markup(text), reading)
    )
    if is_user:
        _drop_dream(pieces, reading)
        _mark_game_sentences(pieces)
    if has_request := is_user and may_ask_to_forget(line.text):
        apply_requests(pieces, reading.pieces_by_speaker.get(line.name, []))
    replied_text = previous_line.text if previous_line is not None and previous_line.name != line.name else ""
    if (
        apply_retractions(pieces, reading.pieces_by_speaker.get(line.name, []), replied_text)
        and is_user
        and reading.scene is _Scene.LOOSE
    ):
        reading.scene = _Scene.NONE  # what looked played was the joke, what follows is meant
        pieces = list(_classify_user_text(remove_markup(text), reading))
        apply_requests(pieces if has_request else [], [])
        apply_retractions(pieces, [], replied_text)
    only_regrets = is_user and bool(pieces) and all(regrets_statement(piece.text) for piece in pieces)
    if not only_regrets:  # which may itself be about the line before
        reading.pieces_by_speaker[line.name] = pieces
    reading.previous_line = line
    return pieces


def _mark_game_sentences(pieces: Sequence[DialoguePiece]) -> None:
    """Mark sentences after the name of a game in the same message as in character: “Stardew. Year 6, wife called Abigail.”"""
    is_after_game_name = False
    for piece in pieces:
        if is_after_game_name and piece.meaning is SentenceMeaning.PLAIN:
            piece.meaning = SentenceMeaning.IN_CHARACTER
        is_after_game_name = is_after_game_name or bool(_pattern("game_name").match(piece.text))


def _drop_dream(pieces: Sequence[DialoguePiece], reading: _Reading) -> None:
    """Drop the sentences that narrate a dream, from its announcement to the first sentence about something else."""
    is_dream = reading.is_dream_announced
    for piece in pieces:
        if _words("dream").search(piece.text):
            is_dream = True
        elif is_dream and _pattern("dream_content").match(piece.text) and not _words("waking_life").search(piece.text):
            piece.meaning = SentenceMeaning.DROPPED
        else:
            is_dream = False
    reading.is_dream_announced = is_dream


def _classify_persona_text(text: str, reading: _Reading) -> Iterator[DialoguePiece]:
    """Yield the pieces of a persona's message; they are plain unless the user plays a scene or asked for another character."""
    is_in_scene = reading.scene is not _Scene.NONE or reading.is_character_requested
    for part in split_narration(text):
        for sentence in split_sentences(part.text):
            meaning = SentenceMeaning.IN_CHARACTER if is_in_scene or part.narrates else SentenceMeaning.PLAIN
            yield DialoguePiece(
                sentence,
                SentenceMeaning.DROPPED if _pattern("artificial").search(sentence) else meaning,
                part.narrates,
            )


def _classify_user_text(text: str, reading: _Reading) -> Iterator[DialoguePiece]:
    text = _EMOTE.sub(r"*\g<act>*", text)
    asides = [found["double"] or found["marked"] or found["line"] for found in _OUT_OF_CHARACTER().finditer(text)]
    rest = _OUT_OF_CHARACTER().sub("\n", text)
    preceding_text, declaration, rest = roleplay.split_at_declaration(rest)
    if declaration:
        yield from _classify_speech(preceding_text, reading)
        reading.scene = _Scene.LOOSE if _words("companion_role").search(declaration) else _Scene.DECLARED
        reading.quiet_messages = 0
    elif any(found["double"] or found["marked"] for found in _OUT_OF_CHARACTER().finditer(text)) and rest.strip():
        reading.scene, reading.quiet_messages = _Scene.DECLARED, 0  # who marks what is out of character plays the rest
    else:
        _update_scene(rest, reading)
    if reading.scene is not _Scene.NONE:
        asides += [found["inside"] for found in _BRACKETED.finditer(rest)]
        rest = _BRACKETED.sub("\n", rest)
    yield from _classify_speech(rest, reading)
    for aside in asides:
        for sentence in split_sentences(aside):
            yield DialoguePiece(sentence, _classify_own_sentence(sentence))


def _update_scene(text: str, reading: _Reading) -> None:
    """Continue, end or begin an undeclared scene according to the user's current message."""
    message_parts = split_narration(text)
    sentences = [sentence for part in message_parts if not part.narrates for sentence in split_sentences(part.text)]
    has_action = any(part.narrates for part in message_parts)
    everyday_count = sum(map(roleplay.is_everyday_statement, sentences))
    can_change_topic = reading.scene is _Scene.LOOSE or everyday_count > 0
    if not has_action and any(roleplay.ends_scene(sentence, can_change_topic=can_change_topic) for sentence in sentences):
        reading.scene, reading.quiet_messages, reading.is_character_requested = _Scene.NONE, 0, False
        return
    if _pattern("character_request").search(text):
        reading.is_character_requested = True
    if reading.scene is _Scene.DECLARED:
        return
    roleplay_count = sum(map(roleplay.is_roleplay_sentence, sentences))
    can_begin = has_action or roleplay_count > 1 or reading.scene is _Scene.LOOSE or reading.hint_messages > 0
    reading.hint_messages = MAX_HINT_MESSAGES if roleplay_count else max(0, reading.hint_messages - 1)
    if (roleplay_count and can_begin) or any(map(_is_roleplay_part, message_parts)):
        is_third_person = any(part.narrates and _THIRD_PERSON_START.match(part.text) for part in message_parts)
        reading.is_third_person = is_third_person or (reading.is_third_person and reading.scene is _Scene.LOOSE)
        reading.scene, reading.quiet_messages = _Scene.LOOSE, 0
    elif reading.scene is _Scene.LOOSE and not has_action:
        reading.quiet_messages += 1 + everyday_count
        if reading.quiet_messages >= MAX_QUIET_MESSAGES:
            reading.scene = _Scene.NONE


def _is_roleplay_part(part: MessagePart) -> bool:
    """Return whether a part is an action in the third person or with fantastic content, or prose that does not report what
    others said.
    """
    if not part.narrates:
        return False
    if is_prose(part.text):
        return not _is_report(part.text)
    third_person_match = _THIRD_PERSON_ACT.search(part.text) or _THIRD_PERSON_START.match(part.text)
    return bool(third_person_match) or roleplay.is_roleplay_sentence(part.text)


def _is_report(prose: str) -> bool:
    """Return whether prose only reports what others said; roleplay prose begins with speech or has no first person in the
    narration.
    """
    narration = _SPEECH.sub(" ", prose)
    is_own = bool(re.search(r"\b(?:I|I'm|I've|I'd|im|me|my|mine|we|our|us)\b", narration, re.IGNORECASE))
    has_quotation_within = bool(_SPEECH.search(prose)) and prose.lstrip()[:1] not in {'"', "“", "«"}
    return is_own and (has_quotation_within or bool(_pattern("reported").search(narration)))


def _classify_speech(text: str, reading: _Reading) -> Iterator[DialoguePiece]:
    """Yield the sentences and actions of a user's message without its marked asides."""
    message_parts = split_narration(text)
    action_parts = [
        part for part in message_parts if part.narrates and (reading.scene is not _Scene.NONE or not _is_report(part.text))
    ]
    action_word_count = sum(len(WORD.findall(part.text)) for part in action_parts)
    is_mostly_action = action_word_count >= MIN_LONG_ACTION_WORDS and 3 * action_word_count >= len(WORD.findall(text))
    previous_action, in_role = "", False
    for part in message_parts:
        is_addressed = bool(
            _pattern("addressing_action").search(previous_action) or _pattern("voice_action").search(previous_action)
        )
        previous_action = part.text if part in action_parts else ""
        if part in action_parts:
            in_role = in_role or bool(_words("courtly_address").search(text))
            yield from (_mark_in_character(text, reading, narrates=True) for text in split_sentences(part.text))
            continue
        is_quoted = (
            action_word_count > 0
            and bool(_QUOTES.search(part.text))
            and not any(_pattern("attribution").search(part.text[: match.start()]) for match in _SPEECH.finditer(part.text))
        )
        is_anothers = bool(_pattern("others_speech_tag").search(part.text))
        spoken = _QUOTES.sub("", part.text) if is_quoted else _remove_quotations(part.text)
        for sentence in split_sentences(spoken):
            if ((is_addressed or in_role) and not roleplay.is_out_of_character(sentence)) or (is_anothers and is_quoted):
                yield _mark_in_character(sentence, reading)
            else:
                yield _classify_sentence(sentence, reading, is_mostly_action=is_mostly_action, is_quoted=is_quoted)


def _classify_sentence(sentence: str, reading: _Reading, *, is_mostly_action: bool, is_quoted: bool) -> DialoguePiece:
    if _pattern("game").search(sentence):
        return DialoguePiece(sentence, SentenceMeaning.IN_CHARACTER)
    if reading.scene is _Scene.DECLARED:
        return (
            DialoguePiece(sentence, _classify_own_sentence(sentence))
            if roleplay.is_out_of_character(sentence)
            else _mark_in_character(sentence, reading)
        )
    if roleplay.is_roleplay_sentence(sentence, in_scene=reading.scene is not _Scene.NONE):
        return _mark_in_character(sentence, reading)
    if reading.scene is _Scene.NONE and not (is_mostly_action or is_quoted):
        return DialoguePiece(sentence, _classify_own_sentence(sentence))
    if reading.scene is _Scene.LOOSE and reading.is_third_person and is_quoted:
        return _mark_in_character(sentence, reading)
    is_everyday = roleplay.is_everyday_statement(sentence, frozenset(reading.scene_words), is_quoted=is_quoted)
    is_everyday = is_everyday or roleplay.is_out_of_character(sentence)
    if not is_quoted and reading.scene is _Scene.NONE:
        is_everyday = is_everyday or roleplay.is_about_speaker(sentence)
    return DialoguePiece(sentence, _classify_own_sentence(sentence)) if is_everyday else _mark_in_character(sentence, reading)


def _mark_in_character(text: str, reading: _Reading, *, narrates: bool = False) -> DialoguePiece:
    names = re.findall(r"(?<=[a-z,] )[A-Z][a-zà-ÿ]{2,}", text)
    reading.scene_words |= {fold(name) for name in names} - STOP_WORDS
    return DialoguePiece(text, SentenceMeaning.IN_CHARACTER, narrates)


def _classify_own_sentence(sentence: str) -> SentenceMeaning:
    """Return PLAIN for a sentence by the user as themselves, DROPPED if it is hypothetical or ends as a joke."""
    is_unreal = roleplay.is_hypothetical(sentence) or is_joke(sentence) or states_no_fact(sentence)
    return SentenceMeaning.DROPPED if is_unreal else SentenceMeaning.PLAIN


def _remove_quotations(text: str) -> str:
    quotation_match = _WHOLLY_QUOTED.match(text)
    return (
        quotation_match["said"]
        if quotation_match and roleplay.is_about_speaker(quotation_match["said"])
        else remove_quotations(text)
    )
