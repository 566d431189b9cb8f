"""Collects Python's garbage in the window's thread and nowhere else, and never so much at once that somebody would wait for it.

Qt objects often lie in reference cycles. Python frees cycles in whatever thread happens to allocate, the database's perhaps,
and a Qt object that is freed outside its own thread ends the program.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimerEvent
from PySide6.QtGui import QGuiApplication, QWindow

LOOK_MS = 40
"""So short that what another thread makes meanwhile is looked through in a few milliseconds."""
MIDDLE = 3_000
"""New objects after which those that outlived a first look are looked through."""
OLD = 6_000
"""New objects after which those that outlived a second look are, in some ten milliseconds; from then on they are settled."""
FLOOD = 5_000
"""New objects between two looks that are settled unseen: so many are a long list that is being read, and die without help."""
GROWN = 1.25
"""The settled ones are looked through when they have grown by a quarter, as the collector itself does with its oldest."""
IDLE_S = 600.0
"""With a million objects that takes a quarter of a second, which nobody is to see."""
ASK_S = 60.0
"""How often an idle window counts what has settled."""
TOUCHES = {QEvent.Type.KeyPress, QEvent.Type.MouseButtonPress, QEvent.Type.MouseMove, QEvent.Type.Wheel, QEvent.Type.TouchBegin}


class Sweeper(QObject):
    """Takes the collector's place from its making until `close`."""

    def __init__(self, is_busy: Callable[[], bool] = lambda: False, idle: float = IDLE_S) -> None:
        """`is_busy`: does something go on that is looked at? `idle`: seconds without key or mouse before the long look."""
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
        """Follow the keyboard from window to window: dialogs and menus are windows of their own."""
        self._touched = time.monotonic()
        if window is not self._watched and window is not None:
            window.installEventFilter(self)
            self._watched = window

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in TOUCHES:
            self._touched = time.monotonic()
        return False

    def close(self) -> None:
        """Collect what is left, here, and give the work back."""
        self.killTimer(self._timer)
        self._application.focusWindowChanged.disconnect(self._watch)
        gc.unfreeze()
        gc.collect()
        gc.enable()
