"""The table of facts: its columns, and the six views of it."""

from __future__ import annotations

from collections.abc import Callable, Set
from enum import StrEnum
from operator import attrgetter
from typing import Any
from uuid import UUID

from PySide6.QtCore import QCoreApplication, QLocale

from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.services.search.memory_lists import weight_of
from lethe_app.ui.core.icons import icon
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.facts.labels import kind_in_words
from lethe_app.ui.pages.memories.labels import day_of
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

FACT, KIND, TIMES, FIRST, LAST, BY, WEIGHT = range(7)


class FactListView(StrEnum):
    """Which facts are listed."""

    KNOWN = "known"
    PINNED = "pinned"
    TOLD = "told"
    MINE = "mine"
    STORY = "story"
    REPLACED = "replaced"


def view_in_words(view: FactListView) -> str:
    """What stands on its chip."""
    tr = QCoreApplication.translate
    return {
        FactListView.KNOWN: tr("Fact", "Known"),
        FactListView.PINNED: tr("Fact", "Pinned"),
        FactListView.TOLD: tr("Fact", "Always in mind"),
        FactListView.MINE: tr("Fact", "Yours"),
        FactListView.STORY: tr("Fact", "Story"),
        FactListView.REPLACED: tr("Fact", "Replaced"),
    }[view]


def nothing_in_words(view: FactListView) -> str:
    """What stands in the list while no fact belongs to that view; empty for the default."""
    tr = QCoreApplication.translate
    return {
        FactListView.PINNED: tr("Fact", "Nothing is pinned. A pinned fact is always in mind."),
        FactListView.MINE: tr("Fact", "You have not written any facts yourself yet."),
        FactListView.STORY: tr("Fact", "Nothing has been said in character yet. Facts of a story stay in its conversation."),
        FactListView.REPLACED: tr("Fact", "No fact has been replaced by a newer one yet."),
    }.get(view, "")


def keeper(view: FactListView, core: Set[UUID]) -> Callable[[ExtractedFact], bool]:
    """Lets through what belongs to that view; `core` are the facts in every prompt."""
    return {
        FactListView.KNOWN: lambda fact: not fact.superseded and not fact.in_story,
        FactListView.PINNED: lambda fact: fact.pinned and not fact.superseded,
        FactListView.TOLD: lambda fact: fact.guid in core,
        FactListView.MINE: lambda fact: fact.made_by is MadeBy.USER and not fact.superseded,
        FactListView.STORY: lambda fact: fact.in_story and not fact.superseded,
        FactListView.REPLACED: lambda fact: fact.superseded,
    }[view]


def maker_in_words(maker: MadeBy) -> str:
    """Who put it into words."""
    tr = QCoreApplication.translate
    return {
        MadeBy.RULES: tr("Fact", "the talk itself"),
        MadeBy.MODEL: tr("Fact", "the model"),
        MadeBy.USER: tr("Fact", "you"),
    }[maker]


def rows_of(theme: Theme, core: Set[UUID]) -> FilteredTableModel[ExtractedFact]:
    """`core` is asked whenever a row is drawn."""
    tr = QCoreApplication.translate

    def sign(fact: ExtractedFact) -> Any:  # noqa: ANN401 - Qt's own type
        colour = theme.palette.amber if fact.pinned or fact.guid in core else theme.palette.muted
        return icon("pin" if fact.pinned else "memory", colour)

    def shade(fact: ExtractedFact) -> str:
        return theme.palette.muted if fact.superseded else ""

    columns = [
        Column[ExtractedFact](tr("Fact", "Fact"), _words, width=0, colour=shade, icon=sign),
        Column[ExtractedFact](tr("Fact", "Kind"), lambda fact: kind_in_words(fact.kind), width=88),
        Column[ExtractedFact](tr("Fact", "Said"), _times, sort_key=attrgetter("reference_count"), width=62, right=True),
        Column[ExtractedFact](tr("Fact", "First"), _first, sort_key=attrgetter("first_seen"), width=112),
        Column[ExtractedFact](tr("Fact", "Last"), _last, sort_key=attrgetter("last_seen"), width=112),
        Column[ExtractedFact](tr("Fact", "Worded by"), lambda fact: maker_in_words(fact.made_by), width=124),
        Column[ExtractedFact](tr("Fact", "Weight"), weight_in_words, sort_key=weight_of, width=72, right=True),
    ]
    return FilteredTableModel(columns, key=attrgetter("guid"), searched=attrgetter("fact"))


def weight_in_words(fact: ExtractedFact) -> str:
    """What decides which facts are always in mind; one that was replaced has none."""
    return "" if fact.superseded else QLocale().toString(weight_of(fact), "f", 1)


def _times(fact: ExtractedFact) -> str:
    return str(fact.reference_count)


def _first(fact: ExtractedFact) -> str:
    return day_of(fact.first_seen.timestamp())


def _last(fact: ExtractedFact) -> str:
    return day_of(fact.last_seen.timestamp())


def _words(fact: ExtractedFact) -> str:
    return " ".join(fact.fact.split())
