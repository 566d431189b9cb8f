"""Editor of a message in its place in the transcript: Ctrl+Enter saves, Esc cancels."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QWidget

from lethe_app.ui.core.input_watch import is_composing
from lethe_app.ui.core.palette import RADIUS_CONTROL, SPACE_2
from lethe_app.ui.core.theme import text_colour_on_accent
from lethe_app.ui.transcript.painting.style import MessageStyle
from lethe_app.ui.widgets.layouts import build_column, build_row
from lethe_app.ui.widgets.text_area import PlainTextEdit

_ENTER_KEYS = {Qt.Key.Key_Return, Qt.Key.Key_Enter}


class _Field(PlainTextEdit):
    """Text field that emits signals for the keys that save and cancel."""

    saved = Signal()
    cancelled = Signal()

    def event(self, event: QEvent) -> bool:
        # An accepted override keeps Esc from the window's shortcuts, one of which stops the reply.
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if is_composing(self):
            return
        if event.key() == Qt.Key.Key_Escape:
            self.cancelled.emit()
        elif event.key() in _ENTER_KEYS and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.saved.emit()
        else:
            super().keyPressEvent(event)


class MessageEditor(QFrame):
    """Text field with Save and Cancel that covers the text of a message. Its parent is the viewport."""

    saved = Signal(str)
    cancelled = Signal()
    height_changed = Signal()
    """Emitted when the text, and so possibly `preferred_height`, has changed."""

    def __init__(self, parent: QWidget, style: MessageStyle, text: str) -> None:
        super().__init__(parent)
        self.setObjectName("messageEditor")
        self.field = _Field(self)
        self.field.setAccessibleName(self.tr("Edit message"))
        self.field.setPlainText(text)
        self.field.setTabChangesFocus(True)
        self.field.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.field.moveCursor(QTextCursor.MoveOperation.End)
        self.field.saved.connect(self._save)
        self.field.cancelled.connect(self.cancelled)
        self.field.textChanged.connect(self.height_changed)
        self._save_button, self._cancel_button = QPushButton(self.tr("Save"), self), QPushButton(self.tr("Cancel"), self)
        self._save_button.setObjectName("primary")
        self._save_button.clicked.connect(self._save)
        self._cancel_button.clicked.connect(self.cancelled)
        self._hint = QLabel(self.tr("Ctrl+Enter saves, Esc cancels"), self)
        self._build_layout()
        self.apply_style(style)

    def _build_layout(self) -> None:
        buttons = build_row(self._hint, 0, self._cancel_button, self._save_button, spacing=SPACE_2)
        build_column(self.field, buttons, spacing=SPACE_2, parent=self)

    def apply_style(self, style: MessageStyle) -> None:
        """Apply palette and fonts of `style`."""
        palette = style.palette
        self._line_height = style.line_height
        self.field.setFont(style.font)
        self._hint.setFont(style.small_font)
        text_on_water = text_colour_on_accent(palette)
        self.setStyleSheet(
            f"#messageEditor {{ background: {palette.background}; border: none; }}"
            f"QPlainTextEdit {{ background: {palette.surface}; color: {palette.text}; border: 1px solid {palette.water};"
            f" border-radius: {RADIUS_CONTROL}px; padding: 6px; selection-background-color: {palette.water};"
            f" selection-color: {text_on_water}; font-size: {style.pixels}px; }}"
            f"QLabel {{ color: {palette.muted}; background: transparent; }}"
            f"QPushButton {{ background: {palette.raised}; color: {palette.text}; border: 1px solid {palette.border};"
            f" border-radius: {RADIUS_CONTROL}px; padding: 4px 14px; }}"
            f"QPushButton:focus {{ border-color: {palette.water}; }}"
            f"QPushButton#primary {{ background: {palette.water}; color: {text_on_water}; border-color: {palette.water}; }}"
        )

    def preferred_height(self, viewport_height: int) -> int:
        """Return the height for the whole text, limited to 60 % of `viewport_height` for the field."""
        lines = max(2, round(self.field.document().size().height()))
        text_height = lines * self.field.fontMetrics().lineSpacing() + 28
        return (
            min(text_height, max(4 * self._line_height, round(viewport_height * 0.6)))
            + SPACE_2
            + self._save_button.sizeHint().height()
        )

    def text(self) -> str:
        return self.field.toPlainText()

    def _save(self) -> None:
        self.saved.emit(self.text())
