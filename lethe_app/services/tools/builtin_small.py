"""Tools without state: date and time, days between dates, dice."""

from __future__ import annotations

import random
import re
from datetime import date, datetime

from pydantic import BaseModel, Field

from lethe_app.dates.future import parse_future_date
from lethe_app.domain.clock import now
from lethe_app.domain.tools import Tool, ToolContext, ToolOutput, ToolSet
from lethe_app.errors import LetheError

_DICE = re.compile(r"(\d{0,3})d(\d{1,4}|%)((?:[+-]\d{1,4})*)")
MAX_DICE, MAX_SIDES = 100, 1000
MAX_SHOWN_DICE = 20


class NoArguments(BaseModel):
    """No arguments."""


class DaysBetweenArguments(BaseModel):
    """Two days."""

    start: str = Field(description="A day, such as 2026-12-24 or “today”.")
    end: str = Field(description="Another day, such as 2027-01-06 or “next Friday”.")


class DiceArguments(BaseModel):
    """Dice notation."""

    dice: str = Field(description="Such as 2d6+3 or d20.")


def build_time_set() -> ToolSet:
    """Return the tool set for date and time."""
    time_tool = Tool(
        "time_now",
        "check the time",
        "The date, the weekday and the time of day. Use it when it matters what day or hour it is.",
        NoArguments,
        _report_time,
        hint=r"\b(?:what|which) (?:time|day|date|year|month|weekday)\b|\bwhat'?s the (?:time|date)\b|\bhow late is it\b",
    )
    days_tool = Tool(
        "time_between",
        "count days",
        "How many days lie between two dates, and on which weekdays they fall.",
        DaysBetweenArguments,
        _count_days,
        hint=r"\bhow (?:many|long) (?:days?|weeks?|until|till|since|ago)\b|\bdays? (?:until|till|since|between)\b",
    )
    return ToolSet("time", "Date and time", (time_tool, days_tool))


def build_dice_set() -> ToolSet:
    """Return the tool set for dice."""
    dice_tool = Tool(
        "dice_roll",
        "roll dice",
        "Roll dice, written as 2d6+3. Use it for every roll of dice and never make up the number yourself.",
        DiceArguments,
        _roll_dice,
        every_time=True,
        hint=r"\b\d{0,3}d\d{1,4}\b|\broll(?:s|ed|ing)?\b.{0,30}\b(?:dice|die|d\d+)\b|\broll for\b|\bdice\b",
    )
    return ToolSet("dice", "Dice", (dice_tool,))


async def _report_time(_context: ToolContext, _arguments: NoArguments) -> ToolOutput:
    moment = now().astimezone()
    return ToolOutput(f"It is {moment:%A}, {moment.day} {moment:%B %Y}, {moment:%H:%M}.", f"checked the time: {moment:%H:%M}")


async def _count_days(_context: ToolContext, arguments: DaysBetweenArguments) -> ToolOutput:
    first, last = _parse_day(arguments.start), _parse_day(arguments.end)
    days = (last - first).days
    sentence = f"From {format_date(first)} to {format_date(last)} it is {abs(days)} day{'' if abs(days) == 1 else 's'}"
    order_note = "; the second day lies before the first" if days < 0 else ""
    return ToolOutput(f"{sentence}{order_note}.", f"counted days: {abs(days)}")


async def _roll_dice(context: ToolContext, arguments: DiceArguments) -> ToolOutput:
    """Roll dice. The seed is the turn, so that all alternatives of a reply get the same result; repeated rolls differ."""
    notation, values, modifier = roll_dice(arguments.dice, f"{context.turn} {arguments.dice} {context.number}")
    total = sum(values) + modifier
    value_list = ", ".join(map(str, values[:MAX_SHOWN_DICE])) + (", …" if len(values) > MAX_SHOWN_DICE else "")
    modifier_text = f" {'+' if modifier > 0 else '-'} {abs(modifier)}" if modifier else ""
    return ToolOutput(f"{notation} rolled {value_list}{modifier_text}: {total} in all.", f"rolled {notation}: {total}")


def roll_dice(dice: str, seed: str) -> tuple[str, list[int], int]:
    """Return the normalised notation, the value of every die and the sum of the modifiers. Raise LetheError if the notation
    is invalid or exceeds the limits.
    """
    # “w” is the German notation (Würfel).
    normalized = dice.casefold().replace(" ", "").replace("w", "d").replace("−", "-")
    match = _DICE.fullmatch(normalized)
    if match is None:
        raise LetheError(f"“{dice[:40]}” is no roll of dice.", "Dice are written as 2d6+3.")
    count, sides = int(match[1] or 1), 100 if match[2] == "%" else int(match[2])
    if not 1 <= count <= MAX_DICE or not 1 <= sides <= MAX_SIDES:
        raise LetheError(f"{count}d{sides} is too much.", f"At most {MAX_DICE} dice of {MAX_SIDES} sides are rolled at once.")
    modifier = sum(int(part) for part in re.findall(r"[+-]\d+", match[3]))
    rng = random.Random(seed)  # noqa: S311 - a game, not a secret
    return normalized, [rng.randint(1, sides) for _die in range(count)], modifier


def _parse_day(day_text: str) -> date:
    """Parse a day. Raise LetheError."""
    text = day_text.strip()
    try:
        return datetime.fromisoformat(text).date()
    except ValueError:
        moment = parse_future_date(text, now().astimezone())
    if moment is None:
        raise LetheError(f"“{text[:60]}” is not a day.", "Days are written as 2026-12-24.")
    return moment.day


def format_date(day: date) -> str:
    """Return a date such as “Thursday, 24 December 2026”."""
    return f"{day:%A}, {day.day} {day:%B %Y}"
