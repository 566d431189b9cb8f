"""Line above the first or below the last message of a session, with links."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from lethe_app.ui.core.palette import SPACE_3
from lethe_app.ui.transcript.painting.style import MessageStyle


class LinkLine(QLabel):
    """Centred, wrapped text with links, which Tab reaches and Enter activates; `linkActivated` emits their addresses."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._pieces: Sequence[tuple[str, str]] = ()
        self._link_colour = ""
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.setContentsMargins(0, SPACE_3, 0, 0)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.LinksAccessibleByMouse | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.hide()

    @property
    def plain_text(self) -> str:
        """Return the text without links."""
        return "".join(text for text, _address in self._pieces)

    def show_pieces(self, *pieces: tuple[str, str]) -> None:
        """Show pieces of text, each with the address of its link, which is empty for plain text."""
        self._pieces = pieces
        self._update_text()

    def apply_style(self, style: MessageStyle) -> None:
        """Apply colours and small font of the transcript."""
        self._link_colour = style.palette.water
        self.setFont(style.small_font)
        self.setStyleSheet(f"color: {style.palette.muted}; background: transparent;")
        self._update_text()

    def _update_text(self) -> None:
        style = f"color: {self._link_colour}; text-decoration: none;"
        self.setText(
            "".join(
                f'<a href="{escape(address)}" style="{style}">{escape(text)}</a>' if address else escape(text)
                for text, address in self._pieces
            )
        )
