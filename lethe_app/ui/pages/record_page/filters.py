"""Filters above a list: chips, of which one or several are checked, and menus of values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar, cast

from PySide6.QtCore import QObject, QSignalBlocker, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QButtonGroup, QMenu, QPushButton, QWidget

from lethe_app.ui.core.formatting import join_with_or
from lethe_app.ui.core.palette import SPACE_1
from lethe_app.ui.widgets.buttons import build_chip
from lethe_app.ui.widgets.flow_layout import FlowLayout

Row = TypeVar("Row")
Test = Callable[[Any], bool]


class RecordFilter:
    """Filter of a list, as a base class beside that of its widget. `changed` is emitted for changes of the user, never by
    `reset` or `reveal`.
    """

    changed: Any
    """Signal without arguments."""
    empty_text = ""
    """Why the list is empty although there are records; empty for the text of every list."""

    @property
    def widgets(self) -> Sequence[QWidget]:
        """Return the widgets of the filter, in the order of the row above the list; by default the filter itself."""
        return [cast("QWidget", self)]

    def build_test(self) -> Test | None:
        """Return the predicate of the listed records; None if all are."""
        raise NotImplementedError

    def reset(self) -> None:
        """Filter nothing, or go back to the first view."""
        raise NotImplementedError

    def reveal(self, record: Any) -> None:  # noqa: ANN401 - records of any kind
        """List a record, by default by filtering nothing if it is not listed."""
        test = self.build_test()
        if test is not None and not test(record):
            self.reset()

    def count_records(self, _records: Iterable[Any]) -> Counter[Hashable]:
        """Return for each value how many of the records have it, as far as `show_counts` needs it."""
        return Counter()

    def show_counts(self, counts: Mapping[Hashable, int], total: int) -> None:
        """Offer the values that the records have; `total` is the number of all records."""


class Checked(Enum):
    """Which chips of a filter can be checked, and what they mean together."""

    ONE = "one"
    """Exactly one: a view of the list."""
    ANY = "any"
    """Several, of which a record has one: kinds of records."""
    ALL = "all"
    """Several, all of which a record has: properties."""


@dataclass(frozen=True)
class Chip(Generic[Row]):
    """Choice of a chip filter."""

    value: Hashable
    title: str
    test: Callable[[Row], bool]
    tooltip: str = ""
    empty_text: str = ""
    """Text of the list while this is a view that lists nothing."""


class ChipFilter(QObject, RecordFilter, Generic[Row]):
    """Chips above a list; those that all or none of the records pass are hidden, unless they are views."""

    changed = Signal()

    def __init__(self, chips: Sequence[Chip[Row]], checked: Checked = Checked.ALL, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._choices, self._checked = {chip.value: chip for chip in chips}, checked
        self.chips: dict[Hashable, QPushButton] = {chip.value: build_chip(chip.title, chip.tooltip) for chip in chips}
        self._group = QButtonGroup(self, exclusive=checked is Checked.ONE)
        for chip in chips:
            button = self.chips[chip.value]
            self._group.addButton(button)
            if checked is not Checked.ONE:
                button.setAccessibleName(self.tr("Show only: {what}").format(what=chip.title))
        self.reset()
        self._group.buttonToggled.connect(self._on_toggled)

    def _on_toggled(self, _button: QPushButton, is_checked: bool) -> None:
        if is_checked or self._checked is not Checked.ONE:  # the chip that a view is left by is unchecked as well
            self.changed.emit()

    @property
    def widgets(self) -> Sequence[QWidget]:
        return list(self.chips.values())

    @property
    def selected(self) -> list[Hashable]:
        """Return the values of the checked chips."""
        return [value for value, button in self.chips.items() if button.isChecked()]

    def select(self, *values: Hashable) -> None:
        """Check these chips and no others, without emitting `changed`."""
        with QSignalBlocker(self._group):
            for value, button in self.chips.items():
                if value in values or self._checked is not Checked.ONE:
                    button.setChecked(value in values)

    def reset(self) -> None:
        self.select(*[next(iter(self.chips))] if self._checked is Checked.ONE else [])

    def reveal(self, record: Row) -> None:
        test = self.build_test()
        if test is not None and not test(record):
            views = [value for value, chip in self._choices.items() if chip.test(record)]
            self.select(*views[:1]) if self._checked is Checked.ONE and views else self.reset()

    def build_test(self) -> Callable[[Row], bool] | None:
        tests = [self._choices[value].test for value in self.selected]
        if len(tests) < 2:
            return tests[0] if tests else None
        combine = any if self._checked is Checked.ANY else all
        return lambda record: combine(test(record) for test in tests)

    def count_records(self, records: Iterable[Row]) -> Counter[Hashable]:
        counts: Counter[Hashable] = Counter()
        if self._checked is not Checked.ONE:
            for record in records:
                counts.update(value for value, chip in self._choices.items() if chip.test(record))
        return counts

    def show_counts(self, counts: Mapping[Hashable, int], total: int) -> None:
        if self._checked is Checked.ANY:
            self.select(*[value for value in self.selected if counts.get(value)])
        for value, button in self.chips.items():
            is_useful = self._checked is Checked.ONE or 0 < counts.get(value, 0) < total
            button.setVisible(is_useful or button.isChecked())

    @property
    def empty_text(self) -> str:  # type: ignore[override]  # read-only here
        return self._choices[self.selected[0]].empty_text if self._checked is Checked.ONE else ""


class MenuFilter(QPushButton, RecordFilter, Generic[Row]):
    """Button with a menu of values, several of which can be checked; a record has to have one of them. Its text names them."""

    changed = Signal()

    def __init__(
        self,
        title: str,
        values: Iterable[Hashable],
        format_value: Callable[[Any], str],
        value_of: Callable[[Row], Hashable],
        parent: QWidget,
        is_counted: Callable[[Row], bool] = lambda _record: True,
    ) -> None:
        """Create the menu; `value_of` returns the value of a record, `is_counted` whether the number beside it includes the
        record.
        """
        super().__init__(parent)
        self._title, self._format_value, self._value_of, self._is_counted = title, format_value, value_of, is_counted
        self.setProperty("chip", True)
        menu = QMenu(self)
        self.actions_by_value: dict[Hashable, QAction] = {value: menu.addAction(format_value(value)) for value in values}
        for action in self.actions_by_value.values():
            action.setCheckable(True)
            action.toggled.connect(self._on_toggled)
        self.setMenu(menu)
        self._update_text()

    @property
    def selected(self) -> frozenset[Hashable]:
        """Return the checked values."""
        return frozenset(value for value, action in self.actions_by_value.items() if action.isChecked())

    def build_test(self) -> Callable[[Row], bool] | None:
        selected, value_of = self.selected, self._value_of
        return (lambda record: value_of(record) in selected) if selected else None

    def reset(self) -> None:
        for action in self.actions_by_value.values():
            with QSignalBlocker(action):
                action.setChecked(False)
        self._update_text()

    def count_records(self, records: Iterable[Row]) -> Counter[Hashable]:
        return Counter(self._value_of(record) for record in records if self._is_counted(record))

    def show_counts(self, counts: Mapping[Hashable, int], total: int = 0) -> None:
        """Offer the values that records have, with their number; a checked one stays. Hidden if there is only one."""
        del total
        offered = [value for value, action in self.actions_by_value.items() if action.isChecked() or counts.get(value)]
        for value, action in self.actions_by_value.items():
            action.setVisible(value in offered)
            action.setText(f"{self._format_value(value)}\t{counts.get(value, 0)}")
        self.setVisible(len(offered) > 1)

    def _on_toggled(self) -> None:
        self._update_text()
        self.changed.emit()

    def _update_text(self) -> None:
        names = join_with_or([self._format_value(value) for value in self.actions_by_value if value in self.selected])
        text = self.tr("{title}: {values}").format(title=self._title, values=names) if names else self._title
        self.setText(f"{text} ▾")
        self.setAccessibleName(text)


class FilterRow(QWidget):
    """Row of filters, all of which a record has to pass."""

    changed = Signal()

    def __init__(self, filters: Sequence[RecordFilter], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._filters = filters
        self._counts: list[Counter[Hashable]] = [Counter() for _filter in filters]
        self.chips = {value: chip for one in filters if isinstance(one, ChipFilter) for value, chip in one.chips.items()}
        """All chips, by value."""
        flow = FlowLayout(self, spacing=SPACE_1)
        for one in filters:
            one.changed.connect(self.changed)
            for widget in one.widgets:
                flow.addWidget(widget)

    def build_test(self) -> Test | None:
        """Return the predicate of all filters together; None if they filter nothing."""
        tests = [test for one in self._filters if (test := one.build_test()) is not None]
        if len(tests) < 2:
            return tests[0] if tests else None
        return lambda record: all(test(record) for test in tests)

    def reset(self) -> None:
        """Reset all filters."""
        for one in self._filters:
            one.reset()

    def reveal(self, record: object) -> None:
        """Change the filters that do not list a record."""
        for one in self._filters:
            one.reveal(record)

    def count_records(self, records: Sequence[object] | None) -> None:
        """Count some of the records, for `show_counts`; None forgets those counted before."""
        if records is None:
            self._counts = [Counter() for _filter in self._filters]
            return
        for one, counts in zip(self._filters, self._counts, strict=True):
            counts.update(one.count_records(records))

    def show_counts(self, total: int) -> None:
        """Offer what the counted records have; `total` is their number."""
        for one, counts in zip(self._filters, self._counts, strict=True):
            one.show_counts(counts, total)

    @property
    def empty_text(self) -> str:
        """Return why the filters list nothing; empty if none says so."""
        return next(filter(None, (one.empty_text for one in self._filters)), "")
