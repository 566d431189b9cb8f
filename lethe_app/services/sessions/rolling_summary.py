"""Has a trusted model tell what left the window of a conversation, so that the next cut need not rest on the rules' words."""

from __future__ import annotations

from contextlib import suppress
from uuid import UUID

from lethe_app.errors import LetheError
from lethe_app.services.extraction.conversation import ConversationExtraction
from lethe_app.services.extraction.qualification import Qualification
from lethe_app.services.prompting.stable_prefix import StablePrefixes
from lethe_app.services.scheduling.loop import Background
from lethe_app.services.scheduling.priority import BackgroundPriority


class RollingSummary:
    """Works through the conversations that were cut, one at a time, in the background.

    The prompt keeps its beginning until it has to change anyway: with the next cut. What fails or is interrupted is made up for
    after the next cut, whose lines and those missed are read together.
    """

    def __init__(
        self, frames: StablePrefixes, minutes: ConversationExtraction, trust: Qualification, quiet: BackgroundPriority
    ) -> None:
        self._frames = frames
        self._minutes = minutes
        self._trust = trust
        self._quiet = quiet
        self._waiting: dict[UUID, None] = {}
        self._background = Background(self.finish)
        self._forget = frames.cuts.add(self._was_cut)

    def start(self) -> None:
        """Begin to work in the background."""
        self._background.start()

    async def close(self) -> None:
        """Whatever is under way is given up."""
        self._forget()
        await self._background.close()

    async def finish(self) -> None:
        """Tell what is still to be told, here and now."""
        while self._waiting:
            session_id = next(iter(self._waiting))
            del self._waiting[session_id]
            with suppress(LetheError):  # the rules' words stand
                await self._tell(session_id)

    async def _tell(self, session_id: UUID) -> None:
        """All that was said before the frame's first message; of what was told before only the outcome is read again."""
        await self._quiet.wait()
        frame, verdict = await self._frames.kept(session_id), self._trust.verdict
        if frame is None or frame.first is None or verdict is None or not verdict.may_write_summaries:
            return
        if frame.recapped == frame.first:
            return
        lines = await self._frames.between(session_id, frame.recapped, frame.first)
        if lines:
            text = await self._minutes.recap(frame.recap if frame.recapped else "", lines)
            await self._frames.set_recap(session_id, frame.first, text)

    def _was_cut(self, session_id: UUID) -> None:
        self._waiting[session_id] = None
        self._background.wake()
