"""State of one reply in progress: collects its events, so that it can be shown in full when its session is opened again."""

from __future__ import annotations

from uuid import UUID

from PySide6.QtCore import QCoreApplication, QLocale

from lethe_app.domain.chat import Alternative, Message
from lethe_app.services.events import (
    AskTool,
    Began,
    Evaluating,
    Finished,
    MessageStored,
    Moved,
    NoteAdded,
    Prompted,
    Recalled,
    ReplyText,
    Searching,
    ThinkingText,
    ToolUsed,
    TurnEvent,
    Withdrawn,
)
from lethe_app.ui.core.formatting import tokens_in_words
from lethe_app.ui.shell.status_line import StatusLine
from lethe_app.ui.transcript.model.model import ChatModel
from lethe_app.ui.transcript.painting.tool_list import in_words


class ReplyState:
    """Events of one turn, from the user's request on."""

    def __init__(
        self,
        session_id: UUID,
        draft: str = "",
        speaker: str = "",
        *,
        is_new_reply: bool = False,
        is_another_wording: bool = False,
    ) -> None:
        self.session_id = session_id
        self.draft = draft
        self.speaker = speaker
        """Unique name of the participant who is to answer; empty if none was chosen."""
        self.shown_as = ("", "")
        """Unique name and display name under which the reply is awaited."""
        self.is_draft_safe = not draft
        """True if the user's message is stored, or there is none; otherwise the composer must get it back on failure."""
        self.has_begun = False
        self.is_stopped = False
        """True if the user stopped the reply."""
        self.latest: TurnEvent | None = None
        """Latest event of the turn."""
        self.began: Message | None = None
        """Message of the reply that is being written."""
        self.has_answered = False
        """True if a reply is complete; in a group others may follow."""
        self.said: list[str] = []
        """Pieces of the reply's text."""
        self.thought: list[str] = []
        """Pieces of the reply's thinking."""
        self.memories = 0
        """Number of memories recalled for it."""
        self._is_new_reply = is_new_reply
        self._is_another_wording = is_another_wording

    def note(self, event: TurnEvent) -> None:
        """Record an event."""
        self.latest = event
        if isinstance(event, Moved):
            self.session_id = event.session.guid
        elif isinstance(event, MessageStored):
            self.is_draft_safe = True
        elif isinstance(event, Recalled):
            self.memories = sum(one.memory != self.session_id for one in event.memory.recalled)  # not the note of the time
        elif isinstance(event, Began):
            self.began = with_new_wording(event.message) if self._is_another_wording else event.message
            self.said, self.thought = [], []  # those of the reply before it are stored
        elif isinstance(event, Finished):
            self.began, self.has_answered = None, True
        elif isinstance(event, ReplyText):
            self.said.append(event.text)
        elif isinstance(event, ThinkingText):
            self.thought.append(event.text)

    @property
    def is_awaited(self) -> bool:
        """Return whether a reply is awaited that has not begun."""
        return self._is_new_reply and self.is_draft_safe and self.began is None and not self.has_answered

    def show_so_far(self, model: ChatModel) -> None:
        """Show the reply as far as it has come in a model that has just opened this session."""
        if self.began is not None:
            model.begin_reply(self.began)
            model.append_thought("".join(self.thought))
            model.append_said("".join(self.said))
        elif self.is_awaited:
            model.await_reply(*self.shown_as, self.session_id)


def with_new_wording(message: Message) -> Message:
    """Return a copy of the message with an empty alternative on display, to which the regenerated text is appended."""
    wordings = [*message.alternatives, Alternative(complete=False)]
    return message.model_copy(update={"alternatives": wordings, "shown": len(wordings) - 1})


def reading(done: int, total: int) -> str:
    """Return the progress of the prefill in words."""
    if not done:
        return QCoreApplication.translate("Turn", "Processing prompt ({tokens})…").format(tokens=tokens_in_words(total))
    locale = QLocale()
    words = QCoreApplication.translate("Turn", "Processing prompt: {done} of {total} tokens…")
    return words.format(done=locale.toString(done), total=locale.toString(total))


def searching(event: Searching) -> str:
    """Return the progress of a web look-up in words."""
    words = QCoreApplication.translate("Turn", "Reading about “{topic}”…")
    if not event.pages:
        words = QCoreApplication.translate("Turn", "Searching the internet for “{topic}”…")
    return words.format(topic=event.topic)


def waiting() -> str:
    """Return the text for a reply that waits for the user's permission."""
    return QCoreApplication.translate("Turn", "Waiting for your permission…")


def what_for(event: AskTool | ToolUsed | Searching | Evaluating) -> str:
    """Return the text for what the reply waits for."""
    match event:
        case Searching():
            return searching(event)
        case Evaluating():
            return reading(event.done, event.total)
        case AskTool():
            return waiting()
    return f"{in_words([event.result])}…"


def show_in_messages(model: ChatModel, turn: ReplyState, event: TurnEvent) -> None:
    """Apply an event to the transcript's model."""
    if isinstance(event, MessageStored):
        model.append(event.message)
    elif isinstance(event, NoteAdded):
        model.insert_above(event.message, event.above)
        model.marks.sources.note(event.message, event.above)
        model.marks.tools.note(event.message, event.above)
    elif isinstance(event, Withdrawn):
        model.marks.sources.remove_lines(event.messages)
        model.remove(*event.messages)
    elif isinstance(event, AskTool | ToolUsed | Searching | Evaluating):
        model.say_waiting(what_for(event))
    elif isinstance(event, Began) and turn.began is not None:
        model.begin_reply(turn.began)
    elif isinstance(event, ThinkingText):
        model.append_thought(event.text)
    elif isinstance(event, ReplyText):
        model.append_said(event.text)
    elif isinstance(event, Finished):
        model.finish(event.message)


def show_in_status(status: StatusLine, turn: ReplyState, event: TurnEvent) -> None:
    """Show an event in the status line."""
    if isinstance(event, Evaluating):
        status.show_busy(reading(event.done, event.total))
    elif isinstance(event, ThinkingText):
        status.show_thinking()
    elif isinstance(event, ReplyText):
        status.show_busy(QCoreApplication.translate("Turn", "Writing…"))
    elif isinstance(event, Finished):
        usage = event.usage
        status.show_result(usage.tokens_per_second, usage.reused_tokens, usage.prompt_tokens, turn.memories)
    elif isinstance(event, AskTool):
        status.show_busy(waiting())
    elif isinstance(event, Searching):
        status.show_busy(searching(event))
    elif isinstance(event, Prompted):
        status.show_busy(QCoreApplication.translate("Turn", "Processing prompt…"))
