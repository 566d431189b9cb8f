"""What happened while the user was away, in words: how it ended, what it cost, what it made, and why nothing happens now."""

from __future__ import annotations

from datetime import datetime, timedelta

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale

from lethe_app.config.settings import Settings
from lethe_app.domain.agent_runs import MadeKind, RunOutcome, TaskRun
from lethe_app.domain.clock import now
from lethe_app.services.background.activity_log import Underway
from lethe_app.ui.core.formatting import age_in_words, counted, tokens_in_words


def _tr(words: str) -> str:
    return QCoreApplication.translate("AwayPage", words)


def outcome_in_words(run: TaskRun) -> str:
    """How it ended, in a word or two."""
    if run.undone:
        return _tr("Taken back")
    if run.outcome is None:
        return _tr("Under way")
    return {
        RunOutcome.MADE: _tr("Done"),
        RunOutcome.NOTHING: _tr("Nothing to do"),
        RunOutcome.GAVE_WAY: _tr("Made way for you"),
        RunOutcome.STOPPED: _tr("Stopped by you"),
        RunOutcome.FAILED: _tr("Did not work"),
        RunOutcome.LOST: _tr("Cut off: Lethe ended"),
    }[run.outcome]


def underway_in_words(one: Underway) -> str:
    """Who does what, and how far it is."""
    return " – ".join(filter(None, (f"{one.persona}: {one.title}", one.words)))


def what_came(run: TaskRun) -> str:
    """One line: what was done, or why not."""
    return run.summary or run.trouble or outcome_in_words(run)


def day_in_words(moment: datetime) -> str:
    """“today”, “yesterday”, and so on."""
    return age_in_words(moment, now())


def clock_in_words(moment: datetime) -> str:
    """The hour by the clock here."""
    local = QDateTime.fromSecsSinceEpoch(int(moment.timestamp()))
    return QLocale().toString(local.time(), QLocale.FormatType.ShortFormat)


def lasted_in_words(span: timedelta) -> str:
    """“40 s”, “3 min”."""
    seconds = round(span.total_seconds())
    if seconds < 60:
        return _tr("{n} s").format(n=seconds)
    return _tr("{n} min").format(n=round(seconds / 60))


def cost_in_words(run: TaskRun) -> str:
    """Tokens and time, as far as there is something to tell."""
    parts = [tokens_in_words(run.tokens)] if run.tokens else []
    if run.ended is not None:
        parts.append(lasted_in_words(run.ended - run.began))
    return " · ".join(parts)


def spent_in_words(tokens: int, time: timedelta, settings: Settings) -> str:
    """What a persona has used of her day."""
    minutes = round(time.total_seconds() / 60)
    most, longest = settings.agent_day_tokens, settings.agent_day_minutes
    number = QLocale().toString
    read = _tr("{n} of {most} tokens").format(n=number(tokens), most=number(most)) if most else tokens_in_words(tokens)
    worked = (
        _tr("{n} of {most} minutes").format(n=minutes, most=longest)
        if longest
        else counted(minutes, _tr("{n} minute"), _tr("{n} minutes"))
    )
    return _tr("Today: {read}, {worked}.").format(read=read, worked=worked)


def hindrance_in_words(hindrance: str | None, settings: Settings) -> str:
    """Why nothing is begun now; what follows when something may be."""
    minutes = counted(settings.agent_idle_minutes, _tr("{n} minute"), _tr("{n} minutes"))
    until = settings.agent_quiet_until or "00:00"
    return {
        "off": _tr("All of it is switched off in the settings."),
        "here": _tr("It begins when you have been away for {minutes}.").format(minutes=minutes),
        "quiet": _tr("Nothing is begun until {until}.").format(until=until),
        "battery": _tr("Nothing is begun while the computer runs on its battery."),
    }.get(hindrance or "", _tr("You are away; what is due is done now."))


def kind_in_words(kind: MadeKind) -> str:
    """What it left behind."""
    return {
        MadeKind.MEMORY: _tr("Memory"),
        MadeKind.FACT: _tr("Fact"),
        MadeKind.NOTE: _tr("To tell you on your return"),
        MadeKind.CHANGE: _tr("Change"),
        MadeKind.NOTEBOOK: _tr("Notebook"),
        MadeKind.PERSONA: _tr("Their own file"),
        MadeKind.REPORT: _tr("Report"),
    }[kind]
