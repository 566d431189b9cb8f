"""Page “Irrelevant memories”: which memory was marked as irrelevant to which message, and how to withdraw that."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, Qt
from PySide6.QtWidgets import QHBoxLayout, QMenu, QVBoxLayout, QWidget

from lethe_app.services.memory.objections import Objected
from lethe_app.ui.chat.memory_labels import unheaded
from lethe_app.ui.core.formatting import counted
from lethe_app.ui.core.icons import icon
from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.feedback.replies import DislikedReplies
from lethe_app.ui.pages.memories.labels import day_of
from lethe_app.ui.pages.memories.table_model import fit
from lethe_app.ui.pages.page import Page, explanation
from lethe_app.ui.pages.persona_selector import Whose
from lethe_app.ui.pages.undo_commands import CommandRunner
from lethe_app.ui.widgets.table import SearchField, Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

WHAT, SAID, WHEN = range(3)
WIDTHS = {SAID: 340, WHEN: 116}
DISPENSABLE = (WHEN, SAID)
LEAST = 220


def tr(words: str) -> str:
    """Translate a text in the context of this page; usable before a page exists."""
    return QCoreApplication.translate("ObjectionPage", words)


class ObjectionPage(Page):
    """Page with the memories marked as irrelevant and, below them, the disliked replies."""

    def __init__(self, place: PageContext) -> None:
        super().__init__(place.theme, tr("Irrelevant memories"))
        self._place, self._service = place, place.services.objecting
        self._deeds = CommandRunner(self.undo, place.bridge)
        self.rows = self._made_rows()
        self._build()
        self._stop: list[Callable[[], None]] = [self._service.changed.add(self._changed_behind)]
        self.whose.chosen.connect(lambda _persona: self._read_soon())
        self.whose.announce_first()

    def _made_rows(self) -> FilteredTableModel[Objected]:
        def sign(_one: Objected) -> Any:  # noqa: ANN401 - Qt's own type
            return icon("lower", self.theme.palette.amber)

        columns = [
            Column[Objected](tr("Memory"), what_of, width=0, icon=sign),
            Column[Objected](tr("Irrelevant to"), said_of, width=WIDTHS[SAID]),
            Column[Objected](tr("Date"), _day, sort_key=attrgetter("objection.moment"), width=WIDTHS[WHEN]),
        ]
        return FilteredTableModel(
            columns,
            key=lambda one: (one.objection.memory, one.objection.message),
            searched=lambda one: f"{one.title} {one.text} {one.said}",
        )

    def _build(self) -> None:
        self.back_button = self.add_button(tr("Mark as relevant"), self.withdraw_selected, "undo", primary=True)
        self.go_button = self.add_button(tr("Go to message"), self.go, "forward")
        self.whose = Whose(self._place)
        self.search = SearchField(self.theme, tr("Search irrelevant memories"))
        nothing = tr(
            "No irrelevant memories. To add a memory that does not fit your message, choose “Mark as irrelevant” "
            "on its card in the memory panel."
        )
        self.table: Table[Objected] = Table(self.rows, self.theme, tr("Irrelevant memories"), nothing)
        self.search.below = self.table
        self.search.textChanged.connect(self.rows.filter)
        self.table.opened.connect(lambda _one: self.go())
        self.table.delete_wanted.connect(lambda _ones: self.withdraw_selected())
        self.table.menu_wanted.connect(self._show_menu)
        self.table.viewport().installEventFilter(self)
        self.table.selectionModel().selectionChanged.connect(lambda *_which: self._follow())
        above, line = QWidget(), QHBoxLayout()
        line.setSpacing(SPACE_2)
        line.addWidget(self.whose)
        line.addWidget(self.search, 1)
        head = QVBoxLayout(above)
        head.setContentsMargins(SPACE_4, SPACE_3, SPACE_4, SPACE_2)
        head.setSpacing(SPACE_2)
        head.addLayout(line)
        head.addWidget(
            explanation(tr("Irrelevant memories are recalled less easily by similar messages; the effect fades over time."))
        )
        self.replies = DislikedReplies(self._place, self._deeds, lambda: self.whose.persona)
        self.search.textChanged.connect(self.replies.rows.filter)
        self.body.addWidget(above)
        self.body.addWidget(self.table, 1)
        self.body.addWidget(self.replies, 1)
        self._follow()

    def first_focus(self) -> QWidget:
        return self.table

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.table.viewport():
            fit(self.table, WIDTHS, DISPENSABLE, LEAST)
        return False

    def close_page(self) -> None:
        self._place.bridge.cancel("objections")
        self.replies.close_list()
        self.whose.close_field()
        for stop in self._stop:
            stop()

    # reading

    def _changed_behind(self, persona: str) -> None:
        if persona == self.whose.persona:
            self._read_soon()

    def _read_soon(self) -> None:
        self._place.bridge.spawn(self._read(self.whose.persona), lane="objections")
        self.replies.read_soon()

    async def _read(self, persona: str) -> None:
        self.rows.fill(await self._service.describe_objections(persona))
        count = self.rows.total
        words = counted(count, tr("{n} irrelevant memory"), tr("{n} irrelevant memories"))
        self.subtitle.set_full(words if count else "")
        if not self.table.selected and self.rows.shown:
            self.table.go_to(self.rows.key_of(self.rows.shown[0]))
        self._follow()

    def _follow(self) -> None:
        chosen = self.table.selected
        self.back_button.setEnabled(bool(chosen))
        self.go_button.setEnabled(len(chosen) == 1 and chosen[0].session is not None)

    # Actions of the user.

    def withdraw_selected(self) -> None:
        """Withdraw the objection to each selected memory. Can be undone."""
        persona = self.whose.persona
        for one in self.table.selected:
            objection = one.objection
            back = partial(self._service.withdraw, persona, objection.memory, objection.message)
            self._deeds.do(tr("marking as relevant"), back, partial(self._service.repeat, persona, objection))

    def go(self) -> None:
        """Open the conversation at the message that the selected memory was marked as irrelevant to."""
        chosen = self.table.selected
        if len(chosen) == 1 and chosen[0].session is not None:
            self._place.go_to(chosen[0].session, chosen[0].objection.message)

    def _show_menu(self, place: QPoint) -> None:
        if self.table.selected:
            menu, colour = QMenu(self), self.theme.palette.muted
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.addAction(icon("undo", colour), self.back_button.text(), self.withdraw_selected)
            menu.addAction(icon("forward", colour), self.go_button.text(), self.go).setEnabled(self.go_button.isEnabled())
            menu.popup(place)


def what_of(one: Objected) -> str:
    """Return title and text of the memory in one line."""
    text = " ".join(unheaded(one.text).removeprefix("- ").split())
    return ": ".join(part for part in (one.title, text) if part) or tr("Deleted memory")


def said_of(one: Objected) -> str:
    """Return the message that the memory was irrelevant to, quoted and in one line."""
    return f"“{' '.join(one.said.split())}”" if one.said.strip() else tr("deleted message")


def _day(one: Objected) -> str:
    return day_of(one.objection.moment.timestamp())
