"""Labels: wrapped text, elided text, headings and small text."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy

MAX_HIDDEN_LENGTH = 3
"""An elided text of at most this many characters, the ellipsis included, is not shown at all."""


class ElidedLabel(QLabel):
    """Label of one line that is elided at its right end; the tooltip then shows the whole text. `min_width` is its minimum
    width in pixels, `min_share` the share of the text, from 0 to 1, below which nothing of it is shown.
    """

    def __init__(self, min_width: int = 48, min_share: float = 0.0) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self._full_text, self._min_width, self._min_share = "", min_width, min_share

    def set_full_text(self, text: str) -> None:
        """Set the text; it is elided to the current width."""
        self._full_text = text
        self.updateGeometry()
        self._elide_text()

    def _elide_text(self) -> None:
        shown = self.fontMetrics().elidedText(self._full_text, Qt.TextElideMode.ElideRight, self.width())
        min_length = max(MAX_HIDDEN_LENGTH + 1, self._min_share * len(self._full_text))
        self.setText(shown if len(shown) >= min_length or shown == self._full_text else "")
        self.setToolTip(self._full_text if shown != self._full_text else "")
        self.setAccessibleName(self._full_text)

    def sizeHint(self) -> QSize:
        """Return the size of the whole text, because the text that is set may be elided already."""
        return QSize(self.fontMetrics().horizontalAdvance(self._full_text) + 1, self.fontMetrics().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(min(self._min_width, self.sizeHint().width()), self.fontMetrics().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide_text()


def build_heading(text: str) -> QLabel:
    """Create the heading of a section."""
    label = QLabel(text)
    label.setProperty("section", True)
    return label


def build_small_label(text: str) -> QLabel:
    """Create a wrapped label in small type, for the text below a heading."""
    return create_text_label(text, "small")


def build_badge(text: str, kind: str = "") -> QLabel:
    """Create a badge beside a heading; `kind` colours it: “good”, “danger”, or neutral if empty."""
    label = QLabel(text)
    label.setProperty("badge", kind or "neutral")
    label.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Maximum)
    return label


def create_text_label(text: str, *style_properties: str) -> QLabel:
    """Create a label of wrapped plain text; `style_properties` are properties that the style sheet matches, such as “quiet”."""
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    for name in style_properties:
        label.setProperty(name, True)
    return label
