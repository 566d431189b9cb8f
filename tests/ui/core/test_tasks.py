"""From Qt's signals into asyncio and back."""

from __future__ import annotations

import asyncio

import shiboken6
from PySide6.QtWidgets import QLabel

from lethe_app.errors import ModelError
from lethe_app.ui.core.tasks import Bridge


async def test_work_runs_and_its_failure_is_reported_once():
    reported = []
    bridge = Bridge(reported.append)
    error = ModelError("It broke.")

    async def fail() -> None:
        raise error

    task = bridge.start_task(fail())
    await asyncio.wait([task])
    await asyncio.sleep(0)

    assert reported == [error]


async def test_newer_work_in_a_lane_replaces_the_older():
    reported, finished = [], []
    bridge = Bridge(reported.append)

    async def work(name: str) -> None:
        await asyncio.sleep(0.01)
        finished.append(name)

    bridge.start_task(work("first"), key="open")
    bridge.start_task(work("other"), key="else")
    second = bridge.start_task(work("second"), key="open")
    await second
    await asyncio.sleep(0.01)

    assert sorted(finished) == ["other", "second"]
    assert reported == []


async def test_closing_cancels_everything_and_starts_nothing_more():
    ended = []
    bridge = Bridge(ended.append)

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cleaned up")

    bridge.start_task(work())
    await asyncio.sleep(0)
    await bridge.close()

    assert ended == ["cleaned up"]
    assert bridge.start_task(work()) is None


async def test_work_for_a_page_that_is_gone_ends_in_silence(qapp):
    reported = []
    bridge = Bridge(reported.append)
    label = QLabel("Counting…")

    async def work() -> None:
        label.setText("Done.")

    shiboken6.delete(label)
    task = bridge.start_task(work())
    await asyncio.wait([task])
    await asyncio.sleep(0)

    assert isinstance(task.exception(), RuntimeError)
    assert reported == []
