"""Pictures of everything that is asked in a dialog, and of the page of somebody new, by night and by day."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtGui import QImage
from PySide6.QtWidgets import QDialog

from lethe_app.domain.bundle import Bundle, BundleScope
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryUnit
from lethe_app.services.events import ModelReady
from lethe_app.ui.core.avatars import render_avatar
from lethe_app.ui.dialogs.bundle_export import BundleExportDialog
from lethe_app.ui.dialogs.bundle_import import BundleImportDialog
from lethe_app.ui.dialogs.bundle_parts import AVATAR_SIZE, TransferProgressDialog
from lethe_app.ui.dialogs.dialogs import AboutDialog, ConfirmDialog
from lethe_app.ui.dialogs.image_crop import CropDialog
from lethe_app.ui.dialogs.shortcuts import ShortcutsDialog
from lethe_app.ui.pages.facts.dialogs import MergeFactsDialog, NewFactDialog
from lethe_app.ui.pages.irrelevant_memories.page import FeedbackRow, ReasonDialog
from lethe_app.ui.pages.mind.reminders import ReminderDialog
from lethe_app.ui.pages.mind.writings import EntryDialog
from lethe_app.ui.pages.notebooks.page import NotebookTitleDialog
from lethe_app.ui.pages.personas.editor import UnsavedChangesDialog
from lethe_app.ui.pages.sessions.message_actions import InsertMessage, RewordMessage
from lethe_app.ui.pages.worlds.actions import RememberDialog
from tests.life_pictures import LIFE
from tests.ui.window_scene import Scene, until
from tests.workshop_pictures import KNOWN, MIRA, wait_for_layout

if TYPE_CHECKING:
    from tests.screenshots import Studio

Make = Callable[[Scene], Awaitable[QDialog]]
NIGHT_AND_DAY = (("dark", "night"), ("light", "day"))
REPLY = "“Then report nothing. I like the sound of it,” you said. I would have told you about the bell logs."
DISLIKED = FeedbackRow(REPLY, "she answers what I said last week", datetime(2026, 3, 14, 21, 12, tzinfo=UTC), None, UUID(int=1))
TWO = [
    ExtractedFact(fact="Tomas's sister Ines sailed a boat called the Heron."),
    ExtractedFact(fact="Ines had a boat, the Heron, and Tomas learnt his knots on it."),
]


async def deleting(scene: Scene) -> QDialog:
    words = "Everything learnt only there will no longer be remembered. You can restore all of it from the Trash."
    return ConfirmDialog(scene.window, "Delete this conversation?", words, "Delete ‘First night aboard’ (3 messages)")


async def leaving(scene: Scene) -> QDialog:
    return UnsavedChangesDialog(scene.window, "Mira")


async def crop(scene: Scene) -> QDialog:
    drawn = scene.services.library.avatar(await scene.services.library.persona(MIRA))
    return CropDialog(scene.window, QImage(str(drawn)), scene.window.theme)


async def insert(scene: Scene) -> QDialog:
    words = "The message is inserted above the selected one, with the date of the one before it."
    dialog = InsertMessage(scene.window, "Mira", words)
    dialog.field.set_text("“And the twelfth lemon?”")
    dialog.primary.setEnabled(True)
    return dialog


async def reword(scene: Scene) -> QDialog:
    return RewordMessage(scene.window, "Mira", REPLY)


async def new_fact(scene: Scene) -> QDialog:
    dialog = NewFactDialog(scene.window, "Mira")
    dialog.field.set_text(KNOWN["facts"][1][0])
    return dialog


async def one_of_several(scene: Scene) -> QDialog:
    return MergeFactsDialog(scene.window, TWO)


async def reminder(scene: Scene) -> QDialog:
    when = datetime.fromisoformat("2026-03-19T18:00:00+00:00")
    return ReminderDialog(scene.window, MemoryUnit(content="Bring the lantern back to Teague.", added=when))


async def entry(scene: Scene) -> QDialog:
    dialog = EntryDialog(scene.window, "Mira")
    dialog.title_field.setText(LIFE["journal"][1][0])
    dialog.text_field.set_text(LIFE["journal"][1][1])
    dialog.primary.setEnabled(True)
    return dialog


async def titling(scene: Scene) -> QDialog:
    return NotebookTitleDialog(scene.window, "New notebook", "Create", "Harrow Light")


async def reason(scene: Scene) -> QDialog:
    return ReasonDialog(scene.window, DISLIKED)


async def world_remember(scene: Scene) -> QDialog:
    personas = [one for one in await scene.services.library.personas() if not one.is_user]
    return RememberDialog(scene.window, scene.window.theme, "The Needle", personas, MIRA)


async def giving(scene: Scene) -> QDialog:
    return await _giving(scene, BundleScope.PERSONA)


async def taking_along(scene: Scene) -> QDialog:
    return await _giving(scene, BundleScope.EVERYTHING)


async def _giving(scene: Scene, scope: BundleScope) -> QDialog:
    offer, window = await scene.services.bundles.preview_export(MIRA), scene.window
    drawn = scene.services.library.avatar(offer.persona)
    face = render_avatar(drawn, MIRA, offer.persona.name, AVATAR_SIZE, window.theme.palette, window.devicePixelRatioF())
    return BundleExportDialog(window, window.theme, offer, face, scope)


async def meeting(scene: Scene) -> QDialog:
    return BundleImportDialog(scene.window, scene.window.theme, await _packed(scene), "Mira")


async def meeting_a_second_one(scene: Scene) -> QDialog:
    bundle = await _packed(scene)
    return BundleImportDialog(scene.window, scene.window.theme, bundle, await scene.services.bundles.find_free_name(bundle))


async def _packed(scene: Scene) -> Bundle:
    """Mira with all her past, as somebody else would open her."""
    bundles = scene.services.bundles
    file = await bundles.export(MIRA, BundleScope.EVERYTHING, Path(scene.services.paths.home) / "Mira.lethe")
    return await bundles.read_bundle(file)


async def waiting(scene: Scene) -> QDialog:
    dialog = TransferProgressDialog(scene.window, "Exporting Mira…")
    dialog.report_progress(0.62)
    return dialog


async def keys(scene: Scene) -> QDialog:
    return ShortcutsDialog(scene.window)


async def about(scene: Scene) -> QDialog:
    return AboutDialog(scene.window)


DIALOGS: dict[str, Make] = {
    "deleting": deleting,
    "leaving": leaving,
    "crop": crop,
    "insert-message": insert,
    "reword-message": reword,
    "new-fact": new_fact,
    "one-fact-of-several": one_of_several,
    "reminder": reminder,
    "journal-entry": entry,
    "notebook-title": titling,
    "reason": reason,
    "world-to-memory": world_remember,
    "giving-away": giving,
    "taking-along": taking_along,
    "meeting": meeting,
    "meeting-a-second-one": meeting_a_second_one,
    "waiting": waiting,
    "keys": keys,
    "about": about,
}
"""Picture → what makes the dialog."""


async def dialogs(studio: Studio, script: str) -> None:
    """Every dialog, the list of all commands, and somebody who is being made up."""
    async with studio.window(theme="dark", model_path=script, last_session=studio.sessions["Through the Needle"]) as scene:
        await until(lambda: isinstance(scene.services.models.state, ModelReady))
        await studio.open(scene, "Through the Needle")
        scene.window.resize(1280, 820)
        for theme, light in NIGHT_AND_DAY:
            await scene.services.preferences.set(theme=theme)
            await wait_for_layout(0.3)
            for name, make in DIALOGS.items():
                await dialog(studio, scene, f"dialog-{name}-{light}", make)
            await commands(studio, scene, light)
            await somebody_new(studio, scene, light)


async def dialog(studio: Studio, scene: Scene, name: str, make: Make) -> None:
    """One of them, as it opens."""
    asking = await make(scene)
    asking.open()
    await wait_for_layout(0.2)
    studio.keep(asking.grab(), name)
    asking.close()
    asking.deleteLater()


async def commands(studio: Studio, scene: Scene, light: str) -> None:
    scene.window.window_actions["palette"].trigger()
    await wait_for_layout(0.3)
    studio.keep(scene.window.grab(), f"palette-{light}")
    scene.controller.command_palette.hide()


async def somebody_new(studio: Studio, scene: Scene, light: str) -> None:
    """The page as it opens."""
    scene.window.window_actions["new_persona"].trigger()
    await until(lambda: scene.page is not None)
    await wait_for_layout(0.8)
    studio.keep(scene.window.grab(), f"new-persona-{light}")
    scene.controller.pages.navigator.close_all_pages()
    await wait_for_layout(0.3)
