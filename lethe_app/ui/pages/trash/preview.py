"""Preview of an item in the trash: what it is, where it comes from, and the beginning of its text."""

from __future__ import annotations

import re
from collections.abc import Mapping

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QWidget

from lethe_app.domain.changes import Trashed
from lethe_app.ui.core.labels.dates import format_date_time
from lethe_app.ui.pages.trash.labels import format_kind, format_origin, item_title
from lethe_app.ui.widgets.card_column import create_card
from lethe_app.ui.widgets.detail_pane import DetailPane
from lethe_app.ui.widgets.labels import build_heading, build_small_label, create_text_label

MIN_WIDTH, WIDTH = 260, 400
EMPHASIS = re.compile(r"\*+(\S(?:[^*\n]*\S)?)\*+")
"""Text between the asterisks of an action or of an emphasis."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("Trash", text)


class TrashPreview(DetailPane):
    """Detail pane of the selected item."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(_tr("Select an item to see what it contains."), MIN_WIDTH, WIDTH, parent)
        card, column = create_card()
        self.title, self.origin = build_heading(""), build_small_label("")
        self.title.setWordWrap(True)
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.text = create_text_label("")
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text.setAccessibleName(_tr("Preview"))
        for label in (self.title, self.origin, self.text):
            column.addWidget(label)
        self._sheet.add_widget(card)

    def show_item(self, item: Trashed | None, names: Mapping[str, str]) -> None:
        """Show an item, without its text until `show_text`; None shows the placeholder."""
        self.setCurrentIndex(0 if item is None else 1)
        if item is None:
            return
        self.title.setText(item_title(item))
        parts = (format_kind(item.kind), format_origin(item, names), format_date_time(item.when))
        self.origin.setText(" · ".join(part for part in parts if part))
        self.text.clear()

    def show_text(self, text: str) -> None:
        self.text.setText(EMPHASIS.sub(r"\1", text) or _tr("No text."))
