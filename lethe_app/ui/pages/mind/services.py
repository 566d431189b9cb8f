"""Services of the mind page."""

from __future__ import annotations

from dataclasses import dataclass

from lethe_app.services.library import Library
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.mood import MoodService
from lethe_app.services.personas.inner_life import GoalService, InnerLife, Week
from lethe_app.services.personas.reminders import Reminders
from lethe_app.services.preferences import Preferences
from lethe_app.services.search.memory_lists import MemoryLists
from lethe_app.services.sessions.service import SessionService


@dataclass(frozen=True)
class MindPageServices:
    """Services that the mind page calls."""

    moods: MoodService
    inner_life: InnerLife
    goal_requests: GoalService
    reminders: Reminders
    week: Week
    memory_service: MemoryService
    memory_lists: MemoryLists
    library: Library
    sessions: SessionService
    preferences: Preferences
