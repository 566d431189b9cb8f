"""Pictures of everything that is asked in a dialog, and of the page of somebody new, by night and by day."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDialog

from lethe_app.services.events import ModelReady
from tests.ui.dialogs.every_dialog import DIALOGS
from tests.ui.window_scene import Scene, until
from tests.workshop_pictures import wait_for_layout

if TYPE_CHECKING:
    from tests.screenshots import Studio

NIGHT_AND_DAY = (("dark", "night"), ("light", "day"))


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
                await dialog(studio, f"dialog-{name.replace(' ', '-')}-{light}", make(scene.window, scene.window.theme))
            await commands(studio, scene, light)
            await somebody_new(studio, scene, light)


async def dialog(studio: Studio, name: str, asking: QDialog) -> None:
    """One of them, as it opens."""
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
