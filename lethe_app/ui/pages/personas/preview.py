"""Prompt preview of a draft: tokens per field, unknown macros and the whole prompt, updated after a pause in typing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from lethe_app.domain.prompt import PromptPart, PromptSpan
from lethe_app.services.events import Ready
from lethe_app.ui.core.formatting import rounded, tokens_in_words
from lethe_app.ui.core.palette import SPACE_2, SPACE_4
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.page import explanation, headline
from lethe_app.ui.pages.personas.draft import DAY

if TYPE_CHECKING:
    from lethe_app.domain.persona import Persona
    from lethe_app.services.chat.prompt_inspector import EditedField, Preview
    from lethe_app.ui.pages.personas.page import PersonaPage

PAUSE_MS = 300
"""Pause in typing, in milliseconds, before the preview is updated."""
USUAL_CONTEXT = 8192
"""Context size in tokens, assumed if no model is loaded and none is set."""


class PersonaReading:
    """Updates the preview of one editor page and the token counts beside its fields."""

    def __init__(self, page: PersonaPage) -> None:
        self._page = page
        self._is_reading = self._is_stale = False
        self._rest = QTimer(page, singleShot=True, interval=PAUSE_MS)
        self._rest.timeout.connect(self.now)
        self._rest.timeout.connect(page.keep_draft)

    def soon(self) -> None:
        self._rest.start()

    def now(self) -> None:
        """Update at once, but never twice in parallel, so that token counting does not pile up with a slow model."""
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
        persona = page.draft.persona(page.tr("Unnamed"))
        preview = await page.place.services.inspecting.preview(persona)
        if page.is_closed:
            return
        page.preview.show_spans(preview.spans, all_theirs=bool(persona.system_prompt))
        page.preview.show_source(preview.model, preview.template)
        page.preview.show_total(preview.tokens, self._context())
        self._note(preview, persona)

    def _context(self) -> int:
        services = self._page.place.services
        state = services.models.state
        return state.model.context if isinstance(state, Ready) else services.preferences.current.context or USUAL_CONTEXT

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

    def _note_days(self, schedule: EditedField | None, persona: Persona) -> None:
        """Show the token counts of the weekdays, which share one field of the preview; its pieces are in their order."""
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
        one = self._page.tr("{names} is not a known macro and is sent to the model as it is.")
        many = self._page.tr("{names} are not known macros and are sent to the model as they are.")
        return (one if len(unknown) == 1 else many).format(names=names)


TOO_MUCH = 1 / 3
"""Share of the context above which a warning is shown: history and memories need the rest."""


class PersonaPreview(QFrame):
    """Read-only text of the prompt; text that does not come from the draft is muted."""

    def __init__(self, theme: Theme, *, is_user: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._theirs = (
            {PromptPart.USER}
            if is_user
            else {PromptPart.PERSONA, PromptPart.SCENARIO, PromptPart.STYLE, PromptPart.THOUGHTS, PromptPart.HISTORY}
        )
        self._shown: tuple[tuple[PromptSpan, ...], bool] = ((), False)
        self._is_found = not is_user
        """True once the text of a user persona was scrolled to. A character's text is near the top anyway."""
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(self.tr("Prompt preview"))
        self.total = QLabel()
        self.total.setWordWrap(True)
        self.warning = QLabel()
        self.warning.setWordWrap(True)
        self.warning.setProperty("complaint", True)
        self.warning.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_4, SPACE_4, SPACE_4, SPACE_4)
        column.setSpacing(SPACE_2)
        column.addWidget(headline(self.tr("Prompt preview")))
        self.source = explanation("")
        column.addWidget(self.source)
        column.addWidget(self.text, 1)
        column.addWidget(self.total)
        column.addWidget(self.warning)
        theme.changed.connect(self.dress)

    def show_spans(self, spans: tuple[PromptSpan, ...], *, all_theirs: bool) -> None:
        """Show the prompt; `all_theirs` is true if the persona has its own system prompt."""
        if (spans, all_theirs) != self._shown:
            self._shown = (spans, all_theirs)
            self.dress()

    def show_source(self, model: str, template: str) -> None:
        """Name the model and template the prompt is formatted for; without a model it is plain text."""
        if model:
            words = self.tr("Prompt for {model} at the start of a conversation (template: {template}).")
        else:
            words = self.tr("No model is loaded, so this is the plain text without a chat template.")
        rest = self.tr("Macros are filled in; muted text comes from other sources.")
        self.source.setText(f"{words.format(model=model, template=template)} {rest}")

    def show_total(self, tokens: int, context: int) -> None:
        """Show the number of tokens and their share of `context`, with a warning above `TOO_MUCH`."""
        words = self.tr("{tokens}, {share} % of the {context} context")
        share = round(100 * tokens / context)
        self.total.setText(words.format(tokens=tokens_in_words(tokens), share=share, context=rounded(context)))
        is_too_much = tokens > context * TOO_MUCH
        self.warning.setVisible(is_too_much)
        self.warning.setText(
            self.tr("More than a third of the context is used. Shorten the texts to leave more room for the chat and memories.")
            if is_too_much
            else ""
        )

    def dress(self) -> None:
        """Render the spans in the theme's colours; the scroll position is kept."""
        spans, all_theirs = self._shown
        scrolled = self.text.verticalScrollBar().value()
        self.text.clear()
        cursor = QTextCursor(self.text.document())
        begins = -1
        for span in spans:
            ink = QTextCharFormat()
            theirs = span.part in self._theirs or (all_theirs and span.part is PromptPart.SYSTEM)
            begins = cursor.position() if theirs and begins < 0 else begins
            ink.setForeground(QColor(self._theme.palette.text if theirs else self._theme.palette.muted))
            cursor.insertText(span.text, ink)
        self.text.verticalScrollBar().setValue(scrolled)
        if begins >= 0 and not self._is_found:
            self._is_found = True
            cursor.setPosition(begins)
            self.text.setTextCursor(cursor)
            self.text.centerCursor()
