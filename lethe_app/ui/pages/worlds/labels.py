"""Display texts of world entries: position, keys, activation reasons and key problems."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.memory import WordLink
from lethe_app.domain.worldinfo import WorldEntry
from lethe_app.services.worlds.key_checks import KeyIssue, KeyProblem
from lethe_app.services.worlds.world_trial import TrialEntryResult
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.reason_labels import format_block_reason


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
    return _explain_entry(tried) if tried.cause is not None else _explain_obstacle(tried)


def _explain_entry(tried: TrialEntryResult) -> str:
    match tried.cause.value if tried.cause is not None else "":
        case "key":
            text = tr("“{key}” matched {where}").format(key=tried.key, where=format_match_position(tried.message_distance))
        case "constant":
            text = tr("constant entry")
        case "active":
            text = tr("still active from earlier (sticky)")
        case "recursion":
            text = tr("“{key}” matched in “{entry}”").format(key=tried.key, entry=tried.activated_by)
        case _:
            text = tr("no blocking key matched")
    return f"{text}, {tr('until turn {turn}').format(turn=tried.until)}" if tried.until else text


def format_match_position(before: int | None) -> str:
    """Return where a key matched: in this text or how many messages earlier."""
    if not before:
        return tr("in this text")
    return format_count(before, tr("in the previous message"), tr("{n} messages earlier"))


def _explain_obstacle(tried: TrialEntryResult) -> str:
    entry, reason = tried.entry, tried.block_reason.value if tried.block_reason is not None else ""
    percent = round(entry.trigger_chance * 100)
    texts = {
        "secondary": _format_secondary(entry.word_link),
        "chance": tr("probability roll failed ({percent} %)").format(percent=percent),
        "cooldown": tr("on cooldown: {detail}"),
        "delay": format_count(entry.delay, tr("delayed: needs {n} message"), tr("delayed: needs {n} messages")),
        "group": tr("another entry of its group was chosen: {detail}"),
        "budget": tr("token budget used up: {detail}"),
        "disabled": tr("disabled"),
        "not due": tr("not due: {detail}"),
        "recursion limit": tr("recursion limit reached: {detail}"),
    }
    detail = format_block_reason(tried.block_reason, tried.values) if tried.block_reason is not None else ""
    return texts.get(reason, "{detail}").format(detail=detail)


def _format_secondary(link: WordLink) -> str:
    match link:
        case WordLink.AND_ALL:
            return tr("not all secondary keys matched")
        case WordLink.NOT:
            return tr("blocked by a matching secondary key")
        case WordLink.NOT_ALL:
            return tr("blocked because all secondary keys matched")
    return tr("no secondary key matched")


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
