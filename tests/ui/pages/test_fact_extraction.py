"""Facts are extracted again where the user asks for it, an empty list says why it is empty, and kinds narrow a full one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QPushButton

from lethe_app.domain.chat import ChatSession
from lethe_app.domain.facts import ExtractedFact, FactKind
from lethe_app.services.sessions.editing import FactExtraction
from lethe_app.ui.pages.facts.page import FactPage
from lethe_app.ui.pages.settings.page import SettingsPage
from tests.ui.form_fields import field_of, words_in
from tests.ui.pages.test_sessions import add_conversation, session_page
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")
NUTS = ("I am allergic to peanuts.", "Noted.", "I work as a carpenter.", "Then you know wood.")
SMALL_TALK = ("Good evening!", "And to you.", "What a day.", "Indeed.")
LEARNT = {"X is allergic to peanuts.", "X works as a carpenter."}


@asynccontextmanager
async def facts_of(
    home: Path, *lines: str, archived: bool = False, **settings: object
) -> AsyncIterator[tuple[Scene, FactPage]]:
    """The page of facts over a home with one conversation."""
    async with opened(home) as scene:
        await scene.services.preferences.set(**settings)
        session = await add_conversation(scene, "An evening", *lines)
        if archived:
            await scene.services.archive_queue.archive_session(session.guid)
        page = scene.open_page("facts", FactPage)
        await until(lambda: page.persona_selector.persona_name == "Mira" and page.core_label.text())
        yield scene, page


def press(button: QPushButton) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def listed(page: FactPage) -> set[str]:
    return {fact.fact for fact in page.rows.visible_rows}


@pytest.mark.parametrize(
    ("lines", "archived", "settings", "words"),
    [
        (NUTS, False, {}, "when a conversation ends: 60 minutes after the last message, or when you start a new one."),
        (NUTS, False, {"rotation_minutes": 90}, "90 minutes after the last message"),
        (NUTS, False, {"rotation_minutes": 0}, "Facts are extracted from a conversation when you start a new one."),
        (SMALL_TALK, True, {}, "No lasting facts were found in the conversation that has ended."),
        (NUTS, True, {"fact_retrieval": False}, "Fact learning is turned off"),
    ],
)
async def test_an_empty_list_says_why(
    tmp_path: Path, lines: tuple[str, ...], archived: bool, settings: dict[str, object], words: str
):
    async with facts_of(tmp_path, *lines, archived=archived, **settings) as (_scene, page):
        await until(lambda: words in page.reason_label.text())

        assert page.stack.currentIndex() == 1
        assert page.settings_button.isVisible() is ("turned off" in words)
        assert page.first_extract_button.isVisible() is ("turned off" not in words)


async def test_from_the_empty_list_the_setting_is_one_click_away(tmp_path: Path):
    async with facts_of(tmp_path, fact_retrieval=False) as (scene, page):
        await until(page.settings_button.isVisible)

        press(page.settings_button)

        await until(lambda: isinstance(scene.page, SettingsPage))
        settings = scene.page
        assert isinstance(settings, SettingsPage)
        await until(lambda: settings.sections.currentItem() and settings.sections.currentItem().text() == "Memory")
        field = field_of(settings, "fact_retrieval")
        await until(lambda: not field.visibleRegion().isEmpty())


async def test_from_the_empty_list_facts_are_extracted_from_all_conversations(tmp_path: Path):
    async with facts_of(tmp_path, *NUTS) as (scene, page):
        await add_conversation(scene, "Another", *SMALL_TALK)
        await until(page.first_extract_button.isVisible)

        press(page.first_extract_button)

        await until(lambda: listed(page) == LEARNT and page.stack.currentIndex() == 0 and page.extract_button.isEnabled())
        assert page.extraction_bar.isHidden()


async def test_a_second_extraction_waits_for_the_end_of_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    running: dict[str, asyncio.Event] = {}

    async def extract_all(_service: FactExtraction, persona_id: str, report: Callable[[int, int], bool]) -> bool:
        report(0, 1)
        running[persona_id] = asyncio.Event()
        await running[persona_id].wait()
        return False

    monkeypatch.setattr(FactExtraction, "extract_all", extract_all)
    async with facts_of(tmp_path, *NUTS) as (scene, page):
        await scene.services.session_store.add_session(ChatSession(persona_id="tamsin", name="The zoo"))
        button = page.first_extract_button
        await until(button.isVisible)
        press(button)
        await until(lambda: "mira" in running)
        page.persona_selector.choose_persona("tamsin")
        await until(button.isVisible)
        assert not button.isEnabled()
        assert page.extraction_bar.isVisible()

        running["mira"].set()
        await until(page.extraction_bar.isHidden)
        press(button)
        await until(lambda: "tamsin" in running)
        assert page.extraction_bar.isVisible()
        assert not page.extract_button.isEnabled()
        running["tamsin"].set()
        await until(page.extraction_bar.isHidden)


async def test_extracting_can_be_stopped(tmp_path: Path):
    async with facts_of(tmp_path, *NUTS) as (scene, _page):
        for number in range(3):
            await add_conversation(scene, f"Talk {number}", *SMALL_TALK)
        seen: list[tuple[int, int]] = []

        def report(done: int, total: int) -> bool:
            seen.append((done, total))
            return done < 2

        assert not await scene.services.fact_extraction.extract_all("mira", report)
        assert [done for done, _total in seen] == [0, 1, 2]


async def test_kinds_and_stories_narrow_the_list(tmp_path: Path):
    async with facts_of(tmp_path) as (scene, page):
        facts = [
            ExtractedFact(fact="Tomas works as a nurse.", kind=FactKind.WORK, key="job"),
            ExtractedFact(fact="Tomas's sister Ines works as a vet.", kind=FactKind.PEOPLE, key="ines job"),
            ExtractedFact(fact="Tomas is the king of Elfland.", in_story=True, source_memories=[uuid4()]),
        ]
        await scene.services.facts.learn("mira", facts)
        await until(lambda: page.rows.row_total == 3)

        assert listed(page) == {facts[0].fact, facts[1].fact}
        assert not page.kind_menu.actions_by_value[FactKind.HEALTH].isVisible()
        page.kind_menu.actions_by_value[FactKind.WORK].trigger()
        assert listed(page) == {facts[0].fact}
        page.select_record(facts[0].guid)
        await until(lambda: page.detail.fact is not None)
        assert "A new statement about “job” replaces this fact." in words_in(page.detail)
        page.kind_menu.actions_by_value[FactKind.WORK].trigger()
        page.select_record(facts[1].guid)
        await until(lambda: "A new statement about “job of Ines” replaces this fact." in words_in(page.detail))
        press(page.filters.chips["story"])
        assert listed(page) == {facts[2].fact}


async def known(scene: Scene, session: ChatSession) -> dict[str, bool]:
    facts = await scene.services.facts.facts_of("mira")
    return {fact.fact: fact.in_story for fact in facts if session.guid in fact.source_memories and not fact.superseded}


async def test_one_conversation_is_extracted_again(tmp_path: Path):
    async with opened(tmp_path) as scene:
        session = await add_conversation(scene, "An evening", *NUTS)
        page = await session_page(scene, session)

        press(page.detail._buttons.button("Extract facts now"))

        await until(lambda: [toast.text for toast in scene.toasts] == ["2 facts were extracted."])
        assert set(await known(scene, session)) == LEARNT


async def test_ticking_roleplay_in_the_window_moves_the_facts_and_undo_moves_them_back(tmp_path: Path):
    async with opened(tmp_path) as scene:
        session = await add_conversation(scene, "An evening", *NUTS)
        await scene.services.archive_queue.archive_session(session.guid)
        page = await session_page(scene, session)
        box = page.detail.form.field_widget("is_roleplay")
        assert isinstance(box, QCheckBox)

        box.click()
        await page.saver.save()
        assert await known(scene, session) == dict.fromkeys(LEARNT, True)

        page.undo_stack.undo()
        await page.saver.save()
        assert await known(scene, session) == dict.fromkeys(LEARNT, False)


async def test_a_distance_is_an_advanced_setting(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = scene.open_page("settings", SettingsPage)
        await until(lambda: page.sections.currentRow() == 0)
        page.show_setting("fact_retrieval")
        field = field_of(page, "rag_distance")
        assert not field.isVisible()

        press(page.advanced_chip)
        assert field.isVisible()
        press(page.advanced_chip)
        page.search.setText("recall distance")
        assert field.isVisible()
