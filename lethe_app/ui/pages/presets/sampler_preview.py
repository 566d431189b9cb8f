"""What a sampler does, beside its editor: the chances of the next word as they are reshaped, and two short continuations."""

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
"""After the last key, until the model is asked."""
ASKING, TRYING = "sampler words", "sampler try"
CONTINUATIONS = 2


class Taste(Sheet):
    """The model is asked once for a sentence, in the quiet lane; the sliders then only reckon with its answer."""

    def __init__(self, place: PageContext) -> None:
        super().__init__()
        self._place, self._trying = place, place.services.trying
        self._preset = SamplerPreset(name="-")
        self._words: NextWords = EXAMPLE
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self._ask)
        self.beginning = ProseField(self.tr("A beginning to go on from"), 2, 5)
        self.beginning.set_text(BEGINNING)
        self.beginning.edited.connect(lambda _text: self._rest.start())
        self.whose, self.left, self.unseen = explanation(""), explanation(""), explanation("")
        self.bars = WordBars(place.theme)
        self.button = QPushButton(self.tr("Write two continuations"))
        self.button.setProperty("filled", True)
        self.button.clicked.connect(lambda: place.bridge.spawn(self._try(), lane=TRYING))
        self.written = [QLabel() for _number in range(CONTINUATIONS)]
        self._build()
        self._forget = place.services.models.changed.add(lambda _state: self._rest.start())

    def _build(self) -> None:
        inside = self.column
        inside.setSpacing(SPACE_3)
        for widget in (
            headline(self.tr("What it does to the next word")),
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
        """The page is left: nothing is written any more."""
        self._forget()
        self.rest()

    def rest(self) -> None:
        """Nobody looks: the model is asked for nothing."""
        self._rest.stop()
        for lane in (ASKING, TRYING):
            self._place.bridge.cancel(lane)

    def start_preview(self) -> None:
        """Somebody looks."""
        self._ask()

    def show_preset(self, preset: SamplerPreset) -> None:
        """Reckon with this one; what another one wrote goes."""
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
            self.whose.setText(self.tr("As {name} would go on.").format(name=state.model.file.name))
        elif not isinstance(state, Ready):
            self._words = EXAMPLE
            told = self.tr("An example: how a small model goes on from “{beginning}”. With a model loaded, you see its own.")
            self.whose.setText(told.format(beginning=BEGINNING))
        self._reckon()

    def _reckon(self) -> None:
        after = drawn(self._words, self._preset)
        self.bars.show_words(self._words, untouched(self._words), after)
        self.left.setText(
            counted(after.left, self.tr("Only {n} word can come."), self.tr("{n} words can come. Pale: without the sampler."))
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
                    label.setText(self.tr("It had nothing to say, or the conversation came first."))
        except ModelError:
            for label in self.written:
                label.hide()
            raise
        finally:
            self.button.setEnabled(True)


def tr(words: str) -> str:
    """The reader's own language for what belongs to no widget."""
    return QCoreApplication.translate("Taste", words)


def unseen_words(preset: SamplerPreset) -> str:
    """What of it the bars cannot show, because it looks at more than the next word."""
    repeats = preset.repetition_range != 0 and (
        preset.repetition_penalty != 1 or preset.presence_penalty or preset.frequency_penalty
    )
    named = [
        (bool(preset.mirostat), tr("Mirostat, which takes the place of everything but the temperature")),
        (bool(repeats), tr("the repetition penalties")),
        (preset.dry_multiplier > 0, tr("DRY")),
        (preset.xtc_probability > 0 and not preset.mirostat, tr("XTC, which throws a die")),
    ]
    told = [words for is_on, words in named if is_on]
    return tr("Not in these bars: {list}.").format(list=", ".join(told)) if told else ""
