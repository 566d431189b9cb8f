"""Map actions to pages. The module of a page is imported when it is first opened, so that none delays the start."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.page import Page


def create_settings_page(context: PageContext) -> Page:
    from lethe_app.ui.pages.settings.page import SettingsPage

    return SettingsPage(context)


def show_setting(context: PageContext, name: str) -> None:
    """Open the settings page at one setting."""
    from lethe_app.ui.pages.settings.page import SettingsPage

    context.navigator.open_page(lambda: SettingsPage(context, name), page_key=create_settings_page)


def create_presets_page(context: PageContext) -> Page:
    from lethe_app.ui.pages.presets.page import PresetPage

    return PresetPage(context)


def create_memories_page(context: PageContext) -> Page:
    from lethe_app.ui.pages.memories.page import MemoryPage

    return MemoryPage(context)


def create_facts_page(context: PageContext) -> Page:
    from lethe_app.ui.pages.facts.page import FactPage

    return FactPage(context)


def create_feedback_page(context: PageContext) -> Page:
    from lethe_app.ui.pages.feedback.page import FeedbackPage

    return FeedbackPage(context)


def create_timeline_page(context: PageContext) -> Page:
    from lethe_app.ui.pages.timeline.page import TimelinePage

    return TimelinePage(context)


def create_worlds_page(context: PageContext) -> Page:
    from lethe_app.ui.pages.worlds.page import WorldPage

    return WorldPage(context)


def create_persona_editor(context: PageContext) -> Page:
    from lethe_app.ui.pages.persona_routes import create_current_persona_page

    return create_current_persona_page(context)


def create_new_persona_editor(context: PageContext) -> Page:
    from lethe_app.ui.pages.persona_routes import create_new_persona_page

    return create_new_persona_page(context)


def create_user_personas_page(context: PageContext) -> Page:
    from lethe_app.ui.pages.persona_routes import build_user_personas_page

    return build_user_personas_page(context)


def edit_persona(context: PageContext, persona_id: str) -> None:
    from lethe_app.ui.pages.persona_routes import open_persona

    open_persona(context, persona_id)


def duplicate_persona(context: PageContext, persona_id: str) -> None:
    from lethe_app.ui.pages.persona_routes import duplicate_and_open_persona

    context.tasks.start_task(duplicate_and_open_persona(context, persona_id))


def create_inspector_page(context: PageContext) -> Page:
    from lethe_app.ui.pages.inspector.page import InspectorPage

    return InspectorPage(context)


def create_models_page(context: PageContext) -> Page:
    from lethe_app.ui.pages.models.page import ModelPage

    return ModelPage(context)


def create_sessions_page(context: PageContext) -> Page:
    from lethe_app.ui.pages.sessions.page import SessionPage

    return SessionPage(context)


def create_search_page(context: PageContext) -> Page:
    from lethe_app.ui.pages.search.page import SearchPage

    return SearchPage(context)


def create_trash_page(context: PageContext) -> Page:
    from lethe_app.ui.pages.trash.page import TrashPage

    return TrashPage(context)


def create_mind_page(context: PageContext) -> Page:
    from lethe_app.ui.pages.mind.page import MindPage

    return MindPage(context)


def create_notebooks_page(context: PageContext) -> Page:
    from lethe_app.ui.pages.notebooks.page import NotebookPage

    return NotebookPage(context)


def create_web_log_page(context: PageContext) -> Page:
    from lethe_app.ui.pages.web_log.page import WebLogPage

    return WebLogPage(context)


def create_dreams_page(context: PageContext) -> Page:
    from lethe_app.ui.pages.dreams.page import DreamPage

    return DreamPage(context)


def create_activity_page(context: PageContext) -> Page:
    from lethe_app.ui.pages.activity.page import ActivityPage

    return ActivityPage(context)


def create_research_page(context: PageContext) -> Page:
    from lethe_app.ui.pages.research.page import ResearchPage

    return ResearchPage(context)


PAGE_FACTORIES: dict[str, Callable[[PageContext], Page]] = {
    "inspector": create_inspector_page,
    "conversations": create_sessions_page,
    "find": create_search_page,
    "trash": create_trash_page,
    "away": create_activity_page,
    "dreams": create_dreams_page,
    "outgoing": create_web_log_page,
    "research": create_research_page,
    "memories": create_memories_page,
    "facts": create_facts_page,
    "objections": create_feedback_page,
    "timeline": create_timeline_page,
    "mind": create_mind_page,
    "notebooks": create_notebooks_page,
    "settings": create_settings_page,
    "worlds": create_worlds_page,
    "presets": create_presets_page,
    "model_manager": create_models_page,
    "persona_editor": create_persona_editor,
    "new_persona": create_new_persona_editor,
    "user_personas": create_user_personas_page,
}
"""Factory of each page, by the action's name in `ui/core/actions`."""


def connect_actions(context: PageContext) -> None:
    """Connect the actions with their pages."""
    for action_name, create_page in PAGE_FACTORIES.items():
        context.window.actions_.connect(**{action_name: partial(open_or_return, context, create_page)})


def open_or_return(context: PageContext, create_page: Callable[[PageContext], Page]) -> None:
    """Open a page, or return to it if it is open already."""
    if context.navigator.is_page_open(create_page):
        context.tasks.start_task(context.navigator.go_back_to_page(create_page), key="leave")
    else:
        context.navigator.open_page(lambda: create_page(context), page_key=create_page)
