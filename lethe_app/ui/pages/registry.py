"""Registry of the pages: maps each route to its page. The module of a page is imported when it is first opened, so that none
delays the start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lethe_app.ui.core.routes import (
    ActivityRoute,
    DocumentsRoute,
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
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from lethe_app.composition.app_services import AppServices
    from lethe_app.domain.bundle import BundleScope
    from lethe_app.ui.chat.memory_panel import MemoryPanel
    from lethe_app.ui.pages.context import PageContext
    from lethe_app.ui.pages.page import Page
    from lethe_app.ui.pages.persona_selector import PersonaSelector
    from lethe_app.ui.pages.personas.deletion import PersonaDeletion
    from lethe_app.ui.transcript.chat_view import ChatView


class PageRegistry:
    """Factory of the pages of one window; each gets the services that it calls."""

    def __init__(
        self,
        context: PageContext,
        services: AppServices,
        view: ChatView,
        memory_panel: MemoryPanel,
        clock: Callable[[], datetime],
        export_persona: Callable[[str, BundleScope], Awaitable[None]],
    ) -> None:
        """Create the registry; `view` and `memory_panel` show the replies that the inspector explains."""
        self._context, self._services, self._export_persona = context, services, export_persona
        self._view, self._memory_panel, self._clock = view, memory_panel, clock
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
            DocumentsRoute: self._create_documents_page,
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

    def create_persona_deletion(self) -> PersonaDeletion:
        """Create the deletion of personas, which opens another session in place of one of a deleted persona."""
        from lethe_app.ui.pages.personas.deletion import PersonaDeletion

        services = self._services
        return PersonaDeletion(self._context, services.library, services.preferences, services.sessions)

    def _create_persona_selector(self) -> PersonaSelector:
        from lethe_app.ui.pages.persona_selector import PersonaSelector

        return PersonaSelector(self._context, self._services.library, self._services.preferences)

    def _create_persona_page(self, route: PersonaRoute) -> Page:
        from lethe_app.ui.pages.personas.page import PersonaPage
        from lethe_app.ui.pages.personas.services import PersonaEditorServices

        services = self._services
        group = PersonaEditorServices(
            services.library,
            services.preferences,
            services.sessions,
            services.session_editing,
            services.draft_chat,
            services.prompt_inspector,
            services.models,
            services.tool_registry,
            services.background_runner,
        )
        return PersonaPage(
            self._context,
            group,
            self.create_persona_deletion(),
            self._export_persona,
            services.paths.window,
            route.persona_id,
            is_user=route.is_user,
        )

    def _create_user_personas_page(self) -> Page:
        from lethe_app.ui.pages.personas.list import UserPersonasPage

        services = self._services
        return UserPersonasPage(self._context, services.library, services.preferences, self.create_persona_deletion())

    def _create_inspector_page(self) -> Page:
        from lethe_app.ui.pages.inspector.page import InspectorPage

        services = self._services
        return InspectorPage(
            self._context,
            self._view,
            self._memory_panel.reply_id,
            self._clock,
            services.prompt_inspector,
            services.token_counts,
            services.sessions,
        )

    def _create_sessions_page(self) -> Page:
        from lethe_app.ui.pages.sessions.page import SessionPage
        from lethe_app.ui.pages.sessions.services import SessionPageServices

        services = self._services
        group = SessionPageServices(
            services.sessions,
            services.session_editing,
            services.message_editing,
            services.archive_queue,
            services.fact_extraction,
            services.memory_lookup,
            services.trash,
            services.fact_lists,
        )
        return SessionPage(self._context, self._create_persona_selector(), group)

    def _create_search_page(self) -> Page:
        from lethe_app.ui.pages.search.page import SearchPage

        services = self._services
        return SearchPage(self._context, services.search, services.session_editing, services.library)

    def _create_trash_page(self) -> Page:
        from lethe_app.ui.pages.trash.page import TrashPage

        services = self._services
        return TrashPage(
            self._context,
            services.trash,
            services.sessions,
            services.memory,
            services.facts,
            services.library,
            services.preferences,
        )

    def _create_activity_page(self) -> Page:
        from lethe_app.ui.pages.activity.page import ActivityPage

        services = self._services
        return ActivityPage(
            self._context,
            self._create_persona_selector(),
            services.background_runner,
            services.activity_log,
            services.tool_registry,
            services.library,
            services.preferences,
        )

    def _create_dreams_page(self) -> Page:
        from lethe_app.ui.pages.dreams.page import DreamPage

        services = self._services
        return DreamPage(
            self._context,
            self._create_persona_selector(),
            services.dreams,
            services.feedback,
            services.background_runner,
            services.activity_log,
        )

    def _create_web_log_page(self) -> Page:
        from lethe_app.ui.pages.web_log.page import WebLogPage

        services = self._services
        return WebLogPage(self._context, services.web_gate, services.preferences)

    def _create_research_page(self) -> Page:
        from lethe_app.ui.pages.research.page import ResearchPage

        services = self._services
        return ResearchPage(
            self._context,
            self._create_persona_selector(),
            services.research,
            services.fact_lists,
            services.preferences,
        )

    def _create_memories_page(self) -> Page:
        from lethe_app.ui.pages.memories.page import MemoryPage

        services = self._services
        return MemoryPage(
            self._context,
            self._create_persona_selector(),
            services.memory,
            services.memory_lookup,
            services.memory_lists,
            services.sessions,
            services.preferences,
        )

    def _create_facts_page(self) -> Page:
        from lethe_app.ui.pages.facts.page import FactPage

        services = self._services
        return FactPage(
            self._context,
            self._create_persona_selector(),
            services.facts,
            services.fact_lists,
            services.fact_extraction,
        )

    def _create_feedback_page(self) -> Page:
        from lethe_app.ui.pages.feedback.page import FeedbackPage

        services = self._services
        return FeedbackPage(self._context, self._create_persona_selector(), services.objections, services.feedback)

    def _create_timeline_page(self) -> Page:
        from lethe_app.ui.pages.timeline.page import TimelinePage

        services = self._services
        return TimelinePage(
            self._context,
            self._create_persona_selector(),
            services.fact_lists,
            services.fact_extraction,
            services.facts,
            services.sessions,
            services.memory,
        )

    def _create_mind_page(self) -> Page:
        from lethe_app.ui.pages.mind.page import MindPage
        from lethe_app.ui.pages.mind.services import MindPageServices

        services = self._services
        group = MindPageServices(
            services.moods,
            services.inner_life,
            services.goals,
            services.reminders,
            services.week,
            services.memory,
            services.memory_lists,
            services.library,
            services.sessions,
            services.preferences,
        )
        return MindPage(self._context, self._create_persona_selector(), group)

    def _create_notebooks_page(self) -> Page:
        from lethe_app.ui.pages.notebooks.page import NotebookPage

        services = self._services
        return NotebookPage(
            self._context,
            self._create_persona_selector(),
            services.notebooks,
            services.notebook_filer,
            services.preferences,
        )

    def _create_documents_page(self) -> Page:
        from lethe_app.ui.pages.documents.page import DocumentsPage
        from lethe_app.ui.pages.persona_selector import PersonaSelector

        services = self._services
        selector = PersonaSelector(self._context, services.library, services.preferences, with_worlds=True)
        return DocumentsPage(self._context, selector, services.documents, services.knowledge_base, services.indexing)

    def _create_settings_page(self) -> Page:
        from lethe_app.ui.pages.settings.page import SettingsPage

        services = self._services
        return SettingsPage(
            self._context,
            services.preferences,
            services.library,
            services.background_runner,
            services.tool_registry,
            services.models,
        )

    def _create_worlds_page(self) -> Page:
        from lethe_app.ui.pages.worlds.page import WorldPage

        services = self._services
        return WorldPage(
            self._context,
            services.worlds,
            services.world_trials,
            services.token_counts,
            services.library,
            services.memory,
            services.models,
            services.preferences,
        )

    def _create_presets_page(self) -> Page:
        from lethe_app.ui.pages.presets.page import PresetPage

        services = self._services
        return PresetPage(
            self._context,
            services.presets,
            services.preferences,
            services.models,
            services.model_trial,
            services.prompt_inspector,
        )

    def _create_models_page(self) -> Page:
        from lethe_app.ui.pages.models.page import ModelPage
        from lethe_app.ui.pages.models.services import ModelPageServices

        services = self._services
        group = ModelPageServices(
            services.models,
            services.downloads,
            services.qualification,
            services.embedding,
            services.calibration,
            services.indexing,
            services.model_trial,
            services.archive_queue,
            services.library,
            services.preferences,
            services.dictation,
        )
        return ModelPage(self._context, group)
