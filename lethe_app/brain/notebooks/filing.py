"""Assignment of a session's conclusions to notebooks: to a matching one, or to a new one if enough are about the same
subject.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lethe_app.brain.notebooks.document import Conclusion, Notebook
from lethe_app.brain.notebooks.subjects import SubjectStems

MIN_CONCLUSIONS = 3
"""Minimum number of unassigned conclusions for a new notebook."""


@dataclass
class FilingResult:
    """Assignment of conclusions; those in neither collection are remembered without a notebook."""

    by_notebook: dict[str, list[Conclusion]] = field(default_factory=dict)
    """Conclusions by the name of an existing notebook."""
    new_groups: list[list[Conclusion]] = field(default_factory=list)
    """Groups of conclusions that each make a new notebook."""


def assign_conclusions(
    conclusions: Sequence[Conclusion],
    votes: Sequence[str],
    session_notebook: str,
    notebooks: Sequence[Notebook],
    subjects: SubjectStems,
) -> FilingResult:
    """Assign conclusions to notebooks.

    `votes` names for each conclusion the notebook that its words match, `session_notebook` the notebook of the session; both
    may be empty.
    """
    notebooks_by_name = {book.name: book for book in notebooks}
    result, remaining = FilingResult(), list[Conclusion]()
    for conclusion, vote in zip(conclusions, votes, strict=True):
        name = next(
            (
                name
                # The words of the conclusion come first; the subject of the session is the weaker evidence.
                for name in (vote, session_notebook)
                if name in notebooks_by_name and subjects.can_belong(conclusion.text, notebooks_by_name[name])
            ),
            "",
        )
        if name:
            result.by_notebook.setdefault(name, []).append(conclusion)
        else:
            remaining.append(conclusion)
    remaining = _assign_by_subject(remaining, notebooks, subjects, result)
    while (group := _largest_group(remaining, subjects)) and len(group) >= MIN_CONCLUSIONS:
        result.new_groups.append(group)
        remaining = [one for one in remaining if one not in group]
    if len(remaining) >= MIN_CONCLUSIONS:
        result.new_groups.append(remaining)
    return result


def _assign_by_subject(
    remaining: Sequence[Conclusion], notebooks: Sequence[Notebook], subjects: SubjectStems, result: FilingResult
) -> list[Conclusion]:
    """Assign conclusions about the subject of a notebook to it; return the remaining ones."""
    unassigned: list[Conclusion] = []
    for conclusion in remaining:
        mentioned = subjects.subjects_in(conclusion.text)
        book = next((book for book in notebooks if mentioned and mentioned & subjects.subjects_of_notebook(book)), None)
        if book is None:
            unassigned.append(conclusion)
        else:
            result.by_notebook.setdefault(book.name, []).append(conclusion)
    return unassigned


def _largest_group(remaining: Sequence[Conclusion], subjects: SubjectStems) -> list[Conclusion]:
    subject, _count = subjects.most_common_subject([one.text for one in remaining])
    return [one for one in remaining if subject and subject in subjects.subjects_in(one.text)]
