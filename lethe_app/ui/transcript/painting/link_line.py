"""Line below the last message of a session that has timed out, with a link to continue it."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QWidget

from lethe_app.ui.core.accessibility import announce
from lethe_app.ui.core.palette import SPACE_3
from lethe_app.ui.transcript.painting.style import MessageStyle


class SessionEndLine(QLabel):
    """Centred, wrapped text with a link, which Tab reaches and Enter activates."""

    continue_requested = Signal()
    """Emitted when the link is activated."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._text, self._link_colour = "", ""
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.setContentsMargins(0, SPACE_3, 0, 0)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.LinksAccessibleByMouse | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.linkActivated.connect(lambda _address: self.continue_requested.emit())
        self.hide()

    def announce_text(self, text: str) -> None:
        """Set the text and announce it to screen readers."""
        self._text = text
        self._update_text()
        announce(self, text)

    def apply_style(self, style: MessageStyle) -> None:
        """Apply colours and small font of the transcript."""
        self._link_colour = style.palette.water
        self.setFont(style.small_font)
        self.setStyleSheet(f"color: {style.palette.muted}; background: transparent;")
        self._update_text()

    def _update_text(self) -> None:
        link = (
            f'<a href="continue" style="color: {self._link_colour}; text-decoration: none;">{escape(self.tr("Continue"))}</a>'
        )
        self.setText(f"{escape(self._text)} · {link}")
