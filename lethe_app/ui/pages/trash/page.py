"""Page “Trash”: deleted items, which can be restored or, after confirmation, deleted permanently."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, QLocale, QObject, QPoint, Qt, QTimer
from PySide6.QtWidgets import QMenu, QPushButton, QVBoxLayout, QWidget

from lethe_app.domain.changes import Trashed, TrashKind
from lethe_app.domain.clock import now
from lethe_app.errors import LetheError
from lethe_app.ui.core.formatting import counted
from lethe_app.ui.core.icons import icon
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, answered
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.memories.labels import moment_in_words
from lethe_app.ui.pages.memories.table_model import fit
from lethe_app.ui.pages.page import Page, explanation
from lethe_app.ui.pages.sessions.labels import shortened
from lethe_app.ui.pages.trash.labels import DRAWINGS, bytes_in_words, kind_in_words, left_in_words, title_of, whence
from lethe_app.ui.widgets.flow_layout import Flow
from lethe_app.ui.widgets.table import SearchField, Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

WHAT, KIND, OF, WHEN, LEFT, SIZE = range(6)
WIDTHS = {KIND: 124, OF: 190, WHEN: 176, LEFT: 122, SIZE: 100}
DISPENSABLE = (WHEN, KIND, LEFT, OF, SIZE)
LEAST = 220
CHANGED_MS = 200


class TrashPage(Page):
    """Page with a single list of deleted items of all kinds."""

    def __init__(self, place: PageContext) -> None:
        super().__init__(place.theme, QCoreApplication.translate("TrashPage", "Trash"))
        self._place, self._trash = place, place.services.trash
        self._names: dict[str, str] = {}
        self._chips: dict[TrashKind, QPushButton] = {}
        self.rows = self._made_rows()
        self._build()
        self._connect()
        self._read_soon()

    def _made_rows(self) -> FilteredTableModel[Trashed]:
        def sign(item: Trashed) -> Any:  # noqa: ANN401 - Qt's own type
            is_memory = item.kind in {TrashKind.MEMORY, TrashKind.FACT}
            return icon(DRAWINGS[item.kind], self.theme.palette.amber if is_memory else self.theme.palette.muted)

        columns = [
            Column[Trashed](self.tr("Item"), title_of, width=0, icon=sign),
            Column[Trashed](self.tr("Type"), lambda item: kind_in_words(item.kind), width=WIDTHS[KIND]),
            Column[Trashed](self.tr("From"), lambda item: whence(item, self._names), width=WIDTHS[OF]),
            Column[Trashed](
                self.tr("Deleted"), lambda item: moment_in_words(item.when), sort_key=attrgetter("when"), width=WIDTHS[WHEN]
            ),
            Column[Trashed](self.tr("Expires"), self._left, sort_key=attrgetter("when"), width=WIDTHS[LEFT]),
            Column[Trashed](self.tr("Size"), _size, sort_key=attrgetter("size"), width=WIDTHS[SIZE], right=True),
        ]
        return FilteredTableModel(
            columns, key=attrgetter("key"), searched=lambda item: f"{title_of(item)} {whence(item, self._names)}"
        )

    def _left(self, item: Trashed) -> str:
        return left_in_words(item, self._trash.days, now())

    def _build(self) -> None:
        self.restore_button = self.add_button(self.tr("Restore"), self.restore, "undo", primary=True)
        self.erase_button = self.add_button(self.tr("Delete permanently…"), self.erase)
        self.empty_button = self.add_button(self.tr("Empty Trash…"), self.empty)
        self.search = SearchField(self.theme, self.tr("Search Trash"))
        nothing = self.tr("The Trash is empty. You can restore deleted items from here.")
        self.table: Table[Trashed] = Table(self.rows, self.theme, self.tr("Trash"), nothing)
        self.search.below = self.table
        self.hint = explanation("")
        above, chips = QWidget(), QWidget()
        self._flow = Flow(chips, spacing=SPACE_1)
        for kind in TrashKind:
            chip = self._chips[kind] = QPushButton(kind_in_words(kind))
            chip.setProperty("chip", True)
            chip.setCheckable(True)
            chip.toggled.connect(lambda _on: self._filter())
            self._flow.addWidget(chip)
        head = QVBoxLayout(above)
        head.setContentsMargins(SPACE_4, SPACE_3, SPACE_4, SPACE_2)
        head.setSpacing(SPACE_2)
        for widget in (self.search, chips, self.hint):
            head.addWidget(widget)
        self.body.addWidget(above)
        self.body.addWidget(self.table, 1)

    def _connect(self) -> None:
        self._soon = QTimer(self, singleShot=True, interval=CHANGED_MS)
        self._soon.timeout.connect(self._read_soon)
        services = self._place.services
        sources: tuple[Any, ...] = (services.trash, services.sessions, services.brain, services.knowing, services.library)
        self._stop: list[Callable[[], None]] = [each.changed.add(lambda _who: self._soon.start()) for each in sources]
        self._stop.append(services.preferences.changed.add(lambda _settings: self._filter()))
        self.search.textChanged.connect(lambda _text: self._filter())
        self.table.opened.connect(lambda _item: self.restore())
        self.table.delete_wanted.connect(lambda _items: self.erase())
        self.table.menu_wanted.connect(self._show_menu)
        self.table.viewport().installEventFilter(self)
        self.table.selectionModel().selectionChanged.connect(lambda *_which: self._follow())

    def first_focus(self) -> QWidget:
        return self.table if self.rows.total else self.search

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.table.viewport():
            fit(self.table, WIDTHS, DISPENSABLE, LEAST)
        return False

    def close_page(self) -> None:
        self._place.bridge.cancel("trash list")
        for stop in self._stop:
            stop()

    # the list

    def _read_soon(self) -> None:
        self._place.bridge.spawn(self._read(), lane="trash list")

    async def _read(self) -> None:
        library = self._place.services.library
        items = await self._trash.all()
        alive = [*await library.personas(), *await library.user_personas()]
        gone = {item.stem: item.title for item in items if item.kind in {TrashKind.PERSONA, TrashKind.USER_PERSONA}}
        self._names = {**gone, **{persona.unique_name: persona.name for persona in alive}}
        was_empty = not self.rows.total
        self.rows.fill(items)
        there = {item.kind for item in items}
        for kind, chip in self._chips.items():
            chip.setVisible(kind in there and len(there) > 1)
            if kind not in there:
                chip.setChecked(False)
        self._filter()
        if was_empty and items and self.table.current is None:
            self.table.go_to(items[0].key)
            if self.search.hasFocus() and not self.search.text():
                self.table.setFocus()

    def _filter(self) -> None:
        kinds = {kind for kind, chip in self._chips.items() if chip.isChecked()}
        self.rows.filter(self.search.text(), (lambda item: item.kind in kinds) if kinds else None)
        total, shown = self.rows.total, len(self.rows.shown)
        words = counted(total, self.tr("{n} item"), self.tr("{n} items"))
        few = self.tr("{shown} of {all}").format(shown=QLocale().toString(shown), all=words)
        self.subtitle.set_full("" if not total else words if shown == total else few)
        days = self._trash.days
        by_itself = counted(days, self.tr("{n} day"), self.tr("{n} days"))
        gone = self.tr("Items are deleted permanently after {after} in the Trash. You can change this in the settings.").format(
            after=by_itself
        )
        self.hint.setText(gone if days else self.tr("Items stay in the Trash until you empty it."))
        self._follow()

    def _follow(self) -> None:
        some = bool(self.table.selected)
        self.restore_button.setEnabled(some)
        self.erase_button.setEnabled(some)
        self.empty_button.setEnabled(bool(self.rows.total))

    # what the buttons do

    def restore(self) -> None:
        """Restore the selected items."""
        if items := self.table.selected:
            self._place.bridge.spawn(self._restore(items))

    async def _restore(self, items: list[Trashed]) -> None:
        errors: list[LetheError] = []
        # Sessions come first, because facts refer to them.
        for item in sorted(items, key=lambda item: (item.kind is not TrashKind.CONVERSATION, item.when)):  # facts rest on them
            try:
                await self._trash.restore(item)
            except LetheError as error:
                errors.append(error)
        for trouble in errors[:2]:
            self._place.window.notifier.report(trouble)
        done = len(items) - len(errors)
        if done:
            one = self.tr("“{title}” was restored.").format(title=shortened(title_of(items[0]), 60))
            self._place.window.notifier.tell(one if len(items) == 1 else self.tr("{n} items were restored.").format(n=done))

    def erase(self) -> None:
        """Delete the selected items permanently after confirmation."""
        if items := self.table.selected:
            self._place.bridge.spawn(self._erase(items, self._named(items)), lane="trash dialog")

    def empty(self) -> None:
        """Delete all items permanently after confirmation."""
        if items := list(self.rows.everything):
            self._place.bridge.spawn(self._erase(items, "", is_all=True), lane="trash dialog")

    def _named(self, items: list[Trashed]) -> str:
        if len(items) > 1:
            return counted(len(items), self.tr("{n} item"), self.tr("{n} items"))
        return f"‘{shortened(title_of(items[0]))}’"

    async def _erase(self, items: list[Trashed], named: str, *, is_all: bool = False) -> None:
        count = counted(len(items), self.tr("{n} item"), self.tr("{n} items"))
        title = self.tr("Empty Trash?") if is_all else self.tr("Delete {what} permanently?").format(what=named)
        button = self.tr("Empty Trash ({count})").format(count=count) if is_all else self.tr("Delete {what} permanently")
        words = self.tr("This cannot be undone.")
        talks = sum(item.count for item in items if item.kind is TrashKind.PERSONA)
        if talks:
            lost = counted(talks, self.tr("{n} conversation"), self.tr("{n} conversations"))
            words += " " + self.tr("This also deletes {count} and everything the personas remember.").format(count=lost)
        if await answered(ConfirmDialog(self._place.window, title, words, button.format(what=named))):
            await self._trash.erase(items)

    def _show_menu(self, place: QPoint) -> None:
        if self.table.selected:
            menu = QMenu(self)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.addAction(self.tr("Restore"), self.restore)
            menu.addAction(self.tr("Delete permanently…"), self.erase)
            menu.popup(place)


def _size(item: Trashed) -> str:
    return bytes_in_words(item.size)
