"""Dialogs of the facts page: add a fact, and choose the text of a merged fact."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QButtonGroup, QCheckBox, QRadioButton, QWidget

from lethe_app.domain.facts import ExtractedFact
from lethe_app.ui.core.palette import SPACE_3
from lethe_app.ui.dialogs.dialogs import QuestionDialog
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.text_area import TextAreaField

MIN_WIDTH = 440
MAX_CHOICES = 8
"""Texts offered as radio buttons; with more of them the dialog would not fit the screen."""
MAX_LABEL_LENGTH = 90
"""Characters of a text beside its radio button; the field below contains the whole text."""


class _TextDialog(QuestionDialog):
    """Dialog with a text field whose primary button is enabled only if there is text."""

    def __init__(self, parent: QWidget, title: str, text: str, field_name: str, button: str) -> None:
        super().__init__(parent, title, button, spacing=SPACE_3)
        self.field = TextAreaField(field_name, 3, 8)
        self.field.setMinimumWidth(MIN_WIDTH)
        self.field.textChanged.connect(self._update_primary)
        self.column.addWidget(build_small_label(text))
        self.column.addWidget(self.field)
        self._update_primary()

    @property
    def entered_text(self) -> str:
        return self.field.text.strip()

    def _update_primary(self) -> None:
        self.primary.setEnabled(bool(self.entered_text))


class NewFactDialog(_TextDialog):
    """Dialog that asks for the text of a new fact."""

    def __init__(self, parent: QWidget, persona_name: str) -> None:
        super().__init__(
            parent,
            self.tr("What should {name} know?").format(name=persona_name),
            self.tr("Write one complete sentence that names the person it is about, for example “Tomas is afraid of heights.”"),
            self.tr("New fact"),
            self.tr("Add fact"),
        )
        self.pinned = QCheckBox(self.tr("Always include this fact"))
        self.column.addWidget(self.pinned)
        self.field.setFocus()


class MergeFactsDialog(_TextDialog):
    """Dialog that asks for the text of a merged fact: that of one of the facts, or a new one."""

    def __init__(self, parent: QWidget, facts: Sequence[ExtractedFact]) -> None:
        super().__init__(
            parent,
            self.tr("Merge {n} facts").format(n=len(facts)),
            self.tr(
                "The merged fact keeps the earliest date and all sources. The other facts are listed as replaced and "
                "can be restored."
            ),
            self.tr("Text of the merged fact"),
            self.tr("Merge facts"),
        )
        self._choices = QButtonGroup(self)
        for row, fact in enumerate(facts[:MAX_CHOICES]):
            button = QRadioButton(fact.fact if len(fact.fact) <= MAX_LABEL_LENGTH else f"{fact.fact[: MAX_LABEL_LENGTH - 1]}…")
            button.setToolTip(fact.fact)
            button.clicked.connect(lambda _checked=False, text=fact.fact: self.field.set_text(text))
            self._choices.addButton(button)
            self.column.insertWidget(1 + row, button, 0, Qt.AlignmentFlag.AlignLeft)
        first = self._choices.buttons()[0]
        first.setChecked(True)
        self.field.set_text(facts[0].fact)
        self._update_primary()
        first.setFocus()
