"""Takes the pictures of the README: a furnished home, a real window over it, and every view at a fixed moment in time.

Run with `python -m tests.screenshots [folder]`; without a folder they go to docs/images. What is said in them was written for
the pictures, so the model in them is called “Your model”; the lists of models are found on a made-up disk.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from unittest.mock import patch

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QPoint
from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from lethe_app.app import House, build
from lethe_app.domain.chat import Role
from lethe_app.llm.starter import chat_model
from lethe_app.paths import Paths
from lethe_app.ui.main_window import MainWindow
from lethe_app.ui.toast import Toast
from lethe_app.ui.welcome import Welcome
from tests.furniture import PRESENT, furnish, furnish_disk, settle_in, write_script
from tests.ui.window_scene import Scene, until

IMAGES = Path(__file__).parent.parent / "docs" / "images"
WIDE, NARROW = (1200, 800), (600, 800)
WORDS_ON_THE_WAY = 58
"""Of the reply that is caught while it is being written."""
PATIENCE = 20.0


@dataclass
class Studio:
    """One furnished home and the folder for its pictures."""

    home: Path
    images: Path
    sessions: dict[str, str]
    """Ids of conversations by title."""

    def keep(self, picture: QPixmap, name: str) -> None:
        """Write a picture without an alpha channel, which the flat colours of a window do not need."""
        path = self.images / f"{name}.png"
        image = picture.toImage().convertToFormat(picture.toImage().Format.Format_RGB888)
        if not image.save(str(path), "PNG", 0):
            raise OSError(f"{path} could not be written")
        print(f"{path.name:20} {image.width()} × {image.height()}  {path.stat().st_size / 1000:6.0f} kB")

    @asynccontextmanager
    async def window(self, engine: str = "echo", size: tuple[int, int] = WIDE, **settings: object) -> AsyncIterator[Scene]:
        """A window that has settled; `settings` are written before it opens."""
        settle_in(self.home, **settings)
        paths = Paths.standard(self.home)
        house = await build(paths, engine)
        window = MainWindow(paths, clock=lambda: PRESENT)
        try:
            window.resize(*size)
            window.show()
            window.attach(house)
            yield Scene(window, house)
        finally:
            window.close()
            await window.detach()
            await house.close()
            window.deleteLater()
            QApplication.processEvents()

    async def open(self, scene: Scene, title: str) -> None:
        """Show the conversation called `title`, scrolled to its end."""
        scene.window.sidebar.session_chosen.emit(self.sessions[title])
        await until(lambda: scene.host.conversations._open and str(scene.host.conversations._open.guid) == self.sessions[title])
        await calm(scene)
        scene.host.view.go_to_end()
        await calm(scene)


async def calm(scene: Scene) -> None:
    """Everything on the screen is there and painted."""
    model, view = scene.host.messages, scene.host.view
    await until(lambda: view.shown and all(model.message(placed.row) is not None for placed in view.shown), PATIENCE)
    for _ in range(10):
        QApplication.processEvents()
        await asyncio.sleep(0.01)


async def model_is_ready(scene: Scene) -> None:
    await until(lambda: scene.window.chat.status.words.startswith("●"), PATIENCE)


async def welcome(studio: Studio) -> None:
    """The first start, with a name half the world could have."""
    async with studio.window(welcomed=False, theme="dark") as scene:
        window = scene.window

        def page() -> Welcome | None:
            shown = window.pages.currentWidget()
            return shown if isinstance(shown, Welcome) and shown._model_cards else None

        await until(page, PATIENCE)
        QTest.keyClicks(page().name, "Tomas")
        for _ in range(10):
            QApplication.processEvents()
            await asyncio.sleep(0.01)
        studio.keep(window.grab(), "welcome-night")


async def conversations(studio: Studio) -> None:
    """A scene at night, code by day, the drawer of a narrow window."""
    script = write_script(studio.home, "quiet")
    async with studio.window(theme="dark", model_path=str(script), last_session=studio.sessions["Through the Needle"]) as scene:
        await model_is_ready(scene)
        await studio.open(scene, "Through the Needle")
        studio.keep(scene.window.grab(), "chat-night")
        scene.window.resize(*NARROW)
        scene.window.panes.open_drawer()
        await calm(scene)
        studio.keep(scene.window.grab(), "narrow-drawer")
        scene.window.panes.close_drawer()
        scene.window.resize(*WIDE)
        await scene.house.preferences.set(theme="light")
        await studio.open(scene, "Names for the holiday photos")
        studio.keep(scene.window.grab(), "chat-day")


async def replies(studio: Studio) -> None:
    """A reply on its way, and one that the model did not live to finish."""
    flowing = write_script(studio.home, "flowing", delay=0.03)
    dying = write_script(studio.home, "dying", delay=0.01, crash_after=WORDS_ON_THE_WAY // 2)
    async with studio.window(theme="dark", model_path=str(flowing)) as scene:
        await model_is_ready(scene)
        await studio.open(scene, "Eleven metres")
        ask_again(scene)
        await until(lambda: len(scene.words[-1].split()) >= WORDS_ON_THE_WAY, PATIENCE)
        studio.keep(scene.window.grab(), "streaming")
        await scene.host.turns.stop_all()
        await scene.house.models.load(dying)
        await studio.open(scene, "The customs cutter")
        ask_again(scene)
        await until(lambda: scene.window.findChildren(Toast), PATIENCE)
        await calm(scene)
        studio.keep(scene.window.grab(), "error")


def ask_again(scene: Scene) -> None:
    """Another wording of the last reply: its message keeps the time it has."""
    last = scene.host.messages.outline(scene.host.messages.rowCount() - 1)
    assert last.role is Role.ASSISTANT
    scene.host.turns.regenerate(last.id)


async def model_menu(studio: Studio) -> None:
    """The models of a disk, with the starter model really loaded."""
    async with studio.window("llama", theme="light", model_path=str(chat_model())) as scene:
        await studio.open(scene, "Through the Needle")
        await model_is_ready(scene)
        scene.host.desk.choose()
        await until(lambda: open_menu(scene), PATIENCE)
        menu = open_menu(scene)
        assert menu is not None
        await calm(scene)
        picture = scene.window.grab()
        painter = QPainter(picture)
        painter.drawPixmap(scene.window.mapFromGlobal(menu.mapToGlobal(QPoint(0, 0))), menu.grab())
        painter.end()
        studio.keep(picture, "model-menu")
        menu.close()


def open_menu(scene: Scene) -> QMenu | None:
    return next((menu for menu in scene.window.findChildren(QMenu) if menu.isVisible()), None)


PICTURES: tuple[Callable[[Studio], Awaitable[None]], ...] = (welcome, conversations, replies, model_menu)


async def take_all(home: Path, images: Path) -> None:
    disk = home / "disk"
    furnish_disk(disk)
    hide_this_machine(disk)
    studio = Studio(home / "lethe", images, await furnish(Paths.standard(home / "lethe")))
    for take in PICTURES:
        await take(studio)


def hide_this_machine(home: Path) -> None:
    """Nothing of the real user's is seen: not their models, not their clock's zone, not their language."""
    for name in [name for name in os.environ if name.startswith(("XDG_", "HF_", "OLLAMA_", "LLAMA_", "LC_"))]:
        del os.environ[name]
    os.environ |= {"HOME": str(home), "USERPROFILE": str(home), "TZ": "UTC", "LANG": "C"}
    if hasattr(time, "tzset"):
        time.tzset()


def main() -> int:
    images = Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES
    images.mkdir(parents=True, exist_ok=True)
    application = QApplication([])
    application.setCursorFlashTime(0)

    def at_present() -> datetime:
        return PRESENT

    with tempfile.TemporaryDirectory() as home, patch("lethe_app.ui.message_painter.now", at_present):
        asyncio.run(take_all(Path(home), images))
    return 0


if __name__ == "__main__":
    sys.exit(main())
