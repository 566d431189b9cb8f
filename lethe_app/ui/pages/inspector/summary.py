"""Summary of a prompt: its length, the tokens of each section, what was cut, and the cost of processing it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from PySide6.QtCore import QCoreApplication, QEvent, QLocale, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QHelpEvent, QIcon, QPainter, QPainterPath, QPaintEvent, QPixmap
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QToolTip, QWidget

from lethe_app.config.options import PromptLayout
from lethe_app.config.settings import Settings
from lethe_app.domain.chat import Alternative
from lethe_app.domain.prompt import PartTokens, PrefillCost, PromptPart, Receipt
from lethe_app.services.chat.prompt_inspector import MissingText, PromptInspection
from lethe_app.ui.chat.memory_card_parts import create_selectable_label
from lethe_app.ui.core.formatting import abbreviate_tokens, format_token_count
from lethe_app.ui.core.labels.fields import field_title, language_name
from lethe_app.ui.core.labels.messages import format_degradations, format_latency
from lethe_app.ui.core.palette import ICON, SPACE_1, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.core.reason_labels import format_cache_miss, format_cut
from lethe_app.ui.core.theme import PROSE_SIZE, Theme
from lethe_app.ui.pages.inspector.colours import section_colours, section_title, share_title
from lethe_app.ui.widgets.labels import build_heading, build_small_label
from lethe_app.ui.widgets.layouts import build_column
from lethe_app.ui.widgets.table import Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

MIN_WIDTH, DEFAULT_WIDTH, MAX_WIDTH = 280, 360, 460


SEGMENT_GAP = 1.0


class ShareBar(QWidget):
    """Bar of the context window: the sections of the prompt, the reserve for the reply at the right end, and free space
    between.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._receipt: Receipt | None = None
        self._session_titles: Mapping[str, str] = {}
        self.setMouseTracking(True)
        self.setMinimumHeight(SPACE_4 + SPACE_1)
        theme.changed.connect(self.update)

    def show_receipt(self, receipt: Receipt, session_titles: Mapping[str, str]) -> None:
        """Show a receipt; `session_titles` are the titles of the earlier sessions by id."""
        self._receipt, self._session_titles = receipt, session_titles
        shares = [share for share in receipt.shares if share.tokens]
        parts = [f"{share_title(share, session_titles)} {format_token_count(share.tokens)}" for share in shares]
        self.setAccessibleName(self.tr("Prompt sections: {list}").format(list=", ".join(parts)))
        self.update()

    def _segments(self) -> list[tuple[float, float, PartTokens | None]]:
        """Return left edge, width and section of each segment; the section is None for the reserve of the reply."""
        receipt = self._receipt
        if receipt is None:
            return []
        total = max(receipt.context, receipt.prompt_tokens + receipt.reply_reserve, 1)
        scale, left = self.width() / total, 0.0
        segments: list[tuple[float, float, PartTokens | None]] = []
        for share in receipt.shares:
            if share.tokens:
                segments.append((left, share.tokens * scale, share))
                left += share.tokens * scale
        reserve = receipt.reply_reserve * scale
        return [*segments, (self.width() - reserve, reserve, None)]

    def paintEvent(self, _event: QPaintEvent) -> None:
        palette, part_colours = self._theme.palette, section_colours(self._theme.palette)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QPainterPath()
        frame.addRoundedRect(QRectF(self.rect()), SPACE_1, SPACE_1)
        painter.setClipPath(frame)
        painter.fillRect(self.rect(), QColor(palette.raised))
        for left, width, share in self._segments():
            rect = QRectF(left, 0, max(width - SEGMENT_GAP, 1.0), self.height())
            if share is not None:
                painter.fillRect(rect, QColor(part_colours[share.part]))
            else:
                painter.fillRect(rect, QColor(palette.border))
                painter.fillRect(rect, QBrush(QColor(palette.muted), Qt.BrushStyle.BDiagPattern))
        painter.end()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self._tooltip_at(event.pos().x()), self)
            return True
        return super().event(event)

    def _tooltip_at(self, x: int) -> str:
        for left, width, share in self._segments():
            if left <= x < left + width:
                if share is None and self._receipt is not None:
                    reserve = format_token_count(self._receipt.reply_reserve)
                    return self.tr("reserved for the reply: {tokens}").format(tokens=reserve)
                if share is not None:
                    return f"{share_title(share, self._session_titles)}: {format_token_count(share.tokens)}"
        return self.tr("free")


@dataclass(frozen=True)
class ShareRow:
    """Row of the table of sections."""

    share: PartTokens
    title: str
    whole: int
    """Tokens of the whole prompt."""

    @property
    def key(self) -> str:
        """Return the section, or the id of the earlier session."""
        return self.share.session or self.share.part


def build_share_rows(theme: Theme) -> FilteredTableModel[ShareRow]:
    """Return the table model of the sections."""
    tokens, locale = attrgetter("share.tokens"), QLocale()
    columns: list[Column[ShareRow]] = [
        Column(tr("Section"), attrgetter("title"), width=0, icon=lambda row: build_swatch(theme, row.share.part)),
        Column(tr("Tokens"), lambda row: locale.toString(tokens(row)), tokens, width=76, is_right_aligned=True),
        Column(tr("Share"), lambda row: format_percent(tokens(row), row.whole), tokens, width=64, is_right_aligned=True),
    ]
    return FilteredTableModel(columns, key=attrgetter("key"), search_text=attrgetter("title"))


def build_share_table(theme: Theme, rows: FilteredTableModel[ShareRow]) -> Table[ShareRow]:
    """Return the table of sections."""
    table = Table(rows, theme, tr("Prompt sections"), tr("No prompt recorded."))
    table.setIconSize(QSize(ICON - SPACE_1 * 2, ICON - SPACE_1 * 2))
    return table


def build_swatch(theme: Theme, part: PromptPart) -> QIcon:
    """Return an icon in the section's colour."""
    size = ICON
    pixmap = QPixmap(size, size)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(section_colours(theme.palette)[part]))
    painter.drawRoundedRect(QRectF(2, 2, size - 4, size - 4), SPACE_1, SPACE_1)
    painter.end()
    return QIcon(pixmap)


def format_percent(part: int, whole: int) -> str:
    """Return a rounded percentage such as “13 %”; a positive share below one is “<1 %”."""
    share = 100 * part / whole if whole else 0
    return "<1 %" if 0 < share < 1 else f"{QLocale().toString(round(share))} %"


class PromptSummary(QScrollArea):
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
        self.length_label, self.context_label = build_heading(""), build_small_label("")
        self.bar = ShareBar(theme)
        self.rows = build_share_rows(theme)
        self.table = build_share_table(theme, self.rows)
        self.table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.table.current_changed.connect(lambda row: self.chosen.emit(row.share if row is not None else None))
        self.table.opened.connect(lambda row: self.opened.emit(row.share))
        content, self._notes = QWidget(), QWidget()
        content.setObjectName("sheet")
        self._shown_with_prompt = (self.length_label, self.bar, self.context_label, self.table)
        items = (*self._shown_with_prompt, self._notes, 1)
        self._column = build_column(*items, spacing=SPACE_2, margins=SPACE_4, parent=content)
        self.setWidget(content)
        theme.changed.connect(self._fit_sizes)
        self._fit_sizes()

    def scale_width(self, width: int) -> int:
        """Return a width, given for the default font size, scaled to the user's font size."""
        return round(width * max(1.0, self._theme.prose_size / PROSE_SIZE))

    def show_inspection(self, inspection: PromptInspection | None) -> None:
        """Show the summary of a prompt, or nothing if it is None."""
        for widget in self._shown_with_prompt:
            widget.setVisible(inspection is not None)
        self._notes.hide()
        self._notes.deleteLater()
        self._notes = QWidget()
        self._column.insertWidget(self._column.count() - 1, self._notes)
        if inspection is None:
            self.rows.set_rows([])
            return
        receipt = inspection.receipt
        self.length_label.setText(format_token_count(receipt.prompt_tokens))
        self.context_label.setText(format_context(receipt))
        self.bar.show_receipt(receipt, inspection.session_titles)
        self.rows.set_rows(
            ShareRow(share, share_title(share, inspection.session_titles), receipt.prompt_tokens)
            for share in receipt.shares
            if share.tokens or share.cut_tokens
        )
        self._fit_sizes()
        self._fill_notes(receipt, inspection.cost, inspection.reply)

    def _fit_sizes(self) -> None:
        """Adapt the width to the font size and the table's height to its rows: only the whole summary scrolls."""
        self.setMinimumWidth(self.scale_width(MIN_WIDTH))
        self.setMaximumWidth(self.scale_width(MAX_WIDTH))
        header = self.table.horizontalHeader()
        for column in (1, 2):
            header.resizeSection(column, self.fontMetrics().horizontalAdvance(self.rows.columns[column].title) + 2 * SPACE_3)
        height = self.table.verticalHeader().defaultSectionSize() * len(self.rows.visible_rows)
        self.table.setFixedHeight(height + self.table.horizontalHeader().sizeHint().height() + SPACE_1)

    def _fill_notes(self, receipt: Receipt, cost: PrefillCost | None, reply: Alternative) -> None:
        """Show the sections of the summary that have lines: the reply, the cost of the prompt, what was cut, and the format."""
        cut = [format_cut_share(share) for share in receipt.shares if share.cut_tokens or share.cuts]
        nothing_cut = create_selectable_label(self.tr("Nothing was cut."), "quiet")
        layout = build_small_label(format_layout(receipt.layout))
        template = self.tr("Template: {source}").format(source=receipt.template_source)
        sections: tuple[tuple[str, Sequence[QLabel]], ...] = (
            (self.tr("Reply"), [create_selectable_label(line) for line in format_reply(reply)]),
            (self.tr("Prompt processing"), [*map(create_selectable_label, format_cost(cost)), layout]),
            (self.tr("Cut to fit"), [create_selectable_label(line) for line in cut] or [nothing_cut]),
            (self.tr("Format"), [create_selectable_label(template, "quiet")]),
        )
        blocks = [build_column(build_heading(title), *labels, spacing=SPACE_2) for title, labels in sections if labels]
        build_column(*blocks, spacing=SPACE_4, margins=(0, SPACE_3, 0, 0), parent=self._notes)


def tr(text: str) -> str:
    """Translate a text in the context of the summary."""
    return QCoreApplication.translate("PromptSummary", text)


def format_context(receipt: Receipt) -> str:
    """Return the size of the context and the tokens reserved for the reply."""
    text = tr("of a context of {context}; {reserve} reserved for the reply.")
    return text.format(context=abbreviate_tokens(receipt.context), reserve=QLocale().toString(receipt.reply_reserve))


def format_reply(reply: Alternative) -> list[str]:
    """Return the latency and language of a reply, and what was left out of it or failed, one sentence each."""
    latency, language = format_latency(reply), language_name(reply.language) if reply.language else ""
    lines = [f"{latency[0].upper()}{latency[1:]}."] if latency else []
    lines += [tr("Language: {language}").format(language=language)] if language else []
    return [*lines, *format_degradations(reply), *([tr("It contains identifying data.")] if reply.is_sensitive else [])]


def format_cost(cost: PrefillCost | None) -> list[str]:
    """Return how many tokens came from the KV cache, how many were processed, and why tokens were processed again."""
    if cost is None:
        return [tr("Not known, because the reply was stopped before its end.")]
    locale = QLocale()
    total = cost.evaluated + cost.reused
    if cost.reused:
        text = tr("{reused} of {whole} cached, {evaluated} processed.")
    else:
        text = tr("All {whole} processed, because nothing of this prompt was in the cache.")
    lines = [
        text.format(
            reused=locale.toString(cost.reused), whole=format_token_count(total), evaluated=locale.toString(cost.evaluated)
        )
    ]
    if cost.again:
        again = tr("{tokens} reprocessed because {reason}.")
        lines.append(again.format(tokens=format_token_count(cost.again), reason=format_cache_miss(cost)))
    if cost.drift:
        lines.append(tr("Context shifts since the last full processing: {count}").format(count=cost.drift))
    return lines


def format_cut_share(share: PartTokens) -> str:
    """Return what was cut of a section, and why."""
    title = section_title(share.part)
    if share.cut_tokens:
        title = tr("{part}, {tokens}").format(part=title, tokens=format_token_count(share.cut_tokens))
    reasons = "; ".join(map(format_cut, share.cuts))
    return f"{title}: {reasons}" if reasons else title


def format_layout(layout: PromptLayout) -> str:
    """Return where the recalled memories are placed in the prompt and what that costs."""
    return {
        PromptLayout.LATE: tr("Memories are placed just above your message, so the next reply can reuse what is before them."),
        PromptLayout.SYSTEM: tr("Memories are placed in the system prompt, so the next reply reprocesses what is below it."),
        PromptLayout.DEPTH: tr(
            "Memories are placed among the messages at their depth, so the next reply reprocesses what is below them."
        ),
    }[layout]


def format_missing_text(inspection: PromptInspection) -> str:
    """Return why the text of a prompt is not stored."""
    setting = field_title(Settings, "keep_retrieved_context")
    texts = {
        MissingText.SETTING_OFF: tr("No prompts are stored while “{setting}” is off in Settings → Privacy."),
        MissingText.SETTING_WAS_OFF: tr("“{setting}” was off when this reply was generated, so its prompt was not stored."),
        MissingText.INCOGNITO: tr("The prompts of incognito conversations are not stored."),
        MissingText.OLD: tr("Only the newest prompts are stored word for word, and there are many newer ones."),
        MissingText.OUTDATED: tr(
            "Something remembered was edited, deleted or summarised after this reply. Earlier prompts are deleted then, "
            "because it may be in them."
        ),
    }
    return texts[inspection.missing_text].format(setting=setting) if inspection.missing_text is not None else ""
