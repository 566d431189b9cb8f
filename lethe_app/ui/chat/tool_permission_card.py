"""Card above the composer that asks for the permission to run a tool. It does not take the focus from the draft."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from lethe_app.domain.tools import PermissionAnswer
from lethe_app.services.events import ToolPermissionRequested
from lethe_app.ui.core.formatting import truncate_text
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.dialogs.dialogs import create_dialog_button
from lethe_app.ui.transcript.row_layout import COLUMN_MARGIN, MAX_COLUMN_WIDTH
from lethe_app.ui.widgets.flow_layout import FlowLayout

MAX_TEXT_LENGTH = 400
"""Maximum number of characters shown of the description or of one argument."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("ToolCard", text)


class ToolCard(QWidget):
    """Request of a tool call with its details and three answers."""

    decided = Signal(object)
    """Emitted with the user's `PermissionAnswer`."""

    def __init__(self, question: ToolPermissionRequested, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.question = question
        title = _tr("{name} would like to {action}.").format(name=question.persona_name, action=question.title)
        self.title = self._create_label(title)
        self.details = self._create_label("\n".join(describe_call(question)))
        self.details.setProperty("small", True)
        self.details.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        if len(question.details) > MAX_TEXT_LENGTH:
            self.details.setToolTip(f"<p>{escape(question.details)}</p>")
            self.details.setAccessibleDescription(question.details)
        self.details.setVisible(bool(self.details.text()))
        self.allow_button = self._create_button(_tr("Allow"), "primary", PermissionAnswer.ALLOW)
        self.refuse_button = self._create_button(_tr("Not now"), "filled", PermissionAnswer.NOT_NOW)
        self.always_button = self._create_button(_tr("Always in this conversation"), "filled", PermissionAnswer.ALWAYS)
        frame = QFrame()
        frame.setObjectName("composer_frame")
        frame.setMaximumWidth(MAX_COLUMN_WIDTH)
        frame.setAccessibleName(title)
        column = QVBoxLayout(frame)
        column.setContentsMargins(SPACE_4, SPACE_3, SPACE_4, SPACE_3)
        column.setSpacing(SPACE_2)
        for part in (self.title, self.details):
            column.addWidget(part)
        buttons = FlowLayout(spacing=SPACE_2)
        for button in (self.allow_button, self.refuse_button, self.always_button):
            buttons.addWidget(button)
        column.addLayout(buttons)
        row = QHBoxLayout(self)
        row.setContentsMargins(COLUMN_MARGIN, SPACE_1, COLUMN_MARGIN, 0)
        row.addWidget(frame)

    def _create_label(self, text: str) -> QLabel:
        label = QLabel(text)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        return label

    def _create_button(self, label: str, kind: str, answer: PermissionAnswer) -> QPushButton:
        button = create_dialog_button(label, kind, lambda: self.decided.emit(answer))
        button.setAutoDefault(False)
        return button


def describe_call(question: ToolPermissionRequested) -> list[str]:
    """Return the description of a tool call, or else its arguments, one per line. Long values are cut, so that the card does
    not become taller than the window.
    """
    if question.details:
        return [f"“{truncate_text(question.details, MAX_TEXT_LENGTH)}”"]
    arguments = question.call.arguments.items()
    return [f"{name.replace('_', ' ')}: {truncate_text(str(value), MAX_TEXT_LENGTH)}" for name, value in arguments]
