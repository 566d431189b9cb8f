"""What dreams propose and did, in words: kinds, states, and a record as a person reads it."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.agent_runs import ChangeState, Feedback, RecordedChange, ReplyRating
from lethe_app.domain.changes import AVOID, DROP, INFER, MERGE, REFINE, THUMBS, Kept, Records
from lethe_app.domain.memory import MemoryUnit
from lethe_app.ui.core.formatting import counted
from lethe_app.ui.pages.memories.labels import day_of

LONGEST = 200


def tr(words: str) -> str:
    """The reader's own language, also before there is a page."""
    return QCoreApplication.translate("DreamPage", words)


def what_in_words(what: str) -> str:
    """“Merge”, “Your wish”."""
    return {
        MERGE: tr("Merge"),
        REFINE: tr("File"),
        DROP: tr("Leave out"),
        INFER: tr("Your wish"),
        AVOID: tr("Not again"),
    }.get(what, what)


def state_in_words(state: ChangeState) -> str:
    """What has become of it."""
    return {
        ChangeState.PROPOSED: tr("waits for you"),
        ChangeState.APPLIED: tr("done"),
        ChangeState.REVERTED: tr("taken back"),
        ChangeState.DECLINED: tr("declined"),
    }[state]


def title_of(change: RecordedChange) -> str:
    """What it leads to, or else what it takes away, in one line."""
    text = Records.after(change).text or Records.before(change).text
    return " ".join(text.split())[:LONGEST]


def reason_of(change: RecordedChange) -> str:
    """Why the dream wants it, in the reader's language."""
    number = len(Records.before(change).guids)
    if change.what == MERGE:
        return tr("These {n} say the same.").format(n=number)
    if change.what == REFINE:
        return tr("It is found more easily there.")
    if change.what == DROP:
        return tr("It says nothing that lasts.")
    times = len(messages_of(change))
    if any(THUMBS in one.tags for one in Records.after(change).memories):
        return tr("You gave a thumb down to {n} replies like that, without a word.").format(n=times)
    return tr("You said so.") if times < 2 else tr("You said so {n} times.").format(n=times)


def messages_of(change: RecordedChange) -> list[str]:
    """The messages a wish was heard in, by guid."""
    addresses = [address for one in Records.after(change).memories for address in one.sources]
    return [address.removeprefix("message:") for address in addresses if address.startswith("message:")]


def words_of(record: Kept) -> str:
    """What it says."""
    return record.content if isinstance(record, MemoryUnit) else record.fact


def life_of(record: Kept) -> str:
    """What else there is to be known of it, in one line."""
    if not isinstance(record, MemoryUnit):
        said = counted(record.reference_count, tr("said {n} time"), tr("said {n} times"))
        return " · ".join([tr("Fact"), tr("since {day}").format(day=day_of(record.first_seen.timestamp())), said])
    told = [tr("since {day}").format(day=day_of(record.added.timestamp()))]
    if record.trigger_count:
        told.append(counted(record.trigger_count, tr("came to mind {n} time"), tr("came to mind {n} times")))
    if record.filed_under:
        told.append(tr("in {category}").format(category=record.filed_under))
    told += [f"#{tag}" for tag in record.tags]
    if record.needs_permission:
        told.append(tr("you are asked first"))
    return " · ".join(told)


def verdict_in_words(one: Feedback) -> str:
    """A thumb, or what was said."""
    if one.words:
        return f"“{' '.join(one.words.split())}”"
    return tr("You liked it.") if one.verdict is ReplyRating.GOOD else tr("You did not like it.")
