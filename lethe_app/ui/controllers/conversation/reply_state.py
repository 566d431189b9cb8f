"""State of one reply in progress: collects its events, so that it can be shown in full when its session is opened again."""

from __future__ import annotations

import asyncio
import time
from uuid import UUID

from PySide6.QtCore import QCoreApplication, QLocale

from lethe_app.domain.chat import Alternative, Message
from lethe_app.services.events import (
    MemoriesRecalled,
    MessageStored,
    NoteAdded,
    NotesDeleted,
    PrefillStep,
    PromptBuilt,
    ReplyFinished,
    ReplyStarted,
    ReplyText,
    SessionReplaced,
    ThinkingText,
    ToolPermissionRequested,
    ToolUsed,
    TurnEvent,
    WebSearchStarted,
)
from lethe_app.ui.chat.status_line import StatusLine
from lethe_app.ui.core.avatars import UNDECIDED_SPEAKER
from lethe_app.ui.core.formatting import format_token_count, format_tool_results
from lethe_app.ui.transcript.model.chat_model import ChatModel

STATUS_ACTIVITIES: dict[type, str] = {
    PromptBuilt: "reading",
    PrefillStep: "reading",
    ThinkingText: "thinking",
    ReplyText: "writing",
    ReplyFinished: "result",
    ToolPermissionRequested: "permission",
    WebSearchStarted: "web search",
}
"""Events that the status line shows, with the activity that each belongs to: the seconds of one go on from event to event."""


STOP_SECONDS = 5.0
"""Time within which a turn that is stopped has to end; after it, its engine counts as one that does not answer."""


class ReplyState:
    """Events of one turn, from the user's request on."""

    def __init__(
        self,
        session_id: UUID,
        draft: str = "",
        speaker: str = "",
        *,
        is_new_reply: bool = False,
        is_new_alternative: bool = False,
    ) -> None:
        self.session_id = session_id
        self.draft = draft
        self.speaker = speaker
        """Unique name of the participant who is to answer; empty if none was chosen."""
        self.displayed_speaker = ("", "")
        """Unique name and display name under which the reply is awaited."""
        self.is_draft_safe = not draft
        """True if the user's message is stored, or there is none; otherwise the composer must get it back on failure."""
        self.is_dictated = False
        """True if the user spoke some of the message."""
        self.task: asyncio.Task[None] | None = None
        """Task of the turn."""
        self.has_started = False
        self.is_stopped = False
        """True if the user stopped the reply."""
        self.status_event: TurnEvent | None = None
        """Latest event that the status line shows."""
        self._activity = ""
        self.status_since = 0.0
        """Moment of `time.monotonic` at which what the status line shows began."""
        self.reply: Message | None = None
        """Message of the reply that is being written."""
        self.has_answered = False
        """True if a reply is complete; in a group others may follow."""
        self.text_parts: list[str] = []
        """Pieces of the reply's text."""
        self.thinking_parts: list[str] = []
        """Pieces of the reply's thinking."""
        self.memory_count = 0
        """Number of memories recalled for it."""
        self._is_new_reply = is_new_reply
        self._is_new_alternative = is_new_alternative

    def cancel(self) -> None:
        """Stop the turn. It is cancelled only once within `STOP_SECONDS`: a second time it no longer waits until the reply is
        stored, and may show an earlier state of it.
        """
        if self.task is not None and not self.task.cancelling():
            self.task.cancel()
            self.task.get_loop().call_later(STOP_SECONDS, self.task.cancel)

    def record_event(self, event: TurnEvent) -> None:
        """Record an event."""
        if activity := STATUS_ACTIVITIES.get(type(event)):
            self.status_since = self.status_since if activity == self._activity else time.monotonic()
            self.status_event, self._activity = event, activity
        match event:
            case SessionReplaced():
                self.session_id = event.session.guid
            case MessageStored():
                self.is_draft_safe = True
            case MemoriesRecalled():  # without the note of the time
                self.memory_count = sum(one.memory != self.session_id for one in event.memory.recalled)
            case ReplyStarted():
                self.reply = add_empty_alternative(event.message) if self._is_new_alternative else event.message
                self.text_parts, self.thinking_parts = [], []  # the previous reply of the group is stored
            case ReplyFinished():
                self.reply, self.has_answered = None, True
            case ReplyText():
                self.text_parts.append(event.text)
            case ThinkingText():
                self.thinking_parts.append(event.text)

    @property
    def is_awaited(self) -> bool:
        """Return whether a reply is awaited that has not begun."""
        return self._is_new_reply and self.is_draft_safe and self.reply is None and not self.has_answered

    @property
    def speaker_name(self) -> str:
        """Return the name of the persona that answers; empty if it is open which of several does."""
        if self.reply is not None:
            return self.reply.speaker_name
        speaker_id, name = self.displayed_speaker
        return "" if speaker_id == UNDECIDED_SPEAKER else name

    def show_progress(self, model: ChatModel) -> None:
        """Show the reply as far as it has come in a model that has just opened this session."""
        if self.reply is not None:
            model.start_reply(self.reply)
            model.append_thinking("".join(self.thinking_parts))
            model.append_content("".join(self.text_parts))
        elif self.is_awaited:
            model.add_placeholder(*self.displayed_speaker, self.session_id)


def add_empty_alternative(message: Message) -> Message:
    """Return a copy of the message with an empty alternative on display, to which the regenerated text is appended."""
    alternatives = [*message.alternatives, Alternative(complete=False)]
    return message.model_copy(update={"alternatives": alternatives, "shown": len(alternatives) - 1})


def tr(text: str) -> str:
    """Translate a text in the context "Turn"."""
    return QCoreApplication.translate("Turn", text)


def format_prefill_progress(done: int, total: int) -> str:
    """Return the progress of the prefill in tokens, for a tooltip."""
    if not done:
        return tr("The prompt has {tokens} to process").format(tokens=format_token_count(total))
    locale = QLocale()
    percent = locale.toString(100 * done // max(1, total))
    template = tr("{done} of {total} tokens of the prompt processed ({percent} %)")
    return template.format(done=locale.toString(done), total=locale.toString(total), percent=percent)


def format_reading(name: str, done: int = 0, total: int = 0) -> str:
    """Return that the persona called `name` reads the prompt, and how much of it is read; the name may be empty."""
    text = tr("{name} is reading…").format(name=name) if name else tr("Reading…")
    return f"{text} {QLocale().toString(100 * done // total)} %" if done and total else text


def format_writing(name: str) -> str:
    """Return that the persona called `name` writes; the name may be empty."""
    return tr("{name} is writing…").format(name=name) if name else tr("Writing…")


def format_wait_reason(event: TurnEvent) -> str:
    """Return the text for what the reply waits for; empty for the prefill, which the status line shows."""
    match event:
        case WebSearchStarted():
            template = tr("Reading about “{topic}”…") if event.pages else tr("Searching the internet for “{topic}”…")
            return template.format(topic=event.topic)
        case ToolPermissionRequested():
            return tr("Waiting for your permission…")
        case ToolUsed():
            return f"{format_tool_results([event.result])}…"
    return ""


def show_in_messages(model: ChatModel, turn: ReplyState, event: TurnEvent) -> None:
    """Apply an event to the transcript's model."""
    match event:
        case MessageStored():
            model.append_message(event.message)
        case NoteAdded():
            model.insert_above(event.message, event.above)
        case NotesDeleted():
            model.remove_messages(*event.messages)
        case ToolPermissionRequested() | ToolUsed() | WebSearchStarted() | PrefillStep():
            model.set_waiting_text(format_wait_reason(event))
        case ReplyStarted() if turn.reply is not None:
            model.start_reply(turn.reply)
        case ThinkingText():
            model.append_thinking(event.text)
        case ReplyText():
            model.append_content(event.text)
        case ReplyFinished():
            model.finish_reply(event.message)


def show_in_status(status: StatusLine, turn: ReplyState, event: TurnEvent) -> None:
    """Show an event in the status line."""
    match event:
        case PromptBuilt():
            status.show_timed_activity(format_reading(turn.speaker_name), turn.status_since)
        case PrefillStep():
            progress = format_prefill_progress(event.done, event.total)
            reading = format_reading(turn.speaker_name, event.done, event.total)
            status.show_timed_activity(reading, turn.status_since, progress)
        case ThinkingText():
            status.show_timed_activity(tr("Thinking…"), turn.status_since)
        case ReplyText():
            status.show_activity(format_writing(turn.speaker_name))
        case ReplyFinished():
            usage = event.usage
            status.show_result(usage.tokens_per_second, usage.reused_tokens, usage.prompt_tokens, turn.memory_count)
        case ToolPermissionRequested() | WebSearchStarted():
            status.show_activity(format_wait_reason(event))
