"""Display texts of the data of a message: mode, language, latency, degradations, and the switches of a session."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLocale

from lethe_app.domain.chat import (
    Alternative,
    Degradation,
    DegradationKind,
    Message,
    MessageMode,
    PartState,
    SessionEvent,
    SessionEventKind,
    SwitchTrigger,
)
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.labels.dates import format_date_time
from lethe_app.ui.core.labels.fields import language_name


def _tr(text: str) -> str:
    return QCoreApplication.translate("Message", text)


def displayed_text(message: Message) -> str:
    """Return the text of a message as it is displayed; for one that cannot be read, that it cannot."""
    if not message.is_unreadable:
        return message.content
    return _tr("This message cannot be read: what is stored of it is damaged. A backup may still have it.")


def format_missing_summary(has_ended: bool, state: PartState | None) -> str:
    """Return why a session has no summary; `state` is that of its summary, None if none was ever to be made."""
    if not has_ended:
        return _tr("Not summarised yet. Title, summary and keywords are written when the conversation has ended.")
    if state is PartState.PENDING:
        return _tr("Not summarised yet. Title, summary and keywords are being written in the background.")
    if state is not None:
        return _tr("Nothing to summarise: too little was said that is worth remembering.")
    return _tr("No summary yet. “Edit details” on the page Conversations shows what is missing and can generate it.")


def format_mode(mode: str) -> str:
    """Return how a message was entered."""
    return _tr("spoken") if mode == MessageMode.VOICE else _tr("written")


def format_milliseconds(duration: int) -> str:
    """Return a duration in seconds, with one decimal below ten: “0.4 s”, “12 s”."""
    seconds = duration / 1000
    return _tr("{n} s").format(n=QLocale().toString(seconds, "f", 1 if seconds < 10 else 0))


def format_latency(alternative: Alternative) -> str:
    """Return how long a reply took; empty if it is unknown."""
    if alternative.first_token_ms is None or alternative.total_ms is None:
        return ""
    return _tr("first words after {first}, complete after {total}").format(
        first=format_milliseconds(alternative.first_token_ms), total=format_milliseconds(alternative.total_ms)
    )


def format_degradation(degradation: Degradation) -> str:
    """Return what was left out of a reply, or failed, as a sentence."""
    count, tool = int(degradation.values.get("count", 0)), degradation.values.get("tool", "")
    one_memory, memories = _tr("{n} memory or world entry did not fit."), _tr("{n} memories or world entries did not fit.")
    one_message, messages = (
        _tr("{n} earlier message was not in the prompt."),
        _tr("{n} earlier messages were not in the prompt."),
    )
    return {
        DegradationKind.NO_EMBEDDINGS: _tr("Memories were searched by words only, because no embedding model was ready."),
        DegradationKind.RECALL_FAILED: _tr("Memories could not be read."),
        DegradationKind.MEMORIES_OMITTED: format_count(count, one_memory, memories),
        DegradationKind.MEMORIES_REPEATED: _tr("The model only repeated its memories, so it replied without them."),
        DegradationKind.HISTORY_CUT: format_count(count, one_message, messages),
        DegradationKind.TOOL_FAILED: _tr("The tool “{tool}” failed.").format(tool=tool),
        DegradationKind.MODEL_RESTARTED: _tr("The model had stopped and was started again."),
    }[degradation.kind]


def format_degradations(alternative: Alternative) -> list[str]:
    """Return what was left out of a reply, or failed, one sentence each; also where the reply ended too early."""
    sentences = [format_degradation(degradation) for degradation in alternative.degradations]
    if alternative.is_cut:
        sentences.append(_tr("The reply ended at its maximum length."))
    elif not alternative.complete:
        sentences.append(_tr("The reply was stopped before its end."))
    return sentences


def describe_message(message: Message) -> list[tuple[str, str]]:
    """Return title and value of everything that is known of a message besides its text, without what is unknown. A further
    value under the same title has an empty one.
    """
    current = message.current
    rows = [
        (_tr("From"), message.speaker_name),
        (_tr("Time"), format_date_time(message.time)),
        (_tr("Entered"), "" if current.model else format_mode(message.mode)),
        (_tr("Language"), language_name(current.language) if current.language else _tr("not certain")),
        (_tr("Model"), current.model),
        (_tr("Latency"), format_latency(current)),
        *((_tr("Left out") if not index else "", sentence) for index, sentence in enumerate(format_degradations(current))),
        (_tr("Identifying data"), _tr("An address, number or account was found in the text.") if current.is_sensitive else ""),
    ]
    return [(title, value) for title, value in rows if value]


def format_switch(event: SessionEvent) -> str:
    """Return a switch of mode or language within a session, with its time and cause."""
    name = format_mode if event.kind is SessionEventKind.MODE_SWITCH else language_name
    cause = {
        SwitchTrigger.USER_REQUEST: _tr("at your request"),
        SwitchTrigger.AUTO_DETECTED: _tr("detected"),
        SwitchTrigger.EXPLICIT_SETTING: _tr("by a setting"),
    }[event.trigger]
    text = _tr("{time}: from {before} to {after}, {cause}")
    return text.format(
        time=format_date_time(event.time), before=name(event.before) or _tr("unknown"), after=name(event.after), cause=cause
    )
