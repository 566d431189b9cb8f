"""The field in which the user writes."""

from __future__ import annotations

import time

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from lethe_app.ui.chat.composer import MAX_LINES, Composer
from lethe_app.ui.widgets.text_area import PlainTextEdit


@pytest.fixture
def composer(qtbot, theme) -> Composer:
    made = Composer(theme)
    qtbot.addWidget(made)
    made.set_addressee("Mira")
    made.resize(800, 200)
    made.show()
    made.draft_field.setFocus()
    return made


def test_enter_sends_and_empties_the_field(composer, qtbot):
    QTest.keyClicks(composer.draft_field, "Good evening.")

    with qtbot.waitSignal(composer.sent) as sent:
        QTest.keyClick(composer.draft_field, Qt.Key.Key_Return)

    assert sent.args == ["Good evening.", False]
    assert composer.is_empty


def test_shift_enter_breaks_the_line(composer, qtbot):
    QTest.keyClicks(composer.draft_field, "One")
    with qtbot.assertNotEmitted(composer.sent):
        QTest.keyClick(composer.draft_field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(composer.draft_field, "two")

    assert composer.draft_field.toPlainText() == "One\ntwo"


def test_sending_nothing_lets_the_persona_speak_again(composer, qtbot):
    with qtbot.waitSignal(composer.sent) as sent:
        QTest.mouseClick(composer.send_button, Qt.MouseButton.LeftButton)

    assert sent.args == ["", False]
    assert composer.send_button.accessibleName() == "Let Mira speak"


def test_while_a_reply_runs_the_button_stops_and_the_draft_stays(composer, qtbot):
    composer.set_replying(True)
    QTest.keyClicks(composer.draft_field, "And then?")

    with qtbot.assertNotEmitted(composer.sent):
        QTest.keyClick(composer.draft_field, Qt.Key.Key_Return)
    with qtbot.waitSignal(composer.stop_requested):
        QTest.mouseClick(composer.send_button, Qt.MouseButton.LeftButton)

    assert composer.draft_field.toPlainText() == "And then?"
    assert "Mira is still writing" in composer.note_label.text()


def test_every_conversation_has_its_own_draft(composer):
    composer.switch_session("one")
    QTest.keyClicks(composer.draft_field, "for the first")
    composer.switch_session("two")
    assert composer.is_empty

    QTest.keyClicks(composer.draft_field, "for the second")
    composer.switch_session("one")

    assert composer.draft_field.toPlainText() == "for the first"


def test_what_could_not_be_kept_comes_back(composer):
    composer.switch_session("one")
    composer.restore_draft("one", "Do not lose me.")
    assert composer.draft_field.toPlainText() == "Do not lose me."

    composer.restore_draft("two", "Nor me.")
    composer.switch_session("two")
    assert composer.draft_field.toPlainText() == "Nor me."


def test_what_comes_back_never_covers_a_new_draft(composer):
    composer.switch_session("one")
    QTest.keyClicks(composer.draft_field, "New")
    composer.restore_draft("one", "Old")

    assert composer.draft_field.toPlainText() == "New"


def test_the_field_grows_with_the_text_up_to_ten_lines(composer):
    heights = []
    for lines in (1, 2, 5, MAX_LINES, MAX_LINES + 5):
        composer.draft_field.setPlainText("\n".join(["line"] * lines))
        heights.append(composer.draft_field.height())

    assert heights[0] < heights[1] < heights[2] < heights[3] == heights[4]


def test_up_in_an_empty_field_edits_the_last_message(composer, qtbot):
    with qtbot.waitSignal(composer.edit_last_requested):
        QTest.keyClick(composer.draft_field, Qt.Key.Key_Up)

    composer.draft_field.setPlainText("something")
    with qtbot.assertNotEmitted(composer.edit_last_requested):
        QTest.keyClick(composer.draft_field, Qt.Key.Key_Up)


def test_pasting_inserts_text_without_formatting(composer):
    rich = QMimeData()
    rich.setHtml("<b>Bold</b> words")
    rich.setText("Bold words\r\nhere")

    composer.draft_field.insertFromMimeData(rich)

    assert composer.draft_field.toPlainText() == "Bold words\nhere"


def test_tokens_are_counted_when_the_writer_rests(composer, qtbot):
    with qtbot.waitSignal(composer.count_requested, timeout=60_000) as wanted:
        QTest.keyClicks(composer.draft_field, "Four small words here")
    composer.show_tokens(wanted.args[0], 4)

    assert composer.note_label.text() == "4 tokens"


def test_a_late_count_of_an_older_draft_is_not_shown(composer):
    composer.draft_field.setPlainText("new words")
    composer.show_tokens("old words", 2)

    assert composer.note_label.text() == ""


def test_the_field_is_as_tall_as_its_lines_also_when_they_break_anew(composer, qtbot):
    composer.draft_field.setPlainText("word " * 28)
    for width in (700, 420, 560):
        composer.resize(width, 400)
        qtbot.wait(10)
        lines = int(composer.draft_field.document().size().height())
        assert lines > 1
        assert composer.draft_field.height() >= lines * composer.draft_field.fontMetrics().lineSpacing()


def test_no_word_moves_when_the_count_of_tokens_comes(composer, qtbot):
    composer.draft_field.setPlainText("word " * 30)
    qtbot.wait(10)
    before = composer.draft_field.width()
    composer.show_tokens(composer.draft_field.toPlainText(), 31)
    qtbot.wait(10)

    assert composer.note_label.text() == "31 tokens"
    assert composer.draft_field.width() == before


def test_a_long_name_leaves_the_hint_on_one_line(composer, qtbot):
    composer.resize(420, 200)
    composer.set_addressee("Sir Bartholomew Featherstonehaugh-Cholmondeley the Younger")
    qtbot.wait(10)

    hint = composer.draft_field.placeholderText()
    assert hint.endswith("…")
    assert composer.draft_field.fontMetrics().horizontalAdvance(hint) <= composer.draft_field.viewport().width()
    assert "Younger" in composer.draft_field.accessibleName()


@pytest.mark.parametrize("lines", [1, 2, 5, MAX_LINES])
def test_the_first_line_is_not_scrolled_away_while_all_lines_fit(composer, qtbot, lines):
    composer.draft_field.setPlainText("\n".join(["A line."] * lines))
    qtbot.wait(20)

    assert composer.draft_field.verticalScrollBar().maximum() == 0


def test_keys_leave_a_composition_alone(composer, qtbot):
    field = composer.draft_field
    QApplication.sendEvent(field, QInputMethodEvent("にほ", []))

    with qtbot.assertNotEmitted(composer.sent), qtbot.assertNotEmitted(composer.edit_last_requested):
        QTest.keyClick(field, Qt.Key.Key_Return)
        QTest.keyClick(field, Qt.Key.Key_Up)
    committed = QInputMethodEvent()
    committed.setCommitString("日本")
    QApplication.sendEvent(field, committed)
    with qtbot.waitSignal(composer.sent) as sent:
        QTest.keyClick(field, Qt.Key.Key_Return)

    assert sent.args == ["日本", False]


def paste(field: PlainTextEdit, text: str) -> None:
    data = QMimeData()
    data.setText(text)
    field.insertFromMimeData(data)


@pytest.mark.parametrize(
    "text", ["x" * 2_000_000, "some words " * 180_000, "漢" * 2_000_000], ids=["word", "paragraph", "Chinese"]
)
def test_a_very_long_line_neither_blocks_the_field_nor_is_cut(composer, qtbot, text: str):
    """Qt lays out a line in time quadratic in its length: 200,000 letters took seven seconds, and three with every key."""
    start = time.monotonic()
    paste(composer.draft_field, text)
    QTest.keyClicks(composer.draft_field, " and so on")
    composer.grab()
    assert time.monotonic() - start < 5

    with qtbot.waitSignal(composer.sent) as sent:
        QTest.keyClick(composer.draft_field, Qt.Key.Key_Return)
    assert sent.args == [f"{text} and so on".strip(), False]


@pytest.mark.parametrize(("before", "after"), [("", ""), ("One. ", ""), ("", " Two."), ("One. ", " Two.")])
@pytest.mark.parametrize(
    "text",
    [
        "y" * 20_000,
        f"{'y' * 9_000}\n\n{'z ' * 9_000}",
        "short",
        "line\n" * 4_000,
        f"line\n{'y' * 9_000}",
        f"{'y' * 9_000}\nend",
    ],
)
def test_text_pasted_into_a_draft_is_what_is_read_copied_and_undone(composer, before: str, after: str, text: str):
    field = composer.draft_field
    field.setPlainText(before + after)
    cursor = field.textCursor()
    cursor.setPosition(len(before))
    field.setTextCursor(cursor)

    for _ in range(3):
        paste(field, text)
    assert field.toPlainText() == before + 3 * text + after
    field.selectAll()
    assert field.createMimeDataFromSelection().text() == before + 3 * text + after
    assert max(field.document().findBlockByNumber(row).length() for row in range(field.document().blockCount())) < 17_000
    for _ in range(3):
        field.undo()
    assert field.toPlainText() == before + after
    for _ in range(3):
        field.redo()
    assert field.toPlainText() == before + 3 * text + after


def test_lines_of_usual_length_are_shown_as_they_are(composer):
    paste(composer.draft_field, "a line\n" * 3_000 + "the last")
    assert composer.draft_field.document().blockCount() == 3_001


def test_a_long_paragraph_is_shown_broken_between_words(composer):
    composer.draft_field.setPlainText("seven words are enough for a test " * 1_000)
    block = composer.draft_field.document().firstBlock()
    assert block.next().isValid()
    assert block.text().rstrip("\U000e01ef").endswith(" ")


def test_a_long_line_that_was_cut_down_leaves_nothing_behind(composer):
    field = composer.draft_field
    field.setPlainText("x" * 9_000)
    cursor = field.textCursor()
    cursor.setPosition(5)
    cursor.movePosition(cursor.MoveOperation.End, cursor.MoveMode.KeepAnchor)
    cursor.movePosition(cursor.MoveOperation.PreviousCharacter, cursor.MoveMode.KeepAnchor, 995)
    cursor.removeSelectedText()
    assert set(field.toPlainText()) == {"x"}
    field.setPlainText("x" * 8_001)
    QTest.keyClick(field, Qt.Key.Key_End)
    for _ in range(3):
        QTest.keyClick(field, Qt.Key.Key_Backspace)
    assert set(field.toPlainText()) == {"x"}


@pytest.mark.parametrize("blank", ["", " ", "\n\n", "\t\n ", "\u3000", "\n" * 9_000])
def test_white_space_alone_is_no_draft(composer, blank: str):
    composer.draft_field.setPlainText(blank)
    assert composer.is_empty
    composer.draft_field.setPlainText(f"{blank}.")
    assert not composer.is_empty


async def test_enter_while_a_reply_stops_sends_once_it_has_stopped(composer, qtbot):
    composer.set_replying(True)
    composer.set_stopping()
    QTest.keyClicks(composer.draft_field, "Wait, no.")
    with qtbot.assertNotEmitted(composer.sent):
        QTest.keyClick(composer.draft_field, Qt.Key.Key_Return)
        QTest.keyClick(composer.draft_field, Qt.Key.Key_Return)
    assert composer.note_label.text() == "Sent as soon as the reply has stopped."

    with qtbot.waitSignal(composer.sent) as sent:
        composer.set_replying(False)

    assert sent.args == ["Wait, no.", False]
    with qtbot.assertNotEmitted(composer.sent, wait=50):
        composer.set_replying(False)


def test_what_was_entered_while_a_reply_stops_stays_a_draft_if_its_conversation_is_left(composer, qtbot):
    composer.switch_session("one")
    composer.set_replying(True)
    composer.set_stopping()
    QTest.keyClicks(composer.draft_field, "Wait, no.")
    QTest.keyClick(composer.draft_field, Qt.Key.Key_Return)

    with qtbot.assertNotEmitted(composer.sent, wait=50):
        composer.switch_session("two")
        composer.set_replying(False)

    composer.switch_session("one")
    assert composer.draft_field.toPlainText() == "Wait, no."


def test_enter_while_nothing_is_being_stopped_waits_for_the_user(composer, qtbot):
    composer.set_replying(True)
    QTest.keyClicks(composer.draft_field, "And?")
    QTest.keyClick(composer.draft_field, Qt.Key.Key_Return)
    with qtbot.assertNotEmitted(composer.sent, wait=50):
        composer.set_replying(False)
    assert composer.draft_field.toPlainText() == "And?"
