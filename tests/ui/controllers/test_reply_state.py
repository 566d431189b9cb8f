"""What is said of a reply under way."""

from __future__ import annotations

from uuid import UUID

import pytest
from PySide6.QtCore import QLocale

from lethe_app.ui.controllers.conversation.reply_state import (
    ReplyState,
    format_prefill_progress,
    format_reading,
    format_writing,
)
from lethe_app.ui.transcript.avatars import UNDECIDED_SPEAKER


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
