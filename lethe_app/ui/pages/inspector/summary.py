"""Summary of a prompt: its length, the tokens of each section, what was cut, and the cost of processing it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter

from PySide6.QtCore import QCoreApplication, QEvent, QLocale, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QHelpEvent, QIcon, QPainter, QPainterPath, QPaintEvent, QPixmap
from PySide6.QtWidgets import QLabel, QToolTip, QWidget

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
from lethe_app.ui.widgets.card_column import CardColumn, fill_layout
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

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._segments: list[tuple[int, int, PromptPart | None, str]] = []
        """First token, number of tokens, section and text of each segment; the section is None for the reserve."""
        self._total = 1
        self.setMouseTracking(True)
        self.setMinimumHeight(SPACE_4 + SPACE_1)
        theme.changed.connect(self.update)

    def show_receipt(self, receipt: Receipt, session_titles: Mapping[str, str]) -> None:
        """Show a receipt; `session_titles` are the titles of the earlier sessions by id."""
        self._total = max(receipt.context, receipt.prompt_tokens + receipt.reply_reserve, 1)
        self._segments, start = [], 0
        for share in receipt.shares:
            if share.tokens:
                text = f"{share_title(share, session_titles)}: {format_token_count(share.tokens)}"
                self._segments.append((start, share.tokens, share.part, text))
                start += share.tokens
        names = ", ".join(text for *_place, text in self._segments)
        self.setAccessibleName(self.tr("Prompt sections: {list}").format(list=names))
        reserve = receipt.reply_reserve
        text = self.tr("reserved for the reply: {tokens}").format(tokens=format_token_count(reserve))
        self._segments.append((self._total - reserve, reserve, None, text))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        palette, part_colours = self._theme.palette, section_colours(self._theme.palette)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QPainterPath()
        frame.addRoundedRect(QRectF(self.rect()), SPACE_1, SPACE_1)
        painter.setClipPath(frame)
        painter.fillRect(self.rect(), QColor(palette.raised))
        scale = self.width() / self._total
        for start, tokens, part, _text in self._segments:
            rect = QRectF(start * scale, 0, max(tokens * scale - SEGMENT_GAP, 1.0), self.height())
            painter.fillRect(rect, QColor(part_colours[part] if part is not None else palette.border))
            if part is None:
                painter.fillRect(rect, QBrush(QColor(palette.muted), Qt.BrushStyle.BDiagPattern))
        painter.end()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            token = event.pos().x() * self._total / max(1, self.width())
            texts = (text for start, tokens, _part, text in self._segments if start <= token < start + tokens)
            QToolTip.showText(event.globalPos(), next(texts, self.tr("free")), self)
            return True
        return super().event(event)


def build_swatch(theme: Theme, part: PromptPart) -> QIcon:
    """Return an icon in the section's colour."""
    pixmap = QPixmap(ICON, ICON)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(section_colours(theme.palette)[part]))
    painter.drawRoundedRect(QRectF(2, 2, ICON - 4, ICON - 4), SPACE_1, SPACE_1)
    painter.end()
    return QIcon(pixmap)


def format_percent(part: int, whole: int) -> str:
    """Return a rounded percentage such as “13 %”; a positive share below one is “<1 %”."""
    share = 100 * part / whole if whole else 0
    return "<1 %" if 0 < share < 1 else f"{QLocale().toString(round(share))} %"


class PromptSummary(CardColumn):
    """Summary of a prompt, above all the table of its sections."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme, self._inspection = theme, PromptInspection(Receipt((), 0, 0, 0, ""), None, (), ())
        self.length_label, self.context_label = build_heading(""), build_small_label("")
        self.bar, tokens = ShareBar(theme), attrgetter("tokens")
        columns: list[Column[PartTokens]] = [
            Column(tr("Section"), self._title_of, width=0, min_width=100, icon=lambda share: build_swatch(theme, share.part)),
            Column(tr("Tokens"), lambda share: QLocale().toString(share.tokens), tokens, width=76, is_right_aligned=True),
            Column(tr("Share"), self._format_share, tokens, width=64, is_right_aligned=True),
        ]
        self.rows = FilteredTableModel(columns, key=lambda share: share.session or share.part, search_text=self._title_of)
        self.table = Table(self.rows, theme, tr("Prompt sections"), "")
        self.table.setIconSize(QSize(ICON - SPACE_1 * 2, ICON - SPACE_1 * 2))
        self.table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for widget in (self.length_label, self.bar, self.context_label, self.table):
            self.add_widget(widget)
        self._notes = build_column(spacing=SPACE_2)
        self.column.insertLayout(self.column.count() - 1, self._notes)
        self.column.setSpacing(SPACE_2)
        self.column.setContentsMargins(SPACE_4, SPACE_4, SPACE_4, SPACE_4)
        theme.changed.connect(self._fit_sizes)
        self._fit_sizes()

    def scale_width(self, width: int) -> int:
        """Return a width, given for the default font size, scaled to the user's font size."""
        return round(width * max(1.0, self._theme.prose_size / PROSE_SIZE))

    def show_inspection(self, inspection: PromptInspection) -> None:
        """Show the summary of a prompt."""
        self._inspection, receipt = inspection, inspection.receipt
        self.length_label.setText(format_token_count(receipt.prompt_tokens))
        context = tr("of a context of {context}; {reserve} reserved for the reply.")
        reserve = QLocale().toString(receipt.reply_reserve)
        self.context_label.setText(context.format(context=abbreviate_tokens(receipt.context), reserve=reserve))
        self.bar.show_receipt(receipt, inspection.session_titles)
        self.rows.set_rows(share for share in receipt.shares if share.tokens or share.cut_tokens)
        self._fit_sizes()
        fill_layout(self._notes, self._build_notes(receipt, inspection.cost, inspection.reply))

    def _title_of(self, share: PartTokens) -> str:
        return share_title(share, self._inspection.session_titles)

    def _format_share(self, share: PartTokens) -> str:
        return format_percent(share.tokens, self._inspection.receipt.prompt_tokens)

    def _fit_sizes(self) -> None:
        """Adapt the width to the font size and the table's height to its rows: only the whole summary scrolls."""
        self.setMinimumWidth(self.scale_width(MIN_WIDTH))
        self.setMaximumWidth(self.scale_width(MAX_WIDTH))
        self.table.fit_columns()
        height = self.table.verticalHeader().defaultSectionSize() * len(self.rows.visible_rows)
        self.table.setFixedHeight(height + self.table.horizontalHeader().sizeHint().height() + SPACE_1)

    def _build_notes(self, receipt: Receipt, cost: PrefillCost | None, reply: Alternative) -> Iterator[QLabel]:
        """Yield what is said of the reply, the cost of the prompt, what was cut and the format, each below its heading."""
        cut = [format_cut_share(share) for share in receipt.shares if share.cut_tokens or share.cuts]
        nothing_cut = create_selectable_label(self.tr("Nothing was cut."), "quiet")
        template = self.tr("Template: {source}").format(source=receipt.template_source)
        sections: tuple[tuple[str, Sequence[QLabel]], ...] = (
            (self.tr("Reply"), [create_selectable_label(line) for line in format_reply(reply)]),
            (
                self.tr("Prompt processing"),
                [*map(create_selectable_label, format_cost(cost)), build_small_label(format_layout(receipt.layout))],
            ),
            (self.tr("Cut to fit"), [create_selectable_label(line) for line in cut] or [nothing_cut]),
            (self.tr("Format"), [create_selectable_label(template, "quiet")]),
        )
        for title, labels in sections:
            if labels:
                heading = build_heading(title)
                heading.setContentsMargins(0, SPACE_3, 0, 0)
                yield from (heading, *labels)


def tr(text: str) -> str:
    """Translate a text in the context of the summary."""
    return QCoreApplication.translate("PromptSummary", text)


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
    text = tr("All {whole} processed, because nothing of this prompt was in the cache.")
    if cost.reused:
        text = tr("{reused} of {whole} cached, {evaluated} processed.")
    reused, evaluated = locale.toString(cost.reused), locale.toString(cost.evaluated)
    lines = [text.format(reused=reused, whole=format_token_count(cost.evaluated + cost.reused), evaluated=evaluated)]
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
        PromptLayout.LATE: tr(
            "Memories are placed just above your message, and what has a depth stands at it, so the next reply can reuse what "
            "is before them."
        ),
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
