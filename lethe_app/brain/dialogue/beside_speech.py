"""Separate quoted speech from the text around it: speech tags, and statements that the user adds about themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lethe_app.brain.dialogue import character_speech
from lethe_app.retrieval.query_terms import WORD

SPEECH = re.compile(r"[\"“](?P<said>[^\"“”\n]+)[\"”]")
_MARKS = re.compile(r"[\"“”]")
_SPEECH_TAG = re.compile(
    r"^(?:and |then )?(?:I|he|she|they|we) (?:\w+ly )?(?:says?|asks?|whispers?|shouts?|mutters?|repl(?:y|ies)|"
    r"answers?|calls?|cr(?:y|ies)|"
    r"add|go|yells?|growls?|sighs?|said|asked|whispered|shouted|muttered|replied|answered)\b",
    re.IGNORECASE,
)
"""Speech tag next to a quotation, such as “I whisper” or “he said”."""


def extract_own_statement(sentence: str, narration: str, scene_words: frozenset[str]) -> str:
    """Return the statement about the user's own life that follows the last quotation of a narration, or an empty string.

    It counts only if it begins in lower case, as typed in chats, is no speech tag and mentions none of the `scene_words`.
    """
    speech_end = max((match.end() for match in SPEECH.finditer(narration)), default=-1)
    statement = sentence.strip(" .,…–-")
    is_typed = (
        speech_end >= 0 and statement[:1].islower() and sentence in narration[speech_end:] and not _SPEECH_TAG.search(statement)
    )
    return statement if is_typed and character_speech.is_everyday_statement(statement, scene_words) else ""


def split_by_quotes(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the quoted and the unquoted pieces of a text, each with whether it belongs to the speech.

    An unquoted piece belongs to it if it is a speech tag (“…,” I whisper) but not if the user talks about themselves (“…!”
    ...and I'm allergic to nuts).
    """
    if not SPEECH.search(text):
        yield _MARKS.sub("", text), True
        return
    cursor = 0
    for match in SPEECH.finditer(text):
        yield from _classify_unquoted(text[cursor : match.start()])
        yield match["said"], True
        cursor = match.end()
    yield from _classify_unquoted(text[cursor:])


def _classify_unquoted(text: str) -> Iterator[tuple[str, bool]]:
    if WORD.search(text):
        piece = _MARKS.sub("", text).strip(" .,…–-")
        yield piece, bool(_SPEECH_TAG.search(piece)) or not character_speech.is_about_speaker(piece)
