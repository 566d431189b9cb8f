"""Banner above the persona editor: a message with buttons."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QWidget

from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.widgets.buttons import build_button


class MessageBanner(QFrame):
    """Message strip with buttons; hidden until `show_message`, and again after a click on a button."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("header")
        self._label = QLabel()
        self._label.setWordWrap(True)
        self._label.setTextFormat(Qt.TextFormat.PlainText)
        self._buttons = QWidget()
        self._row = QHBoxLayout(self._buttons)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(SPACE_2)
        line = QHBoxLayout(self)
        line.setContentsMargins(SPACE_4, SPACE_2, SPACE_4, SPACE_2)
        line.setSpacing(SPACE_3)
        line.addWidget(self._label, 1)
        line.addWidget(self._buttons)
        self.hide()

    def show_message(self, text: str, *buttons: tuple[str, Callable[[], object]]) -> None:
        """Show a text with (label, action) buttons; without any there is a button that closes the banner."""
        self._label.setText(text)
        self.setAccessibleName(text)
        while (item := self._row.takeAt(0)) is not None:
            if (old_button := item.widget()) is not None:
                old_button.hide()
                old_button.deleteLater()
        for title, action in buttons or ((self.tr("Dismiss"), self.hide),):
            button = build_button(title)
            button.clicked.connect(self.hide)
            button.clicked.connect(lambda _checked=False, action=action: action())
            self._row.addWidget(button)
        self.show()
