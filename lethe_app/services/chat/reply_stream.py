"""A reply while it grows: thinking told from speech, the speaker's own name taken off, the wording to store at any moment."""

from __future__ import annotations

from lethe_app.domain.chat import Alternative
from lethe_app.domain.prompt import Prompt
from lethe_app.llm.protocol import Chunk, Done, PrefillProgress
from lethe_app.prompt.echo import EchoFilter
from lethe_app.prompt.format.thinking import ThinkingSplitter
from lethe_app.prompt.format.tool_calls import CallEars
from lethe_app.services.events import Evaluating, ReplyText, ThinkingText


class Reply:
    """Feed it the pieces of one generation; it continues `before`, which is empty for a new reply."""

    def __init__(self, prompt: Prompt, speaker: str, before: Alternative, ears: CallEars | None = None) -> None:
        self._splitter = ThinkingSplitter(
            starts_in_thought=prompt.starts_in_thought, start=prompt.thinking_start, end=prompt.thinking_end
        )
        self._echo = EchoFilter(prompt.background, at_line_start=not before.content or before.content.endswith("\n"))
        self._before = before
        self._ears = ears
        self._continues = bool(before.content)
        self._opening: str | None = None if self._continues else ""
        self._name = f"{speaker}:"
        self._thought = before.thinking
        self._said = before.content

    @property
    def is_empty(self) -> bool:
        """Has nothing been said or thought beyond what was there before?"""
        return self._said == self._before.content and self._thought == self._before.thinking

    @property
    def is_only_echo(self) -> bool:
        """Was nothing said but a copy of the memory block?"""
        return bool(self._echo.dropped) and self._said.strip() == self._before.content.strip()

    def read_report(self, report: PrefillProgress | Chunk | Done) -> list[Evaluating | ReplyText | ThinkingText]:
        """What one word of the engine means for whoever listens."""
        if isinstance(report, PrefillProgress):
            return [Evaluating(report.done, report.total)]
        return [*self.feed(report.text)] if isinstance(report, Chunk) else []

    def feed(self, piece: str) -> list[ReplyText | ThinkingText]:
        """What of the piece is certain, as events in the order in which they were written."""
        split = self._splitter.feed(piece)
        said = self._named(self._ears.feed(split.said) if self._ears else split.said)
        return self._note(split.thought, self._echo.feed(said))

    def finish(self, *, stopped: bool = False) -> list[ReplyText | ThinkingText]:
        """What was held back. A reply that is nothing but thinking is shown as the answer, unless it was stopped at that."""
        split = self._splitter.finish()
        heard = self._ears.feed(split.said) + self._ears.finish() if self._ears else split.said
        said = self._echo.feed(self._named(heard) + (self._opening or "").removeprefix(self._name)) + self._echo.finish()
        self._opening = None
        events = self._note(split.thought, said)
        asked = self._ears is not None and self._ears.calls
        if not stopped and not asked and not self._said.strip() and (answer := self._splitter.only_thought):
            self._said, self._thought = answer, ""
            return [*events, ReplyText(answer)]
        return events

    def wording(self, *, complete: bool) -> Alternative:
        """The reply as it stands; whitespace at its end goes once it is complete."""
        said = self._said.rstrip() if complete else self._said
        return self._before.model_copy(update={"content": said, "thinking": self._thought, "complete": complete})

    def _note(self, thought: str, said: str) -> list[ReplyText | ThinkingText]:
        said = said.lstrip() if self._echo.dropped and not self._said else said
        self._thought += thought
        self._said += said
        events: list[ReplyText | ThinkingText] = [ThinkingText(thought)] if thought else []
        return [*events, ReplyText(said)] if said else events

    def _named(self, said: str) -> str:
        """Take white space and `Name:` off the beginning, holding text back while it may still become that."""
        if self._opening is None:
            return said
        text = (self._opening + said).lstrip()
        if text == self._name or self._name.startswith(text):
            self._opening = text
            return ""
        self._opening = None
        return text.removeprefix(self._name).lstrip() if text.startswith(self._name) else text
