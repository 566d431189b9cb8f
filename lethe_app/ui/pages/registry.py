"""Registry of the pages: maps each route to its page. The module of a page is imported when it is first opened, so that none
delays the start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lethe_app.ui.core.routes import (
    ActivityRoute,
    DreamsRoute,
    FactsRoute,
    FeedbackRoute,
    InspectorRoute,
    MemoriesRoute,
    MindRoute,
    ModelsRoute,
    NotebooksRoute,
    PersonaRoute,
    PresetsRoute,
    ResearchRoute,
    Route,
    SearchRoute,
    SessionsRoute,
    SettingsRoute,
    TimelineRoute,
    TrashRoute,
    UserPersonasRoute,
    WebLogRoute,
    WorldsRoute,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from lethe_app.ui.pages.context import PageContext
    from lethe_app.ui.pages.page import Page


class PageRegistry:
    """Factory of the pages of one window."""

    def __init__(self, context: PageContext) -> None:
        self._context = context
        self._factories: dict[type[Route], Callable[[], Page]] = {
            InspectorRoute: self._create_inspector_page,
            SessionsRoute: self._create_sessions_page,
            SearchRoute: self._create_search_page,
            TrashRoute: self._create_trash_page,
            ActivityRoute: self._create_activity_page,
            DreamsRoute: self._create_dreams_page,
            WebLogRoute: self._create_web_log_page,
            ResearchRoute: self._create_research_page,
            MemoriesRoute: self._create_memories_page,
            FactsRoute: self._create_facts_page,
            FeedbackRoute: self._create_feedback_page,
            TimelineRoute: self._create_timeline_page,
            MindRoute: self._create_mind_page,
            NotebooksRoute: self._create_notebooks_page,
            SettingsRoute: self._create_settings_page,
            WorldsRoute: self._create_worlds_page,
            PresetsRoute: self._create_presets_page,
            ModelsRoute: self._create_models_page,
            UserPersonasRoute: self._create_user_personas_page,
        }

    def create_page(self, route: Route) -> Page:
        """Create the page of a route."""
        if isinstance(route, PersonaRoute):
            return self._create_persona_page(route)
        return self._factories[type(route)]()

    def _create_persona_page(self, route: PersonaRoute) -> Page:
        from lethe_app.ui.pages.personas.page import PersonaPage

        return PersonaPage(self._context, route.persona_id, is_user=route.is_user)

    def _create_user_personas_page(self) -> Page:
        from lethe_app.ui.pages.personas.list import UserPersonasPage

        return UserPersonasPage(self._context)

    def _create_inspector_page(self) -> Page:
        from lethe_app.ui.pages.inspector.page import InspectorPage

        return InspectorPage(self._context)

    def _create_sessions_page(self) -> Page:
        from lethe_app.ui.pages.sessions.page import SessionPage

        return SessionPage(self._context)

    def _create_search_page(self) -> Page:
        from lethe_app.ui.pages.search.page import SearchPage

        return SearchPage(self._context)

    def _create_trash_page(self) -> Page:
        from lethe_app.ui.pages.trash.page import TrashPage

        return TrashPage(self._context)

    def _create_activity_page(self) -> Page:
        from lethe_app.ui.pages.activity.page import ActivityPage

        return ActivityPage(self._context)

    def _create_dreams_page(self) -> Page:
        from lethe_app.ui.pages.dreams.page import DreamPage

        return DreamPage(self._context)

    def _create_web_log_page(self) -> Page:
        from lethe_app.ui.pages.web_log.page import WebLogPage

        return WebLogPage(self._context)

    def _create_research_page(self) -> Page:
        from lethe_app.ui.pages.research.page import ResearchPage

        return ResearchPage(self._context)

    def _create_memories_page(self) -> Page:
        from lethe_app.ui.pages.memories.page import MemoryPage

        return MemoryPage(self._context)

    def _create_facts_page(self) -> Page:
        from lethe_app.ui.pages.facts.page import FactPage

        return FactPage(self._context)

    def _create_feedback_page(self) -> Page:
        from lethe_app.ui.pages.feedback.page import FeedbackPage

        return FeedbackPage(self._context)

    def _create_timeline_page(self) -> Page:
        from lethe_app.ui.pages.timeline.page import TimelinePage

        return TimelinePage(self._context)

    def _create_mind_page(self) -> Page:
        from lethe_app.ui.pages.mind.page import MindPage

        return MindPage(self._context)

    def _create_notebooks_page(self) -> Page:
        from lethe_app.ui.pages.notebooks.page import NotebookPage

        return NotebookPage(self._context)

    def _create_settings_page(self) -> Page:
        from lethe_app.ui.pages.settings.page import SettingsPage

        return SettingsPage(self._context)

    def _create_worlds_page(self) -> Page:
        from lethe_app.ui.pages.worlds.page import WorldPage

        return WorldPage(self._context)

    def _create_presets_page(self) -> Page:
        from lethe_app.ui.pages.presets.page import PresetPage

        return PresetPage(self._context)

    def _create_models_page(self) -> Page:
        from lethe_app.ui.pages.models.page import ModelPage

        return ModelPage(self._context)
