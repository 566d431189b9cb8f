"""Filters of the memories page: chips for type, recall mode and state, and a field for category or tag."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QWidget

from lethe_app.domain.list_items import MemoryFiling
from lethe_app.domain.memory import MemoryInsertion, MemoryType
from lethe_app.ui.core.formatting import format_memory_count
from lethe_app.ui.core.labels.memories import format_kind
from lethe_app.ui.core.palette import SPACE_1, SPACE_3
from lethe_app.ui.pages.memories.labels import format_insertion
from lethe_app.ui.pages.memories.table_model import MemoryState, format_state
from lethe_app.ui.widgets.buttons import build_chip
from lethe_app.ui.widgets.fields import NoWheelComboBox
from lethe_app.ui.widgets.flow_layout import FlowLayout

TAG_PREFIX = "#"
INDENT = "    "
MAX_WIDTH = 280


class FilingFilter(NoWheelComboBox):
    """Combo box that filters by category or tag; hidden while no memory has either. `changed` is emitted on choices of the
    user.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Category or tag"))
        self.setToolTip(self.tr("Show only memories with this category or tag"))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setMaximumWidth(MAX_WIDTH)
        self._guids: dict[str, set[str]] = {}
        self.currentIndexChanged.connect(lambda _place: self.changed.emit())
        self.set_options([])

    @property
    def categories(self) -> list[str]:
        """All categories in alphabetical order, subcategories after their parent."""
        return sorted(key for key in self._guids if not key.startswith(TAG_PREFIX))

    @property
    def selected_guids(self) -> frozenset[str] | None:
        """GUIDs of the memories with the chosen category or tag; None if none is chosen."""
        chosen = str(self.currentData() or "")
        return frozenset(self._guids.get(chosen, ())) if chosen else None

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
            self.setCurrentIndex(max(self.findData(chosen), 0))
        self.setVisible(bool(self._guids))

    def select_key(self, key: str) -> None:
        """Choose a category, or a tag with its leading “#”."""
        self.setCurrentIndex(max(self.findData(key), 0))

    def reset_choice(self) -> None:
        """Reset the choice without emitting `changed`."""
        with QSignalBlocker(self):
            self.setCurrentIndex(0)

    def _index_line(self, line: MemoryFiling) -> None:
        levels = [level for level in line.filed_under.split("/") if level.strip()]
        keys = ["/".join(levels[: depth + 1]) for depth in range(len(levels))]
        for key in [*keys, *(f"{TAG_PREFIX}{tag}" for tag in line.tags)]:
            self._guids.setdefault(key, set()).add(line.guid)


FilterValue = MemoryType | MemoryInsertion | MemoryState


class MemoryFilterChips(QWidget):
    """Filter chips, each of which can be checked; `changed` is emitted for each change. Types and modes without memories are
    hidden.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._buttons: dict[FilterValue, QPushButton] = {}
        flow = FlowLayout(self, spacing=SPACE_1)
        for state in MemoryState:
            flow.addWidget(self._build_chip(state, format_state(state)))
        self._group_labels: dict[type[MemoryType] | type[MemoryInsertion], QLabel] = {}
        flow.addWidget(self._build_group_label(MemoryType, self.tr("Type")))
        for kind in MemoryType:
            flow.addWidget(self._build_chip(kind, format_kind(kind)))
        flow.addWidget(self._build_group_label(MemoryInsertion, self.tr("Recall mode")))
        for way in MemoryInsertion:
            flow.addWidget(self._build_chip(way, format_insertion(way)))
        self.filed_filter = FilingFilter()
        self.filed_filter.changed.connect(self.changed)
        flow.addWidget(self.filed_filter)
        self.show_counts({})

    @property
    def selected_kinds(self) -> frozenset[MemoryType]:
        return frozenset(kind for kind in MemoryType if self._is_checked(kind))

    @property
    def selected_modes(self) -> frozenset[MemoryInsertion]:
        return frozenset(way for way in MemoryInsertion if self._is_checked(way))

    @property
    def selected_states(self) -> frozenset[MemoryState]:
        return frozenset(state for state in MemoryState if self._is_checked(state))

    def chip_for(self, filter_value: FilterValue) -> QPushButton:
        return self._buttons[filter_value]

    def show_counts(self, counts: Mapping[MemoryType | MemoryInsertion, int]) -> None:
        """Show a chip for each type and recall mode that has memories; a checked chip stays visible. The tooltip has the
        number.
        """
        groups: tuple[type[MemoryType], type[MemoryInsertion]] = (MemoryType, MemoryInsertion)
        has_several: dict[type, bool] = {group: sum(isinstance(each, group) for each in counts) > 1 for group in groups}
        for filter_value, button in self._buttons.items():
            if isinstance(filter_value, MemoryState):
                continue
            count = counts.get(filter_value, 0)
            button.setToolTip(format_memory_count(count))
            button.setVisible(button.isChecked() or (bool(count) and has_several[type(filter_value)]))
        for group, title in self._group_labels.items():
            title.setVisible(has_several[group])

    def uncheck_all(self) -> None:
        """Uncheck all chips without emitting `changed`."""
        for button in self._buttons.values():
            with QSignalBlocker(button):
                button.setChecked(False)
        self.filed_filter.reset_choice()

    def _is_checked(self, filter_value: FilterValue) -> bool:
        return self._buttons[filter_value].isChecked()

    def _build_group_label(self, group: type[MemoryType] | type[MemoryInsertion], text: str) -> QLabel:
        label = QLabel(text, self)
        label.setProperty("small", True)
        label.setContentsMargins(SPACE_3, SPACE_1 + 1, SPACE_1, 0)
        self._group_labels[group] = label
        return label

    def _build_chip(self, filter_value: FilterValue, text: str) -> QPushButton:
        button = build_chip(text)
        button.setParent(self)
        button.setAccessibleName(self.tr("Show only: {what}").format(what=text))
        button.toggled.connect(lambda _on: self.changed.emit())
        self._buttons[filter_value] = button
        return button
