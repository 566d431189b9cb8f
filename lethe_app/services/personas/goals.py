"""The user's requests about a persona's goals: for each persona a request and a notice."""

from __future__ import annotations

from lethe_app.agents.goals import GoalRequest
from lethe_app.services.events import Listeners
from lethe_app.storage.key_value import AppState

SCOPE = "goal wishes"


class GoalService:
    """Store of goal requests. `changed` is notified with the persona's id."""

    def __init__(self, app_state: AppState) -> None:
        self.changed: Listeners[str] = Listeners()
        self._app_state = app_state

    async def load_request(self, persona_id: str) -> GoalRequest:
        """Return the persona's goal request; an empty one if none is stored."""
        stored = await self._app_state.get(SCOPE, persona_id)
        if not isinstance(stored, dict):
            return GoalRequest()
        return GoalRequest(str(stored.get("request", "")), str(stored.get("notice", "")))

    async def save_request(self, persona_id: str, request: str, notice: str = "") -> None:
        """Replace the persona's goal request; two blank texts delete it."""
        is_empty = not request.strip() and not notice.strip()
        await self._app_state.set(SCOPE, persona_id, None if is_empty else {"request": request, "notice": notice})
        self.changed.notify(persona_id)
