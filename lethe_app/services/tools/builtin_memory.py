"""Tools for a persona's memory: save, search and forget memories, look up dates, set reminders, and plan the week."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, Field

from lethe_app.brain.dreams.enrichment import ENRICHMENT_KEY, PENDING
from lethe_app.brain.recall.session_notes import set_note
from lethe_app.dates.future import is_recurring
from lethe_app.dates.words import MONTH
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.domain.persona import Weekday
from lethe_app.domain.recall import RecalledMemory
from lethe_app.domain.tools import Tool, ToolContext, ToolOutput, ToolSet
from lethe_app.errors import LetheError
from lethe_app.services.memory.lookup import MAX_RESULTS, MemoryLookup
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.memory.working_memory import FROM_WEB, WorkingMemory
from lethe_app.services.personas.inner_life import Week
from lethe_app.services.personas.reminders import Reminders, build_reminder
from lethe_app.services.tools.builtin_small import NoArguments, format_date
from lethe_app.services.untrusted_memories import UntrustedMemories, truncate_to_sentences
from lethe_app.storage.chats.sessions import SessionStore

MADE_BY_TOOL = "tool"
"""Value of `made_by` for memories saved by a tool."""
MAX_CERTAIN_RESULTS, MAX_UNCERTAIN_RESULTS = 8, 3
NOTHING_FILED = "Nothing is filed there. Searched everywhere instead:"
UNSURE_HEADING = "No certain match. The closest results, which may be unrelated:"
MAX_SAVED_CHARACTERS, MAX_LISTED_CHARACTERS = 2000, 280
"""Characters of a memory that is saved, and of one that is listed."""
_DATE = re.compile(r"(\d{4})-(\d{1,2})(?:-(\d{1,2}))?")
Day = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


def _normalize_weekday(day: object) -> object:
    """Normalise a weekday: “today” and an empty value become None, “tomorrow” becomes its weekday."""
    name = str(day or "").strip().casefold()
    tomorrow = list(Weekday)[(now().astimezone().date() + timedelta(days=1)).weekday()]
    return None if name in {"", "today"} else tomorrow.value if name == "tomorrow" else name


class MemorySaveArguments(BaseModel):
    """Arguments of `memory_save`."""

    content: str = Field(min_length=3, description="One or two whole sentences with names instead of “I” and “you”.")
    title: str = Field(default="", description="A few words.")
    filed_under: str = Field(default="", description="A category such as preferences/food, if one fits.")
    tags: list[str] = Field(default_factory=list, max_length=10, description="A few single words, if any fit.")


class SearchArguments(BaseModel):
    """Arguments of `memory_search`."""

    words: str = Field(min_length=1, description="What it is about, in a few words.")
    category: str = Field(
        default="", description="Only from this category and those below it, as memory_categories lists them."
    )
    tags: list[str] = Field(default_factory=list, description="Only what has all of these tags.")


class MemoryByDateArguments(BaseModel):
    """Arguments of `memory_by_date`."""

    day: str = Field(description="A day as 2026-03-14, or a month as 2026-03.")


class SessionNoteArguments(BaseModel):
    """Arguments of `memory_note`."""

    key: str = Field(min_length=1, max_length=60, description="A short name such as current_quest.")
    value: str = Field(default="", max_length=200, description="A few words; empty removes the key.")


class MemoryDeleteArguments(BaseModel):
    """Arguments of `memory_delete`."""

    memory: str = Field(min_length=4, description="Its number, as memory_search shows it, or its exact title.")


class MemoryRemindArguments(BaseModel):
    """Arguments of `memory_remind`."""

    text: str = Field(min_length=1, description="What to remind of.")
    when: str = Field(description="When, such as “tomorrow at 9”, “in two hours” or 2026-12-24 18:30.")


class GetPlanArguments(BaseModel):
    """Arguments of `get_plan`."""

    day: Annotated[Day | None, BeforeValidator(_normalize_weekday)] = Field(
        default=None, description="A weekday; empty is today."
    )


class WeekdayPlanArguments(BaseModel):
    """Arguments of `set_plan`."""

    day: Annotated[Day, BeforeValidator(_normalize_weekday)]
    plan: str = Field(description="What the persona does on that day of the week; empty clears it.")


@dataclass(frozen=True)
class MemoryTools:
    """The tool set `memory`."""

    memory: MemoryService
    memory_lookup: MemoryLookup
    session_store: SessionStore
    reminders: Reminders
    week: Week
    untrusted_memories: UntrustedMemories
    working_memory: WorkingMemory

    def build_tool_set(self) -> ToolSet:
        save_hint = r"\b(?:remember (?:that|this|my|me|it)\b(?!.*\?)|don'?t forget|keep in mind|make a note|note (?:that|down))"
        search_hint = (
            r"\b(?:do|did|can) you (?:still )?(?:remember|recall|know)|\bwhat did (?:i|we)\b|\bhave i (?:told|mentioned)"
        )
        tools = (
            Tool("memory_save", "save a memory", "Keep something about the user or the world for good.",
                 MemorySaveArguments, self.save, changes=True, about=self.describe_save, hint=save_hint),
            Tool("memory_search", "search memories", "Search everything remembered: memories, facts and earlier conversations.",
                 SearchArguments, self.search, hint=search_hint),
            Tool("memory_by_date", "look up a day", "What was talked about and remembered on a day or in a month.",
                 MemoryByDateArguments, self.search_by_date,
                 hint=rf"\b(?:on|in) (?:\d{{4}}|{MONTH})\b.{{0,40}}\?"
                 r"|\b(?:last|that) (?:week|month|day)\b.{0,60}\?"),
            Tool("memory_delete", "forget a memory", "Forget one memory. Search for it first.",
                 MemoryDeleteArguments, self.delete, asks=True, changes=True, about=self.describe_delete,
                 hint=r"\bforget (?:that|about|what)|\bdelete (?:the|that|your) memor"),
            Tool("memory_note", "note a fact of this conversation",
                 "Keep a named fact that matters only in this conversation, such as a quest or a score.",
                 SessionNoteArguments, self.note, changes=True),
            Tool("memory_categories", "list memory categories", "The categories under which memories are filed.",
                 NoArguments, self.list_categories),
            Tool("memory_remind", "set a reminder", "Mention something to the user at a later day or hour.",
                 MemoryRemindArguments, self.remind, changes=True, about=self.describe_reminder,
                 hint=r"\bremind me\b|\bset a reminder\b"),
            Tool("week_get", "check the weekly schedule", "What is planned for a day of the week.",
                 GetPlanArguments, self.get_plan,
                 hint=r"\byour (?:plans?|schedule)\b|\bwhat (?:do|are) you (?:do|doing|planning)\b.{0,20}day\b"),
            Tool("week_set", "change the weekly schedule", "Change what is planned for a day of the week.",
                 WeekdayPlanArguments, self.set_plan, asks=True, changes=True, about=self.describe_plan),
        )  # fmt: skip
        return ToolSet("memory", "Memory", tools)

    async def save(self, context: ToolContext, arguments: MemorySaveArguments) -> ToolOutput:
        memory = MemoryUnit(
            category=MemoryType.GENERAL,
            insertion=MemoryInsertion.TRIGGER,
            name=" ".join(arguments.title.split())[:60],
            content=truncate_to_sentences(arguments.content.strip(), MAX_SAVED_CHARACTERS),
            filed_under=arguments.filed_under.strip().strip("/").casefold()[:200],
            tags=list(dict.fromkeys(word for tag in arguments.tags if (word := tag.strip().lstrip("#")[:40]))),
            made_by=MADE_BY_TOOL,
            metadata={ENRICHMENT_KEY: PENDING},
            sources=await self._build_sources(context),
        )
        stored = await self.memory.memorize(context.persona_id, memory)
        return ToolOutput(f"Saved: {stored.content}", "saved a memory")

    async def search(self, context: ToolContext, arguments: SearchArguments) -> ToolOutput:
        if arguments.category.strip("/ ") or any(tag.strip() for tag in arguments.tags):
            return await self._search_filed(context, arguments)
        reliable = await self._search_memories(context, arguments.words, only_sure=True)
        found = reliable or await self._search_memories(context, arguments.words, only_sure=False)
        own_memories = {memory.guid: memory for memory in await self.memory.memories(context.persona_id)}
        lines = [
            f"- [{str(recollection.memory)[:8]}] "
            f"{await self._format_memory(own_memories[recollection.memory], recollection.text)}"
            if recollection.memory in own_memories
            else f"- {format_line(recollection.title, recollection.text)}"
            for recollection in found
        ]
        if lines and not reliable:
            return ToolOutput("\n".join([UNSURE_HEADING, *lines]), "searched memories: nothing reliable found")
        shown = f"searched memories: {len(lines)} found" if lines else "searched memories: nothing found"
        return ToolOutput("\n".join(lines) or "Nothing of the kind is remembered.", shown)

    async def _search_filed(self, context: ToolContext, arguments: SearchArguments) -> ToolOutput:
        """Search the memories of a category or with tags, best match first. Where there are none, everything is searched,
        because a model may guess a category.
        """
        tags = [tag for tag in arguments.tags if tag.strip()]
        filed = [
            memory
            for memory in await self.memory.memories(context.persona_id)
            if memory.enabled and memory.is_due(now()) and memory.is_filed(arguments.category, tags)
        ]
        if not filed:
            found = await self.search(context, SearchArguments(words=arguments.words))
            return replace(found, text=f"{NOTHING_FILED}\n{found.text}")
        hits = await self.memory_lookup.search(context.persona_id, arguments.words, MAX_RESULTS)
        ranks = {hit.memory: rank for rank, hit in enumerate(hits)}
        best = sorted(filed, key=lambda memory: ranks.get(memory.guid, MAX_RESULTS))[:MAX_CERTAIN_RESULTS]
        lines = [f"- [{str(memory.guid)[:8]}] {await self._format_memory(memory)}" for memory in best]
        if len(filed) > len(best):
            lines.append(f"(and {len(filed) - len(best)} more)")
        return ToolOutput("\n".join(lines), f"searched memories: {len(best)} found")

    async def _search_memories(self, context: ToolContext, text: str, *, only_sure: bool) -> list[RecalledMemory]:
        """Search without the present session, which is in the prompt anyway."""
        recollections = await self.memory_lookup.search(context.persona_id, text, MAX_CERTAIN_RESULTS + 1, only_sure=only_sure)
        return [recollection for recollection in recollections if recollection.memory != context.session_id][
            : MAX_CERTAIN_RESULTS if only_sure else MAX_UNCERTAIN_RESULTS
        ]

    async def search_by_date(self, context: ToolContext, arguments: MemoryByDateArguments) -> ToolOutput:
        first, is_month = parse_day_or_month(arguments.day)

        def is_within(moment: datetime) -> bool:
            day = moment.astimezone().date()
            return (day.year, day.month) == (first.year, first.month) if is_month else day == first

        sessions = [
            session
            for session in await self.session_store.sessions(context.persona_id)
            if is_within(session.started)
            or is_within(session.last_activity)
            or session.started.astimezone().date() <= first <= session.last_activity.astimezone().date()
        ]
        lines: list[str] = []
        for session in sessions[:MAX_CERTAIN_RESULTS]:
            summary = (await self.session_store.session(session.guid)).content
            lines.append(f"- Conversation: {format_line(session.title, summary or session.first_words)}")
        memories = [memory for memory in await self.memory.memories(context.persona_id) if is_within(memory.added)]
        lines += [f"- Memory: {await self._format_memory(memory)}" for memory in memories[:MAX_CERTAIN_RESULTS]]
        period = f"{first:%B %Y}" if is_month else format_date(first)
        return ToolOutput(
            "\n".join([f"{period}:", *lines]) if lines else f"Nothing is known of {period}.", f"looked up {period}"
        )

    async def _build_sources(self, context: ToolContext) -> list[str]:
        """Return the message as source; while web pages are in working memory, in that of tasks as well, their addresses too,
        because the text may stem from them.
        """
        entries = await self.working_memory.entries_below(context.persona_id, "")
        return [
            source_of(context),
            *dict.fromkeys(tag for entry in entries if entry.category == FROM_WEB for tag in entry.tags),
        ]

    async def _format_memory(self, memory: MemoryUnit, text: str = "") -> str:
        """Return a memory in one line; untrusted text is quoted within fences."""
        return await self.untrusted_memories.quote_memory(memory, format_line(memory.name, text or memory.content))

    async def delete(self, context: ToolContext, arguments: MemoryDeleteArguments) -> ToolOutput:
        memory = await self.find_memory(context, arguments.memory)
        if memory.protected:
            raise LetheError("That memory is protected; only the user can delete it.")
        await self.memory.forget_memory(memory.guid)
        return ToolOutput(f"Forgotten: {await self._format_memory(memory)}", "moved a memory to the Trash")

    async def describe_delete(self, context: ToolContext, arguments: MemoryDeleteArguments) -> str:
        memory = await self.find_memory(context, arguments.memory)
        return format_line(memory.name, memory.content)

    async def find_memory(self, context: ToolContext, reference: str) -> MemoryUnit:
        """Return a memory by the beginning of its guid or by its title. Raise LetheError unless exactly one matches."""
        normalized = reference.strip().strip("[]").casefold()
        memories = await self.memory.memories(context.persona_id)
        matches = [
            memory for memory in memories if str(memory.guid).startswith(normalized) or memory.name.casefold() == normalized
        ]
        if len(matches) != 1:
            raise LetheError("There is no such memory." if not matches else "Several memories are called that.")
        return matches[0]

    async def note(self, context: ToolContext, arguments: SessionNoteArguments) -> ToolOutput:
        notes = await self.memory_lookup.load_notes(context.session_id)
        await self.memory_lookup.write_notes(context.session_id, set_note(notes, arguments.key, arguments.value))
        if not arguments.value.strip():
            return ToolOutput(f"Removed: {arguments.key}", f"removed the note “{arguments.key}”")
        return ToolOutput(f"Noted: {arguments.key} = {arguments.value}", f"noted “{arguments.key}”")

    async def list_categories(self, context: ToolContext, _arguments: NoArguments) -> ToolOutput:
        memories = await self.memory.memories(context.persona_id)
        counts = Counter(memory.filed_under or f"({memory.category.value})" for memory in memories)
        lines = [f"- {name}: {count}" for name, count in sorted(counts.items())]
        return ToolOutput("\n".join(lines) or "Nothing is remembered yet.", "listed memory categories")

    async def remind(self, context: ToolContext, arguments: MemoryRemindArguments) -> ToolOutput:
        moment = self.parse_moment(arguments)
        new_reminder, when = build_reminder(arguments.text, moment), format_moment(moment)
        waiting = await self.reminders.reminders_of(context.persona_id)
        source = source_of(context)
        # The message that asked for it may have set it already.
        if any(
            reminder.added == new_reminder.added and (reminder.content == new_reminder.content or source in reminder.sources)
            for reminder in waiting
        ):
            return ToolOutput(f"That reminder was set before, for {when}.", f"found an existing reminder for {when}")
        await self.reminders.create_reminder(context.persona_id, arguments.text, moment, made_by=MADE_BY_TOOL, sources=[source])
        recurrence_note = " It comes once and does not repeat; say so." if is_recurring(arguments.when) else ""
        return ToolOutput(f"The reminder is set for {when}.{recurrence_note}", f"set a reminder for {when}")

    def parse_moment(self, arguments: MemoryRemindArguments) -> datetime | date:
        """Parse the time of a reminder. Raise LetheError unless it is a time in the future."""
        when = self.reminders.parse_date(arguments.when)
        if when is None:
            raise LetheError(
                f"“{arguments.when[:60]}” is not a time in the future.", "Say it as “tomorrow at 9” or 2026-12-24 18:30."
            )
        return when.to_datetime()

    async def describe_save(self, _context: ToolContext, arguments: MemorySaveArguments) -> str:
        """Return the whole text for the permission request, so that nothing is saved that the user could not read before."""
        return (
            f"{arguments.title}: {arguments.content[:MAX_SAVED_CHARACTERS]}"
            if arguments.title
            else arguments.content[:MAX_SAVED_CHARACTERS]
        )

    async def describe_reminder(self, _context: ToolContext, arguments: MemoryRemindArguments) -> str:
        return f"{arguments.text} ({format_moment(self.parse_moment(arguments))})"

    async def describe_plan(self, _context: ToolContext, arguments: WeekdayPlanArguments) -> str:
        return f"{arguments.day.title()}: {arguments.plan.strip() or '–'}"

    async def get_plan(self, context: ToolContext, arguments: GetPlanArguments) -> ToolOutput:
        day = Weekday(arguments.day) if arguments.day else None
        plan = await self.week.load_plan(context.persona_id, day)
        return ToolOutput(plan or "Nothing is planned.", f"checked the schedule for {day.value.title() if day else 'today'}")

    async def set_plan(self, context: ToolContext, arguments: WeekdayPlanArguments) -> ToolOutput:
        previous = await self.week.save_plan(context.persona_id, Weekday(arguments.day), arguments.plan)
        previous_text = f" Before, it was: {previous}" if previous else ""
        return ToolOutput(
            f"{arguments.day.title()} was changed.{previous_text}", f"changed the schedule for {arguments.day.title()}"
        )


def source_of(context: ToolContext) -> str:
    """Return the source of a memory saved by a tool: the message at which it was called, or the session if there is none."""
    session = str(context.session_id)
    return f"session:{session}" if context.turn in {"", session} else f"message:{context.turn}"


def format_moment(moment: datetime | date) -> str:
    """Return a moment such as “Thursday, 24 December 2026, 18:30”."""
    return f"{format_date(moment.date())}, {moment:%H:%M}" if isinstance(moment, datetime) else format_date(moment)


def format_line(title: str, text: str) -> str:
    """Return a memory in one line."""
    short_text = truncate_to_sentences(" ".join(text.split()), MAX_LISTED_CHARACTERS)
    return f"{title}: {short_text}" if title and not short_text.casefold().startswith(title.casefold()) else short_text


def parse_day_or_month(text: str) -> tuple[date, bool]:
    """Return a day, or the first day of a month and True. Day 0 means the month. Raise LetheError."""
    match = _DATE.fullmatch(text.strip())
    try:
        if match is not None:
            day = int(match[3] or 0)
            return date(int(match[1]), int(match[2]), day or 1), not day
    except ValueError:
        pass
    raise LetheError(f"“{text[:40]}” is not a day.", "Days are written as 2026-03-14, months as 2026-03.")
