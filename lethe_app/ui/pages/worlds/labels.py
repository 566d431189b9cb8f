"""Display texts of world entries: position, keys, activation reasons and key problems."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.memory import WordLink
from lethe_app.domain.recall import ReasonKind
from lethe_app.domain.worldinfo import WorldEntry
from lethe_app.services.worlds.key_checks import KeyIssue, KeyProblem
from lethe_app.services.worlds.world_trial import TrialEntryResult
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.reason_labels import format_block_reason, format_reason


def tr(text: str) -> str:
    """Translate a text that belongs to no widget."""
    return QCoreApplication.translate("World", text)


def format_position(entry: WorldEntry) -> str:
    """Return the position of an entry in the prompt."""
    if entry.position_index < 0:
        return tr("system prompt")
    if entry.position_index == 0:
        return tr("newest message")
    return format_count(entry.position_index, tr("{n} message up"), tr("{n} messages up"))


def format_keys(entry: WorldEntry) -> str:
    """Return the main keys; without any, “constant”, the secondary keys, or “no keys”."""
    if entry.keywords_main:
        return ", ".join(entry.keywords_main)
    if entry.sticky:
        return tr("constant")
    return ", ".join(entry.keywords_secondary) or tr("no keys")


def link_choices() -> list[tuple[WordLink, str]]:
    """Return the choices of selective logic for primary and secondary keys."""
    return [
        (WordLink.AND, tr("AND ANY: a main key and any secondary key")),
        (WordLink.AND_ALL, tr("AND ALL: a main key and all secondary keys")),
        (WordLink.OR, tr("OR: any key of either list")),
        (WordLink.NOT, tr("NOT ANY: a main key and no secondary key")),
        (WordLink.NOT_ALL, tr("NOT ALL: a main key, but not all secondary keys")),
    ]


def explain_result(tried: TrialEntryResult) -> str:
    """Return why an entry was activated, or why it was not."""
    if tried.reason is None:
        return format_block_reason(tried.block_reason, tried.values) if tried.block_reason is not None else ""
    text = format_reason(tried.reason)
    has_end = tried.until and tried.reason.kind is not ReasonKind.STAYS_UNTIL
    return f"{text}, {tr('until turn {turn}').format(turn=tried.until)}" if has_end else text


def format_key_issue(finding: KeyIssue) -> str:
    """Return the description of a key problem and its effect."""
    texts = {
        KeyProblem.BROKEN: tr("“{key}” never matches: this expression {detail}."),
        KeyProblem.NEVER: tr("“{key}” never matches: it contains no visible characters."),
        KeyProblem.PUNCTUATION: tr("“{key}” is not a word: it matches wherever these characters occur."),
        KeyProblem.FREQUENT: tr("“{key}” occurs in {percent} % of your recent messages: the entry is almost always active."),
        KeyProblem.COMMON: tr("“{key}” occurs in nearly every message: the entry is almost always active."),
        KeyProblem.SHORT: tr(
            "“{key}” is short and matches inside many words. Turn on “Match whole words” or use a longer key."
        ),
        KeyProblem.DUPLICATE: tr("“{key}” also activates “{detail}”."),
        KeyProblem.BLOCKED: tr("“{key}” never activates the entry: wherever it matches, “{detail}” matches too and blocks it."),
        KeyProblem.ONLY_EXCLUSIONS: tr("Only blocking keys are set: the entry is almost always active."),
        KeyProblem.MACRO: tr("{macro} is not a known macro and is sent to the model as it is."),
        KeyProblem.ZERO_PROBABILITY: tr("The probability is 0 %, so the entry is never activated."),
        KeyProblem.EXPIRED: tr("The entry has expired and is no longer activated."),
        KeyProblem.NO_KEYS: tr("The entry has no keys and is not constant, so no message can activate it by key."),
    }
    macro = f"{{{{{finding.detail}}}}}"
    percent = round(finding.share * 100)
    return texts[finding.problem].format(key=finding.key, detail=finding.detail, macro=macro, percent=percent)
