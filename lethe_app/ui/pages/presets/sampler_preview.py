"""Preview beside the sampler form: next-token probabilities before and after sampling, and two short continuations."""

from __future__ import annotations

from contextlib import aclosing

from PySide6.QtCore import QCoreApplication, Qt, QTimer
from PySide6.QtWidgets import QLabel, QPushButton

from lethe_app.domain.model import NextWords
from lethe_app.domain.presets import SamplerPreset
from lethe_app.errors import ModelError
from lethe_app.services.events import Ready
from lethe_app.ui.core.formatting import counted
from lethe_app.ui.core.palette import SPACE_3
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.page import explanation, headline
from lethe_app.ui.pages.presets.example_logits import BEGINNING, EXAMPLE
from lethe_app.ui.pages.presets.probability_bars import WordBars
from lethe_app.ui.pages.presets.sampler_chain import drawn, untouched
from lethe_app.ui.widgets.card_column import Sheet
from lethe_app.ui.widgets.text_area import ProseField

REST_MS = 400
"""Pause in typing, in milliseconds, before the model is queried."""
ASKING, TRYING = "sampler words", "sampler try"
CONTINUATIONS = 2


class Taste(Sheet):
    """Preview of a sampler preset. The model computes the logits of a text once, at background priority; presets are applied
    to them.
    """

    def __init__(self, place: PageContext) -> None:
        super().__init__()
        self._place, self._trying = place, place.services.trying
        self._preset = SamplerPreset(name="-")
        self._words: NextWords = EXAMPLE
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self._ask)
        self.beginning = ProseField(self.tr("Text to continue"), 2, 5)
        self.beginning.set_text(BEGINNING)
        self.beginning.edited.connect(lambda _text: self._rest.start())
        self.whose, self.left, self.unseen = explanation(""), explanation(""), explanation("")
        self.bars = WordBars(place.theme)
        self.button = QPushButton(self.tr("Generate two continuations"))
        self.button.setProperty("filled", True)
        self.button.clicked.connect(lambda: place.bridge.spawn(self._try(), lane=TRYING))
        self.written = [QLabel() for _number in range(CONTINUATIONS)]
        self._build()
        self._forget = place.services.models.changed.add(lambda _state: self._rest.start())

    def _build(self) -> None:
        inside = self.column
        inside.setSpacing(SPACE_3)
        for widget in (
            headline(self.tr("Effect on next token")),
            self.beginning,
            self.whose,
            self.bars,
            self.left,
            self.unseen,
            self.button,
        ):
            self.add(widget)
        for number, label in enumerate(self.written, 1):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setAccessibleName(self.tr("Continuation {number}").format(number=number))
            label.hide()
            self.add(label)

    def close_taste(self) -> None:
        """Disconnect from services and cancel all work because the page is closing."""
        self._forget()
        self.rest()

    def rest(self) -> None:
        """Cancel all work while the preview is not visible."""
        self._rest.stop()
        for lane in (ASKING, TRYING):
            self._place.bridge.cancel(lane)

    def start_preview(self) -> None:
        """Query the model because the preview becomes visible."""
        self._ask()

    def show_preset(self, preset: SamplerPreset) -> None:
        """Show the effect of a preset; continuations generated with other values are removed."""
        if preset.model_dump(exclude={"name"}) != self._preset.model_dump(exclude={"name"}):
            self._place.bridge.cancel(TRYING)
            for label in self.written:
                label.hide()
        self._preset = preset
        self._reckon()

    # the chances

    def _ask(self) -> None:
        self._place.bridge.spawn(self._weigh(), lane=ASKING)

    async def _weigh(self) -> None:
        state, beginning = self._place.services.models.state, self.beginning.text
        self.button.setEnabled(isinstance(state, Ready) and bool(beginning.strip()))
        if isinstance(state, Ready) and beginning.strip():
            words = await self._trying.next_words(beginning)
            if not words.words:
                self._rest.start()  # the conversation came first
                return
            self._words = words
            self.whose.setText(self.tr("Predicted by {name}.").format(name=state.model.file.name))
        elif not isinstance(state, Ready):
            self._words = EXAMPLE
            told = self.tr("Example predictions of a small model for “{beginning}”. Load a model to see its own.")
            self.whose.setText(told.format(beginning=BEGINNING))
        self._reckon()

    def _reckon(self) -> None:
        after = drawn(self._words, self._preset)
        self.bars.show_words(self._words, untouched(self._words), after)
        self.left.setText(
            counted(after.left, self.tr("{n} possible token."), self.tr("{n} possible tokens. Pale bars: without the sampler."))
        )
        self.unseen.setText(unseen_words(self._preset))
        self.unseen.setVisible(bool(self.unseen.text()))

    # the words

    async def _try(self) -> None:
        beginning = self.beginning.text.rstrip()
        self.button.setEnabled(False)
        try:
            for label in self.written:
                label.setText("…")
                label.show()
            for label in self.written:
                text = ""
                async with aclosing(self._trying.go_on(beginning, self._preset)) as pieces:
                    async for piece in pieces:
                        text += piece
                        label.setText(f"…{text.rstrip()} …")
                if not text.strip():
                    label.setText(self.tr("No text was generated: the model returned nothing or was needed for the chat."))
        except ModelError:
            for label in self.written:
                label.hide()
            raise
        finally:
            self.button.setEnabled(True)


def tr(words: str) -> str:
    """Translate a text in the context of the preview."""
    return QCoreApplication.translate("Taste", words)


def unseen_words(preset: SamplerPreset) -> str:
    """Return which samplers of a preset the bars leave out because they depend on more than the logits."""
    repeats = preset.repetition_range != 0 and (
        preset.repetition_penalty != 1 or preset.presence_penalty or preset.frequency_penalty
    )
    named = [
        (bool(preset.mirostat), tr("Mirostat (replaces everything except temperature)")),
        (bool(repeats), tr("repetition penalties")),
        (preset.dry_multiplier > 0, tr("DRY")),
        (preset.xtc_probability > 0 and not preset.mirostat, tr("XTC (random)")),
    ]
    told = [words for is_on, words in named if is_on]
    return tr("Not shown in the bars: {list}.").format(list=", ".join(told)) if told else ""
