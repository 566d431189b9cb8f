"""Read-only transcript of a session, in which a message can be selected."""

from __future__ import annotations

from uuid import UUID

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QMenu, QWidget

from lethe_app.domain.chat import Message
from lethe_app.services.sessions.service import Sessions
from lethe_app.ui.core.icons import icon
from lethe_app.ui.core.palette import RADIUS_CONTROL, SPACE_1, SPACE_2, SPACE_3
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.transcript.model.model import ChatModel
from lethe_app.ui.transcript.overlays import ChatOverlays
from lethe_app.ui.transcript.row_layout import AVATAR_ROOM
from lethe_app.ui.transcript.view import ChatView
from lethe_app.ui.transcript.view_actions import TranscriptActions

WISHES = ("open", "edit", "split", "above", "below", "delete")


class Transcript(ChatView):
    """Transcript that loads and lays out visible messages only. A click or the arrow keys select a message."""

    chosen = Signal(object)
    """The selected message, or None."""
    wanted = Signal(str, object)
    """One of `WISHES`, and the message it applies to."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(ChatModel(), parent)
        self.chat.setParent(self)
        self._theme = theme
        for widget in (self.overlays.actions, self.overlays.pill):
            widget.deleteLater()
        self.overlays, self.deeds = _NoOverlays(self), _Reading(self)
        self.message: UUID | None = None
        self.setAccessibleName(self.tr("Messages"))
        self.setAccessibleDescription(self.tr("Messages, oldest first. Select one with the arrow keys; Enter opens its menu."))
        self.set_empty_words(self.tr("No messages yet."), "")
        self.message_pressed.connect(self.choose)
        self.selectionModel().currentChanged.connect(lambda _new, _old: self._follow_focus())
        theme.changed.connect(self._dress)
        self._dress()

    async def show_session(self, sessions: Sessions, guid: UUID) -> None:
        """Show a session from its end; a message that is still there stays selected."""
        outline = await sessions.outline(guid)
        held = self.message

        async def load(start: int, count: int) -> list[Message]:
            return list(await sessions.page(guid, start, count))

        self.choose(None)
        self.chat.open(outline, load)
        if held is not None and (row := self.chat.row_of(held)) is not None:
            self.choose(held)
            self.focus_row(row)

    def clear(self) -> None:
        self.choose(None)
        self.chat.close()

    def choose(self, message: UUID | None) -> None:
        """Select a message."""
        if message != self.message:
            self.message = message
            self.viewport().update()
            self.chosen.emit(message)

    def next_of(self, message: UUID) -> UUID | None:
        """Return the message after the given one."""
        row = self.chat.row_of(message)
        last = self.chat.rowCount() - 1
        return self.chat.outline(row + 1).id if row is not None and row < last else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Request the deletion of the selected message on Del, as in the lists."""
        if event.key() == Qt.Key.Key_Delete and self.message is not None:
            self.wanted.emit("delete", self.message)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw a frame around the selected message, also while the widget has no focus."""
        super().paintEvent(event)
        row = self.chat.row_of(self.message) if self.message is not None else None
        placed = self.placed(row) if row is not None else None
        if placed is None:
            return
        left, width = self.column()
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(self._theme.palette.water), 1.5))
        area = QRect(left - AVATAR_ROOM, placed.top - SPACE_1, width + AVATAR_ROOM, placed.height - SPACE_3)
        painter.drawRoundedRect(area.adjusted(-SPACE_2, 0, SPACE_2, 0), RADIUS_CONTROL, RADIUS_CONTROL)
        painter.end()

    def _follow_focus(self) -> None:
        if self.focused_row is not None:
            self.choose(self.chat.outline(self.focused_row).id)

    def _dress(self) -> None:
        self.set_palette_tokens(self._theme.palette)
        self.set_prose_font("", self._theme.prose_size)


class _NoOverlays(ChatOverlays):
    """Overlays without buttons and without an editor, as the transcript is read-only."""

    def place(self) -> None:
        self.actions.hide()
        self.pill.hide()

    def tell_new(self, row: int) -> None:
        """Do nothing: no new messages arrive."""


class _Reading(TranscriptActions):
    """Actions on a message of a read-only transcript."""

    def __init__(self, view: Transcript) -> None:
        super().__init__(view)
        self._transcript = view

    def do(self, deed: str, row: int) -> None:
        if deed == "copy":
            self.put_on_clipboard(self._transcript.chat.text_of(row)[0])

    def menu(self, row: int, link: str = "") -> QMenu:
        view, menu = self._transcript, QMenu(self._transcript)
        menu.aboutToHide.connect(menu.deleteLater)
        message = view.chat.outline(row).id
        view.choose(message)
        menu.addAction(self.tr("Copy"), lambda: self.do("copy", row))
        if not view.selection.is_empty:
            menu.addAction(self.tr("Copy selection"), self.copy_selection)
        menu.addSeparator()
        titles = {
            "open": (self.tr("Go to message"), "forward"),
            "edit": (self.tr("Edit message…"), "edit"),
            "split": (self.tr("Split conversation here"), "chevron-down"),
            "above": (self.tr("Insert message above"), "plus"),
            "below": (self.tr("Insert message below"), "plus"),
            "delete": (self.tr("Delete message…"), "trash"),
        }
        for wish in WISHES:
            words, drawing = titles[wish]
            action = menu.addAction(icon(drawing, view.sheets.style.palette.muted), words)
            action.setEnabled(wish != "split" or row > 0)
            action.triggered.connect(lambda _checked=False, wish=wish: view.wanted.emit(wish, message))
        return menu
