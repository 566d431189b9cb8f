"""Start and stop the application, with or without a window.

Packages are imported inside the functions that need them: the window is painted before anything else is loaded, and commands
without a window do not import Qt.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable

    from PySide6.QtWidgets import QApplication

    from lethe_app.composition.app_services import AppServices
    from lethe_app.domain.model import EngineCheck
    from lethe_app.paths import Paths
    from lethe_app.ui.controllers.window_controller import WindowController
    from lethe_app.ui.shell.main_window import MainWindow

HAND_OVER_TIMEOUT_S = 2.0
"""Seconds that a running window has to come to the front when Lethe is started again, before a second window is shown."""
WINDOW_REQUEST_TIMEOUT_S = 5.0
"""Seconds that it has for that afterwards, while the second window is empty."""
FIRST_PAINT_S = 0.5
"""Seconds that the desktop may take to expose the window, which can be painted only then."""
SWITCH_INTERVAL_S = 0.0005
"""Interpreter switch interval in seconds. Qt calls into Python for every row it lays out: with the default of five
milliseconds, reading a long list in the storage thread would block the window for a fifth of a second.
"""


async def build(
    paths: Paths, engine: str = "llama", *, by_meaning: bool | None = None, memory: int | None = None
) -> AppServices:
    """Open the data folder at `paths` and compose the services; `engine` is `llama` or, for scripted models, `echo`.

    `by_meaning` says whether an embedding model may be loaded; None allows it except with scripted models. `memory` is the
    memory in bytes for which a profile is chosen; None stands for that of this computer. Raise StorageError if the folder
    cannot be used and FileError if the settings file contains no settings at all. Imports no Qt.
    """
    import asyncio

    from lethe_app.composition.app_services import AppServices
    from lethe_app.heap import forget_source_lines
    from lethe_app.services.maintenance.backups import finish_restore
    from lethe_app.services.maintenance.integrity import check_repair_request
    from lethe_app.services.maintenance.start import describe_unusable_settings, tidy_home
    from lethe_app.services.preferences import Preferences
    from lethe_app.storage.database import Database
    from lethe_app.storage.files.json_files import SettingsFile
    from lethe_app.storage.home_files import create_files_privately
    from lethe_app.system_memory import total_memory

    forget_source_lines()
    create_files_privately()
    notices = await finish_restore(paths)
    check_repair_request(paths)
    settings_file = SettingsFile(paths.settings, paths.trash)
    settings = settings_file.load()
    database = await Database.open(paths.database)
    try:
        notices += [*describe_unusable_settings(settings_file.problems), *await asyncio.to_thread(tidy_home, paths)]
        with suppress(OSError):  # where users put their models; other folders are made when something is put into them
            paths.models.mkdir(exist_ok=True)
        preferences = Preferences(settings, settings_file, database, total_memory() if memory is None else memory)
        wanted = engine != "echo" if by_meaning is None else by_meaning
        return AppServices(paths, engine, preferences, database, check_window, by_meaning=wanted, notices=notices)
    except BaseException:
        await database.close()  # the start may be tried again
        raise


def check_window() -> EngineCheck:
    """Check whether Qt can be loaded; the window's line of `lethe doctor`."""
    from lethe_app.domain.model import EngineCheck

    try:
        from PySide6 import QtCore, QtWidgets  # noqa: F401 - loading it is the check
    except ImportError as error:
        remedy = "Install the system libraries Qt needs; the setup prints the command."
        return EngineCheck("Window", passed=False, detail=str(error), remedy=remedy)
    return EngineCheck("Window", passed=True, detail=f"Qt {QtCore.qVersion()}")


def show_first_window(paths: Paths) -> tuple[QApplication, MainWindow]:
    """Show an empty window and paint it once, before the services are loaded."""
    from lethe_app.heap import use_one_heap

    use_one_heap()  # before Qt starts threads
    from PySide6.QtWidgets import QApplication

    from lethe_app.ui.shell.main_window import MainWindow

    application = QApplication(sys.argv[:1])
    application.setApplicationName("Lethe")
    application.setDesktopFileName("lethe")
    window = MainWindow(paths, build_at_once=False)
    window.limit_size(window.screen().availableSize())
    window.show()
    on_screen = time.monotonic() + FIRST_PAINT_S
    while not window.windowHandle().isExposed() and time.monotonic() < on_screen:
        application.processEvents()
        time.sleep(0.002)
    application.processEvents()
    return application, window


def open_window(paths: Paths) -> int:
    """Show the window, build the services, and run until the window is closed. Return the exit code.

    If another instance has the data folder open, its window comes to the front instead.
    """
    if hand_over(paths):
        return 0
    application, window = show_first_window(paths)
    from lethe_app.ui.core.translations import install_translations, replace_missing_locale

    configure_log(paths)
    replace_missing_locale()
    install_translations(application, [paths.translations, paths.own_translations])
    window.build_panes()
    close_on_signals(window)
    code = run(application, window, lambda: build_once(paths))
    if window.restarts:
        start_again(paths)
    return code


def start_again(paths: Paths) -> None:
    """Start Lethe with the same data folder in a process of its own."""
    import subprocess

    program = [sys.executable] if getattr(sys, "frozen", False) else [sys.executable, "-m", "lethe_app"]
    home = [] if paths == type(paths).standard() else ["--home", str(paths.home)]
    subprocess.Popen([*program, *home])  # noqa: S603 - this program


def hand_over(paths: Paths) -> bool:
    """Bring the window of another instance that has the data folder open to the front; return whether there is one."""
    from lethe_app.errors import LetheError
    from lethe_app.services.maintenance import single_instance

    try:
        return single_instance.is_open(paths) and single_instance.request_window(paths, HAND_OVER_TIMEOUT_S)
    except LetheError:  # a data folder that cannot be used is reported in the window
        return False


async def build_once(paths: Paths) -> AppServices | None:
    """Build the services. If another instance runs, bring its window to the front and return None."""
    import asyncio

    from lethe_app.errors import DatabaseLocked
    from lethe_app.services.maintenance import single_instance

    try:
        return await build(paths)
    except DatabaseLocked:
        if await asyncio.to_thread(single_instance.request_window, paths, WINDOW_REQUEST_TIMEOUT_S):
            return None
        raise


def close_on_signals(window: MainWindow) -> None:
    """Close the window on Ctrl+C and on a termination request of the system, as the user would, with everything stored.

    Qt waits inside C++, where Python's signal handlers do not run; the bytes of `set_wakeup_fd` return control to Python.
    """
    import signal
    import socket

    from PySide6.QtCore import QSocketNotifier

    reader, writer = socket.socketpair()
    writer.setblocking(False)
    signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    notifier = QSocketNotifier(reader.fileno(), QSocketNotifier.Type.Read, window)
    notifier.activated.connect(lambda: reader.recv(64))

    def close() -> None:  # a bound method would not keep the socket alive, which would be closed at once
        signal.set_wakeup_fd(-1)
        reader.close()
        writer.close()

    window.destroyed.connect(close)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: window.close())


def configure_log(paths: Paths) -> None:
    """Write warnings and errors to a rotating file. Texts of conversations are never logged."""
    import logging
    from contextlib import suppress
    from logging.handlers import RotatingFileHandler

    from lethe_app.storage.home_files import create_files_privately

    create_files_privately()
    with suppress(OSError):  # a data folder that cannot be written is reported when the database is opened
        paths.logs.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(paths.logs / "lethe.log", maxBytes=1_000_000, backupCount=2, encoding="utf-8", delay=True)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        logging.getLogger().addHandler(handler)
        logging.getLogger().setLevel(logging.WARNING)


def run(application: QApplication, window: MainWindow, make_services: Callable[[], Awaitable[AppServices | None]]) -> int:
    """Run one event loop for Qt and asyncio; the services are closed before the loop."""
    import asyncio

    from lethe_app.ui.core.event_loop import WindowEventLoop
    from lethe_app.ui.core.garbage_collection import GarbageCollector

    application.setQuitOnLastWindowClosed(False)  # a reply in progress is stored before the application quits
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    runner = WindowRunner(window, make_services)
    collector = GarbageCollector(lambda: runner.is_replying)
    loop = WindowEventLoop(application)
    asyncio.set_event_loop(loop)
    try:
        with loop:
            return int(loop.run_until_complete(runner.run()))
    finally:
        collector.close()


class WindowRunner:
    """Window and its services, from their start until the window is closed."""

    def __init__(self, window: MainWindow, make_services: Callable[[], Awaitable[AppServices | None]]) -> None:
        self._window, self._make_services = window, make_services
        self._controller: WindowController | None = None

    @property
    def is_replying(self) -> bool:
        """Return whether a reply is in progress."""
        return self._controller is not None and self._controller.is_replying

    async def run(self) -> int:
        """Open the services, wait until the window is closed, and close them again. Return the exit code.

        If the data folder cannot be opened, the window says why and offers what can help. If another instance has the
        services, the window is removed.
        """
        import asyncio

        closed = asyncio.Event()
        self._window.closed.connect(closed.set)
        services = await self._start(closed)
        if services is None:
            if closed.is_set():
                return 1
            self._window.hide()
            self._window.deleteLater()
            return 0
        try:
            await self._serve(services, closed)
        finally:
            await services.close()
        return 0

    async def _start(self, closed: asyncio.Event) -> AppServices | None:
        """Open the services; if that fails, help the user until it succeeds or the window is closed. Return None then, or if
        another instance has the services.
        """
        while True:
            try:
                return await self._make_services()
            except Exception as error:
                from lethe_app.ui.controllers.start_repair import StartRepair

                if not closed.is_set():
                    await StartRepair(self._window, self._window.paths, error).resolve()
                if closed.is_set():
                    return None

    async def _serve(self, services: AppServices, closed: asyncio.Event) -> None:
        """Fill the window from `services` until it is closed; a reply in progress is stored as far as it has come."""
        from lethe_app.heap import forget_source_lines
        from lethe_app.ui.controllers.window_controller import WindowController

        forget_source_lines()
        self._controller = WindowController(self._window, services)
        self._controller.open()
        services.start_background()
        await closed.wait()
        await self._controller.close()
        self._controller = None
