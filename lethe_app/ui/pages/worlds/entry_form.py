"""Form of a single entry, with rarely used fields in a collapsible part."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QLineEdit, QPushButton, QToolButton, QVBoxLayout, QWidget

from lethe_app.domain.clock import now
from lethe_app.domain.worldinfo import WorldEntry
from lethe_app.services.worlds.key_checks import HOPELESS, KeyIssue, objection_to
from lethe_app.ui.core.formatting import counted, tokens_in_words
from lethe_app.ui.core.icons import BEFORE_WORDS, icon, icon_before_words
from lethe_app.ui.core.palette import ICON, SPACE_1, SPACE_2, SPACE_3
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.page import headline
from lethe_app.ui.pages.worlds.editor_state import WorldBook
from lethe_app.ui.pages.worlds.fields import AMONG, fields_for, more_parts, unusual, usual_specs, values_of, words_specs
from lethe_app.ui.pages.worlds.labels import finding_in_words
from lethe_app.ui.pages.worlds.optional_datetime import OptionalDateTimeField
from lethe_app.ui.widgets.card_column import Sheet
from lethe_app.ui.widgets.form import Form

TYPED = frozenset({"name", "content"})


class EntryForm(QWidget):
    """Form of an entry. Every change is an edit of the `WorldBook`, which returns as a new version of the entry."""

    count_wanted = Signal(str)
    """Text whose tokens are to be counted and passed to `show_tokens`."""
    remember_wanted = Signal(object)
    back_wanted = Signal()
    more_toggled = Signal(bool)

    def __init__(self, theme: Theme, book: WorldBook, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._book = theme, book
        self.entry: WorldEntry | None = None
        self.words, self.usual = Form(words_specs(), theme), Form(usual_specs(), theme)
        self._forms = [self.words, self.usual]
        for form in self._forms:
            form.changed.connect(self._change)
        self.starts, self.ends = OptionalDateTimeField(self.tr("Active from")), OptionalDateTimeField(self.tr("Active until"))
        self.starts.changed.connect(lambda moment: self._change_moment("added", moment))
        self.ends.changed.connect(lambda moment: self._change_moment("end_time", moment))
        self.warnings = QLabel()
        self.warnings.setProperty("small", True)
        self.warnings.setWordWrap(True)
        self.warnings.setTextFormat(Qt.TextFormat.PlainText)
        self.warnings.hide()
        self.sheet = Sheet()
        self._build()
        self._watch_typed_keys(self.words, "keywords_main")
        theme.changed.connect(self._dress)
        self._dress()

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._made_head())
        column.addWidget(self.sheet, 1)
        self.sheet.column.setContentsMargins(SPACE_3, SPACE_2, SPACE_3, SPACE_3)
        for widget in (self.words, self.warnings, self.usual, self._made_more()):
            self.sheet.add(widget)

    def _made_head(self) -> QHBoxLayout:
        self.back = QToolButton()
        self.back.setIconSize(QSize(ICON, ICON))
        self.back.setAccessibleName(self.tr("Back to all entries"))
        self.back.setToolTip(self.tr("Back to all entries"))
        self.back.clicked.connect(self.back_wanted)
        self.enabled = QCheckBox(self.tr("Enabled"))
        self.enabled.toggled.connect(self._switch)
        self.remember = QPushButton(self.tr("Copy to memories"))
        self.remember.setIconSize(BEFORE_WORDS)
        self.remember.setToolTip(self.tr("Copy this entry to the memories (Brain) of a persona"))
        self.remember.clicked.connect(lambda: self.remember_wanted.emit(self.entry))
        row = QHBoxLayout()
        row.setContentsMargins(SPACE_3, SPACE_2, SPACE_3, SPACE_1)
        row.setSpacing(SPACE_2)
        row.addWidget(self.back)
        row.addWidget(self.enabled)
        row.addStretch(1)
        row.addWidget(self.remember)
        return row

    def _made_more(self) -> QWidget:
        part = QWidget()
        self.more = QPushButton()
        self.more.setProperty("row", True)
        self.more.setCheckable(True)
        self.more.setIconSize(BEFORE_WORDS)
        self.more.toggled.connect(self._unfold)
        self.more.toggled.connect(self.more_toggled)
        self.folded = QWidget()
        self._inside = QVBoxLayout(self.folded)
        self._inside.setContentsMargins(0, 0, 0, 0)
        self._inside.setSpacing(SPACE_3)
        self.folded.hide()
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.more)
        column.addWidget(self.folded)
        return part

    def _make_rest(self) -> None:
        """Build the rarely used fields at first use, because they are most of the form."""
        for part in more_parts():
            form = Form(part.specs, self._theme)
            form.changed.connect(self._change)
            self._forms.append(form)
            self._inside.addSpacing(SPACE_2)
            self._inside.addWidget(headline(part.title))
            self._inside.addWidget(form)
            if "duration" in form.names:
                self._inside.addWidget(self.starts)
                self._inside.addWidget(self.ends)
            if "keywords_secondary" in form.names:
                self._watch_typed_keys(form, "keywords_secondary")
            if self.entry is not None:
                form.show_values(values_of(self.entry))

    # showing

    def show_entry(self, entry: WorldEntry) -> None:
        """Show an entry without emitting signals; the scroll position is kept for a new version of the same entry."""
        is_other = self.entry is None or self.entry.guid != entry.guid
        old, self.entry = self.entry, entry
        values = values_of(entry)
        for form in self._forms:
            form.show_values(values)
        self.enabled.blockSignals(True)
        self.enabled.setChecked(entry.enabled)
        self.enabled.blockSignals(False)
        # `added` in the past is the time of creation; only a future one delays the activation.
        self.starts.set_value(entry.added if entry.added > now() else None)
        self.ends.set_value(entry.end_time)
        for name in ("depth", "role"):
            self.usual.set_row_visible(name, values["place"] == AMONG)
        self._title_more()
        if is_other or old is None or old.content != entry.content:
            self.count_wanted.emit(entry.content)
        if is_other:
            self.sheet.verticalScrollBar().setValue(0)
            self.show_findings([])

    def show_tokens(self, text: str, tokens: int) -> None:
        if self.entry is not None and self.entry.content == text:
            self.words.note("content", tokens_in_words(tokens))

    def show_findings(self, findings: Sequence[KeyIssue]) -> None:
        """Show problems of the keys: those that never match at the field, other warnings below it."""
        broken = [finding_in_words(one) for one in findings if one.trouble in HOPELESS]
        others = [finding_in_words(one) for one in findings if one.trouble not in HOPELESS]
        self.words.complain("keywords_main", "\n".join(broken))
        self.warnings.setText("\n".join(others))
        self.warnings.setVisible(bool(others))

    def focus_first_field(self) -> None:
        """Focus the name and select its text."""
        name = self.words.field("name")
        name.setFocus()
        if isinstance(name, QLineEdit):
            name.selectAll()

    @property
    def fields(self) -> dict[str, QWidget]:
        """Widgets of all fields by name."""
        return {name: form.field(name) for form in self._forms for name in form.names}

    # changing

    def _change(self, name: str, value: Any) -> None:  # noqa: ANN401 - as the field's kind says
        if self.entry is None:
            return
        told = next(form for form in self._forms if name in form.names)
        depth = int(self.usual.get("depth"))
        entry = self.entry.name or self.tr("an entry")
        title = self.tr("{field} of “{entry}”").format(field=_title_of(name, told), entry=entry)
        merges = f"{self.entry.guid} {name}" if name in TYPED else ""
        self._book.set_fields(title, [self.entry], fields_for(name, value, depth), merges)

    def _change_moment(self, name: str, moment: datetime | None) -> None:
        if self.entry is not None:
            title = self.tr("dates of “{entry}”").format(entry=self.entry.name)
            self._book.set_fields(title, [self.entry], {name: moment or (now() if name == "added" else None)})

    def _switch(self, on: bool) -> None:
        if self.entry is not None:
            title = self.tr("enabling") if on else self.tr("disabling")
            self._book.set_fields(title, [self.entry], {"enabled": on})

    def _watch_typed_keys(self, form: Form, name: str) -> None:
        """Report an invalid regular expression while it is typed."""
        line = form.field(name).focusProxy()
        if isinstance(line, QLineEdit):
            line.textEdited.connect(lambda typed: self._weigh(form, name, typed))

    def _weigh(self, form: Form, name: str, typed: str) -> None:
        problem = objection_to(typed) if typed.strip().startswith("/") else ""
        form.complain(name, self.tr("This expression {problem}.").format(problem=problem) if problem else "")

    # folding

    def _unfold(self, on: bool) -> None:
        # There are two forms until the rarely used fields are built.
        if len(self._forms) == 2:
            self._make_rest()
        self.folded.setVisible(on)
        self._title_more()
        self._dress()

    def _title_more(self) -> None:
        changed = len(unusual(self.entry)) if self.entry is not None else 0
        title = self.tr("Fewer options") if self.more.isChecked() else self.tr("More options")
        note = counted(changed, self.tr("{n} set"), self.tr("{n} set"))
        self.more.setText(f"{title} · {note}" if changed else title)

    def _dress(self) -> None:
        palette = self._theme.palette
        self.back.setIcon(icon("chevron-left", palette.text))
        self.remember.setIcon(icon_before_words("memory", palette.amber))
        self.more.setIcon(icon_before_words("chevron-up" if self.more.isChecked() else "chevron-down", palette.muted))


def _title_of(name: str, form: Form) -> str:
    """Return the label of a field for its undo command."""
    return form.field(name).accessibleName().lower() or name
