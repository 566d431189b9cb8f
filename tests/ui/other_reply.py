"""A reply that is being written in another conversation, and keeps the model busy meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

from lethe_app.services.events import ReplyText
from tests.ui.window_scene import Scene

LONG = "word " * 2000
"""The script of a reply that does not end by itself; with a delay of a hundredth of a second a word."""


@asynccontextmanager
async def writing_elsewhere(scene: Scene) -> AsyncIterator[None]:
    """Aiko writes from the beginning to the end of the block."""
    session = await scene.services.sessions.new("aiko")
    async with aclosing(scene.services.chat.send(session.guid, "Speak.")) as events:
        async for event in events:
            if isinstance(event, ReplyText):
                break
        yield
