"""Dialog with the keyboard shortcuts, grouped by subject and searchable by usual words."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QCoreApplication, QSize, Qt
from PySide6.QtWidgets import QDialog, QFormLayout, QLabel, QLineEdit, QWidget

from lethe_app.ui.core.actions import ACTION_SPECS, action_shortcut, action_title
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4, SPACE_6
from lethe_app.ui.core.routes import ActionGroup
from lethe_app.ui.core.search_terms import action_search_text
from lethe_app.ui.core.word_search import rank_items
from lethe_app.ui.dialogs.dialogs import create_dialog_button, max_dialog_size
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.layouts import ContentArea, build_column, build_row

MAX_TITLE_WIDTH = 190
"""Width in pixels above which the title of an action wraps."""
COLUMN_WIDTH = 310
"""Width in pixels that a column of groups needs."""
COLUMN_STARTS = {1: (0,), 2: (0, 3), 3: (0, 2, 4)}
"""Index of the first group of each column, by the number of columns."""


class ShortcutsDialog(QDialog):
    """Dialog with a search field above the groups of shortcuts."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(action_title("keyboard_shortcuts"))
        self.search = QLineEdit()
        self.search.setPlaceholderText(self.tr("Search shortcuts"))
        self.search.setAccessibleName(self.tr("Search shortcuts"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self._groups = [_ShortcutGroup(group) for group in ActionGroup]
        self.no_match = build_small_label(self.tr("No shortcut found. Ctrl+K finds every command and setting."))
        self.no_match.hide()
        area = _ShortcutsArea(self._build_columns(max_dialog_size(parent).width()))
        area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # so that the arrow keys scroll
        area.setAccessibleName(self.tr("All shortcuts"))
        close = create_dialog_button(QCoreApplication.translate("Dialog", "Close"), "filled", self.accept)
        close.setDefault(True)
        buttons, margins = (close, 0, Qt.AlignmentFlag.AlignRight), (SPACE_6, SPACE_4, SPACE_6, SPACE_4)
        build_column(self.search, self.no_match, (area, 1), buttons, spacing=SPACE_3, margins=margins, parent=self)
        self.resize(self.sizeHint().boundedTo(max_dialog_size(parent)))
        self.search.setFocus()

    @property
    def shown_names(self) -> list[str]:
        """Return the names of the actions on display."""
        return [name for group in self._groups for name in group.shown_names]

    def _build_columns(self, width: int) -> QWidget:
        """Create up to three columns of groups, as many as `width` pixels have room for."""
        starts = COLUMN_STARTS[min(max(width // COLUMN_WIDTH, 1), max(COLUMN_STARTS))]
        columns = [build_column(*self._groups[start:end], 1, spacing=SPACE_2) for start, end in pairwise((*starts, None))]
        content = QWidget()
        build_row(*columns, spacing=SPACE_6, parent=content)
        return content

    def _filter(self, query: str) -> None:
        found = set(rank_items([(spec.name, action_search_text(spec.name)) for spec in ACTION_SPECS], query))
        for group in self._groups:
            group.show_only(found)
        self.no_match.setVisible(not found)


class _ShortcutGroup(QWidget):
    """Heading with a table of shortcut and title per action."""

    def __init__(self, group: ActionGroup) -> None:
        super().__init__()
        self._names = [spec.name for spec in ACTION_SPECS if spec.group is group]
        heading = QLabel(QCoreApplication.translate("Action", group.value))
        heading.setProperty("field", True)
        self._table = QFormLayout(self)
        self._table.setContentsMargins(0, 0, 0, SPACE_2)
        self._table.setHorizontalSpacing(SPACE_3)
        self._table.setVerticalSpacing(SPACE_1 // 2)
        self._table.addRow(heading)
        for name in self._names:
            self._table.addRow(*_build_row(name))

    @property
    def shown_names(self) -> list[str]:
        return [name for row, name in enumerate(self._names, start=1) if self._table.isRowVisible(row)]

    def show_only(self, found: set[str]) -> None:
        """Show the rows of these actions, and the group if it has any of them."""
        for row, name in enumerate(self._names, start=1):
            self._table.setRowVisible(row, name in found)
        self.setVisible(bool(found.intersection(self._names)))


def _build_row(name: str) -> tuple[QLabel, QLabel]:
    keys, title = QLabel(action_shortcut(name)), QLabel(action_title(name))
    keys.setProperty("quiet", True)
    keys.setAlignment(Qt.AlignmentFlag.AlignTop)
    if title.sizeHint().width() > MAX_TITLE_WIDTH:
        title.setWordWrap(True)
        title.setFixedWidth(MAX_TITLE_WIDTH)
        title.setMinimumHeight(title.heightForWidth(MAX_TITLE_WIDTH))
    return keys, title


class _ShortcutsArea(ContentArea):
    """Scroll area that requests the size of its whole content, and scrolls if it gets less."""

    def sizeHint(self) -> QSize:
        inside, bar_width = self.widget(), self.verticalScrollBar().sizeHint().width()
        return inside.sizeHint() + QSize(bar_width, 0) if inside is not None else super().sizeHint()
