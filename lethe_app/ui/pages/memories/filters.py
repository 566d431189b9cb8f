"""Filters of the memories page: chips for type, recall mode and state, and a field for category or tag."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QWidget

from lethe_app.domain.list_items import FiledLine
from lethe_app.domain.memory import MemoryInsertion, MemoryType
from lethe_app.ui.core.formatting import memories_in_words
from lethe_app.ui.core.palette import SPACE_1, SPACE_3
from lethe_app.ui.pages.memories.labels import insertion_in_words, kind_in_words
from lethe_app.ui.pages.memories.table_model import State, state_in_words
from lethe_app.ui.widgets.fields import NoWheelComboBox
from lethe_app.ui.widgets.flow_layout import Flow

TAG = "#"
INDENT = "    "
WIDEST = 280


class FiledFilter(NoWheelComboBox):
    """Combo box that filters by category or tag; hidden while no memory has either. `changed` is emitted on choices of the
    user.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Category or tag"))
        self.setToolTip(self.tr("Show only memories with this category or tag"))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setMaximumWidth(WIDEST)
        self._guids: dict[str, set[str]] = {}
        self.currentIndexChanged.connect(lambda _place: self.changed.emit())
        self.offer([])

    @property
    def categories(self) -> list[str]:
        """All categories in alphabetical order, subcategories after their parent."""
        return sorted(key for key in self._guids if not key.startswith(TAG))

    @property
    def guids(self) -> frozenset[str] | None:
        """GUIDs of the memories with the chosen category or tag; None if none is chosen."""
        chosen = str(self.currentData() or "")
        return frozenset(self._guids.get(chosen, ())) if chosen else None

    def offer(self, filed: Sequence[FiledLine]) -> None:
        """Set the categories and tags without emitting `changed`; the choice is kept if it still exists."""
        chosen = self.currentData()
        self._guids = {}
        for one in filed:
            self._take(one)
        with QSignalBlocker(self):
            self.clear()
            self.addItem(self.tr("All categories and tags"), "")
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
        """Choose a category, or a tag with its leading “#”."""
        self.setCurrentIndex(max(self.findData(key), 0))

    def turn_off(self) -> None:
        """Reset the choice without emitting `changed`."""
        with QSignalBlocker(self):
            self.setCurrentIndex(0)

    def _take(self, one: FiledLine) -> None:
        levels = [level for level in one.filed_under.split("/") if level.strip()]
        keys = ["/".join(levels[: depth + 1]) for depth in range(len(levels))]
        for key in [*keys, *(f"{TAG}{tag}" for tag in one.tags)]:
            self._guids.setdefault(key, set()).add(one.guid)


Wanted = MemoryType | MemoryInsertion | State


class Chips(QWidget):
    """Filter chips, each of which can be checked; `changed` is emitted for each change. Types and modes without memories are
    hidden.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._buttons: dict[Wanted, QPushButton] = {}
        flow = Flow(self, spacing=SPACE_1)
        for state in State:
            flow.addWidget(self._chip(state, state_in_words(state)))
        self._titles: dict[type[MemoryType] | type[MemoryInsertion], QLabel] = {}
        flow.addWidget(self._title(MemoryType, self.tr("Type")))
        for kind in MemoryType:
            flow.addWidget(self._chip(kind, kind_in_words(kind)))
        flow.addWidget(self._title(MemoryInsertion, self.tr("Recall mode")))
        for way in MemoryInsertion:
            flow.addWidget(self._chip(way, insertion_in_words(way)))
        self.filed = FiledFilter()
        self.filed.changed.connect(self.changed)
        flow.addWidget(self.filed)
        self.offer({})

    @property
    def kinds(self) -> frozenset[MemoryType]:
        return frozenset(kind for kind in MemoryType if self._is_on(kind))

    @property
    def ways(self) -> frozenset[MemoryInsertion]:
        return frozenset(way for way in MemoryInsertion if self._is_on(way))

    @property
    def states(self) -> frozenset[State]:
        return frozenset(state for state in State if self._is_on(state))

    def chip(self, wanted: Wanted) -> QPushButton:
        return self._buttons[wanted]

    def offer(self, counts: Mapping[MemoryType | MemoryInsertion, int]) -> None:
        """Show a chip for each type and recall mode that has memories; a checked chip stays visible. The tooltip has the
        number.
        """
        groups: tuple[type[MemoryType], type[MemoryInsertion]] = (MemoryType, MemoryInsertion)
        several: dict[type, bool] = {group: sum(isinstance(each, group) for each in counts) > 1 for group in groups}
        for wanted, button in self._buttons.items():
            if isinstance(wanted, State):
                continue
            count = counts.get(wanted, 0)
            button.setToolTip(memories_in_words(count))
            button.setVisible(button.isChecked() or (bool(count) and several[type(wanted)]))
        for group, title in self._titles.items():
            title.setVisible(several[group])

    def turn_off(self) -> None:
        """Uncheck all chips without emitting `changed`."""
        for button in self._buttons.values():
            with QSignalBlocker(button):
                button.setChecked(False)
        self.filed.turn_off()

    def _is_on(self, wanted: Wanted) -> bool:
        return self._buttons[wanted].isChecked()

    def _title(self, group: type[MemoryType] | type[MemoryInsertion], words: str) -> QLabel:
        label = QLabel(words, self)
        label.setProperty("small", True)
        label.setContentsMargins(SPACE_3, SPACE_1 + 1, SPACE_1, 0)
        self._titles[group] = label
        return label

    def _chip(self, wanted: Wanted, words: str) -> QPushButton:
        button = QPushButton(words, self)
        button.setProperty("chip", True)
        button.setCheckable(True)
        button.setAccessibleName(self.tr("Show only: {what}").format(what=words))
        button.toggled.connect(lambda _on: self.changed.emit())
        self._buttons[wanted] = button
        return button
