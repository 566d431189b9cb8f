"""Update of the prompt preview and of the token counts of a draft after a pause in typing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer

from lethe_app.domain.prompt import PromptPart
from lethe_app.services.events import ModelReady
from lethe_app.ui.core.formatting import format_token_count
from lethe_app.ui.pages.personas.draft import DAY_PREFIX

if TYPE_CHECKING:
    from lethe_app.domain.persona import Persona
    from lethe_app.services.chat.prompt_inspector import EditedField, Preview, PromptInspector
    from lethe_app.services.models.service import ModelService
    from lethe_app.services.preferences import Preferences
    from lethe_app.ui.pages.personas.editor import PersonaEditor

UPDATE_DELAY_MS = 300
"""Pause in typing, in milliseconds, before the preview is updated."""
DEFAULT_CONTEXT_SIZE = 8192
"""Context size in tokens, assumed if no model is loaded and none is set."""


class PersonaPreviewUpdater:
    """Updates the preview of one editor page and the token counts beside its fields."""

    def __init__(
        self, page: PersonaEditor, prompt_inspector: PromptInspector, models: ModelService, preferences: Preferences
    ) -> None:
        self._page = page
        self._prompt_inspector, self._models, self._preferences = prompt_inspector, models, preferences
        self._is_updating = self._is_stale = False
        self._update_timer = QTimer(page, singleShot=True, interval=UPDATE_DELAY_MS)
        self._update_timer.timeout.connect(self.update_now)
        self._update_timer.timeout.connect(page.store_draft)

    def schedule_update(self) -> None:
        self._update_timer.start()

    def update_now(self) -> None:
        """Update at once, but never twice in parallel, so that token counting does not pile up with a slow model."""
        self._update_timer.stop()
        self._is_stale = True
        if not self._is_updating and self._page.is_loaded:
            self._page.context.tasks.start_task(self._update_until_fresh())

    def close(self) -> None:
        self._update_timer.stop()

    async def _update_until_fresh(self) -> None:
        self._is_updating = True
        try:
            while self._is_stale and not self._page.is_closed:
                self._is_stale = False
                await self._update_preview()
        finally:
            self._is_updating = False

    async def _update_preview(self) -> None:
        page = self._page
        persona = page.draft.build_persona(page.tr("Unnamed"))
        preview = await self._prompt_inspector.preview(persona)
        if page.is_closed:
            return
        page.preview.show_spans(preview.spans, has_own_system_prompt=bool(persona.system_prompt))
        has_examples = any(span.part is PromptPart.STYLE for span in preview.spans)
        lacks_examples = any(line.strip() for line in persona.example_dialogs) and not has_examples
        page.preview.show_source(preview.model, preview.template, lacks_examples=lacks_examples and bool(preview.model))
        page.preview.show_total(preview.tokens, self._context_size())
        self._show_token_counts(preview, persona)

    def _context_size(self) -> int:
        state = self._models.state
        return (
            state.model.context if isinstance(state, ModelReady) else self._preferences.current.context or DEFAULT_CONTEXT_SIZE
        )

    def _show_token_counts(self, preview: Preview, persona: Persona) -> None:
        sheet = self._page.sheet
        for name in sheet.names:
            edited_field = preview.fields.get(name)
            if name.startswith(DAY_PREFIX) or (name == "name" and not self._page.persona_name):
                continue
            is_counted = edited_field is not None and name != "name"
            sheet.show_note(name, format_token_count(edited_field.tokens) if edited_field is not None and is_counted else "")
            if edited_field is not None:
                sheet.show_error(name, self._unknown_macros_text(edited_field.unknown))
            elif name != "name":
                sheet.show_error(name, "")
        self._show_day_token_counts(preview.fields.get("schedule"), persona)

    def _show_day_token_counts(self, schedule: EditedField | None, persona: Persona) -> None:
        """Show the token counts of the weekdays, which share one field of the preview; its pieces are in their order."""
        sheet = self._page.sheet
        pieces = dict(zip(persona.schedule, schedule.pieces, strict=False)) if schedule is not None else {}
        for name in sheet.names:
            if name.startswith(DAY_PREFIX):
                text = str(self._page.draft.values[name])
                day = next((day for day in pieces if name == f"{DAY_PREFIX}{day}"), None)
                sheet.show_note(name, format_token_count(pieces[day]) if day is not None else "")
                unknown = schedule.unknown if schedule is not None else ()
                sheet.show_error(name, self._unknown_macros_text(tuple(macro for macro in unknown if macro in text)))

    def _unknown_macros_text(self, unknown: tuple[str, ...]) -> str:
        if not unknown:
            return ""
        names = ", ".join(f"{{{{{macro}}}}}" for macro in unknown)
        singular = self._page.tr("{names} is not a known macro and is sent to the model as it is.")
        plural = self._page.tr("{names} are not known macros and are sent to the model as they are.")
        return (singular if len(unknown) == 1 else plural).format(names=names)
