"""Small parts of the panel for memories: a link that ends where the room does, a heading that folds, a row of icons."""

from __future__ import annotations

import re
from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QToolButton, QWidget

from lethe_app.ui.core.icons import BEFORE_WORDS, icon, icon_before_words
from lethe_app.ui.core.palette import ICON, SPACE_1
from lethe_app.ui.core.theme import Theme

_ENDLESS, _PIECE = re.compile(r"\S{32,}"), re.compile(r"\S{16}")


class Link(QPushButton):
    """Words that lead somewhere, in one line."""

    def __init__(self, words: str, name: str, follow: Callable[[], object], parent: QWidget | None = None) -> None:
        """`name` is what a screen reader says: where it leads."""
        super().__init__(parent)
        self._words = words
        self.setProperty("link", True)
        self.setAccessibleName(name)
        self.setToolTip(name)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.clicked.connect(lambda _checked=False: follow())
        self._elide()

    def rename(self, words: str) -> None:
        """Other words, which say enough by themselves."""
        self._words = words
        self.setAccessibleName(words)
        self.setToolTip("")
        self._elide()

    def _elide(self) -> None:
        room = self.width() - SPACE_1
        self.setText(self.fontMetrics().elidedText(self._words, Qt.TextElideMode.ElideMiddle, room))

    def minimumSizeHint(self) -> QSize:
        return QSize(40, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()


class Fold(QPushButton):
    """A heading with an arrow; what it hides follows `toggled`."""

    def __init__(self, theme: Theme, words: str, *, is_open: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(words, parent)
        self._theme = theme
        self.setProperty("fold", True)
        self.setCheckable(True)
        self.setChecked(is_open)
        self.setIconSize(BEFORE_WORDS)
        self.toggled.connect(self._dress)
        theme.changed.connect(self._dress)
        self._dress()

    def _dress(self) -> None:
        arrow = "chevron-down" if self.isChecked() else "chevron-right"
        self.setIcon(icon_before_words(arrow, self._theme.palette.muted))


class CardButton(QToolButton):
    """A button that is an icon; the words are its tooltip and its name."""

    def __init__(self, theme: Theme, drawing: str, words: str, do: Callable[[], object], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._drawing = theme, drawing
        self.setIconSize(QSize(ICON - 2, ICON - 2))
        self.setToolTip(words)
        self.setAccessibleName(words)
        self.clicked.connect(lambda _checked=False: do())
        theme.changed.connect(self.dress)
        self.dress()

    def dress(self) -> None:
        """Checked, which here means pinned, it is amber."""
        palette = self._theme.palette
        self.setIcon(icon(self._drawing, palette.amber if self.isChecked() else palette.muted))


def wrapped(words: str, **marks: bool) -> QLabel:
    """A label of as many lines as it needs, whose words can be selected; `marks` are the style sheet's."""
    label = QLabel(breakable(words))
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    label.setMinimumWidth(1)
    for name, value in marks.items():
        label.setProperty(name, value)
    return label


def breakable(words: str) -> str:
    """With unseen places to break in what is as long as a line, such as an address, which else is cut off or widens a page."""
    return _ENDLESS.sub(lambda found: _PIECE.sub("\\g<0>\u200b", found[0]), words)
