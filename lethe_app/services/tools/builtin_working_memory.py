"""Tools for working memory: store a text for some minutes, and read, list and search what is stored."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from pydantic import BaseModel, Field

from lethe_app.domain.tools import Tool, ToolContext, ToolOutput, ToolSet, WorkingMemoryEntry
from lethe_app.domain.web import PageText
from lethe_app.errors import LetheError
from lethe_app.prompt.untrusted_text import UntrustedTextQuoter
from lethe_app.services.tools.builtin_small import NoArguments
from lethe_app.services.tools.working_memory import WorkingMemory, describe_entry, session_namespace

FROM_WEB = "web"
"""Category of untrusted text, which is returned only as a quotation."""
MAX_PIECE_CHARACTERS = 1500
"""Characters returned at once."""


class BenchSaveArguments(BaseModel):
    """Arguments of `bench_save`."""

    key: str = Field(min_length=1, description="A short name.")
    text: str = Field(min_length=1)
    minutes: int = Field(default=5, ge=1, le=1440, description="How long it stays.")


class BenchGetArguments(BaseModel):
    """Arguments of `bench_get`."""

    key: str = Field(min_length=1)
    start: int = Field(default=0, ge=0, description="Number of characters to skip.")


class BenchSearchArguments(BaseModel):
    """Arguments of `bench_search`."""

    words: str = Field(min_length=1)


@dataclass(frozen=True)
class WorkingMemoryTools:
    """The tool set `working_memory`; each session has entries of its own."""

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
            Tool("bench_list", "list working memory", "List the saved texts by key.", NoArguments, self.list),
            Tool("bench_search", "search working memory", "Search the saved texts.", BenchSearchArguments, self.search),
        )
        return ToolSet("bench", "Working memory", tools)

    async def save(self, context: ToolContext, arguments: BenchSaveArguments) -> ToolOutput:
        lifetime = timedelta(minutes=arguments.minutes)
        entry = await self.working_memory.save_entry(
            session_namespace(context.session_id), arguments.key, arguments.text, lifetime=lifetime, category="note"
        )
        return ToolOutput(
            f"Saved under “{entry.key}” for {arguments.minutes} minutes.", f"saved “{entry.key}” to working memory"
        )

    async def get(self, context: ToolContext, arguments: BenchGetArguments) -> ToolOutput:
        entry = await self.working_memory.get(session_namespace(context.session_id), arguments.key)
        if entry is None:
            raise LetheError(f"Nothing is saved under “{arguments.key[:60]}”; it may have expired.")
        piece = entry.value[arguments.start : arguments.start + MAX_PIECE_CHARACTERS]
        end = arguments.start + len(piece)
        more = f"\n({len(entry.value) - end} more characters; continue with start={end}.)" if end < len(entry.value) else ""
        return ToolOutput(
            await self._quote_if_untrusted(entry, piece) + more, f"read “{entry.key}” from working memory", is_limited=True
        )

    async def list(self, context: ToolContext, _arguments: NoArguments) -> ToolOutput:
        entries = await self.working_memory.entries_of(session_namespace(context.session_id))
        return ToolOutput("\n".join(map(describe_entry, entries)) or "Working memory is empty.", "listed working memory")

    async def search(self, context: ToolContext, arguments: BenchSearchArguments) -> ToolOutput:
        found = await self.working_memory.search(session_namespace(context.session_id), arguments.words)
        return ToolOutput("\n".join(map(describe_entry, found)) or "No saved text matches.", "searched working memory")

    async def _quote_if_untrusted(self, entry: WorkingMemoryEntry, piece: str) -> str:
        """Quote untrusted text."""
        if entry.category != FROM_WEB:
            return piece
        address = entry.tags[0] if entry.tags else ""
        return (await self.build_quoter()).quote_page(PageText(address, entry.key, piece))
