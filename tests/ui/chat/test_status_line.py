"""What the model is doing, in words."""

from __future__ import annotations

import time

import pytest
from PySide6.QtCore import QLocale

from lethe_app.ui.chat.status_line import StatusLine


@pytest.fixture
def status(qtbot, theme) -> StatusLine:
    before = QLocale()
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedKingdom))
    made = StatusLine()
    qtbot.addWidget(made)
    made.resize(600, 32)
    made.show()
    yield made
    QLocale.setDefault(before)


def test_loading_counts_and_being_ready_says_what_is_full(status):
    status.show_loading("SmolLM2", 0.4)
    assert status.text() == "Loading SmolLM2… 40 %"

    status.show_ready("SmolLM2-135M", 3120, 8192)
    assert status.text() == "● SmolLM2-135M · 3.1k / 8k"


@pytest.mark.usefixtures("status")  # for the numbers of its locale
def test_the_result_covers_the_model_for_a_while(qtbot):
    line = StatusLine(result_display_ms=200)
    qtbot.addWidget(line)
    line.resize(600, 32)
    line.show_ready("SmolLM2", 0, 8192)
    line.show_result(104.4, 3050, 3120)
    assert line.text() == "78 words/s"
    assert "104 tokens/s, reused 3,050 of 3,120 tokens of the prompt" in line.toolTip()

    qtbot.waitUntil(lambda: line.text() == "● SmolLM2 · 8k context")


def test_thinking_counts_the_seconds_until_something_is_said(status, qtbot):
    status.show_timed_activity("Thinking…", time.monotonic())
    assert status.text() == "Thinking… 0 s"
    qtbot.waitUntil(lambda: status.text() == "Thinking… 1 s", timeout=60_000)

    status.show_activity("Writing…")
    qtbot.wait(1_200)
    assert status.text() == "Writing…"


def test_reading_counts_the_seconds_and_keeps_the_tokens_in_the_tooltip(status, qtbot):
    begun = time.monotonic()
    status.show_timed_activity("Mira is reading…", begun, "7 of 53 tokens")
    qtbot.waitUntil(lambda: status.text() == "Mira is reading… 1 s", timeout=60_000)
    status.show_timed_activity("Mira is reading…", begun, "40 of 53 tokens")

    assert not status.text().endswith("0 s")  # the clock goes on
    assert "tokens" not in status.text()
    assert "40 of 53 tokens" in status.toolTip()

    status.show_activity("Mira is writing…")
    assert "40 of 53 tokens" not in status.toolTip()


def test_a_narrow_line_is_cut_but_read_out_in_full(status):
    status.show_ready("A model with a very long name that nobody can remember", 3120, 8192)
    status.resize(120, 32)

    assert status.text().endswith("…")
    assert "nobody can remember" in status.accessibleName()
    assert "nobody can remember" in status.toolTip()


def test_the_dot_before_the_model_is_not_read_out(status):
    status.show_ready("SmolLM2", 3120, 8192)

    assert status.accessibleName() == f"Model: {status.full_text.removeprefix('● ')}"
    assert "●" not in status.accessibleName()


def test_without_a_model_it_asks_for_one(status):
    status.show_no_model()

    assert status.text() == "No model: choose one"


def test_the_tooltip_says_what_the_numbers_are(status):
    status.show_ready("SmolLM2", 779, 8192)

    assert "779 of the 8,192 tokens in the context of SmolLM2" in status.toolTip()
    assert "another model" in status.toolTip()

    status.show_no_model()
    assert status.toolTip() == "No model: choose one"
