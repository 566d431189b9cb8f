"""Blocks laid out as a text document, at once or bit by bit."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPointF
from PySide6.QtGui import QFont

from lethe_app.ui.core.palette import DAY, NIGHT
from lethe_app.ui.transcript.markdown.blocks import parse_message
from lethe_app.ui.transcript.markdown.spans import TextKind, TextSpan
from lethe_app.ui.transcript.painting.document import MessageDocument
from lethe_app.ui.transcript.painting.style import MessageStyle
from tests.sweep import examples

SAMPLE = "\n\n".join(  # noqa: FLY002 - a list is easier to read
    [
        "# Title",
        "*She nods.* “Yes.”",
        "- one\n- two",
        "> quoted",
        "```\ncode\n\nmore\n```",
        "| a | b |\n|--|--|\n| 1 | 2 |",
        "---",
        "end",
    ]
)


@pytest.fixture
def style(qapp):
    return MessageStyle(NIGHT)


def document(style: MessageStyle, text: str) -> MessageDocument:
    made = MessageDocument(style, 600)
    made.set_blocks(parse_message(text))
    return made


def test_the_whole_text_can_be_extracted(style):
    made = document(style, "*She nods.*\ntwice\n\n- one\n- two")
    assert made.extract_text(0, made.end_position) == "She nods.\ntwice\n• one\n• two"


def test_a_range_of_the_text_can_be_extracted(style):
    made = document(style, "abc\n\n- def")
    assert made.extract_text(1, 6) == "bc\n• de"


@settings(max_examples=examples(60))
@given(st.lists(st.integers(0, len(SAMPLE)), max_size=8))
def test_an_updated_document_equals_a_new_one(qapp, ends):
    style = MessageStyle(NIGHT)
    changed = MessageDocument(style, 600)
    for end in [*ends, len(SAMPLE)]:
        changed.set_blocks(parse_message(SAMPLE[:end]))
    fresh = document(style, SAMPLE)
    assert changed.extract_text(0, changed.end_position) == fresh.extract_text(0, fresh.end_position)
    assert changed.height == fresh.height


def test_unchanged_blocks_are_left_untouched(style):
    made = document(style, "one\n\nhalf\n\ntwo")
    first = made.text_document.firstBlock()
    revision = first.revision()
    made.set_blocks(parse_message("one\n\nhalf\n\ntwo and more\n\nthree"))
    assert made.text_document.firstBlock().revision() == revision
    assert made.extract_text(0, made.end_position) == "one\nhalf\ntwo and more\nthree"


def test_a_table_at_either_end_adds_no_empty_line(style):
    table = "| a | b |\n|--|--|\n| 1 | 2 |"
    alone, twice = document(style, table), document(style, f"{table}\n\n{table}")
    assert alone.height < 120
    assert twice.height < 2.3 * alone.height


def test_speech_action_and_narration_have_their_own_colours_in_both_palettes(qapp):
    for palette in (NIGHT, DAY):
        style = MessageStyle(palette)
        inks = {voice: style.char_format(TextSpan("x", voice)).foreground().color().name() for voice in TextKind}
        assert inks[TextKind.SPEECH] == palette.text.lower()
        assert inks[TextKind.ACTION] == palette.muted.lower()
        assert len(set(inks.values())) == 3
        assert style.char_format(TextSpan("x", TextKind.SPEECH)).fontWeight() == QFont.Weight.Medium.value


def test_lines_have_the_height_of_the_style(style):
    one, two = document(style, "one"), document(style, "one\ntwo")
    assert two.height - one.height == round(15 * 1.55)


def test_links_are_found_by_position_and_listed(style):
    made = document(style, "[here](https://example.org/a) and there")
    layout = made.text_document.documentLayout()
    rect = layout.blockBoundingRect(made.text_document.firstBlock())
    middle = rect.center().y()
    assert made.link_at(QPointF(5, middle)) == "https://example.org/a"
    assert made.link_at(QPointF(60, middle)) == ""
    assert made.list_links() == ["https://example.org/a"]


def test_a_narrower_column_makes_a_taller_message(style):
    made = document(style, "word " * 100)
    before = made.height
    made.set_width(200)
    assert made.height > 2 * before
