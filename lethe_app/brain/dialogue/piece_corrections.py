"""Corrections and retractions of a user, applied to the earlier sentences they refer to."""

from __future__ import annotations

from collections.abc import Sequence

from lethe_app.brain.dialogue.detail_corrections import (
    MAX_LOOKBACK,
    find_announced_detail,
    find_corrected_index,
    find_detail_corrections,
    find_replaced_detail,
    replace_detail,
)
from lethe_app.brain.dialogue.dialogue_pieces import DialoguePiece, SentenceMeaning
from lethe_app.brain.dialogue.retractions import extract_corrected_statement, is_about_other_subject, is_retraction
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.markup import MAX_CHARACTERS_READ
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role

MAX_INTERJECTION_WORDS = 4
"""Words up to which an earlier sentence of the same message is taken for an interjection before a retraction."""


def correct_details(lines: Sequence[Utterance], pieces: Sequence[Sequence[DialoguePiece]]) -> None:
    """Apply corrections in later user messages to the sentence that first stated the detail."""
    plain_pieces: list[DialoguePiece] = []
    for line, line_pieces in zip(lines, pieces, strict=True):
        if line.role is Role.USER:
            for old, new in find_detail_corrections(line.text[:MAX_CHARACTERS_READ]):
                index = find_corrected_index(
                    line.text[:MAX_CHARACTERS_READ], [piece.text for piece in reversed(plain_pieces[-MAX_LOOKBACK:])], old
                )
                if index is not None:
                    piece = plain_pieces[-1 - index]
                    piece.text = replace_detail(piece.text, old, new) or piece.text
            if _correct_day(line.text[:MAX_CHARACTERS_READ], plain_pieces):
                _drop_announced(line_pieces)
            plain_pieces += [piece for piece in line_pieces if piece.meaning is SentenceMeaning.PLAIN]


def _correct_day(message: str, plain_pieces: Sequence[DialoguePiece]) -> bool:
    """Apply a day correction such as “no wait, the play's on the 11th” to the earlier sentences about the same subject.

    Return whether any sentence was corrected.
    """
    return bool(find_announced_detail(message)) and any(
        _correct_piece_day(message, piece) for piece in reversed(plain_pieces[-3 * MAX_LOOKBACK :])
    )


def _drop_announced(pieces: Sequence[DialoguePiece]) -> None:
    """Drop the sentences of a message that only announce the corrected day of an earlier sentence."""
    for piece in pieces:
        if find_announced_detail(piece.text):
            piece.meaning = SentenceMeaning.DROPPED


def _correct_piece_day(message: str, piece: DialoguePiece) -> bool:
    """Replace the day of an earlier sentence if the message announces a new one for it; return whether it was replaced."""
    new_day = find_announced_detail(message)
    words = {word for word in content_words(message) if word.isalpha()} - content_words("no wait wrong read letter got")
    old_day = find_replaced_detail(piece.text, new_day, words) if new_day else ""
    if old_day:
        piece.text = replace_detail(piece.text, old_day, new_day) or piece.text
    return bool(old_day)


def apply_retractions(pieces: list[DialoguePiece], previous_pieces: list[DialoguePiece], replied_text: str) -> bool:
    """Drop the sentences that a retraction cancels and apply its corrections; return whether there was a retraction."""
    has_retraction = False
    for index, piece in enumerate(pieces):
        own_statement = _find_last_statement(pieces[:index])
        if piece.meaning is SentenceMeaning.DROPPED or not is_retraction(
            piece.text, is_in_same_message=own_statement is not None, replied_text=replied_text
        ):
            continue
        # “Did I tell you I'm a prince? Kidding.” retracts only the question in the same message, nothing in the one before.
        has_earlier_sentence = any(len(one.text.split()) > MAX_INTERJECTION_WORDS for one in pieces[:index])
        retracted = own_statement or (None if has_earlier_sentence else _find_last_statement(previous_pieces))
        if own_statement is None and retracted is not None and is_about_other_subject(piece.text, retracted.text):
            continue
        if retracted is not None and _correct_piece_day(piece.text, retracted):
            piece.meaning = SentenceMeaning.DROPPED
            has_retraction = True
        elif retracted is not None:
            piece.text, piece.meaning = extract_corrected_statement(piece.text, retracted.text), SentenceMeaning.PLAIN
            retracted.meaning = SentenceMeaning.DROPPED
            has_retraction = True
    return has_retraction


def _find_last_statement(pieces: Sequence[DialoguePiece]) -> DialoguePiece | None:
    candidates = (piece for piece in reversed(pieces) if piece.meaning is not SentenceMeaning.DROPPED)
    return next(
        (piece for piece in candidates if not piece.text.rstrip("\"”’') ").endswith("?") and len(piece.text.split()) > 2), None
    )
