"""Separate quoted speech from the text around it: speech tags, and statements that the user adds about themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lethe_app.brain.dialogue import character_speech
from lethe_app.retrieval.query_terms import WORD

SPEECH = re.compile(r"[\"“](?P<said>[^\"“”\n]+)[\"”]")
_MARKS = re.compile(r"[\"“”]")
_SAYS = re.compile(
    r"^(?:and |then )?(?:I|he|she|they|we) (?:\w+ly )?(?:says?|asks?|whispers?|shouts?|mutters?|repl(?:y|ies)|"
    r"answers?|calls?|cr(?:y|ies)|"
    r"add|go|yells?|growls?|sighs?|said|asked|whispered|shouted|muttered|replied|answered)\b",
    re.IGNORECASE,
)
"""Speech tag next to a quotation, such as “I whisper” or “he said”."""


def own_behind(sentence: str, narration: str, scene_words: frozenset[str]) -> str:
    """Return the statement about the user's own life that follows the last quotation of a narration, or an empty string.

    It counts only if it begins in lower case, as typed in chats, is no speech tag and mentions none of the `scene_words`.
    """
    last = max((found.end() for found in SPEECH.finditer(narration)), default=-1)
    own = sentence.strip(" .,…–-")
    is_typed = last >= 0 and own[:1].islower() and sentence in narration[last:] and not _SAYS.search(own)
    return own if is_typed and character_speech.tells_life(own, scene_words) else ""


def by_quotes(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the quoted and the unquoted pieces of a text, each with whether it belongs to the speech.

    An unquoted piece belongs to it if it is a speech tag (“…,” I whisper) but not if the user talks about themselves (“…!”
    ...and I'm allergic to nuts).
    """
    if not SPEECH.search(text):
        yield _MARKS.sub("", text), True
        return
    cursor = 0
    for found in SPEECH.finditer(text):
        yield from _beside(text[cursor : found.start()])
        yield found["said"], True
        cursor = found.end()
    yield from _beside(text[cursor:])


def _beside(text: str) -> Iterator[tuple[str, bool]]:
    if WORD.search(text):
        own = _MARKS.sub("", text).strip(" .,…–-")
        yield own, bool(_SAYS.search(own)) or not character_speech.tells_of_self(own)
