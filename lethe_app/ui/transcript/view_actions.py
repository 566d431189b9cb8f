"""Run the actions of a message: copy and expand are done here, all others are emitted as signals of the view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, QRect, QUrl
from PySide6.QtGui import QCursor, QGuiApplication
from PySide6.QtWidgets import QMenu, QToolTip

from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.transcript.message_actions import available_actions, fill_menu

if TYPE_CHECKING:
    from lethe_app.ui.transcript.view import ChatView

COPIED_MS = 1500
"""Time for which the tooltip “Copied” is shown."""


class TranscriptActions(QObject):
    """Runs the actions of `message_actions`, and builds the context menu."""

    def __init__(self, view: ChatView) -> None:
        super().__init__(view)
        self._view = view

    def run_action(self, action_name: str, row: int) -> None:
        """Run the action named `deed` on a row; one that is not available is ignored."""
        view = self._view
        if action_name not in available_actions(view.chat_model, row):
            return
        message_id = view.chat_model.outline(row).id
        match action_name:
            case "copy":
                self.copy_text(view.chat_model.text_of(row)[0])
                self._show_copied_tooltip()
            case "edit":
                view.edit_requested.emit(message_id)
                view.overlays.open_editor(row, message_id)
            case "regenerate":
                view.regenerate_requested.emit(message_id)
            case "continue":
                view.continue_requested.emit(message_id)
            case "memories":
                view.memories_requested.emit(message_id)
            case "prompt":
                view.prompt_requested.emit(message_id)
            case "delete":
                view.delete_requested.emit(message_id)
            case "previous" | "next":
                self._change_alternative(row, 1 if action_name == "next" else -1)
            case _:  # a thumb, up or down
                view.rating_requested.emit(message_id, action_name)

    def _change_alternative(self, row: int, step: int) -> None:
        if (message := self._view.chat_model.message(row)) is not None:
            self._view.alternative_requested.emit(message.id, message.shown + step)

    def copy_text(self, text: str) -> None:
        """Copy `text`; an empty text leaves the clipboard as it is."""
        if text:
            QGuiApplication.clipboard().setText(text)

    def _show_copied_tooltip(self) -> None:
        """Show a tooltip, because copying has no other visible effect."""
        actions = self._view.overlays.action_buttons
        at = actions.mapToGlobal(QPoint(0, actions.height() // 2)) if actions.isVisible() else QCursor.pos()
        QToolTip.showText(at, self.tr("Copied"), self._view, QRect(), COPIED_MS)

    def copy_selection(self) -> None:
        """Copy the selected text, or else the focused message."""
        view = self._view
        if not view.text_selection.is_empty:
            self.copy_text(view.text_selection.extract_text(view.chat_model, view.layout_cache))
        elif view.focused_row is not None:
            self.run_action("copy", view.focused_row)

    def toggle_thoughts(self, row: int) -> None:
        """Expand or collapse the thinking of a reply."""
        view = self._view
        view.layout_cache.toggle_thoughts(view.chat_model.outline(row).id)
        view.row_layout.is_at_end = False  # what was clicked stays where it is
        view.row_layout.invalidate_rows(row, row)
        view.update_layout()

    def toggle_tools(self, row: int) -> None:
        """Expand or collapse the tool calls of a reply."""
        view = self._view
        view.layout_cache.toggle_tools(view.chat_model.outline(row).id)
        view.row_layout.is_at_end = False  # what was clicked stays where it is
        view.row_layout.invalidate_rows(row, row)
        view.update_layout()

    def open_menu(self, row: int, at: QPoint, link: str = "") -> QMenu:
        """Open the context menu of a row at the global position `at`."""
        menu = self.build_menu(row, link)
        menu.popup(at)
        return menu

    def build_menu(self, row: int, link: str = "") -> QMenu:
        """Create the context menu of a row: link, selection, message actions, thoughts, tool calls and links."""
        view = self._view
        menu = QMenu(view)
        menu.aboutToHide.connect(menu.deleteLater)
        if link:
            menu.addAction(self.tr("Open link")).triggered.connect(lambda: view.link_activated.emit(QUrl(link)))
            menu.addAction(self.tr("Copy link address")).triggered.connect(lambda: self.copy_text(link))
            menu.addSeparator()
        if not view.text_selection.is_empty:
            menu.addAction(self.tr("Copy selection")).triggered.connect(self.copy_selection)
        fill_menu(
            menu, view.layout_cache.style, available_actions(view.chat_model, row), lambda deed: self.run_action(deed, row)
        )
        self._add_thoughts_entries(menu, row)
        self._add_tools_entry(menu, row)
        self._add_link_entries(menu, row)
        return menu

    def _add_thoughts_entries(self, menu: QMenu, row: int) -> None:
        view = self._view
        thought = view.chat_model.text_of(row)[1].strip()
        if not thought:
            return
        menu.addSeparator()
        is_open = view.layout_cache.are_thoughts_open(view.chat_model.outline(row).id)
        words = self.tr("Hide thoughts") if is_open else self.tr("Show thoughts")
        toggle = menu.addAction(load_icon("thought", view.layout_cache.style.palette.muted), words)
        toggle.triggered.connect(lambda: self.toggle_thoughts(row))
        menu.addAction(self.tr("Copy thoughts")).triggered.connect(lambda: self.copy_text(thought))

    def _add_tools_entry(self, menu: QMenu, row: int) -> None:
        """Add the entry that expands tool calls, so that the keyboard reaches it."""
        sheet = self._view.message_layout(row)
        if sheet is not None and sheet.tool_list is not None:
            menu.addSeparator()
            words = self.tr("Hide tool calls") if sheet.state.are_tools_open else self.tr("Show tool calls")
            toggle = menu.addAction(load_icon("sliders", self._view.layout_cache.style.palette.muted), words)
            toggle.triggered.connect(lambda: self.toggle_tools(row))

    def _add_link_entries(self, menu: QMenu, row: int) -> None:
        """Add up to eight links of the message, so that the keyboard reaches them."""
        sheet = self._view.message_layout(row)
        links = sheet.links if sheet is not None else []
        if links:
            menu.addSeparator()
        for address in links[:8]:
            shown = address if len(address) <= 60 else f"{address[:57]}…"
            action = menu.addAction(self.tr("Open {address}").format(address=shown.replace("&", "&&")))
            action.triggered.connect(lambda _checked=False, url=address: self._view.link_activated.emit(QUrl(url)))
