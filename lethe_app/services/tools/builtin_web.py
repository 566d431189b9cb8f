"""Web search tool. It asks for permission before each call, and text of web pages reaches the model only as a quotation."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pydantic import BaseModel, Field

from lethe_app.agents.web_reading import WebReader
from lethe_app.domain.tools import Tool, ToolContext, ToolOutput, ToolSet
from lethe_app.errors import WebError
from lethe_app.prompt.untrusted_text import site_of
from lethe_app.services.memory.working_memory import FROM_WEB, WorkingMemory, session_namespace
from lethe_app.services.web.gate import WebGate

MAX_HEAD_CHARACTERS = 450
"""Characters of each page that the model receives at once; the whole page is stored in working memory."""
WEB = "web"


class WebSearchArguments(BaseModel):
    """Search query."""

    query: str = Field(min_length=2, max_length=200, description="Words for a search engine, without names of private people.")


@dataclass(frozen=True)
class WebTools:
    """The tool set `web`; unavailable without web access."""

    web_gate: WebGate
    web_reader: WebReader
    working_memory: WorkingMemory

    def build_tool_set(self) -> ToolSet:
        search = Tool(
            "web_search",
            "search the internet",
            "Search the internet and read what is found. Use it for news and for facts that you cannot know.",
            WebSearchArguments,
            self.search,
            asks=True,
            seconds=240.0,  # every page has its own, shorter limit
            hint=r"\b(?:search|look up|google)\b|\blook (?:it|that|this) up\b|\b(?:on|in) the (?:internet|web)\b|\bnews\b",
        )
        return ToolSet(WEB, "Internet", (search,), lambda: self.web_gate.is_allowed)

    async def search(self, context: ToolContext, arguments: WebSearchArguments) -> ToolOutput:
        reason = f"{context.persona} asked to search for it, and you allowed it."
        hits = await self.web_gate.search(arguments.query, reason)
        read_pages = await self.web_reader.read_hits(hits, reason, keep_short=True)
        # Of the little that the model gets of a page, nothing is left to the engine's description if the page was read.
        pages = [replace(page.whole_text, text=page.text or page.hit.description) for page in read_pages]
        if not pages:
            raise WebError("Nothing was found.")
        quoter, parts = await self.web_reader.build_quoter(), []
        for number, page in enumerate(pages, 1):
            key = f"web-{context.turn[:4]}-{number}"
            await self.working_memory.save_entry(
                context.persona_id,
                session_namespace(context.session_id),
                key,
                page.text,
                category=FROM_WEB,
                tags=[page.address],
            )
            is_too_long = len(page.text) > MAX_HEAD_CHARACTERS
            parts.append(
                quoter.quote_page(replace(page, text=page.text[:MAX_HEAD_CHARACTERS], is_cut=page.is_cut or is_too_long))
            )
            if is_too_long:
                parts.append(f"(The whole page is in working memory under “{key}”.)")
        sites = ", ".join(dict.fromkeys(site_of(page.address) for page in pages))
        return ToolOutput("\n\n".join(parts), f"searched the internet for “{arguments.query}”: {sites}", is_limited=True)
