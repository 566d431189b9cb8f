"""What requests to forget withdraw within a conversation: the line before, the line itself, or what says the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from lethe_app.brain.languages.forget_requests import ForgetKind, ForgetRequest, find_forget_request, regrets_statement
from lethe_app.brain.reading.pieces import DialoguePiece, SentenceMeaning
from lethe_app.brain.text.clauses import extract_clauses
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role

MAX_INTERJECTION_WORDS = 4
"""Words up to which an earlier sentence of the same message is taken for an interjection before a request."""


def apply_requests(pieces: Sequence[DialoguePiece], previous_pieces: Sequence[DialoguePiece]) -> None:
    """Drop the requests of a message of the user, and the sentences of it or of the user's previous one which they point at."""
    for index, piece in enumerate(pieces):
        if piece.meaning is not SentenceMeaning.PLAIN or (request := find_forget_request(piece.text)) is None:
            continue
        # A sentence that only regrets what was said is not what a request points at.
        sentence, earlier = piece.text, [each for each in pieces[:index] if not regrets_statement(each.text)]
        own = [each for each in [*earlier, *pieces[index + 1 :]] if not each.requests and content_words(each.text)]
        pointed = {ForgetKind.OWN_LINE: own, ForgetKind.LINE_BEFORE: find_last_statement(earlier)}.get(request.kind)
        # After another sentence of the same message a request points at nothing in the one before.
        is_alone = all(len(each.text.split()) <= MAX_INTERJECTION_WORDS for each in earlier)
        if pointed == [] and is_alone and not request.what:
            pointed = find_last_statement(previous_pieces)
        # What the line before says is forgotten wherever it is said; one's own line concerns that line alone.
        kind = ForgetKind.STATEMENT if request.kind is ForgetKind.LINE_BEFORE else request.kind
        piece.requests = [replace(request, kind=kind, what=target.text) for target in pointed or ()] or [request]
        for target in pointed or ():
            target.withdraw(target.text)
        piece.withdraw(sentence[: sentence.rfind(request.rest)] if request.rest else sentence, request.rest)


def withdraw_statements(lines: Sequence[Utterance], pieces: Sequence[Sequence[DialoguePiece]]) -> None:
    """Drop the sentences before a request, of any speaker, which say what it wants forgotten, and those of the reply to it that
    name it; where it points at the line before, also those of the reply to that one.
    """
    for index, line_pieces in enumerate(pieces):
        for request in chain.from_iterable(piece.requests for piece in line_pieces):
            for piece in chain.from_iterable(pieces[: index + 1]) if request.kind is ForgetKind.STATEMENT else ():
                if not piece.requests and piece.meaning is not SentenceMeaning.IN_CHARACTER and request.is_said_by(piece.text):
                    piece.withdraw(*split_statement(piece.text, request))
            is_of_line_before = request.kind is ForgetKind.OWN_LINE and request.what not in lines[index].text
            replies = {index - 1 if is_of_line_before else index + 1, index + 1}
            for piece in chain.from_iterable(
                pieces[at] for at in replies if at < len(lines) and lines[at].role is Role.ASSISTANT
            ):
                if request.is_named_in(piece.text):
                    piece.withdraw(piece.text)


def split_statement(sentence: str, request: ForgetRequest) -> tuple[str, str]:
    """Return what a sentence says of what is to be forgotten, and its other clauses; all and nothing if it has no others."""
    clauses = extract_clauses(sentence)
    said = next((clause for clause in clauses if request.is_said_by(clause)), "")
    others = [clause for clause in clauses if clause != said]
    return (said, " ".join(f"{clause}." for clause in others)) if said and others else (sentence, "")


def find_last_statement(pieces: Sequence[DialoguePiece]) -> list[DialoguePiece]:
    """Return the last sentence that states something, rather one of three words or more; none if there is none."""
    stated = [
        piece
        for piece in reversed(pieces)
        if piece.meaning is not SentenceMeaning.DROPPED and not piece.text.rstrip("\"”’') ").endswith("?")
    ]
    long = [piece for piece in stated if len(piece.text.split()) > 2]
    return (long or [piece for piece in stated if content_words(piece.text)])[:1]
