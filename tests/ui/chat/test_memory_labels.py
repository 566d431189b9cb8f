"""What a prompt says in its own form is put into words for the memory panel."""

from __future__ import annotations

import pytest

from lethe_app.brain.recall.session_notes import build_notes_block
from lethe_app.ui.chat.memory_labels import format_session_notes


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"home": "Porto", "mood": "tired", "user_name": "Tomas"}, "Home: Porto\nMood: tired\nYour name: Tomas"),
        (
            {"favourite food": "bread, olives", "current_quest": "find the bell"},
            "Favourite food: bread, olives\nCurrent quest: find the bell",
        ),
    ],
)
def test_session_notes_are_listed_in_words(values: dict[str, str], expected: str):
    assert format_session_notes(build_notes_block(values)) == expected


def test_a_note_in_another_form_is_left_as_it_is():
    assert format_session_notes(" He was here before. ") == "He was here before."
