"""Base of the controllers, which connect the views of the window with services."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from collections.abc import Callable

    from lethe_app.services.events import Listeners
    from lethe_app.ui.shell.main_window import MainWindow


class Controller(QObject):
    """Connects views with services, until it is closed with all other controllers of its window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window, self._tasks = window, window.tasks
        self._actions, self._notifier, self._theme = window.window_actions, window.notifier, window.theme
        self._unsubscribers: list[Callable[[], None]] = []
        """What `Listeners.add` has returned."""

    def follow(self, react: Callable[[], object], *sources: Listeners[Any]) -> None:
        """Call `react` at each change of the sources, until the controller is closed."""
        self._unsubscribers += [source.add(lambda _value: react()) for source in sources]

    def close(self) -> None:
        """Disconnect from the services."""
        for unsubscribe in self._unsubscribers:
            unsubscribe()
