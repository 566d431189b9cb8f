"""Incremental removal of Markdown from a streamed reply: plain text, with actions told apart from speech.

Every step waits until what follows decides it, so that the result does not depend on how the text was divided into deltas.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

MAX_ACTION_LENGTH = 1000
"""Maximum characters of an action; an asterisk that is not closed within them is no action."""
MAX_LINK_LENGTH = 700
"""Maximum characters of a link with its address."""

_SPECIAL = "\\\\`~!\\[<*_\n"
_EMOJI = "\u20e3\u2600-\u27bf\u2b00-\u2bff\ufe0e\ufe0f\U0001f000-\U0001faff\U000e0020-\U000e007f"
_PLAIN = re.compile(f"[^{_SPECIAL}{_EMOJI}hH]+")
_PICTURES = re.compile(f"[{_EMOJI}][{_EMOJI}\u200d]*")
_STARRED = re.compile(rf"\*(?![\s*])((?:[^*\n]|\*\*+){{1,{MAX_ACTION_LENGTH}}}?)(?<![\s*])\*(?!\*)")
_UNDERLINED = re.compile(rf"_(?![\s_])([^_\n]{{1,{MAX_ACTION_LENGTH}}}?)(?<!\s)_(?!\w)")
_LINK_TEXT = re.compile(r"\[([^\[\]\n]{0,200})\]")
_OPEN_LINK_TEXT = re.compile(r"\[[^\[\]\n]{0,200}")
_ADDRESS = re.compile(r"\([^()\n]{0,400}\)")
_OPEN_ADDRESS = re.compile(r"\([^()\n]{0,400}")
_TAG = re.compile(r"</?[a-zA-Z!][^<>\n]{0,300}>")
_OPEN_TAG = re.compile(r"<(?:/?(?:[a-zA-Z!][^<>\n]{0,300})?)?")
_URL = re.compile(r"\S+")
_URL_SCHEMES = ("http://", "https://")
_RULE = re.compile(r"[ \t]*([-*_=])(?:[ \t]*\1){2,}[ \t]*")
_NUMBERED = re.compile(r"\d{1,3}[.)][ \t]+")
_OPEN_NUMBERED = re.compile(r"\d{1,3}[.)]?")
_TABLE_RULE = re.compile(r"[|:\- \t]+")
_BEFORE_ACTION, _AFTER_ACTION = frozenset('\n.!?…"”»'), frozenset('\n"“«*')


class SegmentKind(StrEnum):
    """What a segment is in a roleplay, which decides whether and by whom it is spoken."""

    SPEECH = "speech"
    """Text outside asterisks, spoken by the persona."""
    ACTION = "action"
    """Text of an action between asterisks, left out or spoken by the narrator."""


@dataclass(frozen=True, slots=True)
class SpeechSegment:
    """At most one sentence, without markup, on one line."""

    text: str
    kind: SegmentKind = SegmentKind.SPEECH


class MarkupReader:
    """Incremental reader of Markdown. Code blocks, web addresses, tags and emoji are left out; a line break ends a line."""

    def __init__(self, *, at_line_start: bool = True) -> None:
        self._buffer = ""
        self._is_final = False
        self._at_line_start = at_line_start
        self._fence = ""
        """Marks that close the code block; empty outside one."""
        self._last = self._last_visible = "\n"
        """Last character of the plain text, and the last one that is no space."""
        self._pieces: list[SpeechSegment] = []
        self._block_readers: dict[str, Callable[[], bool]] = {
            "\n": self._take_line_break,
            **dict.fromkeys("`~", self._take_fence),
            **dict.fromkeys("#>+•", self._take_line_mark),
            **dict.fromkeys("-*_=", self._take_rule_or_bullet),
            "|": self._take_table_row,
        }
        """Readers of what can begin a line, by its first character."""
        self._inline_readers: dict[str, Callable[[], bool]] = {
            "\n": self._take_line_break,
            "\\": self._take_escape,
            "`": lambda: self._consume(1),
            "~": self._take_tildes,
            "!": self._take_exclamation_mark,
            "[": self._take_bracket,
            "<": self._take_tag,
            **dict.fromkeys("hH", self._take_possible_url),
            "*": self._take_asterisk,
            "_": self._take_underscore,
        }
        """Readers of what can stand in a line, by its first character."""

    def feed(self, text: str, *, is_final: bool = False) -> list[SpeechSegment]:
        """Return the pieces of plain text that are certain; with `is_final` all that is left. A line break is a piece."""
        self._buffer += text
        self._is_final = is_final
        while self._buffer and self._take():
            pass
        pieces, self._pieces = self._pieces, []
        return pieces

    def _take(self) -> bool:
        """Read the next element of the buffer. Return False if what follows decides what it is."""
        if self._fence:
            return self._take_code_line()
        return self._take_line_start() if self._at_line_start else self._take_inline()

    def _emit(self, text: str, kind: SegmentKind = SegmentKind.SPEECH) -> None:
        if text:
            self._pieces.append(SpeechSegment(text, kind))
            self._last = text[-1]
            self._last_visible = text.rstrip(" \t")[-1:] or self._last_visible

    def _consume(self, length: int) -> bool:
        self._buffer = self._buffer[length:]
        return True

    def _is_cut_off(self, length: int) -> bool:
        """Return whether an element of this length ends with the buffer, so that it may go on in the next delta."""
        return length >= len(self._buffer) and not self._is_final

    # Blocks

    def _take_code_line(self) -> bool:
        line, end, _rest = self._buffer.partition("\n")
        if not end and not self._is_final:
            return False
        stripped = line.strip()
        if stripped.startswith(self._fence) and not stripped.strip(self._fence[0]):
            self._fence = ""
        return self._consume(len(line) + len(end))

    def _take_line_start(self) -> bool:
        text = self._buffer.lstrip(" \t")
        if not text:
            return self._consume(len(self._buffer)) if self._is_final else False
        self._buffer = text
        return self._block_readers.get(text[0], self._take_number)()

    def _take_number(self) -> bool:
        """Leave out the number of a list entry; other text is read as it is."""
        numbered, cut_off = _NUMBERED.match(self._buffer), _OPEN_NUMBERED.match(self._buffer)
        end = numbered.end() if numbered else cut_off.end() if cut_off else 0
        if end and self._is_cut_off(end):
            return False
        self._at_line_start = False
        return self._consume(numbered.end()) if numbered else True

    def _take_line_break(self) -> bool:
        self._emit("\n")
        self._at_line_start = True
        return self._consume(1)

    def _take_fence(self) -> bool:
        mark = self._buffer[0]
        length = len(self._buffer) - len(self._buffer.lstrip(mark))
        if self._is_cut_off(length):
            return False
        line, end, _rest = self._buffer.partition("\n")
        if length >= 3 and not end and not self._is_final:
            return False
        if length >= 3 and mark not in line[length:]:
            self._fence = mark * length
            self._emit("\n")
            return self._consume(len(line) + len(end))
        self._at_line_start = False
        return True

    def _take_line_mark(self) -> bool:
        """Leave out the mark of a heading, a quotation or a bullet; a quoted line may begin with another mark."""
        mark = self._buffer[0]
        length = len(self._buffer) - len(self._buffer.lstrip("#")) if mark == "#" else 1
        if mark == ">":
            return self._consume(1)
        if self._is_cut_off(length):
            return False
        self._at_line_start = False
        is_mark = length <= 6 and self._buffer[length : length + 1] in {" ", "\t", ""}
        return self._consume(length) if is_mark else True

    def _take_rule_or_bullet(self) -> bool:
        text = self._buffer
        length = len(text) - len(text.lstrip("-*_= \t"))
        if self._is_cut_off(length):
            return False
        if text[length : length + 1] in {"\n", ""} and _RULE.fullmatch(text[:length]):
            return self._consume(length)
        if text[0] in "-*" and text[1:2] in {" ", "\t"}:
            return self._consume(2)
        self._at_line_start = False
        return True

    def _take_table_row(self) -> bool:
        line, end, rest = self._buffer.partition("\n")
        if not end and not self._is_final:
            return False
        cells = [] if _TABLE_RULE.fullmatch(line) else [cell.strip() for cell in line.strip().strip("|").split("|")]
        self._buffer = ", ".join(filter(None, cells)) + end + rest
        self._at_line_start = False
        return True

    # Inline

    def _take_inline(self) -> bool:
        return self._inline_readers.get(self._buffer[0], self._take_plain)()

    def _take_plain(self) -> bool:
        if pictures := _PICTURES.match(self._buffer):
            if not self._last.isspace():
                self._emit(" ")
            return self._consume(pictures.end())
        plain = _PLAIN.match(self._buffer)
        return self._take_literal(plain.end() if plain else 1)

    def _take_literal(self, length: int = 1) -> bool:
        self._emit(self._buffer[:length])
        return self._consume(length)

    def _take_escape(self) -> bool:
        if self._is_cut_off(1):
            return False
        following = self._buffer[1:2]
        if following and following.isascii() and not following.isalnum() and not following.isspace():
            self._emit(following)
            return self._consume(2)
        return self._consume(1)

    def _take_tildes(self) -> bool:
        length = len(self._buffer) - len(self._buffer.lstrip("~"))
        if self._is_cut_off(length):
            return False
        return self._consume(length) if length > 1 else self._take_literal()

    def _take_exclamation_mark(self) -> bool:
        if self._is_cut_off(1):
            return False
        is_image = self._is_link(1) if self._buffer[1:2] == "[" else False
        if is_image is None:
            return False
        return self._consume(1) if is_image else self._take_literal()

    def _is_link(self, start: int) -> bool | None:
        """Return whether a link begins at an opening bracket; None if what follows decides it."""
        text = _LINK_TEXT.match(self._buffer, start)
        if text is None:
            cut_off = _OPEN_LINK_TEXT.match(self._buffer, start)
            return None if cut_off and self._is_cut_off(cut_off.end()) else False
        if self._is_cut_off(text.end()):
            return None
        if self._buffer[text.end() : text.end() + 1] != "(":
            return False
        if _ADDRESS.match(self._buffer, text.end()):
            return True
        cut_off = _OPEN_ADDRESS.match(self._buffer, text.end())
        return None if cut_off and self._is_cut_off(cut_off.end()) else False

    def _take_bracket(self) -> bool:
        is_link = self._is_link(0)
        if is_link is None:
            return False
        if not is_link:
            return self._take_literal()
        text = _LINK_TEXT.match(self._buffer)
        address = _ADDRESS.match(self._buffer, text.end()) if text else None
        assert text is not None
        assert address is not None
        self._buffer = text[1] + self._buffer[address.end() :]
        return True

    def _take_tag(self) -> bool:
        if tag := _TAG.match(self._buffer):
            return self._consume(tag.end())
        cut_off = _OPEN_TAG.match(self._buffer)
        return False if cut_off and self._is_cut_off(cut_off.end()) else self._take_literal()

    def _take_possible_url(self) -> bool:
        if self._last.isalnum():
            return self._take_literal()
        beginning = self._buffer[:8].lower()
        if not self._is_final and any(scheme.startswith(beginning) for scheme in _URL_SCHEMES if scheme != beginning):
            return False
        if not beginning.startswith(_URL_SCHEMES):
            return self._take_literal()
        url = _URL.match(self._buffer)
        assert url is not None
        if self._is_cut_off(url.end()):
            return False
        return self._consume(len(url[0].rstrip(".,;:!?…)]}\"'”’»*_")))

    # Actions

    def _take_asterisk(self) -> bool:
        length = len(self._buffer) - len(self._buffer.lstrip("*"))
        if self._is_cut_off(length):
            return False
        if length == 3:  # strong and emphasised
            return self._consume(2)
        if length > 1 or self._buffer[1:2].isspace():
            return self._consume(length)
        return self._take_emphasis(_STARRED)

    def _take_underscore(self) -> bool:
        length = len(self._buffer) - len(self._buffer.lstrip("_"))
        if self._is_cut_off(length):
            return False
        if self._last.isalnum():
            self._emit(" ")
            return self._consume(length)
        if length > 1 or self._buffer[1:2].isspace():
            return self._consume(length)
        return self._take_emphasis(_UNDERLINED)

    def _take_emphasis(self, pattern: re.Pattern[str]) -> bool:
        found = pattern.match(self._buffer)
        if found is None:
            return self._take_unclosed_emphasis()
        if self._is_cut_off(found.end()):
            return False
        rest = self._buffer[found.end() :]
        if len(found[1].split()) < 2:
            following = rest.lstrip(" \t")[:1]
            if not following and not self._is_final:
                return False
            if not self._is_lone_action(following):
                self._buffer = found[1] + rest
                return True
        self._emit_action(found[1])
        self._buffer = rest
        return True

    def _take_unclosed_emphasis(self) -> bool:
        window = self._buffer[: MAX_ACTION_LENGTH + 2]
        has_line_end = "\n" in window
        if len(window) < MAX_ACTION_LENGTH + 2 and not has_line_end and not self._is_final:
            return False
        if self._last_visible != "\n" or (not has_line_end and not self._is_final):
            return self._consume(1)
        # The rest of a line that begins with an asterisk is an action whose end was forgotten, or is cut off.
        line = window.partition("\n")[0]
        self._emit_action(line[1:])
        return self._consume(len(line))

    def _is_lone_action(self, following: str) -> bool:
        """Return whether a single word such as *smiles* is an action, at the edge of a sentence, and no emphasis within one."""
        is_edge = not following or following.isupper() or following in _AFTER_ACTION
        return self._last_visible in _BEFORE_ACTION and is_edge

    def _emit_action(self, text: str) -> None:
        inner = MarkupReader(at_line_start=False)
        self._emit("".join(piece.text for piece in inner.feed(text, is_final=True)), SegmentKind.ACTION)
