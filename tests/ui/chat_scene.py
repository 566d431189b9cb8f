"""A conversation to test with: messages, a loader over them, and a view that has settled."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from PySide6.QtWidgets import QApplication

from lethe_app.domain.chat import Alternative, Message, MessageOutline, Role
from lethe_app.ui.transcript.chat_view import ChatView
from lethe_app.ui.transcript.model.chat_model import ChatModel
from lethe_app.ui.transcript.model.message_rows import outline_of

SESSION = uuid4()
NOON = datetime(2026, 3, 3, 12, tzinfo=UTC)


def message(text: str = "Words.", role: Role = Role.ASSISTANT, minutes: int = 0, **more: object) -> Message:
    name = {Role.USER: "Tomas", Role.ASSISTANT: "Mira"}.get(role, "")
    wordings = more.pop("alternatives", None) or [Alternative(content=text, thinking=str(more.pop("thinking", "")))]
    when = NOON + timedelta(minutes=minutes)
    return Message(
        session_id=SESSION, role=role, speaker=name.lower(), speaker_name=name, time=when, alternatives=wordings, **more
    )


def conversation(count: int, text: str = "“Line {number}.” *She waits, and the lamp swings over the chart.*") -> list[Message]:
    roles = (Role.ASSISTANT, Role.USER)
    return [message(text.format(number=number), roles[number % 2], number) for number in range(count)]


class Pages:
    """A loader that remembers what it was asked for."""

    def __init__(self, messages: list[Message]) -> None:
        self.messages = messages
        self.asked: list[tuple[int, int]] = []
        self.open = asyncio.Event()
        self.open.set()

    async def __call__(self, start: int, count: int) -> list[Message]:
        self.asked.append((start, count))
        await self.open.wait()
        return self.messages[start : start + count]


def outlines(messages: list[Message]) -> list[MessageOutline]:
    return [outline_of(each) for each in messages]


async def process_events(rounds: int = 6) -> None:
    """Let the loop and Qt do what they have to do."""
    for _ in range(rounds):
        QApplication.processEvents()
        await asyncio.sleep(0)


async def view_of(qtbot, messages: list[Message], size: tuple[int, int] = (900, 600)) -> ChatView:
    model = ChatModel()
    view = ChatView(model)
    qtbot.addWidget(view)
    view.resize(*size)
    view.show()
    model.show_session(outlines(messages), Pages(messages))
    await process_events()
    return view


def tops(view: ChatView) -> dict[UUID, int]:
    """Where each message on the screen begins."""
    return {view.chat_model.outline(placed.row).id: placed.top for placed in view.visible_rows}
