"""How the Markdown of a message becomes blocks and voices, whatever it holds."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_app.ui.transcript.markdown.blocks import (
    NOTE_CUT,
    NOTE_DENSE,
    NOTE_LONG,
    Block,
    BlockKind,
    parse_message,
    strip_formatting,
)
from lethe_app.ui.transcript.markdown.incremental_markdown import IncrementalMarkdown
from lethe_app.ui.transcript.markdown.spans import LINE_BREAK, TextKind, TextSpan, is_safe_link
from tests.sweep import examples


def spans(text: str) -> list[TextSpan]:
    return [span for block in parse_message(text) for span in block.spans]


def voices(text: str) -> list[tuple[str, TextKind]]:
    return [(span.text, span.text_kind) for span in spans(text)]


def test_actions_speech_and_narration_are_told_apart():
    assert voices("*She nods.* “Yes.” The lamp swings.") == [
        ("She nods.", TextKind.ACTION),
        (" ", TextKind.NARRATION),
        ("“Yes.”", TextKind.SPEECH),
        (" The lamp swings.", TextKind.NARRATION),
    ]


@pytest.mark.parametrize("quoted", ['"Yes."', "“Yes.”", "„Ja.“", "«Oui.»", "「はい」"])
def test_speech_is_known_by_the_quotation_marks_of_many_languages(quoted):
    assert (quoted, TextKind.SPEECH) in voices(f"He said {quoted} and left.")


def test_emphasis_within_speech_stays_speech():
    found = spans('"I *never* said that."')
    assert [(span.text, span.text_kind, span.italic) for span in found] == [
        ('"I ', TextKind.SPEECH, False),
        ("never", TextKind.SPEECH, True),
        (' said that."', TextKind.SPEECH, False),
    ]


def test_a_quotation_that_is_never_closed_ends_where_an_action_begins():
    found = voices("“Hold the lamp, *she says.* Then nothing.")
    assert found[1:] == [("she says.", TextKind.ACTION), (" Then nothing.", TextKind.NARRATION)]


def test_a_quotation_that_is_never_closed_ends_with_its_line():
    found = voices("“Hold the lamp\nThen nothing.")
    assert found == [("“Hold the lamp", TextKind.SPEECH), (f"{LINE_BREAK}Then nothing.", TextKind.NARRATION)]


def speech(text: str) -> str:
    """All speech of a message, its pieces divided by |."""
    return "|".join(span.text for span in spans(text) if span.text_kind is TextKind.SPEECH)


@pytest.mark.parametrize(
    "text",
    [
        "“I went out.\n\nThe sea was flat.\n\nSo I came home.” He shrugs.",
        "“I went out.\n\n“The sea was flat.\n\n“So I came home.” He shrugs.",
        '"I went out.\n\nThe sea was flat.\n\nSo I came home." He shrugs.',
        '"I went out.\n\n"The sea was flat.\n\n"So I came home." He shrugs.',
        "„I went out.\n\nThe sea was flat.\n\nSo I came home.“ He shrugs.",
    ],
)
def test_speech_continues_over_paragraphs_until_it_is_closed(text):
    reported = text.split(" He")[0].split("\n\n")
    assert speech(text) == "|".join(reported)


def test_speech_continues_over_lines_until_it_is_closed():
    assert speech("“The sea was flat.\nSo I came home.” He shrugs.") == f"“The sea was flat.{LINE_BREAK}So I came home.”"


def test_speech_after_a_long_quotation_is_found():
    assert speech('"Out.\n\nFlat." He shrugs. "Home."') == '"Out.|Flat."|"Home."'


@pytest.mark.parametrize("between", ["*He sits.*", "He *sits* down.", "“Mind you.”", "# Later", "> quoted", "- listed"])
def test_an_action_or_anything_else_between_ends_an_open_speech(between):
    assert "home" not in speech(f"“I went out.\n\n{between}\n\nSo I came home.” He shrugs.")


def test_an_unpaired_quotation_mark_is_no_speech():
    assert speech("“I went out.\n\nHe sat down.\n\nNobody spoke.") == "“I went out."


def test_inches_do_not_begin_speech():
    assert voices('A 5" nail and a 6" nail.') == [('A 5" nail and a 6" nail.', TextKind.NARRATION)]


def test_single_newlines_are_line_breaks():
    assert [block.spans[0].text for block in parse_message("one\ntwo\n\nthree")] == [f"one{LINE_BREAK}two", "three"]


def test_a_rule_below_a_line_does_not_make_it_a_heading():
    assert [block.kind for block in parse_message("The end.\n---\nAfter.")] == [
        BlockKind.PARAGRAPH,
        BlockKind.RULE,
        BlockKind.PARAGRAPH,
    ]


def test_indented_text_is_not_code():
    assert parse_message("para\n\n    “Indented speech.”")[1].kind is BlockKind.PARAGRAPH


def test_lists_keep_their_numbers_and_their_depth():
    blocks = parse_message("3. three\n4. four\n   - inner\n\nafter")
    assert [(block.marker, block.indent) for block in blocks] == [("3.", 1), ("4.", 1), ("•", 2), ("", 0)]


def test_code_keeps_its_lines_and_knows_its_edges():
    blocks = parse_message("```\nx = *1*\n\ny\n```")
    assert [block.spans[0].text if block.spans else "" for block in blocks] == ["x = *1*", "", "y"]
    assert [block.edges for block in blocks] == [(True, False), (False, False), (False, True)]


def test_tables_have_cells_with_alignment():
    (table,) = parse_message("| a | b |\n|:--|--:|\n| *1* | 2 |")
    assert [[cell.align for cell in row] for row in table.rows] == [["left", "right"], ["left", "right"]]
    assert table.rows[1][0].spans[0].italic


def test_raw_html_is_shown_as_text():
    assert (
        strip_formatting('<b onclick="x()">bold</b> <script>alert(1)</script>')
        == '<b onclick="x()">bold</b> <script>alert(1)</script>'
    )


def test_an_image_is_shown_as_description_and_address():
    found = spans("![a harbour](https://example.org/x.png)")
    assert [(span.text, span.href) for span in found] == [
        ("a harbour ", ""),
        ("https://example.org/x.png", "https://example.org/x.png"),
    ]


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "vbscript:x", "//host/x", "http://"]
)
def test_only_web_and_mail_addresses_are_links(address):
    assert not is_safe_link(address)
    assert all(not span.href for span in spans(f"[click]({address}) ![x]({address}) <{address}>"))


def test_bare_web_addresses_become_links_without_the_full_stop():
    assert [span.text for span in spans("See https://example.org/a?b=1. Or not.") if span.href] == ["https://example.org/a?b=1"]


def test_formatting_is_stripped_for_screen_readers():
    assert strip_formatting("# Title\n\n- *one*\n- two\n\n| a | b |\n|--|--|\n| 1 | 2 |") == "Title\n• one\n• two\n\na\tb\n1\t2"


def test_characters_that_control_a_text_document_are_replaced():
    assert strip_formatting("a\0b\ufdd0c\ufffcd\ud800e\u2029f") == "a�b�c�d�e\nf"


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("*She nods", "She nods"),
        ("*She nods. ", "She nods."),
        ("“Yes.” *She nods", "She nods"),
        ("*She\nnods", f"She{LINE_BREAK}nods"),
        ("*So **very", "So very"),
        ("*So **very*", "So very"),
        ("Before.\n\n*She nods", "She nods"),
        ("- *She nods", "She nods"),
    ],
)
def test_an_action_left_open_at_the_end_is_closed(text, action):
    for blocks in (parse_message(text, is_incomplete=True), IncrementalMarkdown().parse_text(text)):
        assert "".join(span.text for span in blocks[-1].spans if span.text_kind is TextKind.ACTION) == action
        assert "*" not in words_of(blocks[-1])


@pytest.mark.parametrize(
    "text",
    [
        "a*b",
        "5 * 3",
        "**Bold",
        r"\*no action",
        "```\n*code",
        "`*code",
        "# *Head",
        "*a\n\nb",
        "*a *b* c",
        "| *a |\n|--|\n| *x",
        "****",
    ],
)
def test_an_asterisk_that_begins_no_action_stays(text):
    assert parse_message(text, is_incomplete=True) == parse_message(text)


def test_in_a_complete_message_an_unpaired_asterisk_stays():
    assert voices("*She nods") == [("*She nods", TextKind.NARRATION)]


HOSTILE = {
    "brackets": "[" * 100_000,
    "stars": "*" * 100_000,
    "open emphasis": "*a " * 12_000,
    "open links": "[a](" * 9_000,
    "pictures": "![" * 19_000,
    "deep quotes": ">" * 20_000 + " x",
    "deep lists": "\n".join("  " * depth + "- a" for depth in range(100)),
    "backticks": "`a" * 19_000,
    "wide table": "|a" * 9_000 + "\n" + "|-" * 9_000,
    "entities": "&" * 39_000,
    "escapes": "\\" * 39_000,
    "quotation marks": '"' * 39_000,
    "spoken words": 'a "b ' * 7_900,
    "newlines": "\n" * 200_000,
    "rules": "---\n" * 60_000,
    "one long word": "x" * 200_000,
    "right to left": "שלום עולם " * 4_000,
    "families": "👩\u200d👩\u200d👧\u200d👦" * 4_000,
    "nulls": "\0" * 100_000,
    "accents": "a" + "\u0301" * 39_000,
    "long scene": "*She waits.* “You are late.” **Twice.**\n\n" * 900,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_messages_are_parsed_in_time_and_shown(name):
    text = HOSTILE[name]
    began = time.process_time()
    blocks = parse_message(text)
    assert time.process_time() - began < 0.5  # 0.2 s on a quiet machine
    assert blocks or not text.strip()


def test_very_long_messages_are_shown_as_plain_text_with_a_note():
    blocks = parse_message("*word* " * 10_000)
    assert blocks[-1].kind is BlockKind.NOTE
    assert blocks[-1].spans[0].text == NOTE_LONG
    assert "*word*" in blocks[0].spans[0].text


def test_a_text_too_long_to_show_is_cut_with_a_note():
    assert parse_message("x" * 400_000)[-1].spans[0].text == NOTE_CUT


def test_lists_too_deep_for_the_parser_lose_no_text():
    blocks = parse_message("\n".join("  " * depth + f"- level{depth}" for depth in range(100)))
    assert "level99" in blocks[-2].spans[0].text
    assert blocks[-1].spans[0].text == NOTE_DENSE


PIECES = [
    "a",
    " b",
    "\n",
    "\n\n",
    "*",
    "**",
    "`",
    "```\n",
    "- ",
    "1. ",
    "> ",
    "# ",
    "---\n",
    "| x |",
    "|--|",
    '"',
    "“",
    "”",
    "[l](http://x.y)",
]
MARKDOWN = st.lists(st.sampled_from(PIECES), max_size=30)


@settings(max_examples=examples(300))
@given(MARKDOWN)
def test_incremental_parsing_ends_with_the_blocks_of_the_whole_text(pieces):
    stream, text = IncrementalMarkdown(), ""
    for piece in pieces:
        text += piece
        grown = stream.parse_text(text)
    assert not pieces or grown == parse_message(text, is_incomplete=True)


def test_incremental_parsing_parses_only_the_last_block_again():
    stream = IncrementalMarkdown()
    text = "First paragraph.\n\n" * 500
    stream.parse_text(text)
    before = stream.final_length
    stream.parse_text(text + "The last")
    assert before > len(text) * 0.9
    assert stream.final_length >= before


NOTHING_MUCH = [
    ">", "> >", ">\n\n>", "-", "*", "+", "1.", "#", "######", "# #", "```", "~~~", "```\n```", "* * *", "---", "****", "|",
    "||", "|-|", "| |\n|-|", "&nbsp;", "&#8203;", "[](x)", "[](http://x.org)", "![]()", "![](x)", "[]", "``", "` `", "\\",
    "<!-- -->", "<br>", "$$", "_", "__", "~~", "> #", "- >", "- - -", "1. >", "# >",
]  # fmt: skip


@pytest.mark.parametrize("text", NOTHING_MUCH)
def test_formatting_marks_without_text_are_visible(text):
    blocks = parse_message(text)
    seen = [
        block for block in blocks if block.kind in {BlockKind.CODE, BlockKind.RULE} or block.marker or words_of(block).strip()
    ]
    assert seen
    assert IncrementalMarkdown().parse_text(text) == blocks


def words_of(block: Block) -> str:
    cells = [span.text for row in block.rows for cell in row for span in cell.spans]
    return "".join([span.text for span in block.spans] + cells)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Before\n\n>\n\nafter", ">"),
        ("#\n\nafter", "#"),
        ("```python\nx = 1\n```", "python"),
        ("```*She smiles.*", "*She smiles.*"),
        ("[aside](quietly)", "[aside](quietly)"),
        ("[aside](leise-für-sich)", "[aside](leise-für-sich)"),
        ("[](https://example.org/a)", "https://example.org/a"),
        ('[there](https://example.org "the door")', "there (the door)"),
        ('![a cat](cat.png "my cat")', "a cat cat.png (my cat)"),
        ("| a | b |\n|---|---|\n| 1 | 2 | 3 |", "3"),
    ],
)
def test_no_text_of_a_message_is_left_out(text, words):
    assert words in strip_formatting(text)


@settings(max_examples=examples(400))
@given(st.text(alphabet='abcdefgh1 \n\n*_#>-+|`~[]()!:\\/."“”<=\t', max_size=60))
def test_no_letter_is_lost(text):
    shown = strip_formatting(text)
    for letter in "abcdefgh":
        assert shown.count(letter) >= text.count(letter)


@settings(max_examples=examples(200))
@given(st.text(max_size=200))
def test_any_text_can_be_parsed(text):
    assert parse_message(text) or not text.strip()


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("*她叹了口气。*你好", "她叹了口气。"),
        ("你好*“笑”*你好", "“笑”"),
        ("*그녀가 웃었다.*안녕", "그녀가 웃었다."),
        ("*she smiles.*Hello", "she smiles."),
        ("*sighs…*“Fine.”", "sighs…"),
    ],
)
def test_an_action_ends_where_no_space_follows(text: str, first: str):
    found = [span for span in spans(text) if span.text_kind is TextKind.ACTION]

    assert [span.text for span in found] == [first]
    assert not any("*" in span.text for span in spans(text))


@pytest.mark.parametrize(("text", "style"), [("**重点：**后面", "bold"), ("~~重点。~~后面", "strikethrough")])
def test_other_emphasis_ends_beside_scripts_without_spaces(text: str, style: str):
    assert [getattr(span, style) for span in spans(text)] == [True, False]


@pytest.mark.parametrize("text", ["a.*b.*c", "*.txt and *.md", "foo*bar.*baz", r"\(x*y*\) and \[z_1_\]"])
def test_asterisks_that_are_no_action_are_shown_as_written(text: str):
    assert [span.text for span in spans(text)] == [text]
