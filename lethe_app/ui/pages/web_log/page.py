"""Page “Network log”: every request with its reason, and the switch that blocks all of them."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QCheckBox, QLabel, QWidget

from lethe_app.config.settings import Settings
from lethe_app.domain.clock import now
from lethe_app.domain.web import OutgoingRequest, day_of
from lethe_app.services.preferences import Preferences
from lethe_app.services.web.gate import WebGate
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.labels.dates import format_date_time
from lethe_app.ui.core.labels.web_requests import (
    ICON_NAMES,
    format_daily_traffic,
    format_purpose,
    format_result,
    request_details,
)
from lethe_app.ui.core.palette import SPACE_3, SPACE_4
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, run_dialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.list_page import ListPage
from lethe_app.ui.pages.undo_commands import FieldChange
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.table import ColumnFit, SearchField, Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

REQUEST, KIND, HOST, REASON, TIME, RECEIVED = range(6)
WIDTHS = {KIND: 130, HOST: 170, REASON: 230, TIME: 176, RECEIVED: 112}
HIDEABLE_COLUMNS = (REASON, TIME, HOST, RECEIVED, KIND)
MIN_REQUEST_WIDTH = 240


class WebLogPage(ListPage):
    """Page that lists requests and follows new ones while it is open."""

    def __init__(self, context: PageContext, web_gate: WebGate, preferences: Preferences) -> None:
        super().__init__(context, QCoreApplication.translate("WebLogPage", "Network log"))
        self._web_gate, self._preferences = web_gate, preferences
        self.rows = self._build_rows()
        self._build()
        self._connect()
        self._show_settings(preferences.current)
        self._schedule_reload()

    def _build_rows(self) -> FilteredTableModel[OutgoingRequest]:
        def row_icon(request: OutgoingRequest) -> Any:  # noqa: ANN401 - Qt's own type
            return load_icon("warning" if request.trouble else ICON_NAMES[request.purpose], self.theme.palette.muted)

        columns = [
            Column[OutgoingRequest](self.tr("Request"), attrgetter("what"), width=0, icon=row_icon),
            Column[OutgoingRequest](self.tr("Type"), format_purpose, width=WIDTHS[KIND]),
            Column[OutgoingRequest](self.tr("Sent to"), lambda one: one.to, width=WIDTHS[HOST]),
            Column[OutgoingRequest](self.tr("Reason"), attrgetter("why"), width=WIDTHS[REASON]),
            Column[OutgoingRequest](
                self.tr("Time"), lambda one: format_date_time(one.when), sort_key=attrgetter("when"), width=WIDTHS[TIME]
            ),
            Column[OutgoingRequest](
                self.tr("Received"),
                format_result,
                sort_key=attrgetter("received"),
                width=WIDTHS[RECEIVED],
                is_right_aligned=True,
            ),
        ]
        return FilteredTableModel(
            columns, key=attrgetter("id"), search_text=lambda one: f"{one.what} {one.host} {one.to} {one.why}"
        )

    def _build(self) -> None:
        self.clear_button = self.add_button(self.tr("Clear log…"), self.clear_log)
        self.allow_check = QCheckBox(self.tr("Allow internet search"))
        self.day_label = build_small_label("")
        self.search = SearchField(self.theme, self.tr("Search network log"))
        empty_text = self.tr(
            "No requests yet\n\n"
            "Nothing leaves this computer unless you allow it. Once you do, every search and every page that is requested is"
            " listed here, with what was sent, to whom and why.\n\nExample: “weather in Porto” · Search · duckduckgo.com ·"
            " Mira, for a reply · 14:05"
        )
        self.table: Table[OutgoingRequest] = Table(
            self.rows, self.theme, self.tr("Network log"), empty_text, ColumnFit(WIDTHS, HIDEABLE_COLUMNS, MIN_REQUEST_WIDTH)
        )
        self.search.down_pressed.connect(self.table.setFocus)
        self.detail = QLabel()
        self.detail.setObjectName("outgoing_detail")
        self.detail.setTextFormat(Qt.TextFormat.PlainText)
        self.detail.setWordWrap(True)
        self.detail.setContentsMargins(SPACE_4, SPACE_3, SPACE_4, SPACE_3)
        self.detail.hide()
        self._add_head(self.allow_check, self.day_label, self.search)
        self.body.addWidget(self.table, 1)
        self.body.addWidget(self.detail)

    def _connect(self) -> None:
        preferences = self._preferences
        self._unsubscribers += [
            self._web_gate.changed.add(self._reload_later),
            preferences.changed.add(self._show_settings),
        ]
        self.allow_check.toggled.connect(self._set_allowed)
        self.search.textChanged.connect(self.rows.set_filter)
        self.table.current_changed.connect(self._show_detail)

    def first_focus_widget(self) -> QWidget:
        return self.table if self.rows.row_total else self.allow_check

    # the list

    async def _reload(self) -> None:
        requests, days = await self._web_gate.list_requests(), await self._web_gate.daily_totals()
        self.rows.set_rows(requests)
        for widget in (self.clear_button, self.search):
            widget.setVisible(bool(requests))
        self.day_label.setText(format_daily_traffic(days.get(day_of(now()))))
        self.subtitle.set_full_text(
            format_count(len(requests), self.tr("{n} request"), self.tr("{n} requests")) if requests else ""
        )

    def _show_detail(self, request: object) -> None:
        self.detail.setVisible(isinstance(request, OutgoingRequest))
        if isinstance(request, OutgoingRequest):
            self.detail.setText(request_details(request))
            self.detail.setAccessibleName(self.detail.text())

    def clear_log(self) -> None:
        """Delete the log and the cached web pages after confirmation."""
        self._context.tasks.start_task(self._confirm_and_clear(), key="outgoing dialog")

    async def _confirm_and_clear(self) -> None:
        title = self.tr("Clear network log?")
        text = self.tr("The log and the cached web pages will be deleted. This cannot be undone.")
        count = format_count(self.rows.row_total, self.tr("Clear {n} request"), self.tr("Clear {n} requests"))
        if await run_dialog(ConfirmDialog(self._context.dialog_parent, title, text, count, is_final=True)):
            await self._web_gate.clear_log()
            self._schedule_reload()

    # the switch

    def _set_allowed(self, is_allowed: bool) -> None:
        was_allowed = self._preferences.current.web_allowed
        if is_allowed != was_allowed:
            self.undo_stack.push(
                FieldChange(self.tr("changing internet access"), "web_allowed", was_allowed, is_allowed, self._apply_setting)
            )

    def _apply_setting(self, name: str, value: object) -> None:
        self._context.tasks.start_task(self._preferences.set(**{name: value}))

    def _show_settings(self, settings: Settings) -> None:
        self.allow_check.setChecked(settings.web_allowed)
