"""The account of a prompt: how long it is, what each section takes, what was cut, and what reading it cost."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLocale, Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from lethe_app.config.options import PromptLayout
from lethe_app.domain.prompt import Cost, Receipt, Share
from lethe_app.services.chat.prompt_inspector import Inspection
from lethe_app.ui.chat.memory_card_parts import wrapped
from lethe_app.ui.core.formatting import rounded, tokens_in_words
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.core.phrases import COSTS, CUTS
from lethe_app.ui.core.theme import PROSE_SIZE, Theme
from lethe_app.ui.pages.inspector.colours import title_of
from lethe_app.ui.pages.inspector.token_shares import ShareBar, share_rows, share_table
from lethe_app.ui.pages.page import explanation, headline

LEAST, USUAL, MOST = 280, 360, 460


class Account(QScrollArea):
    """`chosen` is the section under the cursor, `opened` the one whose words are wanted."""

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
        """A width at the usual size of text, at the reader's."""
        return round(width * max(1.0, self._theme.prose_size / PROSE_SIZE))

    def show_inspection(self, found: Inspection | None) -> None:
        """Where nothing is known, there is nothing to account for."""
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
        """As wide as its words need; the table is as high as its rows, for the whole account scrolls, not a part of it."""
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
        column.addWidget(headline(self.tr("Reading it")))
        for words in cost_words(cost):
            column.addWidget(wrapped(words))
        column.addWidget(explanation(layout_words(receipt.layout)))
        cut = [share for share in receipt.shares if share.cut_tokens or share.note]
        column.addSpacing(SPACE_2)
        column.addWidget(headline(self.tr("What was cut")))
        for share in cut:
            column.addWidget(self._cut(share))
        if not cut:
            column.addWidget(wrapped(self.tr("Nothing: all of it had room."), quiet=True))
        column.addSpacing(SPACE_2)
        column.addWidget(headline(self.tr("Format")))
        column.addWidget(wrapped(self.tr("Template: {source}").format(source=receipt.template_source), quiet=True))

    def _cut(self, share: Share) -> QLabel:
        title = title_of(share.part)
        if share.cut_tokens:
            title = self.tr("{part}, {tokens}").format(part=title, tokens=tokens_in_words(share.cut_tokens))
        told = "; ".join(CUTS.in_words(note) for note in share.note.split("; "))
        return wrapped(f"{title}: {told}" if told else title)


def tr(text: str) -> str:
    """The reader's own language for the words of an account."""
    return QCoreApplication.translate("Account", text)


def room_words(receipt: Receipt) -> str:
    """How much of the context that is, and what of it is not to be used."""
    words = tr("of a context of {context}; {reserve} are kept for the reply.")
    return words.format(context=rounded(receipt.context), reserve=QLocale().toString(receipt.reply_reserve))


def cost_words(cost: Cost | None) -> list[str]:
    """What the model had read already, and what it had to read again."""
    if cost is None:
        return [tr("The reply was stopped before the model could tell.")]
    locale = QLocale()
    whole = cost.evaluated + cost.reused
    words = tr("{reused} of {whole} were known from before, {evaluated} were read.")
    told = [
        words.format(
            reused=locale.toString(cost.reused), whole=tokens_in_words(whole), evaluated=locale.toString(cost.evaluated)
        )
    ]
    if cost.again:
        again = tr("{tokens} were read again because {reason}.")
        told.append(again.format(tokens=tokens_in_words(cost.again), reason=COSTS.in_words(cost.because)))
    if cost.drift:
        told.append(tr("Cuts in what was read since it was last read as a whole: {count}").format(count=cost.drift))
    return told


def layout_words(layout: PromptLayout) -> str:
    """Where what came to mind was put."""
    return {
        PromptLayout.LATE: tr("What came to mind stands just above your message, so that all above it stays read."),
        PromptLayout.SYSTEM: tr("What came to mind stands in the system prompt: everything below it is read again."),
        PromptLayout.DEPTH: tr("Each memory stands as many messages up as it asks for; what is below is read again."),
    }[layout]
