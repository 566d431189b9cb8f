"""Splitting of a long notebook into several; every line is assigned to exactly one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import date
from math import ceil

from lethe_app.brain.notebooks.document import MAX_TITLE_LENGTH, Notebook, NotebookLine, render_new_notebook, to_single_line
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.domain.clock import MONTHS
from lethe_app.language_tables import lazy_words
from lethe_app.retrieval.query_terms import EVERYDAY_WORDS, fold, split_words

MIN_LINES = 3
"""Minimum number of lines of a new notebook."""
MAX_PARTS = 8
"""Maximum number of notebooks into which one is split."""
FILL_LIMIT = 0.7
"""Maximum length of a part as a fraction of the allowed length, so that it can grow again."""
GENERAL_SUFFIX = "in general"
"""Title suffix of the lines that the model assigned to no part."""
_UNSUITABLE_WORDS = lazy_words("no_part_titles")
"""Words that occur in nearly every fact and are therefore not used as titles."""
Similarity = Callable[[int, int], float]
"""Function that returns the similarity (0 to 1) of two lines by their indices."""


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


def split_without_model(notebook: Notebook, max_lines: int, similarity: Similarity | None = None) -> list[NotebookPiece]:
    """Split a notebook without a model: by similarity with titles from shared words, otherwise by date with titles of the
    period.
    """
    count = min(max(2, ceil(len(notebook.lines) / (max_lines * FILL_LIMIT))), MAX_PARTS)
    groups = _cluster_lines(len(notebook.lines), count, similarity or word_similarity(notebook.lines))
    subjects = _group_subjects(notebook, groups)
    if all(len(group) >= MIN_LINES for group in groups) and all(subjects):
        parent_title = notebook.title.partition(":")[0].strip() or notebook.title  # of one that was parted before
        titles = [f"{parent_title}: {subject}" for subject in subjects]
        return _build_pieces(notebook, list(zip(titles, groups, strict=True)))
    size = ceil(len(notebook.lines) / count)
    spans = [list(range(start, min(start + size, len(notebook.lines)))) for start in range(0, len(notebook.lines), size)]
    periods = [_period(notebook, span) for span in spans]
    if len(set(periods)) < len(periods):  # they would be told apart by a number behind the period only
        return _build_pieces(notebook, [(f"{notebook.title} ({number})", span) for number, span in enumerate(spans, 1)])
    titles = [f"{notebook.title}, {period}" for period in periods]
    return _build_pieces(notebook, list(zip(titles, spans, strict=True)))


def word_similarity(lines: Sequence[NotebookLine]) -> Similarity:
    """Return a similarity function by shared content words; words that occur in most lines are ignored."""
    words = [content_words(line.text) for line in lines]
    common = {word for word, count in Counter(word for each in words for word in each).items() if count > len(lines) / 2}
    words = [each - common for each in words]

    def similarity(first: int, second: int) -> float:
        shared, fewer = words[first] & words[second], min(len(words[first]), len(words[second]))
        return len(shared) / fewer if fewer else 0.0

    return similarity


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
            name, number = to_single_line(f"{title} ({number})", MAX_TITLE_LENGTH), number + 1
        taken.add(name.casefold())
        found.append(NotebookPiece(name, tuple(notebook.lines[row] for row in rows)))
    return found


def _cluster_lines(size: int, count: int, similarity: Similarity) -> list[list[int]]:
    """Return `count` groups around dissimilar seed lines, each line in the group it is most similar to."""
    total_similarities = [sum(similarity(one, other) for other in range(size) if other != one) for one in range(size)]
    seeds = [max(range(size), key=lambda row: total_similarities[row])]
    while len(seeds) < count:
        left = [row for row in range(size) if row not in seeds]
        seeds.append(max(left, key=lambda row: (-max(similarity(row, seed) for seed in seeds), total_similarities[row])))
    groups = [[seed] for seed in seeds]
    for row in range(size):
        if row not in seeds:
            similarities = [sum(similarity(row, other) for other in group) / len(group) for group in groups]
            groups[similarities.index(max(similarities))].append(row)
    return [sorted(group) for group in groups]


def _group_subjects(notebook: Notebook, groups: Sequence[Sequence[int]]) -> list[str]:
    """Return for each group one or two words that many of its lines have and the others rarely have; empty if there is none."""
    title = content_words(notebook.title)
    lines = [_title_words(line.text, title) for line in notebook.lines]
    found: list[str] = []
    for group in groups:
        inside, outside = Counter(word for row in group for word in lines[row]), Counter[str]()
        for row in set(range(len(lines))) - set(group):
            outside.update(lines[row])
        best = sorted(inside, key=lambda word: (-(inside[word] - outside[word]), word))
        subject_words = [word for word in best if inside[word] >= 2 and inside[word] > 2 * outside[word]][:2]
        found.append(" and ".join(subject_words))
    return found


def _title_words(text: str, without: Collection[str]) -> set[str]:
    """Return the folded words of a line that may serve as a title."""
    unsuitable = EVERYDAY_WORDS | _UNSUITABLE_WORDS
    words = [word for word in split_words(text) if len(word) > 3 and fold(word) not in unsuitable]
    return {fold(word) for word in words if not content_words(word) <= frozenset(without)}


def _period(notebook: Notebook, rows: Sequence[int]) -> str:
    days = sorted(day for row in rows if (day := notebook.lines[row].day) is not None)
    if not days:
        return f"lines {rows[0] + 1} to {rows[-1] + 1}"
    first, last = _month(days[0]), _month(days[-1])
    return first if first == last else f"{first} to {last}"


def _month(day: date) -> str:
    return f"{MONTHS[day.month - 1]} {day.year}"
