"""Facts in the user's hands: where they were said, other words, one of several, forgotten and taken back, restored."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QLabel, QPushButton, QRadioButton

from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.ui.core.labels.dates import format_date
from lethe_app.ui.core.routes import FactsRoute
from lethe_app.ui.dialogs.dialogs import ConfirmDialog
from lethe_app.ui.pages.facts.detail import SourceButton
from lethe_app.ui.pages.facts.dialogs import MergeFactsDialog, NewFactDialog
from lethe_app.ui.pages.facts.page import FactPage
from lethe_app.ui.pages.facts.table_model import format_weight
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")
BEFORE = now() - timedelta(days=20)


@asynccontextmanager
async def browsing(home: Path, script: Path) -> AsyncIterator[tuple[Scene, FactPage]]:
    """The page over a home in which Mira was told three things, one of which replaced another."""
    async with opened(home, script) as scene:
        chats = scene.services.session_store
        session = await chats.add_session(ChatSession(persona_id="mira", name="The bees", added=BEFORE))
        message = Message(
            session_id=session.guid,
            role=Role.USER,
            speaker_name="Tomas",
            time=BEFORE,
            alternatives=[Alternative(content="I keep bees, you know.")],
        )
        await chats.add_messages([message])
        bees = extracted_fact("Tomas keeps bees.", session, message, reference_count=2)
        cats = extracted_fact("Tomas has three cats.", session, message)
        old = extracted_fact("Tomas has two cats.", session, message, superseded=True, superseded_by=cats.guid)
        await scene.services.fact_store.save_facts("mira", bees, cats, old)
        page = scene.open_page("facts", FactPage)
        await until(
            lambda: page.rows.row_total == 3 and page.persona_selector.persona_name == "Mira" and page.core_label.text()
        )
        yield scene, page


def extracted_fact(text: str, session: ChatSession, message: Message, **fields: object) -> ExtractedFact:
    sources = {"source_memories": [session.guid], "source_messages": [message.id]}
    return ExtractedFact(fact=text, first_seen=BEFORE, last_seen=BEFORE, **{**sources, **fields})


@pytest.fixture
def script(echo_model) -> Path:
    return echo_model("Indeed.")


def show_view(page: FactPage, view: str) -> None:
    page.filters.chips[view].click()


def facts(page: FactPage) -> set[str]:
    return {fact.fact for fact in page.rows.visible_rows}


def named(page: FactPage, text: str) -> ExtractedFact:
    return next(fact for fact in page.rows.all_rows if fact.fact == text)


async def chosen(page: FactPage, text: str) -> None:
    page.select_record(named(page, text).guid)
    await until(lambda: page.detail.fact is not None and page.detail.fact.fact == text)


async def pressed(page: FactPage, words: str) -> None:
    buttons = [button for button in page.findChildren(QPushButton) if button.text() == words and button.isVisible()]
    QTest.mouseClick(buttons[0], Qt.MouseButton.LeftButton)


async def accepted(scene: Scene, kind: type[QDialog]) -> QDialog:
    dialog = await scene.dialog()
    assert isinstance(dialog, kind)
    return dialog


async def test_each_view_lists_its_own_and_words_narrow_them(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script) as (_scene, page):
        assert facts(page) == {"Tomas keeps bees.", "Tomas has three cats."}
        assert "2 facts are always included" in page.core_label.text()
        QTest.keyClicks(page.search, "bees")
        assert facts(page) == {"Tomas keeps bees."}
        page.search.clear()
        await pressed(page, "Replaced")
        assert facts(page) == {"Tomas has two cats."}
        await pressed(page, "Added by you")
        assert facts(page) == set()
        await pressed(page, "Always included")
        assert facts(page) == {"Tomas keeps bees.", "Tomas has three cats."}


async def test_what_was_said_more_often_weighs_more_and_what_was_replaced_nothing(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script) as (_scene, page):
        bees = named(page, "Tomas keeps bees.")
        often = bees.model_copy(update={"reference_count": bees.reference_count + 4})

        assert float(format_weight(often)) > float(format_weight(bees)) > 0
        assert format_weight(bees.model_copy(update={"superseded": True})) == ""
        await chosen(page, "Tomas keeps bees.")
        tooltips = " ".join(label.toolTip() for label in page.detail.findChildren(QLabel))
        assert f"Weight {format_weight(bees)}, " in tooltips


async def test_a_source_leads_to_the_message(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script) as (scene, page):
        await chosen(page, "Tomas keeps bees.")
        source = "Tomas: “I keep bees, you know.”"
        await until(lambda: any(source in button.accessibleName() for button in page.findChildren(SourceButton)))
        button = next(button for button in page.findChildren(SourceButton) if source in button.accessibleName())
        assert "The bees" in button.accessibleName()
        assert button.text().splitlines()[-1].startswith(format_date(BEFORE.timestamp()))
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        await until(lambda: scene.page is None and "I keep bees, you know." in scene.words)


async def test_other_words_are_kept_as_they_are_typed_and_undone(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script) as (scene, page):
        await chosen(page, "Tomas keeps bees.")
        QTest.keyClick(page.table, Qt.Key.Key_Return)
        page.detail.field.selectAll()
        QTest.keyClicks(page.detail.field, "Tomas sold his bees.")
        assert "Tomas sold his bees." in facts(page)  # at once, whether it is stored yet or not
        await until(lambda: named(page, "Tomas sold his bees.").made_by is MadeBy.USER)
        page.undo_stack.undo()
        assert "Tomas keeps bees." in facts(page)
        await until(lambda: not page.saver.unsaved_values(("mira", page.detail.fact.guid)))
        assert "Tomas sold his bees." not in facts(page)
        assert await scene.services.fact_store.tombstones_of("mira") == []


async def test_a_fact_is_pinned_and_unpinned(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script) as (_scene, page):
        await chosen(page, "Tomas keeps bees.")
        await pressed(page, "Pin")
        await until(lambda: named(page, "Tomas keeps bees.").pinned)
        show_view(page, "pinned")
        assert facts(page) == {"Tomas keeps bees."}
        page.undo_stack.undo()
        await until(lambda: facts(page) == set())


async def test_a_fact_is_added_undone_and_added_again(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script) as (scene, page):
        await pressed(page, "Add fact")
        dialog = await accepted(scene, NewFactDialog)
        assert isinstance(dialog, NewFactDialog)
        assert not dialog.primary.isEnabled()
        QTest.keyClicks(dialog.field, "Tomas sings.")
        QTest.mouseClick(dialog.primary, Qt.MouseButton.LeftButton)
        await until(lambda: "Tomas sings." in facts(page))
        first = named(page, "Tomas sings.")
        page.undo_stack.undo()
        await until(lambda: "Tomas sings." not in facts(page))
        page.undo_stack.redo()
        await until(lambda: "Tomas sings." in facts(page))
        assert named(page, "Tomas sings.") == first


async def test_forgetting_asks_by_name_and_can_be_taken_back(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script) as (scene, page):
        await chosen(page, "Tomas keeps bees.")
        QTest.keyClick(page.table, Qt.Key.Key_Delete)
        question = await accepted(scene, ConfirmDialog)
        assert isinstance(question, ConfirmDialog)
        assert "Tomas keeps bees." in question.primary.text()
        QTest.mouseClick(question.primary, Qt.MouseButton.LeftButton)
        await until(lambda: "Tomas keeps bees." not in facts(page))
        assert len(await scene.services.fact_store.tombstones_of("mira")) == 1

        (button,) = [button for toast in scene.toasts for button in toast.findChildren(QPushButton)]
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        await until(lambda: "Tomas keeps bees." in facts(page))
        assert await scene.services.fact_store.tombstones_of("mira") == []


async def test_several_become_one_in_the_users_words_and_several_again(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script) as (scene, page):
        assert not page.button("Merge facts…").isEnabled()
        page.table.selectAll()
        assert page.button("Merge facts…").isEnabled()
        await pressed(page, "Merge facts…")
        dialog = await accepted(scene, MergeFactsDialog)
        assert isinstance(dialog, MergeFactsDialog)
        choice = next(button for button in dialog.findChildren(QRadioButton) if "bees" in button.text())
        QTest.mouseClick(choice, Qt.MouseButton.LeftButton, pos=choice.rect().center())
        choice.click()
        assert dialog.entered_text == "Tomas keeps bees."
        dialog.field.set_text("Tomas keeps bees and cats.")
        QTest.mouseClick(dialog.primary, Qt.MouseButton.LeftButton)
        await until(lambda: facts(page) == {"Tomas keeps bees and cats."})
        assert named(page, "Tomas keeps bees and cats.").reference_count == 3

        page.undo_stack.undo()
        await until(lambda: facts(page) == {"Tomas keeps bees.", "Tomas has three cats."})


async def test_a_replaced_fact_holds_again_instead_of_the_newer_one(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script) as (_scene, page):
        show_view(page, "replaced")
        await chosen(page, "Tomas has two cats.")
        assert page.detail.successor_button.accessibleName().startswith("Tomas has three cats.")
        await pressed(page, "Replace newer fact")
        await until(lambda: named(page, "Tomas has three cats.").superseded)
        await until(lambda: facts(page) == {"Tomas keeps bees.", "Tomas has two cats."})
        page.undo_stack.undo()
        await until(lambda: named(page, "Tomas has two cats.").superseded)


async def test_undo_takes_back_what_the_user_did_and_not_what_was_learnt_since(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script) as (scene, page):
        await chosen(page, "Tomas keeps bees.")
        await pressed(page, "Pin")
        await until(lambda: named(page, "Tomas keeps bees.").pinned)
        pinned = named(page, "Tomas keeps bees.")
        newer = ExtractedFact(fact="Tomas sold his bees.")
        said_again = {"reference_count": 3, "superseded": True, "superseded_by": newer.guid}
        await scene.services.fact_store.save_facts("mira", newer, pinned.model_copy(update=said_again))

        page.undo_stack.undo()
        await until(lambda: not named(page, "Tomas keeps bees.").pinned)

        left = named(page, "Tomas keeps bees.")
        assert (left.reference_count, left.superseded, left.superseded_by) == (3, True, newer.guid)


async def test_a_fact_of_somebody_else_is_gone_to_wherever_it_is_listed(tmp_path: Path, script: Path):
    async with opened(tmp_path / "home", script) as scene:
        old = ExtractedFact(fact="Edmund lost a glove.", superseded=True)
        await scene.services.fact_store.save_facts("edmund", old, ExtractedFact(fact="Edmund found a glove."))
        scene.controller.pages.navigator.open(FactsRoute("edmund", old.guid))
        page = scene.page
        assert isinstance(page, FactPage)

        await until(lambda: page.detail.fact is not None and page.detail.fact.guid == old.guid)
        assert page.views.selected == ["replaced"]


async def test_a_fact_saved_by_leaving_for_another_persona_is_undone_for_its_own(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script) as (scene, page):
        await scene.services.facts.add("edmund", "Edmund found a glove.")
        await chosen(page, "Tomas keeps bees.")
        bees = named(page, "Tomas keeps bees.")
        page.detail.field.setPlainText("Tomas keeps two hives.")

        page.persona_selector.choose_persona("edmund")
        await until(lambda: facts(page) == {"Edmund found a glove."})
        await until(lambda: not page.saver.unsaved_values(("mira", bees.guid)))
        page.undo_stack.undo()

        page.persona_selector.choose_persona("mira")
        await until(lambda: "Tomas keeps bees." in facts(page))
        assert "Tomas keeps two hives." not in facts(page)
