"""Contents of a backup in words, and how they differ from what there is now."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from lethe_app.domain.bundle import BackedUpConversation, BackupContents, BackupKind
from lethe_app.ui.core.formatting import format_count, format_message_count, format_session_title, join_with_and, quote_message
from lethe_app.ui.core.labels.dates import format_date_time

KINDS: dict[BackupKind, str] = {
    BackupKind.DAILY: str(QT_TRANSLATE_NOOP("Backups", "Daily")),
    BackupKind.MANUAL: str(QT_TRANSLATE_NOOP("Backups", "On request")),
    BackupKind.MIGRATION: str(QT_TRANSLATE_NOOP("Backups", "Before an update")),
    BackupKind.REPLACED: str(QT_TRANSLATE_NOOP("Backups", "Before a restore")),
}
"""Title of each kind of backup."""
COUNTED: dict[str, tuple[str, str]] = {
    "personas": (str(QT_TRANSLATE_NOOP("Backups", "{n} persona")), str(QT_TRANSLATE_NOOP("Backups", "{n} personas"))),
    "conversations": (
        str(QT_TRANSLATE_NOOP("Backups", "{n} conversation")),
        str(QT_TRANSLATE_NOOP("Backups", "{n} conversations")),
    ),
    "messages": (str(QT_TRANSLATE_NOOP("Backups", "{n} message")), str(QT_TRANSLATE_NOOP("Backups", "{n} messages"))),
    "memories": (str(QT_TRANSLATE_NOOP("Backups", "{n} memory")), str(QT_TRANSLATE_NOOP("Backups", "{n} memories"))),
    "facts": (str(QT_TRANSLATE_NOOP("Backups", "{n} fact")), str(QT_TRANSLATE_NOOP("Backups", "{n} facts"))),
    "notebooks": (str(QT_TRANSLATE_NOOP("Backups", "{n} notebook")), str(QT_TRANSLATE_NOOP("Backups", "{n} notebooks"))),
    "worlds": (str(QT_TRANSLATE_NOOP("Backups", "{n} world")), str(QT_TRANSLATE_NOOP("Backups", "{n} worlds"))),
    "documents": (str(QT_TRANSLATE_NOOP("Backups", "{n} document")), str(QT_TRANSLATE_NOOP("Backups", "{n} documents"))),
    "presets": (str(QT_TRANSLATE_NOOP("Backups", "{n} preset")), str(QT_TRANSLATE_NOOP("Backups", "{n} presets"))),
}
"""Singular and plural of each kind of record, in the order in which they are listed."""


def tr(text: str) -> str:
    """Translate a text in the context of the page."""
    return QCoreApplication.translate("Backups", text)


def describe_contents(contents: BackupContents) -> str:
    """Return how many records of each kind there are: “2 personas, 5 conversations and 212 messages”."""
    counts = [(contents.counts.get(kind, 0), names) for kind, names in COUNTED.items()]
    return join_with_and([format_count(count, *map(tr, names)) for count, names in counts if count])


def describe_difference(contents: BackupContents, current: BackupContents) -> str:
    """Return how a backup differs from what there is now: “48 messages fewer, 1 fact more”. Kinds that it does not count are
    left out. What there is now has no numbers if it cannot be read.
    """
    if not current.counts:
        return tr("Your data cannot be read now")
    parts = []
    for kind, names in COUNTED.items():
        number = current.counts.get(kind, 0)
        if difference := contents.counts.get(kind, number) - number:
            count = format_count(abs(difference), *map(tr, names))
            parts.append((tr("{count} more") if difference > 0 else tr("{count} fewer")).format(count=count))
    return ", ".join(parts) or tr("Same numbers")


def describe_conversation(conversation: BackedUpConversation, names: Mapping[str, str]) -> str:
    """Return title, persona, time, number of messages and last words of a conversation, in up to three lines."""
    name = names.get(conversation.persona_id, conversation.persona_id.capitalize())
    facts = (name, format_date_time(conversation.last_activity), format_message_count(conversation.messages))
    lines = (format_session_title(conversation.title), " · ".join(facts), quote_message(conversation.last_words))
    return "\n".join(filter(None, lines))
