"""Layout of the blocks of one message as a QTextDocument, updated incrementally while the message grows."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QTextBlock, QTextCharFormat, QTextCursor, QTextDocument, QTextOption, QTextTable, QTextTableFormat

from lethe_app.ui.core.palette import SPACE_1, SPACE_2
from lethe_app.ui.transcript.markdown.blocks import Block, BlockKind, TableCell
from lethe_app.ui.transcript.markdown.spans import LINE_BREAK, TextSpan
from lethe_app.ui.transcript.painting.style import CODE_PAD, MessageStyle

_NO_WIDTH = "\u200b"
_MARKED = {BlockKind.CODE, BlockKind.RULE, BlockKind.TABLE}
_ALIGNMENTS = {"center": Qt.AlignmentFlag.AlignHCenter, "right": Qt.AlignmentFlag.AlignRight}


@dataclass
class _Placed:
    """Block and its place in the document."""

    block: Block
    before: int
    """Position from which the document is cut to remove this block and all after it."""
    number: int
    """Number of its text block; for a table that of the text block after it."""
    table: QTextTable | None = None


class MessageDocument:
    """QTextDocument of one message. It is built with formats only, so that Qt never parses the text as markup."""

    def __init__(self, style: MessageStyle, width: int, quiet: bool = False) -> None:
        self._style, self._quiet = style, quiet
        self._placed: list[_Placed] = []
        self._laid_out: list[tuple[Block, QRectF, QTextBlock]] | None = None
        self.text = QTextDocument()
        self.text.setUndoRedoEnabled(False)
        self.text.setDocumentMargin(0)
        self.text.setDefaultFont(style.font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.text.setDefaultTextOption(option)
        self.text.setTextWidth(width)

    @property
    def blocks(self) -> list[Block]:
        return [placed.block for placed in self._placed]

    def show(self, blocks: list[Block]) -> None:
        """Show these blocks. Those at the start that are shown already are left untouched."""
        same = 0
        while same < min(len(blocks), len(self._placed)) and self._placed[same].block == blocks[same]:
            same += 1
        if same == len(blocks) == len(self._placed):
            return
        self._laid_out = None
        cursor = QTextCursor(self.text)
        cursor.beginEditBlock()
        self._cut(cursor, same)
        for block in blocks[same:]:
            self._add(cursor, block)
        cursor.endEditBlock()

    def _cut(self, cursor: QTextCursor, keep: int) -> None:
        if keep < len(self._placed):
            cursor.setPosition(self._placed[keep].before)
            kept_format = cursor.blockFormat()
            cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
            cursor.removeSelectedText()
            # Removing text across blocks can change the format of the block that is kept.
            cursor.setBlockFormat(kept_format)
            del self._placed[keep:]
        cursor.movePosition(QTextCursor.MoveOperation.End)

    def _add(self, cursor: QTextCursor, block: Block) -> None:
        before = cursor.position()
        first = not self._placed
        table = None
        if block.kind is BlockKind.TABLE:
            table = self._add_table(cursor, block, first)
        else:
            shape = self._style.block_format(block, first)
            if first or self._placed[-1].block.kind is BlockKind.TABLE:
                cursor.setBlockFormat(shape)
            else:
                cursor.insertBlock(shape, QTextCharFormat())
            self._write(cursor, block.spans, block.kind, block.level)
            if block.kind is BlockKind.RULE:
                cursor.insertText(_NO_WIDTH)  # Qt gives no room to an empty block behind a table
        number = cursor.blockNumber()
        self._placed.append(_Placed(block, before, number, table))

    def _write(self, cursor: QTextCursor, spans: tuple[TextSpan, ...], kind: BlockKind, level: int = 0) -> None:
        for span in spans:
            cursor.insertText(span.text, self._style.char_format(span, kind, level, self._quiet))

    def _add_table(self, cursor: QTextCursor, block: Block, first: bool) -> QTextTable:
        if first or self._placed[-1].block.kind is BlockKind.TABLE:
            cursor.setBlockFormat(self._style.thin_block_format())
        shape = QTextTableFormat()
        shape.setCellPadding(SPACE_2)
        shape.setCellSpacing(0)
        shape.setBorder(0)
        shape.setHeaderRowCount(1)
        if not first and self._placed[-1].block.kind is BlockKind.CODE:  # its box reaches into the gap that Qt leaves
            shape.setTopMargin(CODE_PAD + self._style.paragraph_gap)
        shape.setBottomMargin(self._style.paragraph_gap + SPACE_1)
        shape.setLeftMargin(self._style.left_of(block) - SPACE_2)  # so that the words stand in line with the prose
        table = cursor.insertTable(len(block.rows), len(block.rows[0]), shape)
        for row, cells in enumerate(block.rows):
            for column, cell in enumerate(cells):
                self._fill(table.cellAt(row, column).firstCursorPosition(), cell, head=row == 0)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.setBlockFormat(self._style.thin_block_format())
        return table

    def _fill(self, cursor: QTextCursor, cell: TableCell, head: bool) -> None:
        shape = self._style.cell_block_format()
        shape.setAlignment(_ALIGNMENTS.get(cell.align, Qt.AlignmentFlag.AlignLeft))
        cursor.setBlockFormat(shape)
        self._write(cursor, cell.spans, BlockKind.HEADING if head else BlockKind.TABLE, level=6)

    def set_width(self, width: int) -> None:
        """Lay the text out in another width."""
        if self.text.textWidth() != width:
            self._laid_out = None
            self.text.setTextWidth(width)

    @property
    def height(self) -> int:
        """Return the height in pixels. Qt leaves out the margin below the last block, in which a code box ends."""
        if not self._placed:
            return 0
        return ceil(self.text.size().height()) + (CODE_PAD if self._placed[-1].block.kind is BlockKind.CODE else 0)

    @property
    def has_marks(self) -> bool:
        """Return whether there are decorations to paint."""
        return any(placed.block.quote or placed.block.marker or placed.block.kind in _MARKED for placed in self._placed)

    def laid_out(self) -> list[tuple[Block, QRectF, QTextBlock]]:
        """Return each block, tables excepted, with the rectangle of its lines."""
        if self._laid_out is None:
            layout = self.text.documentLayout()
            found = [(placed.block, self.text.findBlockByNumber(placed.number)) for placed in self._placed]
            self._laid_out = [
                (block, layout.blockBoundingRect(text_block), text_block)
                for block, text_block in found
                if block.kind is not BlockKind.TABLE
            ]
        return self._laid_out

    def tables(self) -> list[tuple[QRectF, list[float]]]:
        """Return the rectangle of each table and the top of each of its rows."""
        layout = self.text.documentLayout()
        found = []
        for placed in self._placed:
            if placed.block.kind is BlockKind.TABLE and placed.table is not None:
                firsts = [placed.table.cellAt(row, 0).firstCursorPosition().block() for row in range(placed.table.rows())]
                tops = [layout.blockBoundingRect(first).top() - SPACE_2 for first in firsts]
                rect = layout.frameBoundingRect(placed.table)
                rect.setLeft(self._style.left_of(placed.block))
                found.append((rect, tops))
        return found

    def position_at(self, point: QPointF) -> int:
        """Return the text position nearest to a point."""
        return max(0, self.text.documentLayout().hitTest(point, Qt.HitTestAccuracy.FuzzyHit))

    def link_at(self, point: QPointF) -> str:
        """Return the address of the link at a point; empty if there is none."""
        return self.text.documentLayout().anchorAt(point)

    def links(self) -> list[str]:
        """Return the distinct addresses of links in the message, tables excepted."""
        spans = [span for placed in self._placed for span in placed.block.spans]
        return list(dict.fromkeys(span.href for span in spans if span.href))

    @property
    def end(self) -> int:
        """Return the position of the end of the text."""
        return self.text.characterCount() - 1

    def plain_text(self, start: int, end: int) -> str:
        """Return the text between two positions, with bullets and numbers."""
        markers = {placed.number: placed.block.marker for placed in self._placed if placed.block.marker}
        lines = []
        block = self.text.findBlock(start)
        while block.isValid() and block.position() <= end:
            words = block.text().removeprefix(_NO_WIDTH)[max(0, start - block.position()) : max(0, end - block.position())]
            marker = markers.get(block.blockNumber(), "") if start <= block.position() < end else ""
            lines.append(f"{marker} {words}" if marker else words)
            block = block.next()
        return "\n".join(lines).replace(LINE_BREAK, "\n").replace("\u00a0", " ")
