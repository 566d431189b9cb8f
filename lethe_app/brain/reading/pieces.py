"""Sentences and actions of a message, each with its meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from lethe_app.brain.languages.forget_requests import ForgetRequest


class SentenceMeaning(Enum):
    """Meaning of a sentence."""

    PLAIN = "plain"
    """Stated by the speaker as themselves."""
    IN_CHARACTER = "in character"
    """Said or done in a roleplay scene."""
    DROPPED = "dropped"
    """Passed on, quoted, drafted, imagined or retracted."""


@dataclass(frozen=True)
class MessageParts:
    """Text of one message by meaning; passed-on, quoted, drafted and retracted text is in neither part."""

    plain: str
    """Statements of the speaker as themselves; may be empty."""
    in_character: str
    """Actions and speech of a roleplay scene."""


@dataclass
class DialoguePiece:
    """One sentence or action of a message with its meaning."""

    text: str
    meaning: SentenceMeaning
    narrates: bool = False
    """True if the text narrates an action instead of being speech."""
    requests: list[ForgetRequest] = field(default_factory=list)
    """Requests to forget that the sentence makes, one for each sentence that it points at."""
    withdrawn: list[str] = field(default_factory=list)
    """What was taken out of it because the user wants it forgotten."""

    def withdraw(self, part: str, rest: str = "") -> None:
        """Take a part out because the user wants it forgotten, so that the rest remains, or the sentence is dropped."""
        self.withdrawn.append(part)
        self.text, self.meaning = (rest, self.meaning) if rest else (self.text, SentenceMeaning.DROPPED)


def join_pieces(pieces: Sequence[DialoguePiece]) -> MessageParts:
    """Join the pieces of one message by their meaning."""
    return MessageParts(_join_meaning(pieces, SentenceMeaning.PLAIN), _join_meaning(pieces, SentenceMeaning.IN_CHARACTER))


def _join_meaning(pieces: Sequence[DialoguePiece], meaning: SentenceMeaning) -> str:
    """Join the pieces of one meaning, with a line break after a piece without an end mark."""
    text = ""
    for piece in pieces:
        if piece.meaning is meaning and (stripped := piece.text.strip()):
            is_ended = text.rstrip("\"”’')")[-1:] in ".!?…。！？"
            text += stripped if not text else f"{' ' if is_ended else chr(10)}{stripped}"
    return text
