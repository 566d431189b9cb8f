"""Display texts of moods, dates and goals on the mind page."""

from __future__ import annotations

from datetime import date, datetime

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QDate, QLocale

from lethe_app.domain.clock import now
from lethe_app.domain.mood import Feeling, MoodCause, MoodSample
from lethe_app.services.mood import MoodDimension
from lethe_app.ui.core.formatting import format_age, format_count, join_with_and
from lethe_app.ui.core.labels.dates import format_time
from lethe_app.ui.core.palette import Palette
from lethe_app.ui.core.theme import mix_colours

_CAUSES = {
    MoodCause.START: str(QT_TRANSLATE_NOOP("Mind", "Starting value")),
    MoodCause.REST: str(QT_TRANSLATE_NOOP("Mind", "Time passed")),
    MoodCause.TALK: str(QT_TRANSLATE_NOOP("Mind", "Long conversation")),
    MoodCause.PRAISE: str(QT_TRANSLATE_NOOP("Mind", "You said something kind")),
    MoodCause.HARSH: str(QT_TRANSLATE_NOOP("Mind", "You said something unkind")),
    MoodCause.ASKED: str(QT_TRANSLATE_NOOP("Mind", "You answered a question")),
    MoodCause.NEWS: str(QT_TRANSLATE_NOOP("Mind", "A new conversation began")),
    MoodCause.SESSION: str(QT_TRANSLATE_NOOP("Mind", "Effect of a conversation")),
    MoodCause.HAND: str(QT_TRANSLATE_NOOP("Mind", "Set by you")),
}
_MIDDLE_ADJECTIVES = {
    "energy": str(QT_TRANSLATE_NOOP("Mind", "awake")),
    "cheer": str(QT_TRANSLATE_NOOP("Mind", "content")),
    "curiosity": str(QT_TRANSLATE_NOOP("Mind", "attentive")),
}
"""Adjectives for the middle of a dimension, which the prompt does not mention."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("Mind", text)


def format_adjective(dimension: MoodDimension) -> str:
    """Return the adjective of a mood dimension, also for its middle."""
    return _tr(dimension.adjective or _MIDDLE_ADJECTIVES.get(dimension.id, str(QT_TRANSLATE_NOOP("Mind", "balanced"))))


def describe_mood(name: str, dimensions: list[MoodDimension]) -> str:
    """Return a sentence about the mood, with the dimensions that are not in the middle, or the first two if all are."""
    notable = [dimension for dimension in dimensions if dimension.adjective] or dimensions[:2]
    adjectives = [format_adjective(dimension) for dimension in notable]
    if not adjectives:
        return ""
    return _tr("{name} feels {mood}").format(name=name, mood=join_with_and(adjectives))


def format_cause(feeling: Feeling) -> str:
    """Return why and when a mood dimension last changed."""
    cause_text = _CAUSES.get(MoodCause(feeling.why)) if feeling.why in set(MoodCause) else None
    cause = _tr(cause_text) if cause_text else feeling.why
    return cause if feeling.why == MoodCause.START else f"{cause} · {format_age(feeling.since, now())}"


def mood_colours(palette: Palette) -> tuple[str, ...]:
    """Return the line colours of the mood dimensions, in their order; amber is reserved for memory."""
    rose = mix_colours(palette.danger, palette.water, 0.35)
    return (palette.good, palette.water, rose, palette.muted, palette.text)


def format_change(title: str, samples: list[MoodSample], dimension_id: str) -> str:
    """Return the change over the samples, such as “Cheer from 50 to 72 of 100”, for screen readers."""
    values = [sample.values[dimension_id] for sample in samples if dimension_id in sample.values]
    if not values:
        return ""
    first, last = round(values[0] * 100), round(values[-1] * 100)
    return _tr("{dimension} from {first} to {last} of 100").format(dimension=title, first=first, last=last)


def format_weekday(day: date) -> str:
    """Return a date such as “Friday, 27 November”; the year is added only if it is not the current one."""
    date_format = "dddd, d MMMM" if day.year == now().astimezone().year else "dddd, d MMMM yyyy"
    return QLocale().toString(QDate(day.year, day.month, day.day), date_format)


def format_due_date(moment: datetime) -> str:
    """Return the due date of a reminder, with the time unless that is midnight; “Due” if the date is in the past."""
    local = moment.astimezone()
    days = (local.date() - now().astimezone().date()).days
    relative_day = {0: _tr("Today"), 1: _tr("Tomorrow")}.get(days)
    day = relative_day or (_tr("Due") if days < 0 else format_weekday(local.date()))
    at_midnight = (local.hour, local.minute) == (0, 0)
    return day if at_midnight or days < 0 else f"{day}, {format_time(moment)}"


def format_expiry(days: int | None) -> str:
    """Return the time until a goal expires; None means never."""
    if days is None:
        return _tr("Stays until you delete it")
    if days == 0:
        return _tr("Expires today")
    return format_count(days, _tr("Expires in {n} day"), _tr("Expires in {n} days"))
