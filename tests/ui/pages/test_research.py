"""Finding out about something, in the window: asked by a word and Enter, watched, stopped, read, kept, saved and forgotten."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QPushButton

from lethe_app.config.options import SearchProvider
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryType, MemoryUnit
from lethe_app.domain.web import Inquiry, InquiryState, PageSummary, SearchRound
from lethe_app.ui.pages.network_log.page import NetworkLogPage
from lethe_app.ui.pages.research.page import ResearchPage, format_round, format_state
from tests.ui.window_scene import Scene, opened, process_events, until
from tests.web.server import Reply, Site, serving

pytestmark = pytest.mark.usefixtures("styled_app")
FOUND = PageSummary(
    number=1, query="builder", title="Brenn Light", address="https://brenn.example.org/tower", text="Ada Holm built it."
)
DONE = Inquiry(
    persona_id="mira",
    topic="The lighthouse of Brenn",
    state=InquiryState.DONE,
    began=now() - timedelta(minutes=3),
    ended=now(),
    doing="Enough information was found.",
    rounds=[SearchRound(queries=["Brenn builder"], pages=2, findings=1)],
    findings=[FOUND],
    report="Ada Holm built it [1].",
    reported=1,
)


async def page_of(scene: Scene, *inquiries: Inquiry) -> ResearchPage:
    for one in inquiries:
        await scene.services.research.restore(one)
    page = scene.open_page("research", ResearchPage)
    await until(lambda: page.rows.row_total == len(inquiries) and page.persona_field.persona_id)
    return page


def button(page: ResearchPage, title: str) -> QPushButton:
    """The button of a command beside the report."""
    return next(one for one in page.detail.findChildren(QPushButton) if one.text() == title)


async def memories(scene: Scene) -> list[MemoryUnit]:
    return [one for one in await scene.services.memory.memories("mira") if one.category is MemoryType.WEB_SEARCH]


async def test_while_the_internet_is_shut_nothing_can_be_asked_and_the_way_to_open_it_is_shown(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await page_of(scene)
        QTest.keyClicks(page.topic_field, "The lighthouse of Brenn")
        QTest.keyClick(page.topic_field, Qt.Key.Key_Return)

        assert not page.start_button.isEnabled()
        assert "internet search is turned off" in page.hint.text()
        assert page.start_button.toolTip() == "Internet search is turned off"
        assert not await scene.services.research.list_inquiries()
        page.allow_button.click()
        await until(lambda: isinstance(scene.page, NetworkLogPage))


async def test_a_question_is_asked_with_enter_watched_and_stopped(tmp_path: Path):
    site = Site({"/search": Reply(b"{", stalls=True, length=100)})
    async with serving(site), opened(tmp_path) as scene:
        engine = {"web_provider": SearchProvider.SEARXNG, "web_searxng_url": site.url, "web_private_addresses": True}
        await scene.services.preferences.set(web_allowed=True, **engine)
        page = await page_of(scene)
        assert page.topic_field.hasFocus() or page.first_focus_widget() is page.topic_field
        QTest.keyClicks(page.topic_field, "The lighthouse of Brenn")
        QTest.keyClick(page.topic_field, Qt.Key.Key_Return)

        await until(lambda: page.detail.status_label.text() == "Searching for “The lighthouse of Brenn”…")
        assert page.topic_field.text() == ""
        assert page.stop_button.isVisible()
        assert not page.start_button.isEnabled()
        assert not button(page, "Delete report").isVisible()
        page.stop_button.click()
        await until(lambda: page.rows.visible_rows and page.rows.visible_rows[0].state is InquiryState.STOPPED)
        await until(lambda: page.detail.status_label.text() == "Stopped.")

        assert not page.stop_button.isVisible()
        assert button(page, "Delete report").isVisible()
        assert not button(page, "Save to memory").isVisible()


async def test_a_report_is_read_with_its_sources_which_open_only_on_a_click(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    opened_addresses: list[str] = []
    monkeypatch.setattr(
        "lethe_app.ui.pages.research.page.QDesktopServices.openUrl", lambda url: opened_addresses.append(url.toString())
    )
    async with opened(tmp_path) as scene:
        page = await page_of(scene, DONE)
        await until(page.detail.report_label.text)
        links = [one for one in page.detail.findChildren(QPushButton) if one.property("link")]

        assert page.detail.report_label.text() == "Ada Holm built it [1]."
        assert page.detail.rounds_label.text() == "Round 1: “Brenn builder” – 2 pages read, 1 useful"
        assert [one.accessibleName() for one in links] == ["1  Brenn Light – brenn.example.org"]
        assert links[0].toolTip() == FOUND.address
        assert not opened_addresses
        links[0].click()
        assert opened_addresses == [FOUND.address]


async def test_a_source_keeps_the_focus_while_more_is_found(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await page_of(scene, DONE)
        await until(page.detail.report_label.text)

        def sources() -> list[QPushButton]:
            return [one for one in page.detail.findChildren(QPushButton) if one.property("link") and not one.isHidden()]

        (source,) = sources()
        page.detail.show_inquiry(DONE.model_copy(update={"doing": "Reading on."}))
        process_events()
        assert sources() == [source]
        page.detail.show_inquiry(DONE.model_copy(update={"findings": [FOUND, FOUND.model_copy(update={"number": 2})]}))
        process_events()
        assert len(sources()) == 2
        page.detail.show_inquiry(DONE.model_copy(update={"id": uuid4(), "findings": []}))
        process_events()
        assert not sources()


async def test_a_report_is_kept_in_memory_and_that_can_be_undone(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await page_of(scene, DONE)
        await until(lambda: button(page, "Save to memory").isVisible())
        button(page, "Save to memory").click()
        await until(lambda: button(page, "Remove from memory").isVisible())
        (memory,) = await memories(scene)

        assert memory.protected
        assert memory.content == "Ada Holm built it [1].\n\nRead at brenn.example.org."
        assert memory.sources == [FOUND.address]
        page.undo_stack.undo()
        await until(lambda: button(page, "Save to memory").isVisible())
        assert not await memories(scene)


async def test_a_report_is_saved_as_markdown(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await page_of(scene, DONE)
        await until(lambda: button(page, "Save as Markdown…").isVisible())
        button(page, "Save as Markdown…").click()
        dialog = await scene.dialog()
        assert isinstance(dialog, QFileDialog)
        dialog.setDirectory(str(tmp_path))
        dialog.accept()
        await until((tmp_path / "The lighthouse of Brenn.md").exists)

        text = (tmp_path / "The lighthouse of Brenn.md").read_text(encoding="utf-8")
        assert text == (
            "# The lighthouse of Brenn\n\nAda Holm built it [1].\n\n## Sources\n\n"
            "1. [Brenn Light](<https://brenn.example.org/tower>)\n"
        )


async def test_what_is_forgotten_can_be_had_back(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await page_of(scene, DONE)
        await until(lambda: button(page, "Delete report").isVisible())
        button(page, "Delete report").click()
        await until(lambda: page.rows.row_total == 0)
        assert page.detail.currentIndex() == 0

        page.undo_stack.undo()
        await until(lambda: page.rows.row_total == 1)
        assert await scene.services.research.load_inquiry(DONE.id) == DONE


async def test_a_source_that_is_no_page_is_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    received: list[object] = []
    monkeypatch.setattr("lethe_app.ui.pages.research.page.QDesktopServices.openUrl", received.append)
    evil = FOUND.model_copy(update={"address": "file:///etc/passwd"})
    async with opened(tmp_path) as scene:
        page = await page_of(scene, DONE.model_copy(update={"findings": [evil]}))
        await until(page.detail.report_label.text)
        next(one for one in page.detail.findChildren(QPushButton) if one.property("link")).click()

        assert not received


def test_research_without_a_report_says_that_nothing_was_found():
    assert format_state(DONE.model_copy(update={"report": ""})) == "Nothing found"


def test_a_round_that_has_just_begun_says_so():
    assert format_round(2, SearchRound(queries=["oil"])) == "Round 2: “oil” – no pages read yet"


async def test_signs_in_the_titles_and_addresses_of_strangers_are_only_letters(tmp_path: Path):
    strange = FOUND.model_copy(update={"title": "Tom & Jerry", "address": "https://a.example/<b>bold</b>"})
    async with opened(tmp_path) as scene:
        page = await page_of(scene, DONE.model_copy(update={"findings": [strange]}))
        await until(page.detail.report_label.text)
        (link,) = [one for one in page.detail.findChildren(QPushButton) if one.property("link")]

        assert "Tom && Jerry" in link.text()
        assert "<" not in link.toolTip()
        assert link.shortcut().isEmpty()


async def test_the_note_of_a_deleted_report_takes_back_nothing_else(tmp_path: Path):
    async with opened(tmp_path) as scene:
        other = DONE.model_copy(update={"id": uuid4(), "topic": "Bees"})
        page = await page_of(scene, DONE, other)
        page.table.select_row(DONE.id)
        await until(lambda: button(page, "Delete report").isVisible())
        button(page, "Delete report").click()
        await until(lambda: page.rows.row_total == 1)
        page.table.select_row(other.id)
        await until(lambda: page.detail.inquiry is not None and page.detail.inquiry.id == other.id)
        button(page, "Save to memory").click()
        await until(lambda: any("Saved to the memories" in toast.text for toast in scene.toasts))

        scene.take_back("The report was deleted.")

        await until(lambda: page.rows.row_total == 2)
        assert [memory.name for memory in await memories(scene)] == ["Bees"]
