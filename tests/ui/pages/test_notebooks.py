"""The page of notebooks: subjects in a list, each as a text that can be changed, and everything can be taken back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import QDate, QLocale, Qt
from PySide6.QtGui import QColor, QPixmap
from PySide6.QtTest import QTest

from lethe_app.brain.notebooks.document import Conclusion
from lethe_app.domain.clock import now
from lethe_app.services.notebooks.filer import NotebookFiler
from lethe_app.services.notebooks.service import NotebookService
from lethe_app.ui.pages.notebooks.page import NotebookPage, NotebookTitleDialog
from lethe_app.ui.pages.notebooks.text import NotebookReader
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")
RICE = ("The paella wants bomba rice.", "Broth is homemade.", "Saffron goes in last.")


@asynccontextmanager
async def written(home: Path) -> AsyncIterator[tuple[Scene, NotebookPage]]:
    """Mira has two notebooks, and the page lies open at the first one."""
    async with opened(home) as scene:
        for title, lines in (("Garden", ("The well runs dry.", "Quinces are ripe.", "The shed leaks.")), ("Cooking", RICE)):
            await scene.services.notebooks.create("mira", title, [Conclusion(text, now().date()) for text in lines])
        scene.window.resize(1100, 800)
        page = scene.open_page("notebooks", NotebookPage)
        await until(lambda: len(page.rows.visible_rows) == 2 and page.editor.text)
        yield scene, page


def titles(page: NotebookPage) -> list[str]:
    return sorted(kept.notebook.title for kept in page.rows.visible_rows)


async def choose(page: NotebookPage, name: str) -> None:
    assert page.table.select_row(name)
    await until(lambda: page.editor.text.startswith(f"# {name.title()}"))


async def test_a_notebook_is_shown_as_its_text_and_what_is_typed_is_kept(tmp_path: Path):
    async with written(tmp_path) as (scene, page):
        await choose(page, "cooking")
        page.button("Edit").click()
        assert page.editor.isVisible()
        cursor = page.editor.textCursor()
        cursor.movePosition(cursor.MoveOperation.End)
        page.editor.setTextCursor(cursor)

        QTest.keyClicks(page.editor, "- By hand")

        path = scene.services.paths.notebooks / "mira" / "cooking.md"
        await until(lambda: path.read_text(encoding="utf-8").endswith("- By hand"))
        page.undo_stack.undo()
        await until(lambda: not path.read_text(encoding="utf-8").endswith("- By hand"))
        assert "By hand" not in page.editor.text


async def test_dates_are_written_out_for_reading_and_stay_as_they_are_in_the_file(tmp_path: Path):
    async with written(tmp_path) as (scene, page):
        await choose(page, "cooking")
        path = scene.services.paths.notebooks / "mira" / "cooking.md"

        today = QLocale().toString(QDate.currentDate(), "d MMM yyyy")
        assert f"Broth is homemade. ({today})" in page.reader.toPlainText()
        assert f"Broth is homemade. ({now().date().isoformat()})" in path.read_text(encoding="utf-8")


async def test_what_another_program_writes_is_shown_and_what_is_typed_meanwhile_stays(tmp_path: Path):
    async with written(tmp_path) as (scene, page):
        await choose(page, "cooking")
        path = scene.services.paths.notebooks / "mira" / "cooking.md"
        QTest.keyClicks(page.editor, "Mine. ")
        path.write_text(path.read_text(encoding="utf-8") + "- Theirs\n", encoding="utf-8")

        await until(lambda: "Mine." in path.read_text(encoding="utf-8"))
        await until(lambda: "- Theirs" in page.editor.text)

        assert "- Theirs" in path.read_text(encoding="utf-8")
        assert "Mine." in page.editor.text


async def test_a_new_one_is_made_by_keyboard(tmp_path: Path):
    async with written(tmp_path) as (scene, page):
        page.button("New notebook").click()
        dialog = await scene.dialog()
        assert isinstance(dialog, NotebookTitleDialog)
        assert not dialog.primary.isEnabled()
        QTest.keyClicks(dialog.field, "Boats")
        QTest.keyClick(dialog.field, Qt.Key.Key_Return)

        await until(lambda: page.notebook_name == "boats")
        assert titles(page) == ["Boats", "Cooking", "Garden"]
        await until(lambda: page.editor.text == "# Boats\n\n")
        assert page.length_label.text().startswith("0 lines. Split")
        QTest.keyClicks(page.editor, "Plant tulips")
        QTest.keyClick(page.editor, Qt.Key.Key_Return)
        QTest.keyClicks(page.editor, "The Heron is green")
        assert page.editor.text == "# Boats\n\n- Plant tulips\n- The Heron is green", "below the title, each a line"
        await until(lambda: page.length_label.text().startswith("2 lines. Split"))

        path = scene.services.paths.notebooks / "mira" / "boats.md"
        path.write_text("# Boats\n\nThe Heron leaks.\n", encoding="utf-8")
        await until(lambda: "Begin each line with “- ”" in page.length_label.text())
        path.write_text("# Boats\n\n- The Heron leaks.\n", encoding="utf-8")
        await until(lambda: page.length_label.text().startswith("1 line. Split"))


async def test_a_renamed_one_keeps_its_lines_and_can_be_called_as_before(tmp_path: Path):
    async with written(tmp_path) as (scene, page):
        await choose(page, "garden")
        page.button("Rename…").click()
        dialog = await scene.dialog()
        assert isinstance(dialog, NotebookTitleDialog)
        QTest.keyClicks(dialog.field, "Allotment")
        dialog.accept()
        await until(lambda: page.notebook_name == "allotment" and "The well runs dry." in page.editor.text)

        scene.take_back()
        await until(lambda: titles(page) == ["Cooking", "Garden"])


async def test_two_become_one_and_two_again(tmp_path: Path):
    async with written(tmp_path) as (scene, page):
        assert not page.button("Merge").isEnabled()
        page.table.selectAll()
        page.button("Merge").click()
        await until(lambda: len(page.rows.visible_rows) == 1)
        await until(lambda: all(line in page.editor.text for line in (*RICE, "Quinces are ripe.")))

        scene.take_back()
        await until(lambda: titles(page) == ["Cooking", "Garden"])


async def test_a_short_one_cannot_be_parted_a_longer_one_can(tmp_path: Path):
    async with written(tmp_path) as (scene, page):
        await choose(page, "cooking")
        assert not page.button("Split").isEnabled()
        more = [Conclusion(f"The bread number {number} wants rye.", now().date()) for number in range(5)]
        await scene.services.notebooks.add_conclusions("mira", "cooking", more)
        await until(page.button("Split").isEnabled)

        page.button("Split").click()

        await until(lambda: len(page.rows.visible_rows) == 3)
        assert "Cooking" not in titles(page)


async def test_a_deleted_one_lies_in_the_trash_and_can_be_taken_back(tmp_path: Path):
    async with written(tmp_path) as (scene, page):
        await choose(page, "cooking")
        page.table.setFocus()
        QTest.keyClick(page.table, Qt.Key.Key_Delete)
        await until(lambda: titles(page) == ["Garden"])
        (item,) = [one for one in await scene.services.trash.list_items() if one.title == "Cooking"]

        await scene.services.trash.restore(item)
        await until(lambda: titles(page) == ["Cooking", "Garden"])


def hold(monkeypatch: pytest.MonkeyPatch, service: type[object], name: str) -> tuple[asyncio.Event, asyncio.Event]:
    """Make a method of a service wait; return the events that it has begun and that it may go on."""
    begun, may_go_on, work = asyncio.Event(), asyncio.Event(), getattr(service, name)

    async def held(*arguments: object) -> object:
        begun.set()
        await may_go_on.wait()
        return await work(*arguments)

    monkeypatch.setattr(service, name, held)
    return begun, may_go_on


async def test_a_split_is_taken_back_for_its_persona_even_if_another_was_chosen_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    begun, may_go_on = hold(monkeypatch, NotebookFiler, "split")
    async with written(tmp_path) as (scene, page):
        notebooks = scene.services.notebooks
        more = [Conclusion(f"The bread number {number} wants rye.", now().date()) for number in range(5)]
        await notebooks.add_conclusions("mira", "cooking", more)
        await choose(page, "cooking")
        await until(page.button("Split").isEnabled)
        page.button("Split").click()
        await until(begun.is_set)

        page.persona_selector.choose_persona("tamsin")
        await until(lambda: not page.rows.visible_rows)
        may_go_on.set()
        await until(lambda: any("was split" in toast.text for toast in scene.toasts))
        assert not page.rows.visible_rows
        scene.take_back()

        folder = scene.services.paths.notebooks / "mira"
        await until(lambda: {path.stem for path in folder.glob("*.md")} >= {"cooking", "garden"})
        assert not await notebooks.notebooks_of("tamsin")
        assert {item.notebook.title for item in await notebooks.notebooks_of("mira")} == {"Cooking", "Garden"}


async def test_a_notebook_of_the_same_name_stays_if_its_persona_is_chosen_during_a_deletion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    begun, may_go_on = hold(monkeypatch, NotebookService, "save_edit")
    async with written(tmp_path) as (scene, page):
        await scene.services.notebooks.create("tamsin", "Garden", [Conclusion("The beans climb.", now().date())])
        await choose(page, "garden")
        page.button("Edit").click()
        QTest.keyClicks(page.editor, "- Typed")
        page.button("Delete").click()
        await until(begun.is_set)

        page.persona_selector.choose_persona("tamsin")
        may_go_on.set()

        await until(lambda: any("moved to the Trash" in toast.text for toast in scene.toasts))
        assert [item.name for item in await scene.services.notebooks.notebooks_of("tamsin")] == ["garden"]
        assert [item.name for item in await scene.services.notebooks.notebooks_of("mira")] == ["cooking"]


async def test_what_is_typed_stays_with_its_persona_if_another_has_a_notebook_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    begun, may_go_on = hold(monkeypatch, NotebookService, "save_edit")
    async with written(tmp_path) as (scene, page):
        notebooks = scene.services.notebooks
        await notebooks.create("tamsin", "Garden", [Conclusion("The beans climb.", now().date())])
        await choose(page, "garden")
        page.button("Edit").click()
        QTest.keyClicks(page.editor, "- Typed")

        page.persona_selector.choose_persona("tamsin")
        assert not page.rows.visible_rows
        await until(begun.is_set)
        may_go_on.set()

        await until(lambda: "The beans climb." in page.editor.text)
        file = scene.services.paths.notebooks / "mira" / "garden.md"
        await until(lambda: "Typed" in file.read_text(encoding="utf-8"))
        assert "Typed" not in await notebooks.load_text("tamsin", "garden")


async def test_a_file_that_cannot_be_read_is_named(tmp_path: Path):
    async with written(tmp_path) as (scene, page):
        path = scene.services.paths.notebooks / "mira" / "cooking.md"
        path.write_bytes(b"\xff")
        scene.services.notebooks.changed.notify("mira")

        await until(lambda: "cooking.md" in page.problem_label.text())
        assert titles(page) == ["Garden"]


async def test_a_notebook_is_rendered_until_it_is_to_be_edited(tmp_path: Path):
    async with written(tmp_path) as (_scene, page):
        await choose(page, "cooking")
        assert page.reader.isVisible()
        assert page.reader.document().firstBlock().blockFormat().headingLevel() == 1

        QTest.mouseDClick(page.reader.viewport(), Qt.MouseButton.LeftButton)
        assert page.editor.isVisible()
        QTest.keyClicks(page.editor, "**Bold** ")
        page.button("Edit").click()

        assert page.reader.isVisible()
        assert "Bold" in page.reader.toPlainText()
        assert "**" not in page.reader.toPlainText()


def test_a_rendered_notebook_loads_no_image_and_shows_html_as_text(qtbot, tmp_path: Path):
    picture = tmp_path / "picture.png"
    pixmap = QPixmap(40, 40)
    pixmap.fill(Qt.GlobalColor.red)
    pixmap.save(str(picture))
    reader = NotebookReader("Notebook")
    qtbot.addWidget(reader)
    reader.resize(300, 200)
    reader.set_text(f"![]({picture.as_uri()})\n\n<b>not bold</b>")
    reader.show()

    shown = reader.grab().toImage()

    assert "<b>not bold</b>" in reader.toPlainText()
    assert all(shown.pixelColor(x, y) != QColor("red") for x in range(0, 300, 4) for y in range(0, 200, 4))


async def test_enter_edits_esc_ends_it_and_f2_renames(tmp_path: Path):
    async with written(tmp_path) as (scene, page):
        await choose(page, "garden")
        QTest.keyClick(page.table, Qt.Key.Key_Return)
        assert scene.window.focusWidget() is page.editor
        assert page.editor.textCursor().atEnd(), "not before the title"
        QTest.keyClick(page.editor, Qt.Key.Key_Escape)
        assert scene.page is page, "only the editor is left"
        assert page.reader.isVisible()
        QTest.keyClick(page.table, Qt.Key.Key_F2)
        dialog = await scene.dialog()
        assert isinstance(dialog, NotebookTitleDialog)
        dialog.reject()
