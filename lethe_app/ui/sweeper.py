"""Collects Python's garbage in the window's thread and nowhere else.

Qt objects often lie in reference cycles. Python frees cycles in whatever thread happens to allocate, the database's perhaps,
and a Qt object that is freed outside its own thread ends the program.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimerEvent

LOOK_MS = 500


class Sweeper(QObject):
    """Takes the collector's place from its making until `close`, by the collector's own thresholds."""

    def __init__(self) -> None:
        super().__init__()
        gc.disable()
        self._timer = self.startTimer(LOOK_MS)

    def timerEvent(self, event: QTimerEvent) -> None:
        for generation in (2, 1, 0):
            if gc.get_count()[generation] > gc.get_threshold()[generation]:
                gc.collect(generation)
                return

    def close(self) -> None:
        """Collect what is left, here, and give the work back."""
        self.killTimer(self._timer)
        gc.collect()
        gc.enable()
