"""Run the actions of a message: copy and expand are done here, all others are emitted as signals of the view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, QRect, QUrl
from PySide6.QtGui import QCursor, QGuiApplication
from PySide6.QtWidgets import QMenu, QToolTip

from lethe_app.ui.core.icons import icon
from lethe_app.ui.transcript.message_actions import deeds_for, fill_menu

if TYPE_CHECKING:
    from lethe_app.ui.transcript.view import ChatView

COPIED_MS = 1500
"""Time for which the tooltip “Copied” is shown."""


class TranscriptActions(QObject):
    """Runs the actions of `message_actions`, and builds the context menu."""

    def __init__(self, view: ChatView) -> None:
        super().__init__(view)
        self._view = view

    def do(self, deed: str, row: int) -> None:
        """Run the action named `deed` on a row; one that is not available is ignored."""
        view = self._view
        if deed not in deeds_for(view.chat, row):
            return
        message = view.chat.outline(row).id
        match deed:
            case "copy":
                self.put_on_clipboard(view.chat.text_of(row)[0])
                self._say_copied()
            case "edit":
                view.edit_requested.emit(message)
                view.overlays.edit(row, message)
            case "regenerate":
                view.regenerate_requested.emit(message)
            case "continue":
                view.continue_requested.emit(message)
            case "memories":
                view.memories_requested.emit(message)
            case "prompt":
                view.prompt_requested.emit(message)
            case "delete":
                view.delete_requested.emit(message)
            case "previous" | "next":
                self._change_alternative(row, 1 if deed == "next" else -1)
            case _:  # a thumb, up or down
                view.verdict_requested.emit(message, deed)

    def _change_alternative(self, row: int, step: int) -> None:
        if (message := self._view.chat.message(row)) is not None:
            self._view.alternative_requested.emit(message.id, message.shown + step)

    def put_on_clipboard(self, text: str) -> None:
        """Copy `text`; an empty text leaves the clipboard as it is."""
        if text:
            QGuiApplication.clipboard().setText(text)

    def _say_copied(self) -> None:
        """Show a tooltip, because copying has no other visible effect."""
        actions = self._view.overlays.actions
        at = actions.mapToGlobal(QPoint(0, actions.height() // 2)) if actions.isVisible() else QCursor.pos()
        QToolTip.showText(at, self.tr("Copied"), self._view, QRect(), COPIED_MS)

    def copy_selection(self) -> None:
        """Copy the selected text, or else the focused message."""
        view = self._view
        if not view.selection.is_empty:
            self.put_on_clipboard(view.selection.text(view.chat, view.sheets))
        elif view.focused_row is not None:
            self.do("copy", view.focused_row)

    def toggle_thoughts(self, row: int) -> None:
        """Expand or collapse the thinking of a reply."""
        view = self._view
        view.sheets.toggle_thoughts(view.chat.outline(row).id)
        view.places.at_end = False  # what was clicked stays where it is
        view.places.invalidate_rows(row, row)
        view.update_layout()

    def toggle_tools(self, row: int) -> None:
        """Expand or collapse the tool calls of a reply."""
        view = self._view
        view.sheets.toggle_tools(view.chat.outline(row).id)
        view.places.at_end = False  # what was clicked stays where it is
        view.places.invalidate_rows(row, row)
        view.update_layout()

    def open_menu(self, row: int, at: QPoint, link: str = "") -> QMenu:
        """Open the context menu of a row at the global position `at`."""
        menu = self.menu(row, link)
        menu.popup(at)
        return menu

    def menu(self, row: int, link: str = "") -> QMenu:
        """Create the context menu of a row: link, selection, message actions, thoughts, tool calls and links."""
        view = self._view
        menu = QMenu(view)
        menu.aboutToHide.connect(menu.deleteLater)
        if link:
            menu.addAction(self.tr("Open link")).triggered.connect(lambda: view.link_activated.emit(QUrl(link)))
            menu.addAction(self.tr("Copy link address")).triggered.connect(lambda: self.put_on_clipboard(link))
            menu.addSeparator()
        if not view.selection.is_empty:
            menu.addAction(self.tr("Copy selection")).triggered.connect(self.copy_selection)
        fill_menu(menu, view.sheets.style, deeds_for(view.chat, row), lambda deed: self.do(deed, row))
        self._add_thoughts(menu, row)
        self._add_tools(menu, row)
        self._add_links(menu, row)
        return menu

    def _add_thoughts(self, menu: QMenu, row: int) -> None:
        view = self._view
        thought = view.chat.text_of(row)[1].strip()
        if not thought:
            return
        menu.addSeparator()
        is_open = view.sheets.are_thoughts_open(view.chat.outline(row).id)
        words = self.tr("Hide thoughts") if is_open else self.tr("Show thoughts")
        toggle = menu.addAction(icon("thought", view.sheets.style.palette.muted), words)
        toggle.triggered.connect(lambda: self.toggle_thoughts(row))
        menu.addAction(self.tr("Copy thoughts")).triggered.connect(lambda: self.put_on_clipboard(thought))

    def _add_tools(self, menu: QMenu, row: int) -> None:
        """Add the entry that expands tool calls, so that the keyboard reaches it."""
        sheet = self._view.sheet(row)
        if sheet is not None and sheet.tools is not None:
            menu.addSeparator()
            words = self.tr("Hide tool calls") if sheet.done_open else self.tr("Show tool calls")
            toggle = menu.addAction(icon("sliders", self._view.sheets.style.palette.muted), words)
            toggle.triggered.connect(lambda: self.toggle_tools(row))

    def _add_links(self, menu: QMenu, row: int) -> None:
        """Add up to eight links of the message, so that the keyboard reaches them."""
        sheet = self._view.sheet(row)
        links = sheet.links if sheet is not None else []
        if links:
            menu.addSeparator()
        for address in links[:8]:
            shown = address if len(address) <= 60 else f"{address[:57]}…"
            action = menu.addAction(self.tr("Open {address}").format(address=shown.replace("&", "&&")))
            action.triggered.connect(lambda _checked=False, url=address: self._view.link_activated.emit(QUrl(url)))
