"""Reads a draft as the model would whenever the user rests: tokens of each field, macros nobody knows, and the whole prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer

from lethe_app.services.events import Ready
from lethe_app.ui.words import tokens_in_words
from lethe_app.ui.workshop.persona_draft import DAY

if TYPE_CHECKING:
    from lethe_app.domain.persona import Persona
    from lethe_app.services.inspecting import Field, Preview
    from lethe_app.ui.workshop.persona_page import PersonaPage

PAUSE_MS = 300
"""How long the user must rest."""
USUAL_CONTEXT = 8192
"""Tokens, where no model is loaded and the user has set none."""


class PersonaReading:
    """Writes its findings beside the fields of one page."""

    def __init__(self, page: PersonaPage) -> None:
        self._page = page
        self._is_reading = self._is_stale = False
        self._rest = QTimer(page, singleShot=True, interval=PAUSE_MS)
        self._rest.timeout.connect(self.now)
        self._rest.timeout.connect(page.keep_draft)

    def soon(self) -> None:
        self._rest.start()

    def now(self) -> None:
        """At once; but never two at a time, so that counting with a slow model does not pile up."""
        self._rest.stop()
        self._is_stale = True
        if not self._is_reading and self._page.is_loaded:
            self._page.place.bridge.spawn(self._read_on())

    def close(self) -> None:
        self._rest.stop()

    async def _read_on(self) -> None:
        self._is_reading = True
        try:
            while self._is_stale and not self._page.is_closed:
                self._is_stale = False
                await self._read()
        finally:
            self._is_reading = False

    async def _read(self) -> None:
        page = self._page
        persona = page.draft.persona(page.tr("Somebody"))
        preview = await page.place.house.inspecting.preview(persona)
        if page.is_closed:
            return
        page.preview.show_spans(preview.spans, all_theirs=bool(persona.system_prompt))
        page.preview.show_source(preview.model, preview.template)
        page.preview.show_total(preview.tokens, self._context())
        self._note(preview, persona)

    def _context(self) -> int:
        house = self._page.place.house
        state = house.models.state
        return state.model.context if isinstance(state, Ready) else house.preferences.current.context or USUAL_CONTEXT

    def _note(self, preview: Preview, persona: Persona) -> None:
        sheet = self._page.sheet
        for name in sheet.names:
            found = preview.fields.get(name)
            if name.startswith(DAY) or (name == "name" and not self._page.name):
                continue
            is_read = found is not None and name != "name"
            sheet.note(name, tokens_in_words(found.tokens) if found is not None and is_read else "")
            if found is not None:
                sheet.complain(name, self._complaint(found.unknown))
            elif name != "name":
                sheet.complain(name, "")
        self._note_days(preview.fields.get("schedule"), persona)

    def _note_days(self, schedule: Field | None, persona: Persona) -> None:
        """The days share one field of the preview: its pieces are theirs, in order."""
        sheet = self._page.sheet
        pieces = dict(zip(persona.schedule, schedule.pieces, strict=False)) if schedule is not None else {}
        for name in sheet.names:
            if name.startswith(DAY):
                text = str(self._page.draft.values[name])
                day = next((day for day in pieces if name == f"{DAY}{day}"), None)
                sheet.note(name, tokens_in_words(pieces[day]) if day is not None else "")
                unknown = schedule.unknown if schedule is not None else ()
                sheet.complain(name, self._complaint(tuple(macro for macro in unknown if macro in text)))

    def _complaint(self, unknown: tuple[str, ...]) -> str:
        if not unknown:
            return ""
        names = ", ".join(f"{{{{{macro}}}}}" for macro in unknown)
        one = self._page.tr("{names} means nothing to Lethe; the model would read it as it stands.")
        many = self._page.tr("{names} mean nothing to Lethe; the model would read them as they stand.")
        return (one if len(unknown) == 1 else many).format(names=names)
