"""Read web pages about a subject and merge them into one text that contains only what the pages say."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from lethe_app.brain.llm_schemas.archive import LlmAnswer
from lethe_app.brain.llm_schemas.citation_check import escape_quotation, extract_relevant_sentences, keep_supported_sentences
from lethe_app.brain.llm_schemas.web import Merged
from lethe_app.domain.web import PageText, WebHit
from lethe_app.errors import EngineUnreachable, ModelCrashed, ModelError, ModelMissing, ModelOutOfMemory, NotAllowed, WebError
from lethe_app.prompt.untrusted_text import Quoter, site_of
from lethe_app.web.html_text import Count, shortened

T = TypeVar("T", bound=LlmAnswer)
MOST_PAGES = 6
"""Pages read for one subject, whatever the settings allow for each query."""
LEAST_TOKENS = 100
"""A page with fewer tokens is only a menu; the search engine's description is more useful."""
LEAST_ROOM = 48
"""Number of tokens below which an excerpt of a page is useless."""
LONGEST_CONTEXT = 900
"""Characters of the description of the session."""
NOTHING_KNOWN = "(nothing is known yet)"
BROKEN = (ModelMissing, ModelCrashed, ModelOutOfMemory, EngineUnreachable)
"""Errors after which no model answers any more; all others concern a single answer."""


class Internet(Protocol):
    """Part of the web gate that is used here."""

    def check(self) -> None: ...

    async def search(self, query: str, why: str, count: int = 0) -> list[WebHit]: ...

    async def read(self, address: str, why: str, most_tokens: int = 0) -> PageText: ...


class TaskModel(Protocol):
    """Interface that sends task prompts to the model: a task context or the structured output service."""

    async def ask(self, errand: str, answer: type[T], **material: str) -> T: ...

    async def room(self, errand: str, answer: type[LlmAnswer], **material: str) -> int: ...

    async def count(self, texts: list[str]) -> list[int]: ...


@dataclass(frozen=True)
class ReadPage:
    """Search hit with the text of its page."""

    hit: WebHit
    text: str = ""
    is_cut: bool = False

    def quoting(self, text: str, *, is_cut: bool = False) -> PageText:
        """Return title and description with this part of the page's text."""
        described = "" if self.hit.description and self.hit.description in text else self.hit.description
        words = "\n\n".join(filter(None, (described, text)))
        return PageText(self.hit.address, self.hit.title, words, is_cut, is_description=not text)

    @property
    def whole(self) -> PageText:
        return self.quoting(self.text, is_cut=self.is_cut)


@dataclass(frozen=True)
class ReadingRequest:
    """Subject to be read about, with the reason and the asking persona."""

    name: str
    topic: str
    reason: str = ""
    role: str = ""
    context: str = ""

    @property
    def gaps(self) -> dict[str, str]:
        return {
            "name": self.name,
            "role": self.role,
            "context": self.context[:LONGEST_CONTEXT] or NOTHING_KNOWN,
            "topic": self.topic,
            "reason": self.reason or "(not said)",
        }


@dataclass(frozen=True)
class Merge:
    """Result of reading: text of a model, or else quotations."""

    text: str = ""
    quotes: tuple[PageText, ...] = ()
    sources: tuple[WebHit, ...] = ()

    @property
    def plain_text(self) -> str:
        """Return the text without its sources."""
        said = (f"On {site_of(one.address)} it says: “{escape_quotation(one.text)}”" for one in self.quotes)
        return self.text or "\n".join(said)

    @property
    def content(self) -> str:
        """Return the text with the names of its sites; empty if there is no text."""
        return f"{self.plain_text}\n\nRead at {sites(self.sources)}." if self.plain_text else ""

    @property
    def addresses(self) -> list[str]:
        return [one.address for one in self.sources]


class Gathering:
    """Search, read and merge web pages. Every request goes through the web gate, and every text is quoted before a model
    reads it.
    """

    def __init__(self, internet: Internet, quoter: Callable[[], Awaitable[Quoter]]) -> None:
        self.internet, self.quoter = internet, quoter

    async def pages(self, queries: Sequence[str], why: str, count: Count, most: int = MOST_PAGES) -> list[ReadPage]:
        """Return the pages found by the queries, each once. Raise NotAllowed, and SearchFailed if every query failed."""
        hits: dict[str, WebHit] = {}
        troubles: list[WebError] = []
        for query in queries:
            try:
                for hit in await self.internet.search(query, why):
                    hits.setdefault(_plain(hit.address), hit)
            except NotAllowed:
                raise
            except WebError as trouble:
                troubles.append(trouble)
        if not hits and troubles and len(troubles) == len(queries):
            raise troubles[-1]
        return await self.read(list(hits.values())[:most], why, count)

    async def read(self, hits: Sequence[WebHit], why: str, count: Count) -> list[ReadPage]:
        """Read the pages of these hits concurrently. Raise NotAllowed."""
        async with asyncio.TaskGroup() as group:
            reading = [group.create_task(self._read(hit, why, count)) for hit in hits]
        self.internet.check()
        return [page.result() for page in reading]

    async def _read(self, hit: WebHit, why: str, count: Count) -> ReadPage:
        try:
            page = await self.internet.read(hit.address, why)
        except WebError:
            return ReadPage(hit)
        (tokens,) = await count([page.text])
        return ReadPage(hit, page.text, page.is_cut) if tokens > LEAST_TOKENS and not page.is_description else ReadPage(hit)

    async def merged(self, wish: ReadingRequest, pages: Sequence[ReadPage], asker: TaskModel | None, most: int = 0) -> Merge:
        """Return one text from all pages, of which at most `most` tokens are read together (0: as many as the model has room
        for).

        Without an asker, and if the model's text is not supported by the pages, the pages are quoted. Raise ModelError if
        the model is no longer available.
        """
        if asker is not None and pages:
            quoter = await self.quoter()
            room = await asker.room("merge_pages", Merged, **wish.gaps)
            fitting = await fitted(pages, min(room, most or room), quoter, asker)
            text = await self._asked(wish, fitting, quoter, asker) if fitting else ""
            held = keep_supported_sentences(text, fitting, (wish.name, wish.topic))
            if held:
                return Merge(held, sources=tuple(WebHit(one.title, one.address) for one in fitting))
        quotes = tuple(extract_relevant_sentences(wish.topic, [page.whole for page in pages]))
        return Merge(quotes=quotes, sources=tuple(WebHit(one.title, one.address) for one in quotes))

    async def _asked(self, wish: ReadingRequest, pages: Sequence[PageText], quoter: Quoter, asker: TaskModel) -> str:
        try:
            merged = await asker.ask("merge_pages", Merged, pages=quoter.quoted_all(pages), **wish.gaps)
        except BROKEN:
            raise
        except ModelError:  # it gave no usable answer
            return ""
        return merged.text


async def fitted(pages: Sequence[ReadPage], room: int, quoter: Quoter, asker: TaskModel) -> list[PageText]:
    """Return as many pages, from the first on, as fit into `room` tokens. Each begins with its description; the remaining
    tokens are shared out.
    """
    heads = [page.quoting("") for page in pages]
    kept: list[ReadPage] = []
    left = room
    for page, tokens in zip(pages, await asker.count([quoter.quoted(head) for head in heads]), strict=True):
        if tokens <= left:
            kept, left = [*kept, page], left - tokens
    found: list[PageText] = []
    for place, page in enumerate(kept):
        share = left // (len(kept) - place)
        quoted = await _within(page, share, quoter, asker)
        before, after = await asker.count([quoter.quoted(page.quoting("")), quoter.quoted(quoted)])
        found, left = [*found, quoted], left - max(after - before, 0)
    while found and (await asker.count([quoter.quoted_all(found)]))[0] > room:
        found = found[:-1]
    return found


async def _within(page: ReadPage, share: int, quoter: Quoter, asker: TaskModel) -> PageText:
    """Return an excerpt of a page whose quotation is at most `share` tokens longer than its title and description."""
    (bare,) = await asker.count([quoter.quoted(page.quoting(""))])
    most = share
    while page.text and most >= LEAST_ROOM:
        text, is_cut = await shortened(page.text, most, asker.count)
        quoted = page.quoting(text, is_cut=is_cut or page.is_cut)
        (tokens,) = await asker.count([quoter.quoted(quoted)])
        if tokens - bare <= share:
            return quoted
        most = most * 3 // 4  # every line of a quotation has its mark
    return page.quoting("")


def sites(sources: Sequence[WebHit]) -> str:
    """Return the names of the sites, each once: “a.org, b.org and c.org”."""
    names = list(dict.fromkeys(site_of(one.address).removeprefix("www.") for one in sources))
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "no page"


def _plain(address: str) -> str:
    """Normalise an address, so that different spellings of it compare equal."""
    bare = address.partition("#")[0].rstrip("/")
    return bare.removeprefix("https://").removeprefix("http://").removeprefix("www.")
