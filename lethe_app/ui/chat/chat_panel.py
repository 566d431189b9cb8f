"""Central panel of the window: header, transcript, speaker chooser and composer."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from lethe_app.ui.chat.composer import Composer
from lethe_app.ui.chat.speaker_chooser import Chooser
from lethe_app.ui.core.icons import icon
from lethe_app.ui.core.palette import ICON, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.shell.actions import hint
from lethe_app.ui.shell.status_line import StatusLine


class ChatPanel(QFrame):
    """Column of header, transcript and composer. `view` is an empty placeholder until the services are open."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chat")
        self.setMinimumWidth(320)
        self._theme = theme
        self.header = ChatHeader(theme)
        self.composer = Composer(theme)
        self.chooser = Chooser(theme)
        self.view: QWidget = QWidget()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self.header)
        self._column.addWidget(self.view, 1)
        self._column.addWidget(self.chooser)
        self._column.addWidget(self.composer)

    @property
    def status(self) -> StatusLine:
        return self.header.status

    def put_view(self, view: QWidget) -> None:
        """Replace the placeholder, or the transcript before, by `view`."""
        self._column.replaceWidget(self.view, view)
        self.view.deleteLater()
        self.view = view

    def put_question(self, card: QWidget) -> None:
        """Insert a card above the speaker chooser and the composer, such as a tool permission request."""
        self._column.insertWidget(self._column.indexOf(self.chooser), card)

    def take_question(self, card: QWidget) -> None:
        """Remove a card that was inserted by `put_question`, and delete it."""
        self._column.removeWidget(card)
        card.hide()
        card.deleteLater()

    def set_persona(self, name: str, tagline: str) -> None:
        """Show the participants' names and the tagline in the header, and the names in the composer."""
        self.header.set_persona(name, tagline)
        self.composer.set_name(name)

    def dress(self) -> None:
        """Apply the icons of the current theme."""
        self.header.dress()
        self.chooser.dress()
        self.composer.dress()


class ChatHeader(QFrame):
    """Header: participants and the button to invite others at the left, the model status at the right, the sidebar's button
    while the sidebar is hidden.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("header")
        self.setMinimumHeight(52)
        self._theme = theme
        self.menu = QToolButton()
        self.menu.setIconSize(QSize(ICON, ICON))
        self.menu.setToolTip(hint("sidebar"))
        self.menu.setAccessibleName(hint("sidebar"))
        self.menu.hide()
        self.name = ElidedLabel(keeps=144)
        self.name.setProperty("title", True)
        self.group = QToolButton()
        self.group.setIconSize(QSize(ICON - 2, ICON - 2))
        self.group.setToolTip(hint("group"))
        self.group.setAccessibleName(hint("group"))
        self.group.hide()
        self.tagline = ElidedLabel()
        self.tagline.setProperty("quiet", True)
        self.tagline.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.status = StatusLine()
        row = QHBoxLayout(self)
        row.setContentsMargins(SPACE_4, SPACE_2, SPACE_2, SPACE_2)
        row.setSpacing(SPACE_3)
        row.addWidget(self.menu)
        row.addWidget(self.name)
        row.addWidget(self.group)
        row.addWidget(self.tagline, 1)
        row.addWidget(self.status)
        theme.changed.connect(self.dress)

    def dress(self) -> None:
        """Apply the icons of the current theme."""
        self.menu.setIcon(icon("menu", self._theme.palette.text))
        self.group.setIcon(icon("users", self._theme.palette.muted))

    def set_persona(self, name: str, tagline: str) -> None:
        self.name.set_full(name)
        self.tagline.set_full(tagline)


LEAST_LETTERS = 3
"""An elided text of at most this many characters, the ellipsis included, is not shown at all."""


class ElidedLabel(QLabel):
    """Label of one line that is elided at its right end; the tooltip then shows the whole text. `keeps` is its minimum width
    in pixels.
    """

    def __init__(self, parent: QWidget | None = None, keeps: int = 48) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self._full, self._keeps = "", keeps

    def set_full(self, text: str) -> None:
        """Set the text; it is elided to the current width."""
        self._full = text
        self.updateGeometry()
        self._elide()

    def _elide(self) -> None:
        shown = self.fontMetrics().elidedText(self._full, Qt.TextElideMode.ElideRight, self.width())
        self.setText(shown if len(shown) > LEAST_LETTERS or shown == self._full else "")
        self.setToolTip(self._full if shown != self._full else "")
        self.setAccessibleName(self._full)

    def sizeHint(self) -> QSize:
        """Return the size of the whole text, because the text that is set may be elided already."""
        return QSize(self.fontMetrics().horizontalAdvance(self._full) + 1, self.fontMetrics().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(min(self._keeps, self.sizeHint().width()), self.fontMetrics().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()
