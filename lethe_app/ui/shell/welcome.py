"""Welcome page of the first start: asks for the user's name, a persona and a model."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QScrollBar,
    QVBoxLayout,
    QWidget,
)

from lethe_app.domain.model import ModelFile
from lethe_app.ui.core.avatars import avatar
from lethe_app.ui.core.formatting import described
from lethe_app.ui.core.icons import BEFORE_WORDS, application_icon, icon_before_words, picture
from lethe_app.ui.core.palette import ICON, SPACE_2, SPACE_3, SPACE_4, SPACE_6, SPACE_8
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.shell.sidebar_model import PersonaRow
from lethe_app.ui.shell.welcome_card import ChoiceCard

COLUMN = 680
"""Maximum width of the page's content, in pixels."""
FACE = 44
"""Diameter of the avatars, in pixels."""


class Welcome(QFrame):
    """Page with name, persona, model and a start button. Every choice has a default, so that Enter alone starts a session."""

    begun = Signal(str, object, str)
    """Name of the user, path of the model or None, and id of the persona."""
    file_wanted = Signal()
    folder_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("welcome")
        self._theme = theme
        self._persona_rows: list[PersonaRow] = []
        self._persona_cards: list[ChoiceCard] = []
        self._models: list[ModelFile] = []
        self._model_cards: list[ChoiceCard] = []
        self._columns = 0
        page = QWidget()
        page.setObjectName("welcome_page")
        self._column = QVBoxLayout(page)
        self._column.setContentsMargins(SPACE_6, SPACE_8, SPACE_6, SPACE_6)
        self._column.setSpacing(SPACE_3)
        self._column.addStretch(1)
        self._build_greeting()
        self._build_personas()
        self._build_models()
        self._column.addStretch(2)
        page.setMaximumWidth(COLUMN + 2 * SPACE_6)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        scroll.viewport().setAutoFillBackground(False)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(page)
        around = QVBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.setSpacing(0)
        around.addWidget(scroll, 1)
        around.addWidget(self._end(scroll.verticalScrollBar()))
        theme.changed.connect(self.dress)

    def _build_greeting(self) -> None:
        sign = QLabel()
        sign.setPixmap(application_icon().pixmap(56, 56))
        headline = QLabel(self.tr("Welcome to Lethe"))
        headline.setProperty("hero", True)
        words = QLabel(
            self.tr(
                "In Greek myth, whoever drinks from the river Lethe forgets. The characters you meet here remember. Make"
                " three quick choices to start talking to them."
            )
        )
        words.setProperty("quiet", True)
        words.setWordWrap(True)
        self.name = QLineEdit()
        self.name.setObjectName("hero_field")
        self.name.setMaxLength(60)
        self.name.setPlaceholderText(self.tr("Your name or a nickname"))
        self.name.returnPressed.connect(self._begin)
        top = QHBoxLayout()
        top.setSpacing(SPACE_4)
        top.addWidget(sign)
        top.addWidget(headline, 1)
        self._column.addLayout(top)
        self._column.addWidget(words)
        self._question(self.tr("What should personas call &you?"), self.name)
        self._column.addWidget(self.name)

    def _build_personas(self) -> None:
        self._question(self.tr("Choose a persona"))
        self._personas = QWidget()
        self._personas.setAccessibleName(self.tr("Personas"))
        self._persona_grid = QGridLayout(self._personas)
        self._persona_grid.setContentsMargins(0, 0, 0, 0)
        self._persona_grid.setSpacing(SPACE_2)
        self._column.addWidget(self._personas)

    def _build_models(self) -> None:
        self._question(self.tr("Choose a model"))
        self._model_box = QWidget()
        self._model_box.setAccessibleName(self.tr("Models"))
        self._model_column = QVBoxLayout(self._model_box)
        self._model_column.setContentsMargins(0, 0, 0, 0)
        self._model_column.setSpacing(SPACE_2)
        self.searching = QLabel(self.tr("Looking for models on this computer…"))
        self.searching.setProperty("quiet", True)
        self.searching.setWordWrap(True)
        self._column.addWidget(self.searching)
        self._column.addWidget(self._model_box)
        self.file = QPushButton(self.tr("Open a GGUF &file…"))
        self.file.clicked.connect(self.file_wanted)
        self.folder = QPushButton(self.tr("Add a model f&older…"))
        self.folder.clicked.connect(self.folder_wanted)
        row = QHBoxLayout()
        row.setSpacing(SPACE_2)
        for button in (self.file, self.folder):
            button.setProperty("filled", True)
            row.addWidget(button)
        row.addStretch(1)
        self._column.addLayout(row)

    def _end(self, bar: QScrollBar) -> QFrame:
        """Create the footer, which is outside the scroll area, so that the start button is always visible."""
        promise = QLabel(self.tr("Everything stays on this computer. No account needed."))
        promise.setProperty("small", True)
        promise.setWordWrap(True)
        self.begin = QPushButton(self.tr("&Start chatting"))
        self.begin.setProperty("primary", True)
        self.begin.setMinimumSize(132, 40)
        self.begin.clicked.connect(self._begin)
        self.look_around = QPushButton(self.tr("&Look around first"))
        self.look_around.setToolTip(self.tr("Open Lethe without loading a model; you can choose one at any time"))
        self.look_around.setMinimumHeight(40)
        self.look_around.clicked.connect(self._look_around)
        foot = QFrame()
        foot.setObjectName("foot")
        inner = QWidget()
        inner.setMaximumWidth(COLUMN + 2 * SPACE_6)
        row = QHBoxLayout(inner)
        row.setContentsMargins(SPACE_6, SPACE_3, SPACE_6, SPACE_4)
        row.addWidget(promise, 1)
        row.addWidget(self.look_around)
        row.addWidget(self.begin)
        around = QHBoxLayout(foot)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(inner)
        bar.rangeChanged.connect(  # a bar beside the page moves its middle, so the foot's middle moves along
            lambda _low, high: around.setContentsMargins(0, 0, bar.sizeHint().width() if high else 0, 0)
        )
        return foot

    def _question(self, words: str, buddy: QWidget | None = None) -> None:
        label = QLabel(words)
        label.setProperty("title", True)
        if buddy is not None:
            label.setBuddy(buddy)
        self._column.addSpacing(SPACE_4)
        self._column.addWidget(label)

    def dress(self) -> None:
        """Set icons and avatars for the current theme."""
        palette = self._theme.palette
        for button, sign in ((self.file, "model"), (self.folder, "folder")):
            button.setIcon(icon_before_words(sign, palette.muted))
            button.setIconSize(BEFORE_WORDS)
        for card, row in zip(self._persona_cards, self._persona_rows, strict=True):
            card.set_face(self._face(row))
        for card in self._model_cards:
            card.set_face(self._chip())

    # Choices

    def set_personas(self, personas: Sequence[PersonaRow]) -> None:
        for card in self._persona_cards:
            card.deleteLater()
        self._persona_rows = list(personas)
        self._persona_cards = [self._card(row) for row in personas]
        for card in self._persona_cards[:1]:
            card.setChecked(True)
        self._columns = 0
        self._place_personas()
        self._order_tabs()

    def _order_tabs(self) -> None:
        """Set the tab order from top to bottom; without it the cards, which are created last, would come last."""
        stops = [self.name, *self._persona_cards, *self._model_cards, self.file, self.folder, self.begin]
        for one, next_one in pairwise(stops):
            QWidget.setTabOrder(one, next_one)

    def _card(self, row: PersonaRow) -> ChoiceCard:
        return ChoiceCard(self._theme, row.name, row.tagline, self._face(row), self._personas)

    def set_models(
        self, models: Sequence[ModelFile], chosen: Path | None = None, too_large: Collection[Path] = frozenset()
    ) -> None:
        """Show the models found, best first; `chosen` is selected, or else the first, which is the recommended one.

        Models in `too_large` do not fit into the free memory; they are shown with a note.
        """
        for card in self._model_cards:
            card.deleteLater()
        self._models = [model for model in models if not model.is_embedding]
        self._model_cards = []
        for place, model in enumerate(self._models):
            card = ChoiceCard(self._theme, model.name, self._reason(model, place, too_large), self._chip(), self._model_box)
            card.setChecked(model.path == chosen or (chosen is None and place == 0))
            self._model_column.addWidget(card)
            self._model_cards.append(card)
        self._order_tabs()
        self.searching.setVisible(not self._models)
        self.searching.setText(
            self.tr("No model was found on this computer. Open a GGUF file, or start without a model and look around first.")
        )

    def _reason(self, model: ModelFile, place: int, too_large: Collection[Path]) -> str:
        if model.path in too_large:
            why = self.tr("Needs more memory than is currently free.")
        elif "starter" in model.source.casefold():
            why = self.tr("Small and ready to use: good for a first try.")
        else:
            best = self.tr("Recommended: already on this computer, fits in memory and is more capable than the starter model.")
            why = best if place == 0 else ""
        return f"{described(model)}\n{why}".strip()

    def _chip(self) -> QPixmap:
        return picture("model", self._theme.palette.muted, ICON, self.devicePixelRatioF())

    def _face(self, row: PersonaRow) -> QPixmap:
        return avatar(row.picture, row.persona_id, row.name, FACE, self._theme.palette, self.devicePixelRatioF())

    def _place_personas(self) -> None:
        columns = 3 if self.width() >= 700 else 2 if self.width() >= 460 else 1
        if columns == self._columns:
            return
        self._columns = columns
        for place, card in enumerate(self._persona_cards):
            self._persona_grid.addWidget(card, place // columns, place % columns)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_personas()

    # User actions

    def _begin(self) -> None:
        models = zip(self._models, self._model_cards, strict=True)
        self._end_with(next((model.path for model, card in models if card.isChecked()), None))

    def _look_around(self) -> None:
        self._end_with(None)

    def _end_with(self, model: Path | None) -> None:
        rows = zip(self._persona_rows, self._persona_cards, strict=True)
        persona = next((row.persona_id for row, card in rows if card.isChecked()), "")
        for button in (self.begin, self.look_around):
            button.setEnabled(False)
        self.begin.setText(self.tr("One moment…"))
        self.begun.emit(self.name.text().strip(), model, persona)

    def again(self) -> None:
        """Enable the buttons for another try after an error."""
        for button in (self.begin, self.look_around):
            button.setEnabled(True)
        self.begin.setText(self.tr("&Start chatting"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.begin.isEnabled():
            self._begin()
        else:
            super().keyPressEvent(event)
