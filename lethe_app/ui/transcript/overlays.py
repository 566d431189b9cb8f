"""Widgets over the painted messages: action buttons, editor, button to the newest message, and the line at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject, QRect, Qt
from PySide6.QtWidgets import QPushButton

from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.transcript.message_actions import MessageActions, deeds_for
from lethe_app.ui.transcript.message_editor import MessageEditor
from lethe_app.ui.transcript.painting.ended_line import EndedLine
from lethe_app.ui.transcript.painting.message_layout import MessageSheet
from lethe_app.ui.transcript.painting.style import MessageStyle
from lethe_app.ui.transcript.row_layout import BOTTOM, PlacedRow

if TYPE_CHECKING:
    from lethe_app.ui.transcript.view import ChatView


class ChatOverlays(QObject):
    """Places the widgets and moves them with the messages."""

    def __init__(self, view: ChatView) -> None:
        super().__init__(view)
        self._view = view
        self.hovered: int | None = None
        self.actions = MessageActions(view.viewport(), self._do)
        self.actions_row: int | None = None
        self.editor: MessageEditor | None = None
        self.pill = QPushButton(self.tr("↓ new"), view.viewport())
        self.pill.setObjectName("newPill")
        self.pill.setAccessibleName(self.tr("Go to the newest message"))
        self.pill.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.pill.setCursor(Qt.CursorShape.PointingHandCursor)
        self.pill.clicked.connect(view.go_to_end)
        self.pill.hide()
        self.footer: EndedLine | None = None
        self.restyle(view.sheets.style)

    def restyle(self, style: MessageStyle) -> None:
        """Apply palette and fonts of `style` to all widgets."""
        palette = style.palette
        self.actions.restyle(style)
        if self.editor is not None:
            self.editor.restyle(style)
        if self.footer is not None:
            self.footer.restyle(style)
        self.pill.setFont(style.small_font)
        self.pill.setStyleSheet(
            f"#newPill {{ background: {palette.raised}; color: {palette.water}; border: 1px solid {palette.border};"
            f" border-radius: 14px; padding: 0 {SPACE_4}px; min-height: 26px; max-height: 26px; }}"
            f"#newPill:hover {{ border-color: {palette.water}; }}"
        )

    def clear(self) -> None:
        """Hide the widgets, because another session is on display."""
        self.hovered = None
        self.pill.hide()
        self.end_editing()

    def _do(self, deed: str) -> None:
        if self.actions_row is not None:
            self._view.deeds.do(deed, self.actions_row)

    def hover(self, row: int | None) -> None:
        """Set the row below the pointer; None if there is none."""
        if row != self.hovered:
            self.hovered = row
            self.place()
            self._view.viewport().update()

    def place(self) -> None:
        """Move all widgets to the current places of the messages."""
        self._place_actions()
        self._place_editor()
        self._place_footer()
        if self._view.places.at_end:
            self.pill.hide()
        elif self.pill.isVisible():
            self._place_pill()

    def _place_actions(self) -> None:
        focused = self._view.focused_row if self._view.hasFocus() else None
        row = self.hovered if self.hovered is not None else focused
        placed = None if row is None else self._view.placed(row)
        sheet = None if placed is None else self._view.sheet(placed.row)
        if placed is None or sheet is None or self._view.is_editing(placed.row):
            self.actions_row = None
            self.actions.hide()
            return
        self.actions_row = placed.row
        self.actions.offer(deeds_for(self._view.chat, placed.row), *sheet.alternatives, sheet.verdict)
        self._move_actions(placed, sheet)
        self.actions.show()

    def _move_actions(self, placed: PlacedRow, sheet: MessageSheet) -> None:
        """Place the buttons below the text of their message, or at the lower edge of the viewport if that is out of view."""
        left, width = self._view.column()
        top = placed.top + sheet.foot_top - 2
        lowest = self._view.viewport().height() - self.actions.height() - SPACE_2
        floating = top > lowest
        self.actions.float_above(floating)
        if floating:
            self.actions.move(left + width - self.actions.width(), lowest)
        else:
            room = left + width - self.actions.width()  # in a narrow window they cover the chip rather than be cut off
            self.actions.move(max(left - SPACE_1 - 2, min(left + sheet.foot_left - SPACE_1 - 2, room)), top)

    def tell_new(self, row: int) -> None:
        """Show the button to the newest message if new text in `row` is out of view."""
        view = self._view
        if view.places.at_end or view.chat.rowCount() == 0:
            return
        if view.places.top_of(row) + view.places.height_of(row) > view.viewport().height():
            self.pill.show()
            self._place_pill()

    def _place_pill(self) -> None:
        area = self._view.viewport()
        self.pill.adjustSize()
        self.pill.move((area.width() - self.pill.width()) // 2, area.height() - self.pill.height() - SPACE_3)
        if self.actions.isVisible() and self.actions.geometry().intersects(self.pill.geometry()):
            self.pill.move(self.pill.x(), self.actions.y() - self.pill.height() - SPACE_1)
        self.pill.raise_()

    # Line below the last message

    def set_footer(self, footer: EndedLine | None) -> None:
        """Show a widget below the last message, or none. The scroll position stays, unless the view is at the end."""
        if footer is self.footer:
            return
        if self.footer is not None:
            self.footer.hide()
        self.footer = footer
        if footer is not None:
            footer.restyle(self._view.sheets.style)
            footer.show()
        self._view.update_layout()

    def _place_footer(self) -> None:
        view, footer = self._view, self.footer
        left, width = view.column()
        bottom = BOTTOM + (footer.heightForWidth(width) if footer is not None else 0)
        if bottom != view.places.bottom:
            view.places.bottom = bottom
            view.update_layout()  # comes back here with the room there is
        elif footer is not None:
            last = view.placed(view.chat.rowCount() - 1)
            top = last.top + last.height if last is not None else view.viewport().height()  # out of sight
            footer.setGeometry(left, top, width, bottom - BOTTOM)

    # Editing

    def edit(self, row: int, message_id: UUID) -> None:
        """Open the editor on a message; an open one is closed without saving."""
        self.end_editing()
        view = self._view
        editor = MessageEditor(view.viewport(), view.sheets.style, view.chat.text_of(row)[0])
        editor.saved.connect(lambda text: self._save(message_id, text))
        editor.cancelled.connect(self.end_editing)
        editor.height_changed.connect(self._fit_editor)
        editor.resize(view.column()[1], 200)
        view.sheets.editing, self.editor = message_id, editor
        editor.show()
        self._fit_editor()
        view.places.reveal(row)
        view.update_layout()
        editor.field.setFocus()

    def _fit_editor(self) -> None:
        view = self._view
        if self.editor is None or view.sheets.editing is None:
            return
        height = self.editor.wanted_height(view.viewport().height())
        if height != view.sheets.editor_height:
            view.sheets.editor_height = height
            self._forget(view.sheets.editing)
            view.update_layout()

    def _forget(self, message_id: UUID) -> None:
        if (row := self._view.chat.row_of(message_id)) is not None:
            self._view.places.invalidate_rows(row, row)

    def _place_editor(self) -> None:
        editing = self._view.sheets.editing
        if self.editor is None or editing is None:
            return
        row = self._view.chat.row_of(editing)
        placed = None if row is None else self._view.placed(row)
        sheet = None if row is None or placed is None else self._view.sheet(row)
        if placed is None or sheet is None:
            self.editor.move(0, -2 * self.editor.height())  # out of sight, but it keeps the focus and the words
            return
        left, width = self._view.column()
        self.editor.setGeometry(QRect(left, placed.top + sheet.prose_top, width, self._view.sheets.editor_height))

    def _save(self, message_id: UUID, text: str) -> None:
        self.end_editing()
        self._view.edited.emit(message_id, text)

    def end_editing(self) -> None:
        """Close the editor without saving."""
        if self.editor is None:
            return
        editor, self.editor = self.editor, None
        editing, self._view.sheets.editing = self._view.sheets.editing, None
        self._view.sheets.editor_height = 0
        editor.hide()
        editor.deleteLater()
        if editing is not None:
            self._forget(editing)
        self._view.setFocus()
        self._view.update_layout()
