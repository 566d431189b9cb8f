"""What stands in a notebook: a title and one-line conclusions with their days, in a text that the user may write in as well.

    # Cooking

    - Tomas prefers bomba rice for paella (2026-02-12)
    - Broth is always homemade, never from cubes (2026-02-12)

Whatever else stands in such a file belongs to the line above it, and stays where it is.
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
LONGEST_LINE = 300
"""Characters of a conclusion."""
LONGEST_TITLE = 60
LONGEST_SUMMARY = 120
_TITLE = re.compile(r"#\s+(?P<title>\S.*?)\s*#*\s*")
_LINE = re.compile(r"[-*•+]\s+(?P<text>\S.*?)\s*(?:\((?P<day>\d{4}-\d{2}-\d{2})\))?\s*")
_LEAST_SAID = 2
"""Words that carry a sentence, of which all must stand in a line if that is to say the same."""


@dataclass(frozen=True)
class NotebookLine:
    """One conclusion."""

    text: str
    day: date | None
    raw: str
    """As it stands in the file, with all that follows until the next one."""


@dataclass(frozen=True)
class Notebook:
    """One subject."""

    name: str
    """Of its file, without ending."""
    title: str
    head: str = ""
    """What stands above the first line, the title included."""
    lines: tuple[NotebookLine, ...] = ()

    @property
    def newest(self) -> date | None:
        """The day of its last conclusion."""
        return max((line.day for line in self.lines if line.day is not None), default=None)


@dataclass(frozen=True)
class Conclusion:
    """A sentence to be written down, and when it was said."""

    text: str
    day: date


@dataclass(frozen=True)
class Recent:
    """A line of the index: when a subject was last written about, and what."""

    when: datetime
    name: str
    summary: str = ""


def read(name: str, text: str) -> Notebook:
    """The notebook in a file; a file without a title is called like itself."""
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
    """The text of its file: what `read` was given, to the letter."""
    return notebook.head + "\n".join(line.raw for line in notebook.lines)


def begun(title: str, lines: Iterable[NotebookLine]) -> str:
    """The text of a new notebook with these lines, each just as it stood where it comes from."""
    raws = [line.raw.rstrip("\n") for line in lines]
    return "\n".join([f"# {one_line(title, LONGEST_TITLE)}", "", *raws, ""])


def line_of(conclusion: Conclusion) -> NotebookLine:
    """As it is written down."""
    text = one_line(conclusion.text.lstrip("-*•+# "), LONGEST_LINE)
    return _line(f"- {text} ({conclusion.day.isoformat()})")


def added(text: str, name: str, conclusions: Iterable[Conclusion]) -> str:
    """The text with those that it does not say yet at its end; nothing that stands there is touched."""
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
    """`mine`, with every line that `theirs` has got since both were `base`. What both changed is there in both wordings."""
    if theirs in {base, mine}:
        return mine
    if mine == base:
        return theirs
    there = Counter(mine.split("\n")) | Counter(base.split("\n"))
    new = list[str]()
    for row in theirs.split("\n"):
        if there[row] > 0:
            there[row] -= 1
        elif row.strip():
            new.append(row)
    return "\n".join([mine.rstrip("\n"), *new, ""]) if new else mine


def says(notebook: Notebook, sentence: str) -> bool:
    """Does one of its lines say this, with all the words that carry it?"""
    words = content_words(sentence)
    return len(words) >= _LEAST_SAID and any(words <= content_words(line.text) for line in notebook.lines)


def render_for_model(notebook: Notebook, kept: int) -> str:
    """As the model reads it: the title, and the newest lines in their order."""
    left = notebook.lines[len(notebook.lines) - kept :] if kept else ()
    above = [f"(the newest {kept} of {len(notebook.lines)} lines)"] if kept < len(notebook.lines) else []
    rows = [f"- {line.text}" + (f" ({line.day.isoformat()})" if line.day else "") for line in left]
    return "\n".join([f"From {{{{char}}}}'s notebook “{notebook.title}”:", *above, *rows])


def one_line(text: str, longest: int) -> str:
    """Without breaks, and not too long."""
    words = " ".join(text.split())
    return words if len(words) <= longest else f"{words[: longest - 1].rstrip()}…"


def named(name: str) -> str:
    """A title out of a file's name."""
    words = " ".join(name.replace("-", " ").replace("_", " ").split())
    return words[:1].upper() + words[1:] if words else name


# The index


def read_index(text: str) -> list[Recent]:
    """Newest first; lines that are not of the index are passed over."""
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
    """The text of the file."""
    rows = [
        f"{one.when.isoformat(timespec='seconds')}|{one.name}|{one_line(one.summary.replace('|', '/'), LONGEST_SUMMARY)}"
        for one in recents[:MOST_TOPICS]
    ]
    return "".join(f"{row}\n" for row in rows)


def indexed(recents: Iterable[Recent], new: Iterable[Recent], gone: Iterable[str] = ()) -> list[Recent]:
    """The index with these in it, and without what is gone."""
    lost = set(gone)
    left = [*new, *(one for one in recents if one.name not in lost)]
    first: dict[str, Recent] = {}
    for one in left:
        first.setdefault(one.name, one)
    return sorted(first.values(), key=lambda one: one.when, reverse=True)[:MOST_TOPICS]


def ago(when: datetime, present: datetime) -> str:
    """“Today”, “yesterday”, “3 days ago”, “2 weeks ago”, as somebody would say it."""
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
