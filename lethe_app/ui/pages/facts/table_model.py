"""Table model of facts: its columns, and the six views that filter it."""

from __future__ import annotations

from collections.abc import Callable, Set
from enum import StrEnum
from operator import attrgetter
from typing import Any
from uuid import UUID

from PySide6.QtCore import QCoreApplication, QLocale

from lethe_app.domain.facts import ExtractedFact, FactKind, MadeBy
from lethe_app.services.search.fact_lists import calculate_weight, name_subject
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.labels.dates import format_date
from lethe_app.ui.core.labels.facts import format_kind
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

FACT, SUBJECT, KIND, LAST_SEEN, MENTIONS = range(5)


class FactListView(StrEnum):
    """View of the facts list; each lists a subset of the facts."""

    KNOWN = "known"
    PINNED = "pinned"
    CORE = "told"
    MINE = "mine"
    STORY = "story"
    REPLACED = "replaced"


def format_view(view: FactListView) -> str:
    """Return the label of a view's chip."""
    tr = QCoreApplication.translate
    return {
        FactListView.KNOWN: tr("Fact", "Known"),
        FactListView.PINNED: tr("Fact", "Pinned"),
        FactListView.CORE: tr("Fact", "Always included"),
        FactListView.MINE: tr("Fact", "Added by you"),
        FactListView.STORY: tr("Fact", "Roleplay"),
        FactListView.REPLACED: tr("Fact", "Replaced"),
    }[view]


def explain_view(view: FactListView) -> str:
    """Return the tooltip of a view's chip."""
    tr = QCoreApplication.translate
    return {
        FactListView.KNOWN: tr("Fact", "Show what the persona knows now"),
        FactListView.PINNED: tr("Fact", "Show the facts you have pinned, which are in every prompt"),
        FactListView.CORE: tr("Fact", "Show the facts that are in every prompt"),
        FactListView.MINE: tr("Fact", "Show the facts you have written or changed"),
        FactListView.STORY: tr("Fact", "Show what was said in character; it stays in its conversation"),
        FactListView.REPLACED: tr("Fact", "Show what newer facts have replaced"),
    }[view]


def format_empty_view(view: FactListView) -> str:
    """Return the text of an empty view; an empty string where the table's default text applies."""
    tr = QCoreApplication.translate
    return {
        FactListView.PINNED: tr("Fact", "No pinned facts. Pinned facts are always included in the prompt."),
        FactListView.MINE: tr("Fact", "You have not added any facts yet."),
        FactListView.STORY: tr("Fact", "No facts from roleplay yet. Facts said in character stay in their conversation."),
        FactListView.REPLACED: tr("Fact", "No fact has been replaced by a newer one yet."),
    }.get(view, "")


def view_predicate(view: FactListView, core: Set[UUID]) -> Callable[[ExtractedFact], bool]:
    """Return the predicate of a view; `core` are the facts that are in every prompt."""
    return {
        FactListView.KNOWN: lambda fact: not fact.superseded and not fact.in_story,
        FactListView.PINNED: lambda fact: fact.pinned and not fact.superseded,
        FactListView.CORE: lambda fact: fact.guid in core,
        FactListView.MINE: lambda fact: fact.made_by is MadeBy.USER and not fact.superseded,
        FactListView.STORY: lambda fact: fact.in_story and not fact.superseded,
        FactListView.REPLACED: lambda fact: fact.superseded,
    }[view]


def format_maker(maker: MadeBy) -> str:
    """Return the display name of a fact's author."""
    tr = QCoreApplication.translate
    return {
        MadeBy.RULES: tr("Fact", "Extracted without a model"),
        MadeBy.MODEL: tr("Fact", "Extracted by a model"),
        MadeBy.USER: tr("Fact", "Written by you"),
    }[maker]


def build_fact_rows(theme: Theme, core: Set[UUID]) -> FilteredTableModel[ExtractedFact]:
    """Return the table model of facts; `core` is read again for every row drawn, so the caller may update it in place."""
    tr = QCoreApplication.translate

    def row_icon(fact: ExtractedFact) -> Any:  # noqa: ANN401 - Qt's own type
        colour = theme.palette.amber if fact.pinned or fact.guid in core else theme.palette.muted
        return load_icon("pin" if fact.pinned else "memory", colour)

    def text_colour(fact: ExtractedFact) -> str:
        return theme.palette.muted if fact.superseded else ""

    columns = [
        Column[ExtractedFact](tr("Fact", "Fact"), _fact_text, width=0, colour=text_colour, icon=row_icon),
        Column[ExtractedFact](tr("Fact", "About"), name_subject, width=128),
        Column[ExtractedFact](tr("Fact", "Type"), _kind, width=88),
        Column[ExtractedFact](tr("Fact", "Last seen"), _last_seen, sort_key=attrgetter("last_seen"), width=112),
        Column[ExtractedFact](
            tr("Fact", "Mentions"), _mention_count, sort_key=attrgetter("reference_count"), width=84, is_right_aligned=True
        ),
    ]
    return FilteredTableModel(columns, key=attrgetter("guid"), search_text=attrgetter("fact"))


def format_weight(fact: ExtractedFact) -> str:
    """Return the weight that decides which facts are in every prompt; empty for a superseded fact."""
    return "" if fact.superseded else QLocale().toString(calculate_weight(fact), "f", 1)


def _mention_count(fact: ExtractedFact) -> str:
    return str(fact.reference_count)


def _kind(fact: ExtractedFact) -> str:
    return "" if fact.kind is FactKind.OTHER else format_kind(fact.kind)


def _last_seen(fact: ExtractedFact) -> str:
    return format_date(fact.last_seen.timestamp())


def _fact_text(fact: ExtractedFact) -> str:
    return " ".join(fact.fact.split())
