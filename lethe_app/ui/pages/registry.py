"""Map actions to pages. The module of a page is imported when it is first opened, so that none delays the start."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.page import Page


def settings(place: PageContext) -> Page:
    from lethe_app.ui.pages.settings.page import SettingsPage

    return SettingsPage(place)


def show_setting(place: PageContext, name: str) -> None:
    """Open the settings page at one setting."""
    from lethe_app.ui.pages.settings.page import SettingsPage

    place.desk.open(lambda: SettingsPage(place, name), made_by=settings)


def presets(place: PageContext) -> Page:
    from lethe_app.ui.pages.presets.page import PresetPage

    return PresetPage(place)


def memories(place: PageContext) -> Page:
    from lethe_app.ui.pages.memories.page import MemoryPage

    return MemoryPage(place)


def facts(place: PageContext) -> Page:
    from lethe_app.ui.pages.facts.page import FactPage

    return FactPage(place)


def objections(place: PageContext) -> Page:
    from lethe_app.ui.pages.feedback.page import ObjectionPage

    return ObjectionPage(place)


def timeline(place: PageContext) -> Page:
    from lethe_app.ui.pages.timeline.page import TimelinePage

    return TimelinePage(place)


def worlds(place: PageContext) -> Page:
    from lethe_app.ui.pages.worlds.page import WorldPage

    return WorldPage(place)


def persona_editor(place: PageContext) -> Page:
    from lethe_app.ui.pages.persona_routes import edited_now

    return edited_now(place)


def new_persona(place: PageContext) -> Page:
    from lethe_app.ui.pages.persona_routes import new_one

    return new_one(place)


def user_personas(place: PageContext) -> Page:
    from lethe_app.ui.pages.persona_routes import selves

    return selves(place)


def edit_persona(place: PageContext, persona_id: str) -> None:
    from lethe_app.ui.pages.persona_routes import open_persona

    open_persona(place, persona_id)


def duplicate_persona(place: PageContext, persona_id: str) -> None:
    from lethe_app.ui.pages.persona_routes import duplicate

    place.bridge.spawn(duplicate(place, persona_id))


def inspector(place: PageContext) -> Page:
    from lethe_app.ui.pages.inspector.page import InspectorPage

    return InspectorPage(place)


def models(place: PageContext) -> Page:
    from lethe_app.ui.pages.models.page import ModelPage

    return ModelPage(place)


def conversations(place: PageContext) -> Page:
    from lethe_app.ui.pages.sessions.page import SessionPage

    return SessionPage(place)


def find(place: PageContext) -> Page:
    from lethe_app.ui.pages.search.page import SearchPage

    return SearchPage(place)


def trash(place: PageContext) -> Page:
    from lethe_app.ui.pages.trash.page import TrashPage

    return TrashPage(place)


def mind(place: PageContext) -> Page:
    from lethe_app.ui.pages.mind.page import MindPage

    return MindPage(place)


def notebooks(place: PageContext) -> Page:
    from lethe_app.ui.pages.notebooks.page import NotebookPage

    return NotebookPage(place)


def outgoing(place: PageContext) -> Page:
    from lethe_app.ui.pages.web_log.page import OutgoingPage

    return OutgoingPage(place)


def dreams(place: PageContext) -> Page:
    from lethe_app.ui.pages.dreams.page import DreamPage

    return DreamPage(place)


def away(place: PageContext) -> Page:
    from lethe_app.ui.pages.activity.page import AwayPage

    return AwayPage(place)


def research(place: PageContext) -> Page:
    from lethe_app.ui.pages.research.page import ResearchPage

    return ResearchPage(place)


DOORS: dict[str, Callable[[PageContext], Page]] = {
    "inspector": inspector,
    "conversations": conversations,
    "find": find,
    "trash": trash,
    "away": away,
    "dreams": dreams,
    "outgoing": outgoing,
    "research": research,
    "memories": memories,
    "facts": facts,
    "objections": objections,
    "timeline": timeline,
    "mind": mind,
    "notebooks": notebooks,
    "settings": settings,
    "worlds": worlds,
    "presets": presets,
    "model_manager": models,
    "persona_editor": persona_editor,
    "new_persona": new_persona,
    "user_personas": user_personas,
}
"""Factory of each page, by the action's name in `ui/shell/actions`."""


def connect(place: PageContext) -> None:
    """Connect the actions with their pages."""
    for wish, make in DOORS.items():
        place.window.actions_.connect(**{wish: partial(enter, place, make)})


def enter(place: PageContext, make: Callable[[PageContext], Page]) -> None:
    """Open a page, or return to it if it is open already."""
    if place.desk.holds(make):
        place.bridge.spawn(place.desk.go_back_to(make), lane="leave")
    else:
        place.desk.open(lambda: make(place), made_by=make)
