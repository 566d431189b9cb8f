"""Interface for macro values: the position of a text with macros, and the function that looks up their values."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from uuid import UUID

from lethe_app.domain.chat import ChatSession
from lethe_app.prompt.macros import MacroContext
from lethe_app.services.participants import Participants


@dataclass(frozen=True)
class MacroPosition:
    """Position of a text with macros in a session."""

    session: ChatSession
    participants: Participants
    before: UUID | None = None
    """Message above which the text is; None for the end of the session."""
    is_answer: bool = False
    """True if the text is read for the answer to the user's newest message above it; else it is written after that message."""
    at_beginning: bool = False
    """True for the system prompt, whose values stay those of the session's beginning, so that its tokens remain in the KV
    cache.
    """


FillMacros = Callable[[MacroContext, MacroPosition, Iterable[str]], Awaitable[MacroContext]]
"""Function that completes a macro context with the values its texts need."""
