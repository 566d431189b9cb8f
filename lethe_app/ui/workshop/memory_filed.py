"""Narrows the list of memories to a category, its branches included, or to a tag: one field, in the order of a tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QWidget

from lethe_app.domain.listing import FiledLine
from lethe_app.ui.workshop.fields import QuietCombo

TAG = "#"
INDENT = "    "
WIDEST = 280


class Filed(QuietCombo):
    """Is there only where something is filed; `changed` comes when the user chose."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Category or tag"))
        self.setToolTip(self.tr("Only what is filed there"))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setMaximumWidth(WIDEST)
        self._guids: dict[str, set[str]] = {}
        self.currentIndexChanged.connect(lambda _place: self.changed.emit())
        self.offer([])

    @property
    def categories(self) -> list[str]:
        """All there are, branches after what they grow from."""
        return sorted(key for key in self._guids if not key.startswith(TAG))

    @property
    def guids(self) -> frozenset[str] | None:
        """What lies there; None where nothing is chosen."""
        chosen = str(self.currentData() or "")
        return frozenset(self._guids.get(chosen, ())) if chosen else None

    def offer(self, filed: Sequence[FiledLine]) -> None:
        """Show what there is, silently; what was chosen stays so while it is there."""
        chosen = self.currentData()
        self._guids = {}
        for one in filed:
            self._take(one)
        with QSignalBlocker(self):
            self.clear()
            self.addItem(self.tr("Filed anywhere"), "")
            for name in self.categories:
                *above, last = name.split("/")
                self.addItem(f"{INDENT * len(above)}{last}  {len(self._guids[name])}", name)
            tags = Counter({key: len(held) for key, held in self._guids.items() if key.startswith(TAG)})
            if tags and self.categories:
                self.insertSeparator(self.count())
            for key, count in sorted(tags.items()):
                self.addItem(f"{key}  {count}", key)
            self.setCurrentIndex(max(self.findData(chosen), 0))
        self.setVisible(bool(self._guids))

    def choose(self, key: str) -> None:
        """A category, or a tag with its sign."""
        self.setCurrentIndex(max(self.findData(key), 0))

    def turn_off(self) -> None:
        """Silently."""
        with QSignalBlocker(self):
            self.setCurrentIndex(0)

    def _take(self, one: FiledLine) -> None:
        levels = [level for level in one.filed_under.split("/") if level.strip()]
        keys = ["/".join(levels[: depth + 1]) for depth in range(len(levels))]
        for key in [*keys, *(f"{TAG}{tag}" for tag in one.tags)]:
            self._guids.setdefault(key, set()).add(one.guid)
