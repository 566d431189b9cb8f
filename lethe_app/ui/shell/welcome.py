"""Welcome page of the first start: asks for the user's name, a persona and a model."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollBar,
    QVBoxLayout,
    QWidget,
)

from lethe_app.domain.model import ModelFile
from lethe_app.services.models.recommendation import READING_SPEED, DownloadAssessment, words_per_second
from lethe_app.services.models.service import is_starter
from lethe_app.ui.core.accessibility import chain_focus
from lethe_app.ui.core.actions import typed_text
from lethe_app.ui.core.avatars import render_avatar
from lethe_app.ui.core.formatting import describe_model
from lethe_app.ui.core.icons import BUTTON_ICON_SIZE, application_icon, load_button_icon, render_icon
from lethe_app.ui.core.labels.models import format_offer, format_speed
from lethe_app.ui.core.palette import ICON, SPACE_1, SPACE_2, SPACE_3, SPACE_4, SPACE_6
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.shell.sidebar_model import PersonaRow
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.choice_card import ChoiceCard
from lethe_app.ui.widgets.flow_layout import FlowLayout
from lethe_app.ui.widgets.labels import create_text_label
from lethe_app.ui.widgets.layouts import ContentArea, build_column, build_row

COLUMN_WIDTH = 680
"""Maximum width of the page's content in one column, in pixels."""
TWO_COLUMNS_WIDTH = 740
"""Width of the page from which the model is chosen beside the name and the persona, so that nothing lies below the fold."""
MAX_WIDTH = 1080
"""Maximum width of the content in two columns."""
MODEL_LINES = 6
"""Lines of what is said about a model; in a narrow window facts and reason take that many."""
AVATAR_SIZE = 44
"""Diameter of the avatars, in pixels."""


class Welcome(QFrame):
    """Page with name, persona, model and a start button. Every choice has a default, so that Enter alone starts a session."""

    start_requested = Signal(str, object, str)
    """Name of the user; path of the model, `DownloadAssessment` of the model to download, or None; and id of the persona."""
    file_requested = Signal()
    folder_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("welcome")
        self._theme = theme
        self._persona_rows: list[PersonaRow] = []
        self.persona_cards: list[ChoiceCard] = []
        self._models: list[ModelFile] = []
        self.model_cards: list[ChoiceCard] = []
        self._offer: DownloadAssessment | None = None
        self.offer_card: ChoiceCard | None = None
        self._columns = 0
        self._page = page = QWidget()
        self._sections = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._sections.setSpacing(0)
        self._person_column, self._model_section = QVBoxLayout(), QVBoxLayout()
        for section in (self._person_column, self._model_section):
            section.setSpacing(SPACE_3)
            self._sections.addLayout(section, 1)
        self._build_name()
        self._build_personas()
        self._build_models()
        for section in (self._person_column, self._model_section):
            section.addStretch(1)
        build_column(1, self._build_greeting(), self._sections, 2, spacing=SPACE_2, margins=SPACE_6, parent=page)
        scroll = ContentArea(page)
        build_column((scroll, 1), self._build_footer(scroll.verticalScrollBar()), parent=self)
        theme.changed.connect(self.apply_theme)

    def _build_greeting(self) -> QHBoxLayout:
        logo = QLabel()
        logo.setPixmap(application_icon().pixmap(56, 56))
        headline = QLabel(self.tr("Welcome to Lethe"))
        headline.setProperty("hero", True)
        description_label = create_text_label(
            self.tr(
                "In Greek myth, whoever drinks from the river Lethe forgets. The characters you meet here remember. Make"
                " three quick choices to start talking to them."
            ),
            "quiet",
        )
        words = build_column(headline, description_label, spacing=SPACE_1)
        return build_row((logo, 0, Qt.AlignmentFlag.AlignTop), (words, 1), spacing=SPACE_4)

    def _build_name(self) -> None:
        self.name_field = QLineEdit()
        self.name_field.setObjectName("hero_field")
        self.name_field.setMaxLength(60)
        self.name_field.setPlaceholderText(self.tr("Your name or a nickname"))
        self.name_field.returnPressed.connect(self._start_with_model)
        self._add_question(self._person_column, self.tr("What should personas call &you?"), self.name_field)
        self._person_column.addWidget(self.name_field)

    def _build_personas(self) -> None:
        self._add_question(self._person_column, self.tr("Choose a persona"))
        self._persona_box = QWidget()
        self._persona_box.setAccessibleName(self.tr("Personas"))
        self._persona_grid = QGridLayout(self._persona_box)
        self._persona_grid.setContentsMargins(0, 0, 0, 0)
        self._persona_grid.setSpacing(SPACE_2)
        self._person_column.addWidget(self._persona_box)

    def _build_models(self) -> None:
        self._add_question(self._model_section, self.tr("Choose a model"))
        self._model_box = QWidget()
        self._model_box.setAccessibleName(self.tr("Models"))
        self._model_column = build_column(spacing=SPACE_2, parent=self._model_box)
        self.search_label = create_text_label(self.tr("Looking for models on this computer…"), "quiet")
        self._model_section.addWidget(self.search_label)
        self._model_section.addWidget(self._model_box)
        self.file_button = build_button(self.tr("Open a GGUF &file…"), self.file_requested.emit)
        self.folder_button = build_button(self.tr("Add a model f&older…"), self.folder_requested.emit)
        buttons = FlowLayout(spacing=SPACE_2)
        buttons.addWidget(self.file_button)
        buttons.addWidget(self.folder_button)
        self._model_section.addLayout(buttons)

    def _build_footer(self, scroll_bar: QScrollBar) -> QFrame:
        """Create the footer, which is outside the scroll area, so that the start button is always visible."""
        privacy_label = create_text_label(self.tr("Everything stays on this computer. No account needed."), "small")
        self.start_button = build_button(self.tr("&Start chatting"), primary=True)
        self.start_button.setMinimumSize(132, 40)
        self.start_button.clicked.connect(self._start_with_model)
        self.skip_button = QPushButton(self.tr("&Look around first"))
        self.skip_button.setToolTip(self.tr("Open Lethe without loading a model; you can choose one at any time"))
        self.skip_button.setMinimumHeight(40)
        self.skip_button.clicked.connect(lambda: self._emit_start(None))
        footer = QFrame()
        footer.setObjectName("foot")
        self._footer_content = inner = QWidget()
        buttons = (self.skip_button, self.start_button)
        build_row((privacy_label, 1), *buttons, spacing=SPACE_2, margins=(SPACE_6, SPACE_3, SPACE_6, SPACE_4), parent=inner)
        around = build_row(inner, parent=footer)
        scroll_bar.rangeChanged.connect(  # keeps the footer aligned with the page, which a scroll bar makes narrower
            lambda _low, high: around.setContentsMargins(0, 0, scroll_bar.sizeHint().width() if high else 0, 0)
        )
        return footer

    def _add_question(self, column: QVBoxLayout, text: str, buddy: QWidget | None = None) -> None:
        label = QLabel()
        label.setProperty("title", True)
        if buddy is not None:
            label.setBuddy(buddy)  # before the text, whose ampersand screen readers would otherwise read
        label.setText(text)
        column.addSpacing(SPACE_4)
        column.addWidget(label)

    def apply_theme(self) -> None:
        """Set icons and avatars for the current theme."""
        palette = self._theme.palette
        for button, sign in ((self.file_button, "model"), (self.folder_button, "folder")):
            button.setIcon(load_button_icon(sign, palette.muted))
            button.setIconSize(BUTTON_ICON_SIZE)
        for card, row in zip(self.persona_cards, self._persona_rows, strict=True):
            card.set_image(self._render_avatar(row))
        for card in self.model_cards:
            card.set_image(self._render_icon("model"))
        if self.offer_card is not None:
            self.offer_card.set_image(self._render_icon("download"))

    # Choices

    def set_personas(self, personas: Sequence[PersonaRow]) -> None:
        for card in self.persona_cards:
            card.deleteLater()
        self._persona_rows = list(personas)
        self.persona_cards = [
            ChoiceCard(self._theme, row.name, row.tagline, self._render_avatar(row), self._persona_box) for row in personas
        ]
        for card in self.persona_cards[:1]:
            card.setChecked(True)
        self._columns = 0
        self._arrange()
        self._set_tab_order()

    def _set_tab_order(self) -> None:
        """Set the tab order from top to bottom; without it the cards, which are created last, would come last. Tab leads to
        the selected card of each question.
        """
        stops = [
            self.name_field,
            *self.persona_cards,
            *([self.offer_card] if self.offer_card is not None else []),
            *self.model_cards,
            self.file_button,
            self.folder_button,
            self.start_button,
        ]
        chain_focus(*stops)
        for card in stops:
            if isinstance(card, ChoiceCard):
                card.setFocusPolicy(Qt.FocusPolicy.StrongFocus if card.isChecked() else Qt.FocusPolicy.ClickFocus)

    def set_models(
        self,
        models: Sequence[ModelFile],
        selected_path: Path | None = None,
        too_large: Collection[Path] = frozenset(),
        speeds: Mapping[Path, float] | None = None,
    ) -> None:
        """Show the models found, best first; `selected_path` is selected, or else the first, which is the recommended one.

        Models in `too_large` do not fit into the free memory; they are shown with a note. `speeds` are the estimated tokens per
        second.
        """
        speeds = speeds or {}
        for card in self.model_cards:
            card.deleteLater()
        self._models = [model for model in models if not model.is_embedding]
        self.model_cards = []
        for position, model in enumerate(self._models):
            card = ChoiceCard(
                self._theme,
                model.name,
                self._describe_choice(model, position, too_large, speeds.get(model.path, 0.0)),
                self._render_icon("model"),
                self._model_box,
                max_lines=MODEL_LINES,
            )
            card.setChecked(model.path == selected_path or (selected_path is None and position == 0))
            self._model_column.addWidget(card)
            self.model_cards.append(card)
        self._set_tab_order()
        self.search_label.setVisible(not self._models)
        self.search_label.setText(
            self.tr("No model was found on this computer. Open a GGUF file, or start without a model and look around first.")
        )

    def set_offer(self, offer: DownloadAssessment | None) -> None:
        """Offer a model for download above those on this computer; it is never selected by default."""
        if self.offer_card is not None:
            self.offer_card.deleteLater()
        self._offer, self.offer_card = offer, None
        if offer is not None:
            later = self.tr("You can chat with the other model until the download is complete.")
            self.offer_card = ChoiceCard(
                self._theme,
                self.tr("Recommended: {name}").format(name=offer.model.name),
                f"{format_offer(offer)}\n{later if self._models else offer.model.why}",
                self._render_icon("download"),
                self._model_box,
                max_lines=MODEL_LINES,
            )
            self._model_column.insertWidget(0, self.offer_card)
        self._set_tab_order()

    def _describe_choice(self, model: ModelFile, position: int, too_large: Collection[Path], speed: float) -> str:
        facts = " · ".join(filter(None, (describe_model(model), format_speed(speed))))
        if model.path in too_large:
            reason = self.tr("Needs more memory than is currently free.")
        elif is_starter(model):
            reason = self.tr("Ready to use and good for a first try; too small to make much of its memories.")
        elif speed and words_per_second(speed) < READING_SPEED:
            reason = self.tr("More capable than the starter model, but you will wait for its replies.")
        else:
            best = self.tr("Recommended: already on this computer, fits in memory and is more capable than the starter model.")
            reason = best if position == 0 else ""
        return f"{facts}\n{reason}".strip()

    def _render_icon(self, name: str) -> QPixmap:
        return render_icon(name, self._theme.palette.muted, ICON, self.devicePixelRatioF())

    def _render_avatar(self, row: PersonaRow) -> QPixmap:
        return render_avatar(
            row.avatar_path, row.persona_id, row.name, AVATAR_SIZE, self._theme.palette, self.devicePixelRatioF()
        )

    def _arrange(self) -> None:
        """Arrange the sections side by side or one below the other, and the personas in as many columns as have room."""
        are_beside = self.width() >= TWO_COLUMNS_WIDTH
        direction = QBoxLayout.Direction.LeftToRight if are_beside else QBoxLayout.Direction.TopToBottom
        self._sections.setDirection(direction)
        self._sections.setSpacing(SPACE_6 if are_beside else 0)
        for widget in (self._page, self._footer_content):
            widget.setMaximumWidth((MAX_WIDTH if are_beside else COLUMN_WIDTH) + 2 * SPACE_6)
        columns = 2 if self.width() >= 460 else 1
        if columns == self._columns:
            return
        self._columns = columns
        for index, card in enumerate(self.persona_cards):
            self._persona_grid.addWidget(card, index // columns, index % columns)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    # User actions

    def _start_with_model(self) -> None:
        models = zip(self._models, self.model_cards, strict=True)
        chosen = next((model.path for model, card in models if card.isChecked()), None)
        self._emit_start(self._offer if self.offer_card is not None and self.offer_card.isChecked() else chosen)

    def _emit_start(self, model: Path | DownloadAssessment | None) -> None:
        rows = zip(self._persona_rows, self.persona_cards, strict=True)
        persona_id = next((row.persona_id for row, card in rows if card.isChecked()), "")
        self._set_enabled(self.tr("One moment…"), is_enabled=False)
        self.start_requested.emit(self.name_field.text().strip(), model, persona_id)

    def enable_retry(self) -> None:
        """Enable the buttons for another try after an error."""
        self._set_enabled(self.tr("&Start chatting"), is_enabled=True)

    def _set_enabled(self, start_text: str, *, is_enabled: bool) -> None:
        for button in (self.start_button, self.skip_button):
            button.setEnabled(is_enabled)
        self.start_button.setText(start_text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Start on Enter. Letters that nothing else takes, such as after a click on a card, are the beginning of the name."""
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.start_button.isEnabled():
            self._start_with_model()
        elif text := typed_text(event):
            self.name_field.setFocus()
            self.name_field.insert(text)
        else:
            super().keyPressEvent(event)
