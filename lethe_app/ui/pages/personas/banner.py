"""Banner above the persona editor: a message with buttons."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QFrame, QWidget

from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.labels import create_text_label
from lethe_app.ui.widgets.layouts import build_row


class MessageBanner(QFrame):
    """Message strip with buttons; hidden until `show_message`, and again after a click on a button."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("header")
        self._label, self._buttons = create_text_label(""), QWidget()
        self._row = build_row(spacing=SPACE_2, parent=self._buttons)
        margins = (SPACE_4, SPACE_2, SPACE_4, SPACE_2)
        build_row((self._label, 1), self._buttons, spacing=SPACE_3, margins=margins, parent=self)
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
