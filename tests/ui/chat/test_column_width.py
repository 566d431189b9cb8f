"""Messages and writing field stand in one column, whatever the window does."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QApplication

from lethe_app.ui.core.palette import PROSE_WIDTH
from lethe_app.ui.transcript.row_layout import (
    AVATAR_COLUMN_WIDTH,
    COLUMN_MARGIN,
    MAX_COLUMN_WIDTH,
    MIN_COLUMN_WIDTH,
    column_geometry,
)
from tests.ui.window_scene import opened

pytestmark = pytest.mark.usefixtures("styled_app")


@pytest.mark.parametrize("room", [100, 320, 640, 767, 815, 816, 817, 1015, 1016, 3840])
def test_the_column_stands_in_the_middle_and_keeps_room_around(room):
    left, width = column_geometry(room)
    assert MIN_COLUMN_WIDTH <= width <= MAX_COLUMN_WIDTH
    assert left >= COLUMN_MARGIN
    if room >= MIN_COLUMN_WIDTH + 2 * COLUMN_MARGIN:
        assert abs(room - left - width - left) <= 1


async def test_messages_and_writing_field_have_the_same_edges(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        chat = scene.window.chat
        for width in (1280, 1279, 1100, 1000, 900, 640):
            scene.window.resize(width, 700)
            QApplication.processEvents()
            left, prose = chat.view.text_column()
            frame = chat.composer.frame
            edge = frame.mapTo(chat, QPoint(0, 0)).x()
            assert (edge, edge + frame.width()) == (left - AVATAR_COLUMN_WIDTH, left + prose)
            assert prose <= PROSE_WIDTH


async def test_the_column_does_not_move_when_the_scroll_bar_appears(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        view = scene.window.chat.view
        scene.window.resize(1280, 1400)
        QApplication.processEvents()
        assert view.verticalScrollBar().maximum() == 0
        before = view.text_column()

        scene.window.resize(1280, 420)
        QApplication.processEvents()
        assert view.verticalScrollBar().maximum() > 0
        assert view.text_column() == before


async def test_nothing_is_drawn_where_there_is_nothing_to_scroll(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        view = scene.window.chat.view
        bar = view.verticalScrollBar()

        def inks() -> int:
            image = view.grab(QRect(bar.mapTo(view, QPoint(0, 0)), bar.size())).toImage()
            return len({image.pixel(x, y) for x in range(image.width()) for y in range(image.height())})

        scene.window.resize(1280, 1400)
        QApplication.processEvents()
        assert inks() == 1

        scene.window.resize(1280, 420)
        QApplication.processEvents()
        assert inks() > 1
