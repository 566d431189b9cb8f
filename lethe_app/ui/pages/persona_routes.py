"""Open the persona editor: by key, from the sidebar, or from another persona."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from lethe_app.ui.pages.personas.list import UserPersonasPage
from lethe_app.ui.pages.personas.page import PersonaPage

if TYPE_CHECKING:
    from lethe_app.ui.pages.context import PageContext
    from lethe_app.ui.pages.page import Page


def create_current_persona_page(context: PageContext) -> Page:
    """Create the editor of the persona of the session on display; of a new persona if there is none."""
    session = context.current_session()
    return PersonaPage(context, session.persona_id if session is not None else "")


def create_new_persona_page(context: PageContext) -> Page:
    """Create the editor of a new persona."""
    return PersonaPage(context)


def build_user_personas_page(context: PageContext) -> Page:
    """Create the list of user personas."""
    return UserPersonasPage(context)


def open_persona(context: PageContext, persona_id: str, *, is_user: bool = False) -> None:
    """Open the editor of a persona; of a new one with an empty id. If it is on display already, it only gets the focus."""
    page = context.navigator.current_page
    if isinstance(page, PersonaPage) and page.saved is not None and page.saved.unique_name == persona_id:
        page.first_focus_widget().setFocus()
        return
    context.navigator.open_page(
        lambda: PersonaPage(context, persona_id, is_user=is_user), page_key=("persona", persona_id, is_user)
    )


async def duplicate_and_open_persona(context: PageContext, persona_id: str) -> None:
    """Duplicate a persona and open the copy in the editor."""
    persona = await context.services.library.persona(persona_id)
    name = QCoreApplication.translate("PersonaDeeds", "{name} (copy)").format(name=persona.name)
    copy = await context.services.library.duplicate_persona(persona_id, name)
    open_persona(context, copy.unique_name, is_user=copy.is_user)
