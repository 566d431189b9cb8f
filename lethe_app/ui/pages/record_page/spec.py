"""Declaration of a list of records."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from lethe_app.ui.pages.record_page.commands import RecordCommand
from lethe_app.ui.pages.record_page.filters import RecordFilter
from lethe_app.ui.widgets.table_model import Column

Row = TypeVar("Row")


@dataclass(frozen=True)
class RecordSpec(Generic[Row]):
    """What a page of records declares about its list."""

    name: str
    """Accessible name of the table."""
    columns: Sequence[Column[Row]]
    key: Callable[[Row], Hashable]
    """Identifies a record when the list is read again."""
    search_text: Callable[[Row], str]
    search_hint: str = ""
    """Placeholder of the search field; without one there is none."""
    is_casefolded: bool = False
    """Whether `search_text` is casefolded already."""
    empty_text: str = ""
    """Text in place of the rows while there are no records."""
    filters: Sequence[RecordFilter] = ()
    commands: Sequence[RecordCommand[Row]] = ()
    format_total: Callable[[int], str] = str
    """Returns the number of all records in words."""
    selects_one: bool = False
    """Whether only one record can be selected at a time."""
    selects_first: bool = False
    """Whether the first record is selected while none is."""
    sorted_by: int | None = None
    """Index of the column by which the list is sorted at first."""
