"""Tools for a persona's memory: save, search and forget memories, look up dates, set reminders, and plan the week."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, Field

from lethe_app.brain.dates.future import is_recurring
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.domain.persona import Weekday
from lethe_app.domain.recall import Recollection
from lethe_app.domain.tools import Tool, ToolContext, ToolOutput, ToolSet
from lethe_app.errors import LetheError
from lethe_app.services.memory.lookup import MemoryLookup
from lethe_app.services.memory.service import Brain
from lethe_app.services.personas.reminders import Reminders, reminder
from lethe_app.services.personas.week import Week
from lethe_app.services.tools.builtin_small import Nothing, spelled
from lethe_app.services.tools.builtin_working_memory import FROM_WEB
from lethe_app.services.tools.working_memory import Workbench, of_session
from lethe_app.services.truncation import shortened
from lethe_app.services.untrusted_memories import UntrustedMemories
from lethe_app.storage.chats.sessions import Chats

TOOL = "tool"
"""Value of `made_by` for memories saved by a tool."""
MOST, FEW = 8, 3
UNSURE = "Nothing is certain to be about that. The nearest there is, which may have nothing to do with it:"
LONGEST, LONGEST_LINE = 2000, 280
"""Characters of a memory that is saved, and of one that is listed."""
_MONTH = re.compile(r"(\d{4})-(\d{1,2})(?:-(\d{1,2}))?")
Day = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


def _meant(day: object) -> object:
    """Normalise a weekday: “today” and an empty value become None, “tomorrow” becomes its weekday."""
    words = str(day or "").strip().casefold()
    tomorrow = list(Weekday)[(now().astimezone().date() + timedelta(days=1)).weekday()]
    return None if words in {"", "today"} else tomorrow.value if words == "tomorrow" else words


class Save(BaseModel):
    """Arguments of `memory_save`."""

    content: str = Field(min_length=3, description="One or two whole sentences with names instead of “I” and “you”.")
    title: str = Field(default="", description="A few words.")
    filed_under: str = Field(default="", description="A category such as preferences/food, if one fits.")


class SearchArguments(BaseModel):
    """Arguments of `memory_search`."""

    words: str = Field(min_length=1, description="What it is about, in a few words.")


class OnDay(BaseModel):
    """Arguments of `memory_by_date`."""

    day: str = Field(description="A day as 2026-03-14, or a month as 2026-03.")


class Which(BaseModel):
    """Arguments of `memory_delete`."""

    memory: str = Field(min_length=4, description="Its number, as memory_search shows it, or its exact title.")


class Remind(BaseModel):
    """Arguments of `memory_remind`."""

    text: str = Field(min_length=1, description="What to remind of.")
    when: str = Field(description="When, such as “tomorrow at 9”, “in two hours” or 2026-12-24 18:30.")


class OfDay(BaseModel):
    """Arguments of `week_get`."""

    day: Annotated[Day | None, BeforeValidator(_meant)] = Field(default=None, description="A weekday; empty is today.")


class WeekdayPlanArguments(BaseModel):
    """Arguments of `week_set`."""

    day: Annotated[Day, BeforeValidator(_meant)]
    plan: str = Field(description="What she does on that day of the week; empty clears it.")


@dataclass(frozen=True)
class MemoryTools:
    """The tool set `memory`."""

    brain: Brain
    lookup: MemoryLookup
    chats: Chats
    reminders: Reminders
    week: Week
    foreign: UntrustedMemories
    bench: Workbench

    def tool_set(self) -> ToolSet:
        remember = r"\b(?:remember (?:that|this|my|me|it)\b(?!.*\?)|don'?t forget|keep in mind|make a note|note (?:that|down))"
        look = r"\b(?:do|did|can) you (?:still )?(?:remember|recall|know)|\bwhat did (?:i|we)\b|\bhave i (?:told|mentioned)"
        tools = (
            Tool("memory_save", "save a memory", "Keep something about the user or the world for good.", Save, self.save,
                 changes=True, about=self.would_keep, hint=remember),
            Tool("memory_search", "search memories", "Search everything remembered: memories, facts and earlier talks.",
                 SearchArguments, self.search, hint=look),
            Tool("memory_by_date", "look up a day", "What was talked about and remembered on a day or in a month.",
                 OnDay, self.by_date, hint=r"\b(?:on|in) (?:\d{4}|january|february|march|april|may|june|july|august"
                 r"|september|october|november|december)\b.{0,40}\?|\b(?:last|that) (?:week|month|day)\b.{0,60}\?"),
            Tool("memory_delete", "forget a memory", "Forget one memory. Search for it first.", Which, self.delete,
                 asks=True, changes=True, about=self.at_stake,
                 hint=r"\bforget (?:that|about|what)|\bdelete (?:the|that|your) memor"),
            Tool("memory_categories", "list memory categories", "The categories under which memories are filed.",
                 Nothing, self.categories),
            Tool("memory_remind", "set a reminder", "Mention something to the user at a later day or hour.",
                 Remind, self.remind, changes=True, about=self.would_remind, hint=r"\bremind me\b|\bset a reminder\b"),
            Tool("week_get", "check the weekly schedule", "What is planned for a day of the week.", OfDay, self.week_get,
                 hint=r"\byour (?:plans?|schedule)\b|\bwhat (?:do|are) you (?:do|doing|planning)\b.{0,20}day\b"),
            Tool("week_set", "change the weekly schedule", "Change what is planned for a day of the week.",
                 WeekdayPlanArguments, self.week_set, asks=True, changes=True, about=self.would_plan),
        )  # fmt: skip
        return ToolSet("memory", "Memory", tools)

    async def save(self, occasion: ToolContext, wish: Save) -> ToolOutput:
        memory = MemoryUnit(
            category=MemoryType.GENERAL,
            insertion=MemoryInsertion.TRIGGER,
            name=" ".join(wish.title.split())[:60],
            content=shortened(wish.content.strip(), LONGEST),
            filed_under=wish.filed_under.strip().strip("/").casefold()[:200],
            made_by=TOOL,
            sources=await self._sources(occasion),
        )
        kept = await self.brain.memorize(occasion.persona_id, memory)
        return ToolOutput(f"Kept: {kept.record.content}", "saved a memory")

    async def search(self, occasion: ToolContext, wish: SearchArguments) -> ToolOutput:
        sure = await self._found(occasion, wish.words, only_sure=True)
        found = sure or await self._found(occasion, wish.words, only_sure=False)
        own = {memory.guid: memory for memory in await self.brain.memories(occasion.persona_id)}
        lines = [
            f"- [{str(one.memory)[:8]}] {await self._told(own[one.memory], one.text)}"
            if one.memory in own
            else f"- {line_of(one.title, one.text)}"
            for one in found
        ]
        if lines and not sure:
            return ToolOutput("\n".join([UNSURE, *lines]), "searched memories: nothing reliable found")
        shown = f"searched memories: {len(lines)} found" if lines else "searched memories: nothing found"
        return ToolOutput("\n".join(lines) or "Nothing of the kind is remembered.", shown)

    async def _found(self, occasion: ToolContext, words: str, *, only_sure: bool) -> list[Recollection]:
        """Search without the present session, which is in the prompt anyway."""
        found = await self.lookup.search(occasion.persona_id, words, MOST + 1, only_sure=only_sure)
        return [one for one in found if one.memory != occasion.session_id][: MOST if only_sure else FEW]

    async def by_date(self, occasion: ToolContext, wish: OnDay) -> ToolOutput:
        first, is_month = day_or_month(wish.day)

        def there(moment: datetime) -> bool:
            day = moment.astimezone().date()
            return (day.year, day.month) == (first.year, first.month) if is_month else day == first

        sessions = [
            one
            for one in await self.chats.sessions(occasion.persona_id)
            if there(one.started) or there(one.last_activity) or one.started.astimezone().date() <= first
            <= one.last_activity.astimezone().date()
        ]  # fmt: skip
        told = [f"- Talk: {line_of(one.title, await self._summary(one.guid, one.first_words))}" for one in sessions[:MOST]]
        held = [one for one in await self.brain.memories(occasion.persona_id) if there(one.added)]
        told += [f"- Memory: {await self._told(one)}" for one in held[:MOST]]
        when = f"{first:%B %Y}" if is_month else spelled(first)
        return ToolOutput("\n".join([f"{when}:", *told]) if told else f"Nothing is known of {when}.", f"looked up {when}")

    async def _sources(self, occasion: ToolContext) -> list[str]:
        """Return the message as source; while web pages are in working memory their addresses too, because the text may stem
        from them.
        """
        there = await self.bench.entries_of(of_session(occasion.session_id))
        return [said_in(occasion), *dict.fromkeys(tag for one in there if one.category == FROM_WEB for tag in one.tags)]

    async def _told(self, memory: MemoryUnit, text: str = "") -> str:
        """Return a memory in one line; untrusted text is quoted within fences."""
        return await self.foreign.quoted_text(memory, line_of(memory.name, text or memory.content))

    async def _summary(self, guid: UUID, otherwise: str) -> str:
        return (await self.chats.session(guid)).content or otherwise

    async def delete(self, occasion: ToolContext, wish: Which) -> ToolOutput:
        memory = await self.named(occasion, wish.memory)
        if memory.protected:
            raise LetheError("That memory is protected; only the user can let it go.")
        await self.brain.forget_memory(memory.guid)
        return ToolOutput(f"Forgotten: {await self._told(memory)}", "moved a memory to the Trash")

    async def at_stake(self, occasion: ToolContext, wish: Which) -> str:
        memory = await self.named(occasion, wish.memory)
        return line_of(memory.name, memory.content)

    async def named(self, occasion: ToolContext, which: str) -> MemoryUnit:
        """Return a memory by the beginning of its guid or by its title. Raise LetheError unless exactly one matches."""
        wanted = which.strip().strip("[]").casefold()
        held = await self.brain.memories(occasion.persona_id)
        found = [one for one in held if str(one.guid).startswith(wanted) or one.name.casefold() == wanted]
        if len(found) != 1:
            raise LetheError("There is no such memory." if not found else "Several memories are called that.")
        return found[0]

    async def categories(self, occasion: ToolContext, _wish: Nothing) -> ToolOutput:
        held = await self.brain.memories(occasion.persona_id)
        counts = Counter(one.filed_under or f"({one.category.value})" for one in held)
        lines = [f"- {name}: {count}" for name, count in sorted(counts.items())]
        return ToolOutput("\n".join(lines) or "Nothing is remembered yet.", "listed memory categories")

    async def remind(self, occasion: ToolContext, wish: Remind) -> ToolOutput:
        moment = self.moment_of(wish)
        wanted, when = reminder(wish.text, moment), in_words(moment)
        waiting = await self.reminders.reminders_of(occasion.persona_id)
        if any((one.content, one.added) == (wanted.content, wanted.added) for one in waiting):
            return ToolOutput(f"That reminder was set before, for {when}.", f"found an existing reminder for {when}")
        await self.reminders.remind(occasion.persona_id, wish.text, moment, made_by=TOOL, sources=[said_in(occasion)])
        once = " It comes once and does not repeat; say so." if is_recurring(wish.when) else ""
        return ToolOutput(f"The reminder is set for {when}.{once}", f"set a reminder for {when}")

    def moment_of(self, wish: Remind) -> datetime | date:
        """Parse the time of a reminder. Raise LetheError unless it is a time in the future."""
        when = self.reminders.understood(wish.when)
        if when is None:
            raise LetheError(f"“{wish.when[:60]}” names no time to come.", "Say it as “tomorrow at 9” or 2026-12-24 18:30.")
        return when.to_datetime()

    async def would_keep(self, _occasion: ToolContext, wish: Save) -> str:
        """Return the whole text for the permission request, so that nothing is saved that the user could not read before."""
        return f"{wish.title}: {wish.content[:LONGEST]}" if wish.title else wish.content[:LONGEST]

    async def would_remind(self, _occasion: ToolContext, wish: Remind) -> str:
        return f"{wish.text} ({in_words(self.moment_of(wish))})"

    async def would_plan(self, _occasion: ToolContext, wish: WeekdayPlanArguments) -> str:
        return f"{wish.day.title()}: {wish.plan.strip() or '–'}"

    async def week_get(self, occasion: ToolContext, wish: OfDay) -> ToolOutput:
        day = Weekday(wish.day) if wish.day else None
        plan = await self.week.plan(occasion.persona_id, day)
        return ToolOutput(plan or "Nothing is planned.", f"checked the schedule for {day.value.title() if day else 'today'}")

    async def week_set(self, occasion: ToolContext, wish: WeekdayPlanArguments) -> ToolOutput:
        before = await self.week.set_plan(occasion.persona_id, Weekday(wish.day), wish.plan)
        was = f" Before, it was: {before}" if before else ""
        return ToolOutput(f"{wish.day.title()} is planned anew.{was}", f"changed the schedule for {wish.day.title()}")


def said_in(occasion: ToolContext) -> str:
    """Return the source of a memory saved by a tool: the message at which it was called, or the session if there is none."""
    session = str(occasion.session_id)
    return f"session:{session}" if occasion.turn in {"", session} else f"message:{occasion.turn}"


def in_words(moment: datetime | date) -> str:
    """Return a moment such as “Thursday, 24 December 2026, 18:30”."""
    return f"{spelled(moment.date())}, {moment:%H:%M}" if isinstance(moment, datetime) else spelled(moment)


def line_of(title: str, text: str) -> str:
    """Return a memory in one line."""
    words = shortened(" ".join(text.split()), LONGEST_LINE)
    return f"{title}: {words}" if title and not words.casefold().startswith(title.casefold()) else words


def day_or_month(words: str) -> tuple[date, bool]:
    """Return a day, or the first day of a month and True. Day 0 means the month. Raise LetheError."""
    found = _MONTH.fullmatch(words.strip())
    try:
        if found is not None:
            day = int(found[3] or 0)
            return date(int(found[1]), int(found[2]), day or 1), not day
    except ValueError:
        pass
    raise LetheError(f"“{words[:40]}” is no day.", "Days are written as 2026-03-14, months as 2026-03.")
