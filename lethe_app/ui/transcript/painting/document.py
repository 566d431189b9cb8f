"""Layout of the blocks of one message as a QTextDocument, updated incrementally while the message grows."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QTextBlock, QTextCharFormat, QTextCursor, QTextDocument, QTextOption, QTextTable, QTextTableFormat

from lethe_app.ui.core.palette import SPACE_1, SPACE_2
from lethe_app.ui.transcript.markdown.blocks import Block, BlockKind, TableCell
from lethe_app.ui.transcript.markdown.spans import LINE_BREAK, TextSpan
from lethe_app.ui.transcript.painting.style import CODE_PAD, COPY_SIZE, MessageStyle

_ZERO_WIDTH_SPACE = "\u200b"
THIN_BLOCK = MessageStyle.fixed_block_format(1)
"""Format of the empty blocks that a QTextDocument must have before and after a table."""
_DECORATED_KINDS = {BlockKind.CODE, BlockKind.RULE, BlockKind.TABLE}
CODE_BOX_OFFSET = 5
"""Offset of the top of code boxes: text is low in lines of fixed height, so the box begins a little lower too."""
_ALIGNMENTS = {"center": Qt.AlignmentFlag.AlignHCenter, "right": Qt.AlignmentFlag.AlignRight}


def copy_button_rect(box: QRectF) -> QRectF:
    """Return where a code box is clicked to copy its code: its upper right corner."""
    side = COPY_SIZE + 2 * SPACE_2
    return QRectF(box.right() - side, box.top() + SPACE_1, side, side)


@dataclass
class _Placed:
    """Block and its place in the document."""

    block: Block
    start_position: int
    """Position from which the document is cut to remove this block and all after it."""
    block_number: int
    """Number of its text block; for a table that of the text block after it."""
    table: QTextTable | None = None


class MessageDocument:
    """QTextDocument of one message. It is built with formats only, so that Qt never parses the text as markup."""

    def __init__(self, style: MessageStyle, width: int, is_muted: bool = False) -> None:
        self._style, self._is_muted = style, is_muted
        self._placed_blocks: list[_Placed] = []
        self._block_rects: list[tuple[Block, QRectF, QTextBlock]] | None = None
        self.text_document = QTextDocument()
        # The undo stack would keep every ending that a growing reply has replaced.
        self.text_document.setUndoRedoEnabled(False)
        self.text_document.setDocumentMargin(0)
        self.text_document.setDefaultFont(style.font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.text_document.setDefaultTextOption(option)
        self.text_document.setTextWidth(width)

    @property
    def blocks(self) -> list[Block]:
        return [placed.block for placed in self._placed_blocks]

    def set_blocks(self, blocks: list[Block]) -> None:
        """Show these blocks. Those at the start that are shown already are left untouched."""
        unchanged_count = 0
        while (
            unchanged_count < min(len(blocks), len(self._placed_blocks))
            and self._placed_blocks[unchanged_count].block == blocks[unchanged_count]
        ):
            unchanged_count += 1
        if unchanged_count == len(blocks) == len(self._placed_blocks):
            return
        self._block_rects = None
        cursor = QTextCursor(self.text_document)
        cursor.beginEditBlock()
        self._remove_blocks_from(cursor, unchanged_count)
        for block in blocks[unchanged_count:]:
            self._add_block(cursor, block)
        cursor.endEditBlock()

    def _remove_blocks_from(self, cursor: QTextCursor, keep_count: int) -> None:
        if keep_count < len(self._placed_blocks):
            cursor.setPosition(self._placed_blocks[keep_count].start_position)
            kept_format = cursor.blockFormat()
            cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
            cursor.removeSelectedText()
            # Removing text across blocks can change the format of the block that is kept.
            cursor.setBlockFormat(kept_format)
            del self._placed_blocks[keep_count:]
        cursor.movePosition(QTextCursor.MoveOperation.End)

    def _add_block(self, cursor: QTextCursor, block: Block) -> None:
        start_position = cursor.position()
        is_first = not self._placed_blocks
        table = None
        if block.kind is BlockKind.TABLE:
            table = self._add_table(cursor, block, is_first)
        else:
            block_format = self._style.block_format(block, is_first)
            if is_first or self._placed_blocks[-1].block.kind is BlockKind.TABLE:
                cursor.setBlockFormat(block_format)
            else:
                cursor.insertBlock(block_format, QTextCharFormat())
            self._insert_spans(cursor, block.spans, block.kind, block.level)
            if block.kind is BlockKind.RULE:
                cursor.insertText(_ZERO_WIDTH_SPACE)  # Qt gives an empty block after a table no height
        number = cursor.blockNumber()
        self._placed_blocks.append(_Placed(block, start_position, number, table))

    def _insert_spans(self, cursor: QTextCursor, spans: tuple[TextSpan, ...], kind: BlockKind, level: int = 0) -> None:
        for span in spans:
            cursor.insertText(span.text, self._style.char_format(span, kind, level, self._is_muted))

    def _add_table(self, cursor: QTextCursor, block: Block, is_first: bool) -> QTextTable:
        if is_first or self._placed_blocks[-1].block.kind is BlockKind.TABLE:
            cursor.setBlockFormat(THIN_BLOCK)
        table_format = QTextTableFormat()
        table_format.setCellPadding(SPACE_2)
        table_format.setCellSpacing(0)
        table_format.setBorder(0)
        table_format.setHeaderRowCount(1)
        if not is_first and self._placed_blocks[-1].block.kind is BlockKind.CODE:  # its box extends into the gap that Qt leaves
            table_format.setTopMargin(CODE_PAD + self._style.paragraph_gap)
        table_format.setBottomMargin(self._style.paragraph_gap + SPACE_1)
        table_format.setLeftMargin(self._style.left_of(block) - SPACE_2)  # so that cell text is aligned with the prose
        table = cursor.insertTable(len(block.rows), len(block.rows[0]), table_format)
        for row, cells in enumerate(block.rows):
            for column, cell in enumerate(cells):
                self._fill_cell(table.cellAt(row, column).firstCursorPosition(), cell, is_header=row == 0)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.setBlockFormat(THIN_BLOCK)
        return table

    def _fill_cell(self, cursor: QTextCursor, cell: TableCell, is_header: bool) -> None:
        block_format = self._style.fixed_block_format(round(self._style.pixels * 1.4))
        block_format.setAlignment(_ALIGNMENTS.get(cell.align, Qt.AlignmentFlag.AlignLeft))
        cursor.setBlockFormat(block_format)
        self._insert_spans(cursor, cell.spans, BlockKind.HEADING if is_header else BlockKind.TABLE, level=6)

    def set_width(self, width: int) -> None:
        """Lay the text out in another width."""
        if self.text_document.textWidth() != width:
            self._block_rects = None
            self.text_document.setTextWidth(width)

    @property
    def height(self) -> int:
        """Return the height in pixels. Qt leaves out the margin below the last block, in which a code box ends."""
        if not self._placed_blocks:
            return 0
        return ceil(self.text_document.size().height()) + (
            CODE_PAD if self._placed_blocks[-1].block.kind is BlockKind.CODE else 0
        )

    @property
    def has_decorations(self) -> bool:
        """Return whether there are decorations to paint."""
        return any(
            placed.block.quote or placed.block.marker or placed.block.kind in _DECORATED_KINDS for placed in self._placed_blocks
        )

    def list_block_rects(self) -> list[tuple[Block, QRectF, QTextBlock]]:
        """Return each block, tables excepted, with the rectangle of its lines."""
        if self._block_rects is None:
            layout = self.text_document.documentLayout()
            found = [
                (placed.block, self.text_document.findBlockByNumber(placed.block_number)) for placed in self._placed_blocks
            ]
            self._block_rects = [
                (block, layout.blockBoundingRect(text_block), text_block)
                for block, text_block in found
                if block.kind is not BlockKind.TABLE
            ]
        return self._block_rects

    def list_code_boxes(self) -> list[tuple[QRectF, str]]:
        """Return the box around the lines of each code block, with its code."""
        boxes, top = [], 0.0
        for block, lines, _ in self.list_block_rects():
            if block.kind is BlockKind.CODE:
                if block.edges[0]:
                    top = lines.top() - CODE_PAD + CODE_BOX_OFFSET
                if block.edges[1]:
                    left = self._style.left_of(block)
                    width, height = self.text_document.textWidth() - left, lines.bottom() + CODE_PAD + 1 - top
                    boxes.append((QRectF(left, top, width, height), block.code))
        return boxes

    def code_at(self, point: QPointF) -> str:
        """Return the code that the button at a point copies; empty if there is none."""
        return next((code for box, code in self.list_code_boxes() if copy_button_rect(box).contains(point)), "")

    def list_table_rects(self) -> list[tuple[QRectF, list[float]]]:
        """Return the rectangle of each table and the top of each of its rows."""
        layout = self.text_document.documentLayout()
        table_rects = []
        for placed in self._placed_blocks:
            if placed.block.kind is BlockKind.TABLE and placed.table is not None:
                first_cells = [placed.table.cellAt(row, 0).firstCursorPosition().block() for row in range(placed.table.rows())]
                tops = [layout.blockBoundingRect(first).top() - SPACE_2 for first in first_cells]
                rect = layout.frameBoundingRect(placed.table)
                rect.setLeft(self._style.left_of(placed.block))
                table_rects.append((rect, tops))
        return table_rects

    def position_at(self, point: QPointF) -> int:
        """Return the text position nearest to a point."""
        return max(0, self.text_document.documentLayout().hitTest(point, Qt.HitTestAccuracy.FuzzyHit))

    def link_at(self, point: QPointF) -> str:
        """Return the address of the link at a point; empty if there is none."""
        return self.text_document.documentLayout().anchorAt(point)

    def list_links(self) -> list[str]:
        """Return the distinct addresses of links in the message, tables excepted."""
        spans = [span for placed in self._placed_blocks for span in placed.block.spans]
        return list(dict.fromkeys(span.href for span in spans if span.href))

    @property
    def end_position(self) -> int:
        """Return the position of the end of the text."""
        return self.text_document.characterCount() - 1

    def extract_text(self, start: int, end: int) -> str:
        """Return the text between two positions, with bullets and numbers."""
        markers = {placed.block_number: placed.block.marker for placed in self._placed_blocks if placed.block.marker}
        lines = []
        block = self.text_document.findBlock(start)
        while block.isValid() and block.position() <= end:
            text = block.text().removeprefix(_ZERO_WIDTH_SPACE)[
                max(0, start - block.position()) : max(0, end - block.position())
            ]
            marker = markers.get(block.blockNumber(), "") if start <= block.position() < end else ""
            lines.append(f"{marker} {text}" if marker else text)
            block = block.next()
        return "\n".join(lines).replace(LINE_BREAK, "\n").replace("\u00a0", " ")
