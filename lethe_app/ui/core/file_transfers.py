"""Imports and exports in progress, for the activity list, and the folders they wrote to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from lethe_app.services.events import Listeners


@dataclass(frozen=True)
class FileTransfer:
    """Import or export of one file in progress."""

    key: str
    title: str
    fraction: float
    """Progress from 0 to 1."""
    stop: Callable[[], None]
    """Callable that cancels the transfer."""


class FileTransfers:
    """Registry of the transfers in progress, one per window; `changed` is emitted at every change."""

    def __init__(self) -> None:
        self.changed: Listeners[None] = Listeners()
        self._transfers: dict[str, FileTransfer] = {}
        self._count = 0

    @property
    def transfers(self) -> list[FileTransfer]:
        """Return the transfers, oldest first."""
        return list(self._transfers.values())

    def add_transfer(self, title: str, fraction: float, stop: Callable[[], None]) -> str:
        """Add a transfer; return its key for `report_progress` and `remove_transfer`."""
        self._count += 1
        key = f"transfer {self._count}"
        self._transfers[key] = FileTransfer(key, title, fraction, stop)
        self.changed.notify(None)
        return key

    def report_progress(self, key: str, fraction: float) -> None:
        """Set the progress of a transfer. One that was removed stays removed, because reports from a thread may arrive late."""
        if key in self._transfers:
            self._transfers[key] = replace(self._transfers[key], fraction=fraction)
            self.changed.notify(None)

    def remove_transfer(self, key: str) -> None:
        """Remove a transfer that is complete or was cancelled."""
        if self._transfers.pop(key, None) is not None:
            self.changed.notify(None)


def open_folder(folder: Path) -> None:
    """Open a folder in the system's file manager."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
