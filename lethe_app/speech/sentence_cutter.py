"""Incremental sentence cutter: sentences of a streamed reply, as soon as their end is certain."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lethe_app.language_tables import LazySet, languages_with, load_words
from lethe_app.speech.markup import MarkupReader, SegmentKind, SpeechSegment

MAX_SENTENCE_LENGTH = 220
"""Characters after which a sentence without a stop is cut, so that speech begins and a stop takes effect in time."""
MIN_CLAUSE_LENGTH = 60
"""Minimum characters of a part that is cut at a comma."""

_STOP = re.compile(r"(?P<wide>[。！？｡]+[」』”’）)]*)|(?P<narrow>[.!?…]+)(?P<closers>[\"'”’»)\]]*)")
_CLAUSE_END = re.compile(r"[,;:—–،؛](?=\s)|[、，；：]|\s[-–—](?=\s)")
_WORD_BEFORE = re.compile(r"[^\s(\[\"'“‘«]+$")
_ACRONYM = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
"""Letters with a period after each but the last, such as U.S, e.g and the initial J."""
_ABBREVIATIONS = LazySet(
    lambda: frozenset(word for code in languages_with("abbreviations.txt") for word in load_words("abbreviations", code))
)
"""Abbreviations, without their period, after which a sentence usually goes on; none of them is a word as well."""
_NOISE = re.compile(r"[*`]+|(?<!\w)_+|_+(?!\w)")


class SentenceCutter:
    """Cutter of one reply: `feed` its deltas in order, then `finish`. The sentences do not depend on the deltas' lengths."""

    def __init__(self) -> None:
        self._reader = MarkupReader()
        self._text = ""
        self._kind = SegmentKind.SPEECH

    def feed(self, delta: str) -> list[SpeechSegment]:
        """Return the sentences that are complete now."""
        return [*self._read(self._reader.feed(delta))]

    def finish(self) -> list[SpeechSegment]:
        """Return the rest of the reply."""
        return [*self._read(self._reader.feed("", is_final=True)), *self._cut(is_final=True)]

    def _read(self, pieces: list[SpeechSegment]) -> Iterator[SpeechSegment]:
        for piece in pieces:
            if piece.text == "\n" or piece.kind is not self._kind:
                yield from self._cut(is_final=True)
                self._kind = piece.kind
            self._text += piece.text if piece.text != "\n" else ""
        yield from self._cut(is_final=False)

    def _cut(self, *, is_final: bool) -> Iterator[SpeechSegment]:
        while (length := find_sentence_end(self._text, is_final=is_final)) is not None:
            sentence, self._text = self._text[:length], self._text[length:].lstrip()
            yield from _to_segment(sentence, self._kind)
        if is_final:
            yield from _to_segment(self._text, self._kind)
            self._text = ""


def find_sentence_end(text: str, *, is_final: bool) -> int | None:
    """Return the length of the first sentence of a plain text; None if it has no end yet."""
    for stop in _STOP.finditer(text):
        if stop.start() >= MAX_SENTENCE_LENGTH:
            break
        is_end = _is_sentence_end(text, stop)
        if is_end is None and not is_final:
            return None
        if is_end:
            return stop.end()
    return _find_clause_end(text) if len(text) > MAX_SENTENCE_LENGTH else None


def _find_clause_end(text: str) -> int:
    """Return where a sentence that is too long is cut: at its last comma, or else between words."""
    beginning = text[:MAX_SENTENCE_LENGTH]
    ends = [found.end() for found in _CLAUSE_END.finditer(beginning) if found.end() >= MIN_CLAUSE_LENGTH]
    return ends[-1] if ends else (beginning.rfind(" ") + 1 or MAX_SENTENCE_LENGTH)


def _is_sentence_end(text: str, stop: re.Match[str]) -> bool | None:
    """Return whether a sentence ends with a stop; None if what follows decides it."""
    following = text[stop.end() :].lstrip()[:1]
    if stop.end() < len(text) and not any(character.isalnum() for character in text[: stop.start()]):
        return False  # nothing was uttered yet
    if stop["wide"]:
        return True if stop.end() < len(text) else None
    if stop.end() < len(text) and not text[stop.end()].isspace():
        return False  # within a number, an address or an abbreviation
    return _is_end_before(following, text[: stop.start()], stop) if following else None


def _is_end_before(following: str, before: str, stop: re.Match[str]) -> bool:
    """Return whether a sentence ends with a stop that a space and the character `following` follow."""
    if stop["narrow"] == ".":
        return _ends_with_period(before, following, is_quoted=bool(stop["closers"]))
    if not following.islower():
        return True
    # “Stop!” she said, and “Well … perhaps”, but also a question of somebody who writes no capitals.
    return not stop["closers"] and "…" not in stop["narrow"] and ".." not in stop["narrow"]


def _ends_with_period(before: str, following: str, *, is_quoted: bool) -> bool:
    found = _WORD_BEFORE.search(before)
    word = found[0] if found else ""
    folded = word.casefold()
    if _ACRONYM.fullmatch(word) and folded != "i":
        return False
    if folded in _ABBREVIATIONS or (folded == "no" and following.isdecimal()):
        return False
    if before.strip().isdecimal():  # the number of a list entry
        return False
    return not (following.islower() and is_quoted)


def _to_segment(text: str, kind: SegmentKind) -> Iterator[SpeechSegment]:
    """Yield the segment of a plain text; none if there is nothing to say."""
    words = " ".join(_NOISE.sub("", text).split()).lstrip(" .,;:!?)]")
    if any(character.isalnum() for character in words):
        yield SpeechSegment(words, kind)
