"""Page “Network log”: every request with its reason, and the switch that blocks all of them."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QCheckBox, QLabel, QVBoxLayout, QWidget

from lethe_app.config.settings import Settings
from lethe_app.domain.clock import now
from lethe_app.domain.web import Outgoing, day_of
from lethe_app.ui.core.formatting import counted
from lethe_app.ui.core.icons import icon
from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, answered
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.memories.labels import moment_in_words
from lethe_app.ui.pages.memories.table_model import fit
from lethe_app.ui.pages.page import Page, explanation
from lethe_app.ui.pages.undo_commands import FieldChange
from lethe_app.ui.pages.web_log.labels import DRAWINGS, day_in_words, purpose_in_words, result_in_words, told_in_full
from lethe_app.ui.widgets.table import SearchField, Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

WHAT, KIND, HOST, WHY, WHEN, BACK = range(6)
WIDTHS = {KIND: 130, HOST: 170, WHY: 230, WHEN: 176, BACK: 112}
DISPENSABLE = (WHY, WHEN, HOST, BACK, KIND)
LEAST = 240
CHANGED_MS = 150


class OutgoingPage(Page):
    """Page that lists requests and follows new ones while it is open."""

    def __init__(self, place: PageContext) -> None:
        super().__init__(place.theme, QCoreApplication.translate("OutgoingPage", "Network log"))
        self._place, self._surfing = place, place.services.surfing
        self.rows = self._made_rows()
        self._build()
        self._connect()
        self._follow_settings(place.services.preferences.current)
        self._read_soon()

    def _made_rows(self) -> FilteredTableModel[Outgoing]:
        def sign(one: Outgoing) -> Any:  # noqa: ANN401 - Qt's own type
            return icon("warning" if one.trouble else DRAWINGS[one.purpose], self.theme.palette.muted)

        columns = [
            Column[Outgoing](self.tr("Request"), attrgetter("what"), width=0, icon=sign),
            Column[Outgoing](self.tr("Type"), purpose_in_words, width=WIDTHS[KIND]),
            Column[Outgoing](self.tr("Sent to"), lambda one: one.to, width=WIDTHS[HOST]),
            Column[Outgoing](self.tr("Reason"), attrgetter("why"), width=WIDTHS[WHY]),
            Column[Outgoing](
                self.tr("Time"), lambda one: moment_in_words(one.when), sort_key=attrgetter("when"), width=WIDTHS[WHEN]
            ),
            Column[Outgoing](
                self.tr("Received"), result_in_words, sort_key=attrgetter("received"), width=WIDTHS[BACK], right=True
            ),
        ]
        return FilteredTableModel(
            columns, key=attrgetter("id"), searched=lambda one: f"{one.what} {one.host} {one.to} {one.why}"
        )

    def _build(self) -> None:
        self.forget_button = self.add_button(self.tr("Clear log…"), self.clear_log)
        self.allowed = QCheckBox(self.tr("Allow internet search"))
        self.told = explanation("")
        self.search = SearchField(self.theme, self.tr("Search network log"))
        nothing = self.tr("No requests yet. Every request sent to the internet is listed here with its reason.")
        self.table: Table[Outgoing] = Table(self.rows, self.theme, self.tr("Network log"), nothing)
        self.search.below = self.table
        self.detail = QLabel()
        self.detail.setObjectName("outgoing_detail")
        self.detail.setTextFormat(Qt.TextFormat.PlainText)
        self.detail.setWordWrap(True)
        self.detail.setContentsMargins(SPACE_4, SPACE_3, SPACE_4, SPACE_3)
        self.detail.hide()
        above = QWidget()
        head = QVBoxLayout(above)
        head.setContentsMargins(SPACE_4, SPACE_3, SPACE_4, SPACE_2)
        head.setSpacing(SPACE_2)
        for widget in (self.allowed, self.told, self.search):
            head.addWidget(widget)
        self.body.addWidget(above)
        self.body.addWidget(self.table, 1)
        self.body.addWidget(self.detail)

    def _connect(self) -> None:
        self._soon = QTimer(self, singleShot=True, interval=CHANGED_MS)
        self._soon.timeout.connect(self._read_soon)
        preferences = self._place.services.preferences
        self._stop = [
            self._surfing.changed.add(lambda _one: self._soon.start()),
            preferences.changed.add(self._follow_settings),
        ]
        self.allowed.toggled.connect(self._allow)
        self.search.textChanged.connect(self.rows.filter)
        self.table.current_changed.connect(self._show_detail)
        self.table.viewport().installEventFilter(self)

    def first_focus(self) -> QWidget:
        return self.table if self.rows.total else self.allowed

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.table.viewport():
            fit(self.table, WIDTHS, DISPENSABLE, LEAST)
        return False

    def close_page(self) -> None:
        self._place.bridge.cancel("outgoing")
        for stop in self._stop:
            stop()

    # the list

    def _read_soon(self) -> None:
        self._place.bridge.spawn(self._read(), lane="outgoing")

    async def _read(self) -> None:
        left, days = await self._surfing.outgoing(), await self._surfing.days()
        self.rows.fill(left)
        self.forget_button.setEnabled(bool(left))
        self.told.setText(day_in_words(days.get(day_of(now()))))
        self.subtitle.set_full(counted(len(left), self.tr("{n} request"), self.tr("{n} requests")) if left else "")

    def _show_detail(self, one: object) -> None:
        self.detail.setVisible(isinstance(one, Outgoing))
        if isinstance(one, Outgoing):
            self.detail.setText(told_in_full(one))
            self.detail.setAccessibleName(self.detail.text())

    def clear_log(self) -> None:
        """Delete the log and the cached web pages after confirmation."""
        self._place.bridge.spawn(self._forget(), lane="outgoing dialog")

    async def _forget(self) -> None:
        title = self.tr("Clear network log?")
        words = self.tr("The log and the cached web pages will be deleted. This cannot be undone.")
        count = counted(self.rows.total, self.tr("Clear {n} request"), self.tr("Clear {n} requests"))
        if await answered(ConfirmDialog(self._place.window, title, words, count)):
            await self._surfing.clear_log()
            self._read_soon()

    # the switch

    def _allow(self, on: bool) -> None:
        present = self._place.services.preferences.current.web_allowed
        if on != present:
            self.undo.push(FieldChange(self.tr("changing internet access"), "web_allowed", present, on, self._put))

    def _put(self, name: str, value: object) -> None:
        self._place.bridge.spawn(self._place.services.preferences.set(**{name: value}))

    def _follow_settings(self, settings: Settings) -> None:
        self.allowed.setChecked(settings.web_allowed)
