"""Widgets of the memory panel: an elided link, a collapsible heading and an icon button."""

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
"""Strings without white space that are too long for a line, and the pieces into which they may be broken."""


class Link(QPushButton):
    """Button that looks like a link; its text is elided in the middle to one line."""

    def __init__(self, words: str, name: str, follow: Callable[[], object], parent: QWidget | None = None) -> None:
        """Create a link that calls `follow`; `name` is its tooltip and accessible name and says where the link leads."""
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
        """Set another text, which is also the accessible name; the tooltip is removed."""
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
    """Checkable heading with an arrow; connect `toggled` to show or hide the content."""

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
    """Icon button; `words` are its tooltip and its accessible name."""

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
        """Apply the icon of the current theme: amber if the button is checked, which means pinned on cards."""
        palette = self._theme.palette
        self.setIcon(icon(self._drawing, palette.amber if self.isChecked() else palette.muted))


def wrapped(words: str, **marks: bool) -> QLabel:
    """Create a label that wraps and whose text can be selected; `marks` are set as properties for the style sheet."""
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
    """Insert zero-width spaces into strings without white space, such as URLs, which would otherwise be cut off or widen the
    page.
    """
    return _ENDLESS.sub(lambda found: _PIECE.sub("\\g<0>\u200b", found[0]), words)
