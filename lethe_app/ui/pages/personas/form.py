"""Form of the persona editor: a column of cards, and the list of sections beside it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QSignalBlocker, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QSpinBox, QWidget

from lethe_app.ui.core.palette import SPACE_6
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.personas.fields import AVATAR, EditorSection
from lethe_app.ui.pages.personas.pictures import AvatarField
from lethe_app.ui.widgets.card_column import CardColumn
from lethe_app.ui.widgets.form import Form, SectionList
from lethe_app.ui.widgets.layouts import build_row
from lethe_app.ui.widgets.tag_field import TagField

LAYOUT_DELAYS_MS = (0, 60)
"""Milliseconds after which the cards are laid out: first with all fields, then with the height of their wrapped texts."""


class PersonaForm(QWidget):
    """Form of all fields; `changed` is emitted for input of the user only. The avatar's picture is set by the page."""

    changed = Signal(str, object)
    unfinished_changed = Signal()
    """Text was entered into a field that applies it on Enter or when it loses focus, or such text was applied."""

    def __init__(self, sections: Sequence[EditorSection], theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cards: list[tuple[QFrame, EditorSection]] = []
        self._revealed_names: set[str] = set()
        self._shows_advanced = False
        self._is_jumping = self.is_unfinished = False
        self.avatar = AvatarField(theme)
        self.form = Form([], theme)
        self.form.changed.connect(self.changed)
        for section in sections:
            above = [self.avatar] if section.has_avatar else []
            self._cards.append((self.form.add_card(section.title, section.specs, section.description, *above), section))
        for name in self.form.field_names:
            self._watch_unfinished(self.field(name))
        self.advanced_names = [spec.name for section in sections for spec in section.specs if spec.is_advanced]
        """Names of the fields that are shown on request only."""
        self.sections = SectionList(theme)
        self.sections.add_sections([section.title for section in sections])
        self.sections.currentRowChanged.connect(self._scroll_to_section)
        self.sheet = CardColumn()
        self.sheet.add_widget(self.form)
        self.sheet.verticalScrollBar().valueChanged.connect(self._select_section)
        build_row(self.sections, (self.sheet, 1), parent=self)
        self.form.installEventFilter(self)
        self._update_rows()
        self._mark_section(0)

    def _watch_unfinished(self, field: QWidget) -> None:
        line = field.lineEdit() if isinstance(field, QSpinBox) else field.focusProxy()
        if isinstance(line, QLineEdit):
            line.textEdited.connect(lambda _text: self._set_unfinished(is_unfinished=True))
            line.editingFinished.connect(lambda: self._set_unfinished(is_unfinished=False))

    def _set_unfinished(self, *, is_unfinished: bool) -> None:
        if is_unfinished is not self.is_unfinished:
            self.is_unfinished = is_unfinished
            self.unfinished_changed.emit()

    def apply_unfinished(self) -> None:
        """Apply text that was typed but not yet confirmed by Enter, as if the field lost its focus."""
        # Text still being composed in an input method is not part of the field yet.
        QGuiApplication.inputMethod().commit()
        field = self.focusWidget()
        if isinstance(field, QSpinBox):
            field.interpretText()
        elif field is not None and isinstance(words_field := field.parent(), TagField):
            words_field.commit_text()
        self._set_unfinished(is_unfinished=False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._update_sections_visibility()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:  # choices and values may widen the cards
            self._update_sections_visibility()
        return super().eventFilter(watched, event)

    def _update_sections_visibility(self) -> None:
        """Hide the list of sections where it does not fit beside the cards."""
        needed_width = self.sections.maximumWidth() + self.sheet.column.minimumSize().width()
        self.sections.setVisible(self.width() >= needed_width)

    # advanced fields

    def show_advanced(self, is_on: bool) -> None:
        """Show or hide the advanced fields, with the sections that have no others; what is in view stays there."""
        section, anchor = self._find_anchor(hides_advanced=not is_on)
        offset = self._position_of(anchor) - self.sheet.verticalScrollBar().value() if anchor is not None else 0
        self._shows_advanced = is_on
        self._revealed_names.clear()
        self._update_rows()
        if anchor is not None:
            for delay in LAYOUT_DELAYS_MS:
                QTimer.singleShot(delay, self, lambda: self._keep_in_view(section, anchor, offset))

    def _find_anchor(self, *, hides_advanced: bool) -> tuple[int, QWidget | None]:
        """Return the first field in view that remains, preferably of the selected section, and the index of its section."""
        top = self.sheet.verticalScrollBar().value()
        bottom, current = top + self.sheet.viewport().height(), self.sections.currentRow()
        for index in sorted(range(len(self._cards)), key=lambda index: index != current):
            for spec in self._cards[index][1].specs:
                field = self.field(spec.name)
                is_kept = field.isVisible() and not (hides_advanced and spec.is_advanced)
                if is_kept and top <= self._position_of(field) < bottom:
                    return index, field
        return current, None

    def _position_of(self, widget: QWidget) -> int:
        """Return the distance of a field or card from the top of what is scrolled, in pixels."""
        column = self.sheet.widget()
        assert column is not None
        return widget.mapTo(column, QPoint()).y()

    def _keep_in_view(self, section: int, field: QWidget, offset: int) -> None:
        self.sheet.verticalScrollBar().setValue(self._position_of(field) - offset)
        self._mark_section(section)

    def _update_rows(self) -> None:
        hidden = set() if self._shows_advanced else {*self.advanced_names} - self._revealed_names
        for name in self.form.field_names:
            self.form.set_row_visible(name, name not in hidden)
        for row, (card, section) in enumerate(self._cards):
            is_shown = section.has_avatar or any(spec.name not in hidden for spec in section.specs)
            card.setVisible(is_shown)
            self.sections.setRowHidden(row, not is_shown)

    # values

    def set_field(self, name: str, value: object) -> None:
        """Show the value of a field without emitting `changed`; one without a field is ignored."""
        self.form.show_values({name: value})

    def field(self, name: str) -> QWidget:
        """Return the widget of a field."""
        return self.avatar if name == AVATAR else self.form.field_widget(name)

    def reveal_field(self, name: str) -> None:
        """Scroll to a field and focus it; an advanced one is shown."""
        if name in self.advanced_names and not self._shows_advanced and name not in self._revealed_names:
            self._revealed_names.add(name)
            self._update_rows()
            QTimer.singleShot(0, self, lambda: self.sheet.scroll_to_widget(self.field(name)))  # when it has its place
        if name == AVATAR or name in self.form.field_names:
            self.sheet.scroll_to_widget(self.field(name))
            self.field(name).setFocus()

    # sections

    def _scroll_to_section(self, index: int) -> None:
        """Scroll to the section with that index."""
        if 0 <= index < len(self._cards):
            # A short last section cannot be scrolled to the top, so `_select_section` would select another one.
            self._is_jumping = True
            self.sheet.verticalScrollBar().setValue(self._position_of(self._cards[index][0]) - SPACE_6)
            self._is_jumping = False

    def _select_section(self, scrolled: int) -> None:
        """Select the section that is scrolled to in the list of sections."""
        if not self._cards or self._is_jumping:
            return
        # The last section may be too short to be scrolled to the top.
        at_the_end = scrolled >= self.sheet.verticalScrollBar().maximum()
        shown = [index for index, (card, _section) in enumerate(self._cards) if not card.isHidden()]
        above = [index for index in shown if self._position_of(self._cards[index][0]) - 2 * SPACE_6 <= scrolled]
        current = shown[-1] if at_the_end and scrolled else (above[-1] if above else 0)
        self._mark_section(current)

    def _mark_section(self, index: int) -> None:
        """Select a section in the list without scrolling to it."""
        with QSignalBlocker(self.sections):
            self.sections.setCurrentRow(index)
