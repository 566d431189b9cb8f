"""The field in which the user writes."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtTest import QTest

from lethe_app.ui.chat.composer import MAX_LINES, Composer


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
    QTest.keyClicks(composer.text, "Good evening.")

    with qtbot.waitSignal(composer.sent) as sent:
        QTest.keyClick(composer.text, Qt.Key.Key_Return)

    assert sent.args == ["Good evening."]
    assert composer.is_empty


def test_shift_enter_breaks_the_line(composer, qtbot):
    QTest.keyClicks(composer.text, "One")
    with qtbot.assertNotEmitted(composer.sent):
        QTest.keyClick(composer.text, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(composer.text, "two")

    assert composer.text.toPlainText() == "One\ntwo"


def test_sending_nothing_lets_the_persona_speak_again(composer, qtbot):
    with qtbot.waitSignal(composer.sent) as sent:
        QTest.mouseClick(composer.button, Qt.MouseButton.LeftButton)

    assert sent.args == [""]
    assert composer.button.accessibleName() == "Let Mira speak"


def test_while_a_reply_runs_the_button_stops_and_the_draft_stays(composer, qtbot):
    composer.set_replying(True)
    QTest.keyClicks(composer.text, "And then?")

    with qtbot.assertNotEmitted(composer.sent):
        QTest.keyClick(composer.text, Qt.Key.Key_Return)
    with qtbot.waitSignal(composer.stop_requested):
        QTest.mouseClick(composer.button, Qt.MouseButton.LeftButton)

    assert composer.text.toPlainText() == "And then?"
    assert "Mira is still writing" in composer.note.text()


def test_every_conversation_has_its_own_draft(composer):
    composer.switch_to("one")
    QTest.keyClicks(composer.text, "for the first")
    composer.switch_to("two")
    assert composer.is_empty

    QTest.keyClicks(composer.text, "for the second")
    composer.switch_to("one")

    assert composer.text.toPlainText() == "for the first"


def test_what_could_not_be_kept_comes_back(composer):
    composer.switch_to("one")
    composer.give_back("one", "Do not lose me.")
    assert composer.text.toPlainText() == "Do not lose me."

    composer.give_back("two", "Nor me.")
    composer.switch_to("two")
    assert composer.text.toPlainText() == "Nor me."


def test_what_comes_back_never_covers_a_new_draft(composer):
    composer.switch_to("one")
    QTest.keyClicks(composer.text, "New")
    composer.give_back("one", "Old")

    assert composer.text.toPlainText() == "New"


def test_the_field_grows_with_the_text_up_to_ten_lines(composer):
    heights = []
    for lines in (1, 2, 5, MAX_LINES, MAX_LINES + 5):
        composer.text.setPlainText("\n".join(["line"] * lines))
        heights.append(composer.text.height())

    assert heights[0] < heights[1] < heights[2] < heights[3] == heights[4]


def test_up_in_an_empty_field_edits_the_last_message(composer, qtbot):
    with qtbot.waitSignal(composer.edit_last_requested):
        QTest.keyClick(composer.text, Qt.Key.Key_Up)

    composer.text.setPlainText("something")
    with qtbot.assertNotEmitted(composer.edit_last_requested):
        QTest.keyClick(composer.text, Qt.Key.Key_Up)


def test_pasting_brings_words_without_their_dress(composer):
    rich = QMimeData()
    rich.setHtml("<b>Bold</b> words")
    rich.setText("Bold words\r\nhere")

    composer.text.insertFromMimeData(rich)

    assert composer.text.toPlainText() == "Bold words\nhere"


def test_tokens_are_counted_when_the_writer_rests(composer, qtbot):
    with qtbot.waitSignal(composer.count_requested, timeout=60_000) as wanted:
        QTest.keyClicks(composer.text, "Four small words here")
    composer.show_tokens(wanted.args[0], 4)

    assert composer.note.text() == "4 tokens"


def test_a_late_count_of_an_older_draft_is_not_shown(composer):
    composer.text.setPlainText("new words")
    composer.show_tokens("old words", 2)

    assert composer.note.text() == ""


def test_the_field_is_as_tall_as_its_lines_also_when_they_break_anew(composer, qtbot):
    composer.text.setPlainText("word " * 40)
    for width in (700, 420, 560):
        composer.resize(width, 400)
        qtbot.wait(10)
        lines = int(composer.text.document().size().height())
        assert lines > 1
        assert composer.text.height() >= lines * composer.text.fontMetrics().lineSpacing()


def test_no_word_moves_when_the_count_of_tokens_comes(composer, qtbot):
    composer.text.setPlainText("word " * 30)
    qtbot.wait(10)
    before = composer.text.width()
    composer.show_tokens(composer.text.toPlainText(), 31)
    qtbot.wait(10)

    assert composer.note.text() == "31 tokens"
    assert composer.text.width() == before


def test_a_long_name_leaves_the_hint_on_one_line(composer, qtbot):
    composer.resize(420, 200)
    composer.set_name("Sir Bartholomew Featherstonehaugh-Cholmondeley the Younger")
    qtbot.wait(10)

    hint = composer.text.placeholderText()
    assert hint.endswith("…")
    assert composer.text.fontMetrics().horizontalAdvance(hint) <= composer.text.viewport().width()
    assert "Younger" in composer.text.accessibleName()
