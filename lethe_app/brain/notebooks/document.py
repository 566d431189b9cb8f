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

from lethe_app.brain.dates.arithmetic import nights_between
from lethe_app.brain.text.fingerprint import content_words, take

MOST_TOPICS = 20
"""Maximum number of entries in the index of recent notebooks."""
LONGEST_LINE = 300
"""Maximum length of a conclusion in characters."""
LONGEST_TITLE = 60
LONGEST_SUMMARY = 120
_TITLE = re.compile(r"#\s+(?P<title>\S.*?)\s*#*\s*")
_LINE = re.compile(r"[-*•+]\s+(?P<text>\S.*?)\s*(?:\((?P<day>\d{4}-\d{2}-\d{2})\))?\s*")
_LEAST_SAID = 2
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

    @property
    def newest(self) -> date | None:
        """Return the date of the latest conclusion; None if none is dated."""
        return max((line.day for line in self.lines if line.day is not None), default=None)


@dataclass(frozen=True)
class Conclusion:
    """Sentence to be added to a notebook, with the date on which it was said."""

    text: str
    day: date


@dataclass(frozen=True)
class Recent:
    """Index entry: the last change of a notebook and its summary."""

    when: datetime
    name: str
    summary: str = ""


def read(name: str, text: str) -> Notebook:
    """Parse a notebook file; a file without a title gets one from its name."""
    head: list[str] = []
    raws: list[list[str]] = []
    for row in text.split("\n"):
        if _LINE.fullmatch(row):
            raws.append([row])
        else:
            (raws[-1] if raws else head).append(row)
    titles = [found["title"] for row in head if (found := _TITLE.fullmatch(row))]
    above = "".join(f"{row}\n" for row in head) if raws else "\n".join(head)
    return Notebook(name, titles[0] if titles else named(name), above, tuple(_line("\n".join(raw)) for raw in raws))


def spelled(notebook: Notebook) -> str:
    """Return the text of a notebook file, identical to what `read` parsed."""
    return notebook.head + "\n".join(line.raw for line in notebook.lines)


def begun(title: str, lines: Iterable[NotebookLine]) -> str:
    """Return the text of a new notebook with these lines, verbatim."""
    raws = [line.raw.rstrip("\n") for line in lines]
    return "\n".join([f"# {one_line(title, LONGEST_TITLE)}", "", *raws, ""])


def line_of(conclusion: Conclusion) -> NotebookLine:
    """Return a conclusion as a notebook line."""
    text = one_line(conclusion.text.lstrip("-*•+# "), LONGEST_LINE)
    return _line(f"- {text} ({conclusion.day.isoformat()})")


def added(text: str, name: str, conclusions: Iterable[Conclusion]) -> str:
    """Append the conclusions that the text does not contain yet; existing text is not changed."""
    notebook, raws = read(name, text), list[str]()
    known = {take(line.text) for line in notebook.lines}
    for line in map(line_of, conclusions):
        if line.text and take(line.text) not in known:
            known.add(take(line.text))
            raws.append(line.raw)
    if not raws:
        return text
    return "\n".join([text.rstrip("\n"), *([] if notebook.lines else [""]), *raws, ""])


def merged(base: str, mine: str, theirs: str) -> str:
    """Merge two edits of `base`: return `mine` with every line that `theirs` added. A line changed in both is kept in both
    wordings.
    """
    if theirs in {base, mine}:
        return mine
    if mine == base:
        return theirs
    # The union of counters takes the larger count, so a repeated row is new only beyond its count in both texts.
    there = Counter(mine.split("\n")) | Counter(base.split("\n"))
    new = list[str]()
    for row in theirs.split("\n"):
        if there[row] > 0:
            there[row] -= 1
        elif row.strip():
            new.append(row)
    return "\n".join([mine.rstrip("\n"), *new, ""]) if new else mine


def says(notebook: Notebook, sentence: str) -> bool:
    """Return whether one line contains all content words of the sentence, which must have at least two."""
    words = content_words(sentence)
    return len(words) >= _LEAST_SAID and any(words <= content_words(line.text) for line in notebook.lines)


def render_for_model(notebook: Notebook, kept: int) -> str:
    """Return the notebook as prompt text: its title and the newest `kept` lines, in order."""
    left = notebook.lines[len(notebook.lines) - kept :] if kept else ()
    above = [f"(the newest {kept} of {len(notebook.lines)} lines)"] if kept < len(notebook.lines) else []
    rows = [f"- {line.text}" + (f" ({line.day.isoformat()})" if line.day else "") for line in left]
    return "\n".join([f"From {{{{char}}}}'s notebook “{notebook.title}”:", *above, *rows])


def one_line(text: str, longest: int) -> str:
    """Return the text without line breaks, truncated to `longest` characters."""
    words = " ".join(text.split())
    return words if len(words) <= longest else f"{words[: longest - 1].rstrip()}…"


def named(name: str) -> str:
    """Return a title made from a file name."""
    words = " ".join(name.replace("-", " ").replace("_", " ").split())
    return words[:1].upper() + words[1:] if words else name


# Index of recent notebooks.


def read_index(text: str) -> list[Recent]:
    """Parse the index of recent notebooks, newest first; invalid lines are skipped."""
    found: dict[str, Recent] = {}
    for row in text.splitlines():
        when, _, rest = row.partition("|")
        name, _, summary = rest.partition("|")
        try:
            one = Recent(datetime.fromisoformat(when.strip()).astimezone(), name.strip(), summary.strip())
        except (ValueError, OverflowError):
            continue
        if one.name and (one.name not in found or found[one.name].when < one.when):
            found[one.name] = one
    return sorted(found.values(), key=lambda one: one.when, reverse=True)[:MOST_TOPICS]


def spelled_index(recents: Sequence[Recent]) -> str:
    """Return the text of the index file."""
    rows = [
        f"{one.when.isoformat(timespec='seconds')}|{one.name}|{one_line(one.summary.replace('|', '/'), LONGEST_SUMMARY)}"
        for one in recents[:MOST_TOPICS]
    ]
    return "".join(f"{row}\n" for row in rows)


def indexed(recents: Iterable[Recent], new: Iterable[Recent], gone: Iterable[str] = ()) -> list[Recent]:
    """Return the index with the new entries, without the names in `gone`, newest first."""
    lost = set(gone)
    left = [*new, *(one for one in recents if one.name not in lost)]
    first: dict[str, Recent] = {}
    for one in left:
        first.setdefault(one.name, one)
    return sorted(first.values(), key=lambda one: one.when, reverse=True)[:MOST_TOPICS]


def ago(when: datetime, present: datetime) -> str:
    """Return an elapsed time as text: “today”, “yesterday”, “3 days ago”, “2 weeks ago”."""
    nights = nights_between(when, present)
    if nights <= 1:
        return "yesterday" if nights == 1 else "today"
    for days, word in ((365, "year"), (30, "month"), (7, "week")):
        if nights >= 2 * days or (nights >= days and word != "week"):
            count = round(nights / days)
            return f"{count} {word}s ago" if count > 1 else f"a {word} ago"
    return f"{nights} days ago" if nights != 7 else "a week ago"


def _line(raw: str) -> NotebookLine:
    found = _LINE.fullmatch(raw.split("\n", 1)[0])
    assert found is not None, "only what begins with a mark is a line"
    try:
        day = date.fromisoformat(found["day"]) if found["day"] else None
    except ValueError:  # such as the 31st of February
        return NotebookLine(f"{found['text']} ({found['day']})", None, raw)
    return NotebookLine(found["text"], day, raw)
