"""Speech of a session: whether its replies are spoken and written in the spoken style, stored in the session's state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from lethe_app.config.settings import Settings
from lethe_app.services.events import Listeners
from lethe_app.services.preferences import Preferences
from lethe_app.storage.key_value import SessionState

SPEECH_KEY = "speech"
"""Key of the session state: what the user has chosen for that session, as `{"spoken": bool, "style": bool}`."""


@dataclass(frozen=True)
class SpeechMode:
    """Speech of one session, as it applies."""

    is_spoken: bool
    """True if replies are spoken."""
    has_spoken_style: bool
    """True if replies are written in the spoken style."""


def read_mode(stored: object, settings: Settings) -> SpeechMode:
    """Return the mode of a session; what the user has not chosen for it follows the settings."""
    chosen = stored if isinstance(stored, Mapping) else {}
    is_spoken = bool(chosen.get("spoken", settings.speak_replies))
    return SpeechMode(is_spoken, bool(chosen.get("style", is_spoken and settings.spoken_style)))


class SessionSpeech:
    """Store of the modes of sessions."""

    def __init__(self, session_state: SessionState, preferences: Preferences) -> None:
        self._session_state, self._preferences = session_state, preferences
        self.defaults_changed: Listeners[Settings] = preferences.changed
        """Emits when the modes of sessions may have changed with the settings."""

    async def mode_of(self, session_id: UUID) -> SpeechMode:
        """Return the mode of a session."""
        return read_mode(await self._session_state.get(session_id, SPEECH_KEY), self._preferences.current)

    async def set_spoken(self, session_id: UUID, *, is_on: bool) -> SpeechMode:
        """Switch speech of a session on or off, and return its mode."""
        return await self._change(session_id, "spoken", is_on=is_on)

    async def set_style(self, session_id: UUID, *, is_on: bool) -> SpeechMode:
        """Switch the spoken style of a session on or off, and return its mode."""
        return await self._change(session_id, "style", is_on=is_on)

    async def copy_mode(self, source_id: UUID, target_id: UUID) -> SpeechMode:
        """Give a session what was chosen for another, and return its mode."""
        stored = await self._session_state.get(source_id, SPEECH_KEY)
        if stored is not None:
            await self._session_state.set(target_id, SPEECH_KEY, stored)
        return read_mode(stored, self._preferences.current)

    async def _change(self, session_id: UUID, name: str, *, is_on: bool) -> SpeechMode:
        stored = await self._session_state.get(session_id, SPEECH_KEY)
        chosen = {**(stored if isinstance(stored, Mapping) else {}), name: is_on}
        await self._session_state.set(session_id, SPEECH_KEY, chosen)
        return read_mode(chosen, self._preferences.current)
