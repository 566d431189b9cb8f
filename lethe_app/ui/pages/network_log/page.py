"""Page “Network log”: every request with its reason, and the switch that blocks all of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import attrgetter
from typing import Any

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QCheckBox, QWidget

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
from lethe_app.ui.dialogs.dialogs import ConfirmDialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.record_page.commands import RecordCommand
from lethe_app.ui.pages.record_page.page import RecordPage, RecordSpec
from lethe_app.ui.widgets.labels import build_small_label, create_text_label
from lethe_app.ui.widgets.table_model import Column


class NetworkLogPage(RecordPage[OutgoingRequest]):
    """Page that lists requests and follows new ones while it is open."""

    def __init__(self, context: PageContext, web_gate: WebGate, preferences: Preferences) -> None:
        super().__init__(context, QCoreApplication.translate("NetworkLogPage", "Network log"))
        self._web_gate, self._preferences = web_gate, preferences
        self.allow_check = QCheckBox(self.tr("Allow internet search"))
        self.day_label = build_small_label("")
        clear = RecordCommand[OutgoingRequest](
            self.tr("Clear log…"), self._clear_log, minimum=0, in_head=True, confirm=self._confirm_clearing
        )
        self.build_list(
            RecordSpec(
                name=self.tr("Network log"),
                columns=self._build_columns(),
                key=attrgetter("id"),
                search_text=lambda one: f"{one.what} {one.host} {one.to} {one.why}",
                search_hint=self.tr("Search network log"),
                empty_text=self.tr(
                    "No requests yet\n\n"
                    "Nothing leaves this computer unless you allow it. Once you do, every search and every page that is"
                    " requested is listed here, with what was sent, to whom and why.\n\nExample: “weather in Porto” · Search ·"
                    " duckduckgo.com · Mira, for a reply · 14:05"
                ),
                commands=[clear],
                format_total=lambda count: format_count(count, self.tr("{n} request"), self.tr("{n} requests")),
            ),
            top=[self.allow_check, self.day_label],
        )
        self.show_with_records(self.search)
        self.detail = create_text_label("")
        self.detail.setObjectName("outgoing_detail")
        self.detail.setContentsMargins(SPACE_4, SPACE_3, SPACE_4, SPACE_3)
        self.detail.hide()
        self.body.addWidget(self.detail)
        self.follow(web_gate.changed)
        self._unsubscribers.append(preferences.changed.add(self._show_settings))
        self.allow_check.toggled.connect(self._set_allowed)
        self._show_settings(preferences.current)

    def _build_columns(self) -> list[Column[OutgoingRequest]]:
        def row_icon(request: OutgoingRequest) -> Any:  # noqa: ANN401 - Qt's own type
            return load_icon("warning" if request.trouble else ICON_NAMES[request.purpose], self.theme.palette.muted)

        tr = self.tr
        return [
            Column(tr("Request"), attrgetter("what"), width=0, min_width=240, icon=row_icon),
            Column(tr("Type"), format_purpose, width=130, hides_at=1),
            Column(tr("Sent to"), attrgetter("to"), width=170, hides_at=3),
            Column(tr("Reason"), attrgetter("why"), width=230, hides_at=5),
            Column(tr("Time"), lambda one: format_date_time(one.when), attrgetter("when"), width=176, hides_at=4),
            Column(tr("Received"), format_result, attrgetter("received"), width=112, hides_at=2, is_right_aligned=True),
        ]

    def first_focus_widget(self) -> QWidget:
        return self.table if self.rows.row_total else self.allow_check

    # The list

    async def load_records(self) -> Sequence[OutgoingRequest]:
        requests, days = await self._web_gate.list_requests(), await self._web_gate.daily_totals()
        self.day_label.setText(format_daily_traffic(days.get(day_of(now()))))
        return requests

    def show_record(self, record: OutgoingRequest | None) -> None:
        self.detail.setVisible(record is not None)
        if record is not None:
            self.detail.setText(request_details(record))
            self.detail.setAccessibleName(self.detail.text())

    def _confirm_clearing(self, _requests: Sequence[OutgoingRequest]) -> ConfirmDialog:
        title = self.tr("Clear network log?")
        text = self.tr("The log and the cached web pages will be deleted. This cannot be undone.")
        count = format_count(self.rows.row_total, self.tr("Clear {n} request"), self.tr("Clear {n} requests"))
        return ConfirmDialog(self._context.dialog_parent, title, text, count, is_final=True)

    async def _clear_log(self, _requests: Sequence[OutgoingRequest]) -> None:
        await self._web_gate.clear_log()
        self.reload()

    # The switch

    def _set_allowed(self, is_allowed: bool) -> None:
        if is_allowed != self._preferences.current.web_allowed:
            redo_step, undo_step = (partial(self._preferences.set, web_allowed=one) for one in (is_allowed, not is_allowed))
            self.run_undoable(self.tr("changing internet access"), redo_step, undo_step)

    def _show_settings(self, settings: Settings) -> None:
        self.allow_check.setChecked(settings.web_allowed)
