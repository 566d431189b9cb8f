"""Tools for working memory: store a text for some minutes, and read, list and search what is stored."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from pydantic import BaseModel, Field

from lethe_app.domain.tools import Tool, ToolContext, ToolOutput, ToolSet, WorkingMemoryEntry
from lethe_app.domain.web import PageText
from lethe_app.errors import LetheError
from lethe_app.prompt.untrusted_text import UntrustedTextQuoter
from lethe_app.services.memory.working_memory import FROM_WEB, WorkingMemory, describe_entry, session_namespace

MAX_PIECE_CHARACTERS = 1500
"""Characters returned at once."""
NOTE = "note"
"""Category of what a tool saved."""


class BenchSaveArguments(BaseModel):
    """Arguments of `bench_save`."""

    key: str = Field(min_length=1, description="A short name.")
    text: str = Field(min_length=1)
    minutes: int = Field(default=5, ge=1, le=1440, description="How long it stays.")
    category: str = Field(default=NOTE, max_length=40, description="A word for its kind.")
    tags: list[str] = Field(default_factory=list, max_length=10)


class BenchGetArguments(BaseModel):
    """Arguments of `bench_get`."""

    key: str = Field(min_length=1, description="A key, or the full key of a task such as task/research/tides.")
    start: int = Field(default=0, ge=0, description="Number of characters to skip.")


class BenchListArguments(BaseModel):
    """Arguments of `bench_list`."""

    namespace: str = Field(default="", description="Empty for this conversation, task for what tasks found.")


class BenchSearchArguments(BaseModel):
    """Arguments of `bench_search`."""

    words: str = Field(default="", description="Words to look for.")
    category: str = ""
    tags: list[str] = Field(default_factory=list)
    namespace: str = Field(default="", description="Empty for this conversation, task for what tasks found.")


@dataclass(frozen=True)
class WorkingMemoryTools:
    """The tool set `working_memory`. Each session has entries of its own; those of the persona's other sessions and of its
    tasks can be read.
    """

    working_memory: WorkingMemory
    build_quoter: Callable[[], Awaitable[UntrustedTextQuoter]]

    def build_tool_set(self) -> ToolSet:
        tools = (
            Tool(
                "bench_save",
                "save something to working memory",
                "Save a longer text for some minutes.",
                BenchSaveArguments,
                self.save,
            ),
            Tool(
                "bench_get",
                "read from working memory",
                "Read the text saved under a key.",
                BenchGetArguments,
                self.get,
            ),
            Tool("bench_list", "list working memory", "List the saved texts by key.", BenchListArguments, self.list),
            Tool("bench_search", "search working memory", "Search the saved texts.", BenchSearchArguments, self.search),
        )
        return ToolSet("bench", "Working memory", tools)

    async def save(self, context: ToolContext, arguments: BenchSaveArguments) -> ToolOutput:
        # A text is not trusted just because a call says so, nor quoted as a page that it does not come from.
        category = NOTE if arguments.category.strip().casefold() == FROM_WEB else arguments.category
        entry = await self.working_memory.save_entry(
            context.persona_id,
            session_namespace(context.session_id),
            arguments.key,
            arguments.text,
            lifetime=timedelta(minutes=arguments.minutes),
            category=category,
            tags=arguments.tags,
        )
        return ToolOutput(
            f"Saved under “{entry.key}” for {arguments.minutes} minutes.", f"saved “{entry.key}” to working memory"
        )

    async def get(self, context: ToolContext, arguments: BenchGetArguments) -> ToolOutput:
        own_namespace = session_namespace(context.session_id)
        entry = await self.working_memory.get(context.persona_id, own_namespace, arguments.key)
        if entry is None:
            raise LetheError(f"Nothing is saved under “{arguments.key[:60]}”; it may have expired.")
        piece = entry.value[arguments.start : arguments.start + MAX_PIECE_CHARACTERS]
        end = arguments.start + len(piece)
        more = f"\n({len(entry.value) - end} more characters; continue with start={end}.)" if end < len(entry.value) else ""
        return ToolOutput(
            await self._quote_if_untrusted(entry, piece) + more, f"read “{entry.key}” from working memory", is_limited=True
        )

    async def list(self, context: ToolContext, arguments: BenchListArguments) -> ToolOutput:
        prefix = arguments.namespace or session_namespace(context.session_id)
        entries = await self.working_memory.entries_below(context.persona_id, prefix)
        text = format_entries(entries, session_namespace(context.session_id))
        return ToolOutput(text or "Working memory is empty.", "listed working memory")

    async def search(self, context: ToolContext, arguments: BenchSearchArguments) -> ToolOutput:
        if not (arguments.words.strip() or arguments.category.strip() or arguments.tags):
            raise LetheError("A search needs words, a category or tags.")
        prefix = arguments.namespace or session_namespace(context.session_id)
        found = await self.working_memory.search(
            context.persona_id, prefix, arguments.words, category=arguments.category, tags=arguments.tags
        )
        text = format_entries(found, session_namespace(context.session_id))
        return ToolOutput(text or "No saved text matches.", "searched working memory")

    async def _quote_if_untrusted(self, entry: WorkingMemoryEntry, piece: str) -> str:
        """Quote untrusted text."""
        if entry.category != FROM_WEB:
            return piece
        address = entry.tags[0] if entry.tags else ""
        return (await self.build_quoter()).quote_page(PageText(address, entry.key, piece))


def format_entries(entries: Sequence[WorkingMemoryEntry], own_namespace: str) -> str:
    """Return one line per entry; those of other namespaces with their full path."""
    return "\n".join(describe_entry(one, "" if one.namespace == own_namespace else one.path) for one in entries)
