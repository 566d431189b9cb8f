"""A sentence from months ago is found with the keyboard alone, and Enter goes to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.list_items import HitKind, SearchHit
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.services.search.everything import MAX_HITS, SearchService
from lethe_app.ui.pages.documents.page import DocumentsPage
from lethe_app.ui.pages.facts.page import FactPage
from lethe_app.ui.pages.memories.page import MemoryPage
from lethe_app.ui.pages.search.page import SearchPage
from lethe_app.ui.pages.search.results import direction_option, text_as_displayed, utf16_length
from lethe_app.ui.pages.worlds.page import WorldPage
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


async def add_conversation(
    scene: Scene, persona: str, title: str, *lines: str, days: float = 1
) -> tuple[ChatSession, list[Message]]:
    chats, began = scene.services.session_store, now() - timedelta(days=days)
    session = await chats.add_session(ChatSession(persona_id=persona, name=title, added=began))
    return session, await chats.add_messages(
        [
            Message(
                session_id=session.guid,
                role=Role.USER,
                speaker_name="Tomas",
                time=began + timedelta(minutes=number),
                alternatives=[Alternative(content=line, created=began)],
            )
            for number, line in enumerate(lines)
        ]
    )


def search_page(scene: Scene) -> SearchPage:
    return scene.open_page("search_everything", SearchPage)


def texts(page: SearchPage) -> list[str]:
    return [line.text for line in page.result_list.lines if line.hit is not None]


def place_of(page: DocumentsPage, row: int) -> QPoint:
    return page.table.visualRect(page.rows.index(row, 0)).center()


def headings(page: SearchPage) -> list[str]:
    return [line.text for line in page.result_list.lines if line.hit is None]


async def test_a_sentence_from_months_ago_is_found_and_enter_jumps_to_it(tmp_path: Path):
    async with opened(tmp_path) as scene:
        lines = [f"Line {number}." for number in range(120)]
        lines[40] = "The keeper of the lighthouse owned a green lantern."
        session, said = await add_conversation(scene, "mira", "The keeper", *lines, days=190)
        page = search_page(scene)
        assert scene.window.focusWidget() is page.search

        QTest.keyClicks(page.search, "green lant")
        await until(lambda: texts(page) == [lines[40]])
        assert headings(page) == ["The keeper"]
        hit = page.result_list.current
        assert [hit.text[start : start + length] for start, length in hit.marks] == ["green", "lantern"]
        QTest.keyClick(page.search, Qt.Key.Key_Return)

        await until(lambda: scene.page is None and scene.session.guid == session.guid)
        view = scene.controller.view
        await until(lambda: view.focused_row is not None and view.chat_model.outline(view.focused_row).id == said[40].id)


async def test_the_arrows_lead_into_the_list_and_back(tmp_path: Path):
    async with opened(tmp_path) as scene:
        await add_conversation(scene, "mira", "The keeper", "A lantern.", "Two lanterns.", days=3)
        page = search_page(scene)
        QTest.keyClicks(page.search, "lantern")
        await until(lambda: len(texts(page)) == 2)

        QTest.keyClick(page.search, Qt.Key.Key_Down)
        assert scene.window.focusWidget() is page.result_list
        first = page.result_list.current
        QTest.keyClick(page.result_list, Qt.Key.Key_Down)
        assert page.result_list.current is not None
        assert page.result_list.current != first
        QTest.keyClick(page.result_list, Qt.Key.Key_Up)
        QTest.keyClick(page.result_list, Qt.Key.Key_Up)

        assert scene.window.focusWidget() is page.search


async def test_the_open_conversation_comes_first_and_can_be_searched_alone(tmp_path: Path):
    async with opened(tmp_path) as scene:
        old, _said = await add_conversation(scene, "mira", "The old one", "A lantern.", days=90)
        await add_conversation(scene, "edmund", "The new one", "Another lantern.", days=1)
        await scene.controller.session_controller.go_to_session(old.guid)
        page = search_page(scene)

        QTest.keyClicks(page.search, "lantern")
        await until(lambda: len(texts(page)) == 2)
        assert headings(page) == ["The old one", "The new one"]
        page.this_session_chip.click()
        await until(lambda: headings(page) == ["The old one"])

        page.everywhere_chip.click()
        page.persona_box.setCurrentIndex(page.persona_box.findData("edmund"))
        await until(lambda: headings(page) == ["The new one"])


async def test_whole_words_come_before_words_that_only_begin_alike(tmp_path: Path):
    async with opened(tmp_path) as scene:
        here, _said = await add_conversation(scene, "mira", "Here", "Yakima swears.", "The yak is cold.", days=90)
        await add_conversation(scene, "edmund", "Newest", "Yakutsk.", days=1)
        await add_conversation(scene, "edmund", "Older", "Two yaks, please.", days=2)
        await scene.controller.session_controller.go_to_session(here.guid)
        page = search_page(scene)

        QTest.keyClicks(page.search, "yak")
        await until(lambda: len(texts(page)) >= 4 and "Newest" in headings(page))

        assert texts(page)[:4] == ["The yak is cold.", "Yakima swears.", "Two yaks, please.", "Yakutsk."]
        assert headings(page)[:3] == ["Here", "Older", "Newest"]


async def test_a_memory_of_somebody_else_is_opened_among_theirs_though_another_has_its_name(tmp_path: Path):
    async with opened(tmp_path) as scene:
        wanted = MemoryUnit(name="The lamp", content="Edmund's lantern is bright.")
        for memory in (MemoryUnit(name="The lamp", content="It is a torch."), wanted):
            await scene.services.memory.memorize("edmund", memory, check=False)
        page = search_page(scene)
        QTest.keyClicks(page.search, "lantern bright")
        await until(lambda: page.result_list.current is not None and page.result_list.current.id == wanted.guid)

        QTest.keyClick(page.search, Qt.Key.Key_Return)
        await until(lambda: isinstance(scene.page, MemoryPage))

        memories = scene.page
        await until(lambda: memories.detail.memory is not None)
        assert memories.persona_selector.persona_id == "edmund"
        assert memories.detail.memory.guid == wanted.guid


async def test_of_what_is_remembered_the_newest_comes_first(tmp_path: Path):
    async with opened(tmp_path) as scene:
        for days in (40, 2, 20):
            memory = MemoryUnit(name=f"{days} days ago", content="A lantern.", added=now() - timedelta(days=days))
            await scene.services.memory.memorize("mira", memory, check=False)
        page = search_page(scene)
        QTest.keyClicks(page.search, "lantern")
        await until(lambda: len(texts(page)) == 3)

        assert [text.split(" ")[0] for text in texts(page)] == ["2", "20", "40"]


async def test_an_entry_of_a_world_is_found_and_opened_in_its_editor(tmp_path: Path):
    async with opened(tmp_path) as scene:
        entry = WorldEntry(name="The Quillon", content="A ketch with a mauve hull.")
        other = WorldEntry(name="Velm", content="Forty houses.")
        await scene.services.library.save_world(World(name="The islands", entries=[other, entry]))
        page = search_page(scene)
        QTest.keyClicks(page.search, "mauve hull")
        await until(lambda: texts(page) == ["The Quillon: A ketch with a mauve hull."])
        assert headings(page) == ["World · The islands"]

        QTest.keyClick(page.search, Qt.Key.Key_Return)

        await until(lambda: isinstance(scene.page, WorldPage))
        worlds = scene.page
        await until(lambda: [one.guid for one in worlds.table.table.selected_rows] == [entry.guid])


async def test_a_passage_of_a_document_is_found_and_opened_at_its_place(tmp_path: Path):
    chapters = [f"Chapter {number}. " + "The sea was grey and nothing happened. " * 40 for number in range(8)]
    text = "\n\n".join([*chapters, "At dusk the quillon struck a sunken bell."])
    async with opened(tmp_path) as scene:
        for title in ("Another", "Novel"):
            file = tmp_path / f"{title}.md"
            file.write_text(text if title == "Novel" else "Nothing.", encoding="utf-8")
            document = await scene.services.documents.add("edmund", file)
        page = search_page(scene)
        QTest.keyClicks(page.search, "quillon")
        await until(lambda: headings(page) == ["Document · Novel"])
        assert [line.detail for line in page.result_list.lines] == ["Edmund", "Novel"]

        QTest.keyClick(page.search, Qt.Key.Key_Return)

        await until(lambda: isinstance(scene.page, DocumentsPage))
        shown = scene.page
        await until(lambda: shown.detail.document is not None and shown.detail.document.guid == document.guid)
        await until(lambda: any("struck a sunken bell" in label.text() for label in shown.detail.findChildren(QLabel)))
        assert not any("Chapter 0." in label.text() for label in shown.detail.findChildren(QLabel))
        assert (shown.persona_selector.persona_id, shown.table.current_row.title) == ("edmund", "Novel")

        QTest.mouseClick(shown.table.viewport(), Qt.MouseButton.LeftButton, pos=place_of(shown, 0))
        await until(lambda: shown.detail.document is not None and shown.detail.document.title == "Another")
        QTest.mouseClick(shown.table.viewport(), Qt.MouseButton.LeftButton, pos=place_of(shown, 1))
        await until(lambda: any("Chapter 0." in label.text() for label in shown.detail.findChildren(QLabel)))


async def test_another_passage_of_the_document_on_display_is_shown(tmp_path: Path):
    async with opened(tmp_path) as scene:
        file = tmp_path / "Manual.md"
        file.write_text("# Pump\n\nThe pump is primed.\n\n# Bell\n\nThe quillon struck a bell.\n", encoding="utf-8")
        document = await scene.services.documents.add("mira", file)
        shown = scene.open_page("documents", DocumentsPage)
        await until(lambda: shown.rows.row_total)
        shown.table.select_row(document.guid)
        await until(lambda: any(label.text() == "How it begins" for label in shown.detail.findChildren(QLabel)))
        page = search_page(scene)
        QTest.keyClicks(page.search, "quillon")
        await until(lambda: headings(page) == ["Document · Manual"])

        QTest.keyClick(page.search, Qt.Key.Key_Return)

        await until(lambda: scene.page is shown)
        await until(lambda: any(label.text() == "Manual, Bell" for label in shown.detail.findChildren(QLabel)))


async def test_a_fact_that_was_replaced_says_so_and_is_shown_among_those(tmp_path: Path):
    async with opened(tmp_path) as scene:
        old = ExtractedFact(fact="Tomas hates marmalade.", superseded=True)
        await scene.services.fact_store.save_facts("mira", old)
        page = search_page(scene)
        QTest.keyClicks(page.search, "marmalade")
        await until(lambda: texts(page) == [old.fact])
        assert page.result_list.lines[1].detail.startswith("Replaced fact")

        QTest.keyClick(page.search, Qt.Key.Key_Return)

        await until(lambda: isinstance(scene.page, FactPage))
        facts = scene.page
        await until(lambda: facts.detail.fact is not None and facts.detail.fact.guid == old.guid)
        assert [fact.guid for fact in facts.rows.visible_rows] == [old.guid]


async def test_a_search_that_finds_too_much_asks_for_more_words(tmp_path: Path):
    async with opened(tmp_path) as scene:
        await add_conversation(scene, "mira", "Light", *[f"Lantern number {number}." for number in range(MAX_HITS + 20)])
        await scene.services.indexing.index_all_pending()
        page = search_page(scene)

        QTest.keyClicks(page.search, "lantern")

        await until(lambda: page.hint.text() == "First 400 results; add words to narrow the search")


async def test_by_meaning_and_nothing_at_all(tmp_path: Path):
    async with opened(tmp_path) as scene:
        await add_conversation(scene, "mira", "Bees", "My grandmother kept bees behind the chapel.", days=40)
        page = search_page(scene)

        QTest.keyClicks(page.search, "bees zanzibar")  # which resembles no word
        await until(lambda: "No results" in page.result_list.empty_text)
        page.search.clear()
        page.by_meaning_chip.click()
        assert not page.this_session_chip.isEnabled()
        QTest.keyClicks(page.search, "grandmother and her bees")

        await until(lambda: any("grandmother" in text for text in texts(page)))


async def test_a_message_on_a_branch_out_of_sight_is_gone_to_as_well(tmp_path: Path):
    async with opened(tmp_path) as scene:
        session, said = await add_conversation(scene, "mira", "Two ways", "One.", "A lantern.", "Three.", days=2)
        words = [Alternative(content="Aside.")]
        aside = Message(session_id=session.guid, role=Role.USER, parent_id=said[0].id, alternatives=words)
        await scene.services.session_store.add_message(aside)
        await scene.controller.session_controller.go_to_session(session.guid)
        page = search_page(scene)

        QTest.keyClicks(page.search, "lantern")
        await until(lambda: texts(page) == ["A lantern."])
        QTest.keyClick(page.search, Qt.Key.Key_Return)
        await until(lambda: scene.page is None)

        view = scene.controller.view
        await until(lambda: view.focused_row is not None and view.chat_model.outline(view.focused_row).id == said[1].id)


def test_lines_of_a_script_that_runs_leftward_begin_at_the_right():
    assert direction_option("“مفتاح” lamp").alignment() == Qt.AlignmentFlag.AlignRight
    assert direction_option("1. lamp مفتاح").alignment() == Qt.AlignmentFlag.AlignLeft
    assert utf16_length("😀😀 lamp") == 9, "as Qt counts the place of a mark"


@pytest.mark.parametrize(
    ("text", "found", "read"),
    [
        ("*She pours the tea.* “Sit.”", "tea", "She pours the tea. “Sit.”"),
        ("…cold *tea*, and 2*3 cups * each", "tea", "…cold tea, and 2*3 cups * each"),
        ("**Tea**, then", "Tea", "Tea, then"),
    ],
)
def test_asterisks_are_not_seen_and_the_marks_stay_on_their_words(text: str, found: str, read: str):
    hit = SearchHit(HitKind.MESSAGE, UUID(int=1), "mira", None, "", "Mira", now(), text, ((text.index(found), len(found)),))

    words, marks = text_as_displayed(hit)

    assert words == read
    assert [words[start : start + length] for start, length in marks] == [found]
    assert text_as_displayed(replace(hit, kind=HitKind.WORLD)) == (text, list(hit.marks))


@pytest.mark.parametrize("typed", ["lighthosue", "ligthhouse lantren", "lanten"])
async def test_misspelled_words_are_corrected_where_nothing_is_found(tmp_path: Path, typed: str):
    async with opened(tmp_path) as scene:
        line = "The keeper of the lighthouse owned a green lantern."
        await add_conversation(scene, "mira", "The keeper", line)
        page = search_page(scene)

        QTest.keyClicks(page.search, typed)

        await until(lambda: texts(page)[:1] == [line])
        await until(lambda: page.hint.text().startswith(f"No results for “{typed}”. Results for “l"))
        assert "lighthous”" not in page.hint.text()


async def test_enter_opens_no_result_of_the_text_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    searches, is_released = list[str](), asyncio.Event()
    search_by_words = SearchService.search_by_words

    async def search_slowly(
        self: SearchService, text: str, persona_id: str | None = None, session: UUID | None = None
    ) -> AsyncIterator[list[SearchHit]]:
        searches.append(text)
        await is_released.wait()
        async for hits in search_by_words(self, text, persona_id, session):
            yield hits

    async with opened(tmp_path) as scene:
        await add_conversation(scene, "mira", "Green", "The lantern is green.")
        heavy, _said = await add_conversation(scene, "mira", "Heavy", "The anchor is heavy.")
        page = search_page(scene)
        page.search.setText("lantern")
        await until(lambda: headings(page) == ["Green"])
        monkeypatch.setattr(SearchService, "search_by_words", search_slowly)
        page.search.setText("anchor")
        await until(lambda: searches)

        QTest.keyClick(page.search, Qt.Key.Key_Return)
        is_released.set()

        await until(lambda: scene.page is None)
        await until(lambda: scene.session.guid == heavy.guid)


async def test_an_incognito_conversation_is_searched_while_it_lasts(tmp_path: Path):
    async with opened(tmp_path) as scene:
        scene.controller.session_controller.start_incognito("mira")
        await until(lambda: scene.session is not None and scene.session.is_incognito)
        said = [Alternative(content="Where is the zeppelin?")]
        message = Message(session_id=scene.session.guid, role=Role.USER, speaker_name="Tomas", alternatives=said)
        await scene.services.session_store.add_message(message)
        page = search_page(scene)

        page.this_session_chip.click()
        page.search.setText("zeppelin")
        await until(lambda: texts(page) == ["Where is the zeppelin?"])

        page.everywhere_chip.click()
        await until(lambda: not texts(page))


async def test_a_fact_is_found_from_its_page_selected_there_and_gone_from_the_results_once_forgotten(tmp_path: Path):
    async with opened(tmp_path) as scene:
        accordion = await scene.services.facts.add("mira", "Tomas plays the accordion.")
        await scene.services.facts.add("mira", "Tomas likes owls.")
        facts = scene.open_page("facts", FactPage)
        await until(lambda: facts.rows.row_total == 2)
        facts.select_record(next(fact.guid for fact in facts.rows.all_rows if fact.guid != accordion.guid))
        page = search_page(scene)
        QTest.keyClicks(page.search, "accordion")
        await until(lambda: texts(page) == ["Tomas plays the accordion."])

        QTest.keyClick(page.search, Qt.Key.Key_Return)
        await until(lambda: scene.page is facts)
        await until(lambda: facts.detail.fact is not None and facts.detail.fact.guid == accordion.guid)
        await scene.services.facts.forget_fact(accordion.guid)
        facts.back.click()

        await until(lambda: scene.page is page)
        await until(lambda: texts(page) == [])
