"""Splitting of a long notebook into several; every line is assigned to exactly one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from math import ceil

from lethe_app.brain.notebooks.document import MAX_TITLE_LENGTH, Notebook, NotebookLine, render_new_notebook, to_single_line
from lethe_app.brain.notebooks.subjects import SubjectStems
from lethe_app.domain.clock import MONTHS

MIN_LINES = 3
"""Minimum number of lines of a new notebook."""
MAX_PARTS = 8
"""Maximum number of notebooks into which one is split."""
FILL_LIMIT = 0.7
"""Maximum length of a part as a fraction of the allowed length, so that it can grow again."""
GENERAL_SUFFIX = "in general"
"""Title suffix of the lines that were assigned to no part."""


@dataclass(frozen=True)
class NotebookPiece:
    """One of the notebooks resulting from a split."""

    title: str
    lines: tuple[NotebookLine, ...]


def pieces_from_proposal(notebook: Notebook, parts: Sequence[tuple[str, Sequence[int]]]) -> list[NotebookPiece] | None:
    """Return the pieces of a model's proposal (titles with line numbers from 1); None if it does not split the notebook.

    A line that is named twice goes to the first part; lines that are not named stay together.
    """
    part_of_row: dict[int, int] = {}
    for part, (_title, numbers) in enumerate(parts[:MAX_PARTS]):
        for number in numbers:
            if 1 <= number <= len(notebook.lines):
                part_of_row.setdefault(number - 1, part)
    groups = [[row for row in sorted(part_of_row) if part_of_row[row] == part] for part in range(len(parts))]
    unassigned = [row for row in range(len(notebook.lines)) if row not in part_of_row]
    titles = [title for title, _numbers in parts]
    small_group_rows = [row for group in groups if len(group) < MIN_LINES for row in group]
    kept = [(titles[part], group) for part, group in enumerate(groups) if len(group) >= MIN_LINES]
    if rest := sorted([*unassigned, *small_group_rows]):
        kept.append((f"{notebook.title}, {GENERAL_SUFFIX}", rest))
    return _build_pieces(notebook, kept) if len(kept) > 1 else None


def split_without_model(notebook: Notebook, max_lines: int, subjects: SubjectStems) -> list[NotebookPiece]:
    """Split a notebook without a model: by the subjects of its lines, or else by date with titles of the period."""
    if pieces := pieces_from_proposal(notebook, _split_by_subject(notebook, max_lines, subjects)):
        return pieces
    count = min(max(2, ceil(len(notebook.lines) / (max_lines * FILL_LIMIT))), MAX_PARTS)
    size = ceil(len(notebook.lines) / count)
    spans = [list(range(start, min(start + size, len(notebook.lines)))) for start in range(0, len(notebook.lines), size)]
    periods = [_period(notebook, span) for span in spans]
    if len(set(periods)) < len(periods):  # they would be told apart by a number behind the period only
        return _build_pieces(notebook, [(_add_number(notebook.title, number), span) for number, span in enumerate(spans, 1)])
    titles = [f"{notebook.title}, {period}" for period in periods]
    return _build_pieces(notebook, list(zip(titles, spans, strict=True)))


def render_pieces(notebook: Notebook, pieces: Sequence[NotebookPiece]) -> list[str]:
    """Return the file text of each piece; the user's text above the first conclusion goes to the first piece."""
    found = [render_new_notebook(piece.title, piece.lines) for piece in pieces]
    head_text = "\n".join(row for row in notebook.head.split("\n") if not row.startswith("# ")).strip("\n")
    if head_text.strip():
        title, _, rest = found[0].partition("\n")
        found[0] = f"{title}\n\n{head_text}\n{rest}"
    return found


def _build_pieces(notebook: Notebook, groups: Sequence[tuple[str, Sequence[int]]]) -> list[NotebookPiece]:
    """Return the pieces with unique titles."""
    taken: set[str] = set()
    found: list[NotebookPiece] = []
    for title, rows in groups:
        name, number = to_single_line(title, MAX_TITLE_LENGTH), 2
        while name.casefold() in taken:
            name, number = _add_number(title, number), number + 1
        taken.add(name.casefold())
        found.append(NotebookPiece(name, tuple(notebook.lines[row] for row in rows)))
    return found


def _add_number(title: str, number: int) -> str:
    """Return the title with a number, shortened before the number so that the number is never cut off."""
    suffix = f" ({number})"
    return to_single_line(title, MAX_TITLE_LENGTH - len(suffix)) + suffix


def _split_by_subject(book: Notebook, max_lines: int, subjects: SubjectStems) -> list[tuple[str, list[int]]]:
    """Split a long notebook by subject into titles with line numbers from 1; empty if that does not make it short enough."""
    remaining = {
        number: subjects.subjects_in(line.text) - subjects.subjects_of_notebook(book)
        for number, line in enumerate(book.lines, 1)
    }
    parent_title = book.title.partition(":")[0].strip() or book.title
    parts: list[tuple[str, list[int]]] = []
    while counts := subjects.count_subjects(remaining.values()):
        subject, count = counts.most_common(1)[0]
        if count < MIN_LINES:
            break
        numbers = [number for number, titles in remaining.items() if subject in titles]
        remaining = {number: titles for number, titles in remaining.items() if number not in numbers}
        parts.append((f"{parent_title}: {subject.lower()}", numbers))
    fits = len(remaining) <= max_lines and all(len(numbers) <= max_lines for _title, numbers in parts)
    return parts if fits and len(parts) + (len(remaining) >= MIN_LINES) > 1 else []


def _period(notebook: Notebook, rows: Sequence[int]) -> str:
    days = sorted(day for row in rows if (day := notebook.lines[row].day) is not None)
    if not days:
        return f"lines {rows[0] + 1} to {rows[-1] + 1}"
    first, last = _month(days[0]), _month(days[-1])
    return first if first == last else f"{first} to {last}"


def _month(day: date) -> str:
    return f"{MONTHS[day.month - 1]} {day.year}"
