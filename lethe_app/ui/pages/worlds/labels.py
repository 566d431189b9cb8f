"""Says in plain words what the rules of a world decide: where an entry stands, why it came, what kept it back."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.memory import WordLink
from lethe_app.domain.worldinfo import WorldEntry
from lethe_app.services.worlds.key_checks import KeyIssue, KeyProblem
from lethe_app.services.worlds.test_bench import Tried
from lethe_app.ui.core.formatting import counted
from lethe_app.ui.core.phrases import OBSTACLES


def tr(words: str) -> str:
    """Translated; for words that belong to no widget."""
    return QCoreApplication.translate("World", words)


def place_in_words(entry: WorldEntry) -> str:
    """Where it stands in the prompt."""
    if entry.position_index < 0:
        return tr("system prompt")
    if entry.position_index == 0:
        return tr("at the newest")
    return counted(entry.position_index, tr("{n} above"), tr("{n} above"))


def keys_in_words(entry: WorldEntry) -> str:
    """Its main keys; what it has none of is told."""
    if entry.keywords_main:
        return ", ".join(entry.keywords_main)
    if entry.sticky:
        return tr("always there")
    return ", ".join(entry.keywords_secondary) or tr("no keys")


def links() -> list[tuple[WordLink, str]]:
    """What main and other keys mean together, each as the end of “It wakes when …”."""
    return [
        (WordLink.AND, tr("any main key and any of these is said")),
        (WordLink.AND_ALL, tr("any main key and all of these are said")),
        (WordLink.OR, tr("any key of both lists is said")),
        (WordLink.NOT, tr("any main key is said and none of these")),
        (WordLink.NOT_ALL, tr("any main key is said, but not all of these")),
    ]


def why(tried: Tried) -> str:
    """Why it comes, or what keeps it back."""
    return _cause(tried) if tried.cause is not None else _obstacle(tried)


def _cause(tried: Tried) -> str:
    match tried.cause.value if tried.cause is not None else "":
        case "key":
            words = tr("“{key}” is said {where}").format(key=tried.key, where=said_where(tried.before))
        case "constant":
            words = tr("it is always there")
        case "active":
            words = tr("it woke earlier and stays")
        case "recursion":
            words = tr("“{key}” stands in “{entry}”").format(key=tried.key, entry=tried.woken_by)
        case _:
            words = tr("what it waits for was not said")
    return f"{words}, {tr('until turn {turn}').format(turn=tried.until)}" if tried.until else words


def said_where(before: int | None) -> str:
    """In this text, or how long before it."""
    if not before:
        return tr("here")
    return counted(before, tr("in the message before"), tr("{n} messages before"))


def _obstacle(tried: Tried) -> str:
    entry, reason = tried.entry, tried.why.value if tried.why is not None else ""
    percent = round(entry.trigger_chance * 100)
    told = {
        "secondary": _secondary(entry.word_link),
        "chance": tr("the dice were against it: it comes {percent} % of the time").format(percent=percent),
        "cooldown": tr("it has a rest: {detail}"),
        "delay": counted(entry.delay, tr("too early: it waits for {n} message"), tr("too early: it waits for {n} messages")),
        "group": tr("another of its group came: {detail}"),
        "budget": tr("there is no room left: {detail}"),
        "disabled": tr("it is switched off"),
        "not due": tr("not in these days: {detail}"),
        "recursion limit": tr("the words of entries wake no more: {detail}"),
    }
    return told.get(reason, "{detail}").format(detail=OBSTACLES.in_words(tried.detail))


def _secondary(link: WordLink) -> str:
    match link:
        case WordLink.AND_ALL:
            return tr("not all of its other keys were said")
        case WordLink.NOT:
            return tr("one of its other keys was said, which keeps it asleep")
        case WordLink.NOT_ALL:
            return tr("all of its other keys were said, which keeps it asleep")
    return tr("none of its other keys was said")


def finding_in_words(finding: KeyIssue) -> str:
    """What is wrong with a key and what comes of it."""
    told = {
        KeyProblem.BROKEN: tr("“{key}” never wakes it: this expression {detail}."),
        KeyProblem.NEVER: tr("“{key}” never wakes it: there is nothing in it that can be seen."),
        KeyProblem.SIGNS: tr("“{key}” is no word: it wakes it wherever these signs stand."),
        KeyProblem.OFTEN: tr("“{key}” stands in {percent} % of what you said lately: it is nearly always awake."),
        KeyProblem.COMMON: tr("“{key}” is in nearly every message: it is nearly always awake."),
        KeyProblem.SHORT: tr(
            "“{key}” is short and is found inside many words. “Whole words only” would help, or a longer key."
        ),
        KeyProblem.TWIN: tr("“{key}” wakes “{detail}” too."),
        KeyProblem.HELD: tr("“{key}” never wakes it: where it is said, “{detail}” is said too, which keeps it asleep."),
        KeyProblem.ABSENT: tr("It waits only for its other keys not to be said: it is nearly always awake."),
        KeyProblem.MACRO: tr("{macro} means nothing to Lethe; the model would read it as it stands."),
        KeyProblem.LUCKLESS: tr("Its chance is 0 %, so it never comes."),
        KeyProblem.OVER: tr("Its days are over, so it does not come any more."),
        KeyProblem.KEYLESS: tr("It has no keys and is not always there, so no word wakes it."),
    }
    macro = f"{{{{{finding.detail}}}}}"
    percent = round(finding.share * 100)
    return told[finding.trouble].format(key=finding.key, detail=finding.detail, macro=macro, percent=percent)
