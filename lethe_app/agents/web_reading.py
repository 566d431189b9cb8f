"""Read web pages about a subject and merge them into one text that contains only what the pages say."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from lethe_app.brain.llm_schemas.archive import LlmAnswer
from lethe_app.brain.llm_schemas.citation_check import escape_quotation, extract_relevant_sentences, keep_supported_sentences
from lethe_app.brain.llm_schemas.web import MergedPagesAnswer
from lethe_app.domain.web import PageText, WebHit
from lethe_app.errors import NO_MODEL_ERRORS, ModelCrashed, ModelError, ModelOutOfMemory, NotAllowed, WebError
from lethe_app.prompt.untrusted_text import UntrustedTextQuoter, site_of
from lethe_app.web.html_text import CountTokens, truncate_to_tokens

T = TypeVar("T", bound=LlmAnswer)
MAX_PAGES = 6
"""Pages read for one subject, whatever the settings allow for each query."""
MIN_PAGE_TOKENS = 100
"""A page with fewer tokens is only a menu; the search engine's description is more useful."""
MIN_EXCERPT_TOKENS = 48
"""Number of tokens below which an excerpt of a page is useless."""
MAX_CONTEXT_CHARACTERS = 900
"""Characters of the description of the session."""
NOTHING_KNOWN = "(nothing is known yet)"
UNAVAILABLE_ERRORS = (*NO_MODEL_ERRORS, ModelCrashed, ModelOutOfMemory)
"""Errors after which no model answers any more; all others concern a single answer."""


class WebAccess(Protocol):
    """Part of the web gate that is used here."""

    def check_allowed(self) -> None: ...

    async def search(self, query: str, why: str, count: int = 0) -> list[WebHit]: ...

    async def read(self, address: str, why: str, max_tokens: int = 0) -> PageText: ...


class TaskModel(Protocol):
    """Interface that sends task prompts to the model: a task context or the structured output service."""

    async def ask(self, task_prompt: str, answer: type[T], **values: str) -> T: ...

    async def free_tokens(self, task_prompt: str, answer: type[LlmAnswer], **values: str) -> int: ...

    def count(self, texts: list[str], /) -> Awaitable[list[int]]: ...


@dataclass(frozen=True)
class ReadPage:
    """Search hit with the text of its page."""

    hit: WebHit
    text: str = ""
    is_cut: bool = False

    def as_page_text(self, text: str, *, is_cut: bool = False) -> PageText:
        """Return title and description with this part of the page's text."""
        description = "" if self.hit.description and self.hit.description in text else self.hit.description
        full_text = "\n\n".join(filter(None, (description, text)))
        return PageText(self.hit.address, self.hit.title, full_text, is_cut, is_description=not text)

    @property
    def whole_text(self) -> PageText:
        return self.as_page_text(self.text, is_cut=self.is_cut)


@dataclass(frozen=True)
class ReadingRequest:
    """Subject to be read about, with the reason and the asking persona."""

    name: str
    topic: str
    reason: str = ""
    role: str = ""
    context: str = ""

    @property
    def placeholders(self) -> dict[str, str]:
        return {
            "name": self.name,
            "role": self.role,
            "context": self.context[:MAX_CONTEXT_CHARACTERS] or NOTHING_KNOWN,
            "topic": self.topic,
            "reason": self.reason or "(not said)",
        }


@dataclass(frozen=True)
class MergedPages:
    """Result of reading: text of a model, or else quotations."""

    text: str = ""
    quotes: tuple[PageText, ...] = ()
    sources: tuple[WebHit, ...] = ()

    @property
    def plain_text(self) -> str:
        """Return the text without its sources."""
        quotations = (f"On {site_of(quote.address)} it says: “{escape_quotation(quote.text)}”" for quote in self.quotes)
        return self.text or "\n".join(quotations)

    @property
    def content(self) -> str:
        """Return the text with the names of its sites; empty if there is no text."""
        return f"{self.plain_text}\n\nRead at {join_site_names(self.sources)}." if self.plain_text else ""

    @property
    def addresses(self) -> list[str]:
        return [source.address for source in self.sources]


class WebReader:
    """Search, read and merge web pages. Every request goes through the web gate, and every text is quoted before a model
    reads it.
    """

    def __init__(
        self, internet: WebAccess, build_quoter: Callable[[], Awaitable[UntrustedTextQuoter]], count_tokens: CountTokens
    ) -> None:
        self.internet, self.build_quoter, self._count_tokens = internet, build_quoter, count_tokens

    async def search_and_read(self, queries: Sequence[str], why: str) -> list[ReadPage]:
        """Return the pages found by the queries, each once. Raise NotAllowed, and SearchFailed if every query failed."""
        hits: dict[str, WebHit] = {}
        errors: list[WebError] = []
        for query in queries:
            try:
                for hit in await self.internet.search(query, why):
                    hits.setdefault(_normalize_address(hit.address), hit)
            except NotAllowed:
                raise
            except WebError as error:
                errors.append(error)
        if not hits and errors and len(errors) == len(queries):
            raise errors[-1]
        return await self.read_hits(list(hits.values())[:MAX_PAGES], why)

    async def read_hits(self, hits: Sequence[WebHit], why: str, *, keep_short: bool = False) -> list[ReadPage]:
        """Read the pages of these hits concurrently. With `keep_short`, the text of a page is kept if it is at least as long
        as the search engine's description, else if it is longer than a menu. Raise NotAllowed.
        """
        try:
            async with asyncio.TaskGroup() as group:
                read_tasks = [group.create_task(self._read_hit(hit, why, keep_short=keep_short)) for hit in hits]
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None
        self.internet.check_allowed()
        return [page.result() for page in read_tasks]

    async def _read_hit(self, hit: WebHit, why: str, *, keep_short: bool) -> ReadPage:
        try:
            page = await self.internet.read(hit.address, why)
        except WebError:
            return ReadPage(hit)
        if keep_short:
            is_kept = len(page.text) >= len(hit.description)
        else:
            (tokens,) = await self._count_tokens([page.text])
            is_kept = tokens > MIN_PAGE_TOKENS and not page.is_description
        return ReadPage(hit, page.text, page.is_cut) if is_kept else ReadPage(hit)

    async def merge_pages(
        self, request: ReadingRequest, pages: Sequence[ReadPage], task_model: TaskModel | None, max_tokens: int = 0
    ) -> MergedPages:
        """Return one text from all pages, of which at most `max_tokens` tokens are read together (0: as many as the model has
        room for).

        Without `task_model`, and if the model's text is not supported by the pages, the pages are quoted. Raise ModelError if
        the model is no longer available.
        """
        if task_model is not None and pages:
            quoter = await self.build_quoter()
            free_tokens = await task_model.free_tokens("merge_pages", MergedPagesAnswer, **request.placeholders)
            fitting_pages = await fit_pages(pages, min(free_tokens, max_tokens or free_tokens), quoter, task_model)
            text = await self._ask_model(request, fitting_pages, quoter, task_model) if fitting_pages else ""
            supported_text = keep_supported_sentences(text, fitting_pages, (request.name, request.topic))
            if supported_text:
                return MergedPages(supported_text, sources=tuple(WebHit(page.title, page.address) for page in fitting_pages))
        quotes = tuple(extract_relevant_sentences(request.topic, [page.whole_text for page in pages]))
        return MergedPages(quotes=quotes, sources=tuple(WebHit(quote.title, quote.address) for quote in quotes))

    async def _ask_model(
        self, request: ReadingRequest, pages: Sequence[PageText], quoter: UntrustedTextQuoter, task_model: TaskModel
    ) -> str:
        try:
            answer = await task_model.ask(
                "merge_pages", MergedPagesAnswer, pages=quoter.quote_pages(pages), **request.placeholders
            )
        except UNAVAILABLE_ERRORS:
            raise
        except ModelError:  # it gave no usable answer
            return ""
        return answer.text


async def fit_pages(
    pages: Sequence[ReadPage], token_limit: int, quoter: UntrustedTextQuoter, task_model: TaskModel
) -> list[PageText]:
    """Return as many pages, from the first on, as fit into `token_limit`. Each begins with its description; the remaining
    tokens are shared out.
    """
    heads = [page.as_page_text("") for page in pages]
    kept_pages: list[ReadPage] = []
    tokens_left = token_limit
    for page, tokens in zip(pages, await task_model.count([quoter.quote_page(head) for head in heads]), strict=True):
        if tokens <= tokens_left:
            kept_pages, tokens_left = [*kept_pages, page], tokens_left - tokens
    page_texts: list[PageText] = []
    for number, page in enumerate(kept_pages):
        share = tokens_left // (len(kept_pages) - number)
        quoted = await _fit_excerpt(page, share, quoter, task_model)
        before, after = await task_model.count([quoter.quote_page(page.as_page_text("")), quoter.quote_page(quoted)])
        page_texts, tokens_left = [*page_texts, quoted], tokens_left - max(after - before, 0)
    while page_texts and (await task_model.count([quoter.quote_pages(page_texts)]))[0] > token_limit:
        page_texts = page_texts[:-1]
    return page_texts


async def _fit_excerpt(page: ReadPage, token_limit: int, quoter: UntrustedTextQuoter, task_model: TaskModel) -> PageText:
    """Return an excerpt of a page whose quotation is at most `token_limit` tokens longer than its title and description."""
    (bare_tokens,) = await task_model.count([quoter.quote_page(page.as_page_text(""))])
    text_tokens = token_limit
    while page.text and text_tokens >= MIN_EXCERPT_TOKENS:
        text, is_cut = await truncate_to_tokens(page.text, text_tokens, task_model.count)
        quoted = page.as_page_text(text, is_cut=is_cut or page.is_cut)
        (tokens,) = await task_model.count([quoter.quote_page(quoted)])
        if tokens - bare_tokens <= token_limit:
            return quoted
        text_tokens = text_tokens * 3 // 4  # every line of a quotation has its mark
    return page.as_page_text("")


def join_site_names(sources: Sequence[WebHit]) -> str:
    """Return the names of the sites, each once: “a.org, b.org and c.org”."""
    names = list(dict.fromkeys(site_of(source.address).removeprefix("www.") for source in sources))
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "no page"


def _normalize_address(address: str) -> str:
    """Normalise an address, so that different spellings of it compare equal."""
    bare = address.partition("#")[0].rstrip("/")
    return bare.removeprefix("https://").removeprefix("http://").removeprefix("www.")
