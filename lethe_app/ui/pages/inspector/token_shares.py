"""Tokens of a prompt by section: a bar for the whole context, and a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter

from PySide6.QtCore import QCoreApplication, QEvent, QLocale, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QHelpEvent, QIcon, QPainter, QPainterPath, QPaintEvent, QPixmap
from PySide6.QtWidgets import QToolTip, QWidget

from lethe_app.domain.prompt import PartTokens, PromptPart, Receipt
from lethe_app.ui.core.formatting import format_token_count
from lethe_app.ui.core.palette import ICON, SPACE_1, SPACE_4
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.inspector.colours import section_colours, share_title
from lethe_app.ui.widgets.table import Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

SEGMENT_GAP = 1.0


class ShareBar(QWidget):
    """Bar of the context window: the sections of the prompt, the reserve for the reply at the right end, and free space
    between.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._receipt: Receipt | None = None
        self._session_titles: Mapping[str, str] = {}
        self.setMouseTracking(True)
        self.setMinimumHeight(SPACE_4 + SPACE_1)
        theme.changed.connect(self.update)

    def show_receipt(self, receipt: Receipt, session_titles: Mapping[str, str]) -> None:
        """Show a receipt; `session_titles` are the titles of the earlier sessions by id."""
        self._receipt, self._session_titles = receipt, session_titles
        shares = [share for share in receipt.shares if share.tokens]
        parts = [f"{share_title(share, session_titles)} {format_token_count(share.tokens)}" for share in shares]
        self.setAccessibleName(self.tr("Prompt sections: {list}").format(list=", ".join(parts)))
        self.update()

    def _segments(self) -> list[tuple[float, float, PartTokens | None]]:
        """Return left edge, width and section of each segment; the section is None for the reserve of the reply."""
        receipt = self._receipt
        if receipt is None:
            return []
        total = max(receipt.context, receipt.prompt_tokens + receipt.reply_reserve, 1)
        scale, left = self.width() / total, 0.0
        segments: list[tuple[float, float, PartTokens | None]] = []
        for share in receipt.shares:
            if share.tokens:
                segments.append((left, share.tokens * scale, share))
                left += share.tokens * scale
        reserve = receipt.reply_reserve * scale
        return [*segments, (self.width() - reserve, reserve, None)]

    def paintEvent(self, _event: QPaintEvent) -> None:
        palette, part_colours = self._theme.palette, section_colours(self._theme.palette)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QPainterPath()
        frame.addRoundedRect(QRectF(self.rect()), SPACE_1, SPACE_1)
        painter.setClipPath(frame)
        painter.fillRect(self.rect(), QColor(palette.raised))
        for left, width, share in self._segments():
            rect = QRectF(left, 0, max(width - SEGMENT_GAP, 1.0), self.height())
            if share is not None:
                painter.fillRect(rect, QColor(part_colours[share.part]))
            else:
                painter.fillRect(rect, QColor(palette.border))
                painter.fillRect(rect, QBrush(QColor(palette.muted), Qt.BrushStyle.BDiagPattern))
        painter.end()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self._tooltip_at(event.pos().x()), self)
            return True
        return super().event(event)

    def _tooltip_at(self, x: int) -> str:
        for left, width, share in self._segments():
            if left <= x < left + width:
                if share is None and self._receipt is not None:
                    reserve = format_token_count(self._receipt.reply_reserve)
                    return self.tr("reserved for the reply: {tokens}").format(tokens=reserve)
                if share is not None:
                    return f"{share_title(share, self._session_titles)}: {format_token_count(share.tokens)}"
        return self.tr("free")


def tr(text: str) -> str:
    """Translate a text in the context of the inspector."""
    return QCoreApplication.translate("Inspector", text)


@dataclass(frozen=True)
class ShareRow:
    """Row of the table of sections."""

    share: PartTokens
    title: str
    whole: int
    """Tokens of the whole prompt."""

    @property
    def key(self) -> str:
        """Return the section, or the id of the earlier session."""
        return self.share.session or self.share.part


def build_share_rows(theme: Theme) -> FilteredTableModel[ShareRow]:
    """Return the table model of the sections."""
    tokens, locale = attrgetter("share.tokens"), QLocale()
    columns: list[Column[ShareRow]] = [
        Column(tr("Section"), attrgetter("title"), width=0, icon=lambda row: build_swatch(theme, row.share.part)),
        Column(tr("Tokens"), lambda row: locale.toString(tokens(row)), tokens, width=76, is_right_aligned=True),
        Column(tr("Share"), lambda row: format_percent(tokens(row), row.whole), tokens, width=64, is_right_aligned=True),
    ]
    return FilteredTableModel(columns, key=attrgetter("key"), search_text=attrgetter("title"))


def build_share_table(theme: Theme, rows: FilteredTableModel[ShareRow]) -> Table[ShareRow]:
    """Return the table of sections."""
    table = Table(rows, theme, tr("Prompt sections"), tr("No prompt recorded."))
    table.setIconSize(QSize(ICON - SPACE_1 * 2, ICON - SPACE_1 * 2))
    return table


def build_swatch(theme: Theme, part: PromptPart) -> QIcon:
    """Return an icon in the section's colour."""
    size = ICON
    pixmap = QPixmap(size, size)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(section_colours(theme.palette)[part]))
    painter.drawRoundedRect(QRectF(2, 2, size - 4, size - 4), SPACE_1, SPACE_1)
    painter.end()
    return QIcon(pixmap)


def format_percent(part: int, whole: int) -> str:
    """Return a rounded percentage such as “13 %”; a positive share below one is “<1 %”."""
    share = 100 * part / whole if whole else 0
    return "<1 %" if 0 < share < 1 else f"{QLocale().toString(round(share))} %"
