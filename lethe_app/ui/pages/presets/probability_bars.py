"""Bar chart of next-token probabilities, before and after sampling."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLocale, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lethe_app.domain.model import NextWords
from lethe_app.ui.core.palette import SPACE_1, SPACE_2
from lethe_app.ui.core.theme import Theme, mixed
from lethe_app.ui.pages.presets.sampler_chain import SampledChances

SHOWN = 12
"""Tokens with a bar of their own."""
WIDEST_WORD = 0.34
"""Share of the width that the token texts may take."""


def tr(words: str) -> str:
    """Translate a text in the context of the bars."""
    return QCoreApplication.translate("Bars", words)


class WordBars(QWidget):
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

    def show_words(self, words: NextWords, before: SampledChances, after: SampledChances) -> None:
        named = list(zip((spelled(word) for word, _logit in words.words), before.chances, after.chances, strict=True))
        others_before = before.others + sum(chance for _word, chance, _after in named[SHOWN:])
        others_after = after.others + sum(chance for _word, _before, chance in named[SHOWN:])
        self.rows = [*named[:SHOWN], (tr("other tokens"), others_before, others_after)] if named else []
        told = (f"{word} {percent(now)}" for word, _before, now in self.rows)
        self.setAccessibleDescription(", ".join(told))
        self.updateGeometry()
        self.update()

    @property
    def _line(self) -> int:
        return self.fontMetrics().height() + SPACE_2

    def sizeHint(self) -> QSize:
        return QSize(240, self._line * (SHOWN + 1))

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self._line * (SHOWN + 1))

    def paintEvent(self, _event: QPaintEvent) -> None:
        if not self.rows:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        metrics = QFontMetrics(self.font())
        words = max(metrics.horizontalAdvance(word) for word, _before, _after in self.rows) + SPACE_2
        words = min(words, round(self.width() * WIDEST_WORD))
        numbers = metrics.horizontalAdvance(percent(1.0)) + SPACE_2
        longest = max(max(before, after) for _word, before, after in self.rows) or 1.0
        for place, row in enumerate(self.rows):
            self._paint_row(painter, place * self._line, row, words, self.width() - words - numbers, longest)
        painter.end()

    def _paint_row(
        self, painter: QPainter, top: int, row: tuple[str, float, float], words: int, room: int, longest: float
    ) -> None:
        word, before, after = row
        palette, height = self._theme.palette, self._line - SPACE_1
        font = self.font()
        font.setStrikeOut(not after)
        painter.setFont(font)
        painter.setPen(QColor(palette.text if after else palette.muted))
        fitted = self.fontMetrics().elidedText(word, Qt.TextElideMode.ElideRight, words - SPACE_2)
        painter.drawText(QRectF(0, top, words - SPACE_2, height), Qt.AlignmentFlag.AlignVCenter, fitted)
        painter.setPen(Qt.PenStyle.NoPen)
        for share, colour, thin in (
            (before, mixed(palette.background, palette.text, 0.16), 0),
            (after, palette.water, SPACE_1),
        ):
            painter.setBrush(QColor(colour))
            bar = QRectF(words, top + thin, max(room * share / longest, 2.0 if share else 0.0), height - 2 * thin)
            painter.drawRoundedRect(bar, 2, 2)
        font.setStrikeOut(False)
        painter.setFont(font)
        painter.setPen(QColor(palette.text if after else palette.muted))
        place = QRectF(words + room, top, self.width() - words - room, height)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, percent(after))


def spelled(word: str) -> str:
    """Return a token in readable form, with visible whitespace; an empty token is the end of the text."""
    if not word:
        return tr("(end of text)")
    return word.strip() or word.replace("\n", "↵").replace(" ", "␣").replace("\t", "⇥")


def percent(chance: float) -> str:
    """Return a probability in percent, such as “31 %”; a dash for zero."""
    if not chance:
        return "–"
    if chance < 0.01:
        return tr("< {percent} %").format(percent=1)
    return tr("{percent} %").format(percent=QLocale().toString(round(100 * chance)))
