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
from lethe_app.ui.transcript.background_image import BackgroundImage
from lethe_app.ui.transcript.keyboard import TranscriptKeyboard
from lethe_app.ui.transcript.model.chat_model import ChatModel
from lethe_app.ui.transcript.mouse import TranscriptMouse
from lethe_app.ui.transcript.overlays import TranscriptOverlays
from lethe_app.ui.transcript.painting.painter import MessagePainter, PaintState
from lethe_app.ui.transcript.painting.style import MessageStyle
from lethe_app.ui.transcript.row_layout import PlacedRow
from lethe_app.ui.transcript.scroll_view import Index, ScrollView
from lethe_app.ui.transcript.view_actions import TranscriptActions

FRAME_MS = 33
"""Minimum interval between two layouts of a growing reply."""
DOTS_MS = 420
"""Interval of the animated dots of an awaited reply."""


def _no_avatar(_speaker: str) -> QPixmap | None:
    return None


class ChatView(ScrollView):
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
    rating_requested = Signal(UUID, str)
    """Emitted with id and rating, “good” or “bad”."""
    message_pressed = Signal(UUID)
    """Emitted when a message is clicked, but no link or other control in it."""
    link_activated = Signal(QUrl)
    text_typed = Signal(str)
    """Emitted with text for the composer, typed or pasted while the transcript has the focus."""

    def __init__(self, model: ChatModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self._empty_texts = ("", "")
        self._avatars: Avatars = _no_avatar
        self._reduced_motion = False
        self._highlighted_reply: UUID | None = None
        self._dots = 3
        self.message_painter = MessagePainter(self.layout_cache.style, self._avatars)
        self.backdrop = self.scroll_bar.backdrop = BackgroundImage(self)
        self.setObjectName("chatView")
        self.setAccessibleName(self.tr("Conversation"))
        self.setAccessibleDescription(
            self.tr("Messages, oldest first. Press Tab to go to a message and Enter to show its actions.")
        )
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.transcript_actions, self.overlays = TranscriptActions(self), TranscriptOverlays(self)
        self._pointer, self._keys = TranscriptMouse(self), TranscriptKeyboard(self)
        self._frame_timer = QTimer(self, interval=FRAME_MS, singleShot=True)
        self._frame_timer.timeout.connect(self.layout_growing_reply)
        self._dots_timer = QTimer(self, interval=DOTS_MS)
        self._dots_timer.timeout.connect(self._advance_dots)
        self.setModel(model)
        model.reply_grew.connect(self._on_reply_grew)
        model.reply_finished.connect(self._announce_reply)
        model.rowsRemoved.connect(self._on_rows_removed)

    # Appearance

    def set_message_palette(self, palette: Palette) -> None:
        """Apply another palette."""
        self._apply_style(MessageStyle(palette, self.layout_cache.style.family, self.layout_cache.style.pixels))

    def set_prose_font(self, family: str, pixels: int) -> None:
        """Set family (empty: the system's) and pixel size of the font of messages."""
        self._apply_style(MessageStyle(self.layout_cache.style.palette, family, pixels))

    def _apply_style(self, style: MessageStyle) -> None:
        self.layout_cache.set_style(style)
        self.message_painter = MessagePainter(style, self._avatars)
        self.overlays.apply_style(style)
        self.setStyleSheet(f"#chatView {{ background: {style.palette.background}; border: none; }}")
        self.reset_heights()

    def set_avatars(self, avatars: Avatars) -> None:
        """Set the source of avatars; call it again when one has changed."""
        self._avatars = avatars
        self.message_painter = MessagePainter(self.layout_cache.style, avatars)
        self.viewport().update()

    def set_empty_texts(self, title: str, text: str) -> None:
        """Set the text shown in a session without messages."""
        self._empty_texts = (title, text)
        self.viewport().update()

    def set_reduced_motion(self, reduced: bool) -> None:
        """Set whether the dots of an awaited reply stand still."""
        self._reduced_motion = reduced
        self.on_layout_updated()

    def highlight_reply(self, message_id: UUID | None) -> None:
        """Highlight the chip of the reply that the memory panel shows; None for no reply."""
        if message_id != self._highlighted_reply:
            self._highlighted_reply = message_id
            self.viewport().update()

    # Focus

    @property
    def focused_row(self) -> int | None:
        """Return the row with the keyboard focus; None if no message has it."""
        index = self.currentIndex()
        return index.row() if index.isValid() and index.row() < self.chat_model.rowCount() else None

    def focus_row(self, row: int) -> None:
        """Scroll a row into view and make it the focused one."""
        self.row_layout.scroll_to_row(row)
        self.selectionModel().setCurrentIndex(self.chat_model.index(row), self.selectionModel().SelectionFlag.NoUpdate)
        self.update_layout()

    def clear_focused_row(self) -> None:
        """Take the focus from the current message; the view itself keeps it."""
        self.selectionModel().clearCurrentIndex()
        self.on_layout_updated()

    def go_to_message(self, message_id: UUID) -> None:
        """Scroll a message into view and focus it; without effect if it is not in the model."""
        if (row := self.chat_model.row_of(message_id)) is not None:
            self.setFocus()
            self.focus_row(row)

    def edit_message(self, message_id: UUID) -> None:
        """Open the editor on a message; without effect if it is not loaded."""
        if (row := self.chat_model.row_of(message_id)) is not None and self.chat_model.message(row) is not None:
            self.overlays.open_editor(row, message_id)

    def is_editing(self, row: int) -> bool:
        """Return whether the message of this row is being edited."""
        return (
            self.layout_cache.edited_message_id is not None
            and self.chat_model.row_of(self.layout_cache.edited_message_id) == row
        )

    # Changes of the model

    def reset(self) -> None:
        # The methods of QListView are skipped here and below, because they would lay out every row.
        QAbstractItemView.reset(self)
        self.layout_cache.clear()
        self.text_selection.clear()
        self.overlays.clear()
        self.layout_cache.width = self.text_column()[1]
        self.row_layout.viewport_height = self.viewport().height()
        self.row_layout.reset(self.layout_cache.estimate_heights(self.chat_model))
        self.update_layout()

    def rowsInserted(self, parent: Index, start: int, end: int) -> None:
        QAbstractItemView.rowsInserted(self, parent, start, end)
        for row in range(start, end + 1):
            self.row_layout.append_row(self.layout_cache.estimate_row_height(self.chat_model, row))
        if self.chat_model.outline(end).role is Role.USER:
            self.row_layout.is_at_end = True  # who writes wants to see what they wrote
        self.update_layout()
        self.overlays.show_newest_button(end)

    def _on_rows_removed(self, _parent: QModelIndex, first: int, last: int) -> None:
        for _ in range(first, last + 1):
            self.row_layout.remove_row(first)
        # The row that follows now may need a day separator.
        self.row_layout.invalidate_rows(first, first)
        self.update_layout()

    def dataChanged(self, first: Index, last: Index, roles: Sequence[int] = ()) -> None:
        QAbstractItemView.dataChanged(self, first, last, roles)
        # The row below may gain or lose its day separator.
        self.row_layout.invalidate_rows(first.row(), last.row() + 1)
        self.update_layout()

    def _on_reply_grew(self) -> None:
        if not self._frame_timer.isActive():
            self._frame_timer.start()

    def layout_growing_reply(self) -> None:
        """Lay out the growing reply, at most once per `FRAME_MS`."""
        row = self.chat_model.growing_row
        if row is None:
            return
        self.row_layout.invalidate_rows(row, row)
        if self.row_layout.is_at_end or self.placed_row(row) is not None:
            self.update_layout()
        self.overlays.show_newest_button(row)

    def _announce_reply(self, row: int) -> None:
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, self.chat_model.accessible_text(row)))

    # Painting

    def on_layout_updated(self) -> None:
        self.overlays.position_widgets()
        row = self.chat_model.growing_row
        is_waiting = row is not None and self.placed_row(row) is not None and not self.chat_model.text_of(row)[0].strip()
        if is_waiting and not self._reduced_motion:
            if not self._dots_timer.isActive():
                self._dots_timer.start()
        else:
            self._dots_timer.stop()
            self._dots = 3

    def _advance_dots(self) -> None:
        self._dots = self._dots % 3 + 1
        row = self.chat_model.growing_row
        placed = None if row is None else self.placed_row(row)
        if placed is not None:
            self.viewport().update(QRect(0, placed.top, self.viewport().width(), placed.height))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), self.layout_cache.style.background)
        self.backdrop.draw(painter)
        left, width = self.text_column()
        for placed in self.visible_rows:
            if placed.top < event.rect().bottom() + 1 and placed.top + placed.height > event.rect().top():
                self._draw_row(painter, placed, left, width, QRectF(event.rect()))
        if not self.chat_model.rowCount():
            self.message_painter.draw_empty_session(painter, self.viewport().rect(), *self._empty_texts)
        painter.end()

    def _draw_row(self, painter: QPainter, placed: PlacedRow, left: int, width: int, visible: QRectF) -> None:
        sheet = self.message_layout(placed.row)
        if sheet is None:
            self.message_painter.draw_placeholder(painter, left, placed.top, width, placed.height)
            return
        paint_state = PaintState(
            selection=self.text_selection.range_in(self.chat_model, placed.row),
            focused=self.focused_row == placed.row and self.hasFocus(),
            editing=self.is_editing(placed.row),
            chosen=self._highlighted_reply is not None and self.chat_model.outline(placed.row).id == self._highlighted_reply,
            actions=self.overlays.actions_row == placed.row,
            dots=self._dots,
            words=self.chat_model.waiting_text,
            visible=visible,
        )
        self.message_painter.draw_message(painter, sheet, left, placed.top, paint_state)

    # Input

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pointer.handle_press(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._pointer.handle_double_click(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._pointer.handle_move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._pointer.handle_release(event)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Leave:
            self.overlays.set_hovered_row(None)
        return super().viewportEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.setAccepted(self._keys.handle_key(event))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        placed = self.placed_row_at(event.pos().y())
        row = placed.row if placed and event.reason() == QContextMenuEvent.Reason.Mouse else self.focused_row
        if row is not None and self.chat_model.message(row) is not None:
            self.transcript_actions.open_menu(row, event.globalPos(), self._pointer.link_at(event.pos()))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        by_key = event.reason() in {Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason}
        if by_key and self.focused_row is None and self.visible_rows:
            self.focus_row(self.visible_rows[-1].row)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update_layout()

    def focusNextPrevChild(self, ahead: bool) -> bool:
        """Focus the newest visible message on the first Tab; the next Tab leaves the transcript."""
        if ahead and self.hasFocus() and self.focused_row is None and self.visible_rows:
            self.focus_row(self.visible_rows[-1].row)
            return True
        return super().focusNextPrevChild(ahead)
