"""Events of a turn and states of the model, as plain values for the window and the terminal; and `Listeners`, the callback
list.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

from lethe_app.domain.chat import ChatSession, Message
from lethe_app.domain.model import LoadedModel, Usage
from lethe_app.domain.prompt import Receipt
from lethe_app.domain.recall import TurnMemory
from lethe_app.domain.tools import PermissionAnswer, ToolCall, ToolResult
from lethe_app.errors import LetheError

Value = TypeVar("Value")


@dataclass(frozen=True)
class MessageStored:
    """A message was stored; the user's message is stored before anything else happens."""

    message: Message


@dataclass(frozen=True)
class SessionReplaced:
    """The user's session had timed out, and the message begins a new one; all following events belong to it."""

    session: ChatSession


@dataclass(frozen=True)
class NoteAdded:
    """A hidden message was inserted directly above another one."""

    message: Message
    above: UUID


@dataclass(frozen=True)
class NotesDeleted:
    """Hidden messages were deleted: they held search results for a message that was edited since."""

    messages: tuple[UUID, ...]


@dataclass(frozen=True)
class MemoriesRecalled:
    """Memories were recalled for the user's message."""

    message_id: UUID
    memory: TurnMemory


@dataclass(frozen=True)
class WebSearchStarted:
    """A web search runs before the reply."""

    topic: str
    pages: int = 0
    """Number of found pages that are being read; 0 while the search itself runs."""


@dataclass(frozen=True)
class PromptBuilt:
    """The prompt is built; the receipt lists its parts."""

    receipt: Receipt


@dataclass(frozen=True)
class PrefillStep:
    """Progress of prefill: tokens processed, of tokens to process."""

    done: int
    total: int


@dataclass(frozen=True)
class ReplyStarted:
    """Generation begins; the following text belongs to this message."""

    message: Message


@dataclass(frozen=True)
class ThinkingText:
    """Piece of the model's thinking, to be displayed collapsed."""

    text: str


@dataclass(frozen=True)
class ReplyText:
    """Piece of the reply, to be appended."""

    text: str


@dataclass(frozen=True, eq=False)
class ToolPermissionRequested:
    """A tool call needs the user's permission; generation waits until `decide` is called."""

    call: ToolCall
    title: str
    """Name of the requested action, such as “search the internet”."""
    persona_name: str
    details: str
    """What the call affects, if its arguments do not say it."""
    answer: asyncio.Future[PermissionAnswer]

    def decide(self, permission: PermissionAnswer) -> None:
        """Set the user's answer; only the first call has an effect."""
        if not self.answer.done():
            self.answer.set_result(permission)


@dataclass(frozen=True)
class ToolUsed:
    """A tool call for this reply has a result, which says why if the call was not run."""

    result: ToolResult
    reply: UUID
    """Message for which the tool was called."""


@dataclass(frozen=True)
class ReplyFinished:
    """The reply is stored, complete or as far as it was generated."""

    message: Message
    usage: Usage


Speech = ReplyStarted | ThinkingText | ReplyText | ToolPermissionRequested | ToolUsed
TurnEvent = (
    SessionReplaced
    | MessageStored
    | NoteAdded
    | NotesDeleted
    | MemoriesRecalled
    | WebSearchStarted
    | PromptBuilt
    | PrefillStep
    | Speech
    | ReplyFinished
)

Emit = Callable[[TurnEvent], Awaitable[None]]
"""Function that hands an event to the reader of a turn, and returns when the reader asks for the next one."""


async def stream_events(work: Callable[[Emit], Coroutine[Any, Any, None]]) -> AsyncGenerator[TurnEvent]:
    """Run `work` in a task and yield the events that it emits. Closing the stream cancels the work at the event it is at, or
    at what it waits for, and returns when it has ended.
    """
    events: asyncio.Queue[TurnEvent | None] = asyncio.Queue()
    demand = asyncio.Semaphore(0)

    async def emit(event: TurnEvent) -> None:
        events.put_nowait(event)
        await demand.acquire()

    task = asyncio.get_running_loop().create_task(work(emit))
    task.add_done_callback(lambda _task: events.put_nowait(None))
    try:
        while (event := await events.get()) is not None:
            yield event
            demand.release()
    finally:
        task.cancel()
        await asyncio.wait({task})
        if not task.cancelled():
            task.result()


@dataclass(frozen=True)
class NoModel:
    """No model is loaded and none is loading."""


@dataclass(frozen=True)
class ModelLoading:
    """A model is being loaded; `fraction` runs from 0 to 1."""

    name: str
    fraction: float


@dataclass(frozen=True)
class ModelReady:
    """A model is loaded and can generate."""

    model: LoadedModel


@dataclass(frozen=True)
class ModelFailed:
    """The model could not be loaded, or its process ended."""

    error: LetheError


ModelState = NoModel | ModelLoading | ModelReady | ModelFailed


class Listeners(Generic[Value]):
    """List of callbacks that are called with each emitted value, in the event loop's thread."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[[Value], object]] = []

    def add(self, callback: Callable[[Value], object]) -> Callable[[], None]:
        """Add a callback; return a function that removes it, which may be called more than once."""
        self._callbacks.append(callback)

        def remove() -> None:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

        return remove

    def notify(self, value: Value) -> None:
        """Call every callback with a value."""
        for callback in list(self._callbacks):
            callback(value)
