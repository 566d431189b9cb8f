"""Preview beside the sampler form: next-token probabilities before and after sampling, and two short continuations."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing

from PySide6.QtCore import QCoreApplication, QLocale, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lethe_app.domain.model import NextWords, SamplingStep
from lethe_app.domain.presets import SamplerPreset
from lethe_app.errors import ModelError
from lethe_app.services.events import ModelReady
from lethe_app.services.models.service import ModelService
from lethe_app.services.models.trial import EXAMPLE_TEXT, ModelTrial
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.labels.fields import field_title
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3
from lethe_app.ui.core.theme import Theme, mix_colours
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.card_column import CardColumn
from lethe_app.ui.widgets.labels import build_heading, build_small_label, create_text_label
from lethe_app.ui.widgets.text_area import TextAreaField

QUERY_DELAY_MS = 400
"""Pause in typing, in milliseconds, before the model is queried."""
EFFECT_DELAY_MS = 60
"""Pause in changing values, in milliseconds, before their effect is computed."""
LOGITS_TASK, EFFECT_TASK, CONTINUATIONS_TASK = "sampler words", "sampler effect", "sampler try"
TRUNCATING_SAMPLERS = {
    "top-n-sigma": "top_n_sigma",
    "top-k": "top_k",
    "typical": "typical_p",
    "top-p": "top_p",
    "min-p": "min_p",
}
"""Name of a sampler that removes tokens, as the engine calls it → field of the preset."""
CONTINUATION_COUNT = 2


MAX_BARS = 12
"""Tokens with a bar of their own."""
MAX_WORD_SHARE = 0.34
"""Share of the width that the token texts may take."""


class ProbabilityChart(QWidget):
    """Chart with a pale bar for the model's probability and a full bar for that after sampling; removed tokens are crossed
    out.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.rows: list[tuple[str, float, float]] = []
        """Token text, probability before and after sampling; the last row stands for all other tokens."""
        self.setAccessibleName(tr("Next-token probabilities"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def show_probabilities(self, next_words: NextWords, before: SamplingStep, after: SamplingStep) -> None:
        words = (display_token(word) for word, _logit in next_words.words)
        listed = list(zip(words, before.probabilities, after.probabilities, strict=True))
        others_before = before.others + sum(chance for _word, chance, _after in listed[MAX_BARS:])
        others_after = after.others + sum(chance for _word, _before, chance in listed[MAX_BARS:])
        self.rows = [*listed[:MAX_BARS], (tr("other tokens"), others_before, others_after)] if listed else []
        descriptions = (f"{word} {format_percent(now)}" for word, _before, now in self.rows)
        self.setAccessibleDescription(", ".join(descriptions))
        self.setVisible(bool(self.rows))
        self.updateGeometry()
        self.update()

    @property
    def _line_height(self) -> int:
        return self.fontMetrics().height() + SPACE_2

    def sizeHint(self) -> QSize:
        return QSize(240, self._line_height * (MAX_BARS + 1))

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self._line_height * (MAX_BARS + 1))

    def paintEvent(self, _event: QPaintEvent) -> None:
        if not self.rows:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        metrics = QFontMetrics(self.font())
        word_width = max(metrics.horizontalAdvance(word) for word, _before, _after in self.rows) + SPACE_2
        word_width = min(word_width, round(self.width() * MAX_WORD_SHARE))
        number_width = metrics.horizontalAdvance(format_percent(1.0)) + SPACE_2
        highest = max(max(before, after) for _word, before, after in self.rows) or 1.0
        for index, row in enumerate(self.rows):
            self._paint_row(
                painter, index * self._line_height, row, word_width, self.width() - word_width - number_width, highest
            )
        painter.end()

    def _paint_row(
        self, painter: QPainter, top: int, row: tuple[str, float, float], word_width: int, bar_width: int, highest: float
    ) -> None:
        word, before, after = row
        palette, height = self._theme.palette, self._line_height - SPACE_1
        font = self.font()
        font.setStrikeOut(not after)
        painter.setFont(font)
        painter.setPen(QColor(palette.text if after else palette.muted))
        elided = self.fontMetrics().elidedText(word, Qt.TextElideMode.ElideRight, word_width - SPACE_2)
        painter.drawText(QRectF(0, top, word_width - SPACE_2, height), Qt.AlignmentFlag.AlignVCenter, elided)
        painter.setPen(Qt.PenStyle.NoPen)
        for share, colour, inset in (
            (before, mix_colours(palette.background, palette.text, 0.16), 0),
            (after, palette.water, SPACE_1),
        ):
            painter.setBrush(QColor(colour))
            bar = QRectF(word_width, top + inset, max(bar_width * share / highest, 2.0 if share else 0.0), height - 2 * inset)
            painter.drawRoundedRect(bar, 2, 2)
        font.setStrikeOut(False)
        painter.setFont(font)
        painter.setPen(QColor(palette.text if after else palette.muted))
        number_rect = QRectF(word_width + bar_width, top, self.width() - word_width - bar_width, height)
        painter.drawText(number_rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, format_percent(after))


def display_token(token: str) -> str:
    """Return a token in readable form, with visible whitespace; an empty token is the end of the text."""
    if not token:
        return tr("(end of text)")
    return token.strip() or token.replace("\n", "↵").replace(" ", "␣").replace("\t", "⇥")


def format_percent(chance: float) -> str:
    """Return a probability in percent, such as “31 %”; a dash for zero."""
    if not chance:
        return "–"
    if chance < 0.01:
        return tr("< {percent} %").format(percent=1)
    return tr("{percent} %").format(percent=QLocale().toString(round(100 * chance)))


class SamplerPreview(CardColumn):
    """Preview of a sampler preset. The model computes the logits of a text once, at background priority; the engine applies
    presets to them in a process of its own, which loads no model. The last result stays until the next one is there.
    """

    def __init__(self, context: PageContext, model_trial: ModelTrial, models: ModelService) -> None:
        super().__init__()
        self._context, self._trial_service = context, model_trial
        self._models = models
        self._preset = SamplerPreset(name="-")
        self._next_words = NextWords(())
        self._effect_timer = QTimer(self, singleShot=True, interval=EFFECT_DELAY_MS)
        self._effect_timer.timeout.connect(lambda: context.tasks.start_task(self._load_effect(), key=EFFECT_TASK))
        self._query_timer = QTimer(self, singleShot=True, interval=QUERY_DELAY_MS)
        self._query_timer.timeout.connect(self.start_preview)
        self.text_field = TextAreaField(self.tr("Text to continue"), 2, 5)
        self.text_field.set_text(EXAMPLE_TEXT)
        self.text_field.edited.connect(lambda _text: self._query_timer.start())
        self.source_label, self.count_label, self.steps_label, self.omitted_label = (build_small_label("") for _ in range(4))
        self.bars = ProbabilityChart(context.theme)
        self.generate_button = build_button(self.tr("Generate two continuations"))
        self.generate_button.clicked.connect(
            lambda: context.tasks.start_task(self._generate_continuations(), key=CONTINUATIONS_TASK)
        )
        self.continuation_labels = [create_text_label("") for _number in range(CONTINUATION_COUNT)]
        self._build()
        self._unsubscribe = models.changed.add(lambda _state: self._query_timer.start())

    def _build(self) -> None:
        content_column = self.column
        content_column.setSpacing(SPACE_3)
        for widget in (
            build_heading(self.tr("Effect on next token")),
            self.text_field,
            self.source_label,
            self.bars,
            self.count_label,
            self.steps_label,
            self.omitted_label,
            self.generate_button,
        ):
            self.add_widget(widget)
        self.bars.hide()
        for number, label in enumerate(self.continuation_labels, 1):
            label.setAccessibleName(self.tr("Continuation {number}").format(number=number))
            label.hide()
            self.add_widget(label)

    def close_preview(self) -> None:
        """Disconnect from services and cancel all work because the page is closing."""
        self._unsubscribe()
        self.stop_preview()
        self._context.tasks.start_task(self._trial_service.end_preview())

    def stop_preview(self) -> None:
        """Cancel all work while the preview is not visible."""
        self._query_timer.stop()
        self._effect_timer.stop()
        for key in (LOGITS_TASK, EFFECT_TASK, CONTINUATIONS_TASK):
            self._context.tasks.cancel(key)

    def show_preset(self, preset: SamplerPreset) -> None:
        """Show the effect of a preset; continuations generated with other values are removed."""
        if preset.model_dump(exclude={"name"}) != self._preset.model_dump(exclude={"name"}):
            self._context.tasks.cancel(CONTINUATIONS_TASK)
            for label in self.continuation_labels:
                label.hide()
        self._preset = preset
        self._effect_timer.start()

    # Probabilities of the next token.

    def start_preview(self) -> None:
        """Query the model, because the preview becomes visible or its text or the model has changed."""
        self._context.tasks.start_task(self._load_logits(), key=LOGITS_TASK)

    async def _load_logits(self) -> None:
        state, text = self._models.state, self.text_field.text
        is_ready = isinstance(state, ModelReady)
        self.generate_button.setEnabled(is_ready and bool(text.strip()))
        if is_ready and not text.strip():
            return
        if not self.bars.rows:
            self.count_label.setText(self.tr("Computing the next token…"))
        try:
            next_words = await self._trial_service.predict_next_words(text)
        except ModelError as error:
            self._show_failure(error)
            return
        if not next_words.words:
            self._query_timer.start()  # the conversation came first
            return
        self._next_words = next_words
        if isinstance(state, ModelReady):
            self.source_label.setText(self.tr("Predicted by {name}.").format(name=state.model.file.name))
        else:
            source_text = self.tr("Example predictions of a small model for “{beginning}”. Load a model to see its own.")
            self.source_label.setText(source_text.format(beginning=EXAMPLE_TEXT))
        self._effect_timer.start()

    async def _load_effect(self) -> None:
        next_words, preset = self._next_words, self._preset
        if not next_words.words:
            return
        try:
            steps = await self._trial_service.preview_sampling(preset, next_words)
        except ModelError as error:
            self._show_failure(error)
            return
        self.bars.show_probabilities(next_words, steps[0], steps[-1])
        self.count_label.setText(
            format_count(
                steps[-1].kept_count,
                self.tr("{n} possible token."),
                self.tr("{n} possible tokens. Pale bars: without the sampler."),
            )
        )
        for label, text in ((self.steps_label, format_steps(steps)), (self.omitted_label, format_omitted_samplers(preset))):
            label.setText(text)
            label.setVisible(bool(text))

    def _show_failure(self, error: ModelError) -> None:
        nothing = SamplingStep("", (), 0.0, 0)
        self.bars.show_probabilities(NextWords(()), nothing, nothing)
        self.count_label.setText(self.tr("The effect cannot be shown: {reason}").format(reason=error.message))
        self.steps_label.hide()

    # Continuations.

    async def _generate_continuations(self) -> None:
        beginning = self.text_field.text.rstrip()
        self.generate_button.setEnabled(False)
        try:
            for label in self.continuation_labels:
                label.setText("…")
                label.show()
            for label in self.continuation_labels:
                text = ""
                async with aclosing(self._trial_service.continue_text(beginning, self._preset)) as pieces:
                    async for piece in pieces:
                        text += piece
                        label.setText(f"…{text.rstrip()} …")
                if not text.strip():
                    label.setText(self.tr("No text was generated: the model returned nothing or was needed for the chat."))
        except ModelError:
            for label in self.continuation_labels:
                label.hide()
            raise
        finally:
            self.generate_button.setEnabled(True)


def tr(text: str) -> str:
    """Translate a text in the context of the preview."""
    return QCoreApplication.translate("SamplerPreview", text)


def format_steps(steps: Sequence[SamplingStep]) -> str:
    """Return how many tokens each sampler that removes tokens has left; empty without such samplers."""
    counts = [
        tr("{sampler} {count}").format(sampler=field_title(SamplerPreset, field), count=QLocale().toString(step.kept_count))
        for step in steps
        if (field := TRUNCATING_SAMPLERS.get(step.sampler))
    ]
    return tr("Tokens left: {list}.").format(list=", ".join(counts)) if counts else ""


def format_omitted_samplers(preset: SamplerPreset) -> str:
    """Return which samplers of a preset the bars leave out because they depend on more than the logits."""
    has_repetition_penalty = preset.repetition_range != 0 and (
        preset.repetition_penalty != 1 or preset.presence_penalty or preset.frequency_penalty
    )
    candidates = [
        (bool(preset.mirostat), tr("Mirostat (replaces everything except temperature)")),
        (bool(has_repetition_penalty), tr("repetition penalties")),
        (preset.dry_multiplier > 0, tr("DRY")),
        (preset.xtc_probability > 0 and not preset.mirostat, tr("XTC (random)")),
    ]
    omitted = [words for is_on, words in candidates if is_on]
    return tr("Not shown in the bars: {list}.").format(list=", ".join(omitted)) if omitted else ""
