"""What leaves for the internet is seen while it leaves, found again in a list, and stopped with one switch."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from lethe_app.domain.clock import now
from lethe_app.domain.web import DailyTraffic, OutgoingRequest, RequestPurpose
from lethe_app.ui.core.labels.web_requests import format_daily_traffic, format_result, format_running_request, request_details
from lethe_app.ui.dialogs.dialogs import ConfirmDialog
from lethe_app.ui.pages.network_log.page import NetworkLogPage
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")
SEARCH = OutgoingRequest(
    purpose=RequestPurpose.SEARCH,
    to="DuckDuckGo",
    host="html.duckduckgo.com",
    what="lighthouse lamps",
    why="You asked about lamps.",
)
PAGE = OutgoingRequest(
    purpose=RequestPurpose.PAGE, to="one.example.com", host="one.example.com", what="https://one.example.com/a", why="So."
)


async def leave(scene: Scene, one: OutgoingRequest, **end: object) -> None:
    """It leaves and comes back, today also if the tests began before midnight."""
    one = one.model_copy(update={"when": now()})
    await scene.services.web_gate.log_request(one)
    await scene.services.web_gate.log_request(one.model_copy(update={"ended": now(), **end}))


async def page_of(scene: Scene) -> NetworkLogPage:
    page = scene.open_page("network_log", NetworkLogPage)
    await until(page.day_label.text)
    return page


@pytest.mark.usefixtures("starter_model")
async def test_what_leaves_is_told_in_the_status_line_and_covers_everything_else(tmp_path: Path):
    async with opened(tmp_path) as scene:
        status = scene.window.chat.status
        await scene.services.models.ensure_loaded()  # which is an activity as well
        status.show_activity("Writing…")

        await scene.services.web_gate.log_request(SEARCH)
        assert status.full_text == "Searching DuckDuckGo for “lighthouse lamps”"
        assert "Internet" in status.accessibleName()
        await scene.services.web_gate.log_request(PAGE)
        assert status.full_text == "Reading a page on one.example.com"
        for one in (SEARCH, PAGE):
            await scene.services.web_gate.log_request(one.model_copy(update={"ended": now()}))
        assert status.full_text == "Reading a page on one.example.com"  # long enough to be read
        await until(lambda: status.full_text == "Writing…")


async def test_a_sign_says_that_the_internet_may_be_used(tmp_path: Path):
    async with opened(tmp_path) as scene:
        status = scene.window.chat.status
        assert status.icon().isNull()

        await scene.services.preferences.set(web_allowed=True)
        assert not status.icon().isNull()
        assert "Internet search is allowed" in status.toolTip()
        await scene.services.preferences.set(web_allowed=False)

        assert status.icon().isNull()
        assert "Internet" not in status.accessibleName()


async def test_the_list_shows_what_left_with_its_reason(tmp_path: Path):
    async with opened(tmp_path) as scene:
        await leave(scene, SEARCH, received=2400)
        page = await page_of(scene)
        await until(lambda: page.rows.row_total == 1)

        assert page.day_label.text() == "Today: 1 request sent, 2 kB received."
        page.table.select_row(SEARCH.id)
        assert page.detail.text() == "lighthouse lamps\nSearch: html.duckduckgo.com\nReason: You asked about lamps."
        await leave(scene, PAGE, trouble="There is no such page.")
        await until(lambda: page.rows.row_total == 2)

        assert [one.what for one in page.rows.visible_rows] == [PAGE.what, SEARCH.what]
        page.search.setText("lamps")
        assert [one.what for one in page.rows.visible_rows] == [SEARCH.what]


async def test_the_switch_stops_everything_and_can_be_undone(tmp_path: Path):
    async with opened(tmp_path) as scene:
        preferences = scene.services.preferences
        page = await page_of(scene)

        QTest.keyClick(page.allow_check, Qt.Key.Key_Space)
        await until(lambda: preferences.current.web_allowed)
        page.undo_stack.undo()
        await until(lambda: not preferences.current.web_allowed)
        assert not page.allow_check.isChecked()
        page.undo_stack.redo()
        await until(lambda: preferences.current.web_allowed and page.allow_check.isChecked())


async def test_the_list_is_forgotten_after_a_question(tmp_path: Path):
    async with opened(tmp_path) as scene:
        await leave(scene, SEARCH)
        page = await page_of(scene)
        await until(lambda: page.rows.row_total == 1)

        page.button("Clear log…").click()
        dialog = await scene.dialog()
        assert isinstance(dialog, ConfirmDialog)
        button = next(each for each in dialog.findChildren(QPushButton) if each.text().startswith("Clear"))
        button.click()
        await until(lambda: page.rows.row_total == 0)

        assert await scene.services.web_gate.list_requests() == []
        assert page.day_label.text() == "No requests today."
        assert page.button("Clear log…").isHidden()


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (SEARCH, "in progress"),
        (SEARCH.model_copy(update={"ended": now()}), "response"),
        (PAGE.model_copy(update={"ended": now(), "received": 12_345}), "12 kB"),
        (PAGE.model_copy(update={"ended": now(), "trouble": "Gone."}), "no data"),
    ],
    ids=range(4),
)
def test_what_came_of_it_is_told_in_words(one: OutgoingRequest, words: str):
    assert format_result(one) == words


def test_every_request_has_its_words():
    rules = PAGE.model_copy(update={"purpose": RequestPurpose.ROBOTS})

    assert format_running_request(rules) == "Checking whether one.example.com allows reading"
    assert len(format_running_request(SEARCH.model_copy(update={"what": "x" * 200}))) < 100
    assert "Error: Gone." in request_details(PAGE.model_copy(update={"trouble": "Gone."}))
    assert format_daily_traffic(DailyTraffic(requests=3, received=1500)) == "Today: 3 requests sent, 2 kB received."
