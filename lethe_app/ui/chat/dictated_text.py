"""Dictated text in a draft: provisional words, which the draft does not contain yet, and the final ones, which it does."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QColor, QInputMethodEvent, QTextCharFormat
from PySide6.QtWidgets import QApplication, QPlainTextEdit

from lethe_app.ui.core.input_watch import SHOWS_DICTATION
from lethe_app.ui.core.theme import Theme

OPENING_MARKS = "([{“„‘«¿¡*\"'"
"""Characters after which no space is inserted."""


class DictatedText(QObject):
    """Shows words that are being heard at the cursor of a draft field, as an input method shows what is being composed: muted
    and underlined, and not part of the document. So neither undo nor stored drafts contain them, and what is typed meanwhile
    is never overwritten.
    """

    def __init__(self, field: QPlainTextEdit, theme: Theme) -> None:
        super().__init__(field)
        self._field, self._theme = field, theme
        self.partial = ""
        """Words on display that are not final yet."""
        self._is_composing = False
        # Not while the field is still handling the key that changed its text.
        self._compose_timer = QTimer(self, singleShot=True, interval=0)
        self._compose_timer.timeout.connect(lambda: self._compose(self.partial))
        self.is_in_draft = False
        """True if some of the draft was dictated."""
        field.textChanged.connect(self._on_draft_changed)

    def show_partial(self, text: str) -> None:
        """Show provisional words in place of those before."""
        self.partial = text
        self._compose(text)

    def commit(self, text: str) -> None:
        """Insert final words at the cursor, in place of the provisional ones; without a text, only remove these."""
        self.partial = ""
        self._compose("", text)
        self.is_in_draft |= bool(text)

    def commit_partial(self) -> bool:
        """Insert the provisional words as they are; return whether there were any."""
        text = self.partial
        self.commit(text)
        return bool(text)

    def _on_draft_changed(self) -> None:
        """Show the provisional words at the cursor again, which has moved on. Qt reports changes of them, too."""
        if self._is_composing:
            return
        if self._field.document().isEmpty():
            self.is_in_draft = False
        if self.partial:
            self._compose_timer.start()

    def _compose(self, preview: str, final: str = "") -> None:
        cursor = self._field.textCursor()
        if cursor.hasSelection() and (preview or final):  # Qt would replace the selected text
            cursor.setPosition(cursor.selectionEnd())
            self._field.setTextCursor(cursor)
        style = QTextCharFormat()
        style.setFontUnderline(True)
        style.setForeground(QColor(self._theme.palette.muted))
        shown = self._with_spaces(preview)
        self._field.setProperty(SHOWS_DICTATION, bool(preview))
        event = QInputMethodEvent(
            shown, [QInputMethodEvent.Attribute(QInputMethodEvent.AttributeType.TextFormat, 0, len(shown), style)]
        )
        if final:
            event.setCommitString(self._with_spaces(final))
        self._is_composing = True
        QApplication.sendEvent(self._field, event)
        self._is_composing = False
        if preview or final:
            self._field.ensureCursorVisible()

    def _with_spaces(self, text: str) -> str:
        """Return the text with the spaces that separate it from the words around the cursor."""
        if not text:
            return ""
        position, document = self._field.textCursor().position(), self._field.document()
        before = document.characterAt(position - 1) if position else " "
        after = document.characterAt(position)
        leading = "" if before.isspace() or before in OPENING_MARKS else " "
        trailing = " " if after.isalnum() else ""
        return f"{leading}{text}{trailing}"
