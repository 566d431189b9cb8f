"""Dialog that shows what would be imported from files of other programs, and what of it has no effect here."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLabel, QWidget

from lethe_app.domain.import_notes import ImportNote
from lethe_app.services.imports.plan import (
    TEMPLATES,
    ExcerptKind,
    ImportItem,
    ImportPlan,
    ItemAction,
    ItemKind,
    describe_place,
    fill_note,
)
from lethe_app.ui.core.formatting import format_count, format_message_count, join_with_and, shorten_text
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3
from lethe_app.ui.dialogs.dialogs import QuestionDialog
from lethe_app.ui.widgets.fields import NoWheelComboBox
from lethe_app.ui.widgets.labels import build_heading, build_small_label, create_text_label
from lethe_app.ui.widgets.layouts import build_column, build_row

MAX_ROWS, MAX_NOTES, MAX_ERRORS = 60, 3, 20
"""Maximum rows of a kind, notes of a row, and errors shown; the others are counted."""
MAX_PORTRAITS, PORTRAIT_SIZE = 12, 64
"""Maximum number of portraits, as a folder may hold hundreds of cards, and their side in logical pixels."""


class ImportPreviewDialog(QuestionDialog):
    """List of the items of a plan by kind. Afterwards `plan` says what is to be done with each."""

    width_in_characters, max_height = 76, 640

    def __init__(self, parent: QWidget, plan: ImportPlan) -> None:
        self._plan = plan
        self.rows: list[ImportItemRow] = []
        self._skipped_kinds: frozenset[ItemKind] = frozenset()
        """Kinds of which the user wants none, unless an item is selected by itself."""
        title = QCoreApplication.translate("ImportPreviewDialog", "Import files")
        super().__init__(parent, title, QCoreApplication.translate("ImportPreviewDialog", "Import"))
        for kind in ItemKind:
            self._add_kind(kind, [item for item in plan.items if item.kind is kind])
        for row in self.portrait_rows:
            row.portrait.show()  # empty until the picture is read, so that the text does not move then
        self._add_errors()
        self._update_button()

    @property
    def plan(self) -> ImportPlan:
        """Return the plan with the actions that the user chose."""
        chosen = {row.item.key: row.action for row in self.rows}
        others = {item.key: ItemAction.SKIP for item in self._plan.items if item.kind in self._skipped_kinds}
        actions = others | chosen
        return replace(
            self._plan, items=[replace(item, action=actions.get(item.key, item.action)) for item in self._plan.items]
        )

    @property
    def portrait_rows(self) -> list[ImportItemRow]:
        """Return the rows of the first personas, which have room for a portrait."""
        return [row for row in self.rows if row.item.kind is ItemKind.PERSONA][:MAX_PORTRAITS]

    def _add_kind(self, kind: ItemKind, items: list[ImportItem]) -> None:
        if not items:
            return
        count = sum(item.size for item in items) if kind is ItemKind.MEMORIES else len(items)
        self.column.addLayout(self._build_kind_heading(kind, describe_count(kind, count), len(items)))
        for item in items[:MAX_ROWS]:
            row = ImportItemRow(item, has_excerpts=len(items) <= MAX_PORTRAITS)
            row.action_changed.connect(self._update_button)
            self.rows.append(row)
            self.column.addWidget(row)
        if len(items) > MAX_ROWS:
            self.column.addWidget(build_small_label(self.tr("And {n} more.").format(n=len(items) - MAX_ROWS)))

    def _build_kind_heading(self, kind: ItemKind, title: str, count: int) -> QHBoxLayout:
        """Return the heading of a kind, with a box that selects all of its items or none, also those that are only counted."""
        heading = build_row((build_heading(title), 1))
        if count > 1:
            box = QCheckBox(self.tr("All"))
            box.setChecked(True)
            box.setAccessibleName(self.tr("Select all: {title}").format(title=title))
            box.toggled.connect(lambda is_on: self._select_kind(kind, is_on))
            heading.addWidget(box)
        return heading

    def _select_kind(self, kind: ItemKind, is_on: bool) -> None:
        self._skipped_kinds = self._skipped_kinds - {kind} if is_on else self._skipped_kinds | {kind}
        for row in self.rows:
            if row.item.kind is kind:
                row.box.setChecked(is_on)
        self._update_button()

    def _add_errors(self) -> None:
        plan = self._plan
        if plan.errors:
            self.column.addWidget(build_heading(self.tr("Cannot be imported")))
        for error in plan.errors[:MAX_ERRORS]:
            place = self.tr("“{file}”, field “{field}”,") if error.field else self.tr("“{file}”")
            name = place.format(file=error.path.name, field=shorten_text(error.field, 60))
            self.column.addWidget(create_text_label(f"{name} {error.problem}. {error.remedy}".strip()))
        if len(plan.errors) > MAX_ERRORS:
            self.column.addWidget(build_small_label(self.tr("And {n} more.").format(n=len(plan.errors) - MAX_ERRORS)))
        if plan.ignored:
            kinds = sorted(plan.ignored.items(), key=lambda pair: not pair[0])
            counts = join_with_and([describe_ignored(kind, count) for kind, count in kinds])
            self.column.addWidget(build_small_label(self.tr("Left out: {things}.").format(things=counts)))
        if not plan.items and not plan.errors:
            self.column.addWidget(create_text_label(self.tr("No characters, worlds, chats or presets were found.")))

    def _update_button(self) -> None:
        """Enable the button if something is to be imported."""
        plan = self.plan
        self.primary.setEnabled(any(item.action is not ItemAction.SKIP for item in plan.items))


class ImportItemRow(QWidget):
    """Row of one item: a check box, or a choice if it was imported before, and its notes."""

    action_changed = Signal()

    def __init__(self, item: ImportItem, *, has_excerpts: bool) -> None:
        """Create the row; `has_excerpts` shows the beginning of the item's texts, for which a long list has no room."""
        super().__init__()
        self.item = item
        self.portrait = QLabel()
        self.portrait.setAccessibleName(self.tr("Portrait of {name}").format(name=shorten_text(item.name, 60)))
        self.portrait.setFixedSize(PORTRAIT_SIZE, PORTRAIT_SIZE)
        self.portrait.hide()
        name = shorten_text(item.name, 60)
        self.box = QCheckBox(name.replace("&", "&&"))
        self.box.setChecked(item.action is not ItemAction.SKIP)
        self.box.setAccessibleDescription(item.file.name)
        self.box.toggled.connect(self._on_toggled)
        self.action_box: QComboBox | None = self._build_action_box() if item.earlier else None
        head = build_row(self.box, 1, *([self.action_box] if self.action_box is not None else []), spacing=SPACE_2)
        texts = [f"{excerpt_title(excerpt.kind)} {excerpt.text}" for excerpt in item.excerpts if has_excerpts]
        details = build_small_label(self._describe_details())
        column = build_column(head, details, *map(create_text_label, texts), spacing=SPACE_1)
        build_row((self.portrait, 0, Qt.AlignmentFlag.AlignTop), (column, 1), spacing=SPACE_3, parent=self)

    @property
    def action(self) -> ItemAction:
        """Return what is to be done with the item."""
        if not self.box.isChecked():
            return ItemAction.SKIP
        return self.action_box.currentData() if self.action_box is not None else ItemAction.IMPORT

    def _build_action_box(self) -> QComboBox:
        box = NoWheelComboBox()
        box.addItem(self.tr("Import a copy"), ItemAction.IMPORT)
        if self.item.kind in (ItemKind.PERSONA, ItemKind.WORLD):
            box.addItem(self.tr("Overwrite the earlier import"), ItemAction.UPDATE)
        box.setAccessibleName(self.tr("What to do with {name}").format(name=self.item.name))
        box.setEnabled(self.box.isChecked())
        return box

    def _describe_details(self) -> str:
        """Return file name, earlier import and notes, one per line."""
        item = self.item
        earlier = self.tr("imported before") if item.earlier else ""
        count, tr = item.greetings, self.tr
        greetings = format_count(count, tr("{n} greeting"), tr("{n} greetings")) if count else ""
        lines = [
            " · ".join(filter(None, (describe_place(item, translate_preset_kind), greetings, describe_size(item), earlier)))
        ]
        if item.kind is ItemKind.CONVERSATION:
            lines.append(self.tr("Becomes a conversation with {name}").format(name=shorten_text(item.name, 60)))
        lines += [translate_note(note) for note in item.notes[:MAX_NOTES]]
        if len(item.notes) > MAX_NOTES:
            rest = len(item.notes) - MAX_NOTES
            lines.append(format_count(rest, self.tr("And {n} more remark."), self.tr("And {n} more remarks.")))
        return "\n".join(shorten_text(line, 200) for line in lines)

    def _on_toggled(self) -> None:
        if self.action_box is not None:
            self.action_box.setEnabled(self.box.isChecked())
        self.action_changed.emit()


def translate_preset_kind(name: str) -> str:
    """Return the name of a kind of presets in the user's language."""
    return QCoreApplication.translate("PresetKind", name)


def excerpt_title(kind: ExcerptKind) -> str:
    """Return what an excerpt was taken from."""
    tr = QCoreApplication.translate
    return {
        ExcerptKind.DESCRIPTION: tr("ImportPreviewDialog", "Description:"),
        ExcerptKind.GREETING: tr("ImportPreviewDialog", "Greeting:"),
        ExcerptKind.ENTRIES: tr("ImportPreviewDialog", "Entries:"),
        ExcerptKind.MESSAGE: tr("ImportPreviewDialog", "Begins:"),
        ExcerptKind.MEMORY: tr("ImportPreviewDialog", "First memory:"),
    }[kind]


def describe_size(item: ImportItem) -> str:
    """Return how large an item is, such as “with a world of 3 entries”; empty if there is nothing to count."""
    tr = QCoreApplication.translate
    if not item.size:
        return ""
    if item.kind is ItemKind.CONVERSATION:
        return format_message_count(item.size)
    if item.kind is ItemKind.MEMORIES:
        return describe_count(item.kind, item.size)
    entries = format_count(item.size, tr("ImportPreviewDialog", "{n} entry"), tr("ImportPreviewDialog", "{n} entries"))
    return tr("ImportPreviewDialog", "with a world of {n}").format(n=entries) if item.kind is ItemKind.PERSONA else entries


def describe_ignored(kind: str, count: int) -> str:
    """Return how many files of a kind have no counterpart here."""
    tr = QCoreApplication.translate
    singular, plural = {
        "reasoning template": (tr("IgnoredFile", "{n} reasoning template"), tr("IgnoredFile", "{n} reasoning templates")),
        "chat completion preset": (
            tr("IgnoredFile", "{n} chat completion preset"),
            tr("IgnoredFile", "{n} chat completion presets"),
        ),
        "quick reply set": (tr("IgnoredFile", "{n} quick reply set"), tr("IgnoredFile", "{n} quick reply sets")),
        "theme": (tr("IgnoredFile", "{n} theme"), tr("IgnoredFile", "{n} themes")),
        "group definition": (tr("IgnoredFile", "{n} group definition"), tr("IgnoredFile", "{n} group definitions")),
        "settings file": (tr("IgnoredFile", "{n} settings file"), tr("IgnoredFile", "{n} settings files")),
    }.get(kind, (tr("IgnoredFile", "{n} other file"), tr("IgnoredFile", "{n} other files")))
    return format_count(count, singular, plural)


def translate_note(note: ImportNote) -> str:
    """Return an import note as a sentence."""
    return fill_note(QCoreApplication.translate("ImportNote", TEMPLATES[note.kind]), note) + "."


def describe_count(kind: ItemKind, count: int) -> str:
    """Return the heading of a kind, such as “3 personas”."""
    tr = QCoreApplication.translate
    singular, plural = {
        ItemKind.PERSONA: (tr("ImportPreviewDialog", "{n} persona"), tr("ImportPreviewDialog", "{n} personas")),
        ItemKind.WORLD: (tr("ImportPreviewDialog", "{n} world"), tr("ImportPreviewDialog", "{n} worlds")),
        ItemKind.MEMORIES: (tr("ImportPreviewDialog", "{n} memory"), tr("ImportPreviewDialog", "{n} memories")),
        ItemKind.CONVERSATION: (tr("ImportPreviewDialog", "{n} chat"), tr("ImportPreviewDialog", "{n} chats")),
        ItemKind.PRESET: (tr("ImportPreviewDialog", "{n} preset"), tr("ImportPreviewDialog", "{n} presets")),
    }[kind]
    return format_count(count, singular, plural)
