"""Filter of the memories page by category, tag or metadata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QWidget

from lethe_app.domain.list_items import MemoryFiling, MemoryLine
from lethe_app.ui.pages.record_page.filters import RecordFilter
from lethe_app.ui.widgets.fields import NoWheelComboBox

TAG_PREFIX, METADATA_PREFIX = "#", "="
"""Prefixes of the keys of tags and of metadata; category paths have none."""
MAX_METADATA_LENGTH = 40
"""Length of a piece of metadata that can be filtered by."""
INDENT = "    "
MAX_WIDTH = 280


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
            for name in self.categories:
                *parents, leaf = name.split("/")
                self.addItem(f"{INDENT * len(parents)}{leaf}  {len(self._guids[name])}", name)
            tags = Counter({key: len(guids) for key, guids in self._guids.items() if key.startswith(TAG_PREFIX)})
            if tags and self.categories:
                self.insertSeparator(self.count())
            for key, count in sorted(tags.items()):
                self.addItem(f"{key}  {count}", key)
            metadata = sorted(key for key in self._guids if key.startswith(METADATA_PREFIX))
            if metadata and self.count() > 1:
                self.insertSeparator(self.count())
            for key in metadata:
                self.addItem(f"{key.removeprefix(METADATA_PREFIX)}  {len(self._guids[key])}", key)
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
