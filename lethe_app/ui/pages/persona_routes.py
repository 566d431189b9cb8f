"""Open the persona editor: by key, from the sidebar, or from another persona."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from lethe_app.ui.pages.personas.list import UserPersonasPage
from lethe_app.ui.pages.personas.page import PersonaPage

if TYPE_CHECKING:
    from lethe_app.ui.pages.context import PageContext
    from lethe_app.ui.pages.page import Page


def edited_now(place: PageContext) -> Page:
    """Create the editor of the persona of the session on display; of a new persona if there is none."""
    session = place.session()
    return PersonaPage(place, session.persona_id if session is not None else "")


def new_one(place: PageContext) -> Page:
    """Create the editor of a new persona."""
    return PersonaPage(place)


def selves(place: PageContext) -> Page:
    """Create the list of user personas."""
    return UserPersonasPage(place)


def open_persona(place: PageContext, persona_id: str, *, is_user: bool = False) -> None:
    """Open the editor of a persona; of a new one with an empty id. If it is on display already, it only gets the focus."""
    page = place.desk.page
    if isinstance(page, PersonaPage) and page.saved is not None and page.saved.unique_name == persona_id:
        page.first_focus().setFocus()
        return
    place.desk.open(lambda: PersonaPage(place, persona_id, is_user=is_user), made_by=("persona", persona_id, is_user))


async def duplicate(place: PageContext, persona_id: str) -> None:
    """Duplicate a persona and open the copy in the editor."""
    persona = await place.services.library.persona(persona_id)
    name = QCoreApplication.translate("PersonaDeeds", "{name} (copy)").format(name=persona.name)
    copy = await place.services.library.duplicate_persona(persona_id, name)
    open_persona(place, copy.unique_name, is_user=copy.is_user)
