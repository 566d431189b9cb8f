"""Page “Trash”: deleted items, which can be restored or, after confirmation, deleted permanently."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from math import ceil
from operator import attrgetter
from typing import Any

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, Qt
from PySide6.QtWidgets import QWidget

from lethe_app.domain.changes import Trashed, TrashKind
from lethe_app.domain.clock import now
from lethe_app.errors import LetheError
from lethe_app.services.library import Library
from lethe_app.services.maintenance.trash import Trash
from lethe_app.services.memory.facts import FactService
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.preferences import Preferences
from lethe_app.services.sessions.service import SessionService
from lethe_app.ui.core.formatting import format_bytes, format_count, format_message_count, truncate_text
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.labels.dates import format_date_time
from lethe_app.ui.dialogs.dialogs import ConfirmDialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.record_page.commands import Key, RecordCommand
from lethe_app.ui.pages.record_page.filters import Checked, Chip, ChipFilter
from lethe_app.ui.pages.record_page.page import RecordPage, RecordSpec
from lethe_app.ui.widgets.detail_pane import DetailPane
from lethe_app.ui.widgets.labels import build_small_label, create_text_label
from lethe_app.ui.widgets.table_model import Column

KINDS: dict[TrashKind, tuple[str, str]] = {
    TrashKind.CONVERSATION: (str(QT_TRANSLATE_NOOP("Trash", "Conversation")), "thought"),
    TrashKind.MESSAGE: (str(QT_TRANSLATE_NOOP("Trash", "Message")), "edit"),
    TrashKind.MEMORY: (str(QT_TRANSLATE_NOOP("Trash", "Memory")), "memory"),
    TrashKind.FACT: (str(QT_TRANSLATE_NOOP("Trash", "Fact")), "info"),
    TrashKind.PERSONA: (str(QT_TRANSLATE_NOOP("Trash", "Persona")), "user"),
    TrashKind.USER_PERSONA: (str(QT_TRANSLATE_NOOP("Trash", "User persona")), "user"),
    TrashKind.WORLD: (str(QT_TRANSLATE_NOOP("Trash", "World")), "globe"),
    TrashKind.PRESET: (str(QT_TRANSLATE_NOOP("Trash", "Preset")), "sliders"),
    TrashKind.NOTEBOOK: (str(QT_TRANSLATE_NOOP("Trash", "Notebook")), "book"),
    TrashKind.FILE: (str(QT_TRANSLATE_NOOP("Trash", "Damaged file")), "folder"),
}
"""Title and icon of each kind of item."""
PERSONA_KINDS = frozenset({TrashKind.PERSONA, TrashKind.USER_PERSONA})
MIN_WIDTH, WIDTH = 260, 400
"""Minimum and initial width of the preview in pixels."""
EMPHASIS = re.compile(r"\*+(\S(?:[^*\n]*\S)?)\*+")
"""Text between the asterisks of an action or of an emphasis."""


def tr(text: str) -> str:
    """Translate a text in the context of the page; usable before a page exists."""
    return QCoreApplication.translate("Trash", text)


def format_kind(kind: TrashKind) -> str:
    """Return the display name of a kind of item, such as “Conversation” or “World”."""
    return QCoreApplication.translate("Trash", KINDS[kind][0])


def item_title(item: Trashed) -> str:
    """Return the name or first words of an item without markup."""
    plain_title = " ".join(item.title.replace("*", "").replace("#", "").split()).strip('“”"_> ')
    return plain_title or tr("Untitled")


def format_origin(item: Trashed, names: Mapping[str, str]) -> str:
    """Return the persona or conversation that the item belonged to."""
    name = names.get(item.persona_id, item.persona_id.capitalize())
    match item.kind:
        case TrashKind.CONVERSATION:
            return f"{name}, {format_message_count(item.count)}" if item.count else name
        case TrashKind.MESSAGE:
            return f"{name}, “{item.place}”" if item.place else name
        case TrashKind.PERSONA if item.count:
            return format_count(item.count, tr("with {n} conversation"), tr("with {n} conversations"))
        case _:
            return name


def format_time_left(item: Trashed, days: int, current_time: datetime) -> str:
    """Return the time until the item is deleted permanently; empty if `days` is 0, which means never."""
    if not days:
        return ""
    days_left = ceil((item.when + timedelta(days=days) - current_time) / timedelta(days=1))
    if days_left < 1:
        return tr("today")
    return format_count(days_left, tr("in {n} day"), tr("in {n} days"))


class TrashPage(RecordPage[Trashed]):
    """Page with a single list of deleted items of all kinds, and a preview of the selected one."""

    def __init__(
        self,
        context: PageContext,
        trash: Trash,
        sessions: SessionService,
        memory: MemoryService,
        facts: FactService,
        library: Library,
        preferences: Preferences,
    ) -> None:
        super().__init__(context, QCoreApplication.translate("TrashPage", "Trash"))
        self._trash, self._library = trash, library
        self._names: dict[str, str] = {}
        self._existing_personas: set[str] = set()
        self._backup_count = 0
        self._question: ConfirmDialog | None = None
        self.hint = build_small_label("")
        kinds = [Chip[Trashed](kind, format_kind(kind), partial(_is_of_kind, kind)) for kind in TrashKind]
        self.build_list(
            RecordSpec(
                name=self.tr("Trash"),
                columns=self._build_columns(),
                key=attrgetter("key"),
                search_text=lambda item: f"{item_title(item)} {format_origin(item, self._names)}",
                search_hint=self.tr("Search Trash"),
                empty_text=self.tr("The Trash is empty. You can restore deleted items from here."),
                filters=[ChipFilter(kinds, Checked.ANY, self)],
                commands=self._build_commands(),
                format_total=self._format_total,
                selects_first=True,
            ),
            detail=self._build_preview(),
            head=[self.hint],
        )
        self.follow(trash.changed, sessions.changed, memory.changed, facts.changed, library.changed)
        self._unsubscribers.append(preferences.changed.add(lambda _settings: self.apply_filter()))

    def _build_preview(self) -> DetailPane:
        self.preview = DetailPane(self.tr("Select an item to see what it contains."), MIN_WIDTH, WIDTH)
        self.title_label, self.origin_label = create_text_label("", "section"), build_small_label("")
        self.text_label = create_text_label("")
        self.text_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text_label.setAccessibleName(self.tr("Preview"))
        self.preview.add_card(self.title_label, self.origin_label, self.text_label)
        return self.preview

    def _build_columns(self) -> list[Column[Trashed]]:
        def row_icon(item: Trashed) -> Any:  # noqa: ANN401 - Qt's own type
            is_memory = item.kind in {TrashKind.MEMORY, TrashKind.FACT}
            return load_icon(KINDS[item.kind][1], self.theme.palette.amber if is_memory else self.theme.palette.muted)

        def time_left(item: Trashed) -> str:
            return format_time_left(item, self._trash.retention_days, now())

        by_date, tr = attrgetter("when"), self.tr
        return [
            Column(tr("Item"), item_title, width=0, min_width=220, icon=row_icon),
            Column(tr("Type"), self._format_type, width=124, hides_at=4),
            Column(tr("From"), lambda item: format_origin(item, self._names), width=190, hides_at=2),
            Column(tr("Deleted"), lambda item: format_date_time(item.when), by_date, width=176, hides_at=5),
            Column(tr("Expires"), time_left, by_date, width=122, hides_at=3),
            Column(tr("Size"), lambda one: format_bytes(one.size), attrgetter("size"), 100, hides_at=1, is_right_aligned=True),
        ]

    def _build_commands(self) -> list[RecordCommand[Trashed]]:
        return [
            RecordCommand(self.tr("Restore"), self._restore, (Key.OPEN,), in_head=True, icon="undo", is_primary=True),
            RecordCommand(
                self.tr("Delete permanently…"), self._erase, (Key.DELETE,), in_head=True, confirm=self._confirm_erasure
            ),
            RecordCommand(
                self.tr("Empty Trash…"),
                lambda _items: self._erase(self.rows.all_rows),
                minimum=0,
                in_head=True,
                confirm=lambda _items: self._confirm_erasure(self.rows.all_rows, is_all=True),
            ),
        ]

    def _format_type(self, item: Trashed) -> str:
        is_replaced = item.kind in PERSONA_KINDS and item.stem in self._existing_personas
        return self.tr("Earlier version") if is_replaced else format_kind(item.kind)

    def first_focus_widget(self) -> QWidget:
        return self.table if self.rows.row_total else self.search

    # The list

    async def load_records(self) -> Sequence[Trashed]:
        items = await self._trash.list_items()
        existing = [*await self._library.personas(), *await self._library.user_personas()]
        self._existing_personas = {persona.unique_name for persona in existing}
        deleted_names = {item.stem: item.title for item in items if item.kind in PERSONA_KINDS}
        self._names = {**deleted_names, **{persona.unique_name: persona.name for persona in existing}}
        self._backup_count = await self._trash.count_backups()
        return items

    def after_load(self) -> None:
        is_search_idle = self.search.hasFocus() and not self.search.text()
        if self.rows.row_total and is_search_idle and self.table.current_row is None:
            self.table.setFocus()

    def show_record(self, record: Trashed | None) -> None:
        self.preview.setCurrentIndex(0 if record is None else 1)
        if record is not None:
            self.title_label.setText(item_title(record))
            parts = (
                self._format_type(record),
                format_origin(record, self._names),
                format_date_time(record.when),
            )
            self.origin_label.setText(" · ".join(filter(None, parts)))
            self.text_label.clear()

    async def load_details(self, record: Trashed) -> str:
        return await self._trash.load_preview(record)

    def show_details(self, _record: Trashed, details: str) -> None:
        self.text_label.setText(EMPHASIS.sub(r"\1", details) or self.tr("No text."))

    def apply_filter(self) -> None:
        super().apply_filter()
        days = self._trash.retention_days
        retention = format_count(days, self.tr("{n} day"), self.tr("{n} days"))
        expiry_text = self.tr(
            "Items are deleted permanently after {after} in the Trash. You can change this in the settings."
        ).format(after=retention)
        self.hint.setText(expiry_text if days else self.tr("Items stay in the Trash until you empty it."))

    def _format_total(self, count: int) -> str:
        return format_count(count, self.tr("{n} item"), self.tr("{n} items"))

    # Commands

    async def _restore(self, items: Sequence[Trashed]) -> None:
        """Restore items. Sessions come first, because facts refer to them."""
        errors: list[LetheError] = []
        for item in sorted(items, key=lambda item: (item.kind is not TrashKind.CONVERSATION, item.when)):
            try:
                await self._trash.restore(item)
                self._context.notifier.withdraw_undoable(item_title(item))
            except LetheError as error:
                errors.append(error)
        for reported in errors[:2]:
            self._context.notifier.report_error(reported)
        restored_count = len(items) - len(errors)
        if restored_count:
            notice = self.tr("“{title}” was restored.").format(title=truncate_text(item_title(items[0]), 60))
            self._context.notifier.notify(
                notice if len(items) == 1 else self.tr("{n} items were restored.").format(n=restored_count)
            )

    def _confirm_erasure(self, items: Sequence[Trashed], *, is_all: bool = False) -> ConfirmDialog:
        """Ask whether items are to be deleted permanently; `is_all` says that they are all there are."""
        count = self._format_total(len(items))
        description = count if len(items) > 1 else f"“{truncate_text(item_title(items[0]))}”"
        title = self.tr("Empty Trash?") if is_all else self.tr("Delete {what} permanently?").format(what=description)
        button = self.tr("Empty Trash ({count})").format(count=count) if is_all else self.tr("Delete {what} permanently")
        text = self.tr("This cannot be undone.")
        session_count = sum(item.count for item in items if item.kind is TrashKind.PERSONA)
        if session_count:
            sessions_text = format_count(session_count, self.tr("{n} conversation"), self.tr("{n} conversations"))
            text += " " + self.tr("{count} of deleted personas, and all that these remember, are deleted too.").format(
                count=sessions_text
            )
        dialog = ConfirmDialog(self._context.dialog_parent, title, text, button.format(what=description), is_final=True)
        dialog.offer_backups(self._backup_count)
        self._question = dialog
        return dialog

    async def _erase(self, items: Sequence[Trashed]) -> None:
        await self._trash.erase(list(items), with_backups=self._question is not None and self._question.deletes_backups)
        for item in items:
            self._context.notifier.withdraw_undoable(item_title(item))


def _is_of_kind(kind: TrashKind, item: Trashed) -> bool:
    return item.kind is kind
