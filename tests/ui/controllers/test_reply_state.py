"""What is said of a reply under way."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QLocale

from lethe_app.ui.controllers.conversation.reply_state import format_prefill_progress


@pytest.fixture(autouse=True)
def english():
    before = QLocale()
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedKingdom))
    yield
    QLocale.setDefault(before)


def test_reading_counts_only_once_it_has_come_somewhere():
    assert format_prefill_progress(0, 612) == "Processing prompt (612 tokens)…"
    assert format_prefill_progress(0, 1) == "Processing prompt (1 token)…"
    assert format_prefill_progress(256, 1612) == "Processing prompt: 256 of 1,612 tokens…"
