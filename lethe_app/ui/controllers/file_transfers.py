"""Keeps what is being packed or unpacked just now, so that the list of what is at work can show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from lethe_app.services.events import Listeners


@dataclass(frozen=True)
class FileTransfer:
    """One file on its way."""

    key: str
    title: str
    fraction: float
    """0 to 1."""
    stop: Callable[[], None]


class FileTransfers:
    """There is one for each window."""

    def __init__(self) -> None:
        self.changed: Listeners[None] = Listeners()
        self._pieces: dict[str, FileTransfer] = {}
        self._count = 0

    @property
    def pieces(self) -> list[FileTransfer]:
        """The oldest first."""
        return list(self._pieces.values())

    def take_up(self, title: str, fraction: float, stop: Callable[[], None]) -> str:
        """From now on there is this one, too; returns the key by which it is told of."""
        self._count += 1
        key = f"luggage {self._count}"
        self._pieces[key] = FileTransfer(key, title, fraction, stop)
        self.changed.tell(None)
        return key

    def report_progress(self, key: str, fraction: float) -> None:
        """It has come so far. One that was put down stays so: word from a thread may be late."""
        if key in self._pieces:
            self._pieces[key] = replace(self._pieces[key], fraction=fraction)
            self.changed.tell(None)

    def put_down(self, key: str) -> None:
        """It is there, or was given up."""
        if self._pieces.pop(key, None) is not None:
            self.changed.tell(None)
