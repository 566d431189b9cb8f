"""Deep research on one question: a plan, rounds of searching and reading, and a report that is extended after each round."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from lethe_app.agents.web_reading import Gathering, ReadPage, TaskModel, fitted
from lethe_app.brain.llm_schemas.citation_check import extract_relevant_sentences, is_unsafe_sentence, keep_supported_sentences
from lethe_app.brain.llm_schemas.web import Enough, Outline, PageSummaryAnswer, ReportAnswer
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.domain.web import Inquiry, PageSummary, PageText, Round
from lethe_app.errors import ModelError, NotAllowed, WebError
from lethe_app.web.html_text import Count

LEAST_ROUNDS, MOST_ROUNDS = 2, 6
QUERIES, RESULTS = 3, 3
"""Queries of one round, and results read of one query."""
NEWEST = 8
"""Maximum number of findings that are added to the report at once."""
SECONDS = 300.0
TOKENS = 60_000
NOTHING_YET = "(nothing yet)"
_CITED = re.compile(r" ?\[(\d+(?:, ?\d+)*)\]")
Tell = Callable[[Inquiry], Awaitable[object]]
"""Callback that receives and stores the inquiry whenever it has progressed."""


@dataclass(frozen=True)
class Bounds:
    """Limits after which a run ends with what it has."""

    seconds: float = SECONDS
    tokens: int = TOKENS
    rounds: int = MOST_ROUNDS


class DeepResearch:
    """One run of deep research. If it is cancelled, the inquiry last passed to `tell` is its result."""

    def __init__(
        self,
        gathering: Gathering,
        asker: TaskModel | None,
        count: Count,
        tell: Tell,
        spent: Callable[[], int],
        bounds: Bounds | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create a run. Without an asker no model is used and pages are quoted. `spent` returns the number of tokens used so
        far.
        """
        self._gathering, self._asker, self._count = gathering, asker, count
        self._tell, self._spent = tell, spent
        self._bounds, self._clock = bounds or Bounds(), clock
        self._until = clock() + self._bounds.seconds
        self._trouble: WebError | None = None

    async def run(self, inquiry: Inquiry, name: str) -> Inquiry:
        """Return the completed inquiry; `name` is the person who asks. Raise NotAllowed, and SearchFailed if every search
        failed.
        """
        why = f"{name} wanted to know more about “{inquiry.topic}”."
        inquiry = await self._told(inquiry, doing="Making a plan")
        inquiry = await self._planned(inquiry)
        waiting, ended = list(inquiry.questions), ""
        while waiting and not ended:
            inquiry, waiting = await self._round(inquiry, waiting, why)
            ended = self._bound(inquiry)
            if not ended and len(inquiry.rounds) >= LEAST_ROUNDS:
                is_enough, waiting = await self._judged(inquiry, waiting)
                ended = "Enough information was found." if is_enough else ""
        if not inquiry.findings and self._trouble is not None:
            raise self._trouble
        return await self._told(inquiry, doing=ended or "There was nothing more to search for.")

    def _is_used_up(self) -> bool:
        return self._clock() >= self._until or self._spent() >= self._bounds.tokens

    def _bound(self, inquiry: Inquiry) -> str:
        """Return the reason why the run must end; empty if it may continue."""
        if self._clock() >= self._until:
            return "The time limit was reached."
        if self._spent() >= self._bounds.tokens:
            return "The token limit was reached."
        return "The search limit was reached." if len(inquiry.rounds) >= self._bounds.rounds else ""

    async def _told(self, inquiry: Inquiry, **changes: object) -> Inquiry:
        told = inquiry.model_copy(update={**changes, "tokens": self._spent()})
        await self._tell(told)
        return told

    # Plan

    async def _planned(self, inquiry: Inquiry) -> Inquiry:
        plan: Outline | None = None
        if self._asker is not None:
            try:
                plan = await self._asker.ask("plan", Outline, topic=inquiry.topic)
            except ModelError:
                plan = None  # then the question itself is searched
        questions = plan.questions if plan else [inquiry.topic]
        return await self._told(inquiry, questions=questions, enough_when=plan.enough_when if plan else "")

    # Rounds

    async def _round(self, inquiry: Inquiry, waiting: list[str], why: str) -> tuple[Inquiry, list[str]]:
        queries, waiting = waiting[:QUERIES], waiting[QUERIES:]
        known = len(inquiry.findings)
        inquiry = await self._told(inquiry, rounds=[*inquiry.rounds, Round(queries=queries)])
        for query in queries:
            inquiry = await self._told(inquiry, doing=f"Searching for “{query}”")
            for page in await self._pages(inquiry, query, why):
                if not (inquiry.findings and self._is_used_up()):
                    inquiry = await self._read(inquiry, query, page)
            if self._is_used_up():
                break
        new = inquiry.findings[known:]
        for part in (new[:NEWEST], new[NEWEST:]):
            if part:
                inquiry = await self._told(inquiry, doing="Writing the report")
                report = await self._report(inquiry, part)
                inquiry = await self._told(inquiry, report=report, reported=part[-1].number)
        return inquiry, waiting

    async def _pages(self, inquiry: Inquiry, query: str, why: str) -> list[ReadPage]:
        try:
            hits = await self._gathering.internet.search(query, why, RESULTS + 2)
        except NotAllowed:
            raise
        except WebError as trouble:
            self._trouble = trouble
            return []
        fresh = [hit for hit in hits if hit.address not in inquiry.read][:RESULTS]
        return await self._gathering.read(fresh, why, self._count)

    async def _read(self, inquiry: Inquiry, query: str, page: ReadPage) -> Inquiry:
        inquiry = await self._told(inquiry, doing=f"Reading “{page.hit.title[:60]}”" if page.hit.title else "Reading")
        text = await self._finding(inquiry.topic, query, page)
        found = list(inquiry.findings)
        if text:
            new = PageSummary(number=len(found) + 1, query=query, title=page.hit.title, address=page.hit.address, text=text)
            found.append(new)
        *earlier, now = inquiry.rounds
        here = now.model_copy(update={"pages": now.pages + 1, "findings": now.findings + bool(text)})
        return await self._told(inquiry, findings=found, read=[*inquiry.read, page.hit.address], rounds=[*earlier, here])

    async def _finding(self, topic: str, query: str, page: ReadPage) -> str:
        if self._asker is not None:
            try:
                text = await self._asked(self._asker, topic, query, page)
            except ModelError:
                text = None
            if text is not None:
                return text
        quotes = extract_relevant_sentences(f"{topic} {query}", [page.whole])
        return f"“{quotes[0].text}”" if quotes else ""

    async def _asked(self, asker: TaskModel, topic: str, query: str, page: ReadPage) -> str | None:
        """Return what a model found on the page; empty if nothing, None if its answer is not supported by the page."""
        quoter = await self._gathering.quoter()
        room = await asker.room("finding", PageSummaryAnswer, topic=topic, query=query)
        fitting = await fitted([page], room, quoter, asker)
        if not fitting:
            return None
        answer = await asker.ask("finding", PageSummaryAnswer, topic=topic, query=query, page=quoter.quoted_all(fitting))
        return (keep_supported_sentences(answer.text, fitting, (topic, query)) or None) if answer.text else ""

    # Report

    async def _report(self, inquiry: Inquiry, new: Sequence[PageSummary]) -> str:
        """Return the report with the new findings. Unsupported sentences of the model are removed; if it fails, or its
        report is less than half as long as the last one, the findings are appended instead.
        """
        if self._asker is not None:
            gaps = {"topic": inquiry.topic, "report": await self._quoted(inquiry, inquiry.report) or NOTHING_YET}
            try:
                findings = await self._quoted(inquiry, _listed(new))
                answer = await self._asker.ask("report", ReportAnswer, findings=findings, **gaps)
            except ModelError:
                answer = None
            pages = [PageText(one.address, one.title, one.text) for one in inquiry.findings]
            known = (inquiry.topic, *inquiry.questions)
            text = _cited(keep_supported_sentences(answer.text, pages, known), len(inquiry.findings)) if answer else ""
            if text and len(text) * 2 >= len(inquiry.report):  # shorter, it has lost what was known
                return text
        return _beside(inquiry.report, new)

    async def _quoted(self, inquiry: Inquiry, text: str) -> str:
        """Quote a text derived from web pages as untrusted, each time a model reads it."""
        addresses = [one.address for one in inquiry.findings]
        return (await self._gathering.quoter()).kept(text, addresses, str(inquiry.id)) if text else ""

    async def _judged(self, inquiry: Inquiry, waiting: list[str]) -> tuple[bool, list[str]]:
        """Return whether enough is known, and the next queries: those for gaps of the report, then the rest of the plan."""
        if self._asker is None or not inquiry.report:
            return False, waiting
        asked = [query for one in inquiry.rounds for query in one.queries]
        gaps = {"topic": inquiry.topic, "enough_when": inquiry.enough_when or "The question is answered."}
        inquiry = await self._told(inquiry, doing="Checking whether the results are sufficient")
        try:
            report = await self._quoted(inquiry, inquiry.report)
            answer = await self._asker.ask("enough", Enough, report=report, asked="\n".join(asked), **gaps)
        except ModelError:
            return False, waiting
        known = [content_words(one) for one in asked]
        fresh = [one for one in answer.next_queries if content_words(one) not in known and not is_unsafe_sentence(one)]
        return answer.is_enough, list(dict.fromkeys((*fresh, *waiting)))


def with_rest(inquiry: Inquiry) -> Inquiry:
    """Return the inquiry with the findings that are not in the report yet appended to it unchanged."""
    report = _beside(inquiry.report, inquiry.findings[inquiry.reported :])
    return inquiry.model_copy(update={"report": report, "reported": len(inquiry.findings)})


def _beside(report: str, findings: Sequence[PageSummary]) -> str:
    return "\n\n".join(filter(None, (report, *(f"{one.text} [{one.number}]" for one in findings))))


def _listed(findings: Sequence[PageSummary]) -> str:
    return "\n".join(f"[{one.number}] {' '.join(one.text.split())}" for one in findings)


def _cited(text: str, most: int) -> str:
    """Remove citations of findings that do not exist."""

    def known(match: re.Match[str]) -> str:
        numbers = [one for one in map(int, re.findall(r"\d+", match[1])) if 1 <= one <= most]
        return "".join(f" [{one}]" for one in numbers)

    return _CITED.sub(known, text).strip()
