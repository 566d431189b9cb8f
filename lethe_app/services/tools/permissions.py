"""Permission of tools: which calls ask the user, and what the user has always allowed in a session."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from lethe_app.domain.tools import PermissionAnswer, Tool
from lethe_app.services.events import ToolPermissionRequested
from lethe_app.services.preferences import Preferences
from lethe_app.storage.key_value import SessionState

ALLOWED_KEY = "tools allowed"
"""Key of the session state: tools that the user always allows in this session."""


class SessionPermissions:
    """Permissions of one reply. Settings that change meanwhile count from the next one on."""

    def __init__(
        self, session_state: SessionState, session_id: UUID, allowed: set[str], needs_permission: Callable[[Tool], bool]
    ) -> None:
        self._session_state, self._session_id, self._allowed = session_state, session_id, allowed
        self._needs_permission = needs_permission

    def must_ask(self, tool: Tool) -> bool:
        """Return whether the user has to allow a call of the tool."""
        return self._needs_permission(tool) and tool.name not in self._allowed

    async def allow(self, tool: Tool) -> None:
        """Allow all calls of the tool in this session."""
        self._allowed.add(tool.name)
        await self._session_state.set(self._session_id, ALLOWED_KEY, sorted(self._allowed))


class ToolPermissions:
    """Permissions of all sessions, and the request that waits for the user."""

    def __init__(self, session_state: SessionState, preferences: Preferences, is_qualified: Callable[[], bool]) -> None:
        """Create the permissions. While `is_qualified` returns False, every call with side effects asks."""
        self._session_state, self._preferences, self._is_qualified = session_state, preferences, is_qualified
        self._pending: ToolPermissionRequested | None = None

    async def load_permissions(self, session_id: UUID) -> SessionPermissions:
        """Return the permissions of a session."""
        stored, always_ask = await self._session_state.get(session_id, ALLOWED_KEY), self._preferences.current.tools_always_ask
        allowed = {str(name) for name in stored} if isinstance(stored, list) else set[str]()

        def needs_permission(tool: Tool) -> bool:
            return always_ask or tool.asks or (tool.changes and not self._is_qualified())

        return SessionPermissions(self._session_state, session_id, allowed, needs_permission)

    def set_pending(self, request: ToolPermissionRequested | None) -> None:
        """Remember the request that waits for the user; None if there is none."""
        self._pending = request

    def decline_pending(self) -> None:
        """Deny a pending permission request, because another reply is requested."""
        if self._pending is not None:
            self._pending.decide(PermissionAnswer.NOT_NOW)
