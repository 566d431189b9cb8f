"""Table model of memories: its columns, and the predicate of its filters."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from operator import attrgetter
from typing import Any

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QTableView

from lethe_app.domain.list_items import NEVER, MemoryLine
from lethe_app.domain.memory import MemoryInsertion, MemoryType
from lethe_app.ui.core.icons import icon
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.memories.labels import DRAWINGS, day_of, insertion_in_words, kind_in_words, last_in_words, number
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

NAME, HOW, PRIORITY, ADDED, LAST, TIMES, UNTIL, DISTANCE = range(8)


class State(StrEnum):
    """State of a memory that can be filtered by."""

    ENABLED = "enabled"
    WAITING = "waiting"
    OVER = "over"
    PROTECTED = "protected"
    STICKY = "sticky"


def state_in_words(state: State) -> str:
    """Return the label of a state's chip."""
    tr = QCoreApplication.translate
    return {
        State.ENABLED: tr("Memory", "Active now"),
        State.WAITING: tr("Memory", "Scheduled"),
        State.OVER: tr("Memory", "Expired"),
        State.PROTECTED: tr("Memory", "Protected"),
        State.STICKY: tr("Memory", "Always included"),
    }[state]


def rows_of(theme: Theme, distances: Mapping[str, float]) -> FilteredTableModel[MemoryLine]:
    """Return the table model of memories; `distances` are the cosine distances to the sentence searched for, read for every
    row.
    """
    tr = QCoreApplication.translate

    def sign(line: MemoryLine) -> Any:  # noqa: ANN401 - Qt's own type
        return icon(DRAWINGS[line.category], theme.palette.amber if line.enabled or line.is_session else theme.palette.muted)

    def shade(line: MemoryLine) -> str:
        return "" if line.is_session or (line.enabled and not line.is_over(time.time())) else theme.palette.muted

    def near(line: MemoryLine) -> str:
        return number(distances[line.guid]) if line.guid in distances else ""

    columns = [
        Column[MemoryLine](tr("Memory", "Memory"), title_of, sort_key=attrgetter("searched"), width=0, colour=shade, icon=sign),
        Column[MemoryLine](tr("Memory", "Recall mode"), _how, sort_key=attrgetter("insertion"), width=150),
        Column[MemoryLine](
            tr("Memory", "Priority"), lambda line: str(line.priority), sort_key=attrgetter("priority"), width=70, right=True
        ),
        Column[MemoryLine](tr("Memory", "Added"), lambda line: day_of(line.added), sort_key=attrgetter("added"), width=100),
        Column[MemoryLine](tr("Memory", "Last recalled"), last_in_words, sort_key=attrgetter("last"), width=100),
        Column[MemoryLine](
            tr("Memory", "Uses"), lambda line: str(line.times or ""), sort_key=attrgetter("times"), width=64, right=True
        ),
        Column[MemoryLine](tr("Memory", "Expires"), lambda line: day_of(line.until), sort_key=attrgetter("until"), width=100),
        Column[MemoryLine](
            tr("Memory", "Distance"), near, sort_key=lambda line: distances.get(line.guid, NEVER), width=84, right=True
        ),
    ]
    return FilteredTableModel(columns, key=attrgetter("guid"), searched=attrgetter("searched"), is_folded=True)


def title_of(line: MemoryLine) -> str:
    """Return the name or first words of a memory, else a placeholder with its type."""
    if line.title:
        return line.title
    if line.is_session:
        return QCoreApplication.translate("Memory", "Conversation, not summarised yet")
    return QCoreApplication.translate("Memory", "Untitled ({kind})").format(kind=kind_in_words(line.category))


def _how(line: MemoryLine) -> str:
    return insertion_in_words(line.insertion)


def keeper(
    kinds: frozenset[MemoryType],
    ways: frozenset[MemoryInsertion],
    states: frozenset[State],
    near: Mapping[str, float] | None,
    filed: frozenset[str] | None = None,
) -> Callable[[MemoryLine], bool] | None:
    """Return the predicate of the filters, or None if no filter is set.

    A memory must have one of the types, one of the recall modes and all of the states; an empty set is no restriction. It
    must be among `near` and `filed` unless these are None.
    """
    if not (kinds or ways or states or near is not None or filed is not None):
        return None
    moment = time.time()
    tests: dict[State, Callable[[MemoryLine], bool]] = {
        State.ENABLED: lambda line: line.enabled and line.added <= moment < line.until,
        State.WAITING: lambda line: line.added > moment,
        State.OVER: lambda line: line.until <= moment,
        State.PROTECTED: lambda line: line.protected,
        State.STICKY: lambda line: line.sticky,
    }
    wanted = [tests[state] for state in states]

    def keep(line: MemoryLine) -> bool:
        if (kinds and line.category not in kinds) or (ways and line.insertion not in ways):
            return False
        if filed is not None and line.guid not in filed:
            return False
        return (near is None or line.guid in near) and all(test(line) for test in wanted)

    return keep


def fit(table: QTableView, widths: Mapping[int, int], dispensable: tuple[int, ...], least: int) -> None:
    """Set the column widths for the table's font, and hide `dispensable` columns, the last one first, where the table is
    narrow.

    `widths` and `least`, the width left for the first column, are in pixels for a text size of 13 pixels.
    """
    # A line of 13-pixel text is 17 pixels high.
    factor = max(1.0, QFontMetrics(table.font()).height() / 17)
    always = [column for column in widths if column not in dispensable and not table.isColumnHidden(column)]
    room = table.viewport().width() - factor * (least + sum(widths[column] for column in always))
    for column in dispensable:
        # Once a column does not fit, `room` stays negative and hides all later ones.
        room -= widths[column] * factor
        table.setColumnHidden(column, room < 0)
    for column, width in widths.items():
        table.horizontalHeader().resizeSection(column, round(width * factor))
