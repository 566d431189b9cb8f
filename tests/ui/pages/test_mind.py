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
from lethe_app.services.personas.inner_life import today
from lethe_app.ui.controllers.notifications import DesktopNotifications
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.mind.page import MindPage
from lethe_app.ui.pages.mind.reminders import ReminderDialog
from lethe_app.ui.pages.mind.writings import EntryDialog, MindNote, WritingRow
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")
NATURAL = MemoryInsertion.NATURAL


@asynccontextmanager
async def minded(home: Path, *, moods: bool = True) -> AsyncIterator[tuple[Scene, MindPage]]:
    """Mira's mind, a little lived in."""
    async with opened(home) as scene:
        await live(scene, moods=moods)
        scene.window.resize(1100, 800)
        scene.window.window_actions["mind"].trigger()
        page = scene.page
        assert isinstance(page, MindPage)
        await until(lambda: page.journal_list.rows and page.persona_selector.persona_name == "Mira")
        yield scene, page


async def live(scene: Scene, *, moods: bool) -> None:
    services, present = scene.services, now()
    persona = await services.library.persona("mira")
    await services.library.save_persona(
        persona.model_copy(update={"mood": moods, "self_edit_field": "I wait.", "schedule": {}})
    )
    week = [MoodSample(at=present - timedelta(days=day), values=values(0.9 - day / 10)) for day in range(5, 0, -1)]
    await services.app_state.set("mood history", "mira", [one.model_dump(mode="json") for one in week])
    feelings = {
        "energy": Feeling(value=0.5, since=present),
        "cheer": Feeling(value=0.8, why=MoodCause.PRAISE.value, since=present),
        "curiosity": Feeling(value=0.5, since=present),
    }
    mood = Mood(at=present, feelings=feelings)
    await services.app_state.set("moods", "mira", mood.model_dump(mode="json"))
    for number in range(5):
        added = present - timedelta(days=number + 1)
        entry = MemoryUnit(name=f"Day {number}", content=f"Fog {number}.", category=MemoryType.JOURNAL, added=added)
        await services.memory.memorize("mira", entry, check=False)
    goal = MemoryUnit(name="Signals", content="All nineteen.", category=MemoryType.GOAL, insertion=NATURAL)
    await services.memory.memorize("mira", goal.model_copy(update={"added": present - timedelta(days=3)}), check=False)


def values(cheer: float) -> dict[str, float]:
    return {"energy": 0.5, "cheer": cheer, "curiosity": 0.5}


async def feels(scene: Scene, value: float) -> bool:
    return abs((await scene.services.moods.load_mood("mira")).feelings["cheer"].value - value) < 0.02


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
        row = page.mood_card.rows["cheer"]

        assert page.mood_card.sentence_label.text() == "Mira feels happy"
        assert [one.dimension.title for one in page.mood_card.rows.values()] == ["Energy", "Cheer", "Curiosity"]
        assert row.adjective_label.text() == "happy"
        assert row.cause_label.text() == "You said something kind · today"
        assert page.mood_card.rows["energy"].adjective_label.text() == "awake"
        assert row.slider.value() == 80
        assert row.slider.accessibleDescription() == "happy. You said something kind · today"
        plot = page.mood_card.plot
        assert len(plot.samples) == 6
        assert "Cheer from 40 to 80 of 100" in plot.accessibleDescription()
        assert "Cheer 80" in plot.tooltip_at(plot.width())
        assert "Cheer 40" in plot.tooltip_at(0)


async def test_a_bar_is_moved_by_keyboard_and_taken_back(tmp_path: Path):
    async with minded(tmp_path) as (scene, page):
        bar = page.mood_card.rows["cheer"].slider
        bar.setFocus()
        for _press in range(3):
            QTest.keyClick(bar, Qt.Key.Key_PageDown)

        await comes(lambda: feels(scene, 0.5))
        await until(lambda: page.mood_card.rows["cheer"].cause_label.text() == "Set by you · today")
        QTest.keyClick(scene.window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)

        await comes(lambda: feels(scene, 0.8))
        await until(lambda: page.mood_card.rows["cheer"].cause_label.text() == "You said something kind · today")
        QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.rect().center())
        await comes(lambda: feels(scene, 0.5))


async def test_moods_are_switched_for_one_and_for_all_and_kept_fixed_and_each_is_taken_back(tmp_path: Path):
    async with minded(tmp_path, moods=False) as (scene, page):
        card, preferences, library = page.mood_card, scene.services.preferences, scene.services.library
        assert card.hint.text().startswith("Moods are off for Mira.")
        assert not card.sentence_label.isVisible()
        assert not card.fixed_check.isVisible()
        QTest.mouseClick(card.turn_on_button, Qt.MouseButton.LeftButton)
        await until(card.sentence_label.isVisible)
        assert (await library.persona("mira")).mood
        page.undo_stack.undo()
        await until(lambda: not card.sentence_label.isVisible())
        assert not (await library.persona("mira")).mood
        page.undo_stack.redo()

        await until(card.fixed_check.isVisible)
        QTest.keyClick(card.fixed_check, Qt.Key.Key_Space)
        await until(lambda: preferences.current.static_mood)
        page.undo_stack.undo()
        await until(lambda: not preferences.current.static_mood and not card.fixed_check.isChecked())

        await preferences.set(mood_handling=False)
        await until(card.enable_for_all_button.isVisible)
        QTest.mouseClick(card.enable_for_all_button, Qt.MouseButton.LeftButton)
        await until(lambda: not card.enable_for_all_button.isVisible())
        assert preferences.current.mood_handling


async def test_every_text_is_kept_and_can_be_taken_back(tmp_path: Path):
    async with minded(tmp_path) as (scene, page):
        services, names = scene.services, (Weekday.MONDAY, "thoughts", "request", "notice")
        before = {name: page.form.field_widget(name).text for name in names}

        async def kept() -> dict[str, str]:
            request, plan = await services.goals.load_request("mira"), await services.week.load_plan("mira", Weekday.MONDAY)
            texts = (plan, await services.inner_life.load_thoughts("mira"), request.request, request.notice)
            return {name: text.strip() for name, text in zip(names, texts, strict=True)}

        assert page.form.field_widget(today()).placeholderText() == "Nothing planned today"
        for name in names:
            QTest.keyClicks(page.form.field_widget(name), f"For {name}. ")
        await page.saver.save()
        assert await kept() == {name: f"For {name}. {before[name]}".strip() for name in names}

        for _name in names:
            page.undo_stack.undo()
        await page.saver.save()
        assert await kept() == before
        assert {name: page.form.field_widget(name).text for name in names} == before


async def test_what_was_just_typed_is_kept_when_the_page_is_left(tmp_path: Path):
    async with minded(tmp_path) as (scene, page):
        QTest.keyClicks(page.form.field_widget("thoughts"), "Still. ")
        await scene.controller.pages.navigator.leave_page(page)

        assert (await scene.services.library.persona("mira")).self_edit_field == "Still. I wait."


async def test_a_reminder_is_written_as_one_would_say_it(tmp_path: Path):
    async with minded(tmp_path) as (scene, page):
        assert "Mira will bring up what you add here." in page.reminder_list.empty_label.text()
        page.reminder_form.text_field.setFocus()
        QTest.keyClicks(page.reminder_form.text_field, "Call the vet")
        QTest.keyClick(page.reminder_form.text_field, Qt.Key.Key_Return)
        QTest.keyClicks(page.reminder_form.date_field, "some day")
        assert page.reminder_form.parsed_date_label.text().startswith("Date not recognised.")
        assert not page.reminder_form.add_button.isEnabled()
        page.reminder_form.date_field.clear()
        QTest.keyClicks(page.reminder_form.date_field, "tomorrow at 9")
        assert page.reminder_form.add_button.isEnabled()
        QTest.keyClick(page.reminder_form.date_field, Qt.Key.Key_Return)

        await until(lambda: page.reminder_list.rows)
        (memory,) = await scene.services.reminders.reminders_of("mira")
        assert memory.content == "Call the vet"
        assert memory.added.astimezone().hour == 9
        assert any(words.startswith("Tomorrow, ") for words in labels(page))
        assert page.reminder_form.text_field.text() == ""


async def test_a_reminder_is_changed_and_deleted_and_both_taken_back(tmp_path: Path):
    async with minded(tmp_path) as (scene, page):
        await scene.services.reminders.create_reminder("mira", "Call the vet.", now() + timedelta(days=2))
        await until(lambda: page.reminder_list.rows)
        QTest.mouseClick(page.reminder_list.rows[0].edit_button, Qt.MouseButton.LeftButton)
        dialog = await scene.dialog()
        assert isinstance(dialog, ReminderDialog)
        dialog.text_field.selectAll()
        QTest.keyClicks(dialog.text_field, "Call the vet again.")
        QTest.mouseClick(dialog.primary, Qt.MouseButton.LeftButton)
        await until(
            lambda: page.reminder_list.rows and page.reminder_list.rows[0].writing.memory.content == "Call the vet again."
        )
        row = page.reminder_list.rows[0]
        assert row.edit_button.accessibleName() == row.edit_button.toolTip() == "Edit “Call the vet again.”"
        assert row.delete_button.accessibleName() == "Delete “Call the vet again.”"
        page.undo_stack.undo()
        await until(lambda: [row.writing.title for row in page.reminder_list.rows] == ["Call the vet."])

        QTest.mouseClick(page.reminder_list.rows[0].delete_button, Qt.MouseButton.LeftButton)
        await until(lambda: not page.reminder_list.rows)
        buttons = [one for toast in scene.toasts for one in toast.findChildren(QPushButton)]
        button = next(one for one in buttons if one.text() == "Undo")
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        await until(lambda: page.reminder_list.rows)


def test_a_long_reminder_is_named_in_a_few_words(theme: Theme):
    note = MindNote(MemoryUnit(name=""), "Call  the vet " * 40, "")

    assert len(WritingRow(theme, note, has_field=False).delete_button.toolTip()) < 80


async def test_goals_say_how_long_they_last_and_the_journal_begins_with_the_newest(tmp_path: Path):
    async with minded(tmp_path) as (_scene, page):
        assert [row.writing.title for row in page.goal_list.rows] == ["Signals"]
        assert page.goal_list.rows[0].writing.note == "Expires in 12 days"
        assert [row.writing.title for row in page.journal_list.rows] == ["Day 0", "Day 1", "Day 2"]
        assert page.journal_list.more_button.text() == "2 older entries"

        QTest.mouseClick(page.journal_list.more_button, Qt.MouseButton.LeftButton)

        assert [row.writing.title for row in page.journal_list.rows][-1] == "Day 4"
        assert not page.journal_list.more_button.isVisible()


async def test_an_entry_is_changed_and_taken_back_and_a_goal_goes_to_the_trash(tmp_path: Path):
    async with minded(tmp_path) as (scene, page):
        row = page.journal_list.rows[0]
        QTest.keyClicks(row.field, "Thick. ")
        await page.saver.save()
        assert (await scene.services.memory_lists.load_memory(row.writing.memory.guid)).content == "Thick. Fog 0."
        page.undo_stack.undo()
        await page.saver.save()
        assert (await scene.services.memory_lists.load_memory(row.writing.memory.guid)).content == "Fog 0."
        assert row.field.text == "Fog 0."

        QTest.mouseClick(page.goal_list.rows[0].delete_button, Qt.MouseButton.LeftButton)
        await until(lambda: not page.goal_list.rows)
        assert page.goal_list.empty_label.isVisible()
        page.undo_stack.undo()
        await until(lambda: page.goal_list.rows)


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
        await scene.services.memory.memorize("mira", memory, check=False)
        await scene.services.reminders.notify_due()

        await until(lambda: scene.toasts)
        assert "Take the cake out." in [label.text() for label in scene.toasts[0].findChildren(QLabel)]


async def test_an_entry_is_written_by_hand_and_belongs_to_the_user(tmp_path: Path):
    async with minded(tmp_path) as (scene, page):
        page.new_entry_button.click()
        dialog = await scene.dialog()
        assert isinstance(dialog, EntryDialog)
        assert not dialog.primary.isEnabled()
        QTest.keyClicks(dialog.title_field, "A quiet day")
        QTest.keyClicks(dialog.text_field, "Nothing happened, and it was good.")
        dialog.accept()

        await until(lambda: any(row.writing.title == "A quiet day" for row in page.journal_list.rows))
        (entry,) = [one for one in await scene.services.inner_life.list_journal("mira") if one.name == "A quiet day"]
        assert entry.made_by == ""
        page.undo_stack.undo()
        await until(lambda: all(row.writing.title != "A quiet day" for row in page.journal_list.rows))


@pytest.mark.parametrize("is_leaving", [True, False], ids=["page left", "another persona chosen"])
async def test_a_bar_just_moved_is_kept_for_whom_it_was_moved(tmp_path: Path, is_leaving: bool):
    async with minded(tmp_path) as (scene, page):
        page.mood_card.rows["cheer"].slider.setValue(11)

        if is_leaving:
            await scene.controller.pages.navigator.leave_page(page)
        else:
            page.persona_selector.choose_persona("edmund")

        await comes(lambda: feels(scene, 0.11))
        edmund = await scene.services.moods.load_mood("edmund")
        assert "cheer" not in edmund.feelings or edmund.feelings["cheer"].value != pytest.approx(0.11)


async def test_what_is_typed_before_another_mind_is_loaded_belongs_to_the_one_on_display(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async with minded(tmp_path) as (scene, page):
        load, is_released = scene.services.moods.load_history, asyncio.Event()

        async def load_slowly(persona_id: str) -> list[MoodSample]:
            await is_released.wait()
            return await load(persona_id)

        monkeypatch.setattr(scene.services.moods, "load_history", load_slowly)
        before = await scene.services.inner_life.load_thoughts("edmund")
        page.persona_selector.choose_persona("edmund")
        QTest.keyClicks(page.form.field_widget("thoughts"), "Still. ")
        await page.saver.save()
        is_released.set()

        await until(lambda: page.form.field_widget("thoughts").text == before)
        assert await scene.services.inner_life.load_thoughts("mira") == "Still. I wait."
        assert await scene.services.inner_life.load_thoughts("edmund") == before


async def test_a_list_loaded_while_a_text_is_stored_leaves_it_in_its_field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async with minded(tmp_path) as (scene, page):
        save, is_released = scene.services.inner_life.save_thoughts, asyncio.Event()
        saved = list[str]()

        async def save_slowly(persona_id: str, text: str) -> object:
            saved.append(text)
            await is_released.wait()
            return await save(persona_id, text)

        monkeypatch.setattr(scene.services.inner_life, "save_thoughts", save_slowly)
        QTest.keyClicks(page.form.field_widget("thoughts"), "Still. ")
        await until(lambda: saved)
        await scene.services.moods.set_mood("mira", "cheer", 0.3)
        await until(lambda: page.mood_card.rows["cheer"].slider.value() == 30)
        QTest.keyClicks(page.form.field_widget("thoughts"), "Ever. ")
        is_released.set()

        await page.saver.save()
        assert await scene.services.inner_life.load_thoughts("mira") == "Still. Ever. I wait."
        assert page.form.field_widget("thoughts").text == "Still. Ever. I wait."
