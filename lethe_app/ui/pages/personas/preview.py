"""Prompt preview of a draft, with the token counts and unknown macros of its fields, updated after a pause in typing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QTimer
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QPlainTextEdit

from lethe_app.domain.persona import Persona, Weekday
from lethe_app.domain.prompt import PromptPart, PromptSpan
from lethe_app.services.chat.prompt_inspector import Preview, PromptInspector
from lethe_app.services.events import ModelReady
from lethe_app.services.models.service import ModelService
from lethe_app.services.preferences import Preferences
from lethe_app.ui.core.formatting import abbreviate_tokens, format_token_count
from lethe_app.ui.core.palette import SPACE_2, SPACE_4
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.personas.draft import DAY_PREFIX
from lethe_app.ui.widgets.form import Form
from lethe_app.ui.widgets.labels import build_heading, build_small_label, create_text_label
from lethe_app.ui.widgets.layouts import build_column

UPDATE_DELAY_MS = 300
"""Pause in typing, in milliseconds, before the preview is updated."""
DEFAULT_CONTEXT_SIZE = 8192
"""Context size in tokens, assumed if no model is loaded and none is set."""
WARNING_SHARE = 1 / 3
"""Share of the context above which a warning is shown: history and memories need the rest."""


class PersonaPreview(QFrame):
    """Read-only text of the prompt; text that does not come from the draft is muted. Token counts are shown in the form."""

    def __init__(
        self,
        context: PageContext,
        prompt_inspector: PromptInspector,
        models: ModelService,
        preferences: Preferences,
        form: Form,
        build_draft: Callable[[], Persona | None],
        *,
        is_user: bool,
    ) -> None:
        """Create the preview; `build_draft` returns the draft, with an empty name if it has none yet, or None while there is no
        draft to show.
        """
        super().__init__()
        self._theme, self._tasks, self._build_draft = context.theme, context.tasks, build_draft
        self._prompt_inspector, self._models, self._preferences = prompt_inspector, models, preferences
        self._form = form
        self._is_updating = self._is_stale = self._is_closed = False
        self.update_timer = QTimer(self, singleShot=True, interval=UPDATE_DELAY_MS)
        """Runs out after a pause in typing."""
        self.update_timer.timeout.connect(self.update_now)
        self._unsubscribers = [
            models.changed.add(lambda _state: self.update_timer.start()),
            preferences.changed.add(lambda _settings: self.update_timer.start()),
        ]
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
        self.prompt_view.setPlaceholderText(self.tr("Building the prompt…"))
        self.source_label, self.total_label = build_small_label(""), create_text_label("")
        self.warning_label = create_text_label("", "complaint")
        self.warning_label.hide()
        self.warning_label.setText(
            self.tr("More than a third of the context is used. Shorten the texts to leave more room for the chat and memories.")
        )
        labels = (build_heading(self.tr("Prompt preview")), self.source_label)
        items = (*labels, (self.prompt_view, 1), self.total_label, self.warning_label)
        build_column(*items, spacing=SPACE_2, margins=SPACE_4, parent=self)
        self._theme.changed.connect(self._render_spans)

    def close_preview(self) -> None:
        """Disconnect from services because the page is closing."""
        self._is_closed = True
        self.update_timer.stop()
        for unsubscribe in self._unsubscribers:
            unsubscribe()

    def update_now(self) -> None:
        """Update at once, but never twice in parallel, so that token counting does not pile up with a slow model."""
        self.update_timer.stop()
        self._is_stale = True
        if not self._is_updating:
            self._tasks.start_task(self._update_until_fresh())

    async def _update_until_fresh(self) -> None:
        self._is_updating = True
        try:
            while self._is_stale and not self._is_closed:
                self._is_stale = False
                draft = self._build_draft()
                if draft is not None:
                    self._show_preview(draft, await self._prompt_inspector.preview(draft))
        finally:
            self._is_updating = False

    def _show_preview(self, draft: Persona, preview: Preview) -> None:
        if self._is_closed:
            return
        if (content := (preview.spans, bool(draft.system_prompt))) != self._content:
            self._content = content
            self._render_spans()
        has_examples = any(span.part is PromptPart.STYLE for span in preview.spans)
        lacks_examples = any(line.strip() for line in draft.example_dialogs) and not has_examples
        self._show_source(preview.model, preview.template, lacks_examples=lacks_examples and bool(preview.model))
        self._show_total(preview.tokens)
        for name in self._form.field_names:
            if name != "name" or self._form.value_of("name").strip():  # without a name it says that one is required
                self._show_tokens(name, draft, preview)

    def _show_source(self, model: str, template: str, *, lacks_examples: bool) -> None:
        """Name the model and template the prompt is formatted for; without a model it is plain text. `lacks_examples` is true
        if the persona has example dialogue that this prompt leaves out.
        """
        if model:
            text = self.tr("Prompt for {model} at the start of a conversation (template: {template}).")
        else:
            text = self.tr("No model is loaded, so this is the plain text without a chat template.")
        note = self.tr("Macros are filled in; muted text comes from other sources.")
        left_out = self.tr("The example dialogue is left out: it confuses a model this small.") if lacks_examples else ""
        self.source_label.setText(f"{text.format(model=model, template=template)} {note} {left_out}".strip())

    def _show_total(self, tokens: int) -> None:
        """Show the number of tokens and their share of the context, with a warning above `WARNING_SHARE`."""
        state = self._models.state
        chosen_size = self._preferences.current.context or DEFAULT_CONTEXT_SIZE
        context = state.model.context if isinstance(state, ModelReady) else chosen_size
        text = self.tr("{tokens}, {share} % of the {context} context")
        share = round(100 * tokens / context)
        self.total_label.setText(
            text.format(tokens=format_token_count(tokens), share=share, context=abbreviate_tokens(context))
        )
        self.warning_label.setVisible(tokens > context * WARNING_SHARE)

    def _show_tokens(self, name: str, draft: Persona, preview: Preview) -> None:
        """Show the tokens of a field beside its title, and its unknown macros below it."""
        edited = preview.fields.get("schedule" if name.startswith(DAY_PREFIX) else name)
        tokens = edited.tokens if edited is not None and name != "name" else None
        unknown = edited.unknown if edited is not None else ()
        if name.startswith(DAY_PREFIX):  # the days share one field of the preview, whose pieces are in their order
            day = Weekday(name.removeprefix(DAY_PREFIX))
            tokens = dict(zip(draft.schedule, edited.pieces, strict=False)).get(day) if edited is not None else None
            unknown = tuple(macro for macro in unknown if macro in draft.schedule.get(day, ""))
        self._form.show_note(name, format_token_count(tokens) if tokens is not None else "")
        self._form.show_error(
            name, self._unknown_macros_text(unknown, is_greeting="greetings" in name or name == "first_messages")
        )

    def _unknown_macros_text(self, unknown: Sequence[str], *, is_greeting: bool) -> str:
        if not unknown:
            return ""
        names = ", ".join(f"{{{{{macro}}}}}" for macro in unknown)
        singular = self.tr("{names} is not a known macro and is sent to the model as it is.")
        plural = self.tr("{names} are not known macros and are sent to the model as they are.")
        if is_greeting:
            singular = self.tr("{names} is not a known macro and is left out of greetings.")
            plural = self.tr("{names} are not known macros and are left out of greetings.")
        return (singular if len(unknown) == 1 else plural).format(names=names)

    def _render_spans(self) -> None:
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
