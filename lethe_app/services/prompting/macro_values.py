"""Interface of the macro values that a prompt asks for: where a text stands, and who completes its scene."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from uuid import UUID

from lethe_app.domain.chat import ChatSession
from lethe_app.prompt.macros import MacroContext
from lethe_app.services.participants import Participants


@dataclass(frozen=True)
class MacroPosition:
    """Where a text with macros stands."""

    session: ChatSession
    cast: Participants
    before: UUID | None = None
    """The message above which it stands; without one it is the end of the conversation."""
    is_answer: bool = False
    """Is it read for an answer to the user's newest message above? Else it is said now, after that message."""
    at_beginning: bool = False
    """Does it stand in the system prompt? That stays as the conversation began, so that it is read once."""


Fill = Callable[[MacroContext, MacroPosition, Iterable[str]], Awaitable[MacroContext]]
"""Completes a scene with the values that its texts ask for."""


async def unfilled(scene: MacroContext, _place: MacroPosition, _texts: Iterable[str]) -> MacroContext:
    """Leaves the scene as it is."""
    return scene
