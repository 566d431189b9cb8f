"""Plain text of a message: removal of code, markup, links and invisible characters."""

from __future__ import annotations

import re

from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role

MAX_CHARACTERS_READ = 6000
"""Maximum characters of one message that are read."""
MAX_NAME_LENGTH = 40
"""Maximum characters of a speaker's name."""
_MARKUP = re.compile(
    r"```.*?(?:```|\Z)"
    r"|<\|[^<>|\n]{0,40}\|>|</?[a-zA-Z][^<>\n]{0,80}>|\[/?(?:INST|SYS)\]"
    r"|https?://\S+"
    r"|(?m:^[ \t]{0,8}(?:[#>]{1,6}|[-*+•]|\d{1,3}[.)])[ \t]+)"
    r"|(?m:^[ \t]{0,8}[-*_=]{3,}[ \t]*$)"
    r"|\*\*|__|~~|`",
    re.DOTALL,
)
_MARKED = re.compile(r"[`<\[*_~#>]|https?:|^\s*(?:[-+]|\d{1,3}[.)])\s")
"""Printable text without any of these characters has no markup to remove."""
_LINK = re.compile(r"!?\[([^\[\]]{0,200})\]\([^()\s]{0,400}\)")
_BREAKS = str.maketrans(dict.fromkeys("\r\u2028\u2029\x0b\x0c\x85", "\n"))
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff\ufffc-\uffff]"
)


def remove_markup(text: str) -> str:
    """Remove code, markup, links and invisible characters. Asterisks of actions stay. Reads at most `MAX_CHARACTERS_READ`
    characters.
    """
    text = text[:MAX_CHARACTERS_READ]
    # Fast path: most messages have nothing to remove.
    if text.isascii() and text.isprintable() and not _MARKED.search(text):
        return text
    text = _INVISIBLE.sub("", text.translate(_BREAKS))
    # A code block leaves a line break, so that the sentences around it are not joined.
    return _MARKUP.sub(lambda found: "\n" if found[0].startswith("```") else "", _LINK.sub(r"\1", text))


def display_name(line: Utterance) -> str:
    """Return the speaker's name for display, at most `MAX_NAME_LENGTH` characters, without double quotes and line breaks."""
    # The name is cut before it is searched, because it may be very long.
    visible = " ".join(_INVISIBLE.sub("", line.name[: 4 * MAX_NAME_LENGTH].translate(_BREAKS)).split())
    # Double quotes delimit quotations in reported speech.
    name = visible.replace('"', "")[:MAX_NAME_LENGTH].strip()
    return name or ("User" if line.role is Role.USER else "Persona")
