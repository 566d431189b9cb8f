"""The two dialogs of the list of facts: one asks for a new fact, the other for the words that several become."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QButtonGroup, QCheckBox, QRadioButton, QWidget

from lethe_app.domain.facts import ExtractedFact
from lethe_app.ui.core.palette import SPACE_3
from lethe_app.ui.dialogs.dialogs import QuestionDialog
from lethe_app.ui.pages.page import explanation
from lethe_app.ui.widgets.text_area import ProseField

LEAST_WIDTH = 440
MOST = 8
"""Wordings to choose from; with more of them the dialog would not fit."""
LONGEST = 90
"""Characters of a wording beside its button; the field below has all of it."""


class _Wording(QuestionDialog):
    """A field for words, and a primary button that waits for some."""

    def __init__(self, parent: QWidget, title: str, words: str, name: str, button: str) -> None:
        super().__init__(parent, title, button, spacing=SPACE_3)
        self.field = ProseField(name, 3, 8)
        self.field.setMinimumWidth(LEAST_WIDTH)
        self.field.textChanged.connect(self._follow)
        self.column.addWidget(explanation(words))
        self.column.addWidget(self.field)
        self._follow()

    @property
    def words(self) -> str:
        return self.field.text.strip()

    def _follow(self) -> None:
        self.primary.setEnabled(bool(self.words))


class NewFact(_Wording):
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
        self.column.addWidget(self.pinned)
        self.field.setFocus()


class OneOfSeveral(_Wording):
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
            self.column.insertWidget(1 + place, button, 0, Qt.AlignmentFlag.AlignLeft)
        first = self._choices.buttons()[0]
        first.setChecked(True)
        self.field.set_text(facts[0].fact)
        self._follow()
        first.setFocus()
