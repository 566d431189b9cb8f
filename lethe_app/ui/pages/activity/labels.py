"""Display texts of task runs: outcome, duration, cost, created items, and why no task is running now."""

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
    """Return the display text of a run's outcome."""
    if run.undone:
        return _tr("Undone")
    if run.outcome is None:
        return _tr("Running")
    return {
        RunOutcome.MADE: _tr("Done"),
        RunOutcome.NOTHING: _tr("Nothing to do"),
        RunOutcome.GAVE_WAY: _tr("Interrupted"),
        RunOutcome.STOPPED: _tr("Stopped by you"),
        RunOutcome.FAILED: _tr("Failed"),
        RunOutcome.LOST: _tr("Cut off: Lethe was closed"),
    }[run.outcome]


def underway_in_words(one: Underway) -> str:
    """Return a running task as “persona: task – progress”."""
    return " – ".join(filter(None, (f"{one.persona}: {one.title}", one.words)))


def what_came(run: TaskRun) -> str:
    """Return the result of a run in one line: its summary, else its error, else its outcome."""
    return run.summary or run.trouble or outcome_in_words(run)


def day_in_words(moment: datetime) -> str:
    """Return a date relative to now, such as “today” or “yesterday”."""
    return age_in_words(moment, now())


def clock_in_words(moment: datetime) -> str:
    """Return the local time of day in the short format of the locale."""
    local = QDateTime.fromSecsSinceEpoch(int(moment.timestamp()))
    return QLocale().toString(local.time(), QLocale.FormatType.ShortFormat)


def lasted_in_words(span: timedelta) -> str:
    """Return a duration in seconds below one minute, otherwise in minutes: “40 s”, “3 min”."""
    seconds = round(span.total_seconds())
    if seconds < 60:
        return _tr("{n} s").format(n=seconds)
    return _tr("{n} min").format(n=round(seconds / 60))


def cost_in_words(run: TaskRun) -> str:
    """Return the tokens and the duration of a run; parts that are not known yet are left out."""
    parts = [tokens_in_words(run.tokens)] if run.tokens else []
    if run.ended is not None:
        parts.append(lasted_in_words(run.ended - run.began))
    return " · ".join(parts)


def spent_in_words(tokens: int, time: timedelta, settings: Settings) -> str:
    """Return the tokens and minutes a persona has used today, with the daily limits from the settings where there are any."""
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
    """Return why no task is started now, or that due tasks are running if `hindrance` is None."""
    minutes = counted(settings.agent_idle_minutes, _tr("{n} minute"), _tr("{n} minutes"))
    until = settings.agent_quiet_until or "00:00"
    return {
        "off": _tr("Background activity is turned off in the settings."),
        "here": _tr("Tasks start after you have been away for {minutes}.").format(minutes=minutes),
        "quiet": _tr("Quiet hours: no tasks start until {until}.").format(until=until),
        "battery": _tr("No tasks start while the computer runs on battery."),
    }.get(hindrance or "", _tr("You are away; due tasks are running now."))


def kind_in_words(kind: MadeKind) -> str:
    """Return the display name of a kind of created item."""
    return {
        MadeKind.MEMORY: _tr("Memory"),
        MadeKind.FACT: _tr("Fact"),
        MadeKind.NOTE: _tr("Note for your return"),
        MadeKind.CHANGE: _tr("Change"),
        MadeKind.NOTEBOOK: _tr("Notebook"),
        MadeKind.PERSONA: _tr("Persona"),
        MadeKind.REPORT: _tr("Report"),
    }[kind]
