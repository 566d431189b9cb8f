"""The panes have at the next start the widths the reader left them with."""

from __future__ import annotations

import pytest

from lethe_app.ui.shell.sidebar import SIDEBAR_WIDTH
from tests.ui.window_scene import opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


async def test_the_sidebar_is_as_wide_at_the_next_start_though_the_panel_is_open_and_the_text_large(tmp_path, echo_model):
    model = echo_model("Yes.")
    async with opened(tmp_path, model) as first:
        first.window.resize(1280, 800)
        await first.services.preferences.set(font_size=22)
        await until(lambda: first.window.theme.prose_size == 22)
        first.window.panes.open_panel()
        await until(
            lambda: first.window.panes.splitter.sizes()[0] == SIDEBAR_WIDTH and len(first.window.panes.splitter.sizes()) == 3
        )

    async with opened(tmp_path, model) as again:
        panes = again.window.panes
        again.window.resize(1280, 800)  # the screen of the tests is smaller, and so was the window at first
        await until(lambda: panes.is_panel_open and panes.width() == 1280)
        assert panes.splitter.sizes()[0] == SIDEBAR_WIDTH
        assert again.window.sidebar.new_session_button.width() >= again.window.sidebar.new_session_button.sizeHint().width()


async def test_no_word_on_a_button_of_the_narrowest_sidebar_is_cut_off_in_large_text(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        scene.window.resize(1280, 800)
        side = scene.window.sidebar
        await scene.services.preferences.set(font_size=24)
        await until(lambda: scene.window.theme.prose_size == 24)

        scene.window.panes.splitter.setSizes([1, 1279])
        await until(lambda: side.width() == side.minimumWidth())

        assert side.new_session_button.width() >= side.new_session_button.sizeHint().width()
        assert side.new_persona_button.width() >= side.new_persona_button.sizeHint().width()
