"""What was noted of a conversation as it went is seen, changed and undone on the page of conversations."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit

from lethe_app.ui.pages.sessions.notes import NOTES_FIELD, format_notes, parse_notes
from lethe_app.ui.pages.sessions.page import SessionPage
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


async def noted(scene: Scene, **notes: str) -> tuple[SessionPage, QPlainTextEdit, UUID]:
    """The page with the open conversation, of which these things were noted."""
    open_now = scene.session
    assert open_now is not None
    await scene.services.memory_lookup.write_notes(open_now.guid, notes)
    page = scene.open_page("conversations", SessionPage)
    await until(lambda: page.detail.session is not None)
    field = page.detail.notes_form.field_widget(NOTES_FIELD)
    assert isinstance(field, QPlainTextEdit)
    await until(lambda: field.toPlainText() == format_notes(notes))
    return page, field, open_now.guid


async def test_a_note_is_corrected_kept_and_undone(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page, field, guid = await noted(scene, home="Porto", mood="tired")

        field.selectAll()
        QTest.keyClicks(field, "home: Lisbon")
        assert page.undo_stack.undoText() == "Conversation notes"
        await page.saver.save()
        assert await scene.services.memory_lookup.load_notes(guid) == {"home": "Lisbon"}

        while page.undo_stack.canUndo():
            page.undo_stack.undo()
        await page.saver.save()
        assert field.toPlainText() == "home: Porto\nmood: tired"
        assert await scene.services.memory_lookup.load_notes(guid) == {"home": "Porto", "mood": "tired"}


def test_lines_are_read_as_people_write_them():
    reported = parse_notes("home : Porto\n\nlikes tea\nhates rain\nmood:")

    assert reported == {"home": "Porto", "note": "likes tea", "note 2": "hates rain"}
    assert parse_notes(format_notes({"home": "Porto", "job": "vet"})) == {"home": "Porto", "job": "vet"}


def test_notes_made_by_rules_are_named_in_words_and_kept_under_their_name():
    notes = {"user_name": "Sam", "current_quest": "find the lantern"}

    assert format_notes(notes) == "your name: Sam\ncurrent quest: find the lantern"
    assert parse_notes(format_notes(notes)) == notes
