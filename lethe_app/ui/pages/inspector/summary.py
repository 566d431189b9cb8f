"""Summary of a prompt: its length, the tokens of each section, what was cut, and the cost of processing it."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLocale, Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from lethe_app.config.options import PromptLayout
from lethe_app.domain.prompt import Cost, Receipt, Share
from lethe_app.services.chat.prompt_inspector import Inspection
from lethe_app.ui.chat.memory_card_parts import wrapped
from lethe_app.ui.core.formatting import rounded, tokens_in_words
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.core.reason_labels import cut_words, miss_words
from lethe_app.ui.core.theme import PROSE_SIZE, Theme
from lethe_app.ui.pages.inspector.colours import title_of
from lethe_app.ui.pages.inspector.token_shares import ShareBar, share_rows, share_table
from lethe_app.ui.pages.page import explanation, headline

LEAST, USUAL, MOST = 280, 360, 460


class Account(QScrollArea):
    """Summary of a prompt; `chosen` emits the section under the cursor, `opened` the section whose text is to be shown."""

    chosen = Signal(object)
    opened = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.viewport().setAutoFillBackground(False)
        self.length, self.room = headline(""), explanation("")
        self.bar = ShareBar(theme)
        self.rows = share_rows(theme)
        self.table = share_table(theme, self.rows)
        self.table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.table.current_changed.connect(lambda row: self.chosen.emit(row[0] if row is not None else None))
        self.table.opened.connect(lambda row: self.opened.emit(row[0]))
        inside = QWidget()
        inside.setObjectName("sheet")
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(SPACE_4, SPACE_4, SPACE_4, SPACE_4)
        self._column.setSpacing(SPACE_2)
        for widget in (self.length, self.bar, self.room, self.table):
            self._column.addWidget(widget)
        self._notes = QWidget()
        self._column.addWidget(self._notes)
        self._column.addStretch(1)
        self.setWidget(inside)
        theme.changed.connect(self._fit)
        self._fit()

    def wanted(self, width: int) -> int:
        """Return a width, given for the default font size, scaled to the user's font size."""
        return round(width * max(1.0, self._theme.prose_size / PROSE_SIZE))

    def show_inspection(self, found: Inspection | None) -> None:
        """Show the summary of a prompt, or nothing if it is None."""
        for widget in (self.length, self.bar, self.room, self.table):
            widget.setVisible(found is not None)
        self._notes.hide()
        self._notes.deleteLater()
        self._notes = QWidget()
        self._column.insertWidget(self._column.count() - 1, self._notes)
        if found is None:
            self.rows.fill([])
            return
        receipt = found.receipt
        self.length.setText(tokens_in_words(receipt.prompt_tokens))
        self.room.setText(room_words(receipt))
        self.bar.show_receipt(receipt)
        self.rows.fill((share, receipt.prompt_tokens) for share in receipt.shares if share.tokens or share.cut_tokens)
        self._fit()
        self._fill_notes(receipt, found.cost)

    def _fit(self) -> None:
        """Adapt the width to the font size and the table's height to its rows: only the whole summary scrolls."""
        self.setMinimumWidth(self.wanted(LEAST))
        self.setMaximumWidth(self.wanted(MOST))
        header = self.table.horizontalHeader()
        for column in (1, 2):
            header.resizeSection(column, self.fontMetrics().horizontalAdvance(self.rows.columns[column].title) + 2 * SPACE_3)
        height = self.table.verticalHeader().defaultSectionSize() * len(self.rows.shown)
        self.table.setFixedHeight(height + self.table.horizontalHeader().sizeHint().height() + SPACE_1)

    def _fill_notes(self, receipt: Receipt, cost: Cost | None) -> None:
        column = QVBoxLayout(self._notes)
        column.setContentsMargins(0, SPACE_3, 0, 0)
        column.setSpacing(SPACE_2)
        column.addWidget(headline(self.tr("Prompt processing")))
        for words in cost_words(cost):
            column.addWidget(wrapped(words))
        column.addWidget(explanation(layout_words(receipt.layout)))
        cut = [share for share in receipt.shares if share.cut_tokens or share.cuts]
        column.addSpacing(SPACE_2)
        column.addWidget(headline(self.tr("Cut to fit")))
        for share in cut:
            column.addWidget(self._cut(share))
        if not cut:
            column.addWidget(wrapped(self.tr("Nothing was cut."), quiet=True))
        column.addSpacing(SPACE_2)
        column.addWidget(headline(self.tr("Format")))
        column.addWidget(wrapped(self.tr("Template: {source}").format(source=receipt.template_source), quiet=True))

    def _cut(self, share: Share) -> QLabel:
        title = title_of(share.part)
        if share.cut_tokens:
            title = self.tr("{part}, {tokens}").format(part=title, tokens=tokens_in_words(share.cut_tokens))
        told = "; ".join(map(cut_words, share.cuts))
        return wrapped(f"{title}: {told}" if told else title)


def tr(text: str) -> str:
    """Translate a text in the context of the summary."""
    return QCoreApplication.translate("Account", text)


def room_words(receipt: Receipt) -> str:
    """Return the size of the context and the tokens reserved for the reply."""
    words = tr("of a context of {context}; {reserve} reserved for the reply.")
    return words.format(context=rounded(receipt.context), reserve=QLocale().toString(receipt.reply_reserve))


def cost_words(cost: Cost | None) -> list[str]:
    """Return how many tokens came from the KV cache, how many were processed, and why tokens were processed again."""
    if cost is None:
        return [tr("No figures: the reply was stopped too early.")]
    locale = QLocale()
    whole = cost.evaluated + cost.reused
    words = tr("{reused} of {whole} cached, {evaluated} processed.")
    told = [
        words.format(
            reused=locale.toString(cost.reused), whole=tokens_in_words(whole), evaluated=locale.toString(cost.evaluated)
        )
    ]
    if cost.again:
        again = tr("{tokens} reprocessed because {reason}.")
        told.append(again.format(tokens=tokens_in_words(cost.again), reason=miss_words(cost)))
    if cost.drift:
        told.append(tr("Context shifts since the last full processing: {count}").format(count=cost.drift))
    return told


def layout_words(layout: PromptLayout) -> str:
    """Return where the recalled memories are placed in the prompt and what that costs."""
    return {
        PromptLayout.LATE: tr("Memories are placed just above your message, so everything before them stays cached."),
        PromptLayout.SYSTEM: tr("Memories are placed in the system prompt, so everything below it is reprocessed."),
        PromptLayout.DEPTH: tr(
            "Memories are placed among the messages at their depth, so everything below them is reprocessed."
        ),
    }[layout]
