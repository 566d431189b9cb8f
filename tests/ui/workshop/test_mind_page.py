"""The page of her mind: everything on it is shown in words, can be changed by keyboard, and taken back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton

from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.domain.mood import Feeling, Mood, MoodCause, MoodSample
from lethe_app.domain.persona import Weekday
from lethe_app.services.personas.week import today
from lethe_app.ui.controllers.desktop_notifications import DesktopNotifications
from lethe_app.ui.pages.mind.page import MindPage
from lethe_app.ui.pages.mind.reminders import ReminderDialog
from lethe_app.ui.pages.mind.writings import EntryDialog
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("wardrobe")
NATURAL = MemoryInsertion.NATURAL


@asynccontextmanager
async def minded(home: Path, *, moods: bool = True) -> AsyncIterator[tuple[Scene, MindPage]]:
    """Mira's mind, a little lived in."""
    async with opened(home) as scene:
        await live(scene, moods=moods)
        scene.window.resize(1100, 800)
        scene.window.actions_["mind"].trigger()
        page = scene.host.workshop.page
        assert isinstance(page, MindPage)
        await until(lambda: page.journal.rows and page.whose.persona_name == "Mira")
        yield scene, page


async def live(scene: Scene, *, moods: bool) -> None:
    services, present = scene.services, now()
    persona = await services.library.persona("mira")
    await services.library.save_persona(
        persona.model_copy(update={"mood": moods, "self_edit_field": "I wait.", "schedule": {}})
    )
    week = [MoodSample(at=present - timedelta(days=day), values=values(0.9 - day / 10)) for day in range(5, 0, -1)]
    await services.mind.moods._app_state.set("mood history", "mira", [one.model_dump(mode="json") for one in week])
    feelings = {
        "energy": Feeling(value=0.5, since=present),
        "cheer": Feeling(value=0.8, why=MoodCause.PRAISE.value, since=present),
        "curiosity": Feeling(value=0.5, since=present),
    }
    mood = Mood(at=present, feelings=feelings)
    await services.mind.moods._app_state.set("moods", "mira", mood.model_dump(mode="json"))
    for number in range(5):
        added = present - timedelta(days=number + 1)
        entry = MemoryUnit(name=f"Day {number}", content=f"Fog {number}.", category=MemoryType.JOURNAL, added=added)
        await services.brain.memorize("mira", entry, check=False)
    goal = MemoryUnit(name="Signals", content="All nineteen.", category=MemoryType.GOAL, insertion=NATURAL)
    await services.brain.memorize("mira", goal.model_copy(update={"added": present - timedelta(days=3)}), check=False)


def values(cheer: float) -> dict[str, float]:
    return {"energy": 0.5, "cheer": cheer, "curiosity": 0.5}


async def felt(scene: Scene) -> float:
    return (await scene.services.mind.moods.mood("mira")).feelings["cheer"].value


async def comes(condition: object) -> None:
    """Wait for what a service answers."""
    for _try in range(400):
        await until(lambda: True)
        if await condition():  # type: ignore[operator]
            return
        await asyncio.sleep(0.01)
    raise AssertionError("It never came to that.")


def labels(page: MindPage) -> list[str]:
    return [label.text() for label in page.findChildren(QLabel) if label.isVisibleTo(page) and label.text()]


async def test_the_mood_is_said_in_words_with_the_reason(tmp_path: Path):
    async with minded(tmp_path) as (_scene, page):
        row = page.moods.rows["cheer"]

        assert page.moods.sentence.text() == "Mira feels happy"
        assert [one.side.title for one in page.moods.rows.values()] == ["Energy", "Cheer", "Curiosity"]
        assert row.adjective.text() == "happy"
        assert row.why.text() == "You said something kind · today"
        assert page.moods.rows["energy"].adjective.text() == "awake"
        assert row.bar.value() == 80
        assert row.bar.accessibleDescription() == "happy. You said something kind · today"


async def test_the_drawing_says_what_it_shows(tmp_path: Path):
    async with minded(tmp_path) as (_scene, page):
        plot = page.moods.plot

        assert len(plot.samples) == 6
        assert "Cheer from 40 to 80 of 100" in plot.accessibleDescription()
        assert "Cheer 80" in plot.told_at(plot.width())
        assert "Cheer 40" in plot.told_at(0)


async def test_a_bar_is_moved_by_keyboard_and_taken_back(tmp_path: Path):
    async with minded(tmp_path) as (scene, page):
        bar = page.moods.rows["cheer"].bar
        bar.setFocus()
        for _press in range(3):
            QTest.keyClick(bar, Qt.Key.Key_PageDown)

        async def is_sad() -> bool:
            return abs(await felt(scene) - 0.5) < 0.02

        await comes(is_sad)
        await until(lambda: page.moods.rows["cheer"].why.text() == "Set by you · today")
        QTest.keyClick(scene.window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)

        async def is_happy() -> bool:
            return abs(await felt(scene) - 0.8) < 0.02

        await comes(is_happy)
        await until(lambda: page.moods.rows["cheer"].why.text() == "You said something kind · today")


async def test_a_bar_is_moved_by_the_mouse(tmp_path: Path):
    async with minded(tmp_path) as (scene, page):
        bar = page.moods.rows["cheer"].bar
        QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.rect().center())

        async def is_in_the_middle() -> bool:
            return abs(await felt(scene) - 0.5) < 0.02

        await comes(is_in_the_middle)


async def test_who_has_no_moods_says_so_and_can_be_given_some(tmp_path: Path):
    async with minded(tmp_path, moods=False) as (scene, page):
        assert not page.moods.has_moods.isChecked()
        assert page.moods.hint.text().startswith("Moods are off for Mira.")
        assert not page.moods.sentence.isVisible()

        QTest.keyClick(page.moods.has_moods, Qt.Key.Key_Space)
        await until(page.moods.sentence.isVisible)
        assert (await scene.services.library.persona("mira")).mood

        page.undo.undo()
        await until(lambda: not page.moods.sentence.isVisible())
        assert not (await scene.services.library.persona("mira")).mood


async def test_where_moods_are_off_for_all_one_click_brings_them_back(tmp_path: Path):
    async with minded(tmp_path) as (scene, page):
        await scene.services.preferences.set(mood_handling=False)
        await until(page.moods.for_all.isVisible)

        QTest.mouseClick(page.moods.for_all, Qt.MouseButton.LeftButton)

        await until(lambda: not page.moods.for_all.isVisible())
        assert scene.services.preferences.current.mood_handling


async def test_steady_is_a_setting_that_can_be_taken_back(tmp_path: Path):
    async with minded(tmp_path) as (scene, page):
        QTest.keyClick(page.moods.steady, Qt.Key.Key_Space)
        await until(lambda: scene.services.preferences.current.static_mood)
        page.undo.undo()
        await until(lambda: not scene.services.preferences.current.static_mood)
        await until(lambda: not page.moods.steady.isChecked())


async def test_a_day_of_the_week_is_planned_and_taken_back(tmp_path: Path):
    async with minded(tmp_path) as (scene, page):
        QTest.keyClicks(page.week.fields[Weekday.MONDAY], "Tides.")
        await until(lambda: not page.edits.is_unsaved("mira plan monday"))
        await page.edits.save()
        assert await scene.services.mind.week.plan("mira", Weekday.MONDAY) == "Tides."
        assert page.week.fields[today()].placeholderText() == "Nothing planned today"

        page.undo.undo()
        await page.edits.save()
        assert await scene.services.mind.week.plan("mira", Weekday.MONDAY) == ""
        assert page.week.fields[Weekday.MONDAY].text() == ""


async def test_what_was_just_typed_is_kept_when_the_page_is_left(tmp_path: Path):
    async with minded(tmp_path) as (scene, page):
        QTest.keyClicks(page.thoughts, "Still. ")
        await scene.host.workshop.leave(page)

        assert (await scene.services.library.persona("mira")).self_edit_field == "Still. I wait."


async def test_a_reminder_is_written_as_one_would_say_it(tmp_path: Path):
    async with minded(tmp_path) as (scene, page):
        assert "Mira will bring up what you add here." in page.reminding.nothing.text()
        page.reminding.what.setFocus()
        QTest.keyClicks(page.reminding.what, "Call the vet")
        QTest.keyClick(page.reminding.what, Qt.Key.Key_Return)
        QTest.keyClicks(page.reminding.when, "some day")
        assert page.reminding.meant.text().startswith("Date not recognised.")
        assert not page.reminding.button.isEnabled()
        page.reminding.when.clear()
        QTest.keyClicks(page.reminding.when, "tomorrow at 9")
        assert page.reminding.button.isEnabled()
        QTest.keyClick(page.reminding.when, Qt.Key.Key_Return)

        await until(lambda: page.reminding.rows)
        (memory,) = await scene.services.mind.reminders.reminders_of("mira")
        assert memory.content == "Call the vet"
        assert memory.added.astimezone().hour == 9
        assert any(words.startswith("Tomorrow, ") for words in labels(page))
        assert page.reminding.what.text() == ""


async def test_a_reminder_is_changed_and_deleted_and_both_taken_back(tmp_path: Path):
    async with minded(tmp_path) as (scene, page):
        await scene.services.mind.reminders.remind("mira", "Call the vet.", now() + timedelta(days=2))
        await until(lambda: page.reminding.rows)
        QTest.mouseClick(page.reminding.rows[0].edit, Qt.MouseButton.LeftButton)
        dialog = await scene.dialog()
        assert isinstance(dialog, ReminderDialog)
        dialog.text.selectAll()
        QTest.keyClicks(dialog.text, "Call the vet again.")
        QTest.mouseClick(dialog.primary, Qt.MouseButton.LeftButton)
        await until(lambda: page.reminding.rows and page.reminding.rows[0].memory.content == "Call the vet again.")
        page.undo.undo()
        await until(lambda: page.reminding.rows[0].memory.content == "Call the vet.")

        QTest.mouseClick(page.reminding.rows[0].bin, Qt.MouseButton.LeftButton)
        await until(lambda: not page.reminding.rows)
        buttons = [one for toast in scene.toasts for one in toast.findChildren(QPushButton)]
        button = next(one for one in buttons if one.text() == "Undo")
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        await until(lambda: page.reminding.rows)


async def test_goals_say_how_long_they_last_and_the_journal_begins_with_the_newest(tmp_path: Path):
    async with minded(tmp_path) as (_scene, page):
        assert [row.writing.title for row in page.goals.rows] == ["Signals"]
        assert page.goals.rows[0].writing.note == "Expires in 12 days"
        assert [row.writing.title for row in page.journal.rows] == ["Day 0", "Day 1", "Day 2"]
        assert page.journal.more.text() == "2 older entries"

        QTest.mouseClick(page.journal.more, Qt.MouseButton.LeftButton)

        assert [row.writing.title for row in page.journal.rows][-1] == "Day 4"
        assert not page.journal.more.isVisible()


async def test_an_entry_is_changed_and_taken_back_and_a_goal_goes_to_the_trash(tmp_path: Path):
    async with minded(tmp_path) as (scene, page):
        row = page.journal.rows[0]
        QTest.keyClicks(row.field, "Thick. ")
        await page.edits.save()
        assert (await scene.services.browsing.memory(row.writing.memory.guid)).content == "Thick. Fog 0."
        page.undo.undo()
        await page.edits.save()
        assert (await scene.services.browsing.memory(row.writing.memory.guid)).content == "Fog 0."
        assert row.field.text == "Fog 0."

        QTest.mouseClick(page.goals.rows[0].bin, Qt.MouseButton.LeftButton)
        await until(lambda: not page.goals.rows)
        assert page.goals.nothing.isVisible()
        page.undo.undo()
        await until(lambda: page.goals.rows)


async def test_another_persona_has_a_mind_of_her_own(tmp_path: Path):
    async with minded(tmp_path) as (_scene, page):
        place = page.whose.findText("Edmund")
        assert place >= 0
        page.whose.setCurrentIndex(place)

        await until(lambda: not page.journal.rows and "Edmund" in page.journal.nothing.text())
        assert page.thoughts.text != "I wait."


async def test_day_and_night_and_large_text_draw_without_a_word_of_complaint(tmp_path: Path):
    async with minded(tmp_path) as (scene, page):
        for theme in ("light", "dark"):
            await scene.services.preferences.set(theme=theme, font_size=22)
            scene.window.resize(900, 640)
            await until(lambda: True)
            assert not page.grab().isNull()


async def test_a_reminder_that_comes_due_is_told_in_the_window_that_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async with opened(tmp_path) as scene:
        monkeypatch.setattr(DesktopNotifications, "is_out_of_sight", False)
        memory = MemoryUnit(
            category=MemoryType.REMINDER,
            insertion=MemoryInsertion.USER_RETURN,
            content="Take the cake out.",
            added=now() - timedelta(minutes=1),
        )
        await scene.services.brain.memorize("mira", memory, check=False)
        await scene.services.mind.reminders.look()

        await until(lambda: scene.toasts)
        assert "Take the cake out." in [label.text() for label in scene.toasts[0].findChildren(QLabel)]


async def test_what_the_user_asks_of_her_goals_is_kept_and_can_be_taken_back(tmp_path: Path):
    async with minded(tmp_path) as (scene, page):
        page.wishes.request.setFocus()
        QTest.keyClicks(page.wishes.request, "Find books for me")
        await page.edits.save()
        assert (await scene.services.mind.wishes.goals_of("mira")).request == "Find books for me"

        page.undo.undo()
        await page.edits.save()

        assert (await scene.services.mind.wishes.goals_of("mira")).request == ""
        assert page.wishes.request.text == ""


async def test_an_entry_is_written_by_hand_and_belongs_to_the_user(tmp_path: Path):
    async with minded(tmp_path) as (scene, page):
        page.new_entry.click()
        dialog = await scene.dialog()
        assert isinstance(dialog, EntryDialog)
        assert not dialog.primary.isEnabled()
        QTest.keyClicks(dialog.title, "A quiet day")
        QTest.keyClicks(dialog.text, "Nothing happened, and it was good.")
        dialog.accept()

        await until(lambda: any(row.writing.title == "A quiet day" for row in page.journal.rows))
        (entry,) = [one for one in await scene.services.mind.life.journal("mira") if one.name == "A quiet day"]
        assert entry.made_by == ""
        page.undo.undo()
        await until(lambda: all(row.writing.title != "A quiet day" for row in page.journal.rows))
