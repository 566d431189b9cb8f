"""Display texts of kinds of facts, and of the reasons why there are none."""

from __future__ import annotations

import re

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.facts import ExtractedFact, FactKind
from lethe_app.services.sessions.editing import FactAbsence, NoFactsReason
from lethe_app.ui.core.formatting import format_count, format_minutes

_ATTRIBUTES_OF_OTHERS = frozenset(("age", "home", "job", "name"))
"""Attributes that facts about relatives and animals have."""
_OWN_ATTRIBUTES = frozenset(("dream job", "middle name"))


def format_kind(kind: FactKind) -> str:
    """Return the display name of a kind of facts, such as “People and pets” or “Work”."""
    tr = QCoreApplication.translate
    return {
        FactKind.IDENTITY: tr("FactKind", "Identity"),
        FactKind.PEOPLE: tr("FactKind", "People and pets"),
        FactKind.HEALTH: tr("FactKind", "Health"),
        FactKind.HOME: tr("FactKind", "Home"),
        FactKind.WORK: tr("FactKind", "Work"),
        FactKind.TASTE: tr("FactKind", "Likes and habits"),
        FactKind.EVENT: tr("FactKind", "Events"),
        FactKind.PLAN: tr("FactKind", "Plans"),
        FactKind.OTHER: tr("FactKind", "Other"),
    }[kind]


def format_attribute(fact: ExtractedFact) -> str:
    """Return the attribute key of a fact in words: “job of Ana” for “ana job”, “name of the cat” for “cat name”."""
    tr = QCoreApplication.translate
    names = {word.casefold(): word for word in re.findall(r"[^\W\d_]+", fact.fact) if word[0].isupper()}
    first_word, _space, rest = fact.key.partition(" ")
    if first_word == "plan" and rest:
        return tr("FactAttribute", "plan: {plan}").format(plan=" ".join(names.get(word, word) for word in rest.split()))
    if rest and first_word in names:
        return tr("FactAttribute", "{attribute} of {name}").format(attribute=rest, name=names[first_word])
    relation, _space, attribute = fact.key.rpartition(" ")
    if relation and attribute in _ATTRIBUTES_OF_OTHERS and fact.key not in _OWN_ATTRIBUTES:
        return tr("FactAttribute", "{attribute} of the {relation}").format(attribute=attribute, relation=relation)
    return fact.key


def format_absence(absence: FactAbsence) -> str:
    """Return why there are no facts, in one or two sentences."""
    tr = QCoreApplication.translate
    if absence.reason is NoFactsReason.LEARNING_OFF:
        return tr("NoFactsReason", "Fact learning is turned off, so no facts are extracted from your conversations.")
    if absence.reason is NoFactsReason.NOTHING_ARCHIVED and absence.minutes:
        text = tr(
            "NoFactsReason",
            "No conversation has ended yet. Facts are extracted when a conversation ends: {silence} after the "
            "last message, or when you start a new one.",
        )
        return text.format(silence=format_minutes(absence.minutes))
    if absence.reason is NoFactsReason.NOTHING_ARCHIVED:
        return tr(
            "NoFactsReason", "No conversation has ended yet. Facts are extracted from a conversation when you start a new one."
        )
    return format_count(
        absence.archived,
        tr("NoFactsReason", "No lasting facts were found in the conversation that has ended."),
        tr("NoFactsReason", "No lasting facts were found in the {n} conversations that have ended."),
    )
