"""Deep research at the user's request: one inquiry at a time, shown as it progresses, stored however it ends.

Each inquiry is recorded in the activity log with its cost, which counts for the persona's daily budget. Because the user
requested it, it is not refused when the budget is used up; it reduces what is left for the persona's tasks.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from uuid import UUID

from lethe_app.agents.deep_research import DeepResearch, append_unreported_findings
from lethe_app.agents.task import TaskResult
from lethe_app.agents.web_reading import TaskModel, WebReader, join_site_names
from lethe_app.domain.agent_runs import ProducedKind, ProducedRecord, RunOutcome, TaskRun
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryType, MemoryUnit
from lethe_app.domain.web import Inquiry, InquiryState, WebHit
from lethe_app.errors import LetheError
from lethe_app.services.background.activity_log import RESEARCH, ActivityEntry, ActivityLog
from lethe_app.services.events import Listeners
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.participants import ParticipantService
from lethe_app.services.stored_values import read_stored
from lethe_app.services.web.gate import WebGate
from lethe_app.storage.key_value import AppState

SCOPE = "inquiries"
MAX_KEPT_INQUIRIES = 50
MIN_QUESTION_CHARACTERS, MAX_QUESTION_CHARACTERS = 3, 200
"""Minimum and maximum number of characters of a question."""
PRIORITY = 3
LOG = logging.getLogger(__name__)


class ResearchService:
    """Inquiries of the user. `changed` emits every step of an inquiry, and None when one was removed."""

    def __init__(
        self,
        web_gate: WebGate,
        web_reader: WebReader,
        task_model: TaskModel,
        is_model_qualified: Callable[[], bool],
        participants: ParticipantService,
        memory: MemoryService,
        app_state: AppState,
        activity_log: ActivityLog,
    ) -> None:
        """Create the service. A model that is not qualified writes nothing; the pages are quoted instead."""
        self.changed: Listeners[Inquiry | None] = Listeners()
        self.running: Inquiry | None = None
        """The inquiry in progress; None if there is none."""
        self._web_gate, self._web_reader = web_gate, web_reader
        self._task_model, self._is_model_qualified = task_model, is_model_qualified
        self._participants, self._memory, self._app_state, self._activity_log = participants, memory, app_state, activity_log
        self._entry: ActivityEntry | None = None
        self._task: asyncio.Task[None] | None = None

    async def list_inquiries(self) -> list[Inquiry]:
        """Return all inquiries, newest first."""
        stored = (await self._app_state.values_of(SCOPE)).values()
        read = (read_stored(Inquiry.model_validate, value) for value in stored)
        inquiries = [self._mark_interrupted(inquiry) for inquiry in read if inquiry is not None]
        return sorted(inquiries, key=lambda inquiry: inquiry.began, reverse=True)

    async def load_inquiry(self, inquiry_id: UUID) -> Inquiry:
        """Return an inquiry. Raise LetheError if it was removed."""
        inquiry = next((candidate for candidate in await self.list_inquiries() if candidate.id == inquiry_id), None)
        if inquiry is None:
            raise LetheError("This report no longer exists.")
        return inquiry

    async def start_inquiry(self, persona_id: str, topic: str) -> Inquiry:
        """Start an inquiry. Raise NotAllowed without web access, and LetheError if the question is invalid or another
        inquiry is running.
        """
        self._web_gate.check_allowed()
        question = " ".join(topic.split())
        if not MIN_QUESTION_CHARACTERS <= len(question) <= MAX_QUESTION_CHARACTERS:
            raise LetheError("This question cannot be researched.", "Enter a few words, at most 200 characters.")
        if self.running is not None:
            raise LetheError(
                f"“{self.running.topic}” is still being researched.", "Stop it first, or wait until it is finished."
            )
        inquiry = self.running = Inquiry(persona_id=persona_id, topic=question, doing="Starting")
        try:
            await self._save_inquiry(inquiry)
            participants = await self._participants.load_for_persona(persona_id)
        except LetheError:
            self.running = None
            raise
        entry = self._entry = self._activity_log.create_entry(
            RESEARCH, (persona_id, participants.persona.name), is_requested=True
        )
        self._task = asyncio.get_running_loop().create_task(self._run(inquiry, entry, participants.user.name))
        return inquiry

    def stop(self) -> None:
        """Stop the inquiry in progress; its findings are kept."""
        if self._entry is not None:
            self._entry.cancel()

    async def remove_report(self, inquiry_id: UUID) -> Inquiry:
        """Remove an inquiry and return it for undo; a memory made of it is kept. Raise LetheError if it is in progress."""
        inquiry = await self.load_inquiry(inquiry_id)
        if inquiry.is_running:
            raise LetheError("The research is still running.", "Stop it first.")
        await self._app_state.set(SCOPE, str(inquiry_id), None)
        self.changed.notify(None)
        return inquiry

    async def restore(self, inquiry: Inquiry) -> None:
        """Store a removed inquiry again."""
        await self._save_inquiry(inquiry)

    async def save_as_memory(self, inquiry_id: UUID) -> Inquiry:
        """Store the report with its sources as a memory. Raise LetheError if there is no report."""
        inquiry = await self.load_inquiry(inquiry_id)
        if not inquiry.report:
            raise LetheError("Nothing was found that could be saved.")
        participants = await self._participants.load_for_persona(inquiry.persona_id)
        hits = [WebHit(finding.title, finding.address) for finding in inquiry.findings]
        # Untrusted text must not contain macros, because memories are inserted into prompts.
        report = inquiry.report.replace("{{", "").replace("}}", "")
        memory = MemoryUnit(
            category=MemoryType.WEB_SEARCH,
            name=inquiry.topic,
            content=f"{report}\n\nRead at {join_site_names(hits)}.",
            reason=f"{participants.user.name} wanted to know more about it.",
            priority=PRIORITY,
            protected=True,
            sources=[hit.address for hit in hits],
            made_by=RESEARCH.name,
        )
        await self._memory.memorize(inquiry.persona_id, memory, check=False)
        return await self._save_inquiry(inquiry.model_copy(update={"memory": memory.guid}))

    async def forget_memory(self, inquiry_id: UUID) -> Inquiry:
        """Move the memory of the report to the trash."""
        inquiry = await self.load_inquiry(inquiry_id)
        if inquiry.memory is not None:
            await self._memory.forget_memory(inquiry.memory)
        return await self._save_inquiry(inquiry.model_copy(update={"memory": None}))

    async def close(self) -> None:
        """Stop the inquiry in progress, with the same result as `stop`."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    # Runs

    async def _run(self, inquiry: Inquiry, entry: ActivityEntry, user_name: str) -> None:
        state, step = InquiryState.STOPPED, "Stopped."
        try:
            run = await self._activity_log.run_entry(entry, partial(self._research, inquiry, user_name))
            if run.outcome is not RunOutcome.STOPPED and self.running is not None:
                state, step = InquiryState.DONE, self.running.doing
        except LetheError as error:
            state, step = InquiryState.FAILED, error.message
        except Exception as error:  # a bug: the findings are kept all the same
            state, step = InquiryState.FAILED, "An error occurred."
            LOG.warning("an inquiry failed with %s", type(error).__name__)
        finally:
            finished, self.running = self.running or inquiry, None
            changes = {"state": state, "doing": step, "ended": now()}
            await self._save_inquiry(append_unreported_findings(finished).model_copy(update=changes))

    async def _research(self, inquiry: Inquiry, user_name: str, entry: ActivityEntry) -> TaskResult:
        async def store_progress(updated: Inquiry) -> None:
            entry.report_progress(f"“{inquiry.topic}”: {updated.doing}")
            if updated.findings:
                await entry.add_result(ProducedRecord(kind=ProducedKind.REPORT, id=str(inquiry.id), title=inquiry.topic))
            await self._save_inquiry(updated)

        task_model = self._task_model if self._is_model_qualified() else None
        research = DeepResearch(self._web_reader, task_model, store_progress, lambda: entry.run.tokens)
        finished = await research.run(inquiry, user_name)
        if not finished.findings:
            return TaskResult(f"Nothing was found about “{inquiry.topic}”.", outcome=RunOutcome.NOTHING)
        return TaskResult(f"Researched “{inquiry.topic}”.")

    async def revert_run(self, _run: TaskRun, record: ProducedRecord) -> None:
        """Remove the report that a run made; the user has confirmed this."""
        with suppress(LetheError):  # it was removed already
            await self.remove_report(UUID(record.id))

    async def _save_inquiry(self, inquiry: Inquiry) -> Inquiry:
        """Store the inquiry and notify listeners."""
        if self.running is not None and self.running.id == inquiry.id:
            self.running = inquiry
        await self._app_state.set(SCOPE, str(inquiry.id), inquiry.model_dump(mode="json"))
        if inquiry.state is not InquiryState.RUNNING:
            await self._delete_oldest()
        self.changed.notify(inquiry)
        return inquiry

    async def _delete_oldest(self) -> None:
        for oldest in (await self.list_inquiries())[MAX_KEPT_INQUIRIES:]:
            await self._app_state.set(SCOPE, str(oldest.id), None)

    def _mark_interrupted(self, inquiry: Inquiry) -> Inquiry:
        """Mark an inquiry as stopped that was in progress when the program ended."""
        if not inquiry.is_running or (self.running is not None and self.running.id == inquiry.id):
            return inquiry
        changes = {
            "state": InquiryState.STOPPED,
            "doing": "Interrupted because Lethe was closed.",
            "ended": inquiry.ended or inquiry.began,
        }
        return append_unreported_findings(inquiry).model_copy(update=changes)
