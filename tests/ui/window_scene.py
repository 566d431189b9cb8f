"""Window with real services: temporary data folder, scripted model, and ways to wait for an outcome."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QEvent, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from lethe_app.app import build
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession
from lethe_app.llm.models.bundled import CHAT_FILE
from lethe_app.paths import Paths
from lethe_app.services.speech.output import SpeechOutput
from lethe_app.services.speech.voices import SpeechEngine
from lethe_app.storage.home_files import make_private
from lethe_app.ui.controllers.window_controller import WindowController
from lethe_app.ui.pages.page import Page
from lethe_app.ui.shell.main_window import MainWindow
from lethe_app.ui.shell.toast import Toast

PageKind = TypeVar("PageKind", bound=Page)


@dataclass
class Scene:
    """The window, its services and its controller, with shorthand for what is on display."""

    window: MainWindow
    services: AppServices
    controller: WindowController
    is_connected: bool = True

    @property
    def draft(self):
        return self.window.chat.composer.draft_field

    @property
    def session(self) -> ChatSession | None:
        """The session on display."""
        return self.controller.shown_session.session

    @property
    def page(self) -> Page | None:
        """The page on display; None for the conversation."""
        return self.controller.pages.navigator.current_page

    @property
    def words(self) -> list[str]:
        """The text of every message on display."""
        return [self.controller.messages.text_of(row)[0] for row in range(self.controller.messages.rowCount())]

    @property
    def titles(self) -> list[str]:
        model = self.window.sidebar.model
        return [model.data(model.index(row)) for row in range(model.rowCount())]

    @property
    def toasts(self) -> list[Toast]:
        """The notifications on display, but for the one that there is no model, or none that the scripted engine can read."""
        shown = [toast for toast in self.window.findChildren(Toast) if not toast.isHidden()]
        no_model = ("No model was found", CHAT_FILE)
        return [toast for toast in shown if not (toast.is_error and toast.text.startswith(no_model))]

    @property
    def is_replying(self) -> bool:
        return self.controller.is_replying

    def open_page(self, action: str, kind: type[PageKind]) -> PageKind:
        """Open a page by the action of the window that leads to it."""
        self.window.window_actions[action].trigger()
        page = self.page
        assert isinstance(page, kind)
        return page

    def send(self, text: str) -> None:
        """Write a message and press Enter."""
        self.draft.setPlainText(text)
        QTest.keyClick(self.draft, Qt.Key.Key_Return)

    async def say(self, text: str) -> int:
        """Send a message and wait for the reply; return the row of it."""
        rows = self.controller.messages.rowCount()
        self.controller.replies.send_message(text)
        await until(lambda: self.controller.messages.rowCount() == rows + 2 and self.words[-1] and not self.is_replying)
        return rows + 1

    def take_back(self, notice: str = "") -> None:
        """Press “Undo” of the newest notification, or of the newest one that says this."""
        buttons = [toast.button for toast in self.toasts if toast.notice.button == "Undo" and notice in toast.text]
        assert buttons
        buttons[-1].click()

    async def close_controller(self) -> None:
        """Disconnect the window from the services, as at the end of the program."""
        if self.is_connected:
            self.is_connected = False
            await self.controller.close()

    async def dialog(self) -> QDialog:
        """The dialog that is open now or in a moment."""
        await until(lambda: any(dialog.isVisible() for dialog in self.window.findChildren(QDialog)))
        return next(dialog for dialog in self.window.findChildren(QDialog) if dialog.isVisible())


async def until(condition: Callable[[], object], seconds: float = 120.0) -> None:
    """Let Qt and the loop run until `condition` holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        process_events()
        await asyncio.sleep(0.005)
    process_events()


def process_events() -> None:
    """Run Qt as its event loop does, which also deletes what is to be deleted later."""
    QApplication.processEvents()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


async def settled(scene: Scene, widget: QWidget, unchanged: int = 5, most: int = 60) -> None:
    """Let Qt and the loop run until `widget` is filled and laid out: in `unchanged` looks in a row all is where it was and the
    same tasks run, each after storage has answered what was asked before.
    """
    last: tuple[list[tuple[int, QRect]], set[object]] = [], set()
    rounds = 0
    for _ in range(most):
        process_events()
        await asyncio.sleep(0.02)
        await scene.services.database.run(lambda _connection: None)
        places = [(id(part), part.geometry()) for part in widget.findChildren(QWidget) if part.isVisible()]
        now = places, set(scene.window.tasks._tasks)
        rounds = rounds + 1 if now == last else 0
        last = now
        if rounds == unchanged:
            return


@asynccontextmanager
async def opened(
    home: Path,
    model: Path | None = None,
    *,
    welcomed: bool = True,
    ready: bool = True,
    speech_engine: SpeechEngine | None = None,
    memory: int | None = None,
) -> AsyncIterator[Scene]:
    """Open the window with services in the data folder `home`; everything is closed afterwards, as by the program."""
    paths = Paths.standard(home)
    if model is not None:  # it may be broken, which the settings would refuse
        stored = json.loads(paths.settings.read_text(encoding="utf-8")) if paths.settings.exists() else {}
        paths.home.mkdir(parents=True, exist_ok=True)
        paths.settings.write_text(json.dumps({**stored, "model_path": str(model)}), encoding="utf-8")
    make_private(home)  # else the window tells that it was not
    services = await build(paths, engine="echo", memory=memory)
    # It would archive old conversations in the middle of a slow test, and so change their titles.
    await services.session_timeout.background.close()
    await services.preferences.set(welcomed=welcomed, last_persona="mira")
    speech_output = SpeechOutput([speech_engine], services.preferences) if speech_engine is not None else None
    async with shown(MainWindow(paths), services, speech_output) as scene:
        if welcomed and ready:
            await until(lambda: scene.window.windowTitle().startswith("Mira") and scene.words and scene.words[0])
        yield scene


@asynccontextmanager
async def shown(window: MainWindow, services: AppServices, speech_output: SpeechOutput | None = None) -> AsyncIterator[Scene]:
    """Show a window over services; everything is closed afterwards, as by the program."""
    scene: Scene | None = None
    try:
        window.show()
        controller = WindowController(window, services, speech_output)
        controller.open()
        scene = Scene(window, services, controller)
        yield scene
    finally:
        window.close()
        if scene is not None:
            await scene.close_controller()
        await services.close()
        window.deleteLater()
        process_events()
