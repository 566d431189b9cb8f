"""A persona is given away, taken along and met in the window: by menu, by a dropped or by a double-clicked file."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QPushButton, QWidget

from lethe_app.domain.bundle import BundleScope
from lethe_app.domain.facts import ExtractedFact
from lethe_app.services.maintenance import single_instance
from lethe_app.storage.bundles.export import PersonaExport
from lethe_app.storage.memory.facts import FactStore
from lethe_app.ui.core.file_transfers import FileTransfers
from lethe_app.ui.core.routes import PersonaRoute
from lethe_app.ui.dialogs.bundle_parts import TransferProgressDialog, run_with_progress
from lethe_app.ui.dialogs.bundles import BundleExportDialog, BundleImportDialog
from lethe_app.ui.shell.activity_list import ActivityRow
from tests.interchange.packed import PERSONA, archive, members, packed
from tests.ui.activity_rows import activity_rows
from tests.ui.window_scene import Scene, opened, until

TRANSFER = re.compile("(Reading|Importing|Exporting) ")
pytestmark = pytest.mark.usefixtures("styled_app")


def visible(scene: Scene, kind: type[QWidget]) -> list[QWidget]:
    return [dialog for dialog in scene.window.findChildren(kind) if dialog.isVisible()]


async def shown(scene: Scene, kind: type[QWidget]):
    await until(lambda: visible(scene, kind))
    return visible(scene, kind)[0]


def nerys(folder: Path, **changed: object) -> Path:
    """A bundle of somebody who is not here yet."""
    file = folder / "Nerys.lethe"
    persona = {**PERSONA, "name": "Nerys", "bio": "{{char}} mends nets and keeps {{user}} company.", **changed}
    file.write_bytes(archive(members(name="Nerys") | {"persona.json": packed(persona)}))
    return file


def dropped(target: QWidget, *files: Path) -> bool:
    """Drag the files onto a part of the window and let go; was it taken?"""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file)) for file in files])
    buttons, keys, copy = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, Qt.DropAction.CopyAction
    enter = QDragEnterEvent(QPoint(5, 5), copy, data, buttons, keys)
    enter.ignore()
    QApplication.sendEvent(target, enter)
    if not enter.isAccepted():
        return False
    drop = QDropEvent(QPointF(5, 5), copy, data, buttons, keys)
    QApplication.sendEvent(target, drop)
    return drop.isAccepted()


async def test_a_dropped_file_introduces_somebody_and_enter_lets_them_in(tmp_path: Path):
    async with opened(tmp_path / "home") as scene:
        assert dropped(scene.window, nerys(tmp_path))
        dialog = await shown(scene, BundleImportDialog)
        reported = [label.text() for label in dialog.findChildren(QLabel)]

        QTest.keyClick(dialog, Qt.Key.Key_Return)
        await until(lambda: scene.window.windowTitle().startswith("Nerys"))

        assert "Import Nerys?" in reported
        assert "Nerys mends nets and keeps you company." in reported
        assert any("From Sam, exported on" in text for text in reported)
        assert "Nerys" in [persona.name for persona in await scene.services.library.personas()]


async def test_a_dropped_file_is_not_written_into_the_field(tmp_path: Path):
    async with opened(tmp_path / "home") as scene:
        assert dropped(scene.draft.viewport(), nerys(tmp_path))
        dialog = await shown(scene, BundleImportDialog)
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        await until(lambda: not visible(scene, BundleImportDialog))

        assert scene.draft.toPlainText() == ""
        assert "Nerys" not in [persona.name for persona in await scene.services.library.personas()]


async def test_other_files_are_left_alone(tmp_path: Path):
    async with opened(tmp_path / "home") as scene:
        assert not dropped(scene.window, tmp_path / "notes.txt")


async def test_after_an_undone_import_another_persona_is_shown(tmp_path: Path):
    async with opened(tmp_path / "home") as scene:
        scene.controller.file_importer.import_paths([nerys(tmp_path)])
        (await shown(scene, BundleImportDialog)).accept()
        await until(lambda: scene.window.windowTitle().startswith("Nerys"))
        await until(lambda: any("Nerys was imported" in toast.text for toast in scene.toasts))

        toast = next(toast for toast in scene.toasts if "Nerys was imported" in toast.text)
        next(button for button in toast.findChildren(QPushButton) if button.text() == "Undo").click()
        await until(lambda: not scene.window.windowTitle().startswith("Nerys"))

        assert "Nerys" not in [persona.name for persona in await scene.services.library.personas()]


async def test_a_second_mira_is_given_another_name_that_can_be_changed(tmp_path: Path):
    async with opened(tmp_path / "home") as scene:
        scene.controller.file_importer.import_paths([nerys(tmp_path, name="Mira")])
        dialog = await shown(scene, BundleImportDialog)
        assert dialog.name_field.text() == "Mira 2"
        dialog.name_field.clear()
        assert not dialog.primary.isEnabled()
        QTest.keyClicks(dialog.name_field, "Mira of the nets")
        QTest.keyClick(dialog.name_field, Qt.Key.Key_Return)
        await until(lambda: scene.window.windowTitle().startswith("Mira of the nets"))


async def test_a_file_that_was_double_clicked_reaches_the_open_window(tmp_path: Path):
    async with opened(tmp_path / "home") as scene:
        note = single_instance.request_open_file(scene.services.paths, nerys(tmp_path))
        dialog = await shown(scene, BundleImportDialog)

        assert not note.exists()
        dialog.reject()


async def test_a_file_that_waited_for_the_window_is_asked_about_when_it_opens(tmp_path: Path):
    async with opened(tmp_path / "home") as scene:
        paths = scene.services.paths
    single_instance.request_open_file(paths, nerys(tmp_path))
    async with opened(tmp_path / "home") as scene:
        (await shown(scene, BundleImportDialog)).reject()


async def test_whoever_is_here_for_the_first_time_is_greeted_first(tmp_path: Path):
    async with opened(tmp_path / "home", welcomed=False) as scene:
        single_instance.request_open_file(scene.services.paths, nerys(tmp_path))
        for _ in range(20):
            QApplication.processEvents()
        assert not visible(scene, BundleImportDialog)

        await scene.services.preferences.set(welcomed=True)
        (await shown(scene, BundleImportDialog)).reject()


async def test_a_file_that_is_no_bundle_is_told_and_nothing_asked(tmp_path: Path):
    (tmp_path / "Bad.lethe").write_bytes(b"hello")
    async with opened(tmp_path / "home") as scene:
        scene.controller.file_importer.import_paths([tmp_path / "Bad.lethe"])
        await until(lambda: scene.toasts)

        assert scene.toasts[0].text == "Bad.lethe: is not a Lethe file, or is incomplete"
        assert not visible(scene, BundleImportDialog)


async def test_two_files_are_asked_about_one_after_the_other(tmp_path: Path):
    (tmp_path / "b").mkdir()
    async with opened(tmp_path / "home") as scene:
        assert dropped(scene.window, nerys(tmp_path), nerys(tmp_path / "b", name="Brân"))
        first = await shown(scene, BundleImportDialog)
        assert len(visible(scene, BundleImportDialog)) == 1
        first_title = first.windowTitle()
        first.reject()
        await until(lambda: first not in visible(scene, BundleImportDialog))
        second = await shown(scene, BundleImportDialog)
        assert {first_title, second.windowTitle()} == {"Import Nerys?", "Import Brân?"}
        second.reject()


@pytest.mark.parametrize(
    ("entry", "scope"), [("Export…", BundleScope.PERSONA), ("Export with history…", BundleScope.EVERYTHING)]
)
async def test_the_menu_of_the_editor_exports_the_persona_and_says_what_is_inside(
    tmp_path: Path, entry: str, scope: BundleScope
):
    async with opened(tmp_path / "home") as scene:
        await FactStore(scene.services.database).save_facts("mira", ExtractedFact(fact="Tomas keeps bees."))
        scene.controller.pages.navigator.open(PersonaRoute("mira"))
        page = scene.page
        await until(lambda: page.is_loaded)
        page.fill_menu()
        next(action for action in page.menu.actions() if action.text() == entry).trigger()
        dialog = await shown(scene, BundleExportDialog)
        assert dialog.scope is scope
        assert "1 fact" in dialog.cards[BundleScope.MEMORIES].accessibleDescription()
        assert ("are not exported" in dialog.warning.text()) == (scope is BundleScope.PERSONA)

        dialog.primary.click()
        chooser = await shown(scene, QFileDialog)
        chooser.setDirectory(str(tmp_path))
        chooser.accept()
        file = tmp_path / "Mira.lethe"
        await until(lambda: any("Mira.lethe" in toast.text for toast in scene.toasts))

        bundle = await scene.services.bundles.read_bundle(file)
        assert bundle.manifest.scope is scope
        assert (bundle.holds.facts, bundle.holds.messages) == ((0, 0) if scope is BundleScope.PERSONA else (1, 1))


async def test_arrows_choose_how_much_goes_along(tmp_path: Path):
    async with opened(tmp_path / "home") as scene:
        offer = await scene.services.bundles.preview_export("mira")
        face = scene.window.grab().scaled(48, 48)
        dialog = BundleExportDialog(scene.window, scene.window.theme, offer, face, BundleScope.PERSONA)
        dialog.open()
        await until(dialog.cards[BundleScope.PERSONA].hasFocus)
        QTest.keyClick(dialog.cards[BundleScope.PERSONA], Qt.Key.Key_Down)

        assert dialog.scope is BundleScope.MEMORIES
        assert "can read its contents" in dialog.warning.text()
        dialog.close()


async def test_what_takes_long_shows_a_bar_and_can_be_ended(tmp_path: Path):
    async with opened(tmp_path / "home") as scene:
        waiting = asyncio.ensure_future(
            run_with_progress(TransferProgressDialog(scene.window, "Exporting Mira…"), FileTransfers(), half_done)
        )
        dialog = await shown(scene, TransferProgressDialog)
        assert dialog.progress_bar.value() == 50
        QTest.keyClick(dialog, Qt.Key.Key_Escape)

        assert await waiting is None


async def half_done(reported: Callable[[float], None]) -> None:
    """Work that never ends."""
    reported(0.5)
    await asyncio.Event().wait()


async def test_what_takes_long_is_in_the_list_of_what_is_at_work_and_can_be_stopped_there(tmp_path: Path):
    async with opened(tmp_path / "home") as scene:
        button = scene.window.sidebar.activity_button
        dialog = TransferProgressDialog(scene.window, "Exporting Mira…")
        waiting = asyncio.ensure_future(run_with_progress(dialog, scene.controller.file_transfers, half_done))
        await until(lambda: "Exporting Mira" in titles(scene))
        row = at_work(scene)[0]
        assert dialog.isVisible()
        assert not button.isHidden()
        assert (row.progress_bar.value(), row.button.text()) == (500, "Stop")

        QTest.mouseClick(dialog.primary, Qt.MouseButton.LeftButton)
        assert not dialog.isVisible()
        assert titles(scene) == ["Exporting Mira"]
        QTest.mouseClick(at_work(scene)[0].button, Qt.MouseButton.LeftButton)

        assert await waiting is None
        assert titles(scene) == []


async def test_what_is_done_at_once_is_neither_shown_nor_listed(tmp_path: Path):
    async with opened(tmp_path / "home") as scene:
        transfers, reported = FileTransfers(), []
        transfers.changed.add(lambda _none: reported.append(transfers.transfers))

        async def work(reported: Callable[[float], None]) -> str:
            reported(1.0)
            return "done"

        assert await run_with_progress(TransferProgressDialog(scene.window, "Exporting Mira…"), transfers, work) == "done"
        assert reported == []


async def test_somebody_who_moves_in_meanwhile_is_told_of_and_takes_nobody_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async with opened(tmp_path / "home") as scene:
        let_in = held_back(monkeypatch, scene.services.bundles, "import_bundle")
        scene.controller.file_importer.import_paths([nerys(tmp_path)])
        (await shown(scene, BundleImportDialog)).accept()
        dialog = await shown(scene, TransferProgressDialog)
        assert titles(scene) == ["Importing Nerys"]

        QTest.mouseClick(dialog.primary, Qt.MouseButton.LeftButton)
        let_in.set()
        await until(lambda: any("Nerys was imported" in toast.text for toast in scene.toasts))

        assert titles(scene) == []
        assert scene.window.windowTitle().startswith("Mira")
        assert "Nerys" in [persona.name for persona in await scene.services.library.personas()]


async def test_packing_that_is_stopped_in_the_list_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async with opened(tmp_path / "home") as scene:
        (tmp_path / "out").mkdir()
        held_back(monkeypatch, PersonaExport, "conversation")
        mira = await scene.services.library.persona("mira")
        scene.window.tasks.start_task(
            scene.controller.bundle_exporter.write_bundle(mira, BundleScope.EVERYTHING, tmp_path / "out" / "Mira.lethe")
        )
        await until(lambda: titles(scene) == ["Exporting Mira"])
        assert len(list((tmp_path / "out").iterdir())) == 1  # half a file

        QTest.mouseClick(at_work(scene)[0].button, Qt.MouseButton.LeftButton)
        await until(lambda: titles(scene) == [])

        assert not visible(scene, TransferProgressDialog)
        assert list((tmp_path / "out").iterdir()) == []
        assert not any("Mira.lethe" in toast.text for toast in scene.toasts)


def held_back(monkeypatch: pytest.MonkeyPatch, of: object, name: str) -> asyncio.Event:
    """The real work goes on when the event is set: on a quick computer it would be done before one could look."""
    work, begins = getattr(of, name), asyncio.Event()

    async def later(*wanted: object) -> object:
        await begins.wait()
        return await work(*wanted)

    monkeypatch.setattr(of, name, later)
    return begins


def at_work(scene: Scene) -> list[ActivityRow]:
    """The rows that are about files of ours."""
    return [row for row in activity_rows(scene.window.sidebar.activity_button) if TRANSFER.match(row.title.text())]


def titles(scene: Scene) -> list[str]:
    return [row.title.text() for row in at_work(scene)]


async def test_a_persona_is_exported_from_its_menu_in_the_list(tmp_path: Path):
    async with opened(tmp_path / "home") as scene:
        sidebar = scene.window.sidebar
        await until(lambda: sidebar.model.index_of("persona edmund").isValid())

        menu = sidebar.build_menu(sidebar.model.index_of("persona edmund"))
        next(action for action in menu.actions() if action.text() == "Export…").trigger()

        dialog = await shown(scene, BundleExportDialog)
        assert "Edmund" in dialog.windowTitle()
        dialog.reject()
