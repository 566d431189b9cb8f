"""Python garbage collection in the main thread only, in portions small enough not to delay the window.

Qt objects often lie in reference cycles. Python frees cycles in whichever thread happens to allocate, such as the storage
thread, and a Qt object that is freed outside its own thread crashes the program.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimerEvent

from lethe_app.heap import forget_source_lines, release_unused_memory
from lethe_app.ui.core.input_watch import InputWatch

CHECK_INTERVAL_MS = 40
"""Milliseconds between two checks: so few that what other threads allocate in between is collected in a few milliseconds."""
IDLE_CHECK_INTERVAL_MS = 1_000
"""Milliseconds between two checks while nothing is allocated: each wakes the processor up."""
QUIET_CHECKS = 100
"""Checks in a row that found nothing to do before they become rare."""
GENERATION_1_THRESHOLD = 3_000
"""New objects after which generation 1 is collected."""
GENERATION_2_THRESHOLD = 6_000
"""New objects after which generation 2 is collected, which takes about ten milliseconds; the survivors are frozen
(`gc.freeze`).
"""
FREEZE_THRESHOLD = 5_000
"""New objects between two checks that are frozen without a collection: so many belong to a long list that is being read, and
are freed by reference counting.
"""
FROZEN_GROWTH_FACTOR = 1.25
"""Growth of the frozen objects by a quarter after which they are collected too, as CPython does with its oldest generation."""
IDLE_S = 600.0
"""Seconds without input before the frozen objects are collected: with a million of them it takes a quarter of a second."""
FROZEN_CHECK_INTERVAL_S = 60.0
"""Seconds between two checks of the frozen objects while the window is idle."""
RELEASE_IDLE_S = 10.0
"""Seconds without input before unused memory is returned to the operating system, which takes some milliseconds."""
RELEASE_INTERVAL_S = 20.0
"""Seconds between two returns of memory while the window is idle: background work frees some in between."""


class GarbageCollector(QObject):
    """Replacement of Python's automatic garbage collection, from its creation until `close`. Create it in the main thread."""

    def __init__(self, is_busy: Callable[[], bool] = lambda: False, idle_seconds: float = IDLE_S) -> None:
        """Disable automatic collection and start the timer. `is_busy` returns whether something visible is going on, such as
        a reply; `idle_seconds` is the number of seconds without input before frozen objects are collected.
        """
        super().__init__()
        self._is_busy, self._idle_seconds = is_busy, idle_seconds
        self._since_generation_1 = self._since_generation_2 = self._frozen_count = 0
        self._last_input_at = time.monotonic()
        self._last_frozen_check_at = -FROZEN_CHECK_INTERVAL_S
        self._last_release_at = -RELEASE_INTERVAL_S
        self._quiet_checks = 0
        self._input_watch = InputWatch(self)
        self._input_watch.active.connect(self._on_input)
        gc.disable()
        self._timer = self.startTimer(CHECK_INTERVAL_MS)

    @property
    def is_waiting(self) -> bool:
        """Return whether checks are rare, because nothing is allocated."""
        return self._quiet_checks >= QUIET_CHECKS

    def timerEvent(self, event: QTimerEvent) -> None:
        if self._collect_or_release():
            self._check_often()
        elif not self.is_waiting:
            self._quiet_checks += 1
            if self.is_waiting:
                self._restart_timer(IDLE_CHECK_INTERVAL_MS)

    def _check_often(self) -> None:
        if self.is_waiting:
            self._restart_timer(CHECK_INTERVAL_MS)
        self._quiet_checks = 0

    def _restart_timer(self, interval: int) -> None:
        self.killTimer(self._timer)
        self._timer = self.startTimer(interval)

    def _collect_or_release(self) -> bool:
        """Do what is due; return whether there were new objects to collect."""
        new_count = gc.get_count()[0]
        if new_count > FREEZE_THRESHOLD:
            self._freeze()
        elif self._since_generation_2 > GENERATION_2_THRESHOLD:
            gc.collect(2)
            self._freeze()
        elif self._since_generation_1 > GENERATION_1_THRESHOLD:
            self._since_generation_2 += self._since_generation_1
            self._since_generation_1 = 0
            gc.collect(1)
        elif new_count > gc.get_threshold()[0]:
            self._since_generation_1 += new_count
            gc.collect(0)
        else:
            now = time.monotonic()
            if self._is_due(self._idle_seconds, now - self._last_frozen_check_at, FROZEN_CHECK_INTERVAL_S):
                self._last_frozen_check_at = now
                self._collect_frozen()
            elif self._is_due(min(RELEASE_IDLE_S, self._idle_seconds), now - self._last_release_at, RELEASE_INTERVAL_S):
                self._last_release_at = now
                forget_source_lines()
                release_unused_memory()
            return False
        return True

    def _freeze(self) -> None:
        self._since_generation_2 = self._since_generation_1 = 0
        gc.freeze()

    def _is_due(self, idle_seconds: float, since_last: float, interval: float) -> bool:
        """Return whether the window has been idle for `idle_seconds`, and the last time is `interval` seconds ago."""
        is_idle = time.monotonic() - self._last_input_at >= idle_seconds and not self._is_busy()
        return is_idle and since_last >= interval

    def _collect_frozen(self) -> None:
        if gc.get_freeze_count() > FROZEN_GROWTH_FACTOR * self._frozen_count:
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            self._frozen_count = gc.get_freeze_count()

    def _on_input(self) -> None:
        self._last_input_at = time.monotonic()
        self._check_often()

    def close(self) -> None:
        """Collect all remaining garbage in this thread and enable automatic collection again."""
        self.killTimer(self._timer)
        self._input_watch.close()
        gc.unfreeze()
        gc.collect()
        gc.enable()
