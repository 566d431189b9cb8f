"""Detail pane of the dreams page: a change with its records before and after, its reason and its actions, or a reply's
feedback; and the display texts of these.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QWidget

from lethe_app.domain.agent_runs import ChangeState, Feedback, RecordedChange, ReplyRating
from lethe_app.domain.changes import AVOID, DROP, INFER, MERGE, RATINGS_TAG, REFINE, ChangedRecord, ChangedRecords, record_text
from lethe_app.domain.memory import MemoryUnit
from lethe_app.services.background.feedback import FeedbackEntry
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.labels.dates import format_date
from lethe_app.ui.core.palette import SPACE_1, SPACE_4
from lethe_app.ui.widgets.card_column import fill_layout
from lethe_app.ui.widgets.detail_pane import DetailPane
from lethe_app.ui.widgets.labels import build_small_label, create_text_label
from lethe_app.ui.widgets.layouts import build_column
from lethe_app.ui.widgets.text_area import TextAreaField

MAX_TITLE_LENGTH = 200
MIN_WIDTH, WIDTH = 300, 420


def tr(text: str) -> str:
    """Translate a text in the context of the dreams page; usable before a page exists."""
    return QCoreApplication.translate("DreamPage", text)


def format_change_kind(kind: str) -> str:
    """Return the display name of a kind of change, such as “Merge”."""
    return {
        MERGE: tr("Merge"),
        REFINE: tr("Categorise"),
        DROP: tr("Remove"),
        INFER: tr("Preference"),
        AVOID: tr("Avoid"),
    }.get(kind, kind)


def format_state(state: ChangeState) -> str:
    """Return the display text of a decided change's state; empty for a pending one, which is listed among such only."""
    return {
        ChangeState.PROPOSED: "",
        ChangeState.APPLIED: tr("applied"),
        ChangeState.REVERTED: tr("undone"),
        ChangeState.DECLINED: tr("declined"),
    }[state]


def change_title(change: RecordedChange) -> str:
    """Return the beginning of the text after a change, or before it if nothing remains, in one line of at most 200
    characters.
    """
    text = ChangedRecords.after(change).text or ChangedRecords.before(change).text
    return " ".join(text.split())[:MAX_TITLE_LENGTH]


def change_reason(change: RecordedChange) -> str:
    """Return the translated reason of a change."""
    number = len(ChangedRecords.before(change).guids)
    if change.what == MERGE:
        return tr("These {n} have the same meaning.").format(n=number)
    if change.what == REFINE:
        return tr("Easier to find in this category.")
    if change.what == DROP:
        return tr("Contains nothing of lasting value.")
    feedback_count = len(source_messages(change))
    if any(RATINGS_TAG in memory.tags for memory in ChangedRecords.after(change).memories):
        return tr("You disliked {n} such replies without giving a reason.").format(n=feedback_count)
    return tr("You said so.") if feedback_count < 2 else tr("You said so {n} times.").format(n=feedback_count)


def source_messages(change: RecordedChange) -> list[str]:
    """Return the GUIDs of the messages from which a preference was inferred."""
    addresses = [address for one in ChangedRecords.after(change).memories for address in one.sources]
    return [address.removeprefix("message:") for address in addresses if address.startswith("message:")]


def record_metadata(record: ChangedRecord) -> str:
    """Return the metadata of a memory or fact in one line: date, number of recalls or mentions, category and tags."""
    if not isinstance(record, MemoryUnit):
        mentions = format_count(record.reference_count, tr("mentioned {n} time"), tr("mentioned {n} times"))
        return " · ".join([tr("Fact"), tr("since {day}").format(day=format_date(record.first_seen.timestamp())), mentions])
    parts = [tr("since {day}").format(day=format_date(record.added.timestamp()))]
    if record.trigger_count:
        parts.append(format_count(record.trigger_count, tr("recalled {n} time"), tr("recalled {n} times")))
    if record.filed_under:
        parts.append(tr("in {category}").format(category=record.filed_under))
    parts += [f"#{tag}" for tag in record.tags]
    if record.needs_permission:
        parts.append(tr("asks before acting"))
    return " · ".join(parts)


def format_feedback(feedback: Feedback) -> str:
    """Return the user's comment in quotation marks, or the rating if there is no comment."""
    if feedback.words:
        return f"“{' '.join(feedback.words.split())}”"
    return tr("Liked") if feedback.verdict is ReplyRating.GOOD else tr("Disliked")


class DreamDetail(DetailPane):
    """Detail pane of the selected change or feedback."""

    def __init__(self, buttons: QWidget) -> None:
        """Create the pane; `buttons` are those of the commands on a change or a reply."""
        super().__init__(tr("Select an item to see the memories before and after."), MIN_WIDTH, WIDTH)
        self.source: RecordedChange | FeedbackEntry | None = None
        """What is on display."""
        self.title, self.reason = create_text_label("", "section"), create_text_label("")
        self.state = build_small_label("")
        self.add_card(self.title, self.state, self.reason, buttons)
        self._before_column, self._after_column = build_column(spacing=SPACE_4), build_column(spacing=SPACE_4)
        self._before_card, column = self.add_card(title=tr("Before"))
        column.addLayout(self._before_column)
        self.field = TextAreaField(tr("New memory text"), 3, 14)
        self._field_help = build_small_label(tr("Edit the text if you like; an edited memory counts as your own."))
        self._after_card, column = self.add_card(self.field, self._field_help, title=tr("After"))
        column.addLayout(self._after_column)

    def show_source(self, source: RecordedChange | FeedbackEntry | None) -> None:
        """Show a change, feedback on a reply, or with None a hint. Text being edited is kept while the change is the same."""
        if source == self.source:
            return
        self.source = source
        self.setCurrentIndex(0 if source is None else 1)
        if isinstance(source, RecordedChange):
            self._show_change(source)
        elif source is not None:
            used = tr("A dream has already used this feedback.") if source.feedback.settled else ""
            self._show_texts(format_feedback(source.feedback), used, source.text or tr("This reply was deleted."))
            self._before_card.hide()
            self._after_card.hide()

    def _show_texts(self, title: str, state: str, reason: str) -> None:
        for label, text in ((self.title, title), (self.state, state), (self.reason, reason)):
            label.setText(text)
            label.setVisible(bool(text))

    def _show_change(self, change: RecordedChange) -> None:
        before, after = ChangedRecords.before(change), ChangedRecords.after(change)
        is_editable = change.state is ChangeState.PROPOSED and after.guids.isdisjoint(before.guids)
        self._show_texts(format_change_kind(change.what), format_state(change.state), change_reason(change))
        before_records: list[ChangedRecord] = [*before.memories, *before.facts]
        fill_layout(self._before_column, map(_build_record_widget, before_records))
        self._before_card.setVisible(bool(before.guids))
        self._show_after(after.valid_records, is_editable=is_editable)

    def _show_after(self, records: Sequence[ChangedRecord], *, is_editable: bool) -> None:
        is_edited_here = is_editable and len(records) == 1
        for widget in (self.field, self._field_help):
            widget.setVisible(is_edited_here)
        if is_edited_here:
            self.field.set_text(record_text(records[0]))
            widgets: list[QWidget] = [build_small_label(record_metadata(records[0]))]
        else:
            widgets = [*map(_build_record_widget, records)] or [build_small_label(tr("Moved to the Trash"))]
        fill_layout(self._after_column, widgets)
        self._after_card.show()

    @property
    def edited_text(self) -> str:
        """Return the text of the edit field; empty where the change has none."""
        return "" if self.field.isHidden() else self.field.text


def _build_record_widget(record: ChangedRecord) -> QWidget:
    widget, text_label = QWidget(), create_text_label(record_text(record))
    text_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    build_column(text_label, build_small_label(record_metadata(record)), spacing=SPACE_1, parent=widget)
    return widget
