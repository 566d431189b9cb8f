"""Card above the composer that asks for the permission to run a tool. It does not take the focus from the draft."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from lethe_app.domain.tools import PermissionAnswer
from lethe_app.services.events import ToolPermissionRequested
from lethe_app.ui.chat.composer_card import ComposerCard
from lethe_app.ui.core.formatting import truncate_text

MAX_TEXT_LENGTH = 400
"""Maximum number of characters shown of the description or of one argument."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("ToolCard", text)


class ToolCard(ComposerCard):
    """Request of a tool call with its details and three answers."""

    decided = Signal(object)
    """Emitted with the user's `PermissionAnswer`."""

    def __init__(self, question: ToolPermissionRequested, parent: QWidget | None = None) -> None:
        title = _tr("{name} would like to {action}.").format(name=question.persona_name, action=question.title)
        super().__init__(title, "\n".join(describe_call(question)), parent)
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
