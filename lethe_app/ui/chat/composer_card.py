"""Cards above the composer with a question or a notice and its buttons, such as the permission to run a tool. They do not take
the focus from the draft.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from lethe_app.domain.tools import PermissionAnswer
from lethe_app.services.events import ToolPermissionRequested
from lethe_app.ui.core.formatting import truncate_text
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.dialogs.dialogs import create_dialog_button
from lethe_app.ui.transcript.row_layout import COLUMN_MARGIN, MAX_COLUMN_WIDTH
from lethe_app.ui.widgets.buttons import IconButton
from lethe_app.ui.widgets.flow_layout import FlowLayout
from lethe_app.ui.widgets.labels import create_text_label
from lethe_app.ui.widgets.layouts import build_column, build_row

MAX_TEXT_LENGTH = 400
"""Maximum number of characters shown of the description or of one argument."""
MIN_WIDE_WIDTH = 480
"""Width in pixels from which a compact card has its buttons beside the text."""


class ComposerCard(QWidget):
    """Title, details and a row of buttons, as wide as the transcript's column. A compact card has the buttons beside the text
    if there is room.
    """

    def __init__(self, title: str, details: str, *, is_compact: bool = False) -> None:
        super().__init__()
        self._is_compact = is_compact
        self.title: QLabel = create_text_label(title)
        self.details: QLabel = create_text_label(details, "small")
        self.details.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.details.setVisible(bool(details))
        frame = QFrame()
        frame.setObjectName("composer_frame")
        frame.setMaximumWidth(MAX_COLUMN_WIDTH)
        frame.setAccessibleName(title)
        self._parts = QBoxLayout(QBoxLayout.Direction.TopToBottom, frame)
        margin = SPACE_2 if is_compact else SPACE_3
        self._parts.setContentsMargins(SPACE_4, margin, SPACE_4, margin)
        self._parts.setSpacing(SPACE_2)
        texts = build_column(self.title, self.details, spacing=SPACE_1 if is_compact else SPACE_2)
        self._parts.addLayout(texts, 1)
        self._buttons = QHBoxLayout() if is_compact else FlowLayout(spacing=SPACE_2)
        self._buttons.setSpacing(SPACE_2)
        self._parts.addLayout(self._buttons)
        build_row(frame, margins=(COLUMN_MARGIN, SPACE_1, COLUMN_MARGIN, 0), parent=self)

    def add_button(self, text: str, kind: str, on_click: Callable[[], object]) -> QPushButton:
        """Add a button; `kind` is its style, “primary” or “filled”."""
        button = create_dialog_button(text, kind, on_click)
        button.setAutoDefault(False)
        self._buttons.addWidget(button)
        return button

    def add_icon_button(self, button: IconButton) -> None:
        """Add a button without a text as the last one."""
        self._buttons.addWidget(button)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._is_compact:
            is_wide = self.width() >= MIN_WIDE_WIDTH
            self._parts.setDirection(QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom)


def _tr(text: str) -> str:
    return QCoreApplication.translate("ToolCard", text)


class ToolCard(ComposerCard):
    """Request of a tool call with its details and three answers."""

    decided = Signal(object)
    """Emitted with the user's `PermissionAnswer`."""

    def __init__(self, question: ToolPermissionRequested) -> None:
        title = _tr("{name} would like to {action}.").format(name=question.persona_name, action=question.title)
        super().__init__(title, "\n".join(describe_call(question)))
        self.question = question
        if len(question.details) > MAX_TEXT_LENGTH:
            self.details.setToolTip(f"<p>{escape(question.details)}</p>")
            self.details.setAccessibleDescription(question.details)
        self.allow_button = self._add_answer(_tr("Allow"), "primary", PermissionAnswer.ALLOW)
        self.refuse_button = self._add_answer(_tr("Not now"), "filled", PermissionAnswer.NOT_NOW)
        self.always_button = self._add_answer(_tr("Always in this conversation"), "filled", PermissionAnswer.ALWAYS)

    def _add_answer(self, text: str, kind: str, answer: PermissionAnswer) -> QPushButton:
        return self.add_button(text, kind, lambda: self.decided.emit(answer))


def describe_call(question: ToolPermissionRequested) -> list[str]:
    """Return the description of a tool call, or else its arguments, one per line. Long values are cut, so that the card does
    not become taller than the window.
    """
    if question.details:
        return [f"“{truncate_text(question.details, MAX_TEXT_LENGTH)}”"]
    arguments = question.call.arguments.items()
    return [f"{name.replace('_', ' ')}: {truncate_text(str(value), MAX_TEXT_LENGTH)}" for name, value in arguments]
