"""View of the transcript for ten thousand messages and more; only visible ones are laid out."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from PySide6.QtCore import QEvent, QModelIndex, QRect, QRectF, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
)
from PySide6.QtWidgets import QAbstractItemView, QWidget

from lethe_app.domain.chat import Role
from lethe_app.ui.core.palette import Palette
from lethe_app.ui.transcript.avatars import Avatars
from lethe_app.ui.transcript.background_image import Backdrop
from lethe_app.ui.transcript.keyboard import ChatKeys
from lethe_app.ui.transcript.model.model import ChatModel
from lethe_app.ui.transcript.mouse import ChatPointer
from lethe_app.ui.transcript.overlays import ChatOverlays
from lethe_app.ui.transcript.painting.painter import MessagePainter, PaintState
from lethe_app.ui.transcript.painting.style import MessageStyle
from lethe_app.ui.transcript.row_layout import PlacedRow
from lethe_app.ui.transcript.scroll_view import ChatCanvas, Index
from lethe_app.ui.transcript.view_actions import TranscriptActions

FRAME_MS = 33
"""Minimum interval between two layouts of a growing reply."""
DOTS_MS = 420
"""Interval of the animated dots of an awaited reply."""


def _no_avatar(_speaker: str) -> QPixmap | None:
    return None


class ChatView(ChatCanvas):
    """View of a `ChatModel`. Requests for a message are emitted as signals with its id."""

    edit_requested = Signal(UUID)
    edited = Signal(UUID, str)
    """Emitted with id and new text when an edit is saved."""
    regenerate_requested = Signal(UUID)
    continue_requested = Signal(UUID)
    delete_requested = Signal(UUID)
    alternative_requested = Signal(UUID, int)
    """Emitted with id and index of the alternative to show."""
    memories_requested = Signal(UUID)
    prompt_requested = Signal(UUID)
    verdict_requested = Signal(UUID, str)
    """Emitted with id and rating, “good” or “bad”."""
    message_pressed = Signal(UUID)
    """Emitted when a message is clicked, but no link or other control in it."""
    link_activated = Signal(QUrl)
    written = Signal(str)
    """Emitted with text for the composer, typed or pasted while the transcript has the focus."""

    def __init__(self, model: ChatModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self._empty = ("", "")
        self._avatars: Avatars = _no_avatar
        self._reduced_motion = False
        self._chosen: UUID | None = None
        self._dots = 3
        self.message_painter = MessagePainter(self.sheets.style, self._avatars)
        self.backdrop = self.bar.behind = Backdrop(self)
        self.setObjectName("chatView")
        self.setAccessibleName(self.tr("Conversation"))
        self.setAccessibleDescription(
            self.tr("Messages, oldest first. Press Tab to go to a message and Enter to show its actions.")
        )
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.deeds, self.overlays = TranscriptActions(self), ChatOverlays(self)
        self._pointer, self._keys = ChatPointer(self), ChatKeys(self)
        self._frame = QTimer(self, interval=FRAME_MS, singleShot=True)
        self._frame.timeout.connect(self.draw_growth)
        self._pulse = QTimer(self, interval=DOTS_MS)
        self._pulse.timeout.connect(self._next_dot)
        self.setModel(model)
        model.reply_grew.connect(self._reply_grew)
        model.reply_finished.connect(self._announce)
        model.rowsRemoved.connect(self._rows_removed)

    # Appearance

    def set_palette_tokens(self, palette: Palette) -> None:
        """Apply another palette."""
        self._restyle(MessageStyle(palette, self.sheets.style.family, self.sheets.style.pixels))

    def set_prose_font(self, family: str, pixels: int) -> None:
        """Set family (empty: the system's) and pixel size of the font of messages."""
        self._restyle(MessageStyle(self.sheets.style.palette, family, pixels))

    def _restyle(self, style: MessageStyle) -> None:
        self.sheets.restyle(style)
        self.message_painter = MessagePainter(style, self._avatars)
        self.overlays.restyle(style)
        self.setStyleSheet(f"#chatView {{ background: {style.palette.background}; border: none; }}")
        self.reshape()

    def set_avatars(self, avatars: Avatars) -> None:
        """Set the source of avatars; call it again when one has changed."""
        self._avatars = avatars
        self.message_painter = MessagePainter(self.sheets.style, avatars)
        self.viewport().update()

    def set_empty_words(self, title: str, text: str) -> None:
        """Set the text shown in a session without messages."""
        self._empty = (title, text)
        self.viewport().update()

    def set_reduced_motion(self, reduced: bool) -> None:
        """Set whether the dots of an awaited reply stand still."""
        self._reduced_motion = reduced
        self.settled()

    def mark_chosen(self, message_id: UUID | None) -> None:
        """Highlight the chip of the reply that the memory panel shows; None for no reply."""
        if message_id != self._chosen:
            self._chosen = message_id
            self.viewport().update()

    # Focus

    @property
    def focused_row(self) -> int | None:
        """Return the row with the keyboard focus; None if no message has it."""
        index = self.currentIndex()
        return index.row() if index.isValid() and index.row() < self.chat.rowCount() else None

    def focus_row(self, row: int) -> None:
        """Scroll a row into view and make it the focused one."""
        self.places.reveal(row)
        self.selectionModel().setCurrentIndex(self.chat.index(row), self.selectionModel().SelectionFlag.NoUpdate)
        self.update_layout()

    def forget_focus(self) -> None:
        """Take the focus from the current message; the view itself keeps it."""
        self.selectionModel().clearCurrentIndex()
        self.settled()

    def go_to_message(self, message_id: UUID) -> None:
        """Scroll a message into view and focus it; without effect if it is not in the model."""
        if (row := self.chat.row_of(message_id)) is not None:
            self.setFocus()
            self.focus_row(row)

    def edit_message(self, message_id: UUID) -> None:
        """Open the editor on a message; without effect if it is not loaded."""
        if (row := self.chat.row_of(message_id)) is not None and self.chat.message(row) is not None:
            self.overlays.edit(row, message_id)

    def is_editing(self, row: int) -> bool:
        """Return whether the message of this row is being edited."""
        return self.sheets.editing is not None and self.chat.row_of(self.sheets.editing) == row

    # Changes of the model

    def reset(self) -> None:
        # The methods of QListView are skipped here and below, because they would lay out every row.
        QAbstractItemView.reset(self)
        self.sheets.clear()
        self.selection.clear()
        self.overlays.clear()
        self.sheets.width = self.column()[1]
        self.places.viewport = self.viewport().height()
        self.places.reset(self.sheets.guesses(self.chat))
        self.update_layout()

    def rowsInserted(self, parent: Index, start: int, end: int) -> None:
        QAbstractItemView.rowsInserted(self, parent, start, end)
        for row in range(start, end + 1):
            self.places.append(self.sheets.guess(self.chat, row))
        if self.chat.outline(end).role is Role.USER:
            self.places.at_end = True  # who writes wants to see what they wrote
        self.update_layout()
        self.overlays.tell_new(end)

    def _rows_removed(self, _parent: QModelIndex, first: int, last: int) -> None:
        for _ in range(first, last + 1):
            self.places.remove(first)
        # The row that follows now may need a day separator.
        self.places.invalidate_rows(first, first)
        self.update_layout()

    def dataChanged(self, first: Index, last: Index, roles: Sequence[int] = ()) -> None:
        QAbstractItemView.dataChanged(self, first, last, roles)
        # The row below may gain or lose its day separator.
        self.places.invalidate_rows(first.row(), last.row() + 1)
        self.update_layout()

    def _reply_grew(self) -> None:
        if not self._frame.isActive():
            self._frame.start()

    def draw_growth(self) -> None:
        """Lay out the growing reply, at most once per `FRAME_MS`."""
        row = self.chat.growing_row
        if row is None:
            return
        self.places.invalidate_rows(row, row)
        if self.places.at_end or self.placed(row) is not None:
            self.update_layout()
        self.overlays.tell_new(row)

    def _announce(self, row: int) -> None:
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, self.chat.spoken(row)))

    # Painting

    def settled(self) -> None:
        self.overlays.place()
        row = self.chat.growing_row
        waiting = row is not None and self.placed(row) is not None and not self.chat.text_of(row)[0].strip()
        if waiting and not self._reduced_motion:
            if not self._pulse.isActive():
                self._pulse.start()
        else:
            self._pulse.stop()
            self._dots = 3

    def _next_dot(self) -> None:
        self._dots = self._dots % 3 + 1
        row = self.chat.growing_row
        placed = None if row is None else self.placed(row)
        if placed is not None:
            self.viewport().update(QRect(0, placed.top, self.viewport().width(), placed.height))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), self.sheets.style.background)
        self.backdrop.draw(painter)
        left, width = self.column()
        for placed in self.shown:
            if placed.top < event.rect().bottom() + 1 and placed.top + placed.height > event.rect().top():
                self._draw(painter, placed, left, width, QRectF(event.rect()))
        if not self.chat.rowCount():
            self.message_painter.draw_empty(painter, self.viewport().rect(), *self._empty)
        painter.end()

    def _draw(self, painter: QPainter, placed: PlacedRow, left: int, width: int, visible: QRectF) -> None:
        sheet = self.sheet(placed.row)
        if sheet is None:
            self.message_painter.draw_placeholder(painter, left, placed.top, width, placed.height)
            return
        moment = PaintState(
            selection=self.selection.range_in(self.chat, placed.row),
            focused=self.focused_row == placed.row and self.hasFocus(),
            editing=self.is_editing(placed.row),
            chosen=self._chosen is not None and self.chat.outline(placed.row).id == self._chosen,
            actions=self.overlays.actions_row == placed.row,
            dots=self._dots,
            words=self.chat.waiting_words,
            visible=visible,
        )
        self.message_painter.draw(painter, sheet, left, placed.top, moment)

    # Input

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pointer.press(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._pointer.double_click(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._pointer.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._pointer.release(event)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Leave:
            self.overlays.hover(None)
        return super().viewportEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.setAccepted(self._keys.press(event))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        placed = self.placed_at(event.pos().y())
        row = placed.row if placed and event.reason() == QContextMenuEvent.Reason.Mouse else self.focused_row
        if row is not None and self.chat.message(row) is not None:
            self.deeds.open_menu(row, event.globalPos(), self._pointer.link_at(event.pos()))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        by_key = event.reason() in {Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason}
        if by_key and self.focused_row is None and self.shown:
            self.focus_row(self.shown[-1].row)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update_layout()

    def focusNextPrevChild(self, ahead: bool) -> bool:
        """Focus the newest visible message on the first Tab; the next Tab leaves the transcript."""
        if ahead and self.hasFocus() and self.focused_row is None and self.shown:
            self.focus_row(self.shown[-1].row)
            return True
        return super().focusNextPrevChild(ahead)
