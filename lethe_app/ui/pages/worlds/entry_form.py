"""Form of a single entry, with rarely used fields in a collapsible part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QCheckBox, QFrame, QLayout, QLineEdit, QPushButton, QWidget

from lethe_app.domain.chat import Role
from lethe_app.domain.clock import now
from lethe_app.domain.worldinfo import WorldEntry
from lethe_app.services.worlds.key_checks import INEFFECTIVE_PROBLEMS, KeyIssue, find_regex_error
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.icons import BUTTON_ICON_SIZE, load_button_icon
from lethe_app.ui.core.labels.fields import field_title
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.worlds.editor_state import WorldEditorState
from lethe_app.ui.pages.worlds.labels import format_key_issue, link_choices, tr
from lethe_app.ui.widgets.card_column import CardColumn
from lethe_app.ui.widgets.datetime_field import DateTimeField
from lethe_app.ui.widgets.fields import FieldKind, FieldSpec, build_field_spec
from lethe_app.ui.widgets.form import Form
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.layouts import build_column, build_row

SYSTEM, IN_CHAT = "system", "among"


def text_specs() -> list[FieldSpec]:
    """Return the fields for name, content and keys."""
    name, content, keys = _specs("name", "content", "keywords_main")
    return [name, replace(content, kind=FieldKind.TEXT_AREA, lines=5, max_lines=18), keys]


def common_specs() -> list[FieldSpec]:
    """Return the common fields. The insertion depth is edited as two: whether it is in the chat, and how deep."""
    positions = [(IN_CHAT, tr("Among the messages")), (SYSTEM, tr("In the system prompt"))]
    roles = [(Role.SYSTEM, tr("System")), (Role.USER, tr("User")), (Role.ASSISTANT, tr("Assistant"))]
    constant, depth, priority = _specs("sticky", "position_index", "priority")
    return [
        constant,
        FieldSpec("place", tr("Position"), FieldKind.COMBO_BOX, tr("Place of the content in the prompt."), choices=positions),
        replace(depth, name="depth", minimum=0, minimum_label=tr("at the newest message")),
        build_field_spec(WorldEntry, "role", roles),
        priority,
    ]


def rare_field_sections() -> dict[str, list[FieldSpec]]:
    """Return the rarely used fields by the title of their section."""
    default, yes = (None, tr("world default")), (True, tr("yes"))
    embeds = build_field_spec(WorldEntry, "do_embeds", [default, yes, (False, tr("no, keys only"))])
    scoring = build_field_spec(WorldEntry, "group_scoring", [default, yes, (False, tr("no"))])
    link = build_field_spec(WorldEntry, "word_link", link_choices())
    return {
        tr("Key matching"): [link, *_specs("keywords_secondary", "whole_word", "case_sensitive", "scan_depth")],
        tr("Timing"): _specs("trigger_chance", "duration", "cooldown", "delay"),
        tr("Order and budget"): [*_specs("order", "ignore_budget", "outlet"), embeds],
        tr("Inclusion groups"): [*_specs("groups", "group_weight", "group_override"), scoring],
        tr("Recursion"): _specs("exclude_recursion", "prevent_recursion", "delay_until_recursion"),
    }


def _specs(*names: str) -> list[FieldSpec]:
    return [build_field_spec(WorldEntry, name) for name in names]


def form_values(entry: WorldEntry) -> dict[str, Any]:
    """Return the form values of an entry."""
    position = {"place": SYSTEM if entry.position_index < 0 else IN_CHAT, "depth": max(entry.position_index, 0)}
    return dict(entry) | position


def entry_fields(name: str, value: Any, depth: int = 0) -> Mapping[str, object]:  # noqa: ANN401 - as the field's kind says
    """Return the entry's fields for a changed form value; `depth` is the value of the depth field."""
    if name == "place":
        return {"position_index": -1 if value == SYSTEM else depth}
    return {"position_index" if name == "depth" else name: value}


def changed_rare_fields(entry: WorldEntry) -> set[str]:
    """Return the rarely used fields that differ from those of a new entry."""
    defaults, values = dict(WorldEntry()), dict(entry)
    names = {spec.name for specs in rare_field_sections().values() for spec in specs} - {"order"}
    changed = {name for name in names if values[name] != defaults[name]}
    return changed | ({"end_time"} if entry.end_time is not None else set())


def build_sheet(pane: QWidget, head: QWidget | QLayout, *items: QWidget | QLayout) -> CardColumn:
    """Fill a pane with a head and below it the scrolling sheet of these items, and return the sheet."""
    sheet = CardColumn()
    sheet.column.setContentsMargins(SPACE_3, SPACE_2, SPACE_3, SPACE_3)
    sheet.column.insertLayout(0, build_column(*items, spacing=SPACE_4))
    build_column(build_row(head, margins=(SPACE_3, SPACE_2, SPACE_3, SPACE_1)), (sheet, 1), parent=pane)
    return sheet


TEXT_FIELDS = frozenset({"name", "content"})


class EntryForm(QWidget):
    """Form of an entry. Every change is an edit of the `WorldEditorState`, which returns as a new version of the entry."""

    def __init__(self, theme: Theme, book: WorldEditorState) -> None:
        super().__init__()
        self._theme, self._book = theme, book
        self.entry: WorldEntry | None = None
        self.form = Form([*text_specs(), *common_specs()], theme)
        self.form.changed.connect(self._change_field)
        self._watch_typed_keys("keywords_main")
        self.start_field, self.end_field = (
            DateTimeField(title, title) for title in (field_title(WorldEntry, "added"), field_title(WorldEntry, "end_time"))
        )
        self.start_field.changed.connect(lambda moment: self._change_moment("added", moment))
        self.end_field.changed.connect(lambda moment: self._change_moment("end_time", moment))
        self.warnings_label = build_small_label("")
        self.warnings_label.hide()
        self.form.column.insertWidget(len(text_specs()), self.warnings_label)
        self._rare_cards: list[QFrame] = []
        self._build()
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _build(self) -> None:
        self.enabled_check = QCheckBox(self.tr("Enabled"))
        self.enabled_check.toggled.connect(self._set_enabled)
        self.remember_button = QPushButton(self.tr("Copy to memories"))
        self.remember_button.setIconSize(BUTTON_ICON_SIZE)
        self.remember_button.setToolTip(self.tr("Copy this entry to the memories of a persona"))
        self.remember_button.clicked.connect(lambda: self._book.copy_requested.emit(self.entry))
        self.more_button = QPushButton()
        self.more_button.setProperty("row", True)
        self.more_button.setCheckable(True)
        self.more_button.setIconSize(BUTTON_ICON_SIZE)
        self.more_button.toggled.connect(self._show_more)
        self.form.column.addWidget(self.more_button)
        head = build_row(self.enabled_check, 1, self.remember_button, spacing=SPACE_2)
        self.sheet = build_sheet(self, head, self.form)

    def _build_rare_cards(self) -> None:
        """Build the rarely used fields at first use, because they are most of the form."""
        for title, specs in rare_field_sections().items():
            dates = [self.start_field, self.end_field] if "duration" in {spec.name for spec in specs} else []
            self._rare_cards.append(self.form.add_card(title, specs, "", *dates))
        self._watch_typed_keys("keywords_secondary")
        if self.entry is not None:
            self.form.show_values(form_values(self.entry))

    # showing

    def show_entry(self, entry: WorldEntry) -> None:
        """Show an entry without emitting signals; the scroll position is kept for a new version of the same entry."""
        is_other = self.entry is None or self.entry.guid != entry.guid
        self.entry = entry
        self.form.show_values(form_values(entry))
        with QSignalBlocker(self.enabled_check):
            self.enabled_check.setChecked(entry.enabled)
        # `added` in the past is the time of creation; only a future one delays the activation.
        self.start_field.set_value(entry.added if entry.added > now() else None)
        self.end_field.set_value(entry.end_time)
        for name in ("depth", "role"):
            self.form.set_row_visible(name, entry.position_index >= 0)
        self._update_more_button()
        if is_other:
            self.sheet.verticalScrollBar().setValue(0)
            self.show_findings([])
            self.form.show_note("content", "")  # its number of tokens is not known yet

    def show_findings(self, findings: Sequence[KeyIssue]) -> None:
        """Show problems of the keys: those that never match at the field, other warnings below it."""
        broken = [format_key_issue(one) for one in findings if one.problem in INEFFECTIVE_PROBLEMS]
        warnings = [format_key_issue(one) for one in findings if one.problem not in INEFFECTIVE_PROBLEMS]
        self.form.show_error("keywords_main", "\n".join(broken))
        self.warnings_label.setText("\n".join(warnings))
        self.warnings_label.setVisible(bool(warnings))

    # changing

    def _change_field(self, name: str, value: Any) -> None:  # noqa: ANN401 - as the field's kind says
        if self.entry is None:
            return
        label = self.form.field_widget(name).accessibleName().lower()
        title = self.tr("{field} of “{entry}”").format(field=label, entry=self.entry.name or self.tr("an entry"))
        if name in TEXT_FIELDS:
            self._book.change_text(title, name, value, self.entry)
        else:
            fields = entry_fields(name, value, int(self.form.value_of("depth")))
            self._book.set_fields(title, [self.entry], fields)

    def _change_moment(self, name: str, moment: datetime | None) -> None:
        if self.entry is not None:
            title = self.tr("dates of “{entry}”").format(entry=self.entry.name)
            self._book.set_fields(title, [self.entry], {name: moment or (now() if name == "added" else None)})

    def _set_enabled(self, is_enabled: bool) -> None:
        if self.entry is not None:
            self._book.set_enabled([self.entry], is_enabled=is_enabled)

    def _watch_typed_keys(self, name: str) -> None:
        """Report an invalid regular expression while it is typed."""

        def check(typed: str) -> None:
            problem = find_regex_error(typed) if typed.strip().startswith("/") else ""
            self.form.show_error(name, self.tr("This expression {problem}.").format(problem=problem) if problem else "")

        line = self.form.field_widget(name).focusProxy()
        if isinstance(line, QLineEdit):
            line.textEdited.connect(check)

    # folding

    def _show_more(self, is_open: bool) -> None:
        if not self._rare_cards:
            self._build_rare_cards()
        for card in self._rare_cards:
            card.setVisible(is_open)
        self._update_more_button()

    def _update_more_button(self) -> None:
        changed, is_open = len(changed_rare_fields(self.entry)) if self.entry is not None else 0, self.more_button.isChecked()
        title = self.tr("Fewer options") if is_open else self.tr("More options")
        note = format_count(changed, self.tr("{n} set"), self.tr("{n} set"))
        self.more_button.setText(f"{title} · {note}" if changed else title)
        self.more_button.setIcon(load_button_icon("chevron-up" if is_open else "chevron-down", self._theme.palette.muted))

    def _apply_theme(self) -> None:
        self.remember_button.setIcon(load_button_icon("memory", self._theme.palette.amber))
        self._update_more_button()
