"""Bar chart of next-token probabilities, before and after sampling."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLocale, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lethe_app.domain.model import NextWords, SamplingStep
from lethe_app.ui.core.palette import SPACE_1, SPACE_2
from lethe_app.ui.core.theme import Theme, mix_colours

MAX_BARS = 12
"""Tokens with a bar of their own."""
MAX_WORD_SHARE = 0.34
"""Share of the width that the token texts may take."""


def tr(text: str) -> str:
    """Translate a text in the context of the bars."""
    return QCoreApplication.translate("Bars", text)


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
