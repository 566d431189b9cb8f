"""The Qt binding itself, where a broken release would end the program after an hour of use."""

from __future__ import annotations

import sys

from PySide6.QtGui import QColor, QPainter, QPixmap
from pytestqt.qtbot import QtBot


def test_a_call_that_returns_nothing_takes_no_reference_from_none(qtbot: QtBot):
    pixmap = QPixmap(10, 10)
    painter = QPainter(pixmap)
    before = sys.getrefcount(None)

    for _call in range(1000):
        painter.setPen(QColor("red"))

    after = sys.getrefcount(None)
    painter.end()
    assert after > before - 100
