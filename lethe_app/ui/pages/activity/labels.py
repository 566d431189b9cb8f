"""Display texts of task runs: progress, cost, created items, and why no task is running now."""

from __future__ import annotations

from datetime import timedelta

from PySide6.QtCore import QCoreApplication, QLocale

from lethe_app.config.settings import Settings
from lethe_app.domain.agent_runs import PlannedTask, ProducedKind, TaskRun
from lethe_app.domain.clock import now
from lethe_app.services.background.activity_log import ActivityEntry
from lethe_app.ui.core.formatting import format_count, format_token_count
from lethe_app.ui.core.labels.dates import format_date_time, format_duration, format_time


def _tr(text: str) -> str:
    return QCoreApplication.translate("ActivityPage", text)


def format_running_entry(entry: ActivityEntry) -> str:
    """Return a running task as “persona: task – progress”."""
    return " – ".join(filter(None, (f"{entry.persona}: {entry.title}", entry.step)))


def format_cost(run: TaskRun) -> str:
    """Return the tokens and the duration of a run; parts that are not known yet, or below a second, are left out."""
    parts = [format_token_count(run.tokens)] if run.tokens else []
    if run.ended is not None and run.ended - run.began >= timedelta(seconds=1):
        parts.append(format_duration(run.ended - run.began))
    return " · ".join(parts)


def format_spent(tokens: int, time: timedelta, settings: Settings) -> str:
    """Return the tokens and minutes a persona has used today, with the daily limits from the settings where there are any."""
    minutes = round(time.total_seconds() / 60)
    max_tokens, max_minutes = settings.agent_day_tokens, settings.agent_day_minutes
    format_number = QLocale().toString
    tokens_text = (
        _tr("{n} of {most} tokens").format(n=format_number(tokens), most=format_number(max_tokens))
        if max_tokens
        else format_token_count(tokens)
    )
    minutes_text = (
        _tr("{n} of {most} minutes").format(n=minutes, most=max_minutes)
        if max_minutes
        else format_count(minutes, _tr("{n} minute"), _tr("{n} minutes"))
    )
    return _tr("Today: {read}, {worked}.").format(read=tokens_text, worked=minutes_text)


def explain_hindrance(reason: str | None, settings: Settings) -> str:
    """Return why no task is started now, or that due tasks are running if `reason` is None."""
    minutes = format_count(settings.agent_idle_minutes, _tr("{n} minute"), _tr("{n} minutes"))
    quiet_until = settings.agent_quiet_until or "00:00"
    return {
        "off": _tr("Background activity is turned off in the settings."),
        "here": _tr("Tasks start after you have been away for {minutes}.").format(minutes=minutes),
        "quiet": _tr("Quiet hours: no tasks start until {until}.").format(until=quiet_until),
        "battery": _tr("No tasks start while the computer runs on battery."),
    }.get(reason or "", _tr("You are away; due tasks are running now."))


def format_due(task: PlannedTask, *, is_on: bool) -> str:
    """Return when a task runs next, or what it lacks; `is_on` is whether the persona has background activity."""
    if task.missing:
        return {
            "model": _tr("needs a model that has passed the quality test"),
            "facts": _tr("needs a model that may extract facts"),
            "web": _tr("needs internet search"),
        }[task.missing]
    if task.due is None:
        return _tr("as soon as you are away") if is_on else _tr("once it is turned on")
    days = (task.due.astimezone().date() - now().astimezone().date()).days
    if days in {0, 1}:
        text = _tr("tomorrow from {time}") if days else _tr("today from {time}")
        return text.format(time=format_time(task.due))
    return _tr("from {date}").format(date=format_date_time(task.due))


def format_usual_cost(task: PlannedTask) -> str:
    """Return the mean cost of the task's runs so far."""
    if not task.tokens:
        return ""
    return " · ".join((format_token_count(task.tokens), format_duration(task.time)))


def explain_plan(name: str, *, is_on: bool) -> str:
    """Return a sentence above the planned tasks."""
    if is_on:
        return _tr("{name} runs these one at a time, and stops the moment you return.").format(name=name)
    return _tr("Background activity is off: {name} runs none of these until you turn it on.").format(name=name)


def format_kind(kind: ProducedKind) -> str:
    """Return the display name of a kind of created item."""
    return {
        ProducedKind.MEMORY: _tr("Memory"),
        ProducedKind.FACT: _tr("Fact"),
        ProducedKind.NOTE: _tr("Note for your return"),
        ProducedKind.CHANGE: _tr("Change"),
        ProducedKind.NOTEBOOK: _tr("Notebook"),
        ProducedKind.PERSONA: _tr("Persona"),
        ProducedKind.REPORT: _tr("Report"),
    }[kind]
