"""Writing of what one ended session concluded into notebooks, recorded so that it can be undone."""

from __future__ import annotations

from functools import partial
from uuid import UUID

from lethe_app.brain.notebooks.outdated_lines import FactHistory
from lethe_app.brain.text.utterance import to_utterances
from lethe_app.domain.chat import SessionSummary
from lethe_app.services.background.activity_log import ActivityEntry
from lethe_app.services.extraction.conclusions import ConclusionService, FinishedConversation, SessionConclusions
from lethe_app.services.memory.facts import FactService
from lethe_app.services.notebooks.filer import NotebookFiler
from lethe_app.services.notebooks.service import NotebookService
from lethe_app.services.notebooks.undo import NotebookUndo
from lethe_app.services.participants import ParticipantService
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.memory.facts import FactStore


class ConclusionWriter:
    """Writes the conclusions of sessions, and revises those that no longer hold."""

    def __init__(
        self,
        session_store: SessionStore,
        fact_store: FactStore,
        facts: FactService,
        participants: ParticipantService,
        conclusions: ConclusionService,
        notebooks: NotebookService,
        notebook_undo: NotebookUndo,
        filer: NotebookFiler,
    ) -> None:
        self._session_store, self._fact_store, self._facts = session_store, fact_store, facts
        self._participants = participants
        self._conclusions, self._notebooks, self._notebook_undo, self._filer = conclusions, notebooks, notebook_undo, filer

    async def owner_of(self, persona_id: str) -> tuple[str, str]:
        """Return the id and the name of the persona for whom sessions are read. Raise FileError if it cannot be read."""
        return persona_id, (await self._participants.load_for_persona(persona_id)).persona.name

    def needs_model(self, session: SessionSummary) -> bool:
        """Return whether a model would be asked about the session."""
        return self._conclusions.would_ask_model(session.last_activity)

    async def revise_lines(self, persona_id: str) -> None:
        """Bring the lines of the notebooks up to date with facts that were superseded, reworded or forgotten since."""
        history = FactHistory(
            await self._fact_store.facts_of(persona_id),
            await self._fact_store.facts_of(persona_id, deleted=True),
            await self._fact_store.tombstones_of(persona_id),
            self._facts.former_wordings_of(persona_id),
        )
        await self._notebooks.revise_lines(persona_id, history)

    async def write_session(self, session_id: UUID, entry: ActivityEntry | None = None) -> list[str]:
        """Write the conclusions of one session; return the names of the notebooks that were written."""
        session = await self._session_store.session(session_id)
        utterances = to_utterances(
            await self._session_store.page(session_id, 0, len(await self._session_store.outline(session_id)))
        )
        conversation = FinishedConversation(session, await self._participants.load_for_session(session), utterances)
        if not utterances:
            return []
        if entry is None:
            extraction = await self._conclusions.collect_conclusions(conversation)
            return await self._filer.write_conclusions(conversation, extraction)
        extraction = await self._conclusions.collect_conclusions(conversation, partial(self._notebook_undo.record_facts, entry))
        await self._notebook_undo.keep_learnt_facts(entry, extraction.extracted_facts, extraction.learnt)
        return await self._write_recorded(conversation, extraction, entry) if extraction.conclusions else []

    async def _write_recorded(
        self, conversation: FinishedConversation, extraction: SessionConclusions, entry: ActivityEntry
    ) -> list[str]:
        """Write the conclusions, and record what was written even if an error interrupts it."""
        change = await self._notebook_undo.record_before(entry.run_id, conversation.session.persona_id)
        try:
            return await self._filer.write_conclusions(conversation, extraction)
        finally:
            for made in await self._notebook_undo.record_after(change):
                await entry.recorder.add_result(made)
