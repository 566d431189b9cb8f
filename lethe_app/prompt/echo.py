"""Filter that removes lines of a streamed reply that only repeat the memory block of its prompt: heading, dated titles,
bullets.

Small models copy that block instead of using it, and once stored the copy breeds more. Only lines in the block's own form
are removed; a reply that mentions the same things in its own sentences is unchanged. Text is held back only while its line
may still become such a copy.
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
"""Title with a date, a form that only the block has. The starter model repeats the form more often than the words: it may
invent title and date.
"""
_DATE_BEGINS = r"(?:\([^()\n]{0,60})?"
_MAY_BE_DATED = re.compile(
    rf"^\s*(?:\*|\*\*[^*\n(]{{0,100}}(?:\*|\*\* ?{_DATE_BEGINS})?|#{{1,6}}(?: [^\n(]{{0,100}}{_DATE_BEGINS})?)$"
)
_LINE_ENDINGS = tuple('.!?…*"”')
"""Characters that end a complete line."""
SPEECH_VERBS = ("said", "asked", "wrote")
MIN_WORDS = 4
"""Minimum words of a line to count as a copy by itself; a shorter one is a copy only below a copied line."""
MIN_COPIED_SHARE = 0.6
"""Share of a bullet's words, from its start, that makes a line a copy although it ends differently."""


@dataclass(frozen=True)
class _BlockLine:
    """Words of one line of the block, with the rule when a reply line is a copy of it."""

    words: tuple[str, ...]
    min_words: int
    """Number of matching words, from the first, that make a copy."""
    title_words: int = 0
    """Number of leading words that are title and date, after which a reply may continue in its own words."""
    is_marked: bool = True
    """True if the line has the block's own form (title, bullet, heading). Other lines are copies only below a copied line."""
    is_speech: bool = False
    """True if this is only the beginning of a bullet, “- Tomas said”, whatever follows. Without its bullet it counts only
    below a copied line.
    """

    def can_begin_with(self, words: tuple[str, ...]) -> bool:
        """Return whether `words` may be the beginning of this line; the last of them may be incomplete."""
        last = len(words) - 1
        return last < len(self.words) and self.words[:last] == words[:-1] and self.words[last].startswith(words[-1])

    def count_shared_words(self, words: tuple[str, ...]) -> int:
        """Return how many leading words they have in common."""
        pairs = zip(self.words, words, strict=False)
        return next((index for index, (one, other) in enumerate(pairs) if one != other), min(len(self.words), len(words)))


class EchoFilter:
    """Incremental filter of a reply. `feed` and `finish` return text to show; `dropped` is the text that was removed."""

    def __init__(self, block: Sequence[str], *, at_line_start: bool = True) -> None:
        """Prepare the filter. `block` contains the texts of the memory block, its heading first."""
        self._block_lines = [
            original for index, text in enumerate(block) for original in _parse_lines(text, is_heading=index == 0)
        ]
        names = {match["name"].strip("- ") for text in block[1:] for match in _SPEAKER.finditer(text)}
        self._block_lines += [
            _BlockLine((*_split_words(name), verb), len(_split_words(name)) + 1, is_speech=True)
            for name in names
            for verb in SPEECH_VERBS
        ]
        self.dropped = ""
        self._line = ""
        """Beginning of the current line, held back because it may be a copy."""
        self._is_passing = not at_line_start or not self._block_lines
        self._is_dropping = False
        self._is_cut = False
        """True if the current line so far consists only of a removed title."""
        self._is_below_dropped = False
        """True if the previous line was removed."""

    def feed(self, text: str) -> str:
        """Return the text that is certainly no copy."""
        if not self._block_lines:
            return text
        parts = text.split("\n")
        shown = [self._process_part(part) + self._end_line() for part in parts[:-1]]
        return "".join(shown) + self._process_part(parts[-1])

    def finish(self) -> str:
        """Return the held text unless it is a copy. Below a removed line, an unfinished line is a copy if it begins like
        one.
        """
        if not self._line:
            return ""
        words = _split_words(self._line)
        is_cut_off = self._is_below_dropped and len(words) > 1 and not self._line.rstrip().endswith(_LINE_ENDINGS)
        if is_cut_off and any(original.can_begin_with(words) for original in self._block_lines):
            self.dropped, self._line = self.dropped + self._line, ""
        shown, self._line = self._finish_line(""), ""
        return shown

    def _process_part(self, text: str) -> str:
        """Process more text of the current line."""
        if self._is_dropping:
            self.dropped += text
            return ""
        if self._is_passing:
            text = text.lstrip(" :") if self._is_cut else text
            self._is_cut = self._is_cut and not text
            return text
        self._line += text
        words = _split_words(self._line)
        is_open = not words or any(original.can_begin_with(words) for original in self._candidates())
        return "" if is_open or _MAY_BE_DATED.match(self._line) else self._decide_line(words)

    def _candidates(self) -> list[_BlockLine]:
        """Return the block lines that the current line may be a copy of."""
        is_bullet = _BULLET.match(self._line) is not None
        return [
            original
            for original in self._block_lines
            if self._is_below_dropped or (original.is_marked and (is_bullet or not original.is_speech))
        ]

    def _decide_line(self, words: tuple[str, ...]) -> str:
        """Decide about a line that differs from the block from here on: show it, or drop what was copied so far."""
        copied = [original for original in self._candidates() if original.count_shared_words(words) >= original.min_words]
        line, self._line = self._line, ""
        shared = max((original.count_shared_words(words) for original in copied), default=0)
        is_own = any(
            shared == original.title_words or (shared == len(original.words) and not original.is_speech) for original in copied
        )
        if is_own:
            own = _text_after(line, shared)
        elif dated := _DATED.match(line):
            own, is_own = line[dated.end() :].lstrip(), True
        else:
            own = "" if copied else line
        self.dropped += line.removesuffix(own) if own else line
        self._is_passing, self._is_dropping = is_own or not copied, bool(copied) and not is_own
        self._is_cut = is_own and not own
        return own

    def _end_line(self) -> str:
        if self._is_dropping:
            self.dropped += "\n"
            shown, self._is_below_dropped = "", True
        elif self._is_passing:
            shown, self._is_below_dropped = "" if self._is_cut else "\n", self._is_cut
        else:
            shown = self._finish_line("\n")
        self._line, self._is_passing, self._is_dropping, self._is_cut = "", False, False, False
        return shown

    def _finish_line(self, end: str) -> str:
        """Decide about a complete held line: show all of it, or nothing."""
        words = _split_words(self._line)
        is_copy = (
            any(original.count_shared_words(words) >= original.min_words for original in self._candidates())
            if words
            else self._is_below_dropped
        )
        is_copy = (
            is_copy or _DATED.match(self._line) is not None or (self._is_below_dropped and self._line.lstrip().startswith("#"))
        )
        self._is_below_dropped = is_copy
        if is_copy:
            self.dropped += self._line + end
            return ""
        return self._line + end


def _parse_lines(text: str, *, is_heading: bool) -> list[_BlockLine]:
    """Return the comparable lines of one text of the block."""
    block_lines: list[_BlockLine] = []
    for line in filter(str.strip, text.splitlines()):
        words = _split_words(line)
        title = _TITLE.match(line)
        if title is not None and (title["date"] or is_heading):
            title_length = len(_split_words(title[0]))
            block_lines.append(_BlockLine(words, title_length, title_words=title_length))
        elif _BULLET.match(line) and len(words) >= MIN_WORDS:
            block_lines.append(_BlockLine(words, max(MIN_WORDS, round(MIN_COPIED_SHARE * len(words)))))
        elif words:
            block_lines.append(_BlockLine(words, len(words), is_marked=is_heading and len(words) >= MIN_WORDS))
    return block_lines


def _split_words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))


def _text_after(text: str, count: int) -> str:
    """Return the text after the first `count` words and the punctuation that follows them."""
    ends = [match.end() for match in _WORD.finditer(text)]
    return text[ends[count - 1] :].lstrip(' .,:;*"”)')
