"""Garbage with Qt objects in it is freed in the window's thread."""

from __future__ import annotations

import gc
import linecache
import threading
import weakref

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from lethe_app.ui.core.garbage_collection import FREEZE_THRESHOLD, GarbageCollector


class Knot(QObject):
    """An object that holds itself."""

    def __init__(self, freed_by: list[str]) -> None:
        super().__init__()
        self.itself = self
        weakref.finalize(self, lambda: freed_by.append(threading.current_thread().name))


def allocate_much() -> None:
    """More than enough to make an enabled collector run in the thread that calls this."""
    kept = [[number] for number in range(200_000)]
    assert len(kept) == 200_000


def test_another_thread_frees_no_qt_object(qtbot: QtBot):
    freed_by: list[str] = []
    sweeper = GarbageCollector()
    Knot(freed_by)

    thread = threading.Thread(target=allocate_much, name="storage")
    thread.start()
    thread.join()
    freed_meanwhile = list(freed_by)
    sweeper.close()
    gc.disable()  # as it was before this test

    assert freed_meanwhile == []
    assert freed_by == [threading.main_thread().name]


def test_the_window_thread_collects_by_itself(qtbot: QtBot):
    freed_by: list[str] = []
    allocated: list[list[int]] = []
    gc.collect()  # what earlier tests allocated counts as new otherwise, and with it everything is frozen uncollected
    sweeper = GarbageCollector()

    def is_collected() -> bool:
        # Again and again, because what other threads allocate at the same moment may freeze the first ones uncollected.
        Knot(freed_by)
        allocated.extend([number] for number in range(FREEZE_THRESHOLD // 20))
        return bool(freed_by)

    qtbot.waitUntil(is_collected, timeout=60_000)
    sweeper.close()
    gc.disable()

    assert set(freed_by) == {threading.main_thread().name}


def test_frozen_objects_are_collected_while_the_window_is_idle(qtbot: QtBot):
    freed_by: list[str] = []
    is_busy = True
    knot = Knot(freed_by)
    gc.collect()
    gc.freeze()
    sweeper = GarbageCollector(lambda: is_busy, idle_seconds=0.0)
    del knot

    qtbot.wait(200)
    freed_while_busy = list(freed_by)
    is_busy = False
    qtbot.waitUntil(lambda: bool(freed_by), timeout=60_000)
    sweeper.close()
    gc.disable()

    assert freed_while_busy == []
    assert freed_by == [threading.main_thread().name]


def test_the_objects_of_a_long_list_are_frozen_without_a_collection(qtbot: QtBot):
    sweeper = GarbageCollector()
    qtbot.waitUntil(lambda: gc.get_count()[0] < FREEZE_THRESHOLD, timeout=60_000)
    before = gc.get_freeze_count()
    looks: list[str] = []
    gc.callbacks.append(lambda phase, _about: looks.append(phase))

    records = [[number] for number in range(3 * FREEZE_THRESHOLD)]
    qtbot.waitUntil(lambda: gc.get_freeze_count() > before, timeout=60_000)
    settled = gc.get_freeze_count() - before
    gc.callbacks.pop()
    sweeper.close()
    gc.disable()

    assert settled >= len(records)
    assert looks == []


def test_checks_become_rare_while_nothing_is_allocated_and_frequent_with_new_objects(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("lethe_app.ui.core.garbage_collection.CHECK_INTERVAL_MS", 1)
    monkeypatch.setattr("lethe_app.ui.core.garbage_collection.IDLE_CHECK_INTERVAL_MS", 1)
    gc.collect()
    sweeper = GarbageCollector()

    qtbot.waitUntil(lambda: sweeper.is_waiting, timeout=60_000)
    records = [[number] for number in range(FREEZE_THRESHOLD)]
    qtbot.waitUntil(lambda: not sweeper.is_waiting, timeout=60_000)
    sweeper.close()
    gc.disable()

    assert records


def test_an_idle_window_forgets_the_source_lines_that_imports_left(qtbot: QtBot):
    linecache.getlines(__file__)
    is_busy = True
    sweeper = GarbageCollector(lambda: is_busy, idle_seconds=0.0)

    qtbot.wait(200)
    kept_while_busy = __file__ in linecache.cache
    is_busy = False
    qtbot.waitUntil(lambda: __file__ not in linecache.cache, timeout=60_000)
    sweeper.close()
    gc.disable()

    assert kept_while_busy
