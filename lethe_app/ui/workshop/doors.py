"""Which page opens at which wish; a page's module is imported when it is first opened, so that none delays the start."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from lethe_app.ui.workshop.page import Page
from lethe_app.ui.workshop.place import Place


def settings(place: Place) -> Page:
    from lethe_app.ui.workshop.settings_page import SettingsPage

    return SettingsPage(place)


def show_setting(place: Place, name: str) -> None:
    """Open the settings at one of them."""
    from lethe_app.ui.workshop.settings_page import SettingsPage

    place.desk.open(lambda: SettingsPage(place, name), made_by=settings)


def presets(place: Place) -> Page:
    from lethe_app.ui.workshop.preset_page import PresetPage

    return PresetPage(place)


def memories(place: Place) -> Page:
    from lethe_app.ui.workshop.memory_page import MemoryPage

    return MemoryPage(place)


def facts(place: Place) -> Page:
    from lethe_app.ui.workshop.fact_page import FactPage

    return FactPage(place)


def objections(place: Place) -> Page:
    from lethe_app.ui.workshop.objection_page import ObjectionPage

    return ObjectionPage(place)


def timeline(place: Place) -> Page:
    from lethe_app.ui.workshop.timeline_page import TimelinePage

    return TimelinePage(place)


def worlds(place: Place) -> Page:
    from lethe_app.ui.workshop.world_page import WorldPage

    return WorldPage(place)


def persona_editor(place: Place) -> Page:
    from lethe_app.ui.workshop.persona_doors import edited_now

    return edited_now(place)


def new_persona(place: Place) -> Page:
    from lethe_app.ui.workshop.persona_doors import new_one

    return new_one(place)


def user_personas(place: Place) -> Page:
    from lethe_app.ui.workshop.persona_doors import selves

    return selves(place)


def edit_persona(place: Place, persona_id: str) -> None:
    from lethe_app.ui.workshop.persona_doors import open_persona

    open_persona(place, persona_id)


def duplicate_persona(place: Place, persona_id: str) -> None:
    from lethe_app.ui.workshop.persona_doors import duplicate

    place.bridge.spawn(duplicate(place, persona_id))


def inspector(place: Place) -> Page:
    from lethe_app.ui.workshop.inspector_page import InspectorPage

    return InspectorPage(place)


def models(place: Place) -> Page:
    from lethe_app.ui.workshop.model_page import ModelPage

    return ModelPage(place)


def conversations(place: Place) -> Page:
    from lethe_app.ui.workshop.session_page import SessionPage

    return SessionPage(place)


def find(place: Place) -> Page:
    from lethe_app.ui.workshop.search_page import SearchPage

    return SearchPage(place)


def trash(place: Place) -> Page:
    from lethe_app.ui.workshop.trash_page import TrashPage

    return TrashPage(place)


def mind(place: Place) -> Page:
    from lethe_app.ui.workshop.mind_page import MindPage

    return MindPage(place)


def notebooks(place: Place) -> Page:
    from lethe_app.ui.workshop.notebook_page import NotebookPage

    return NotebookPage(place)


def outgoing(place: Place) -> Page:
    from lethe_app.ui.workshop.outgoing_page import OutgoingPage

    return OutgoingPage(place)


def dreams(place: Place) -> Page:
    from lethe_app.ui.workshop.dream_page import DreamPage

    return DreamPage(place)


def away(place: Place) -> Page:
    from lethe_app.ui.workshop.away_page import AwayPage

    return AwayPage(place)


def research(place: Place) -> Page:
    from lethe_app.ui.workshop.research_page import ResearchPage

    return ResearchPage(place)


DOORS: dict[str, Callable[[Place], Page]] = {
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
"""The name of a wish in `ui/shortcuts`, and what makes its page."""


def connect(place: Place) -> None:
    """Open the pages at their wishes."""
    for wish, make in DOORS.items():
        place.window.actions_.connect(**{wish: partial(enter, place, make)})


def enter(place: Place, make: Callable[[Place], Page]) -> None:
    """Put the page on the desk, or go back to it where it lies under others."""
    if place.desk.holds(make):
        place.bridge.spawn(place.desk.go_back_to(make), lane="leave")
    else:
        place.desk.open(lambda: make(place), made_by=make)
