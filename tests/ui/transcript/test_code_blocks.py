"""Code in a message: its colours, and the button that copies it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from lethe_app.ui.core.palette import DAY, NIGHT
from lethe_app.ui.transcript.markdown.blocks import BlockKind, parse_message
from lethe_app.ui.transcript.markdown.highlighting import HIGHLIGHTED_LIMIT, CodeKind, highlight_lines
from lethe_app.ui.transcript.painting.document import MessageDocument, copy_button_rect
from lethe_app.ui.transcript.painting.message_layout import PointerTarget
from lethe_app.ui.transcript.painting.style import MessageStyle
from tests.ui.chat_scene import conversation, message, view_of
from tests.ui.test_accessibility import contrast

PYTHON = "def add(a, b):\n    # both\n    return 'sum', a + 1"


def kinds(code: str, language: str) -> dict[str, CodeKind]:
    """Kind of each piece of code that has one."""
    return {text: kind for line in highlight_lines(code, language) for text, kind in line if kind is not CodeKind.PLAIN}


def test_words_strings_numbers_and_comments_have_kinds_of_their_own():
    assert kinds(PYTHON, "python") == {
        "def": CodeKind.KEYWORD,
        "add": CodeKind.NAME,
        "# both": CodeKind.COMMENT,
        "return": CodeKind.KEYWORD,
        "'sum'": CodeKind.STRING,
        "1": CodeKind.NUMBER,
    }


@pytest.mark.parametrize("info", ["Python", "py", "{.python}", "python title=sum.py", "python3"])
def test_a_language_is_known_in_every_usual_spelling(info: str):
    assert kinds("return 1", info)["return"] is CodeKind.KEYWORD


@pytest.mark.parametrize(
    ("language", "code", "word", "kind"),
    [
        ("js", "const a = 1", "const", CodeKind.KEYWORD),
        ("bash", "# list", "# list", CodeKind.COMMENT),
        ("json", '{"a": 12}', "12", CodeKind.NUMBER),
        ("html", "<p>x</p>", "p", CodeKind.KEYWORD),
        ("rust", "fn main() {}", "fn", CodeKind.KEYWORD),
        ("c++", "return 0;", "return", CodeKind.KEYWORD),
        ("sql", "select 1", "select", CodeKind.KEYWORD),
        ("diff", "-old\n+new", "+new", CodeKind.INSERTED),
        ("diff", "-old\n+new", "-old", CodeKind.DELETED),
    ],
)
def test_many_languages_are_coloured(language: str, code: str, word: str, kind: CodeKind):
    assert kinds(code, language)[word] is kind


@pytest.mark.parametrize("info", ["", "   ", "nosuchlanguage", "{}", "."])
def test_code_of_no_known_language_has_one_colour(info: str):
    assert kinds(PYTHON, info) == {}


@pytest.mark.parametrize(
    "code",
    ["", "\n\n  x = 1\n\n", "\ufeffx", "a\tb", "'never closed\n", "\x00\x1b[0m", "x" * 5_000, "x = 1\n" * HIGHLIGHTED_LIMIT],
)
def test_no_character_of_the_code_is_lost(code: str):
    assert "\n".join("".join(text for text, _ in line) for line in highlight_lines(code, "python")) == code


def test_the_last_line_of_a_block_belongs_to_the_string_it_ends():
    blocks = parse_message('```python\nx = """one\ntwo\nthree"""\n```')
    assert [block.spans[-1].code_kind for block in blocks[1:]] == [CodeKind.STRING] * 3


def test_a_growing_block_shows_every_line_as_it_comes():
    text = f"```python\n{PYTHON}"
    for end in range(10, len(text)):
        blocks = parse_message(text[:end], is_incomplete=True)[1:]
        shown = "\n".join("".join(span.text for span in block.spans) for block in blocks)
        assert shown.rstrip() == text[10:end].rstrip()


def test_a_chat_without_code_loads_no_colours():
    program = (
        "import sys; from lethe_app.ui.transcript.markdown.blocks import parse_message;"
        "parse_message('Words, `code` and\\n```\\nmore\\n```'); assert 'pygments' not in sys.modules;"
        "parse_message('```python\\nx\\n```'); assert 'pygments.lexers' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


@pytest.mark.parametrize("palette", [DAY, NIGHT])
def test_every_colour_of_code_can_be_read(qapp, palette):
    style = MessageStyle(palette)
    spans = [span for block in parse_message(f"```python\n{PYTHON}\n```\n```diff\n-a\n+b\n```") for span in block.spans]
    colours = {style.char_format(span, BlockKind.CODE).foreground().color().name() for span in spans}
    assert len(colours) >= 6
    assert min(contrast(colour, style.code_box.name()) for colour in colours) >= 4.5


def test_the_button_copies_the_code_as_it_was_written(qapp):
    document = MessageDocument(MessageStyle(NIGHT), 600)
    document.set_blocks(parse_message("Try it:\n\n```make\nall:\n\techo 1\n\n```\n\nand\n\n```\n```\n\n```sh\nls\n```"))
    boxes = document.list_code_boxes()

    assert [code for _, code in boxes] == ["all:\n\techo 1\n", "", "ls"]
    assert document.code_at(copy_button_rect(boxes[2][0]).center()) == "ls"
    assert document.code_at(copy_button_rect(boxes[1][0]).center()) == ""
    assert document.code_at(boxes[2][0].center()) == ""


def test_the_first_line_of_code_never_runs_below_the_button(qapp):
    document = MessageDocument(MessageStyle(NIGHT), 300)
    document.set_blocks(parse_message(f"```\n{'wide ' * 60}\n```"))
    button = copy_button_rect(document.list_code_boxes()[0][0])
    layout = document.text_document.firstBlock().layout()
    assert layout.position().x() + layout.lineAt(0).naturalTextWidth() <= button.left() + 1


async def test_a_click_on_the_button_copies_and_says_so(qtbot):
    view = await view_of(qtbot, [message(f"Here:\n\n```python\n{PYTHON}\n```\n")])
    layout, placed = view.message_layout(0), view.placed_row(0)
    button = copy_button_rect(layout.document.list_code_boxes()[0][0]).center()
    point = QPoint(round(view.text_column()[0] + button.x()), round(placed.top + layout.prose_top + button.y()))
    QGuiApplication.clipboard().clear()

    assert layout.target_at(button.x(), layout.prose_top + button.y()) is PointerTarget.CODE
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, point)
    assert QGuiApplication.clipboard().text() == PYTHON


async def test_the_menu_copies_each_code_block(qtbot):
    view = await view_of(qtbot, [message("```\none\n```\n\nand\n\n```\ntwo\n```"), *conversation(1)])
    entries = {action.text(): action for action in view.build_menu(0).actions() if "code" in action.text()}

    assert list(entries) == ["Copy code block 1", "Copy code block 2"]
    entries["Copy code block 2"].trigger()
    assert QGuiApplication.clipboard().text() == "two"
    assert not [action for action in view.build_menu(1).actions() if "code" in action.text()]
