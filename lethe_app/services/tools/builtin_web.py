"""Web search tool. It asks for permission before each call, and text of web pages reaches the model only as a quotation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from pydantic import BaseModel, Field

from lethe_app.domain.tools import Tool, ToolContext, ToolOutput, ToolSet
from lethe_app.errors import WebError
from lethe_app.prompt.untrusted_text import Quoter, site_of
from lethe_app.services.tools.builtin_working_memory import FROM_WEB
from lethe_app.services.tools.working_memory import Workbench, of_session
from lethe_app.services.web.gate import WebGate

HEAD = 450
"""Characters of each page that the model receives at once; the whole page is stored in working memory."""
WEB = "web"


class Query(BaseModel):
    """Search query."""

    query: str = Field(min_length=2, max_length=200, description="Words for a search engine, without names of private people.")


@dataclass(frozen=True)
class WebTools:
    """The tool set `web`; unavailable without web access."""

    surfing: WebGate
    bench: Workbench
    quoter: Callable[[], Awaitable[Quoter]]

    def tool_set(self) -> ToolSet:
        search = Tool(
            "web_search",
            "search the internet",
            "Search the internet and read what is found. Use it for news and for facts that you cannot know.",
            Query,
            self.search,
            asks=True,
            seconds=240.0,  # every page has its own, shorter limit
            hint=r"\b(?:search|look up|google)\b|\blook (?:it|that|this) up\b|\b(?:on|in) the (?:internet|web)\b|\bnews\b",
        )
        return ToolSet(WEB, "Internet", (search,), lambda: self.surfing.is_allowed)

    async def search(self, occasion: ToolContext, wish: Query) -> ToolOutput:
        pairs = await self.surfing.look_up(wish.query, f"{occasion.persona} asked to search for it, and you allowed it.")
        if not pairs:
            raise WebError("Nothing was found.")
        quoter, told = await self.quoter(), []
        for number, (_found, page) in enumerate(pairs, 1):
            key = f"web-{occasion.turn[:4]}-{number}"
            place = of_session(occasion.session_id)
            await self.bench.save_entry(place, key, page.text, category=FROM_WEB, tags=[page.address])
            cut = len(page.text) > HEAD
            told.append(quoter.quoted(replace(page, text=page.text[:HEAD], is_cut=page.is_cut or cut)))
            if cut:
                told.append(f"(The whole page lies on the workbench under “{key}”.)")
        sites = ", ".join(dict.fromkeys(site_of(page.address) for _found, page in pairs))
        return ToolOutput("\n\n".join(told), f"searched the internet for “{wish.query}”: {sites}", looked_after=True)
