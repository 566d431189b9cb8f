"""Parser of a reply during generation: separate thinking from speech, remove the speaker's name, filter echoed memories, and
give the alternative to store at any moment.
"""

from __future__ import annotations

from lethe_app.domain.chat import Alternative
from lethe_app.domain.prompt import Prompt
from lethe_app.llm.protocol import Chunk, Done, PrefillProgress
from lethe_app.prompt.echo import EchoFilter
from lethe_app.prompt.format.thinking import ThinkingSplitter
from lethe_app.prompt.format.tool_calls import ToolCallDetector
from lethe_app.services.events import PrefillStep, ReplyText, ThinkingText


class ReplyParser:
    """Parse the pieces of one generation in order; it continues `before`, which is empty for a new reply."""

    def __init__(self, prompt: Prompt, speaker: str, before: Alternative, ears: ToolCallDetector | None = None) -> None:
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
        """True if neither speech nor thinking was added to the continued alternative."""
        return self._said == self._before.content and self._thought == self._before.thinking

    @property
    def is_only_echo(self) -> bool:
        """True if the model wrote nothing but a copy of the memory block."""
        return bool(self._echo.dropped) and self._said.strip() == self._before.content.strip()

    def read_report(self, report: PrefillProgress | Chunk | Done) -> list[PrefillStep | ReplyText | ThinkingText]:
        """Return the events for listeners that a report of the engine means."""
        if isinstance(report, PrefillProgress):
            return [PrefillStep(report.done, report.total)]
        return [*self.feed(report.text)] if isinstance(report, Chunk) else []

    def feed(self, piece: str) -> list[ReplyText | ThinkingText]:
        """Parse a piece and return the events for the text that is certain, in the order in which it was written."""
        split = self._splitter.feed(piece)
        said = self._named(self._ears.feed(split.answer) if self._ears else split.answer)
        return self._note(split.thought, self._echo.feed(said))

    def finish(self, *, stopped: bool = False) -> list[ReplyText | ThinkingText]:
        """Emit the text that was held back. A reply of nothing but thinking becomes the answer, unless it was stopped while
        thinking.
        """
        split = self._splitter.finish()
        heard = self._ears.feed(split.answer) + self._ears.finish() if self._ears else split.answer
        said = self._echo.feed(self._named(heard) + (self._opening or "").removeprefix(self._name)) + self._echo.finish()
        self._opening = None
        events = self._note(split.thought, said)
        asked = self._ears is not None and self._ears.calls
        if not stopped and not asked and not self._said.strip() and (answer := self._splitter.only_thought):
            self._said, self._thought = answer, ""
            return [*events, ReplyText(answer)]
        return events

    def wording(self, *, complete: bool) -> Alternative:
        """Return the alternative with the text so far; trailing whitespace is removed once it is complete."""
        said = self._said.rstrip() if complete else self._said
        return self._before.model_copy(update={"content": said, "thinking": self._thought, "complete": complete})

    def _note(self, thought: str, said: str) -> list[ReplyText | ThinkingText]:
        said = said.lstrip() if self._echo.dropped and not self._said else said
        self._thought += thought
        self._said += said
        events: list[ReplyText | ThinkingText] = [ThinkingText(thought)] if thought else []
        return [*events, ReplyText(said)] if said else events

    def _named(self, said: str) -> str:
        """Remove leading whitespace and `Name:`; hold text back while it may still become that."""
        if self._opening is None:
            return said
        text = (self._opening + said).lstrip()
        if text == self._name or self._name.startswith(text):
            self._opening = text
            return ""
        self._opening = None
        return text.removeprefix(self._name).lstrip() if text.startswith(self._name) else text
