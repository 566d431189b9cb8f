"""The terminal and the system reach a window that waits, and one that waits does nothing."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QSocketNotifier
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from lethe_app.app import close_on_signals

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows tells of no signals by a socket")


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[QWidget]:
    before = {requested: signal.getsignal(requested) for requested in (signal.SIGINT, signal.SIGTERM)}
    window = QWidget()
    close_on_signals(window)
    yield window
    signal.set_wakeup_fd(-1)
    for requested, handler in before.items():
        signal.signal(requested, handler)
    window.deleteLater()
    qtbot.wait(1)


def woken(window: QWidget) -> list[object]:
    """Notes whenever the window is woken."""
    times: list[object] = []
    (notifier,) = window.findChildren(QSocketNotifier)
    notifier.activated.connect(lambda *_about: times.append(notifier))
    return times


def test_a_window_that_nobody_wants_anything_of_is_not_woken(window: QWidget):
    times = woken(window)

    for _time in range(50):
        QApplication.processEvents()

    assert times == []


def test_a_signal_wakes_the_window_once_and_closes_it(window: QWidget, qtbot: QtBot):
    times = woken(window)
    window.show()

    os.kill(os.getpid(), signal.SIGTERM)
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=60_000)
    for _time in range(50):
        QApplication.processEvents()

    assert len(times) == 1
