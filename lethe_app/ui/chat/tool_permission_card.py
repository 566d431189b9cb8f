"""Card above the composer that asks for the permission to run a tool. It does not take the focus from the draft."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from lethe_app.domain.tools import PermissionAnswer
from lethe_app.services.events import AskTool
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.dialogs.dialogs import foot_button
from lethe_app.ui.transcript.row_layout import AROUND, WIDEST
from lethe_app.ui.widgets.flow_layout import Flow

LONGEST = 400
"""Maximum number of characters shown of the description or of one argument."""


def _tr(words: str) -> str:
    return QCoreApplication.translate("ToolCard", words)


class ToolCard(QWidget):
    """Request of a tool call with its details and three answers."""

    decided = Signal(object)
    """Emitted with the user's `PermissionAnswer`."""

    def __init__(self, question: AskTool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.question = question
        title = _tr("{name} would like to {wish}.").format(name=question.who, wish=question.title)
        self.title = self._label(title)
        self.details = self._label("\n".join(describe_call(question)))
        self.details.setProperty("small", True)
        self.details.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        if len(question.about) > LONGEST:
            self.details.setToolTip(f"<p>{escape(question.about)}</p>")
            self.details.setAccessibleDescription(question.about)
        self.details.setVisible(bool(self.details.text()))
        self.allow = self._button(_tr("Allow"), "primary", PermissionAnswer.ALLOW)
        self.refuse = self._button(_tr("Not now"), "filled", PermissionAnswer.NOT_NOW)
        self.always = self._button(_tr("Always in this conversation"), "filled", PermissionAnswer.ALWAYS)
        frame = QFrame()
        frame.setObjectName("composer_frame")
        frame.setMaximumWidth(WIDEST)
        frame.setAccessibleName(title)
        column = QVBoxLayout(frame)
        column.setContentsMargins(SPACE_4, SPACE_3, SPACE_4, SPACE_3)
        column.setSpacing(SPACE_2)
        for part in (self.title, self.details):
            column.addWidget(part)
        buttons = Flow(spacing=SPACE_2)
        for button in (self.allow, self.refuse, self.always):
            buttons.addWidget(button)
        column.addLayout(buttons)
        row = QHBoxLayout(self)
        row.setContentsMargins(AROUND, SPACE_1, AROUND, 0)
        row.addWidget(frame)

    def _label(self, words: str) -> QLabel:
        label = QLabel(words)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        return label

    def _button(self, words: str, kind: str, verdict: PermissionAnswer) -> QPushButton:
        button = foot_button(words, kind, lambda: self.decided.emit(verdict))
        button.setAutoDefault(False)
        return button


def describe_call(question: AskTool) -> list[str]:
    """Return the description of a tool call, or else its arguments, one per line. Long values are cut, so that the card does
    not become taller than the window.
    """
    if question.about:
        return [f"“{_short(question.about)}”"]
    given = question.call.arguments.items()
    return [f"{name.replace('_', ' ')}: {_short(str(value))}" for name, value in given]


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
