"""Table model of memories: its columns, and the predicate of its filters."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from operator import attrgetter
from typing import Any

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.list_items import MemoryLine
from lethe_app.domain.memory import MemoryInsertion, MemoryType
from lethe_app.ui.core.formatting import format_session_title
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.labels.dates import format_date
from lethe_app.ui.core.labels.memories import ICON_NAMES, format_kind
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.memories.labels import format_insertion, format_last_recall
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

NAME, RECALL_MODE, PRIORITY, ADDED, LAST_RECALLED, USES, EXPIRES, SIMILARITY = range(8)


class MemoryState(StrEnum):
    """State of a memory that can be filtered by."""

    ENABLED = "enabled"
    WAITING = "waiting"
    OVER = "over"
    PROTECTED = "protected"
    STICKY = "sticky"


def format_state(state: MemoryState) -> str:
    """Return the label of a state's chip."""
    tr = QCoreApplication.translate
    return {
        MemoryState.ENABLED: tr("Memory", "Active now"),
        MemoryState.WAITING: tr("Memory", "Scheduled"),
        MemoryState.OVER: tr("Memory", "Expired"),
        MemoryState.PROTECTED: tr("Memory", "Protected"),
        MemoryState.STICKY: tr("Memory", "Always included"),
    }[state]


def explain_state(state: MemoryState) -> str:
    """Return the tooltip of a state's chip."""
    tr = QCoreApplication.translate
    return {
        MemoryState.ENABLED: tr("Memory", "Show only memories that can be recalled now"),
        MemoryState.WAITING: tr("Memory", "Show only memories for a later day, such as reminders"),
        MemoryState.OVER: tr("Memory", "Show only memories whose end date has passed"),
        MemoryState.PROTECTED: tr("Memory", "Show only memories that nothing but you changes or removes"),
        MemoryState.STICKY: tr("Memory", "Show only memories that are in every prompt"),
    }[state]


def build_memory_rows(theme: Theme, distances: Mapping[str, float]) -> FilteredTableModel[MemoryLine]:
    """Return the table model of memories; `distances` are the cosine distances to the sentence searched for, read for every
    row.
    """
    tr = QCoreApplication.translate

    def row_icon(line: MemoryLine) -> Any:  # noqa: ANN401 - Qt's own type
        return load_icon(
            ICON_NAMES[line.category], theme.palette.amber if line.enabled or line.is_session else theme.palette.muted
        )

    def text_colour(line: MemoryLine) -> str:
        return "" if line.is_session or (line.enabled and not line.has_ended(time.time())) else theme.palette.muted

    def similarity_of(line: MemoryLine) -> float:
        return max(0.0, 1.0 - distances.get(line.guid, 1.0))

    columns = [
        Column[MemoryLine](
            tr("Memory", "Memory"), memory_title, sort_key=attrgetter("searched"), width=0, colour=text_colour, icon=row_icon
        ),
        Column[MemoryLine](tr("Memory", "Recall mode"), _recall_mode, sort_key=attrgetter("insertion"), width=150),
        Column[MemoryLine](
            tr("Memory", "Priority"),
            lambda line: str(line.priority),
            sort_key=attrgetter("priority"),
            width=70,
            is_right_aligned=True,
        ),
        Column[MemoryLine](tr("Memory", "Added"), _added_date, sort_key=attrgetter("added"), width=140),
        Column[MemoryLine](tr("Memory", "Last recalled"), format_last_recall, sort_key=attrgetter("last"), width=100),
        Column[MemoryLine](
            tr("Memory", "Uses"),
            lambda line: str(line.times or ""),
            sort_key=attrgetter("times"),
            width=64,
            is_right_aligned=True,
        ),
        Column[MemoryLine](
            tr("Memory", "Expires"), lambda line: format_date(line.until), sort_key=attrgetter("until"), width=100
        ),
        Column[MemoryLine](
            tr("Memory", "Similarity"),
            lambda line: f"{similarity_of(line):.0%}" if line.guid in distances else "",
            sort_key=similarity_of,
            width=84,
            is_right_aligned=True,
        ),
    ]
    return FilteredTableModel(columns, key=attrgetter("guid"), search_text=attrgetter("searched"), is_casefolded=True)


def memory_title(line: MemoryLine) -> str:
    """Return the name or first words of a memory, else a placeholder with its type."""
    if line.is_session:
        return format_session_title(line.title)
    return line.title or QCoreApplication.translate("Memory", "Untitled ({kind})").format(kind=format_kind(line.category))


def _added_date(line: MemoryLine) -> str:
    """Return the day on which a memory was added; for a reminder that is not due yet, the day on which it is."""
    if line.added > time.time():
        return QCoreApplication.translate("Memory", "due {day}").format(day=format_date(line.added))
    return format_date(line.added)


def _recall_mode(line: MemoryLine) -> str:
    return format_insertion(line.insertion)


def build_state_tests() -> dict[MemoryState, Callable[[MemoryLine], bool]]:
    """Return the predicate of each state at the present moment."""
    current_time = time.time()
    return {
        MemoryState.ENABLED: lambda line: line.enabled and line.added <= current_time < line.until,
        MemoryState.WAITING: lambda line: line.added > current_time,
        MemoryState.OVER: lambda line: line.until <= current_time,
        MemoryState.PROTECTED: lambda line: line.protected,
        MemoryState.STICKY: lambda line: line.sticky,
    }


def filter_predicate(
    kinds: frozenset[MemoryType],
    modes: frozenset[MemoryInsertion],
    states: frozenset[MemoryState],
    distances: Mapping[str, float] | None,
    filed_guids: frozenset[str] | None = None,
) -> Callable[[MemoryLine], bool] | None:
    """Return the predicate of the filters, or None if no filter is set.

    A memory must have one of the types, one of the recall modes and all of the states; an empty set is no restriction. It
    must be among `distances` and `filed_guids` unless these are None.
    """
    if not (kinds or modes or states or distances is not None or filed_guids is not None):
        return None
    state_tests = build_state_tests()
    required_tests = [state_tests[state] for state in states]

    def is_listed(line: MemoryLine) -> bool:
        if (kinds and line.category not in kinds) or (modes and line.insertion not in modes):
            return False
        if filed_guids is not None and line.guid not in filed_guids:
            return False
        return (distances is None or line.guid in distances) and all(test(line) for test in required_tests)

    return is_listed
