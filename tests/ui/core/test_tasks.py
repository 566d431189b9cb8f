"""From Qt's signals into asyncio and back."""

from __future__ import annotations

import asyncio

import shiboken6
from PySide6.QtWidgets import QLabel

from lethe_app.errors import ModelError
from lethe_app.ui.core.tasks import TaskRunner


async def test_an_error_of_a_task_is_reported_once():
    reported = []
    tasks = TaskRunner(reported.append)
    error = ModelError("It broke.")

    async def fail() -> None:
        raise error

    task = tasks.start_task(fail())
    await asyncio.wait([task])
    await asyncio.sleep(0)

    assert reported == [error]


async def test_a_new_task_cancels_the_previous_one_of_its_key():
    reported, finished = [], []
    tasks = TaskRunner(reported.append)

    async def work(name: str) -> None:
        await asyncio.sleep(0.01)
        finished.append(name)

    tasks.start_task(work("first"), key="open")
    tasks.start_task(work("other"), key="else")
    second = tasks.start_task(work("second"), key="open")
    await second
    await asyncio.sleep(0.01)

    assert sorted(finished) == ["other", "second"]
    assert reported == []


async def test_closing_cancels_all_tasks_and_starts_none():
    ended = []
    tasks = TaskRunner(ended.append)

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cleaned up")

    tasks.start_task(work())
    await asyncio.sleep(0)
    await tasks.close()

    assert ended == ["cleaned up"]
    assert tasks.start_task(work()) is None


async def test_the_error_of_a_deleted_page_is_not_reported(qapp):
    reported = []
    tasks = TaskRunner(reported.append)
    label = QLabel("Counting…")

    async def work() -> None:
        label.setText("Done.")

    shiboken6.delete(label)
    task = tasks.start_task(work())
    await asyncio.wait([task])
    await asyncio.sleep(0)

    assert isinstance(task.exception(), RuntimeError)
    assert reported == []


async def test_a_second_attempt_closes_the_report_of_the_first():
    closed = []
    tasks = TaskRunner(lambda error: lambda: closed.append(str(error)))

    async def fail() -> None:
        raise ModelError("It broke.")

    async def succeed() -> None: ...

    await asyncio.wait([tasks.start_task(fail(), key="load")])
    await asyncio.wait([tasks.start_task(succeed(), key="other")])
    assert closed == []

    await asyncio.wait([tasks.start_task(succeed(), key="load")])
    assert closed == ["It broke."]
