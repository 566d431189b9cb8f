"""Display texts of recall modes and of the reasons for a recall."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.list_items import MeaningSearchGap
from lethe_app.domain.memory import MemoryInsertion, WordLink
from lethe_app.domain.recall import RecalledMemory, RecallWay
from lethe_app.ui.core.formatting import format_number
from lethe_app.ui.core.reason_labels import format_reason


def tr(text: str) -> str:
    """Translate a text in the context of the page; usable before a page exists."""
    return QCoreApplication.translate("Memory", text)


def format_insertion(mode: MemoryInsertion) -> str:
    """Return the recall mode in a few words for a table."""
    return {
        MemoryInsertion.TRIGGER: tr("when relevant"),
        MemoryInsertion.NATURAL: tr("once, when relevant"),
        MemoryInsertion.NATURAL_FORCED: tr("once, unprompted"),
        MemoryInsertion.USER_RETURN: tr("when you return"),
        MemoryInsertion.NONE: tr("never"),
    }[mode]


def insertion_as_sentence(mode: MemoryInsertion) -> str:
    """Return the recall mode as a choice of the editor."""
    return {
        MemoryInsertion.TRIGGER: tr("When relevant, by meaning or keyword"),
        MemoryInsertion.NATURAL: tr("Once, when relevant to the conversation"),
        MemoryInsertion.NATURAL_FORCED: tr("Once, when relevant or after a while"),
        MemoryInsertion.USER_RETURN: tr("Once, when you return after some hours"),
        MemoryInsertion.NONE: tr("Never (stored only)"),
    }[mode]


def link_as_sentence(link: WordLink) -> str:
    """Return the selective logic of primary and secondary keywords as a choice of the editor."""
    return {
        WordLink.AND: tr("AND ANY: a keyword and any secondary one"),
        WordLink.AND_ALL: tr("AND ALL: a keyword and all secondary ones"),
        WordLink.OR: tr("OR: any keyword of either list"),
        WordLink.NOT: tr("NOT ANY: a keyword and no secondary one"),
        WordLink.NOT_ALL: tr("NOT ALL: a keyword, but not all secondary ones"),
    }[link]


def format_recall_way(way: RecallWay) -> str:
    """Return the way a memory was recalled."""
    return {
        RecallWay.MEANING: tr("by meaning"),
        RecallWay.FACT: tr("by a fact"),
        RecallWay.KEYWORD: tr("by keyword"),
        RecallWay.TITLE: tr("by name"),
        RecallWay.CONSTANT: tr("always included"),
        RecallWay.ACTIVE: tr("still active"),
        RecallWay.WOKEN: tr("activated by another entry"),
        RecallWay.NATURAL: tr("fits the conversation"),
        RecallWay.FORCED: tr("waited long enough"),
        RecallWay.NEWS: tr("you asked for news"),
        RecallWay.RETURN: tr("saved for your return"),
        RecallWay.TIME: tr("you asked about this time"),
        RecallWay.OPENING: tr("start of a conversation"),
    }[way]


def format_reasons(recollection: RecalledMemory) -> str:
    """Return why a memory was recalled; the strongest reason first."""
    return " · ".join([format_recall_way(recollection.way), *map(format_reason, recollection.because)])


def format_measured_values(recollection: RecalledMemory) -> str:
    """Return the measured values of the reasons and the score, one per line; empty if nothing was measured."""
    lines = [f"{format_reason(why)}: {format_number(why.value)}" for why in recollection.because if why.value]
    if recollection.score:
        score = tr("Score {score}, which decides the order")
        lines.append(score.format(score=format_number(recollection.score)))
    return "\n".join(lines)


def format_search_gap(gap: MeaningSearchGap) -> str:
    """Return why a search by meaning finds nothing, and what to do."""
    return {
        MeaningSearchGap.NO_EMBEDDER: tr(
            "Search by meaning needs the embedding model, which is not loaded. Search by words, or check “Embedding model” "
            "in the settings."
        ),
        MeaningSearchGap.PENDING: tr(
            "The memories are still being prepared for search by meaning. Search again in a moment, or by words."
        ),
        MeaningSearchGap.NOT_INDEXED: tr(
            "None of these can be found by meaning: reminders and conversations without a summary are found by their words "
            "only."
        ),
    }[gap]
