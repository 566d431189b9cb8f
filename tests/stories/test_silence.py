"""An evening that is left without a goodbye, with the real window and the real starter model."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from lethe_app.domain.clock import system_clock, use_clock
from lethe_app.ui.shell.sidebar_model import SessionRow
from lethe_app.ui.transcript.painting.link_line import LinkLine
from tests.stories.stage import Stage


class Later:
    """The system's clock, put forward."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def __call__(self) -> datetime:
        return system_clock() + self.ahead


@pytest.fixture
def clock() -> Iterator[Later]:
    clock = Later()
    with use_clock(clock):
        yield clock


def ended_line(stage: Stage) -> LinkLine | None:
    """What stands below the last message, if silence has ended the conversation."""
    return stage.view.footer


def conversations(stage: Stage) -> list[SessionRow]:
    model = stage.window.sidebar.model
    rows = (model.row_at(model.index(number)) for number in range(model.rowCount()))
    return [row for row in rows if isinstance(row, SessionRow)]


async def answered(stage: Stage, text: str, count: int) -> None:
    await stage.write(text)
    await stage.until(lambda: len(stage.messages()) == count and not stage.is_answering, f"“{text}” is answered")


def test_an_evening_left_without_a_goodbye_is_remembered_and_can_be_gone_on_with(
    qapp: QApplication, starter_home: Path, clock: Later
):
    async def evening(stage: Stage) -> None:
        await stage.begin("Noor", "Aiko")
        await answered(stage, "I am allergic to peanuts.", 3)
        QTest.keyClicks(stage.window.chat.composer.draft_field, "I work as a car")
        clock.ahead += timedelta(hours=9)
        QTest.keyClicks(stage.window.chat.composer.draft_field, "penter")
        await stage.until(lambda: ended_line(stage) is not None, "the night has ended the conversation")
        await stage.until(lambda: conversations(stage)[0].is_ended, "the list shows that it has ended")
        await stage.take_picture("conversation-ended")

        assert stage.window.chat.composer.draft_field.toPlainText() == "I work as a carpenter"
        assert len(stage.messages()) == 3
        line = ended_line(stage)
        assert line is not None
        line.setFocus(Qt.FocusReason.TabFocusReason)
        stage.press(line, Qt.Key.Key_Tab)
        stage.press(line, Qt.Key.Key_Return)
        await stage.until(lambda: ended_line(stage) is None, "it goes on")
        await answered(stage, " at the old shipyard.", 5)
        assert stage.messages()[3][1] == "I work as a carpenter at the old shipyard."

    async def next_day(stage: Stage) -> None:
        await stage.until(lambda: stage.messages() and ended_line(stage) is not None, "yesterday evening has ended")
        before = stage.messages()
        await answered(stage, "Good morning.", 2)

        assert len(before) == 5
        assert ended_line(stage) is None
        assert len(conversations(stage)) == 2
        services = stage._services
        assert services is not None
        facts = [fact.fact for fact in await services.facts.facts_of("aiko")]
        assert any("peanuts" in fact for fact in facts)
        assert any("carpenter" in fact for fact in facts)
        old = conversations(stage)[1]
        assert not old.is_ended
        assert old.title

    Stage(starter_home).play(evening)
    clock.ahead += timedelta(days=1)
    Stage(starter_home).play(next_day)
