"""Display texts of dream changes: kind, state, reason, and a record as plain text."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.agent_runs import ChangeState, Feedback, RecordedChange, ReplyRating
from lethe_app.domain.changes import AVOID, DROP, INFER, MERGE, RATINGS_TAG, REFINE, ChangedRecord, ChangedRecords
from lethe_app.domain.memory import MemoryUnit
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.labels.dates import format_date

MAX_TITLE_LENGTH = 200


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
