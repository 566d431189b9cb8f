"""Deep research on one question: a plan, rounds of searching and reading, and a report that is extended after each round."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from lethe_app.agents.web_reading import ReadPage, TaskModel, WebReader, fit_pages
from lethe_app.brain.llm_schemas.archive import LlmAnswer
from lethe_app.brain.llm_schemas.citation_check import extract_relevant_sentences, is_unsafe_sentence, keep_supported_sentences
from lethe_app.brain.llm_schemas.web import CompletenessAnswer, OutlineAnswer, PageSummaryAnswer, ReportAnswer
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.domain.web import Inquiry, PageSummary, PageText, SearchRound
from lethe_app.errors import ModelError, NotAllowed, WebError

T = TypeVar("T", bound=LlmAnswer)
MIN_ROUNDS, MAX_ROUNDS = 2, 6
QUERIES_PER_ROUND, RESULTS_PER_QUERY = 3, 3
"""Queries of one round, and results read of one query."""
MAX_REPORTED_AT_ONCE = 8
"""Maximum number of findings that are added to the report at once."""
TIME_LIMIT_SECONDS, TOKEN_LIMIT = 300.0, 60_000
"""Limits after which a run stops and keeps its results so far, as after `MAX_ROUNDS`."""
NOTHING_YET = "(nothing yet)"
_CITATION = re.compile(r" ?\[(\d+(?:, ?\d+)*)\]")
InquiryCallback = Callable[[Inquiry], Awaitable[object]]
"""Callback that receives and stores the inquiry whenever it has progressed."""


class DeepResearch:
    """One run of deep research. If it is cancelled, the inquiry last passed to `on_progress` is its result."""

    def __init__(
        self,
        web_reader: WebReader,
        task_model: TaskModel | None,
        on_progress: InquiryCallback,
        tokens_used: Callable[[], int],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create a run. Without `task_model` no model is used and pages are quoted. `tokens_used` returns the number of tokens
        used so far.
        """
        self._web_reader, self._task_model = web_reader, task_model
        self._on_progress, self._tokens_used = on_progress, tokens_used
        self._clock, self._deadline = clock, clock() + TIME_LIMIT_SECONDS
        self._last_error: WebError | None = None

    async def run(self, inquiry: Inquiry, user_name: str) -> Inquiry:
        """Return the completed inquiry; `user_name` is the person who asks. Raise NotAllowed, and SearchFailed if every search
        failed.
        """
        reason = f"{user_name} wanted to know more about “{inquiry.topic}”."
        inquiry = await self._report_progress(inquiry, doing="Making a plan")
        plan = await self._ask("plan", OutlineAnswer, topic=inquiry.topic)
        questions = plan.questions if plan else [inquiry.topic]
        inquiry = await self._report_progress(inquiry, questions=questions, enough_when=plan.enough_when if plan else "")
        pending_queries, stop_reason = list(inquiry.questions), ""
        while pending_queries and not stop_reason:
            inquiry, pending_queries = await self._run_round(inquiry, pending_queries, reason)
            has_searched_enough = len(inquiry.rounds) >= MAX_ROUNDS
            stop_reason = self._reached_limit() or ("The search limit was reached." if has_searched_enough else "")
            if not stop_reason and len(inquiry.rounds) >= MIN_ROUNDS:
                is_enough, pending_queries = await self._check_sufficiency(inquiry, pending_queries)
                stop_reason = "Enough information was found." if is_enough else ""
        if not inquiry.findings and self._last_error is not None:
            raise self._last_error
        return await self._report_progress(inquiry, doing=stop_reason or "There was nothing more to search for.")

    def _reached_limit(self) -> str:
        """Return the reason why the run must end; empty if it may continue."""
        if self._clock() >= self._deadline:
            return "The time limit was reached."
        return "The token limit was reached." if self._tokens_used() >= TOKEN_LIMIT else ""

    async def _report_progress(self, inquiry: Inquiry, **changes: object) -> Inquiry:
        updated = inquiry.model_copy(update={**changes, "tokens": self._tokens_used()})
        await self._on_progress(updated)
        return updated

    async def _ask(self, task_prompt: str, answer: type[T], **values: str) -> T | None:
        """Return the model's answer; None without a model, or if it gave none that can be used."""
        if self._task_model is not None:
            with suppress(ModelError):
                return await self._task_model.ask(task_prompt, answer, **values)
        return None

    # Rounds

    async def _run_round(self, inquiry: Inquiry, pending_queries: list[str], reason: str) -> tuple[Inquiry, list[str]]:
        queries, pending_queries = pending_queries[:QUERIES_PER_ROUND], pending_queries[QUERIES_PER_ROUND:]
        count_before = len(inquiry.findings)
        inquiry = await self._report_progress(inquiry, rounds=[*inquiry.rounds, SearchRound(queries=queries)])
        for query in queries:
            inquiry = await self._report_progress(inquiry, doing=f"Searching for “{query}”")
            for page in await self._search_and_read(inquiry, query, reason):
                if not (inquiry.findings and self._reached_limit()):
                    inquiry = await self._add_page(inquiry, query, page)
            if self._reached_limit():
                break
        new_findings = inquiry.findings[count_before:]
        for batch in (new_findings[:MAX_REPORTED_AT_ONCE], new_findings[MAX_REPORTED_AT_ONCE:]):
            if batch:
                inquiry = await self._report_progress(inquiry, doing="Writing the report")
                report = await self._write_report(inquiry, batch)
                inquiry = await self._report_progress(inquiry, report=report, reported=batch[-1].number)
        return inquiry, pending_queries

    async def _search_and_read(self, inquiry: Inquiry, query: str, reason: str) -> list[ReadPage]:
        try:
            hits = await self._web_reader.internet.search(query, reason, RESULTS_PER_QUERY + 2)
        except NotAllowed:
            raise
        except WebError as error:
            self._last_error = error
            return []
        new_hits = [hit for hit in hits if hit.address not in inquiry.read][:RESULTS_PER_QUERY]
        return await self._web_reader.read_hits(new_hits, reason)

    async def _add_page(self, inquiry: Inquiry, query: str, page: ReadPage) -> Inquiry:
        inquiry = await self._report_progress(
            inquiry, doing=f"Reading “{page.hit.title[:60]}”" if page.hit.title else "Reading"
        )
        text = await self._summarize_page(inquiry.topic, query, page)
        findings = list(inquiry.findings)
        if text:
            finding = PageSummary(
                number=len(findings) + 1, query=query, title=page.hit.title, address=page.hit.address, text=text
            )
            findings.append(finding)
        *earlier_rounds, current_round = inquiry.rounds
        updated_round = current_round.model_copy(
            update={"pages": current_round.pages + 1, "findings": current_round.findings + bool(text)}
        )
        return await self._report_progress(
            inquiry, findings=findings, read=[*inquiry.read, page.hit.address], rounds=[*earlier_rounds, updated_round]
        )

    async def _summarize_page(self, topic: str, query: str, page: ReadPage) -> str:
        if self._task_model is not None:
            with suppress(ModelError):
                text = await self._ask_for_summary(self._task_model, topic, query, page)
                if text is not None:
                    return text
        quotes = extract_relevant_sentences(f"{topic} {query}", [page.whole_text])
        return f"“{quotes[0].text}”" if quotes else ""

    async def _ask_for_summary(self, task_model: TaskModel, topic: str, query: str, page: ReadPage) -> str | None:
        """Return what a model found on the page; empty if nothing, None if its answer is not supported by the page."""
        quoter = await self._web_reader.build_quoter()
        free_tokens = await task_model.free_tokens("finding", PageSummaryAnswer, topic=topic, query=query)
        fitting_pages = await fit_pages([page], free_tokens, quoter, task_model)
        if not fitting_pages:
            return None
        answer = await task_model.ask(
            "finding", PageSummaryAnswer, topic=topic, query=query, page=quoter.quote_pages(fitting_pages)
        )
        return (keep_supported_sentences(answer.text, fitting_pages, (topic, query)) or None) if answer.text else ""

    # Report

    async def _write_report(self, inquiry: Inquiry, new_findings: Sequence[PageSummary]) -> str:
        """Return the report with the new findings. Unsupported sentences of the model are removed; if it fails, or its
        report is less than half as long as the last one, the findings are appended instead.
        """
        lines = "\n".join(f"[{finding.number}] {' '.join(finding.text.split())}" for finding in new_findings)
        placeholders = {
            "report": await self._quote_untrusted(inquiry, inquiry.report) or NOTHING_YET,
            "findings": await self._quote_untrusted(inquiry, lines),
        }
        answer = await self._ask("report", ReportAnswer, topic=inquiry.topic, **placeholders)
        if answer is not None:
            pages = [PageText(finding.address, finding.title, finding.text) for finding in inquiry.findings]
            supported = keep_supported_sentences(answer.text, pages, (inquiry.topic, *inquiry.questions))
            text = _drop_invalid_citations(supported, len(inquiry.findings))
            if text and len(text) * 2 >= len(inquiry.report):  # shorter, it has lost what was known
                return text
        return _append_findings(inquiry.report, new_findings)

    async def _quote_untrusted(self, inquiry: Inquiry, text: str) -> str:
        """Quote a text derived from web pages as untrusted, each time a model reads it."""
        addresses = [finding.address for finding in inquiry.findings]
        return (await self._web_reader.build_quoter()).quote_stored(text, addresses, str(inquiry.id)) if text else ""

    async def _check_sufficiency(self, inquiry: Inquiry, pending_queries: list[str]) -> tuple[bool, list[str]]:
        """Return whether enough is known, and the next queries: those for gaps of the report, then the rest of the plan."""
        if self._task_model is None or not inquiry.report:
            return False, pending_queries
        previous_queries = [query for search_round in inquiry.rounds for query in search_round.queries]
        inquiry = await self._report_progress(inquiry, doing="Checking whether the results are sufficient")
        answer = await self._ask(
            "enough",
            CompletenessAnswer,
            topic=inquiry.topic,
            enough_when=inquiry.enough_when or "The question is answered.",
            report=await self._quote_untrusted(inquiry, inquiry.report),
            asked="\n".join(previous_queries),
        )
        if answer is None:
            return False, pending_queries
        known_words = [content_words(query) for query in previous_queries]
        new_queries = [
            query for query in answer.next_queries if content_words(query) not in known_words and not is_unsafe_sentence(query)
        ]
        return answer.is_enough, list(dict.fromkeys((*new_queries, *pending_queries)))


def append_unreported_findings(inquiry: Inquiry) -> Inquiry:
    """Return the inquiry with the findings that are not in the report yet appended to it unchanged."""
    report = _append_findings(inquiry.report, inquiry.findings[inquiry.reported :])
    return inquiry.model_copy(update={"report": report, "reported": len(inquiry.findings)})


def _append_findings(report: str, findings: Sequence[PageSummary]) -> str:
    return "\n\n".join(filter(None, (report, *(f"{finding.text} [{finding.number}]" for finding in findings))))


def _drop_invalid_citations(text: str, finding_count: int) -> str:
    """Remove citations of findings that do not exist."""

    def keep_valid(match: re.Match[str]) -> str:
        numbers = [number for number in map(int, re.findall(r"\d+", match[1])) if 1 <= number <= finding_count]
        return "".join(f" [{number}]" for number in numbers)

    return _CITATION.sub(keep_valid, text).strip()
