"""One message laid out."""

from __future__ import annotations

import pytest

from lethe_app.domain.chat import Alternative, Message
from lethe_app.ui.core.palette import NIGHT
from lethe_app.ui.transcript.markdown.blocks import parse_message
from lethe_app.ui.transcript.painting.message_layout import THOUGHTS_INDENT, LayoutState, MessageLayout
from lethe_app.ui.transcript.painting.style import MessageStyle
from tests.ui.chat_scene import message


@pytest.fixture
def style(qapp) -> MessageStyle:
    return MessageStyle(NIGHT)


def laid_out(style: MessageStyle, shown: Message) -> MessageLayout:
    sheet = MessageLayout(style, 720)
    sheet.set_message(shown, shown.content, shown.thinking, None, is_growing=False)
    return sheet


def test_behind_the_line_of_wordings_there_is_as_much_room_as_behind_words(style):
    plain = laid_out(style, message("Words."))
    chosen = laid_out(style, message(alternatives=[Alternative(content="Words."), Alternative(content="Others.")]))

    assert chosen.footer_top == plain.footer_top
    line_of_wordings = chosen.footer_top + style.small_font.pixelSize() + 6
    assert chosen.height - line_of_wordings >= plain.height - plain.stopped_top - style.small_font.pixelSize()


def test_a_stopped_reply_keeps_no_raw_mark_of_the_action_it_broke_off_in(style):
    stopped = laid_out(style, message(alternatives=[Alternative(content="*She nods", complete=False)]))
    whole = laid_out(style, message(alternatives=[Alternative(content="*She nods", complete=True)]))

    assert stopped.document.text_document.toPlainText() == "She nods"
    assert whole.document.text_document.toPlainText() == "*She nods"


def test_an_action_still_open_is_a_mark_again_once_the_reply_is_whole(style):
    sheet, reply = MessageLayout(style, 720), message("*She nods")
    sheet.set_message(reply, "*She nods", "", None, is_growing=True)
    assert sheet.document.text_document.toPlainText() == "She nods"

    sheet.set_message(reply, "*She nods", "", None, is_growing=False)
    assert sheet.document.text_document.toPlainText() == "*She nods"


def test_unfolded_thoughts_stay_within_the_column(style):
    sheet = MessageLayout(style, 720)
    sheet.state = LayoutState(are_thoughts_open=True)
    sheet.set_message(message("Yes."), "Yes.", "I wonder. " * 40, None, is_growing=False)

    assert THOUGHTS_INDENT + sheet.thoughts_document.text_document.textWidth() == sheet.width


def test_a_table_stands_clear_of_the_code_above_it(style):
    code, table = "```\nx = 1\n```\n\n", "| a | b |\n|---|---|\n| 1 | 2 |"
    document = laid_out(style, message(code + table)).document
    box = document.list_block_rects()[0][1]
    rect, _ = document.list_table_rects()[0]

    assert rect.top() - box.bottom() >= style.paragraph_gap


def test_what_kind_of_code_it_is_stands_quietly_above_it(style):
    title, line = parse_message("```python\nx = 1\n```")

    def ink(block):
        return style.char_format(block.spans[0], block.kind, block.level).foreground().color()

    assert (ink(title), ink(line)) == (style.muted, style.text)
