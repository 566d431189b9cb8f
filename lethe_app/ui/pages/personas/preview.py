"""Prompt preview of a draft: tokens per field, unknown macros and the whole prompt, updated after a pause in typing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from lethe_app.domain.prompt import PromptPart, PromptSpan
from lethe_app.services.events import ModelReady
from lethe_app.ui.core.formatting import abbreviate_tokens, format_token_count
from lethe_app.ui.core.palette import SPACE_2, SPACE_4
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.personas.draft import DAY_PREFIX
from lethe_app.ui.widgets.labels import build_heading, build_small_label

if TYPE_CHECKING:
    from lethe_app.domain.persona import Persona
    from lethe_app.services.chat.prompt_inspector import EditedField, Preview
    from lethe_app.ui.pages.personas.page import PersonaPage

UPDATE_DELAY_MS = 300
"""Pause in typing, in milliseconds, before the preview is updated."""
DEFAULT_CONTEXT_SIZE = 8192
"""Context size in tokens, assumed if no model is loaded and none is set."""


class PersonaPreviewUpdater:
    """Updates the preview of one editor page and the token counts beside its fields."""

    def __init__(self, page: PersonaPage) -> None:
        self._page = page
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
        preview = await page.services.prompt_inspector.preview(persona)
        if page.is_closed:
            return
        page.preview.show_spans(preview.spans, has_own_system_prompt=bool(persona.system_prompt))
        page.preview.show_source(preview.model, preview.template)
        page.preview.show_total(preview.tokens, self._context_size())
        self._show_token_counts(preview, persona)

    def _context_size(self) -> int:
        services = self._page.services
        state = services.models.state
        return (
            state.model.context
            if isinstance(state, ModelReady)
            else services.preferences.current.context or DEFAULT_CONTEXT_SIZE
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


WARNING_SHARE = 1 / 3
"""Share of the context above which a warning is shown: history and memories need the rest."""


class PersonaPreview(QFrame):
    """Read-only text of the prompt; text that does not come from the draft is muted."""

    def __init__(self, theme: Theme, *, is_user: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._draft_parts = (
            {PromptPart.USER}
            if is_user
            else {PromptPart.PERSONA, PromptPart.SCENARIO, PromptPart.STYLE, PromptPart.THOUGHTS, PromptPart.HISTORY}
        )
        self._content: tuple[tuple[PromptSpan, ...], bool] = ((), False)
        self._is_scrolled = not is_user
        """True once the text of a user persona was scrolled to. A character's text is near the top anyway."""
        self.prompt_view = QPlainTextEdit()
        self.prompt_view.setReadOnly(True)
        self.prompt_view.setTabChangesFocus(True)
        self.prompt_view.setAccessibleName(self.tr("Prompt preview"))
        self.total_label = QLabel()
        self.total_label.setWordWrap(True)
        self.warning_label = QLabel()
        self.warning_label.setWordWrap(True)
        self.warning_label.setProperty("complaint", True)
        self.warning_label.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_4, SPACE_4, SPACE_4, SPACE_4)
        column.setSpacing(SPACE_2)
        column.addWidget(build_heading(self.tr("Prompt preview")))
        self.source_label = build_small_label("")
        column.addWidget(self.source_label)
        column.addWidget(self.prompt_view, 1)
        column.addWidget(self.total_label)
        column.addWidget(self.warning_label)
        theme.changed.connect(self.apply_theme)

    def show_spans(self, spans: tuple[PromptSpan, ...], *, has_own_system_prompt: bool) -> None:
        """Show the prompt; `has_own_system_prompt` is true if the persona has its own system prompt."""
        if (spans, has_own_system_prompt) != self._content:
            self._content = (spans, has_own_system_prompt)
            self.apply_theme()

    def show_source(self, model: str, template: str) -> None:
        """Name the model and template the prompt is formatted for; without a model it is plain text."""
        if model:
            text = self.tr("Prompt for {model} at the start of a conversation (template: {template}).")
        else:
            text = self.tr("No model is loaded, so this is the plain text without a chat template.")
        note = self.tr("Macros are filled in; muted text comes from other sources.")
        self.source_label.setText(f"{text.format(model=model, template=template)} {note}")

    def show_total(self, tokens: int, context: int) -> None:
        """Show the number of tokens and their share of `context`, with a warning above `WARNING_SHARE`."""
        text = self.tr("{tokens}, {share} % of the {context} context")
        share = round(100 * tokens / context)
        self.total_label.setText(
            text.format(tokens=format_token_count(tokens), share=share, context=abbreviate_tokens(context))
        )
        is_too_much = tokens > context * WARNING_SHARE
        self.warning_label.setVisible(is_too_much)
        self.warning_label.setText(
            self.tr("More than a third of the context is used. Shorten the texts to leave more room for the chat and memories.")
            if is_too_much
            else ""
        )

    def apply_theme(self) -> None:
        """Render the spans in the theme's colours; the scroll position is kept."""
        spans, has_own_system_prompt = self._content
        scroll_position = self.prompt_view.verticalScrollBar().value()
        self.prompt_view.clear()
        cursor = QTextCursor(self.prompt_view.document())
        draft_start = -1
        for span in spans:
            text_format = QTextCharFormat()
            is_from_draft = span.part in self._draft_parts or (has_own_system_prompt and span.part is PromptPart.SYSTEM)
            draft_start = cursor.position() if is_from_draft and draft_start < 0 else draft_start
            text_format.setForeground(QColor(self._theme.palette.text if is_from_draft else self._theme.palette.muted))
            cursor.insertText(span.text, text_format)
        self.prompt_view.verticalScrollBar().setValue(scroll_position)
        if draft_start >= 0 and not self._is_scrolled:
            self._is_scrolled = True
            cursor.setPosition(draft_start)
            self.prompt_view.setTextCursor(cursor)
            self.prompt_view.centerCursor()
