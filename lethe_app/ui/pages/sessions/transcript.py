"""Read-only transcript of a session, in which a message can be selected, and its replay at reading speed."""

from __future__ import annotations

from uuid import UUID

from PySide6.QtCore import QObject, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QMenu, QWidget

from lethe_app.domain.chat import Message
from lethe_app.services.sessions.service import SessionService
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.palette import RADIUS_CONTROL, SPACE_1, SPACE_2, SPACE_3
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.sessions.columns import tr
from lethe_app.ui.transcript.model.chat_model import ChatModel
from lethe_app.ui.transcript.row_layout import AVATAR_COLUMN_WIDTH
from lethe_app.ui.transcript.transcript_view import TranscriptView

CHARACTERS_PER_SECOND = 25
"""Reading speed: about 250 words a minute."""
MIN_SECONDS, MAX_SECONDS = 1.5, 20.0
"""Shortest and longest time for one message; whoever reads longer pauses."""


class Transcript(TranscriptView):
    """Transcript that loads and lays out visible messages only. A click or the arrow keys select a message."""

    message_selected = Signal(object)
    """The selected message, or None."""
    action_requested = Signal(str, object)
    """Name of an action as in `list_message_actions`, and the message it applies to."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(ChatModel(), parent)
        self.chat_model.setParent(self)
        self._theme = theme
        self.message: UUID | None = None
        self.setAccessibleName(self.tr("Messages"))
        self.setAccessibleDescription(self.tr("Messages, oldest first. Select one with the arrow keys; Enter opens its menu."))
        self.set_empty_texts(self.tr("No messages yet."), "")
        self.attach_model()
        self.message_pressed.connect(self.select_message)
        self.selectionModel().currentChanged.connect(lambda _new, _old: self._select_focused())
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    async def show_session(self, sessions: SessionService, guid: UUID) -> None:
        """Show a session from its end; a message that is still there stays selected."""
        outline = await sessions.outline(guid)
        selected_id = self.message

        async def load(start: int, count: int) -> list[Message]:
            return list(await sessions.page(guid, start, count))

        self.select_message(None)
        self.chat_model.show_session(outline, load)
        if selected_id is not None and (row := self.chat_model.row_of(selected_id)) is not None:
            self.select_message(selected_id)
            self.focus_row(row)

    def clear_session(self) -> None:
        self.select_message(None)
        self.chat_model.close()

    def select_message(self, message: UUID | None) -> None:
        """Select a message."""
        if message != self.message:
            self.message = message
            self.viewport().update()
            self.message_selected.emit(message)

    def next_message(self, message: UUID) -> UUID | None:
        """Return the message after the given one."""
        row = self.chat_model.row_of(message)
        last = self.chat_model.rowCount() - 1
        return self.chat_model.outline(row + 1).id if row is not None and row < last else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Request the deletion of the selected message on Del, as in the lists."""
        if event.key() == Qt.Key.Key_Delete and self.message is not None:
            self.action_requested.emit("delete", self.message)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw a frame around the selected message, also while the widget has no focus."""
        super().paintEvent(event)
        row = self.chat_model.row_of(self.message) if self.message is not None else None
        placed = self.placed_row(row) if row is not None else None
        if placed is None:
            return
        left, width = self.text_column()
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(self._theme.palette.water), 1.5))
        area = QRect(left - AVATAR_COLUMN_WIDTH, placed.top - SPACE_1, width + AVATAR_COLUMN_WIDTH, placed.height - SPACE_3)
        painter.drawRoundedRect(area.adjusted(-SPACE_2, 0, SPACE_2, 0), RADIUS_CONTROL, RADIUS_CONTROL)
        painter.end()

    def build_menu(self, row: int, link: str = "") -> QMenu:
        """Create the context menu of a row, and select its message."""
        message = self.chat_model.outline(row).id
        self.select_message(message)
        menu = super().build_menu(row, link)
        menu.addSeparator()
        for action_name, (title, icon_name) in list_message_actions().items():
            action = menu.addAction(load_icon(icon_name, self.layout_cache.style.palette.muted), title)
            action.setEnabled(action_name != "split" or row > 0)
            action.triggered.connect(lambda _checked=False, name=action_name: self.action_requested.emit(name, message))
        return menu

    def _select_focused(self) -> None:
        if self.focused_row is not None:
            self.select_message(self.chat_model.outline(self.focused_row).id)

    def _apply_theme(self) -> None:
        self.set_message_palette(self._theme.palette)
        self.set_prose_font("", self._theme.prose_size)


def list_message_actions() -> dict[str, tuple[str, str]]:
    """Return title and icon of each action on a message by its name."""
    return {
        "open": (tr("Go to message"), "forward"),
        "details": (tr("Message details"), "info"),
        "edit": (tr("Edit message…"), "edit"),
        "split": (tr("Split conversation here"), "chevron-down"),
        "above": (tr("Insert message above"), "plus"),
        "below": (tr("Insert message below"), "plus"),
        "delete": (tr("Delete message…"), "trash"),
    }


def reading_ms(length: int) -> int:
    """Return the time to read a message of `length` characters, in milliseconds."""
    return round(1000 * min(max(length / CHARACTERS_PER_SECOND, MIN_SECONDS), MAX_SECONDS))


class TranscriptReplay(QObject):
    """Replays the transcript on display, from the selected message on or else from its beginning."""

    running_changed = Signal(bool)

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(transcript)
        self._transcript = transcript
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._show_next)
        self._row = -1
        transcript.message_selected.connect(self._stop_at_other_message)
        transcript.chat_model.modelReset.connect(self.stop)

    @property
    def is_running(self) -> bool:
        """Return whether messages are being replayed."""
        return self._row >= 0

    def toggle(self) -> None:
        """Start the replay, or pause it at the present message."""
        if self.is_running:
            self.stop()
            return
        message = self._transcript.message
        row = self._transcript.chat_model.row_of(message) if message is not None else None
        is_at_end = row == self._transcript.chat_model.rowCount() - 1
        self._show_row(0 if row is None or is_at_end else row)

    def stop(self) -> None:
        """Stop the replay; the present message stays selected."""
        self._timer.stop()
        if self.is_running:
            self._row = -1
            self.running_changed.emit(False)

    def _show_next(self) -> None:
        if self._transcript.isVisible():
            self._show_row(self._row + 1)
        else:  # another tab or page was opened
            self.stop()

    def _show_row(self, row: int) -> None:
        """Select and show a message, and plan the next one; after the last one the replay ends."""
        model = self._transcript.chat_model
        if row >= model.rowCount():
            self.stop()
            return
        was_running, self._row = self.is_running, row
        self._transcript.focus_row(row)
        self._transcript.select_message(model.outline(row).id)
        self._timer.start(reading_ms(model.outline(row).length))
        if not was_running:
            self.running_changed.emit(True)

    def _stop_at_other_message(self, message: object) -> None:
        """Stop if the user selects another message than the one being shown."""
        if self.is_running and self._transcript.chat_model.outline(self._row).id != message:
            self.stop()
