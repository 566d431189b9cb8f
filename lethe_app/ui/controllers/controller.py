"""Base of the controllers that follow changes of services."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject


class Controller(QObject):
    """Connects views with services, until it is closed."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._unsubscribers: list[Callable[[], None]] = []
        """What `Listeners.add` has returned."""

    def close(self) -> None:
        """Disconnect from the services."""
        for unsubscribe in self._unsubscribers:
            unsubscribe()
