"""The overview of what is known: by month and conversation, with ways to the sources and a text to keep."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog

from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.facts import ExtractedFact, FactKind, MadeBy
from lethe_app.domain.memory import KEY_MOMENTS, MemoryType, MemoryUnit
from lethe_app.services.search.fact_lists import FactLists
from lethe_app.services.search.timeline import Timeline
from lethe_app.ui.dialogs.dialogs import ConfirmDialog
from lethe_app.ui.pages.facts.page import FactPage
from lethe_app.ui.pages.overview.list import TimelineRowKind
from lethe_app.ui.pages.overview.page import OverviewPage
from tests.homes import write_personas
from tests.ui.window_scene import Scene, opened, settled, until

pytestmark = pytest.mark.usefixtures("styled_app")
MARCH, MAY = datetime(2026, 3, 14, 12, tzinfo=UTC), datetime(2026, 5, 2, 12, tzinfo=UTC)


@pytest.fixture
def script(echo_model) -> Path:
    return echo_model("Indeed.")


@asynccontextmanager
async def asked(home: Path, script: Path, *, known: bool = True) -> AsyncIterator[tuple[Scene, OverviewPage]]:
    """Tomas asks Mira, who knows four things, three of them about him."""
    write_personas(home, {"tomas": {"is_user": True, "name": "Tomas"}})
    async with opened(home, script) as scene:
        await scene.services.preferences.set(user_persona="tomas")
        if known:
            await tell(scene)
        page = scene.open_page("overview", OverviewPage)
        await until(
            lambda: (
                page.persona_selector.persona_name == "Mira" and (page.fact_list.lines or not known) and "Mira" in page.markdown
            )
        )
        yield scene, page


async def test_key_moments_stand_in_their_month_with_a_mark_and_lead_to_their_message(tmp_path: Path, script: Path):
    async with asked(tmp_path, script) as (scene, page):
        sources = await scene.services.database.run(
            lambda connection: connection.execute(
                "SELECT id, session_id FROM messages WHERE role = 'user' ORDER BY time"
            ).fetchall()
        )
        moment = MemoryUnit(
            category=MemoryType.EVENT,
            content="Tomas became a carpenter.",
            added=MARCH,
            sources=[f"message:{sources[0][0]}"],
            made_by=KEY_MOMENTS,
        )
        await scene.services.memory_cache.save_memories("mira", moment)
        await until(lambda: any(row.moment is not None for row in page.fact_list.lines))

        rows = page.fact_list.lines
        index = next(index for index, row in enumerate(rows) if row.moment is not None)
        assert [row.text for row in rows[index - 2 : index + 1]] == ["March 2026", "Key moments", "Tomas became a carpenter."]
        assert "### Key moments\n\n- Tomas became a carpenter. (2026-03-14)" in page.markdown
        assert page.subtitle.accessibleName() == "Mira remembers 3 facts"
        page.by_topic_chip.setChecked(True)
        assert "Key moments" in [row.text for row in page.fact_list.lines if row.kind is TimelineRowKind.MONTH]
        page.by_topic_chip.setChecked(False)
        page.fact_list.opened.emit(rows[index])
        await until(lambda: scene.page is None and scene.session is not None and str(scene.session.guid) == sources[0][1])


async def test_a_key_moment_that_a_fact_states_is_not_repeated_and_not_contradicted(tmp_path: Path, script: Path):
    async with asked(tmp_path, script) as (scene, page):
        (fact,) = [fact for fact in await scene.services.facts.facts_of("mira") if "carpenter" in fact.fact]
        source = [f"message:{fact.source_messages[0]}"]
        values = {"category": MemoryType.EVENT, "added": MARCH, "sources": source, "made_by": KEY_MOMENTS}
        same = MemoryUnit(content="Tomas is a carpenter.", **values)
        other = MemoryUnit(content="Tomas moved to the island with his wife Nell.", **values)
        await scene.services.memory_cache.save_memories("mira", same, other)
        await until(lambda: shown_moments(page) == [other.content])
        assert page.markdown.count(same.content) == 1
        page.by_topic_chip.setChecked(True)
        assert shown_moments(page) == [other.content]
        page.by_topic_chip.setChecked(False)

        await scene.services.facts.edit(fact.guid, "Tomas is a retired carpenter.")

        await until(lambda: "Tomas is a retired carpenter." in texts(page, TimelineRowKind.LINE))
        assert shown_moments(page) == [other.content]
        await scene.services.facts.edit(fact.guid, "Tomas built boats for thirty years.")
        await until(lambda: "Tomas built boats for thirty years." in texts(page, TimelineRowKind.LINE))
        assert shown_moments(page) == [other.content]


async def test_a_key_moment_says_until_when_it_held(tmp_path: Path, script: Path):
    async with asked(tmp_path, script) as (scene, page):
        (fact,) = [fact for fact in await scene.services.facts.facts_of("mira") if "carpenter" in fact.fact]
        values = {"category": MemoryType.EVENT, "added": MARCH, "made_by": KEY_MOMENTS}
        moment = MemoryUnit(content="Tomas is a carpenter.", sources=[f"message:{fact.source_messages[0]}"], **values)
        await scene.services.memory_cache.save_memories("mira", moment)
        newer = ExtractedFact(fact="Tomas is a baker.", first_seen=MAY, last_seen=MAY, kind=FactKind.WORK)
        replaced = fact.model_copy(update={"superseded": True, "superseded_by": newer.guid})
        await scene.services.fact_store.save_facts("mira", newer, replaced)
        await scene.services.facts.renew("mira")

        await until(lambda: [row.day for row in page.fact_list.lines if row.moment is not None] == ["14 Mar, until 2 May"])


def shown_moments(page: OverviewPage) -> list[str]:
    return [row.text for row in page.fact_list.lines if row.moment is not None]


async def tell(scene: Scene) -> None:
    chats, facts = scene.services.session_store, []
    for title, day, said, kind in (
        ("First night", MARCH, "I am a carpenter.", FactKind.WORK),
        ("The bell", MAY, "I keep bees.", FactKind.TASTE),
    ):
        session = await chats.add_session(ChatSession(persona_id="mira", name=title, added=day))
        alternatives = [Alternative(content=said)]
        message = Message(session_id=session.guid, role=Role.USER, time=day, alternatives=alternatives)
        await chats.add_messages([message])
        sources = {"source_memories": [session.guid], "source_messages": [message.id], "first_seen": day, "last_seen": day}
        stated = said.replace("I am", "Tomas is").replace("I keep", "Tomas keeps")
        facts.append(ExtractedFact(fact=stated, kind=kind, **sources))
    facts.append(ExtractedFact(fact="Ines lives in Porto.", first_seen=MAY, last_seen=MAY))
    facts.append(ExtractedFact(fact="Tomas is allergic.", pinned=True, made_by=MadeBy.USER, first_seen=MARCH, last_seen=MARCH))
    await scene.services.fact_store.save_facts("mira", *facts)


def texts(page: OverviewPage, *kinds: TimelineRowKind) -> list[str]:
    return [row.text for row in page.fact_list.lines if row.kind in (kinds or set(TimelineRowKind))]


async def test_it_is_told_pinned_first_then_the_newest_month_with_its_conversations(tmp_path: Path, script: Path):
    async with asked(tmp_path / "home", script) as (_scene, page):
        assert texts(page) == [
            "Pinned",
            "Tomas is allergic.",
            "May 2026",
            "From “The bell”",
            "Tomas keeps bees.",
            "March 2026",
            "From “First night”",
            "Tomas is a carpenter.",
        ]
        assert "Mira remembers 3 facts" in page.subtitle.accessibleName()

        QTest.mouseClick(page.oldest_first_chip, Qt.MouseButton.LeftButton)
        QTest.mouseClick(page.include_others_chip, Qt.MouseButton.LeftButton)
        assert texts(page, TimelineRowKind.MONTH) == ["Pinned", "March 2026", "May 2026"]
        assert "Ines lives in Porto." in texts(page, TimelineRowKind.LINE)

        QTest.keyClicks(page.search, "bees")
        assert texts(page) == ["May 2026", "From “The bell”", "Tomas keeps bees."]
        assert page.subtitle.accessibleName() == "1 fact found"


async def test_it_is_told_by_topic_on_request(tmp_path: Path, script: Path):
    async with asked(tmp_path / "home", script) as (_scene, page):
        QTest.mouseClick(page.by_topic_chip, Qt.MouseButton.LeftButton)

        assert texts(page) == [
            "Pinned",
            "Tomas is allergic.",
            "Work",
            "Tomas is a carpenter.",
            "Likes and habits",
            "Tomas keeps bees.",
        ]
        QTest.mouseClick(page.include_others_chip, Qt.MouseButton.LeftButton)
        assert texts(page)[-2:] == ["Other", "Ines lives in Porto."]


async def test_a_line_opens_what_was_said_by_keyboard(tmp_path: Path, script: Path):
    async with asked(tmp_path / "home", script) as (scene, page):
        page.fact_list.select_line(1)
        QTest.keyClick(page.fact_list, Qt.Key.Key_Return)
        await until(lambda: scene.toasts)
        assert scene.page is page, "a fact of the user's own has no source"
        place = texts(page).index("Tomas keeps bees.")
        page.fact_list.select_line(place)
        QTest.keyClick(page.fact_list, Qt.Key.Key_Return)
        await until(lambda: scene.page is None and "I keep bees." in scene.words)


async def test_the_menu_of_a_line_leads_to_what_was_said_and_to_the_fact(tmp_path: Path, script: Path):
    async with asked(tmp_path / "home", script) as (scene, page):
        rows = {row.text: row for row in page.fact_list.lines}

        assert not rows["May 2026"].can_open
        assert [entry.title for entry in page.list_actions(rows["From “The bell”"])] == ["Open in the conversation\tEnter"]
        entries = page.list_actions(rows["Tomas keeps bees."])
        assert [entry.title for entry in entries] == [
            "Open in the conversation\tEnter",
            "Edit in Facts…\tF2",
            "Pin",
            "Forget…\tDel",
        ]
        page.fact_list.select_line(texts(page).index("Tomas keeps bees."))
        entries[2].run()
        await until(lambda: texts(page)[:3] == ["Pinned", "Tomas is allergic.", "Tomas keeps bees."])
        assert page.fact_list.currentIndex().row() == 2, "the same fact, in its new place"
        page.undo_stack.undo()
        await until(lambda: texts(page)[:2] == ["Pinned", "Tomas is allergic."] and "May 2026" in texts(page))
        entries[0].run()
        await until(lambda: scene.page is None and "I keep bees." in scene.words)
        scene.window.window_actions["overview"].trigger()
        await until(lambda: isinstance(scene.page, OverviewPage) and scene.page.fact_list.lines)
        again = scene.page
        assert isinstance(again, OverviewPage)
        again.fact_list.select_line(texts(again).index("Tomas keeps bees."))
        QTest.keyClick(again.fact_list, Qt.Key.Key_F2)
        await until(lambda: isinstance(scene.page, FactPage) and scene.page.detail.fact is not None)
        assert isinstance(scene.page, FactPage)
        assert scene.page.detail.fact is not None
        assert scene.page.detail.fact.fact == "Tomas keeps bees."
        field = scene.page.detail.field
        await until(lambda: scene.window.focusWidget() is field)


async def test_a_fact_is_forgotten_by_its_key_and_taken_back(tmp_path: Path, script: Path):
    async with asked(tmp_path / "home", script) as (scene, page):
        page.search.setFocus()
        page.fact_list.setFocus(Qt.FocusReason.TabFocusReason)
        assert page.fact_list.currentIndex().row() == 1, "the first fact, below its heading"
        page.fact_list.select_line(texts(page).index("Tomas keeps bees."))

        QTest.keyClick(page.fact_list, Qt.Key.Key_Delete)
        dialog = await scene.dialog()
        assert isinstance(dialog, ConfirmDialog)
        dialog.accept()
        await until(lambda: "Tomas keeps bees." not in texts(page))
        assert page.fact_list.currentIndex().data() == "Tomas is a carpenter.", "the next fact"

        page.undo_stack.undo()
        await until(lambda: "Tomas keeps bees." in texts(page))


async def test_a_key_pressed_before_the_question_has_opened_does_not_leave_the_page(tmp_path: Path, script: Path):
    async with asked(tmp_path / "home", script) as (scene, page):
        page.fact_list.select_line(texts(page).index("Tomas keeps bees."))
        for key in (Qt.Key.Key_Delete, Qt.Key.Key_Return, Qt.Key.Key_Escape):
            QTest.keyClick(page.fact_list, key)
        dialog = await scene.dialog()
        await settled(scene, page)
        dialog.accept()

        await until(lambda: "Tomas keeps bees." not in texts(page))
        assert scene.page is page


async def test_it_is_copied_and_saved_as_a_text(tmp_path: Path, script: Path):
    async with asked(tmp_path / "home", script) as (scene, page):
        QTest.mouseClick(page.copy_button, Qt.MouseButton.LeftButton)
        copied = QApplication.clipboard().text()
        assert copied.startswith("# What Mira remembers about me")
        assert "## May 2026\n\n### From “The bell”\n\n- Tomas keeps bees. (2026-05-02)" in copied

        QTest.mouseClick(page.save_button, Qt.MouseButton.LeftButton)
        dialog = await scene.dialog()
        assert isinstance(dialog, QFileDialog)
        dialog.setDirectory(str(tmp_path))
        dialog.accept()
        await until((tmp_path / "Mira.md").exists)
        assert (tmp_path / "Mira.md").read_text(encoding="utf-8") == copied


async def test_where_nothing_is_known_it_says_when_something_will_be(tmp_path: Path, script: Path):
    async with asked(tmp_path / "home", script, known=False) as (scene, page):
        assert page.fact_list.lines == []
        assert page.fact_list.empty_text.startswith(
            "No conversation has ended yet. Facts are extracted when a conversation ends"
        )
        assert not page.save_button.isVisible()
        assert page.fact_list.empty_text.endswith("is added as key moments once the day is over.")
        await scene.services.facts.learn("mira", [ExtractedFact(fact="Tomas reads.")])
        await until(lambda: texts(page, TimelineRowKind.LINE) == ["Tomas reads."])
        assert page.save_button.isEnabled()


async def test_no_fact_of_the_persona_before_is_listed_while_the_next_ones_are_loaded(
    tmp_path: Path, script: Path, monkeypatch: pytest.MonkeyPatch
):
    load, is_released = FactLists.load_timeline, asyncio.Event()

    async def load_slowly(self: FactLists, persona_id: str) -> Timeline:
        await is_released.wait()
        return await load(self, persona_id)

    async with asked(tmp_path, script) as (_scene, page):
        monkeypatch.setattr(FactLists, "load_timeline", load_slowly)

        page.persona_selector.choose_persona("edmund")

        assert page.fact_list.lines == []
        is_released.set()
        await until(lambda: page.fact_list.empty_text)
        page.persona_selector.choose_persona("mira")
        await until(lambda: page.fact_list.lines)
