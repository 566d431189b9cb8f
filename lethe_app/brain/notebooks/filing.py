"""Assignment of a session's conclusions to notebooks: to a matching one, or to a new one if enough are about the same
subject.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lethe_app.brain.notebooks.document import Conclusion, Notebook
from lethe_app.brain.notebooks.subjects import Matters

MAKE_ONE = 3
"""Minimum number of unassigned conclusions for a new notebook."""


@dataclass
class FilingResult:
    """Assignment of conclusions; those in neither collection are remembered without a notebook."""

    into: dict[str, list[Conclusion]] = field(default_factory=dict)
    """Conclusions by the name of an existing notebook."""
    new: list[list[Conclusion]] = field(default_factory=list)
    """Groups of conclusions that each make a new notebook."""


def filed(
    found: Sequence[Conclusion], votes: Sequence[str], home: str, books: Sequence[Notebook], matters: Matters
) -> FilingResult:
    """Assign conclusions to notebooks.

    `votes` names for each conclusion the notebook that its words match, `home` the notebook of the session; both may be
    empty.
    """
    there = {book.name: book for book in books}
    result, left = FilingResult(), list[Conclusion]()
    for one, vote in zip(found, votes, strict=True):
        name = next((name for name in (vote, home) if name in there and matters.belongs(one.text, there[name])), "")
        if name:
            result.into.setdefault(name, []).append(one)
        else:
            left.append(one)
    left = _with_their_like(left, books, matters, result)
    while (group := _alike(left, matters)) and len(group) >= MAKE_ONE:
        result.new.append(group)
        left = [one for one in left if one not in group]
    if len(left) >= MAKE_ONE:
        result.new.append(left)
    return result


def _with_their_like(
    left: Sequence[Conclusion], books: Sequence[Notebook], matters: Matters, result: FilingResult
) -> list[Conclusion]:
    """Assign conclusions about the subject of a notebook to it; return the remaining ones."""
    rest: list[Conclusion] = []
    for one in left:
        said = matters.subjects_in(one.text)
        book = next((book for book in books if said and said & matters.of_book(book)), None)
        if book is None:
            rest.append(one)
        else:
            result.into.setdefault(book.name, []).append(one)
    return rest


def _alike(left: Sequence[Conclusion], matters: Matters) -> list[Conclusion]:
    subject, _count = matters.common([one.text for one in left])
    return [one for one in left if subject and subject in matters.subjects_in(one.text)]


def by_matter(book: Notebook, longest: int, matters: Matters) -> list[tuple[str, list[int]]]:
    """Split a long notebook by subject into titles with line numbers from 1; empty if that does not make it short enough."""
    left = {number: matters.subjects_in(line.text) - matters.of_book(book) for number, line in enumerate(book.lines, 1)}
    above = book.title.partition(":")[0].strip() or book.title
    parts: list[tuple[str, list[int]]] = []
    while counts := matters.tally(left.values()):
        subject, count = counts.most_common(1)[0]
        if count < MAKE_ONE:
            break
        numbers = [number for number, titles in left.items() if subject in titles]
        left = {number: titles for number, titles in left.items() if number not in numbers}
        parts.append((f"{above}: {subject.lower()}", numbers))
    fits = len(left) <= longest and all(len(numbers) <= longest for _title, numbers in parts)
    return parts if fits and len(parts) + (len(left) >= MAKE_ONE) > 1 else []
