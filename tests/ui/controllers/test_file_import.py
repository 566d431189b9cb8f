"""Characters of other programs move in through the window: dropped, looked at, let in, spoken with, and taken back."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton

from lethe_app.interchange.cards import png
from lethe_app.interchange.cards.card import read_card
from lethe_app.ui.dialogs.bundle_parts import TransferProgressDialog
from lethe_app.ui.dialogs.bundles import BundleImportDialog
from lethe_app.ui.dialogs.import_preview import ImportPreviewDialog
from tests.interchange.external_files import as_bytes, picture, v2_card
from tests.ui.controllers.test_bundles import dropped, held_back, nerys, shown, visible
from tests.ui.window_scene import opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


def vera(folder: Path) -> Path:
    """A card with a book that knows about the lamp."""
    book = {"name": "Rock", "entries": [{"keys": ["lamp"], "content": "The lamp burns whale oil.", "insertion_order": 1}]}
    card = v2_card(first_mes="Come in, {{user}}.", alternate_greetings=[], character_book=book, extensions={})
    file = folder / "vera.png"
    file.write_bytes(png.write_cards(picture(), {"chara": as_bytes(card)}, "x"))
    return file


async def test_a_dropped_card_is_let_in_and_its_book_is_awake_at_the_first_word(
    tmp_path: Path, echo_model: Callable[..., Path]
):
    async with opened(tmp_path / "home", echo_model("I did.")) as scene:
        assert dropped(scene.draft.viewport(), vera(tmp_path))
        dialog = await shown(scene, ImportPreviewDialog)
        assert scene.draft.toPlainText() == "", "the file's address is not written into the field"
        headings = [label.text() for label in dialog.findChildren(QLabel)]
        assert {"1 persona", "vera.png · 1 greeting · with a world of 1 entry"} <= set(headings)
        assert "Greeting: Come in, Guest." in headings, "as the conversation will begin"
        assert any(heading.startswith("Description: ") for heading in headings)
        assert isinstance(dialog, ImportPreviewDialog)
        await until(lambda: dialog.rows[0].portrait.isVisible() and not dialog.rows[0].portrait.pixmap().isNull())

        QTest.keyClick(dialog, Qt.Key.Key_Return)
        await until(lambda: scene.window.windowTitle().startswith("Vera Lind"))
        await until(lambda: scene.words and scene.words[0].startswith("Come in"))
        session = scene.session
        events = [event async for event in scene.services.chat.send(session.guid, "Who lit the lamp?")]

    recalled = [one.text for event in events if hasattr(event, "memory") for one in event.memory.recalled]
    assert any("whale oil" in text for text in recalled)


async def test_nothing_is_imported_by_cancel_and_everything_goes_by_undo(tmp_path: Path):
    async with opened(tmp_path / "home") as scene:
        library = scene.services.library

        async def names() -> list[str]:
            return [persona.name for persona in await library.personas()]

        before = await names()
        file = vera(tmp_path)
        assert dropped(scene.window, file)
        dialog = await shown(scene, ImportPreviewDialog)
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        await until(lambda: not visible(scene, ImportPreviewDialog))
        assert await names() == before

        scene.controller.file_importer.import_paths([file])
        dialog = await shown(scene, ImportPreviewDialog)
        dialog.accept()
        await until(lambda: scene.window.windowTitle().startswith("Vera Lind"))
        undo = next(button for button in scene.window.findChildren(QPushButton) if button.text() == "Undo")
        undo.click()
        await until(lambda: not scene.window.windowTitle().startswith("Vera Lind"))
        assert await names() == before
        assert "Rock" not in [world.name for world in (await library.worlds()).values()]


async def test_a_bundle_that_is_imported_in_the_background_holds_up_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async with opened(tmp_path / "home") as scene:
        may_import = held_back(monkeypatch, scene.services.bundles, "import_bundle")
        scene.controller.file_importer.import_paths([nerys(tmp_path)])
        (await shown(scene, BundleImportDialog)).accept()
        progress = await shown(scene, TransferProgressDialog)
        QTest.mouseClick(progress.primary, Qt.MouseButton.LeftButton)

        scene.controller.file_importer.import_paths([vera(tmp_path)])
        (await shown(scene, ImportPreviewDialog)).reject()
        may_import.set()
        await until(lambda: any("Nerys was imported" in toast.text for toast in scene.toasts))


async def test_what_was_imported_before_is_left_out_until_a_copy_is_asked_for(tmp_path: Path):
    async with opened(tmp_path / "home") as scene:
        file = vera(tmp_path)
        await scene.services.imports.run(await scene.services.imports.read_plan([file]))

        scene.controller.file_importer.import_paths([file])
        dialog = await shown(scene, ImportPreviewDialog)

        assert isinstance(dialog, ImportPreviewDialog)
        assert not dialog.primary.isEnabled()
        (row,) = dialog.rows
        QTest.mouseClick(row.box, Qt.MouseButton.LeftButton, pos=QPoint(8, 8))
        assert dialog.primary.isEnabled()
        dialog.accept()
        await until(lambda: scene.window.windowTitle().startswith("Vera Lind 2"))


async def test_a_picture_of_hostile_size_is_shown_as_a_letter_only(tmp_path: Path):
    file = vera(tmp_path)
    content = file.read_bytes()
    width = content.index(b"IHDR") + 4
    head = b"IHDR" + (60_000).to_bytes(4, "big") * 2 + content[width + 8 : width + 13]
    checksum = zlib.crc32(head).to_bytes(4, "big")
    file.write_bytes(content[: width - 4] + head + checksum + content[width + 17 :])
    async with opened(tmp_path / "home") as scene:
        plan = await scene.services.imports.read_plan([file])

        assert [item.name for item in plan.items] == ["Vera Lind"]
        assert await scene.services.imports.read_portrait(plan.items[0]) == b""


async def test_a_file_of_no_known_format_is_named(tmp_path: Path):
    file = tmp_path / "notes.json"
    file.write_text("{}", encoding="utf-8")
    async with opened(tmp_path / "home") as scene:
        scene.controller.file_importer.import_paths([file])
        dialog = await shown(scene, ImportPreviewDialog)

        texts = [label.text() for label in dialog.findChildren(QLabel)]
        assert "“notes.json” has a format that Lethe cannot import." in texts
        assert isinstance(dialog, ImportPreviewDialog)
        assert not dialog.primary.isEnabled()
        dialog.reject()


async def test_a_persona_without_a_png_leaves_as_the_picture_of_a_card(tmp_path: Path):
    target = tmp_path / "mira.png"
    async with opened(tmp_path / "home") as scene:
        mira = await scene.services.library.persona("mira")

        await scene.controller.bundle_exporter.write_card(mira, target)

        back = read_card(target.read_bytes(), "mira.png")
    assert (back.persona.name, back.persona.bio, back.persona.first_messages) == (mira.name, mira.bio, mira.first_messages)
    assert QImage.fromData(target.read_bytes()).width() == 512
