"""Frame of the pages that list records: filters above a table, and the details of the selected row beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QLocale, QTimer
from PySide6.QtWidgets import QHBoxLayout, QLayout, QVBoxLayout, QWidget

from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.widgets.table_model import FilteredTableModel

Row = TypeVar("Row")
RELOAD_DELAY_MS = 200
"""Delay in milliseconds after which the list is reloaded; further changes within it restart it."""


class ListPage(Page):
    """Page with a list that is reloaded after changes.

    Subclasses load the list in `_reload` and add what disconnects them from services to `_unsubscribers`.
    """

    def __init__(self, context: PageContext, title: str) -> None:
        super().__init__(context.theme, title)
        self._context = context
        self._unsubscribers: list[Callable[[], None]] = []
        self._reload_key = f"list {id(self)}"
        self._reload_timer = QTimer(self, singleShot=True, interval=RELOAD_DELAY_MS)
        self._reload_timer.timeout.connect(self._schedule_reload)

    def close_page(self) -> None:
        super().close_page()
        self._reload_timer.stop()
        self._context.tasks.cancel(self._reload_key)
        for unsubscribe in self._unsubscribers:
            unsubscribe()

    def _reload_later(self, _change: object = None) -> None:
        """Reload the list after a short delay, once for several changes."""
        self._reload_timer.start()

    def _schedule_reload(self) -> None:
        """Reload the list now."""
        self._context.tasks.start_task(self._reload(), key=self._reload_key)

    async def _reload(self) -> None:
        """Load the list."""

    def _add_head(self, *rows: QWidget | QLayout) -> QWidget:
        """Add the rows above the list: search field, filters and hints."""
        above = QWidget()
        head = QVBoxLayout(above)
        head.setContentsMargins(SPACE_4, SPACE_3, SPACE_4, SPACE_2)
        head.setSpacing(SPACE_2)
        for row in rows:
            if isinstance(row, QWidget):
                head.addWidget(row)
            else:
                head.addLayout(row)
        self.body.addWidget(above)
        return above

    def _show_count(self, rows: FilteredTableModel[Row], total_text: str) -> None:
        """Show the number of rows below the title: `total_text`, and how many of them the filters show."""
        shown = len(rows.visible_rows)
        text = self.tr("{shown} of {all}").format(shown=QLocale().toString(shown), all=total_text)
        self.subtitle.set_full_text(total_text if shown == rows.row_total else text)


class PersonaListPage(ListPage):
    """List page about one persona, who is chosen above the list."""

    def __init__(self, context: PageContext, title: str, persona_selector: PersonaSelector) -> None:
        super().__init__(context, title)
        self.persona_selector = persona_selector

    def persona_choice(self) -> PersonaSelector:
        return self.persona_selector

    def close_page(self) -> None:
        self.persona_selector.close_field()
        super().close_page()

    def _reload_if_chosen(self, persona_id: str) -> None:
        """Reload the list after a change of the chosen persona's records."""
        if persona_id == self.persona_selector.persona_id:
            self._reload_timer.start()

    def _build_search_row(self, search_field: QWidget, *widgets: QWidget) -> QHBoxLayout:
        """Create the row of the persona selector, the search field, which takes the free width, and further widgets."""
        row = QHBoxLayout()
        row.setSpacing(SPACE_2)
        row.addWidget(self.persona_selector)
        row.addWidget(search_field, 1)
        for widget in widgets:
            row.addWidget(widget)
        return row
