"""List of facts: its columns, and the six views that filter it."""

from __future__ import annotations

from collections.abc import Callable, Set
from operator import attrgetter
from typing import Any
from uuid import UUID

from PySide6.QtCore import QCoreApplication, QLocale

from lethe_app.domain.facts import STILL_HOLDS, ExtractedFact, FactKind, MadeBy
from lethe_app.services.search.fact_lists import calculate_weight, name_subject
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.labels.dates import format_date
from lethe_app.ui.core.labels.facts import format_kind
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.record_page.filters import Checked, Chip, ChipFilter
from lethe_app.ui.widgets.table_model import Column

SUBJECT = 1
"""Index of the column that the list is sorted by at first: what is known of one person stands together."""


def tr(text: str) -> str:
    """Translate a text in the context of the page; usable before a page exists."""
    return QCoreApplication.translate("Fact", text)


def build_views(core: Set[UUID]) -> ChipFilter[ExtractedFact]:
    """Return the filter by view; `core` are the facts that are in every prompt, which the caller may update in place."""
    return ChipFilter(
        [
            Chip(
                "known",
                tr("Known"),
                lambda fact: not fact.superseded and not fact.in_story,
                tr("Show what the persona knows now"),
            ),
            Chip(
                "pinned",
                tr("Pinned"),
                lambda fact: fact.pinned and not fact.superseded,
                tr("Show the facts you have pinned, which are in every prompt"),
                tr("No pinned facts. Pinned facts are always included in the prompt."),
            ),
            Chip("core", tr("Always included"), lambda fact: fact.guid in core, tr("Show the facts that are in every prompt")),
            Chip(
                "mine",
                tr("Added by you"),
                lambda fact: fact.made_by is MadeBy.USER and not fact.superseded,
                tr("Show the facts you have written or changed"),
                tr("You have not added any facts yet."),
            ),
            Chip(
                "story",
                tr("Roleplay"),
                lambda fact: fact.in_story and not fact.superseded,
                tr("Show what was said in character; it stays in its conversation"),
                tr("No facts from roleplay yet. Facts said in character stay in their conversation."),
            ),
            Chip(
                "replaced",
                tr("Replaced"),
                lambda fact: fact.superseded and fact.superseded_because not in STILL_HOLDS,
                tr("Show what newer facts have replaced"),
                tr("No fact has been replaced by a newer one yet."),
            ),
        ],
        Checked.ONE,
    )


def build_columns(theme: Theme, core: Set[UUID]) -> list[Column[ExtractedFact]]:
    """Return the columns; `core` is read again for every row drawn, so the caller may update it in place."""

    def row_icon(fact: ExtractedFact) -> Any:  # noqa: ANN401 - Qt's own type
        colour = theme.palette.amber if fact.pinned or fact.guid in core else theme.palette.muted
        return load_icon("pin" if fact.pinned else "memory", colour)

    def text_colour(fact: ExtractedFact) -> str:
        return theme.palette.muted if fact.superseded else ""

    one_line: Callable[[ExtractedFact], str] = lambda fact: " ".join(fact.fact.split())  # noqa: E731 - short
    last_seen: Callable[[ExtractedFact], str] = lambda fact: format_date(fact.last_seen.timestamp())  # noqa: E731 - short
    mentions: Callable[[ExtractedFact], str] = lambda fact: str(fact.reference_count)  # noqa: E731 - short
    return [
        # Many facts are long quotations.
        Column(tr("Fact"), one_line, width=0, min_width=480, colour=text_colour, icon=row_icon),
        Column(tr("About"), name_subject, width=128, hides_at=4),
        Column(tr("Type"), format_kind_or_nothing, width=128, hides_at=2, is_optional=True),
        Column(tr("Last seen"), last_seen, attrgetter("last_seen"), width=112, hides_at=3),
        Column(tr("Mentions"), mentions, attrgetter("reference_count"), width=84, hides_at=1, is_right_aligned=True),
    ]


def format_maker(maker: MadeBy) -> str:
    """Return the display name of a fact's author."""
    return {
        MadeBy.RULES: tr("Extracted without a model"),
        MadeBy.MODEL: tr("Extracted by a model"),
        MadeBy.USER: tr("Written by you"),
    }[maker]


def format_weight(fact: ExtractedFact) -> str:
    """Return the weight that decides which facts are in every prompt; empty for a superseded fact."""
    return "" if fact.superseded else QLocale().toString(calculate_weight(fact), "f", 1)


def format_kind_or_nothing(fact: ExtractedFact) -> str:
    """Return the kind of a fact; empty for one of no particular kind."""
    return "" if fact.kind is FactKind.OTHER else format_kind(fact.kind)
