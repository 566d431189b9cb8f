"""Painted transcript, in which text is selected with mouse and keys, and links and parts of messages are clicked."""

from __future__ import annotations

from functools import partial
from uuid import UUID

from PySide6.QtCore import QElapsedTimer, QEvent, QPoint, QRect, QRectF, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QCursor,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QTextCursor,
)
from PySide6.QtWidgets import QMenu, QToolTip, QWidget

from lethe_app.ui.core.accessibility import announce
from lethe_app.ui.core.avatars import render_avatar
from lethe_app.ui.core.palette import AVATAR, Palette
from lethe_app.ui.transcript.model.chat_model import ChatModel
from lethe_app.ui.transcript.painting.message_layout import MessageLayout, PointerTarget
from lethe_app.ui.transcript.painting.painter import AvatarSource, MessagePainter, PaintState
from lethe_app.ui.transcript.painting.style import MessageStyle
from lethe_app.ui.transcript.row_layout import PlacedRow
from lethe_app.ui.transcript.scroll_view import ScrollView
from lethe_app.ui.transcript.text_selection import TextPosition, TextSelection

COPIED_MS = 1500
"""Time for which the tooltip “Copied” is shown."""
SCROLL_MS = 30
"""Interval of scrolling while a selection is dragged beyond the edge."""
MAX_SCROLL_STEP = 60
"""Maximum number of pixels of such a step."""
_MENU_KEYS = {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Menu}
_ALT_GR = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
_COMMAND_MODIFIERS = _ALT_GR | Qt.KeyboardModifier.MetaModifier
"""Modifiers that make a key a command. AltGr may be reported as Ctrl+Alt, and letters typed with it are text."""


class TranscriptView(ScrollView):
    """Transcript without commands on its messages, except copying. Subclasses call `attach_model`."""

    message_pressed = Signal(UUID)
    """Emitted when a message is clicked, but no link or other control in it."""
    memories_requested = Signal(UUID)
    """Emitted when the memory chip of a message is clicked."""
    continue_requested = Signal(UUID)
    """Emitted with the id of a reply that is to be continued."""
    link_activated = Signal(QUrl)
    text_typed = Signal(str)
    """Emitted with text for the composer, typed or pasted while the transcript has the focus."""

    def __init__(self, model: ChatModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.text_selection = TextSelection()
        self.hovered_row: int | None = None
        """Row below the pointer; None if there is none."""
        self._empty_texts = ("", "")
        self._avatars: AvatarSource = self._render_initial
        self._painter = MessagePainter(self.layout_cache.style, self._avatars)
        self._pressed_at: QPoint | None = None
        self._is_dragging = False
        self._double_click_timer = QElapsedTimer()
        self._scroll_timer = QTimer(self, interval=SCROLL_MS)
        self._scroll_timer.timeout.connect(self._continue_scrolling)
        self.setObjectName("transcript")
        self.viewport().setMouseTracking(True)
        # `paintEvent` fills the whole viewport, so Qt need not clear it before.
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def reset(self) -> None:
        self.text_selection.clear()
        self.hovered_row = None
        super().reset()

    # Appearance

    def set_message_palette(self, palette: Palette) -> None:
        """Apply another palette."""
        self.apply_style(MessageStyle(palette, self.layout_cache.style.family, self.layout_cache.style.pixels))

    def set_prose_font(self, family: str, pixels: int) -> None:
        """Set family (empty: the system's) and pixel size of the font of messages."""
        self.apply_style(MessageStyle(self.layout_cache.style.palette, family, pixels))

    def apply_style(self, style: MessageStyle) -> None:
        """Lay out and paint all messages in another style."""
        self.layout_cache.set_style(style)
        self._painter = MessagePainter(style, self._avatars)
        self.setStyleSheet(f"#transcript {{ background: {style.palette.background}; border: none; }}")
        self.reset_heights()

    def set_avatars(self, avatars: AvatarSource) -> None:
        """Set the source of avatars; call it again when one has changed."""
        self._avatars = avatars
        self._painter = MessagePainter(self.layout_cache.style, avatars)
        self.viewport().update()

    def render_avatar(self, speaker: str, name: str) -> QPixmap:
        """Return the avatar of a speaker."""
        return self._avatars(speaker, name)

    def _render_initial(self, speaker: str, name: str) -> QPixmap:
        return render_avatar(None, speaker, name, AVATAR, self.layout_cache.style.palette, self.devicePixelRatioF())

    def set_empty_texts(self, title: str, text: str) -> None:
        """Set the text shown in a session without messages."""
        self._empty_texts = (title, text)
        self.viewport().update()

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), self.layout_cache.style.background)
        self.background_image.draw(painter)
        left, width = self.text_column()
        for placed_row in self.visible_rows:
            if placed_row.top < event.rect().bottom() + 1 and placed_row.top + placed_row.height > event.rect().top():
                self._draw_row(painter, placed_row, left, width, QRectF(event.rect()))
        if not self.chat_model.rowCount():
            self._painter.draw_empty_session(painter, self.viewport().rect(), *self._empty_texts)
        painter.end()

    def _draw_row(self, painter: QPainter, placed_row: PlacedRow, left: int, width: int, clip: QRectF) -> None:
        message_layout = self.message_layout(placed_row.row)
        if message_layout is None:
            self._painter.draw_placeholder(painter, left, placed_row.top, width, placed_row.height)
            return
        self._painter.draw_message(painter, message_layout, left, placed_row.top, self.paint_state_of(placed_row.row, clip))

    def paint_state_of(self, row: int, clip: QRectF) -> PaintState:
        """Return the state in which a row is painted; `clip` is the part of the viewport to paint."""
        return PaintState(
            selection=self.text_selection.range_in(self.chat_model, row),
            is_focused=self.focused_row == row and self.hasFocus(),
            clip=clip,
        )

    # Commands

    def copy_message(self, row: int) -> None:
        """Copy the text of a message, as it was written."""
        self.copy_text(self.chat_model.text_of(row)[0])

    def copy_text(self, text: str) -> None:
        """Copy `text`; an empty text leaves the clipboard as it is."""
        if text:
            QGuiApplication.clipboard().setText(text)

    def copy_code(self, code: str) -> None:
        """Copy the code of a block."""
        self.copy_text(code)
        self.show_copied(QCursor.pos())

    def show_copied(self, point: QPoint) -> None:
        """Show a tooltip at a point of the screen, because copying has no other visible effect."""
        QToolTip.showText(point, self.tr("Copied"), self, QRect(), COPIED_MS)
        announce(self, self.tr("Copied"))

    def add_code_entries(self, menu: QMenu, row: int) -> None:
        """Add an entry for each code block of a message, at most nine, which copies its code."""
        message_layout = self.message_layout(row)
        codes = [block.code for block in message_layout.document.blocks if block.code] if message_layout else []
        for number, code in enumerate(codes[:9], 1):
            title = self.tr("Copy code block {number}").format(number=number) if len(codes) > 1 else self.tr("Copy code")
            menu.addAction(title, partial(self.copy_code, code))

    def copy_selection(self) -> None:
        """Copy the selected text, or else the focused message."""
        if not self.text_selection.is_empty:
            self.copy_text(self.text_selection.extract_text(self.chat_model, self.layout_cache))
        elif self.focused_row is not None and self.chat_model.message(self.focused_row) is not None:
            self.copy_message(self.focused_row)

    def toggle_thoughts(self, row: int) -> None:
        """Expand or collapse the thinking of a reply."""
        self.layout_cache.toggle_thoughts(self.chat_model.outline(row).id)
        self._layout_toggled_row(row)

    def toggle_tools(self, row: int) -> None:
        """Expand or collapse the tool calls of a reply."""
        self.layout_cache.toggle_tools(self.chat_model.outline(row).id)
        self._layout_toggled_row(row)

    def _layout_toggled_row(self, row: int) -> None:
        self.row_layout.is_at_end = False  # what was clicked stays where it is
        self.row_layout.invalidate_rows(row, row)
        self.update_layout()

    def build_menu(self, row: int, _link: str = "") -> QMenu:
        """Create the context menu of a row; `_link` is the address of the link at the pointer."""
        menu = QMenu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.addAction(self.tr("Copy"), lambda: self.copy_message(row))
        if not self.text_selection.is_empty:
            menu.addAction(self.tr("Copy selection"), self.copy_selection)
        self.add_code_entries(menu, row)
        return menu

    # Keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.setAccepted(self._handle_key(event))

    def _handle_key(self, event: QKeyEvent) -> bool:
        """Handle a key press; return False if the key is not used here."""
        key = Qt.Key(event.key())
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_selection()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self._select_message()
        elif key == Qt.Key.Key_Escape:
            return self._clear_focus_and_selection()
        elif key in _MENU_KEYS and self.focused_row is not None:
            self._open_menu_of_focused_row(self.focused_row)
        else:
            return self.handle_navigation_key(key) or self._pass_to_composer(event)
        return True

    def _pass_to_composer(self, event: QKeyEvent) -> bool:
        """Pass typed or pasted text to the composer, because the transcript itself takes no text."""
        text, command_modifiers = event.text(), event.modifiers() & _COMMAND_MODIFIERS
        if event.matches(QKeySequence.StandardKey.Paste):
            text = QGuiApplication.clipboard().text()
        elif not text.isprintable() or command_modifiers not in {Qt.KeyboardModifier.NoModifier, _ALT_GR}:
            text = ""
        if text:
            self.text_typed.emit(text)
        return bool(text)

    def _clear_focus_and_selection(self) -> bool:
        if self.focused_row is None and self.text_selection.is_empty:
            return False
        self.clear_focused_row()
        self.text_selection.clear()
        self.viewport().update()
        return True

    def _select_message(self) -> None:
        """Select the focused message, or else the newest visible one."""
        row = self.focused_row if self.focused_row is not None else (self.visible_rows[-1].row if self.visible_rows else None)
        message_layout = None if row is None else self.message_layout(row)
        if row is not None and message_layout is not None:
            self.text_selection.select_range(self.chat_model.outline(row).id, 0, message_layout.document.end_position)
            self.viewport().update()

    def _open_menu_of_focused_row(self, row: int) -> None:
        placed_row = self.placed_row(row)
        if placed_row is not None:
            bottom = max(0, min(placed_row.top + placed_row.height, self.viewport().height() - 40))
            menu = self.build_menu(row)
            menu.popup(self.viewport().mapToGlobal(QPoint(self.text_column()[0], bottom)))
            menu.setActiveAction(menu.actions()[0])  # which screen readers read; they pass over a menu without one

    # Mouse

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        placed_row = self.placed_row_at(event.pos().y())
        is_by_mouse = event.reason() == QContextMenuEvent.Reason.Mouse
        row = placed_row.row if placed_row and is_by_mouse else self.focused_row
        if row is not None and self.chat_model.message(row) is not None:
            self.build_menu(row, self.link_at(event.pos())).popup(event.globalPos())

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Leave:
            self._set_hovered_row(None)
        return super().viewportEvent(event)

    def _set_hovered_row(self, row: int | None) -> None:
        if row != self.hovered_row:
            self.hovered_row = row
            self.on_layout_updated()
            self.viewport().update()

    def _layout_at(self, point: QPoint) -> tuple[int, MessageLayout, float, float] | None:
        """Return row and layout at a point, with the point in the coordinates of the layout."""
        placed_row = self.placed_row_at(point.y())
        message_layout = self.message_layout(placed_row.row) if placed_row else None
        if placed_row is None or message_layout is None:
            return None
        return placed_row.row, message_layout, point.x() - self.text_column()[0], point.y() - placed_row.top

    def link_at(self, point: QPoint) -> str:
        """Return the address of the link at a point of the viewport; empty if there is none."""
        found = self._layout_at(point)
        return found[1].link_at(found[2], found[3]) if found else ""

    def _code_at(self, point: QPoint) -> str:
        found = self._layout_at(point)
        return found[1].code_at(found[2], found[3]) if found else ""

    def _target_at(self, point: QPoint) -> PointerTarget | None:
        found = self._layout_at(point)
        return found[1].target_at(found[2], found[3]) if found else None

    def _text_position_at(self, point: QPoint) -> TextPosition | None:
        """Return the text position nearest to a point of the viewport, or beyond its edge."""
        if not self.visible_rows:
            return None
        first, last = self.visible_rows[0], self.visible_rows[-1]
        found = self._layout_at(QPoint(point.x(), max(first.top, min(point.y(), last.top + last.height - 1))))
        if found is None:
            return None
        row, message_layout, x, y = found
        return TextPosition(self.chat_model.outline(row).id, message_layout.position_at(x, y))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Start or extend a selection; a third click selects the paragraph."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        self._pressed_at, self._is_dragging = event.position().toPoint(), False
        position = self._text_position_at(self._pressed_at)
        if position is None:
            return
        # Qt reports no triple click: it is a press shortly after a double click.
        interval = QGuiApplication.styleHints().mouseDoubleClickInterval()
        is_triple_click = self._double_click_timer.isValid() and self._double_click_timer.elapsed() < interval
        self._double_click_timer.invalidate()
        if is_triple_click:
            self._select_around(position, QTextCursor.SelectionType.BlockUnderCursor)
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.text_selection.extend_to(position)
        else:
            self.text_selection.start_at(position)
        self.clear_focused_row()
        self.viewport().update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Select the word at the pointer."""
        position = self._text_position_at(event.position().toPoint())
        if position is not None and event.button() == Qt.MouseButton.LeftButton:
            # The release that follows must not count as a click on the message.
            self._pressed_at = None
            self._double_click_timer.start()
            self._select_around(position, QTextCursor.SelectionType.WordUnderCursor)

    def _select_around(self, position: TextPosition, selection_type: QTextCursor.SelectionType) -> None:
        row = self.chat_model.row_of(position.message_id)
        message_layout = None if row is None else self.message_layout(row)
        if message_layout is None:
            return
        cursor = QTextCursor(message_layout.document.text_document)
        cursor.setPosition(min(position.position, message_layout.document.end_position))
        if selection_type == QTextCursor.SelectionType.BlockUnderCursor:
            # `select` would take the separator before the block as well, and so an empty line into the copy.
            cursor.movePosition(QTextCursor.MoveOperation.StartOfBlock)
            cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        else:
            cursor.select(selection_type)
        self.text_selection.select_range(position.message_id, cursor.selectionStart(), cursor.selectionEnd())
        self.viewport().update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Extend the selection while the button is down; otherwise update the hovered row and the cursor."""
        point = event.position().toPoint()
        if event.buttons() & Qt.MouseButton.LeftButton and self._pressed_at is not None:
            is_far = (point - self._pressed_at).manhattanLength() >= QGuiApplication.styleHints().startDragDistance()
            self._is_dragging = self._is_dragging or is_far
            if self._is_dragging:
                self._drag_to(point)
            return
        placed_row = self.placed_row_at(point.y())
        self._set_hovered_row(placed_row.row if placed_row else None)
        self._update_cursor(point)

    def _drag_to(self, point: QPoint) -> None:
        if (position := self._text_position_at(point)) is not None:
            self.text_selection.extend_to(position)
            self.viewport().update()
        is_outside = point.y() < 0 or point.y() > self.viewport().height()
        if is_outside and not self._scroll_timer.isActive():
            self._scroll_timer.start()
        elif not is_outside:
            self._scroll_timer.stop()

    def _continue_scrolling(self) -> None:
        # While the pointer rests outside of the viewport, no move events arrive.
        point = self.viewport().mapFromGlobal(QCursor.pos())
        distance = point.y() if point.y() < 0 else max(0, point.y() - self.viewport().height())
        if distance and self._pressed_at is not None:
            step = distance // 2 + (1 if distance > 0 else -1)
            self.scroll_by(max(-MAX_SCROLL_STEP, min(MAX_SCROLL_STEP, step)))
            self._drag_to(point)
        else:
            self._scroll_timer.stop()

    def _update_cursor(self, point: QPoint) -> None:
        target = self._target_at(point)
        # The tooltip shows the address of a link before it is opened.
        tooltips = {PointerTarget.MEMORY_CHIP: self.tr("Memories used"), PointerTarget.CODE: self.tr("Copy code")}
        tooltip = self.link_at(point) if target is None else tooltips.get(target) or self.link_at(point)
        self.viewport().setToolTip(tooltip)
        if target is None:
            self.viewport().unsetCursor()
        else:
            is_text = target is PointerTarget.TEXT
            self.viewport().setCursor(Qt.CursorShape.IBeamCursor if is_text else Qt.CursorShape.PointingHandCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Activate what was clicked: a link, thoughts, tool calls, the memory chip, or the message itself."""
        self._scroll_timer.stop()
        point = event.position().toPoint()
        is_click = self._pressed_at is not None and not self._is_dragging and event.button() == Qt.MouseButton.LeftButton
        self._pressed_at = None
        placed_row = self.placed_row_at(point.y())
        if not is_click or event.modifiers() & Qt.KeyboardModifier.ShiftModifier or placed_row is None:
            return
        match self._target_at(point):
            case PointerTarget.LINK:
                self.link_activated.emit(QUrl(self.link_at(point)))
            case PointerTarget.CODE:
                self.copy_code(self._code_at(point))
            case PointerTarget.THOUGHTS:
                self.toggle_thoughts(placed_row.row)
            case PointerTarget.TOOLS:
                self.toggle_tools(placed_row.row)
            case PointerTarget.CONTINUE:
                self.continue_requested.emit(self.chat_model.outline(placed_row.row).id)
            case PointerTarget.MEMORY_CHIP:
                self.memories_requested.emit(self.chat_model.outline(placed_row.row).id)
            case _:
                self.message_pressed.emit(self.chat_model.outline(placed_row.row).id)
