"""What is said of a reply under way."""

from __future__ import annotations

from uuid import UUID

import pytest
from PySide6.QtCore import QLocale

from lethe_app.services.events import NotesDeleted, PrefillStep, ThinkingText
from lethe_app.ui.chat.status_line import StatusLine
from lethe_app.ui.controllers.conversation.reply_state import (
    ReplyState,
    format_prefill_progress,
    format_reading,
    format_writing,
    show_in_status,
)
from lethe_app.ui.core.avatars import UNDECIDED_SPEAKER


@pytest.fixture(autouse=True)
def english():
    before = QLocale()
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedKingdom))
    yield
    QLocale.setDefault(before)


def test_reading_counts_only_once_it_has_come_somewhere():
    assert format_prefill_progress(0, 612) == "The prompt has 612 tokens to process"
    assert format_prefill_progress(0, 1) == "The prompt has 1 token to process"
    assert format_prefill_progress(256, 1612) == "256 of 1,612 tokens of the prompt processed (15 %)"


def test_who_reads_and_writes_is_named_unless_it_is_open_who_of_several():
    assert format_reading("Mira") == "Mira is reading…"
    assert format_writing("Mira") == "Mira is writing…"
    assert format_reading("") == "Reading…"

    turn = ReplyState(UUID(int=1), "Hello?", is_new_reply=True)
    turn.displayed_speaker = (UNDECIDED_SPEAKER, "Mira or Edmund")
    assert turn.speaker_name == ""
    turn.displayed_speaker = ("mira", "Mira")
    assert turn.speaker_name == "Mira"


def test_the_seconds_of_a_reply_go_on_until_it_does_something_else():
    turn = ReplyState(UUID(int=1), "Hello?", is_new_reply=True)
    turn.record_event(PrefillStep(7, 612))
    turn.status_since -= 75
    since = turn.status_since
    turn.record_event(PrefillStep(256, 612))
    assert turn.status_since == since
    turn.record_event(ThinkingText("Hm"))
    assert turn.status_since > since


def test_a_reply_that_comes_back_into_view_shows_the_seconds_since_it_began(qtbot):
    turn = ReplyState(UUID(int=1), "Hello?", is_new_reply=True)
    turn.displayed_speaker = ("mira", "Mira")
    turn.record_event(PrefillStep(7, 612))
    turn.record_event(NotesDeleted([]))  # which the status line does not show
    turn.status_since -= 75
    status = StatusLine()
    qtbot.addWidget(status)
    assert turn.status_event is not None
    show_in_status(status, turn, turn.status_event)
    seconds = int(status.full_text.removeprefix("Mira is reading… 1 % ").removesuffix(" s"))
    assert seconds >= 75

    status.show_side_activity("Looking for models…")
    assert status.full_text == "Looking for models…"
    status.show_side_activity("")
    assert status.full_text.startswith("Mira is reading… ")


@pytest.mark.parametrize(("done", "total", "shown"), [(0, 612, ""), (306, 612, " 50 %"), (612, 612, " 100 %"), (0, 0, "")])
def test_reading_shows_how_far_it_is(done: int, total: int, shown: str):
    assert format_reading("Mira", done, total) == f"Mira is reading…{shown}"
    assert format_reading("", done, total) == f"Reading…{shown}"
