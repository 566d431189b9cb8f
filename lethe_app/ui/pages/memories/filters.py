"""Filters of the memories page: chips for states, menus for types and recall modes, and a field for category or tag."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QPushButton, QWidget

from lethe_app.domain.list_items import MemoryFiling
from lethe_app.domain.memory import MemoryInsertion, MemoryType
from lethe_app.ui.core.labels.memories import format_kind
from lethe_app.ui.core.palette import SPACE_1
from lethe_app.ui.pages.memories.labels import format_insertion
from lethe_app.ui.pages.memories.table_model import MemoryState, explain_state, format_state
from lethe_app.ui.widgets.buttons import FilterMenu, build_chip
from lethe_app.ui.widgets.fields import NoWheelComboBox
from lethe_app.ui.widgets.flow_layout import FlowLayout

TAG_PREFIX, METADATA_PREFIX = "#", "="
"""Prefixes of the keys of tags and of metadata; category paths have none."""
MAX_METADATA_LENGTH = 40
"""Length of a piece of metadata that can be filtered by."""
INDENT = "    "
MAX_WIDTH = 280


class FilingFilter(NoWheelComboBox):
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

    @property
    def categories(self) -> list[str]:
        """All categories in alphabetical order, subcategories after their parent."""
        return sorted(key for key in self._guids if not key.startswith((TAG_PREFIX, METADATA_PREFIX)))

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

    def reset_choice(self) -> None:
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


class MemoryFilterChips(QWidget):
    """Filters in a row: a chip for each state, menus of types and recall modes, and the choice of a category or tag. `changed`
    is emitted for each change.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.state_chips = {state: self._build_chip(format_state(state), explain_state(state)) for state in MemoryState}
        self.kind_menu = FilterMenu[MemoryType](self.tr("Type"), MemoryType, format_kind, self)
        self.mode_menu = FilterMenu[MemoryInsertion](self.tr("Recall mode"), MemoryInsertion, format_insertion, self)
        self.filed_filter = FilingFilter()
        flow = FlowLayout(self, spacing=SPACE_1)
        for widget in (*self.state_chips.values(), self.kind_menu, self.mode_menu, self.filed_filter):
            flow.addWidget(widget)
        for filter_ in (self.kind_menu, self.mode_menu, self.filed_filter):
            filter_.changed.connect(self.changed)
        self.show_counts({}, 0)

    @property
    def selected_states(self) -> frozenset[MemoryState]:
        return frozenset(state for state, chip in self.state_chips.items() if chip.isChecked())

    def show_counts(self, counts: Mapping[MemoryType | MemoryInsertion | MemoryState, int], total: int) -> None:
        """Offer each type and recall mode that has memories, with their number, and the states that some of the `total`
        memories have and others have not.
        """
        for state, chip in self.state_chips.items():
            chip.setVisible(chip.isChecked() or 0 < counts.get(state, 0) < total)
        self.kind_menu.show_counts(counts)
        self.mode_menu.show_counts(counts)

    def uncheck_all(self) -> None:
        """Uncheck all filters without emitting `changed`."""
        for chip in self.state_chips.values():
            with QSignalBlocker(chip):
                chip.setChecked(False)
        self.kind_menu.uncheck_all()
        self.mode_menu.uncheck_all()
        self.filed_filter.reset_choice()

    def _build_chip(self, text: str, tooltip: str) -> QPushButton:
        chip = build_chip(text, tooltip)
        chip.setParent(self)
        chip.setAccessibleName(self.tr("Show only: {what}").format(what=text))
        chip.toggled.connect(lambda _on: self.changed.emit())
        return chip
