"""Dialogs of the facts page: add a fact, and choose the text of a merged fact."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QButtonGroup, QCheckBox, QRadioButton, QWidget

from lethe_app.domain.facts import ExtractedFact
from lethe_app.ui.core.formatting import truncate_text
from lethe_app.ui.dialogs.dialogs import TextDialog
from lethe_app.ui.widgets.labels import build_small_label

MAX_CHOICES = 8
"""Texts offered as radio buttons; with more of them the dialog would not fit the screen."""
MAX_LABEL_LENGTH = 90
"""Characters of a text beside its radio button; the field below contains the whole text."""


class NewFactDialog(TextDialog):
    """Dialog that asks for the text of a new fact."""

    def __init__(self, parent: QWidget, persona_name: str) -> None:
        title = self.tr("What should {name} know?").format(name=persona_name)
        super().__init__(parent, title, self.tr("Add fact"), self.tr("New fact"))
        text = self.tr(
            "Write one complete sentence that names the person it is about, for example “Tomas is afraid of heights.”"
        )
        self.column.insertWidget(0, build_small_label(text))
        self.pinned = QCheckBox(self.tr("Always include this fact"))
        self.column.addWidget(self.pinned)


class MergeFactsDialog(TextDialog):
    """Dialog that asks for the text of a merged fact: that of one of the facts, or a new one."""

    def __init__(self, parent: QWidget, facts: Sequence[ExtractedFact]) -> None:
        title = self.tr("Merge {n} facts").format(n=len(facts))
        super().__init__(parent, title, self.tr("Merge facts"), self.tr("Text of the merged fact"), facts[0].fact)
        text = self.tr(
            "The merged fact keeps the earliest date and all sources. The other facts are listed as replaced and "
            "can be restored."
        )
        self.column.insertWidget(0, build_small_label(text))
        self._choices = QButtonGroup(self)
        for row, fact in enumerate(facts[:MAX_CHOICES]):
            button = QRadioButton(truncate_text(fact.fact, MAX_LABEL_LENGTH))
            button.setToolTip(fact.fact)
            button.clicked.connect(lambda _checked=False, text=fact.fact: self.field.set_text(text))
            self._choices.addButton(button)
            self.column.insertWidget(1 + row, button, 0, Qt.AlignmentFlag.AlignLeft)
        first = self._choices.buttons()[0]
        first.setChecked(True)
        first.setFocus()
