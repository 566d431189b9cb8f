"""Formatting of ages, sizes, counts and lists for display, in the language and locale of the user."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QDate, QLocale

from lethe_app.domain.list_items import end_at_word

if TYPE_CHECKING:
    from lethe_app.domain.model import ModelFile
    from lethe_app.domain.recall import RecallCounts
    from lethe_app.domain.tools import ToolResult

MAX_TITLE_LENGTH = 70
"""Characters of the title of a conversation; a longer one is the beginning of a message, which is stored cut within a word."""
_UNBREAKABLE, _PIECE = re.compile(r"\S{32,}"), re.compile(r"\S{16}")
"""Strings without white space that are too long for a line, and the pieces into which they may be broken."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("Count", text)


def format_age(moment: datetime, now: datetime) -> str:
    """Return the local day of `moment` relative to `now`; the year is included only if it differs."""
    day, today = moment.astimezone().date(), now.astimezone().date()
    days_ago = (today - day).days
    if days_ago <= 0:
        return QCoreApplication.translate("Age", "today")
    if days_ago == 1:
        return QCoreApplication.translate("Age", "yesterday")
    locale = QLocale()
    if days_ago < 7:
        return locale.standaloneDayName(day.isoweekday())
    date = QDate(day.year, day.month, day.day)
    return locale.toString(date, "d MMM" if day.year == today.year else "d MMM yyyy")


def format_session_title(title: str) -> str:
    """Return the title of a conversation on one line; if it is the beginning of a message, without its Markdown marks and
    ending with a whole word.
    """
    text = " ".join(title.replace("*", "").replace("#", "").split()).strip("_> ")
    if len(text) > MAX_TITLE_LENGTH:
        text = end_at_word(text[: MAX_TITLE_LENGTH + 1].rpartition(" ")[0] or text[:MAX_TITLE_LENGTH])
    return text or QCoreApplication.translate("Session", "New conversation")


def format_count(count: int, singular: str, plural: str) -> str:
    """Return `singular` if `count` is 1, else `plural`, with the number in place of {n}; both must be translated already."""
    return (singular if count == 1 else plural).format(n=QLocale().toString(count))


def join_with_and(parts: Sequence[str]) -> str:
    """Join texts as in “a, b and c”."""
    return _join_parts(parts, QCoreApplication.translate("Words", "{several} and {last}"))


def join_with_or(parts: Sequence[str]) -> str:
    """Join texts as in “a, b or c”."""
    return _join_parts(parts, QCoreApplication.translate("Words", "{several} or {last}"))


def _join_parts(parts: Sequence[str], template: str) -> str:
    return template.format(several=", ".join(parts[:-1]), last=parts[-1]) if len(parts) > 1 else "".join(parts)


def format_message_count(count: int) -> str:
    """Return “1 message”, “212 messages”."""
    return format_count(count, _tr("{n} message"), _tr("{n} messages"))


def format_source_count(count: int) -> str:
    """Return “1 source”, “3 sources”."""
    return format_count(count, _tr("{n} source"), _tr("{n} sources"))


def format_minutes(minutes: int) -> str:
    """Return “60 minutes”, “4 hours”, “2 days”: in the largest unit in which it is a whole number of at least two."""
    units = (
        (1440, _tr("{n} day"), _tr("{n} days")),
        (60, _tr("{n} hour"), _tr("{n} hours")),
        (1, _tr("{n} minute"), _tr("{n} minutes")),
    )
    size, singular, plural = next(unit for unit in units if unit[0] == 1 or (minutes % unit[0] == 0 and minutes >= 2 * unit[0]))
    return format_count(minutes // size, singular, plural)


def format_memory_count(count: int) -> str:
    """Return “1 memory”, “3 memories”."""
    return format_count(count, _tr("{n} memory"), _tr("{n} memories"))


def format_recall_counts(counts: RecallCounts) -> str:
    """Return what was used for a reply: “2 memories · 3 world entries”."""
    entries = _tr("{n} world entry"), _tr("{n} world entries")
    passages = (
        _tr("{n} document passage"),
        _tr("{n} document passages"),
    )
    parts = [format_memory_count(counts.memories)] if counts.memories else []
    parts += [format_count(counts.world_entries, *entries)] if counts.world_entries else []
    parts += [format_count(counts.passages, *passages)] if counts.passages else []
    parts += [_tr("{n} irrelevant").format(n=counts.irrelevant)] if counts.irrelevant else []
    return " · ".join(parts)


def format_recalled_count(count: int) -> str:
    """Return “3 sources used”, for memories, facts, world entries and passages of documents together."""
    return format_count(count, _tr("{n} source used"), _tr("{n} sources used"))


def format_token_count(count: int) -> str:
    """Return “1 token”, “142 tokens”."""
    return format_count(count, _tr("{n} token"), _tr("{n} tokens"))


def abbreviate_tokens(tokens: int) -> str:
    """Return a token count in short form: 3120 as “3.1k”, 512 as “512”, multiples of 1024 by their usual name: 8192 as “8k”."""
    if tokens < 1000:
        return str(tokens)
    if tokens % 1024 == 0:
        return f"{tokens // 1024}k"
    return f"{QLocale().toString(tokens / 1000, 'f', 1)}k"


def format_size(size: int) -> str:
    """Return a size in bytes as “4.1 GB” or “138 MB”, with decimal units as in file managers."""
    locale = QLocale()
    if size >= 1_000_000_000:
        return f"{locale.toString(size / 1e9, 'f', 1)} GB"
    return f"{locale.toString(max(1, round(size / 1e6)))} MB"


def format_tool_results(results: Sequence[ToolResult]) -> str:
    """Return the results of tool calls as one line: “Kept a memory · rolled 2d6: 7”."""
    words = " · ".join(result.shown for result in results)
    return words[:1].upper() + words[1:]


def describe_model(model: ModelFile) -> str:
    """Return source, size and quantisation of a model."""
    return " · ".join(part for part in (model.source, format_size(model.size), model.quantization) if part)


def insert_break_points(text: str) -> str:
    """Insert zero-width spaces into strings without white space, such as URLs, which would otherwise be cut off or widen the
    page.
    """
    return _UNBREAKABLE.sub(lambda found: _PIECE.sub("\\g<0>\u200b", found[0]), text)


def format_number(value: float) -> str:
    """Return a number with two decimals in the format of the locale."""
    return QLocale().toString(float(value), "f", 2)


def quote_message(text: str) -> str:
    """Return a message on one line in quotation marks, unless it has some, without the asterisks of its actions."""
    line = " ".join(text.replace("*", "").split())
    return line if not line or "“" in line or '"' in line else f"“{line}”"


def truncate_text(text: str, max_length: int = 28) -> str:
    """Return at most `max_length` characters of a text, for buttons and sentences."""
    return text if len(text) <= max_length else f"{text[: max_length - 1].rstrip()}…"


def shorten_text(text: str, max_length: int) -> str:
    """Return a text on one line of at most `max_length` characters, cut between words where possible."""
    line = " ".join(text.split())
    if len(line) <= max_length:
        return line
    cut = line[: max_length - 1]
    return f"{(cut.rsplit(' ', 1)[0] if ' ' in cut[max_length // 2 :] else cut).rstrip(' ,;:')}…"


def suggest_file_name(name: str, substitute: str) -> str:
    """Return a file name without suffix for something called `name`: letters, digits, spaces and - _ ' remain."""
    kept = "".join(letter if letter.isalnum() or letter in " -_'" else "-" for letter in name).strip(" -")
    return (kept or substitute)[:80]


def format_bytes(size: int) -> str:
    """Return a size, also below a megabyte: “312 bytes”, “4 kB”."""
    if size >= 1_000_000:
        return format_size(size)
    if size >= 1_000:
        return f"{QLocale().toString(round(size / 1000))} kB"
    return format_count(size, QCoreApplication.translate("Trash", "{n} byte"), QCoreApplication.translate("Trash", "{n} bytes"))
