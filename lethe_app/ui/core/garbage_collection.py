"""Python garbage collection in the main thread only, in portions small enough not to delay the window.

Qt objects often lie in reference cycles. Python frees cycles in whichever thread happens to allocate, such as the storage
thread, and a Qt object that is freed outside its own thread crashes the program.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimerEvent
from PySide6.QtGui import QGuiApplication, QWindow

LOOK_MS = 40
"""Milliseconds between two checks: so few that what other threads allocate in between is collected in a few milliseconds."""
MIDDLE = 3_000
"""New objects after which generation 1 is collected."""
OLD = 6_000
"""New objects after which generation 2 is collected, which takes about ten milliseconds; the survivors are frozen
(`gc.freeze`).
"""
FLOOD = 5_000
"""New objects between two checks that are frozen without a collection: so many belong to a long list that is being read, and
are freed by reference counting.
"""
GROWN = 1.25
"""Growth of the frozen objects by a quarter after which they are collected too, as CPython does with its oldest generation."""
IDLE_S = 600.0
"""Seconds without input before the frozen objects are collected: with a million of them it takes a quarter of a second."""
ASK_S = 60.0
"""Seconds between two checks of the frozen objects while the window is idle."""
TOUCHES = {QEvent.Type.KeyPress, QEvent.Type.MouseButtonPress, QEvent.Type.MouseMove, QEvent.Type.Wheel, QEvent.Type.TouchBegin}
"""Events that count as input of the user."""


class Sweeper(QObject):
    """Replacement of Python's automatic garbage collection, from its creation until `close`. Create it in the main thread."""

    def __init__(self, is_busy: Callable[[], bool] = lambda: False, idle: float = IDLE_S) -> None:
        """Disable automatic collection and start the timer. `is_busy` returns whether something visible is going on, such as
        a reply; `idle` is the number of seconds without input before frozen objects are collected.
        """
        super().__init__()
        self._is_busy, self._idle = is_busy, idle
        self._to_middle = self._to_old = self._settled = 0
        self._touched = time.monotonic()
        self._asked = -ASK_S
        self._watched: QWindow | None = None
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        self._application = application
        application.focusWindowChanged.connect(self._watch)
        self._watch(application.focusWindow())
        gc.disable()
        self._timer = self.startTimer(LOOK_MS)

    def timerEvent(self, event: QTimerEvent) -> None:
        young = gc.get_count()[0]
        if young > FLOOD:
            self._settle()
        elif self._to_old > OLD:
            gc.collect(2)
            self._settle()
        elif self._to_middle > MIDDLE:
            self._to_old += self._to_middle
            self._to_middle = 0
            gc.collect(1)
        elif young > gc.get_threshold()[0]:
            self._to_middle += young
            gc.collect(0)
        elif self._is_left_alone():
            self._look_at_settled()

    def _settle(self) -> None:
        self._to_old = self._to_middle = 0
        gc.freeze()

    def _is_left_alone(self) -> bool:
        present = time.monotonic()
        if present - self._touched < self._idle or present - self._asked < ASK_S or self._is_busy():
            return False
        self._asked = present
        return True

    def _look_at_settled(self) -> None:
        if gc.get_freeze_count() > GROWN * self._settled:
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            self._settled = gc.get_freeze_count()

    def _watch(self, window: QWindow | None) -> None:
        """Follow the input to the focused window: dialogs and menus are windows of their own."""
        self._touched = time.monotonic()
        if window is not self._watched and window is not None:
            window.installEventFilter(self)
            self._watched = window

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in TOUCHES:
            self._touched = time.monotonic()
        return False

    def close(self) -> None:
        """Collect all remaining garbage in this thread and enable automatic collection again."""
        self.killTimer(self._timer)
        self._application.focusWindowChanged.disconnect(self._watch)
        gc.unfreeze()
        gc.collect()
        gc.enable()
