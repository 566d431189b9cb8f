"""Prompt preview of a draft: tokens per field, unknown macros and the whole prompt, updated after a pause in typing."""

from __future__ import annotations

from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from lethe_app.domain.prompt import PromptPart, PromptSpan
from lethe_app.ui.core.formatting import abbreviate_tokens, format_token_count
from lethe_app.ui.core.palette import SPACE_2, SPACE_4
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.labels import build_heading, build_small_label

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
        self.prompt_view.setPlaceholderText(self.tr("Building the prompt…"))
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

    def show_source(self, model: str, template: str, *, lacks_examples: bool) -> None:
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
