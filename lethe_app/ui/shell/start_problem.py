"""Page that is shown when Lethe cannot start: what is wrong, and a button for everything that can help."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QProgressBar, QPushButton, QWidget

from lethe_app.ui.core.accessibility import announce
from lethe_app.ui.core.icons import application_icon
from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4, SPACE_6
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.labels import build_small_label, create_text_label
from lethe_app.ui.widgets.layouts import ContentArea, Item, build_column, build_row

COLUMN_WIDTH, BUTTON_WIDTH = 680, 280
"""Maximum width of the content and minimum width of the buttons in pixels."""

Action = tuple[str, str, Callable[[], object] | None]
"""Title and description of a button, and what it does; None if it cannot be pressed."""


class StartProblemPage(QFrame):
    """Page with a headline, a text, and the actions to choose from or a progress bar."""

    def __init__(self, *footer: Action) -> None:
        super().__init__()
        self.setObjectName("welcome")
        self.headline = ""
        self._footer = footer
        self._area = ContentArea(QWidget())
        build_column(self._area, parent=self)

    def show_actions(self, text: str, actions: Sequence[Action], trouble: str = "") -> None:
        """Show a text with actions, the most promising first; `trouble` says why the last one failed."""
        buttons: list[QPushButton] = []
        rows: list[Item] = []
        for title, description, run in actions:
            button = build_button(title, run, primary=not buttons)
            button.setMinimumWidth(BUTTON_WIDTH)
            button.setAccessibleDescription(description)
            button.setEnabled(run is not None)
            buttons.append(button)
            rows.append(build_row(button, (build_small_label(description), 1), spacing=SPACE_4))
        announce(self, trouble or text)
        self._show(text, create_text_label(trouble, "danger") if trouble else 0, *rows)
        next(button for button in buttons if button.isEnabled()).setFocus()

    def show_progress(self, text: str, cancel: Action) -> QProgressBar:
        """Show that an action is under way, with a button that cancels it; return the bar, which goes to 100."""
        bar = QProgressBar()
        bar.setTextVisible(False)
        bar.setAccessibleName(text)
        self._show(text, bar, build_row(build_button(cancel[0], cancel[2]), 1))
        return bar

    def _show(self, text: str, *items: Item) -> None:
        """Replace what is shown."""
        logo, headline, explanation = QLabel(), create_text_label(self.headline, "hero"), create_text_label(text)
        logo.setPixmap(application_icon().pixmap(56, 56))
        explanation.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        head = build_row((logo, 0, Qt.AlignmentFlag.AlignTop), (headline, 1), spacing=SPACE_4)
        footer = build_row(*(build_button(title, run) for title, _, run in self._footer), 1, spacing=SPACE_2)
        content = QWidget()
        content.setMaximumWidth(COLUMN_WIDTH)
        build_column(
            1, head, explanation, *(item for item in items if item), footer, 2, spacing=SPACE_3, margins=SPACE_6, parent=content
        )
        content.setObjectName("sheet")
        self._area.takeWidget().deleteLater()  # not at once: the button that was clicked is in it
        self._area.setWidget(content)
