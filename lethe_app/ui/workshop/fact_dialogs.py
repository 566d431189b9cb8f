"""The two dialogs of the list of facts: one asks for a new fact, the other for the words that several become."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QDialog,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from lethe_app.domain.facts import ExtractedFact
from lethe_app.ui.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4, SPACE_6
from lethe_app.ui.workshop.page import explanation
from lethe_app.ui.workshop.prose_field import ProseField

LEAST_WIDTH = 440
MOST = 8
"""Wordings to choose from; with more of them the dialog would not fit."""
LONGEST = 90
"""Characters of a wording beside its button; the field below has all of it."""


class _Asking(QDialog):
    """A title, a field for words, and a primary button that waits for some."""

    def __init__(self, parent: QWidget, title: str, words: str, name: str, button: str) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        headline = QLabel(title)
        headline.setProperty("title", True)
        self.field = ProseField(name, 3, 8)
        self.field.setMinimumWidth(LEAST_WIDTH)
        self.field.textChanged.connect(self._follow)
        cancel = QPushButton(self.tr("Cancel"))
        cancel.setProperty("filled", True)
        cancel.clicked.connect(self.reject)
        self.primary = QPushButton(button)
        self.primary.setProperty("primary", True)
        self.primary.setDefault(True)
        self.primary.clicked.connect(self.accept)
        buttons = QHBoxLayout()
        buttons.setSpacing(SPACE_2)
        buttons.addStretch(1)
        buttons.addWidget(cancel)
        buttons.addWidget(self.primary)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(SPACE_6, SPACE_6, SPACE_6, SPACE_4)
        self.column.setSpacing(SPACE_3)
        for widget in (headline, explanation(words), self.field):
            self.column.addWidget(widget)
        self.column.addSpacing(SPACE_1)
        self.column.addLayout(buttons)
        self._follow()

    @property
    def words(self) -> str:
        return self.field.text.strip()

    def _follow(self) -> None:
        self.primary.setEnabled(bool(self.words))


class NewFact(_Asking):
    """Something to be known from now on."""

    def __init__(self, parent: QWidget, persona: str) -> None:
        super().__init__(
            parent,
            self.tr("What should {name} know?").format(name=persona),
            self.tr("One sentence that can stand alone and names whom it is about, such as “Tomas is afraid of heights.”"),
            self.tr("New fact"),
            self.tr("Add this fact"),
        )
        self.pinned = QCheckBox(self.tr("Always keep it in mind"))
        self.column.insertWidget(3, self.pinned)
        self.field.setFocus()


class OneOfSeveral(_Asking):
    """Which words several facts have in common: those of one of them, or new ones."""

    def __init__(self, parent: QWidget, facts: Sequence[ExtractedFact]) -> None:
        super().__init__(
            parent,
            self.tr("Make one fact of {n}").format(n=len(facts)),
            self.tr(
                "It is known since the first of them was, and keeps all their sources. The others are listed as replaced, "
                "and can be brought back."
            ),
            self.tr("Words of the one fact"),
            self.tr("Make them one"),
        )
        self._choices = QButtonGroup(self)
        for place, fact in enumerate(facts[:MOST]):
            button = QRadioButton(fact.fact if len(fact.fact) <= LONGEST else f"{fact.fact[: LONGEST - 1]}…")
            button.setToolTip(fact.fact)
            button.clicked.connect(lambda _checked=False, text=fact.fact: self.field.set_text(text))
            self._choices.addButton(button)
            self.column.insertWidget(2 + place, button, 0, Qt.AlignmentFlag.AlignLeft)
        first = self._choices.buttons()[0]
        first.setChecked(True)
        self.field.set_text(facts[0].fact)
        self._follow()
        first.setFocus()
