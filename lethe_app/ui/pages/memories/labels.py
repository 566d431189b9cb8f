"""Display texts of recall modes and of the reasons for a recall."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.list_items import MeaningSearchGap, MemoryLine
from lethe_app.domain.memory import MemoryInsertion, WordLink
from lethe_app.domain.recall import RecalledMemory, RecallWay
from lethe_app.ui.core.formatting import format_number
from lethe_app.ui.core.labels.dates import format_date
from lethe_app.ui.core.reason_labels import format_reason


def format_insertion(mode: MemoryInsertion) -> str:
    """Return the recall mode in a few words for a table."""
    tr = QCoreApplication.translate
    return {
        MemoryInsertion.TRIGGER: tr("Memory", "when relevant"),
        MemoryInsertion.NATURAL: tr("Memory", "once, when relevant"),
        MemoryInsertion.NATURAL_FORCED: tr("Memory", "once, unprompted"),
        MemoryInsertion.USER_RETURN: tr("Memory", "when you return"),
        MemoryInsertion.NONE: tr("Memory", "never"),
    }[mode]


def insertion_as_sentence(mode: MemoryInsertion) -> str:
    """Return the recall mode as a choice of the editor."""
    tr = QCoreApplication.translate
    return {
        MemoryInsertion.TRIGGER: tr("Memory", "When relevant, by meaning or keyword"),
        MemoryInsertion.NATURAL: tr("Memory", "Once, when relevant to the conversation"),
        MemoryInsertion.NATURAL_FORCED: tr("Memory", "Once, when relevant or after a while"),
        MemoryInsertion.USER_RETURN: tr("Memory", "Once, when you return after some hours"),
        MemoryInsertion.NONE: tr("Memory", "Never (stored only)"),
    }[mode]


def link_as_sentence(link: WordLink) -> str:
    """Return the selective logic of primary and secondary keywords as a choice of the editor."""
    tr = QCoreApplication.translate
    return {
        WordLink.AND: tr("Memory", "AND ANY: a keyword and any secondary one"),
        WordLink.AND_ALL: tr("Memory", "AND ALL: a keyword and all secondary ones"),
        WordLink.OR: tr("Memory", "OR: any keyword of either list"),
        WordLink.NOT: tr("Memory", "NOT ANY: a keyword and no secondary one"),
        WordLink.NOT_ALL: tr("Memory", "NOT ALL: a keyword, but not all secondary ones"),
    }[link]


def format_recall_way(way: RecallWay) -> str:
    """Return the way a memory was recalled."""
    tr = QCoreApplication.translate
    return {
        RecallWay.MEANING: tr("Memory", "by meaning"),
        RecallWay.FACT: tr("Memory", "by a fact"),
        RecallWay.KEYWORD: tr("Memory", "by keyword"),
        RecallWay.TITLE: tr("Memory", "by name"),
        RecallWay.CONSTANT: tr("Memory", "always included"),
        RecallWay.ACTIVE: tr("Memory", "still active"),
        RecallWay.WOKEN: tr("Memory", "activated by another entry"),
        RecallWay.NATURAL: tr("Memory", "fits the conversation"),
        RecallWay.FORCED: tr("Memory", "waited long enough"),
        RecallWay.NEWS: tr("Memory", "you asked for news"),
        RecallWay.RETURN: tr("Memory", "saved for your return"),
        RecallWay.TIME: tr("Memory", "you asked about this time"),
        RecallWay.OPENING: tr("Memory", "start of a conversation"),
    }[way]


def format_reasons(recollection: RecalledMemory) -> str:
    """Return why a memory was recalled; the strongest reason first."""
    return " · ".join([format_recall_way(recollection.way), *map(format_reason, recollection.because)])


def format_measured_values(recollection: RecalledMemory) -> str:
    """Return the measured values of the reasons and the score, one per line; empty if nothing was measured."""
    lines = [f"{format_reason(why)}: {format_number(why.value)}" for why in recollection.because if why.value]
    if recollection.score:
        score = QCoreApplication.translate("Memory", "Score {score}, which decides the order")
        lines.append(score.format(score=format_number(recollection.score)))
    return "\n".join(lines)


def format_search_gap(gap: MeaningSearchGap) -> str:
    """Return why a search by meaning finds nothing, and what to do."""
    tr = QCoreApplication.translate
    return {
        MeaningSearchGap.NO_EMBEDDER: tr(
            "Memory",
            "Search by meaning needs the embedding model, which is not loaded. Search by words, or check “Embedding model” "
            "in the settings.",
        ),
        MeaningSearchGap.PENDING: tr(
            "Memory", "The memories are still being prepared for search by meaning. Search again in a moment, or by words."
        ),
        MeaningSearchGap.NOT_INDEXED: tr(
            "Memory",
            "None of these can be found by meaning: reminders and conversations without a summary are found by their words "
            "only.",
        ),
    }[gap]


def format_last_recall(line: MemoryLine) -> str:
    """Return the date of the last recall; an empty string if there was none."""
    return format_date(line.last) if line.times else ""
