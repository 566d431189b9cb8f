"""Builds every room and hands each its neighbours; opens with or without a window and closes in order.

Rooms are imported inside the functions that build them: the window paints before anything else loads, and a house without a
window imports no Qt.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from PySide6.QtWidgets import QApplication

    from lethe_app.domain.model import EngineCheck
    from lethe_app.llm.client import ModelClient
    from lethe_app.paths import Paths
    from lethe_app.services.chat import Chat
    from lethe_app.services.doctor import Doctor
    from lethe_app.services.library import Library
    from lethe_app.services.models import Models
    from lethe_app.services.preferences import Preferences
    from lethe_app.services.reading_ahead import ReadingAhead
    from lethe_app.services.safekeeping import Safekeeping
    from lethe_app.services.sessions import Sessions
    from lethe_app.storage.database import Database
    from lethe_app.ui.main_window import MainWindow


@dataclass(frozen=True)
class House:
    """What the user can do; the window and the terminal are handed nothing else."""

    paths: Paths
    preferences: Preferences
    library: Library
    sessions: Sessions
    chat: Chat
    models: Models
    doctor: Doctor
    _client: ModelClient
    _embedder: ModelClient
    _database: Database
    _ahead: ReadingAhead
    _safekeeping: Safekeeping

    async def close(self) -> None:
        """End the model's process, finish what is being written, give the home back."""
        await self._safekeeping.close()
        await self._ahead.close()
        await self._client.close()
        await self._embedder.close()
        await self._database.close()


async def build(paths: Paths, engine: str = "llama") -> House:
    """Open the home at `paths` and put the rooms together; `engine` is `llama` or, for scripted models, `echo`.

    Raises StorageError when the home cannot be used and FileError when the settings cannot be read. Imports no Qt.
    """
    from lethe_app.llm.client import ModelClient
    from lethe_app.services.casting import Casting
    from lethe_app.services.chat import Chat
    from lethe_app.services.counting import Counting
    from lethe_app.services.doctor import Doctor
    from lethe_app.services.library import Library
    from lethe_app.services.models import Models
    from lethe_app.services.preferences import Preferences
    from lethe_app.services.prompting import Prompting
    from lethe_app.services.reading_ahead import ReadingAhead
    from lethe_app.services.safekeeping import Safekeeping
    from lethe_app.services.sessions import Sessions
    from lethe_app.storage.chats import Chats
    from lethe_app.storage.database import Database
    from lethe_app.storage.files import SettingsFile
    from lethe_app.storage.state import SessionState, TokenCounts

    settings_file = SettingsFile(paths.settings, paths.trash)
    settings = settings_file.load()
    database = await Database.open(paths.database)
    chats = Chats(database)
    client, embedder = ModelClient(engine), ModelClient("embed")
    preferences = Preferences(settings, settings_file, database)
    library = Library(paths, database)
    counting = Counting(client, TokenCounts(database))
    models = Models(client, counting, preferences, paths)
    casting = Casting(library, preferences)
    sessions = Sessions(chats, casting)
    prompting = Prompting(chats, SessionState(database), library, preferences, counting)
    ahead = ReadingAhead(chats, casting, models, client, prompting, preferences)
    return House(
        paths=paths,
        preferences=preferences,
        library=library,
        sessions=sessions,
        chat=Chat(chats, casting, models, client, counting, prompting, ahead, sessions.changed),
        models=models,
        doctor=Doctor(paths, library, models, embedder, check_window),
        _client=client,
        _embedder=embedder,
        _database=database,
        _ahead=ahead,
        _safekeeping=Safekeeping(database.path),
    )


def check_window() -> EngineCheck:
    """Can Qt be loaded here? The window's own line of `lethe doctor`."""
    from lethe_app.domain.model import EngineCheck

    try:
        from PySide6 import QtCore, QtWidgets  # noqa: F401 - loading it is the check
    except ImportError as error:
        remedy = "Install the system libraries Qt needs; the set-up names the command."
        return EngineCheck("Window", passed=False, detail=str(error), remedy=remedy)
    return EngineCheck("Window", passed=True, detail=f"Qt {QtCore.qVersion()}")


def first_window(paths: Paths) -> tuple[QApplication, MainWindow]:
    """A window on the screen, painted once, before anything behind it is loaded."""
    from PySide6.QtWidgets import QApplication

    from lethe_app.ui.main_window import MainWindow

    application = QApplication(sys.argv[:1])
    application.setApplicationName("Lethe")
    application.setDesktopFileName("lethe")
    window = MainWindow(paths, furnished=False)
    window.show()
    application.processEvents()
    return application, window


def open_window(paths: Paths) -> int:
    """Show the window, build the house behind it, and run until the window is closed. Returns the exit code."""
    application, window = first_window(paths)
    keep_log(paths)
    window.furnish()
    close_on_signals(window)
    return run(application, window, lambda: build(paths))


def close_on_signals(window: MainWindow) -> None:
    """Ctrl+C in the terminal and the system's wish to end close the window as the user would, with everything stored.

    Qt waits inside C++, where Python's handlers do not run; the interpreter's wake-up bytes bring it back into Python.
    """
    import signal
    import socket

    from PySide6.QtCore import QSocketNotifier

    heard, told = socket.socketpair()
    told.setblocking(False)
    signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
    notifier = QSocketNotifier(heard.fileno(), QSocketNotifier.Type.Read, window)
    notifier.activated.connect(lambda: heard.recv(64))
    window.destroyed.connect(heard.close)
    window.destroyed.connect(told.close)
    for wish in (signal.SIGINT, signal.SIGTERM):
        signal.signal(wish, lambda _number, _frame: window.close())


def keep_log(paths: Paths) -> None:
    """Warnings and errors go to a file that stays small; what people say to each other is never in it."""
    import logging
    from contextlib import suppress
    from logging.handlers import RotatingFileHandler

    with suppress(OSError):  # a home that cannot be written is told when the database is opened
        paths.logs.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(paths.logs / "lethe.log", maxBytes=1_000_000, backupCount=2, encoding="utf-8", delay=True)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        logging.getLogger().addHandler(handler)
        logging.getLogger().setLevel(logging.WARNING)


def run(application: QApplication, window: MainWindow, make_house: Callable[[], Awaitable[House]]) -> int:
    """One event loop for Qt and asyncio; the house closes before the loop does."""
    import asyncio

    from qasync import QEventLoop

    from lethe_app.ui.sweeper import Sweeper

    application.setQuitOnLastWindowClosed(False)  # what is being written comes first
    sweeper = Sweeper()
    loop = QEventLoop(application)
    asyncio.set_event_loop(loop)
    try:
        with loop:
            return int(loop.run_until_complete(live(window, make_house)))
    finally:
        sweeper.close()


async def live(window: MainWindow, make_house: Callable[[], Awaitable[House]]) -> int:
    """From an empty frame to a closed house. A home that cannot be opened is told in the window, which stays until closed."""
    import asyncio

    from lethe_app.errors import LetheError

    closed = asyncio.Event()
    window.closed.connect(closed.set)
    try:
        house = await make_house()
    except LetheError as error:
        window.notifier.report(error)
        await closed.wait()
        return 1
    try:
        window.attach(house)
        await closed.wait()
        await window.detach()
    finally:
        await house.close()
    return 0
