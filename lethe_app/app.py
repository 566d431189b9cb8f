"""Opens a home, with or without a window, and closes it in order.

Rooms are imported inside the functions that build them: the window paints before anything else loads, and a program without a
window imports no Qt.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from PySide6.QtWidgets import QApplication

    from lethe_app.composition.app_services import AppServices
    from lethe_app.domain.model import EngineCheck
    from lethe_app.paths import Paths
    from lethe_app.ui.shell.main_window import MainWindow

PATIENCE = 5.0
"""Seconds that a window has to come to the front when Lethe is started again."""
FIRST_PAINT_S = 0.5
"""Seconds that a desktop may take to put the window on the screen: only then it can be painted."""
TURN_S = 0.0005
"""Seconds another thread keeps Python when the window asks for it. Qt asks for every row it lays out: with Python's own five
milliseconds, reading a long list in the storage's thread would hold the window up for a fifth of a second."""


async def build(paths: Paths, engine: str = "llama", *, by_meaning: bool | None = None) -> AppServices:
    """Open the home at `paths` and put the rooms together; `engine` is `llama` or, for scripted models, `echo`.

    `by_meaning`: may an embedding model be loaded? Where nothing is said, not beside scripted models. Raises StorageError when
    the home cannot be used and FileError when the settings cannot be read. Imports no Qt.
    """
    from lethe_app.composition.lifecycle import furnish
    from lethe_app.services.preferences import Preferences
    from lethe_app.storage.database import Database
    from lethe_app.storage.files.json_files import SettingsFile

    settings_file = SettingsFile(paths.settings, paths.trash)
    settings = settings_file.load()
    database = await Database.open(paths.database)
    preferences = Preferences(settings, settings_file, database)
    wanted = engine != "echo" if by_meaning is None else by_meaning
    return furnish(paths, engine, preferences, database, check_window, by_meaning=wanted)


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

    from lethe_app.ui.shell.main_window import MainWindow

    application = QApplication(sys.argv[:1])
    application.setApplicationName("Lethe")
    application.setDesktopFileName("lethe")
    window = MainWindow(paths, furnished=False)
    window.keep_within(window.screen().availableSize())
    window.show()
    on_screen = time.monotonic() + FIRST_PAINT_S
    while not window.windowHandle().isExposed() and time.monotonic() < on_screen:
        application.processEvents()
        time.sleep(0.002)
    application.processEvents()
    return application, window


def open_window(paths: Paths) -> int:
    """Show the window, build the services behind it, and run until the window is closed. Returns the exit code."""
    application, window = first_window(paths)
    from lethe_app.ui.core.translations import speak

    keep_log(paths)
    speak(application, [paths.translations, paths.own_translations])
    window.furnish()
    close_on_signals(window)
    return run(application, window, lambda: build_once(paths))


async def build_once(paths: Paths) -> AppServices | None:
    """A second start shows the window of the first one, and has no services of its own: None."""
    import asyncio

    from lethe_app.errors import DatabaseLocked
    from lethe_app.services.maintenance import single_instance

    try:
        return await build(paths)
    except DatabaseLocked:
        if await asyncio.to_thread(single_instance.call, paths, PATIENCE):
            return None
        raise


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

    def close() -> None:  # Qt holds a function, but of `told.close` not the socket, which would be closed at once
        signal.set_wakeup_fd(-1)
        heard.close()
        told.close()

    window.destroyed.connect(close)
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


def run(application: QApplication, window: MainWindow, make_services: Callable[[], Awaitable[AppServices | None]]) -> int:
    """One event loop for Qt and asyncio; the services close before the loop does."""
    import asyncio

    from qasync import QEventLoop

    from lethe_app.ui.core.garbage_collection import Sweeper

    application.setQuitOnLastWindowClosed(False)  # what is being written comes first
    sys.setswitchinterval(TURN_S)
    sweeper = Sweeper(window.is_busy)
    loop = QEventLoop(application)
    asyncio.set_event_loop(loop)
    try:
        with loop:
            return int(loop.run_until_complete(live(window, make_services)))
    finally:
        sweeper.close()


async def live(window: MainWindow, make_services: Callable[[], Awaitable[AppServices | None]]) -> int:
    """Show an empty frame, open the services, and close them again.

    A home that cannot be opened is told in the window, which stays until it is closed.
    Where another window has the services, None is made, and this one goes.
    """
    import asyncio

    from lethe_app.errors import LetheError

    closed = asyncio.Event()
    window.closed.connect(closed.set)
    try:
        services = await make_services()
    except LetheError as error:
        window.notifier.report(error)
        await closed.wait()
        return 1
    if services is None:
        window.hide()
        window.deleteLater()
        return 0
    try:
        window.attach(services)
        services.wake()
        await closed.wait()
        await window.detach()
    finally:
        await services.close()
    return 0
