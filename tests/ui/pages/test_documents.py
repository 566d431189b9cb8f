"""Documents on their page: dropped, asked, read again, removed; of a persona or of a world."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from lethe_app.domain.passage import Document, TextEmbedding
from lethe_app.services.documents.knowledge_base import DocumentHit, DocumentQuery, KnowledgeBase
from lethe_app.services.documents.service import DocumentService
from lethe_app.ui.pages.documents.detail import space_paragraphs
from lethe_app.ui.pages.documents.page import DocumentsPage
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


@pytest.fixture
def manual(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "Manual.md").write_text("# Pump\n\nThe bilge pump is primed with seawater.\n", encoding="utf-8")
    (folder / "Crew.txt").write_text("The cook fears geese.", encoding="utf-8")
    (folder / "picture.bmp").write_bytes(b"BM")
    return folder


async def page_of(scene: Scene) -> DocumentsPage:
    page = scene.open_page("documents", DocumentsPage)
    await until(lambda: page.persona_selector.count() > 1)
    return page


def drop(page: DocumentsPage, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    page.dropEvent(QDropEvent(QPoint(9, 9), copy, data, left, Qt.KeyboardModifier.NoModifier))


def titles(page: DocumentsPage) -> list[str]:
    return [document.title for document in page.rows.visible_rows]


def texts(page: DocumentsPage) -> str:
    return "\n".join(label.text() for label in page.detail.findChildren(QLabel) if label.isVisibleTo(page.detail))


async def test_a_folder_is_dropped_asked_and_removed(tmp_path: Path, manual: Path):
    async with opened(tmp_path / "home") as scene:
        page = await page_of(scene)
        assert not page.question.isEnabled()

        drop(page, manual)
        await until(lambda: titles(page) == ["Crew", "Manual"])
        await until(lambda: [toast.text for toast in scene.toasts] == ["2 documents were added."])
        await until(lambda: scene.window.focusWidget() is page.question)
        assert page.table.current_row is not None

        QTest.keyClicks(page.question, "How is the pump primed?")
        await until(lambda: "The bilge pump is primed with seawater." in texts(page))
        assert "Manual, Pump" in texts(page)

        page.question.clear()
        await until(lambda: "primed with seawater" not in texts(page))
        page.table.select_row(page.rows.visible_rows[1].guid)
        await until(lambda: str(manual / "Manual.md") in texts(page))
        await until(lambda: "The bilge pump is primed with seawater." in texts(page))
        QTest.keyClicks(page.question, "Who fears geese?")
        await until(lambda: "recalled" in texts(page))
        place = page.table.visualRect(page.rows.index(1, 0)).center()
        QTest.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        await until(lambda: str(manual / "Manual.md") in texts(page))
        page.button("Remove…").click()
        (await scene.dialog()).accept()
        await until(lambda: titles(page) == ["Crew"])
        await until(lambda: "The cook fears geese." in texts(page) and "recalled" in texts(page))


async def test_an_answer_is_completed_when_the_passages_are_embedded(tmp_path: Path, manual: Path):
    async def embed(asked: Sequence[str]) -> list[TextEmbedding]:
        vector = struct.pack("2f", 1.0, 0.0)
        return [TextEmbedding(vector, vector, ("word",)) for _text in asked]

    async with opened(tmp_path / "home") as scene:
        page = await page_of(scene)
        scene.services.memory_index.set_embedder(embed, "words")
        with scene.services.priority.block_background():
            drop(page, manual)
            await until(lambda: titles(page) == ["Crew", "Manual"])
            QTest.keyClicks(page.question, "Who sails to Jupiter?")
            await until(lambda: "Still being read: 2 passages." in texts(page))
            assert "No document says anything" not in texts(page)

        await scene.services.indexing.catch_up(limits=False)
        await until(lambda: "Still being read" not in texts(page))
        await until(lambda: "No document says anything" in texts(page) or "recalled" in texts(page))


async def test_a_click_shows_the_document_and_keeps_the_question(tmp_path: Path, manual: Path):
    async with opened(tmp_path / "home") as scene:
        page = await page_of(scene)
        drop(page, manual)
        await until(lambda: titles(page) == ["Crew", "Manual"])
        await until(lambda: scene.toasts)  # the dialog of the progress is closed
        QTest.keyClicks(page.question, "How is the pump primed?")
        await until(lambda: "Manual, Pump" in texts(page))

        place = page.table.visualRect(page.rows.index(0, 0)).center()
        QTest.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        await until(lambda: "The cook fears geese." in texts(page))
        assert "Manual, Pump" not in texts(page)
        assert page.question.text() == "How is the pump primed?"

        QTest.keyClick(page.question, Qt.Key.Key_Return)
        await until(lambda: "Manual, Pump" in texts(page))


async def test_documents_of_a_world_are_listed_with_it(tmp_path: Path, manual: Path):
    async with opened(tmp_path / "home") as scene:
        page = await page_of(scene)
        place = page.persona_selector.findText("World: ", Qt.MatchFlag.MatchStartsWith)
        page.persona_selector.setCurrentIndex(place)

        drop(page, manual / "Crew.txt")
        await until(lambda: titles(page) == ["Crew"])

        page.persona_selector.setCurrentIndex(0)
        await until(lambda: titles(page) == [])


async def test_a_changed_file_is_read_again_and_a_broken_one_says_why(tmp_path: Path, manual: Path):
    async with opened(tmp_path / "home") as scene:
        page = await page_of(scene)
        broken = manual / "Broken.pdf"
        await asyncio.to_thread(broken.write_bytes, b"no PDF")
        drop(page, manual / "Crew.txt", broken)
        await until(lambda: titles(page) == ["Crew"])
        await until(lambda: any("is not a PDF that can be read" in toast.text for toast in scene.toasts))

        await asyncio.to_thread((manual / "Crew.txt").write_text, "The cook loves geese. The mate does not.")
        page.button("Reload").click()
        await until(lambda: any(toast.text == "1 document was reloaded." for toast in scene.toasts))
        QApplication.processEvents()
        page.button("Reload").click()
        await until(lambda: any(toast.text == "No file has changed." for toast in scene.toasts))


async def test_where_there_are_documents_a_question_can_be_typed_at_once(tmp_path: Path, manual: Path):
    async with opened(tmp_path / "home") as scene:
        page = await page_of(scene)
        assert scene.window.focusWidget() is page.add_documents_button
        drop(page, manual)
        await until(lambda: titles(page) == ["Crew", "Manual"])
        await until(lambda: [toast.text for toast in scene.toasts] == ["2 documents were added."])
        page.back.click()
        await until(lambda: scene.page is None)

        page = await page_of(scene)

        await until(lambda: titles(page) == ["Crew", "Manual"] and scene.window.focusWidget() is page.question)


async def test_a_document_added_while_an_answer_is_shown_is_the_one_that_is_removed(tmp_path: Path, manual: Path):
    async with opened(tmp_path / "home") as scene:
        page = await page_of(scene)
        drop(page, manual / "Crew.txt")
        await until(lambda: scene.window.focusWidget() is page.question and page.detail.document is not None)
        QTest.keyClicks(page.question, "What does the cook fear?")
        await until(lambda: page.detail.document is None and "The cook fears geese." in texts(page))

        drop(page, manual / "Manual.md")

        await until(lambda: page.table.current_row is not None and page.table.current_row.title == "Manual")
        await until(lambda: page.detail.document is None and "The cook fears geese." in texts(page))
        assert page.question.text() == "What does the cook fear?"


async def test_a_document_added_during_a_search_does_not_end_it(tmp_path: Path, manual: Path, monkeypatch: pytest.MonkeyPatch):
    searches, is_released = [], asyncio.Event()
    search = KnowledgeBase.search

    async def search_slowly(self: KnowledgeBase, query: DocumentQuery, limit: int) -> list[DocumentHit]:
        searches.append(query)
        await is_released.wait()
        return await search(self, query, limit)

    monkeypatch.setattr(KnowledgeBase, "search", search_slowly)
    monkeypatch.setattr("lethe_app.ui.pages.documents.page.NOTICE_DELAY_S", 600)
    async with opened(tmp_path / "home") as scene:
        page = await page_of(scene)
        drop(page, manual / "Crew.txt")
        await until(lambda: scene.window.focusWidget() is page.question and page.detail.document is not None)
        QTest.keyClicks(page.question, "What does the cook fear?")
        await until(lambda: searches)

        drop(page, manual / "Manual.md")
        await until(lambda: page.table.current_row is not None and page.table.current_row.title == "Manual")
        is_released.set()

        await until(lambda: page.detail.document is None and "The cook fears geese." in texts(page))


async def test_a_row_selected_while_files_are_read_stays_selected(
    tmp_path: Path, manual: Path, monkeypatch: pytest.MonkeyPatch
):
    add, begun, is_released = DocumentService.add, asyncio.Event(), asyncio.Event()

    async def add_slowly(self: DocumentService, *arguments: Any) -> Document:
        begun.set()
        await is_released.wait()
        return await add(self, *arguments)

    async with opened(tmp_path / "home") as scene:
        page = await page_of(scene)
        drop(page, manual)
        await until(lambda: titles(page) == ["Crew", "Manual"])
        await until(lambda: scene.toasts and page.table.current_row is not None and page.table.current_row.title == "Crew")
        later = tmp_path / "Later.txt"
        await asyncio.to_thread(later.write_text, "The mate fears cats.")
        monkeypatch.setattr(DocumentService, "add", add_slowly)
        drop(page, later)
        await until(begun.is_set)
        page.table.select_row(page.rows.visible_rows[1].guid)
        is_released.set()

        await until(lambda: any("“Later” was added." in toast.text for toast in scene.toasts))
        await until(lambda: len(titles(page)) == 3)
        assert page.table.current_row is not None
        assert page.table.current_row.title == "Manual"


def test_paragraphs_are_spaced_and_the_lines_of_a_list_are_not():
    assert space_paragraphs(f"The plot\n{'It was clay. ' * 12}\nThen he died.").count("\n\n") == 2
    assert space_paragraphs("- flour\n- salt\n- water") == "- flour\n- salt\n- water"
