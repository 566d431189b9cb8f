"""Reads a draft as the model would whenever the user rests: tokens of each field, macros nobody knows, and the whole prompt."""

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


TOO_MUCH = 1 / 3
"""Part of the context that a persona should not exceed: all that is said and remembered needs the rest."""


class PersonaPreview(QFrame):
    """Read only. Words that come from elsewhere are muted."""

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
        """Has what the user wrote been brought into sight? A persona's own words stand near the top by themselves."""
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(self.tr("What the model reads"))
        self.total = QLabel()
        self.total.setWordWrap(True)
        self.warning = QLabel()
        self.warning.setWordWrap(True)
        self.warning.setProperty("complaint", True)
        self.warning.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_4, SPACE_4, SPACE_4, SPACE_4)
        column.setSpacing(SPACE_2)
        column.addWidget(headline(self.tr("What the model reads")))
        self.source = explanation("")
        column.addWidget(self.source)
        column.addWidget(self.text, 1)
        column.addWidget(self.total)
        column.addWidget(self.warning)
        theme.changed.connect(self.dress)

    def show_spans(self, spans: tuple[PromptSpan, ...], *, all_theirs: bool) -> None:
        """`all_theirs`: the persona brings its own instructions."""
        if (spans, all_theirs) != self._shown:
            self._shown = (spans, all_theirs)
            self.dress()

    def show_source(self, model: str, template: str) -> None:
        """Name the model in whose format the text is; without one it is plain."""
        if model:
            words = self.tr("Prompt for {model} at the beginning of a conversation (template: {template}).")
        else:
            words = self.tr("No model is loaded, so this is the plain text without a chat template.")
        rest = self.tr("Macros are filled in; muted text comes from elsewhere.")
        self.source.setText(f"{words.format(model=model, template=template)} {rest}")

    def show_total(self, tokens: int, context: int) -> None:
        """How much of `context` they take, with a word of warning where it is too much."""
        words = self.tr("{tokens}, {share} % of {context} of context")
        share = round(100 * tokens / context)
        self.total.setText(words.format(tokens=tokens_in_words(tokens), share=share, context=rounded(context)))
        is_too_much = tokens > context * TOO_MUCH
        self.warning.setVisible(is_too_much)
        self.warning.setText(
            self.tr("That is more than a third. Little room is left for what is said and remembered; shorter texts help.")
            if is_too_much
            else ""
        )

    def dress(self) -> None:
        """Write the spans in the colours of the theme; the reader stays where they are."""
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
