"""What happens during a turn and in the program, as plain values that any window or terminal can show."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar
from uuid import UUID

from lethe_app.domain.chat import ChatSession, Message
from lethe_app.domain.model import LoadedModel, Usage
from lethe_app.domain.prompt import Receipt
from lethe_app.domain.recall import TurnMemory
from lethe_app.domain.tools import PermissionAnswer as ToolVerdict
from lethe_app.domain.tools import ToolCall, ToolResult
from lethe_app.errors import LetheError

Value = TypeVar("Value")


@dataclass(frozen=True)
class MessageStored:
    """A message is safe on disk: the user's own before anything else happens."""

    message: Message


@dataclass(frozen=True)
class Moved:
    """The user was away for so long that their words begin a new conversation; everything that follows belongs to it."""

    session: ChatSession


@dataclass(frozen=True)
class NoteAdded:
    """A hidden line was put into the conversation, right above another message."""

    message: Message
    above: UUID


@dataclass(frozen=True)
class Withdrawn:
    """Hidden lines left the conversation: what they tell was looked up for words that stand there no more."""

    messages: tuple[UUID, ...]


@dataclass(frozen=True)
class Recalled:
    """What the user's message brought to the persona's mind, and why."""

    message_id: UUID
    memory: TurnMemory


@dataclass(frozen=True)
class Searching:
    """Before the reply something is looked up on the internet."""

    topic: str
    pages: int = 0
    """That were found and are being read now; 0 while they are searched for."""


@dataclass(frozen=True)
class Prompted:
    """The prompt is built; the receipt says what went in."""

    receipt: Receipt


@dataclass(frozen=True)
class Evaluating:
    """The model reads the prompt: tokens read of tokens to read."""

    done: int
    total: int


@dataclass(frozen=True)
class Began:
    """The reply has a message of its own; what is said from now on belongs to it."""

    message: Message


@dataclass(frozen=True)
class ThinkingText:
    """A piece of the model's thinking, to be shown folded."""

    text: str


@dataclass(frozen=True)
class ReplyText:
    """A piece of the reply, to be appended."""

    text: str


@dataclass(frozen=True, eq=False)
class AskTool:
    """A tool is to be used that the user is asked about; the reply waits for `decide`."""

    call: ToolCall
    title: str
    """What is wanted: “search the internet”."""
    who: str
    about: str
    """What is at stake, where the arguments do not say it."""
    answer: asyncio.Future[ToolVerdict]

    def decide(self, verdict: ToolVerdict) -> None:
        """Only the first answer counts."""
        if not self.answer.done():
            self.answer.set_result(verdict)


@dataclass(frozen=True)
class ToolUsed:
    """A tool was used for this reply, or was not, and the result says why."""

    result: ToolResult
    reply: UUID
    """The message it was used for."""


@dataclass(frozen=True)
class Finished:
    """The reply is complete, or kept as far as it came, and stored."""

    message: Message
    usage: Usage


Speech = Began | ThinkingText | ReplyText | AskTool | ToolUsed
TurnEvent = Moved | MessageStored | NoteAdded | Withdrawn | Recalled | Searching | Prompted | Evaluating | Speech | Finished


@dataclass(frozen=True)
class NoModel:
    """No model is loaded and none is loading."""


@dataclass(frozen=True)
class Loading:
    """A model is being loaded; `fraction` runs from 0 to 1."""

    name: str
    fraction: float


@dataclass(frozen=True)
class Ready:
    """A model answers."""

    model: LoadedModel


@dataclass(frozen=True)
class Failed:
    """The model could not be loaded, or died."""

    error: LetheError


ModelState = NoModel | Loading | Ready | Failed


class Listeners(Generic[Value]):
    """Callbacks that are told about a value whenever it changes; called in the event loop's thread."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[[Value], None]] = []

    def add(self, callback: Callable[[Value], None]) -> Callable[[], None]:
        """Call `callback` from now on; returns the function that takes it back, which may be called again without harm."""
        self._callbacks.append(callback)

        def forget() -> None:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

        return forget

    def tell(self, value: Value) -> None:
        for callback in list(self._callbacks):
            callback(value)
