"""Text format of notebooks: a title and one-line conclusions with their dates, which the user may edit as well.

    # Cooking

    - Tomas prefers bomba rice for paella (2026-02-12)
    - Broth is always homemade, never from cubes (2026-02-12)

Any other text belongs to the line above it and is preserved.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from lethe_app.brain.text.fingerprint import compute_fingerprint, content_words
from lethe_app.dates.arithmetic import calendar_days_between

MAX_INDEX_ENTRIES = 20
"""Maximum number of entries in the index of recent notebooks."""
MAX_LINE_LENGTH = 300
"""Maximum length of a conclusion in characters."""
MAX_TITLE_LENGTH = 60
MAX_SUMMARY_LENGTH = 120
_TITLE = re.compile(r"#\s+(?P<title>\S.*?)\s*#*\s*")
_LINE = re.compile(r"[-*•+]\s+(?P<text>\S.*?)\s*(?:\((?P<day>\d{4}-\d{2}-\d{2})\))?\s*")
_MIN_CONTENT_WORDS = 2
"""Minimum number of content words of a sentence for it to be found in a notebook."""


@dataclass(frozen=True)
class NotebookLine:
    """Conclusion in a notebook."""

    text: str
    day: date | None
    raw: str
    """Text in the file, including everything up to the next conclusion."""


@dataclass(frozen=True)
class Notebook:
    """Notebook about one subject."""

    name: str
    """File name without ending."""
    title: str
    head: str = ""
    """Text above the first conclusion, including the title."""
    lines: tuple[NotebookLine, ...] = ()


@dataclass(frozen=True)
class Conclusion:
    """Sentence to be added to a notebook, with the date on which it was said."""

    text: str
    day: date


@dataclass(frozen=True)
class NotebookIndexEntry:
    """Index entry: the last change of a notebook and its summary."""

    when: datetime
    name: str
    summary: str = ""


def parse_notebook(name: str, text: str) -> Notebook:
    """Parse a notebook file; a file without a title gets one from its name."""
    head: list[str] = []
    raws: list[list[str]] = []
    for row in text.split("\n"):
        if _LINE.fullmatch(row):
            raws.append([row])
        else:
            (raws[-1] if raws else head).append(row)
    titles = [found["title"] for row in head if (found := _TITLE.fullmatch(row))]
    head_text = "".join(f"{row}\n" for row in head) if raws else "\n".join(head)
    return Notebook(
        name, titles[0] if titles else title_from_name(name), head_text, tuple(_parse_line("\n".join(raw)) for raw in raws)
    )


def render_notebook(notebook: Notebook) -> str:
    """Return the text of a notebook file, identical to what `parse_notebook` parsed."""
    return notebook.head + "\n".join(line.raw for line in notebook.lines)


def render_new_notebook(title: str, lines: Iterable[NotebookLine]) -> str:
    """Return the text of a new notebook with these lines, verbatim."""
    raws = [line.raw.rstrip("\n") for line in lines]
    return "\n".join([f"# {to_single_line(title, MAX_TITLE_LENGTH)}", "", *raws, ""])


def to_line(conclusion: Conclusion) -> NotebookLine:
    """Return a conclusion as a notebook line."""
    text = to_single_line(conclusion.text.lstrip("-*•+# "), MAX_LINE_LENGTH)
    return _parse_line(f"- {text} ({conclusion.day.isoformat()})")


def append_conclusions(text: str, name: str, conclusions: Iterable[Conclusion]) -> str:
    """Append the conclusions that the text does not contain yet; existing text is not changed."""
    notebook, raws = parse_notebook(name, text), list[str]()
    known = {compute_fingerprint(line.text) for line in notebook.lines}
    for line in map(to_line, conclusions):
        if line.text and compute_fingerprint(line.text) not in known:
            known.add(compute_fingerprint(line.text))
            raws.append(line.raw)
    if not raws:
        return text
    return "\n".join([text.rstrip("\n"), *([] if notebook.lines else [""]), *raws, ""])


def merge_edits(base: str, mine: str, theirs: str) -> str:
    """Merge two edits of `base`: return `mine` with every line that `theirs` added. A line changed in both is kept in both
    wordings.
    """
    if theirs in {base, mine}:
        return mine
    if mine == base:
        return theirs
    # The union of counters takes the larger count, so a repeated row is new only beyond its count in both texts.
    known_rows = Counter(mine.split("\n")) | Counter(base.split("\n"))
    new = list[str]()
    for row in theirs.split("\n"):
        if known_rows[row] > 0:
            known_rows[row] -= 1
        elif row.strip():
            new.append(row)
    return "\n".join([mine.rstrip("\n"), *new, ""]) if new else mine


def contains_statement(notebook: Notebook, sentence: str) -> bool:
    """Return whether one line contains all content words of the sentence, which must have at least two."""
    words = content_words(sentence)
    return len(words) >= _MIN_CONTENT_WORDS and any(words <= content_words(line.text) for line in notebook.lines)


def render_for_model(notebook: Notebook, max_lines: int) -> str:
    """Return the notebook as prompt text: its title and the newest `max_lines` lines, in order."""
    newest_lines = notebook.lines[len(notebook.lines) - max_lines :] if max_lines else ()
    above = [f"(the newest {max_lines} of {len(notebook.lines)} lines)"] if max_lines < len(notebook.lines) else []
    rows = [f"- {line.text}" + (f" ({line.day.isoformat()})" if line.day else "") for line in newest_lines]
    return "\n".join([f"From {{{{char}}}}'s notebook “{notebook.title}”:", *above, *rows])


def to_single_line(text: str, max_length: int) -> str:
    """Return the text without line breaks, truncated to `max_length` characters."""
    words = " ".join(text.split())
    return words if len(words) <= max_length else f"{words[: max_length - 1].rstrip()}…"


def title_from_name(name: str) -> str:
    """Return a title made from a file name."""
    words = " ".join(name.replace("-", " ").replace("_", " ").split())
    return words[:1].upper() + words[1:] if words else name


# Index of recent notebooks.


def parse_index(text: str) -> list[NotebookIndexEntry]:
    """Parse the index of recent notebooks, newest first; invalid lines are skipped."""
    found: dict[str, NotebookIndexEntry] = {}
    for row in text.splitlines():
        when, _, rest = row.partition("|")
        name, _, summary = rest.partition("|")
        try:
            entry = NotebookIndexEntry(datetime.fromisoformat(when.strip()).astimezone(), name.strip(), summary.strip())
        except (ValueError, OverflowError):
            continue
        if entry.name and (entry.name not in found or found[entry.name].when < entry.when):
            found[entry.name] = entry
    return sorted(found.values(), key=lambda one: one.when, reverse=True)[:MAX_INDEX_ENTRIES]


def render_index(recents: Sequence[NotebookIndexEntry]) -> str:
    """Return the text of the index file."""
    rows = [
        f"{one.when.isoformat(timespec='seconds')}|{one.name}|"
        f"{to_single_line(one.summary.replace('|', '/'), MAX_SUMMARY_LENGTH)}"
        for one in recents[:MAX_INDEX_ENTRIES]
    ]
    return "".join(f"{row}\n" for row in rows)


def update_index(
    recents: Iterable[NotebookIndexEntry], new: Iterable[NotebookIndexEntry], removed: Iterable[str] = ()
) -> list[NotebookIndexEntry]:
    """Return the index with the new entries, without the names in `removed`, newest first."""
    removed_names = set(removed)
    entries = [*new, *(one for one in recents if one.name not in removed_names)]
    first: dict[str, NotebookIndexEntry] = {}
    for one in entries:
        first.setdefault(one.name, one)
    return sorted(first.values(), key=lambda one: one.when, reverse=True)[:MAX_INDEX_ENTRIES]


def format_days_ago(when: datetime, now: datetime) -> str:
    """Return an elapsed time as text: “today”, “yesterday”, “3 days ago”, “2 weeks ago”."""
    elapsed_days = calendar_days_between(when, now)
    if elapsed_days <= 1:
        return "yesterday" if elapsed_days == 1 else "today"
    for days, word in ((365, "year"), (30, "month"), (7, "week")):
        if elapsed_days >= 2 * days or (elapsed_days >= days and word != "week"):
            count = round(elapsed_days / days)
            return f"{count} {word}s ago" if count > 1 else f"a {word} ago"
    return f"{elapsed_days} days ago" if elapsed_days != 7 else "a week ago"


def _parse_line(raw: str) -> NotebookLine:
    found = _LINE.fullmatch(raw.split("\n", 1)[0])
    assert found is not None, "only what begins with a mark is a line"
    try:
        day = date.fromisoformat(found["day"]) if found["day"] else None
    except ValueError:  # such as the 31st of February
        return NotebookLine(f"{found['text']} ({found['day']})", None, raw)
    return NotebookLine(found["text"], day, raw)
