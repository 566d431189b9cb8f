"""The page of dreams: deciding about what is proposed, taking back what was done, and what the user thought of replies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lethe_app.domain.agent_runs import ChangeState, Feedback, RecordedChange, ReplyRating
from lethe_app.domain.memory import MemoryUnit
from lethe_app.storage.chats.feedback import FeedbackStore
from lethe_app.ui.pages.dreams.page import FEEDBACK, HISTORY, PENDING, STATUS, DreamPage
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")
FERRY, LAMP = "The ferry leaves at nine.", "The lamp is dark."


async def contents(scene: Scene) -> list[str]:
    return sorted(one.content for one in await scene.services.memory.memories("mira"))


@asynccontextmanager
async def dreamt(home: Path, script: Path) -> AsyncIterator[tuple[Scene, DreamPage]]:
    """Mira wrote two things twice, and has just been asked to dream of it."""
    async with opened(home, script) as scene:
        for content in (FERRY, FERRY, LAMP, LAMP):
            await scene.services.memory.memorize("mira", MemoryUnit(content=content, made_by="journal"), check=False)
        page = scene.open_page("dreams", DreamPage)
        await until(lambda: page.persona_selector.persona_id == "mira" and page.button("Dream now").isEnabled())
        QTest.mouseClick(page.button("Dream now"), Qt.MouseButton.LeftButton)
        looking = asyncio.ensure_future(scene.services.background_runner.run_next_task())
        await until(lambda: len(page.rows.visible_rows) == 2 and page.detail.source is not None)
        await looking
        yield scene, page


def click(button) -> None:
    assert button.isVisible()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def show(page: DreamPage, which: int) -> None:
    QTest.mouseClick(page.filters.chips[which], Qt.MouseButton.LeftButton)


async def test_what_is_proposed_is_seen_accepted_and_taken_back(tmp_path: Path, echo_model: Callable[..., Path]):
    async with dreamt(tmp_path / "home", echo_model("Indeed.")) as (scene, page):
        assert page.detail.reason.text() == "These 2 have the same meaning."
        words = page.detail.field.text
        assert page.filters.chips[PENDING].text() == "Pending (2)"
        assert page.table.isColumnHidden(STATUS), "all that is listed is pending"
        assert page.detail.state.isHidden()

        click(page.buttons.button("Accept"))
        await until(lambda: len(page.rows.visible_rows) == 1)
        assert (await contents(scene)).count(words) == 1

        show(page, HISTORY)
        assert [one.state for one in page.rows.visible_rows] == [ChangeState.APPLIED]
        page.table.select_row(page.rows.visible_rows[0].key)
        await until(page.buttons.button("Undo change").isVisible)
        click(page.buttons.button("Undo change"))
        await until(lambda: page.rows.visible_rows and page.rows.visible_rows[0].state is ChangeState.REVERTED)
        assert (await contents(scene)).count(words) == 2


async def test_accepting_is_undone_with_the_undo_of_the_page(tmp_path: Path, echo_model: Callable[..., Path]):
    async with dreamt(tmp_path / "home", echo_model("Indeed.")) as (scene, page):
        click(page.button("Accept all"))
        await until(lambda: not page.rows.visible_rows)
        assert await contents(scene) == [FERRY, LAMP]

        page.undo_stack.undo()
        await until(lambda: len(page.rows.visible_rows) == 2)
        assert await contents(scene) == [FERRY, FERRY, LAMP, LAMP]

        page.undo_stack.redo()
        await until(lambda: not page.rows.visible_rows)
        assert await contents(scene) == [FERRY, LAMP]


async def test_words_put_otherwise_are_kept_as_the_users_own(tmp_path: Path, echo_model: Callable[..., Path]):
    async with dreamt(tmp_path / "home", echo_model("Indeed.")) as (scene, page):
        page.detail.field.setFocus()
        page.detail.field.selectAll()
        QTest.keyClicks(page.detail.field, "My own words.")

        click(page.buttons.button("Accept"))
        await until(lambda: len(page.rows.visible_rows) == 1)

        own = [one for one in await scene.services.memory.memories("mira") if one.content == "My own words."]
        assert [one.made_by for one in own] == [""]


async def test_what_was_declined_is_left_and_can_be_thought_of_again(tmp_path: Path, echo_model: Callable[..., Path]):
    async with dreamt(tmp_path / "home", echo_model("Indeed.")) as (scene, page):
        click(page.buttons.button("Decline"))
        await until(lambda: len(page.rows.visible_rows) == 1)
        show(page, HISTORY)
        page.table.select_row(page.rows.visible_rows[0].key)
        click(page.buttons.button("Propose again"))
        await until(lambda: page.filters.chips[PENDING].text() == "Pending (2)")

        assert len(await contents(scene)) == 4


async def test_what_the_user_thought_of_a_reply_leads_to_it(tmp_path: Path, echo_model: Callable[..., Path]):
    async with dreamt(tmp_path / "home", echo_model("Indeed.")) as (scene, page):
        greeting = scene.controller.messages.message(scene.controller.messages.rowCount() - 1)
        assert greeting is not None
        where = {"message_id": greeting.id, "position": greeting.shown, "persona_id": "mira"}
        await FeedbackStore(scene.services.database).save_feedback(
            Feedback(**where, verdict=ReplyRating.BAD, words="Don't do that.")
        )
        scene.services.feedback.changed.notify("mira")
        show(page, FEEDBACK)
        await until(lambda: page.rows.visible_rows)
        page.table.select_row(page.rows.visible_rows[0].key)

        assert page.detail.title.text() == "“Don't do that.”"
        assert page.detail.reason.text() == scene.words[-1]
        click(page.buttons.button("Go to message"))
        await until(lambda: scene.page is None)


async def test_a_broken_directive_of_the_users_is_told(tmp_path: Path, echo_model: Callable[..., Path]):
    home = tmp_path / "home"
    (home / "prompts").mkdir(parents=True)
    (home / "prompts" / "dream.md").write_text("Be bold.", encoding="utf-8")
    async with dreamt(home, echo_model("Indeed.")) as (_scene, page):
        assert "dream.md" in page.hint.text()
        assert "# Material" in page.hint.text()


async def test_no_change_of_the_persona_before_is_listed_while_the_next_ones_are_loaded(
    tmp_path: Path, echo_model: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
):
    async with dreamt(tmp_path / "home", echo_model("Indeed.")) as (scene, page):
        load, is_released = scene.services.dreams.changes_of, asyncio.Event()

        async def load_slowly(persona_id: str) -> list[RecordedChange]:
            await is_released.wait()
            return await load(persona_id)

        monkeypatch.setattr(scene.services.dreams, "changes_of", load_slowly)
        page.persona_selector.choose_persona("edmund")

        assert not page.rows.visible_rows
        assert not page.button("Accept all").isVisible()
        is_released.set()
        page.persona_selector.choose_persona("mira")
        await until(lambda: len(page.rows.visible_rows) == 2 and page.button("Accept all").isVisible())
