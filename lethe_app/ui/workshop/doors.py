"""Which page opens at which wish; a page's module is imported when it is first opened, so that none delays the start."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from lethe_app.ui.workshop.page import Page
from lethe_app.ui.workshop.place import Place


def settings(place: Place) -> Page:
    from lethe_app.ui.workshop.settings_page import SettingsPage

    return SettingsPage(place)


def presets(place: Place) -> Page:
    from lethe_app.ui.workshop.preset_page import PresetPage

    return PresetPage(place)


DOORS: dict[str, Callable[[Place], Page]] = {
    "settings": settings,
    "presets": presets,
}
"""The name of a wish in `ui/shortcuts`, and what makes its page."""


def connect(place: Place) -> None:
    """Open the pages at their wishes."""
    for wish, make in DOORS.items():
        place.window.actions_.connect(**{wish: partial(enter, place, make)})


def enter(place: Place, make: Callable[[Place], Page]) -> None:
    """Put the page on the desk, unless it lies on top already."""
    made = place.desk.made_by
    if made is not make:
        place.desk.open(lambda: make(place), made_by=make)
