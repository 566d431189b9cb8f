"""Stable prefix: the part of a session's prompts that stays the same from turn to turn, so that the KV cache can be reused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lethe_app.brain.text.reported_speech import shorten
from lethe_app.config.options import SessionHandling
from lethe_app.prompt.sections import StableAdditions
from lethe_app.services.prompting.past_sessions import FrozenSection

FRAME = "frame"
"""Key of the session state."""
WITHOUT_EARLIER = "without earlier sessions"
"""Key of the session state: True if the user left the earlier sessions out of the prompts of this one."""
ROLLING = 0.2
"""Characters of the rolling summary per token of the context."""
MIN_ROLLING_CHARACTERS = 240
"""Minimum of the length limit of a rolling summary, in characters."""
MIN_MESSAGE_TOKENS = 4
"""Tokens of the shortest message assumed; a prompt reads no more messages than a context of such ones could hold."""
PRESENT = "Earlier in this conversation:"


class StablePrefix(BaseModel):
    """Parts of a prompt that stay the same from turn to turn, besides the persona."""

    model_config = ConfigDict(extra="ignore", frozen=True)  # version 0.1 stored the tool note with it

    context: int
    """Context size of the model it was made for; with another size the history starts again from the beginning."""
    handling: SessionHandling = SessionHandling.FIT_ALL
    earlier: list[UUID] = Field(default_factory=list)
    """Sessions that are in it in full, oldest first."""
    summaries: list[FrozenSection] = Field(default_factory=list)
    """Summaries of the other sessions, newest first."""
    facts: list[FrozenSection] = Field(default_factory=list)
    notebook: str = ""
    """Text of the notebook that was open when it was made."""
    lately: str = ""
    """List of recent notebook subjects."""
    first: UUID | None = None
    """First message of this session in the history; None if the history begins with the session."""
    rolling: str = ""
    """Summary of the messages before `first`."""
    explains_memory: bool = False
    """True if the prompt may explain memory. False in prefixes of older versions: with another text above it, a long session
    would have to be evaluated again; that waits for the next cut, which makes it necessary anyway.
    """
    recap: str = ""
    """Summary of the messages before `recapped` by a qualified model; it replaces `rolling` with the next cut."""
    recapped: UUID | None = None
    """Message up to which `recap` reaches, itself not included."""

    @property
    def in_view(self) -> set[UUID]:
        """Sessions that are in the prompt in full and therefore need not be recalled."""
        return set(self.earlier)

    @property
    def summaries_before(self) -> str:
        """Summary of the messages before `first`: the recap if it reaches that far, else the one by rules."""
        return (
            shorten(self.recap, max_rolling_characters(self.context))
            if self.recap and self.recapped == self.first
            else self.rolling
        )

    def extras(self, world: Sequence[str] = (), instructions: Sequence[str] = ()) -> StableAdditions:
        """Return the sections of the system prompt; the rolling summary of this session is the newest of the summaries."""
        present = [f"{PRESENT}\n{self.rolling}"] if self.rolling else []
        notebook_texts = [text for text in (self.notebook, self.lately) if text]
        summaries = [*present, *notebook_texts, *(section.text for section in self.summaries)]
        return StableAdditions(world, summaries, [section.text for section in self.facts], instructions)


def stored_prefix(states: Mapping[str, object]) -> StablePrefix | None:
    """Return the prefix that is stored in the state of a session; None if there is none that can be read."""
    try:
        return StablePrefix.model_validate(states.get(FRAME))
    except ValidationError:
        return None


def starts_without_earlier(states: Mapping[str, object]) -> bool:
    """Return whether the earlier sessions are left out of the prompts of a session with these states."""
    return states.get(WITHOUT_EARLIER) is True


def max_rolling_characters(context: int) -> int:
    """Return the most characters of a rolling summary for a context of so many tokens."""
    return max(MIN_ROLLING_CHARACTERS, int(context * ROLLING))
