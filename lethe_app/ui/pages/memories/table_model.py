"""List of memories: its columns, and the states that filter it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from enum import StrEnum
from operator import attrgetter
from typing import Any

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.list_items import MemoryLine
from lethe_app.ui.core.formatting import format_session_title
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.labels.dates import format_date
from lethe_app.ui.core.labels.memories import ICON_NAMES, format_kind
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.memories.labels import format_insertion, format_last_recall
from lethe_app.ui.pages.record_page.filters import Chip, ChipFilter
from lethe_app.ui.widgets.table_model import Column

USES, SIMILARITY = 5, 7
"""Indices of columns."""


class MemoryState(StrEnum):
    """State of a memory that can be filtered by."""

    ENABLED = "enabled"
    WAITING = "waiting"
    OVER = "over"
    PROTECTED = "protected"
    STICKY = "sticky"


def build_state_filter() -> ChipFilter[MemoryLine]:
    """Return the filter by state at the present moment."""
    tr = QCoreApplication.translate
    return ChipFilter(
        [
            Chip(
                MemoryState.ENABLED,
                tr("Memory", "Active now"),
                lambda line: line.enabled and line.added <= time.time() < line.until,
                tr("Memory", "Show only memories that can be recalled now"),
            ),
            Chip(
                MemoryState.WAITING,
                tr("Memory", "Scheduled"),
                lambda line: line.added > time.time(),
                tr("Memory", "Show only memories for a later day, such as reminders"),
            ),
            Chip(
                MemoryState.OVER,
                tr("Memory", "Expired"),
                lambda line: line.until <= time.time(),
                tr("Memory", "Show only memories whose end date has passed"),
            ),
            Chip(
                MemoryState.PROTECTED,
                tr("Memory", "Protected"),
                lambda line: line.protected,
                tr("Memory", "Show only memories that nothing but you changes or removes"),
            ),
            Chip(
                MemoryState.STICKY,
                tr("Memory", "Always included"),
                lambda line: line.sticky,
                tr("Memory", "Show only memories that are in every prompt"),
            ),
        ]
    )


def build_columns(theme: Theme, distances: Mapping[str, float]) -> list[Column[MemoryLine]]:
    """Return the columns; `distances` are the cosine distances to the sentence searched for, read for every row."""
    tr = QCoreApplication.translate

    def row_icon(line: MemoryLine) -> Any:  # noqa: ANN401 - Qt's own type
        return load_icon(
            ICON_NAMES[line.category], theme.palette.amber if line.enabled or line.is_session else theme.palette.muted
        )

    def text_colour(line: MemoryLine) -> str:
        return "" if line.is_session or (line.enabled and not line.has_ended(time.time())) else theme.palette.muted

    def similarity_of(line: MemoryLine) -> float:
        return max(0.0, 1.0 - distances.get(line.guid, 1.0))

    def similarity(line: MemoryLine) -> str:
        return f"{similarity_of(line):.0%}" if line.guid in distances else ""

    by = attrgetter
    return [
        Column(tr("Memory", "Memory"), memory_title, by("searched"), 0, min_width=420, colour=text_colour, icon=row_icon),
        Column(tr("Memory", "Recall mode"), _recall_mode, by("insertion"), 164, hides_at=5),
        Column(
            tr("Memory", "Priority"), lambda line: str(line.priority), by("priority"), 74, hides_at=1, is_right_aligned=True
        ),
        Column(tr("Memory", "Added"), _added_date, by("added"), 140, hides_at=6),
        Column(tr("Memory", "Last recalled"), format_last_recall, by("last"), 112, hides_at=4, is_optional=True),
        Column(
            tr("Memory", "Uses"),
            lambda line: str(line.times or ""),
            by("times"),
            66,
            hides_at=2,
            is_optional=True,
            is_right_aligned=True,
        ),
        Column(tr("Memory", "Expires"), lambda line: format_date(line.until), by("until"), 112, hides_at=3, is_optional=True),
        Column(tr("Memory", "Similarity"), similarity, similarity_of, 96, is_right_aligned=True),
    ]


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
