"""One message laid out."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor, QImage, QPainter

from lethe_app.domain.chat import Alternative, Message
from lethe_app.domain.recall import RecallCounts
from lethe_app.ui.core.palette import NIGHT
from lethe_app.ui.transcript.markdown.blocks import parse_message
from lethe_app.ui.transcript.model.annotations import ReplyAnnotations
from lethe_app.ui.transcript.painting.decorations import draw_memory_chip
from lethe_app.ui.transcript.painting.message_layout import THOUGHTS_INDENT, LayoutState, MessageLayout
from lethe_app.ui.transcript.painting.style import MessageStyle
from tests.ui.chat_scene import message


@pytest.fixture
def style(qapp) -> MessageStyle:
    return MessageStyle(NIGHT)


def laid_out(style: MessageStyle, shown: Message) -> MessageLayout:
    message_layout = MessageLayout(style, 720)
    message_layout.set_message(shown, shown.content, shown.thinking, None, is_growing=False)
    return message_layout


def test_the_gap_below_the_line_of_alternatives_is_as_wide_as_below_text(style):
    plain = laid_out(style, message("Words."))
    chosen = laid_out(style, message(alternatives=[Alternative(content="Words."), Alternative(content="Others.")]))

    assert chosen.footer_top == plain.footer_top
    line_of_wordings = chosen.footer_top + style.small_font.pixelSize() + 6
    assert chosen.height - line_of_wordings >= plain.height - plain.end_mark_top - style.small_font.pixelSize()


def test_an_action_left_open_by_a_stopped_reply_shows_no_asterisk(style):
    stopped = laid_out(style, message(alternatives=[Alternative(content="*She nods", complete=False)]))
    whole = laid_out(style, message(alternatives=[Alternative(content="*She nods", complete=True)]))

    assert stopped.document.text_document.toPlainText() == "She nods"
    assert whole.document.text_document.toPlainText() == "*She nods"


def test_an_asterisk_without_its_pair_is_shown_once_the_reply_is_complete(style):
    message_layout, reply = MessageLayout(style, 720), message("*She nods")
    message_layout.set_message(reply, "*She nods", "", None, is_growing=True)
    assert message_layout.document.text_document.toPlainText() == "She nods"

    message_layout.set_message(reply, "*She nods", "", None, is_growing=False)
    assert message_layout.document.text_document.toPlainText() == "*She nods"


def test_expanded_thinking_stays_within_the_column(style):
    message_layout = MessageLayout(style, 720)
    message_layout.state = LayoutState(are_thoughts_open=True)
    message_layout.set_message(message("Yes."), "Yes.", "I wonder. " * 40, None, is_growing=False)

    assert THOUGHTS_INDENT + message_layout.thoughts_document.text_document.textWidth() == message_layout.width


def test_a_table_has_a_gap_to_the_code_box_above(style):
    code, table = "```\nx = 1\n```\n\n", "| a | b |\n|---|---|\n| 1 | 2 |"
    document = laid_out(style, message(code + table)).document
    box = document.list_block_rects()[0][1]
    rect, _ = document.list_table_rects()[0]

    assert rect.top() - box.bottom() >= style.paragraph_gap


def test_the_language_of_a_code_block_is_muted(style):
    title, line = parse_message("```python\nx = 1\n```")

    def ink(block):
        return style.char_format(block.spans[0], block.kind, block.level).foreground().color()

    assert (ink(title), ink(line)) == (style.muted, style.text)


@pytest.mark.parametrize(
    ("counts", "is_amber"),
    [
        (RecallCounts(memories=1, world_entries=2), True),
        (RecallCounts(world_entries=3), False),
        (RecallCounts(passages=1), False),
    ],
)
def test_the_chip_is_amber_only_if_something_was_remembered(style: MessageStyle, counts: RecallCounts, is_amber: bool):
    message_layout = MessageLayout(style, 720)
    message_layout.state = LayoutState(annotations=ReplyAnnotations(recalled=counts))
    message_layout.set_message(message("She nods."), "She nods.", "", None, is_growing=False)
    image = QImage(720, message_layout.height, QImage.Format.Format_ARGB32)
    image.fill(style.background)
    painter = QPainter(image)
    draw_memory_chip(painter, message_layout, style, is_highlighted=False)
    painter.end()

    hues = {image.pixelColor(x, y).rgb() for x in range(image.width()) for y in range(image.height())}
    assert (QColor(style.palette.amber).rgb() in hues) is is_amber
    assert (QColor(style.palette.muted).rgb() in hues) is not is_amber
