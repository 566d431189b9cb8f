"""Commands of a list page. Each is declared once, for the head, the context menu, keys and the details of a record."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

from PySide6.QtWidgets import QPushButton, QWidget

from lethe_app.ui.core.palette import SPACE_2
from lethe_app.ui.dialogs.dialogs import ConfirmDialog
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.flow_layout import FlowLayout

Row = TypeVar("Row")
Rows = Sequence[Any]


class Key(StrEnum):
    """Key that runs a command on the selected rows of a table, as it is written in the menu."""

    OPEN = "Enter"
    RENAME = "F2"
    DELETE = "Del"


@dataclass(frozen=True)
class RecordCommand(Generic[Row]):
    """Command on selected records, or with `minimum` 0 on the page. `run` gets the records; a coroutine it returns is run as a
    task.
    """

    title: str | Callable[[Sequence[Row]], str]
    """Title of its button and menu entry, or a function that returns it for the selected records."""
    run: Callable[[Sequence[Row]], Coroutine[Any, Any, None] | None]
    keys: tuple[Key, ...] = ()
    minimum: int = 1
    """Number of records that it needs; with 0 it is about the page."""
    maximum: int | None = None
    is_shown: Callable[[Sequence[Row]], bool] = lambda _records: True
    """Whether the command applies to such records, or now to the page; its entry in the menu and its button beside the record,
    or in the head, are left out otherwise.
    """
    is_enabled: Callable[[Sequence[Row]], bool] = lambda _records: True
    confirm: Callable[[Sequence[Row]], ConfirmDialog] | None = None
    """Creates the dialog that asks before the command is run."""
    in_menu: bool | None = None
    """Whether it stands in the context menu; by default if it needs records."""
    in_head: bool = False
    """Whether it has a button in the head of the page."""
    icon: str = ""
    tooltip: str = ""
    is_primary: bool = False
    keeps_place: bool = False
    """While the same record stays on display, its button is disabled instead of left out, so that no other button moves below
    the pointer.
    """
    needs_records: bool = True
    """Whether its button in the head is hidden while the list has no records."""

    def title_for(self, records: Sequence[Row]) -> str:
        """Return the title for the selected records."""
        return self.title if isinstance(self.title, str) else self.title(records)

    def is_offered(self, records: Sequence[Row]) -> bool:
        """Return whether the context menu of the selected records has an entry for it."""
        is_wanted = self.minimum > 0 if self.in_menu is None else self.in_menu
        return is_wanted and bool(records) and self.is_shown(records)

    def accepts(self, records: Sequence[Row]) -> bool:
        """Return whether the command can be run on the selected records."""
        is_counted = len(records) >= self.minimum and (self.maximum is None or len(records) <= self.maximum)
        return is_counted and (not self.minimum or self.is_shown(records)) and self.is_enabled(records)

    def update_button(self, button: QPushButton, records: Sequence[Row], total: int) -> None:
        """Show the button in the head if a list with `total` records may need it, and enable it for the selected ones."""
        button.setEnabled(self.accepts(records))
        if not isinstance(self.title, str):
            button.setText(self.title(records))
        is_shown = self.minimum > 0 or self.is_shown(records)
        button.setVisible(is_shown and total >= max(self.minimum, int(self.needs_records)))


def page_command(
    title: str,
    run: Callable[[], Coroutine[Any, Any, None] | None],
    icon: str = "",
    *,
    is_primary: bool = False,
    needs_records: bool | None = None,
    is_shown: Callable[[], bool] = lambda: True,
    is_enabled: Callable[[], bool] = lambda: True,
    tooltip: str = "",
) -> RecordCommand[Any]:
    """Declare a command on the page, with a button in its head. By default only a primary one is shown without records."""
    return RecordCommand(
        title,
        lambda _records: run(),
        minimum=0,
        is_shown=lambda _records: is_shown(),
        is_enabled=lambda _records: is_enabled(),
        in_head=True,
        icon=icon,
        tooltip=tooltip,
        is_primary=is_primary,
        needs_records=not is_primary if needs_records is None else needs_records,
    )


def single_command(
    title: str | Callable[[Row], str],
    run: Callable[[Row], Coroutine[Any, Any, None] | None],
    keys: tuple[Key, ...] = (),
    *,
    is_shown: Callable[[Row], bool] = lambda _record: True,
    is_enabled: Callable[[Row], bool] = lambda _record: True,
    **options: Any,  # noqa: ANN401 - the other fields of a command
) -> RecordCommand[Row]:
    """Declare a command on one selected record, which is what all its functions get."""
    return RecordCommand(
        title if isinstance(title, str) else lambda records: title(records[0]),
        lambda records: run(records[0]),
        keys,
        maximum=1,
        is_shown=lambda records: is_shown(records[0]),
        is_enabled=lambda records: is_enabled(records[0]),
        **options,
    )


class CommandButtons(QWidget):
    """Buttons of commands on the record on display, for a card of its details."""

    def __init__(
        self,
        commands: Sequence[RecordCommand[Any]],
        run: Callable[[RecordCommand[Any], Rows], object],
        parent: QWidget | None = None,
    ) -> None:
        """Create the buttons; `run` is called with a command and the record on display."""
        super().__init__(parent)
        self._records: Rows = ()
        self._buttons: list[tuple[RecordCommand[Any], QPushButton]] = []
        self._flow = FlowLayout(self, spacing=SPACE_2)
        for command in commands:
            button = build_button(tooltip=command.tooltip, primary=command.is_primary)
            button.clicked.connect(lambda _checked=False, command=command: run(command, self._records))
            self._flow.addWidget(button)
            self._buttons.append((command, button))
        self.show_record(None)

    def insert_button(self, index: int, button: QPushButton) -> None:
        """Insert a button that is no command on the record."""
        self._flow.insert_widget(index, button)

    def button(self, title: str) -> QPushButton:
        """Return the button with this text."""
        return next(button for _command, button in self._buttons if button.text() == title)

    def show_record(self, record: object | None, *, is_same: bool = False) -> None:
        """Show the buttons that apply to a record; None if there is none. `is_same` is whether it was on display before."""
        self._records = () if record is None else (record,)
        for command, button in self._buttons:
            button.setText(command.title_for(self._records) if self._records or isinstance(command.title, str) else "")
            keeps_place = command.keeps_place and is_same and not button.isHidden()
            button.setVisible(keeps_place or (bool(self._records) and command.is_shown(self._records)))
            button.setEnabled(command.accepts(self._records))
