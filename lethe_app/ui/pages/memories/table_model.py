"""List of memories: its columns, and the filters by state, category, tag and metadata."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QWidget

from lethe_app.domain.list_items import MemoryFiling, MemoryLine
from lethe_app.ui.core.formatting import format_session_title
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.labels.dates import format_date
from lethe_app.ui.core.labels.memories import KINDS, format_kind
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.memories.labels import format_insertion, tr
from lethe_app.ui.pages.record_page.filters import Chip, ChipFilter, RecordFilter
from lethe_app.ui.widgets.fields import NoWheelComboBox
from lethe_app.ui.widgets.table_model import Column

SIMILARITY = 7
"""Index of the column."""
TAG_PREFIX, METADATA_PREFIX = "#", "="
"""Prefixes of the keys of tags and of metadata; category paths have none."""
MAX_METADATA_LENGTH = 40
"""Length of a piece of metadata that can be filtered by."""
INDENT = "    "
MAX_WIDTH = 280


def build_state_filter() -> ChipFilter[MemoryLine]:
    """Return the filter by state at the present moment."""
    return ChipFilter(
        [
            Chip(
                "enabled",
                tr("Active now"),
                lambda line: line.enabled and line.added <= time.time() < line.until,
                tr("Show only memories that can be recalled now"),
            ),
            Chip(
                "waiting",
                tr("Scheduled"),
                lambda line: line.added > time.time(),
                tr("Show only memories for a later day, such as reminders"),
            ),
            Chip(
                "over",
                tr("Expired"),
                lambda line: line.until <= time.time(),
                tr("Show only memories whose end date has passed"),
            ),
            Chip(
                "protected",
                tr("Protected"),
                lambda line: line.protected,
                tr("Show only memories that nothing but you changes or removes"),
            ),
            Chip("sticky", tr("Always included"), lambda line: line.sticky, tr("Show only memories that are in every prompt")),
        ]
    )


def build_columns(theme: Theme, distances: Mapping[str, float]) -> list[Column[MemoryLine]]:
    """Return the columns; `distances` are the cosine distances to the sentence searched for, read for every row."""

    def row_icon(line: MemoryLine) -> Any:  # noqa: ANN401 - Qt's own type
        return load_icon(
            KINDS[line.category][0], theme.palette.amber if line.enabled or line.is_session else theme.palette.muted
        )

    def text_colour(line: MemoryLine) -> str:
        return "" if line.is_session or (line.enabled and not line.has_ended(time.time())) else theme.palette.muted

    def similarity_of(line: MemoryLine) -> float:
        return max(0.0, 1.0 - distances.get(line.guid, 1.0))

    def similarity(line: MemoryLine) -> str:
        return f"{similarity_of(line):.0%}" if line.guid in distances else ""

    def last_recall(line: MemoryLine) -> str:
        return format_date(line.last) if line.times else ""

    by = attrgetter
    return [
        Column(tr("Memory"), memory_title, by("searched"), 0, min_width=420, colour=text_colour, icon=row_icon),
        Column(tr("Recall mode"), lambda line: format_insertion(line.insertion), by("insertion"), 164, hides_at=5),
        Column(tr("Priority"), lambda line: str(line.priority), by("priority"), 74, hides_at=1, is_right_aligned=True),
        Column(tr("Added"), _added_date, by("added"), 140, hides_at=6),
        Column(tr("Last recalled"), last_recall, by("last"), 112, hides_at=4, is_optional=True),
        Column(
            tr("Uses"), lambda line: str(line.times or ""), by("times"), 66, hides_at=2, is_optional=True, is_right_aligned=True
        ),
        Column(tr("Expires"), lambda line: format_date(line.until), by("until"), 112, hides_at=3, is_optional=True),
        Column(tr("Similarity"), similarity, similarity_of, 96, is_right_aligned=True),
    ]


def memory_title(line: MemoryLine) -> str:
    """Return the name or first words of a memory, else a placeholder with its type."""
    if line.is_session:
        return format_session_title(line.title)
    return line.title or tr("Untitled ({kind})").format(kind=format_kind(line.category))


def _added_date(line: MemoryLine) -> str:
    """Return the day on which a memory was added; for a reminder that is not due yet, the day on which it is."""
    if line.added > time.time():
        return tr("due {day}").format(day=format_date(line.added))
    return format_date(line.added)


class FilingFilter(NoWheelComboBox, RecordFilter):
    """Combo box that filters by category, tag or metadata; hidden while no memory has any. `changed` is emitted on choices of
    the user.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Category or tag"))
        self.setToolTip(self.tr("Show only memories with this category, tag or metadata"))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setMaximumWidth(MAX_WIDTH)
        self._guids: dict[str, set[str]] = {}
        self.currentIndexChanged.connect(lambda _place: self.changed.emit())
        self.set_options([])

    def build_test(self) -> Callable[[MemoryLine], bool] | None:
        chosen = str(self.currentData() or "")
        guids = frozenset(self._guids.get(chosen, ()))
        return (lambda line: line.guid in guids) if chosen else None

    @property
    def categories(self) -> list[str]:
        """All categories in alphabetical order, subcategories after their parent."""
        return sorted(key for key in self._guids if not key.startswith((TAG_PREFIX, METADATA_PREFIX)))

    def set_options(self, filed: Sequence[MemoryFiling]) -> None:
        """Set the categories and tags without emitting `changed`; the choice is kept if it still exists."""
        chosen = self.currentData()
        self._guids = {}
        for line in filed:
            self._index_line(line)
        with QSignalBlocker(self):
            self.clear()
            self.addItem(self.tr("All categories and tags"), "")
            prefixes = (TAG_PREFIX, METADATA_PREFIX)
            groups = [self.categories, *(sorted(key for key in self._guids if key.startswith(prefix)) for prefix in prefixes)]
            for keys in groups:
                if keys and self.count() > 1:
                    self.insertSeparator(self.count())
                for key in keys:
                    self.addItem(f"{_format_filing(key)}  {len(self._guids[key])}", key)
            self.setCurrentIndex(max(self.findData(chosen), 0))
        self.setVisible(bool(self._guids))

    def select_key(self, key: str) -> None:
        """Choose a category, or a tag with its leading “#”."""
        self.setCurrentIndex(max(self.findData(key), 0))

    def reset(self) -> None:
        """Reset the choice without emitting `changed`."""
        with QSignalBlocker(self):
            self.setCurrentIndex(0)

    def _index_line(self, line: MemoryFiling) -> None:
        levels = [level for level in line.filed_under.split("/") if level.strip()]
        keys = ["/".join(levels[: depth + 1]) for depth in range(len(levels))]
        pairs = [f"{name} = {value}" for name, value in line.metadata.items()]
        keys += [f"{METADATA_PREFIX}{pair}" for pair in pairs if len(pair) <= MAX_METADATA_LENGTH]
        for key in [*keys, *(f"{TAG_PREFIX}{tag}" for tag in line.tags)]:
            self._guids.setdefault(key, set()).add(line.guid)


def _format_filing(key: str) -> str:
    """Return the name of a tag or a pair of metadata, or that of a category below its parents."""
    *parents, leaf = [key.removeprefix(METADATA_PREFIX)] if key.startswith((TAG_PREFIX, METADATA_PREFIX)) else key.split("/")
    return f"{INDENT * len(parents)}{leaf}"
