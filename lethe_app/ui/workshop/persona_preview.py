"""Beside the editor: what the model reads of a persona, word for word, and how much of its context that takes."""

from __future__ import annotations

from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from lethe_app.domain.prompt import Part, Span
from lethe_app.ui.palette import SPACE_2, SPACE_4
from lethe_app.ui.theme import Theme
from lethe_app.ui.words import rounded, tokens_in_words
from lethe_app.ui.workshop.page import explanation, headline

TOO_MUCH = 1 / 3
"""Part of the context that a persona should not exceed: all that is said and remembered needs the rest."""


class PersonaPreview(QFrame):
    """Read only. Words that come from elsewhere are muted."""

    def __init__(self, theme: Theme, *, is_user: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._theirs = {Part.USER} if is_user else {Part.PERSONA, Part.SCENARIO, Part.STYLE, Part.THOUGHTS, Part.HISTORY}
        self._shown: tuple[tuple[Span, ...], bool] = ((), False)
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

    def show_spans(self, spans: tuple[Span, ...], *, all_theirs: bool) -> None:
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
            theirs = span.part in self._theirs or (all_theirs and span.part is Part.SYSTEM)
            begins = cursor.position() if theirs and begins < 0 else begins
            ink.setForeground(QColor(self._theme.palette.text if theirs else self._theme.palette.muted))
            cursor.insertText(span.text, ink)
        self.text.verticalScrollBar().setValue(scrolled)
        if begins >= 0 and not self._is_found:
            self._is_found = True
            cursor.setPosition(begins)
            self.text.setTextCursor(cursor)
            self.text.centerCursor()
