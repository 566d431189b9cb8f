"""Takes out of a streamed reply the lines that only repeat the memory block of its prompt: heading, titles with dates, bullets.

Small models copy that block instead of using it. Only what has the block's own form is taken out; a reply that speaks of the
same things in its own lines stays as it is. Text is held back only while its line may still become such a copy.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_WORD = re.compile(r"[^\W_]+")
_TITLE = re.compile(r"^(?:\*\*(?P<bold>.+?)\*\*|#{1,6} (?P<head>.+?))(?P<date> \([^()]+\))?(?::|$)")
_BULLET = re.compile(r"^\s*[-*•] ")
_SPEAKER = re.compile(r"(?:^|[\s:])[-*•]? ?(?P<name>[^\s:\"“”.,][^:\"“”.,\n]{0,39}) (?:said|asked|wrote), [\"“]")
_DATED = re.compile(r"^\s*(?:\*\*|#{1,6} )[^*\n(]{1,100}(?:\*\*)? ?\([^()\n]{0,60}\b(?:19|20)\d\d\):?")
"""A title with a date, as only the block has it: a copy may invent both."""
_DATE_BEGINS = r"(?:\([^()\n]{0,60})?"
_MAY_BE_DATED = re.compile(
    rf"^\s*(?:\*|\*\*[^*\n(]{{0,100}}(?:\*|\*\* ?{_DATE_BEGINS})?|#{{1,6}}(?: [^\n(]{{0,100}}{_DATE_BEGINS})?)$"
)
_ENDS = tuple('.!?…*"”')
"""Marks behind which a line is complete."""
SAID = ("said", "asked", "wrote")
LEAST_WORDS = 4
"""A line of fewer words is copied only where a copied line stands above it."""
NEARLY = 0.6
"""The part of a bullet's words, from its beginning, that makes a copy of a line that ends otherwise."""


@dataclass(frozen=True)
class _Known:
    """One line of the block, as the words that a copy has."""

    words: tuple[str, ...]
    least: int
    """So many of them in a row, from the first, are a copy."""
    title: int = 0
    """Of these, so many are title and date, behind which a reply may go on in words of its own."""
    is_marked: bool = True
    """Has it the block's own form? Other lines are copies only below one."""
    is_speech: bool = False
    """Is it only the beginning of a bullet, “- Tomas said”, whatever is said then? Without its mark it counts below a copy."""

    def begins_with(self, words: tuple[str, ...]) -> bool:
        """May these become its words? The last one may be half a word yet."""
        last = len(words) - 1
        return last < len(self.words) and self.words[:last] == words[:-1] and self.words[last].startswith(words[-1])

    def shared(self, words: tuple[str, ...]) -> int:
        """How many words they have in common from the first."""
        pairs = zip(self.words, words, strict=False)
        return next((place for place, (one, other) in enumerate(pairs) if one != other), min(len(self.words), len(words)))


class EchoFilter:
    """Feed it a reply piece by piece; what it returns may be shown. `dropped` is what it took out."""

    def __init__(self, block: Sequence[str], *, at_line_start: bool = True) -> None:
        """`block` are the texts of the memory block, its heading first."""
        self._known = [known for place, text in enumerate(block) for known in _lines(text, is_heading=place == 0)]
        names = {match["name"].strip("- ") for text in block[1:] for match in _SPEAKER.finditer(text)}
        self._known += [_Known((*_words(name), verb), len(_words(name)) + 1, is_speech=True) for name in names for verb in SAID]
        self.dropped = ""
        self._line = ""
        """The beginning of a line that may be a copy."""
        self._passes = not at_line_start or not self._known
        self._drops = False
        self._is_cut = False
        """Is the line so far nothing but a title that was taken out?"""
        self._below = False
        """Was the line above taken out?"""

    def feed(self, text: str) -> str:
        """What of it is no copy, as far as that is certain."""
        if not self._known:
            return text
        parts = text.split("\n")
        shown = [self._part(part) + self._end_line() for part in parts[:-1]]
        return "".join(shown) + self._part(parts[-1])

    def finish(self) -> str:
        """What was held back and is no copy. Below a copied line, one that breaks off is a copy if it begins as one."""
        words = _words(self._line)
        is_cut_off = self._below and len(words) > 1 and not self._line.rstrip().endswith(_ENDS)
        if is_cut_off and any(known.begins_with(words) for known in self._known):
            self.dropped, self._line = self.dropped + self._line, ""
        shown, self._line = self._settled("") if self._line else "", ""
        return shown

    def _part(self, text: str) -> str:
        """More of the present line."""
        if self._drops:
            self.dropped += text
            return ""
        if self._passes:
            text = text.lstrip(" :") if self._is_cut else text
            self._is_cut = self._is_cut and not text
            return text
        self._line += text
        words = _words(self._line)
        is_open = not words or any(known.begins_with(words) for known in self._candidates())
        return "" if is_open or _MAY_BE_DATED.match(self._line) else self._decided(words)

    def _candidates(self) -> list[_Known]:
        """The lines of which the present line may be a copy."""
        is_bullet = _BULLET.match(self._line) is not None
        return [known for known in self._known if self._below or (known.is_marked and (is_bullet or not known.is_speech))]

    def _decided(self, words: tuple[str, ...]) -> str:
        """The line goes on otherwise than the block: it passes, or it was copied up to here."""
        copied = [known for known in self._candidates() if known.shared(words) >= known.least]
        line, self._line = self._line, ""
        shared = max((known.shared(words) for known in copied), default=0)
        is_own = any(shared == known.title or (shared == len(known.words) and not known.is_speech) for known in copied)
        if is_own:
            own = _after(line, shared)
        elif dated := _DATED.match(line):
            own, is_own = line[dated.end() :].lstrip(), True
        else:
            own = "" if copied else line
        self.dropped += line.removesuffix(own) if own else line
        self._passes, self._drops = is_own or not copied, bool(copied) and not is_own
        self._is_cut = is_own and not own
        return own

    def _end_line(self) -> str:
        if self._drops:
            self.dropped += "\n"
            shown, self._below = "", True
        elif self._passes:
            shown, self._below = "" if self._is_cut else "\n", self._is_cut
        else:
            shown = self._settled("\n")
        self._line, self._passes, self._drops, self._is_cut = "", False, False, False
        return shown

    def _settled(self, end: str) -> str:
        """The held line is complete: all of it is shown, or nothing."""
        words = _words(self._line)
        is_copy = any(known.shared(words) >= known.least for known in self._candidates()) if words else self._below
        is_copy = is_copy or _DATED.match(self._line) is not None or (self._below and self._line.lstrip().startswith("#"))
        self._below = is_copy
        if is_copy:
            self.dropped += self._line + end
            return ""
        return self._line + end


def _lines(text: str, *, is_heading: bool) -> list[_Known]:
    """The lines of one text of the block."""
    found: list[_Known] = []
    for line in filter(str.strip, text.splitlines()):
        words = _words(line)
        title = _TITLE.match(line)
        if title is not None and (title["date"] or is_heading):
            named = len(_words(title[0]))
            found.append(_Known(words, named, title=named))
        elif _BULLET.match(line) and len(words) >= LEAST_WORDS:
            found.append(_Known(words, max(LEAST_WORDS, round(NEARLY * len(words)))))
        elif words:
            found.append(_Known(words, len(words), is_marked=is_heading and len(words) >= LEAST_WORDS))
    return found


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))


def _after(text: str, count: int) -> str:
    """The text behind so many words and the marks that follow them."""
    ends = [match.end() for match in _WORD.finditer(text)]
    return text[ends[count - 1] :].lstrip(' .,:;*"”)')
