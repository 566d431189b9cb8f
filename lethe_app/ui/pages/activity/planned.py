"""Table of the tasks that a persona will run: when, at what cost and for what."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QModelIndex, QPersistentModelIndex, QSize
from PySide6.QtWidgets import QHeaderView, QStyledItemDelegate, QStyleOptionViewItem

from lethe_app.domain.agent_runs import PlannedTask
from lethe_app.domain.clock import now
from lethe_app.ui.core.palette import SPACE_3
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.activity.labels import format_due, format_usual_cost
from lethe_app.ui.widgets.table import Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

DUE, COST = 1, 2
"""Indices of columns."""


class _PaddedDelegate(QStyledItemDelegate):
    """Delegate of wrapped texts, with some space above and below them."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return super().sizeHint(option, index) + QSize(0, SPACE_3)


def _tr(text: str) -> str:
    return QCoreApplication.translate("ActivityPage", text)


def build_planned_rows(is_on: Callable[[], bool]) -> FilteredTableModel[PlannedTask]:
    """Create the empty table model; `is_on` returns whether the persona has background activity."""
    columns = [
        Column[PlannedTask](_tr("Task"), lambda task: task.title, width=232),
        Column[PlannedTask](
            _tr("Next run"), lambda task: format_due(task, is_on=is_on()), lambda task: task.due or now(), 216, hides_at=2
        ),
        Column[PlannedTask](_tr("Usual cost"), format_usual_cost, lambda task: task.tokens, 150, hides_at=1, is_optional=True),
        Column[PlannedTask](_tr("What it does"), lambda task: task.help, width=0, min_width=240),
    ]
    return FilteredTableModel(columns, key=lambda task: task.name, search_text=lambda task: task.title)


def build_planned_table(rows: FilteredTableModel[PlannedTask], theme: Theme) -> Table[PlannedTask]:
    """Create the table of these rows."""
    table = Table(rows, theme, _tr("Planned tasks"), _tr("No task is selected for this persona."))
    table.setWordWrap(True)
    table.setItemDelegate(_PaddedDelegate(table))
    table.verticalHeader().setMinimumSectionSize(table.verticalHeader().defaultSectionSize())
    table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    return table
