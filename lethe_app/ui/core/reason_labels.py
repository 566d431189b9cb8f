"""Translated reasons: why memories were recalled or blocked, why tokens were evaluated again, and what was cut from the
prompt. The words of recall and blocking are those of `services/memory/reason_words`.
"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QLocale

from lethe_app.domain.prompt import CacheMiss, CutReason, PrefillCost, PromptCut
from lethe_app.domain.recall import BlockReason, Parameter, Reason
from lethe_app.services.memory.reason_words import block_template, fill_template, reason_template

REASON_CONTEXT, BLOCK_CONTEXT = "Reason", "Obstacle"
"""Translation contexts of the templates in `services.memory.reason_words`."""
_COSTS = {
    CacheMiss.ELSEWHERE: QT_TRANSLATE_NOOP("PrefillCost", "another conversation was processed in between"),
    CacheMiss.MESSAGES_LEFT: QT_TRANSLATE_NOOP("PrefillCost", "the oldest messages have left the prompt"),
    CacheMiss.MEMORIES_MOVED: QT_TRANSLATE_NOOP(
        "PrefillCost", "the recalled memories are placed just above the newest message and have moved with it"
    ),
    CacheMiss.MEMORIES_IN_SYSTEM: QT_TRANSLATE_NOOP("PrefillCost", "the recalled memories are placed in the system prompt"),
    CacheMiss.MEMORIES_AMONG_MESSAGES: QT_TRANSLATE_NOOP("PrefillCost", "the recalled memories are placed among the messages"),
    CacheMiss.SPEAKER: QT_TRANSLATE_NOOP("PrefillCost", "a different persona replies"),
    CacheMiss.WORLD: QT_TRANSLATE_NOOP("PrefillCost", "a world entry is placed in the system prompt"),
    CacheMiss.SUMMARIES: QT_TRANSLATE_NOOP("PrefillCost", "the summaries of earlier conversations have changed"),
    CacheMiss.FACTS: QT_TRANSLATE_NOOP("PrefillCost", "the core facts have changed"),
    CacheMiss.MESSAGE_EDITED: QT_TRANSLATE_NOOP("PrefillCost", "a message was changed"),
    CacheMiss.NEWEST_MESSAGE: QT_TRANSLATE_NOOP("PrefillCost", "the newest message has changed"),
    CacheMiss.REPLY: QT_TRANSLATE_NOOP("PrefillCost", "the reply in the prompt differs from what the model generated"),
    CacheMiss.TEMPLATE: QT_TRANSLATE_NOOP("PrefillCost", "the chat template has changed"),
    CacheMiss.PART: QT_TRANSLATE_NOOP("PrefillCost", "the {part} has changed"),
}
_CUTS = {
    CutReason.CAPPED: QT_TRANSLATE_NOOP("Cut", "{lost} of {total} omitted: the section is limited to {share} of the context"),
    CutReason.NO_SPACE: QT_TRANSLATE_NOOP("Cut", "{lost} of {total} omitted: there is no space beside the conversation"),
    CutReason.OLDEST: QT_TRANSLATE_NOOP("Cut", "the oldest {lost} of {total} messages omitted: there is no space for all"),
    CutReason.SUMMARISED: QT_TRANSLATE_NOOP(
        "Cut", "the first {lost} messages of the conversation no longer fit and are replaced by a summary"
    ),
    CutReason.TRUNCATED: QT_TRANSLATE_NOOP(
        "Cut", "the first {lost} messages of the conversation no longer fit and are left out"
    ),
}
_CAPPED_AND_NO_SPACE = QT_TRANSLATE_NOOP(
    "Cut",
    "{lost} of {total} omitted: the section is limited to {share} of the context, and for {no_space} there was no space",
)


def format_reason(reason: Reason) -> str:
    """Return why a memory was recalled."""
    return fill_template(QCoreApplication.translate(REASON_CONTEXT, reason_template(reason)), reason.values)


def format_block_reason(reason: BlockReason, values: Mapping[str, Parameter]) -> str:
    """Return why a memory was blocked, with the numbers of the rule."""
    return fill_template(QCoreApplication.translate(BLOCK_CONTEXT, block_template(reason, values)), values)


def format_cache_miss(cost: PrefillCost) -> str:
    """Return why tokens were evaluated again, as the completion of “… reprocessed because …”."""
    template = str(_COSTS[cost.reason]) if cost.reason is not None else ""
    return QCoreApplication.translate("PrefillCost", template).format(part=cost.part)


def format_cut(cut: PromptCut) -> str:
    """Return what was left out of a part of a prompt, and why."""
    template = str(_CAPPED_AND_NO_SPACE if cut.kind is CutReason.CAPPED and cut.no_space else _CUTS[cut.kind])
    share = QLocale().toString(round(100 * cut.share)) + QLocale().percent()
    text = QCoreApplication.translate("Cut", template)
    return text.format(lost=cut.lost, total=cut.total, share=share, no_space=cut.no_space)
