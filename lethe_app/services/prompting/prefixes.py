"""Stable prefixes of sessions: creation, storage in the session state, and cuts of the history.

A prefix is made when a session begins. It is made again only after the program has started, when the history is cut, when
something in it is deleted or edited, or when its settings change. Between these, the beginning of the prompt is identical to
the letter, and messages that have left the history stay out of it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from uuid import UUID

from lethe_app.brain.summary import digest
from lethe_app.brain.text.utterance import Utterance, to_utterances
from lethe_app.config.options import HistoryOverflow, SessionHandling
from lethe_app.domain.chat import ChatSession, Message, SessionSummary
from lethe_app.domain.model import LoadedModel
from lethe_app.domain.prompt import PromptPart
from lethe_app.prompt.budget import CAPS
from lethe_app.services.events import Listeners
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.past_sessions import NotebookSections, PastSessions
from lethe_app.services.prompting.turn_context import (
    MIN_MESSAGE_TOKENS,
    PRESENT,
    STABLE_PREFIX,
    USUAL_CONTEXT,
    WITHOUT_EARLIER,
    StablePrefix,
    TurnContext,
    max_rolling_characters,
    starts_without_earlier,
    stored_prefix,
)
from lethe_app.services.token_counts import TokenCountService
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.key_value import SessionState

EARLIER_SHARE = 0.4
"""Share of the context for earlier sessions in full."""
LoadNotebookSections = Callable[[ChatSession, int], Awaitable[NotebookSections]]
"""Function that returns the notebook sections of a session's prefix, for a context of so many tokens."""


class StablePrefixes:
    """Make and store the stable prefixes of all sessions. `cuts` emits a session of which more messages have left the
    history.
    """

    def __init__(
        self,
        session_store: SessionStore,
        session_state: SessionState,
        preferences: Preferences,
        token_counts: TokenCountService,
        past: PastSessions,
        load_notebook_sections: LoadNotebookSections,
        renewed: Listeners[str],
    ) -> None:
        """`renewed` emits the persona of whom something was deleted or edited."""
        self.cuts: Listeners[UUID] = Listeners()
        self._session_store = session_store
        self._session_state = session_state
        self._preferences = preferences
        self._token_counts = token_counts
        self._past = past
        self._load_notebook_sections = load_notebook_sections
        self._renewals: Counter[str] = Counter()
        """Number of changes by the user to what is known of a persona."""
        self._terms_by_session: dict[UUID, object] = {}
        """Terms under which each session's prefix was made since the program started. A prefix from before the start is made
        again, because it may contain what was deleted last.
        """
        self._writing = asyncio.Lock()
        renewed.add(lambda persona_id: self._renewals.update([persona_id]))

    async def prefix_of(self, turn: TurnContext, model: LoadedModel) -> StablePrefix:
        """Return the prefix of a turn's session: the stored one, or one that is made because there is none, or because
        something in it was deleted or edited since the turn was read or its prefix looked up.
        """
        session = turn.session
        is_current = self._terms_by_session.get(session.guid) == self._terms(turn)
        if turn.prefix is not None and is_current:
            return turn.prefix
        stored = stored_prefix(turn.rows.states) if turn.prefix is None else await self.load(session.guid)
        if stored is None or stored.context != model.context or turn.rows.messages_before is None:
            initial = await self._create_initial_prefix(session, model)
            return await self._make(
                turn, model, initial, await self._choose_full_sessions(turn, model) if not initial.first else []
            )
        if is_current:
            return stored
        earlier = stored.earlier
        if stored.handling is not self._handling(turn.rows.states):
            earlier = await self._choose_full_sessions(turn, model) if stored.first is None else []
        rolling = await self._replace_left_messages(session.guid, stored, model)
        return await self._make(turn, model, stored.model_copy(update={"rolling": rolling}), earlier)

    async def load(self, session_id: UUID) -> StablePrefix | None:
        """Return the stored prefix of a session; None if there is none that can be read."""
        return stored_prefix({STABLE_PREFIX: await self._session_state.get(session_id, STABLE_PREFIX)})

    async def drop(self, session_id: UUID) -> None:
        """Delete the prefix of a session, because messages that had left its history were changed or deleted."""
        async with self._writing:
            await self._session_state.set(session_id, STABLE_PREFIX, None)

    async def cut(
        self, turn: TurnContext, model: LoadedModel, prefix: StablePrefix, history: Sequence[Message], dropped: int
    ) -> StablePrefix:
        """Cut the oldest `dropped` messages of the history: earlier sessions leave in full, messages of the current one are
        summarised.
        """
        dropped_messages, first_kept, session = history[:dropped], history[dropped], turn.session
        if first_kept.session_id != session.guid:  # only earlier sessions are affected; none is cut in two
            cut_sessions = {message.session_id for message in dropped_messages}
            return await self._make(turn, model, prefix, [guid for guid in prefix.earlier if guid not in cut_sessions])
        rolling = await self._summarise(session.guid, prefix.first, first_kept.id, prefix.summaries_before, model)
        cut_prefix = prefix.model_copy(update={"first": first_kept.id, "rolling": rolling, "explains_memory": True})
        new_prefix = await self._make(turn, model, cut_prefix, [], previous_first=prefix.first)
        self.cuts.notify(session.guid)
        return new_prefix

    async def _summarise(self, session_id: UUID, first: UUID | None, end: UUID, summary_before: str, model: LoadedModel) -> str:
        """Return the rolling summary extended by the messages from `first` up to `end`; empty if they are to be left out."""
        if self._preferences.current.history_overflow is HistoryOverflow.TRUNCATE:
            return ""
        lines = await self.read_utterances(session_id, first, end)
        limit = max_rolling_characters(model.context)
        return await asyncio.to_thread(digest.extend_rolling_summary, lines, summary_before, limit)

    async def _replace_left_messages(self, session_id: UUID, prefix: StablePrefix, model: LoadedModel) -> str:
        """Return the rolling summary of a prefix that is made again; the user may have changed how history overflows."""
        if prefix.first is None or self._preferences.current.history_overflow is HistoryOverflow.TRUNCATE:
            return ""
        return prefix.summaries_before or await self._summarise(session_id, None, prefix.first, "", model)

    async def read_utterances(self, session_id: UUID, first: UUID | None, end: UUID) -> list[Utterance]:
        """Return the utterances from one message on, or from the beginning, up to but not including `end`."""
        places = {entry.id: place for place, entry in enumerate(await self._session_store.outline(session_id))}
        begin = places.get(first, 0) if first is not None else 0
        return to_utterances(await self._session_store.page(session_id, begin, max(places.get(end, 0) - begin, 0)))

    async def set_recap(self, session_id: UUID, end: UUID, text: str) -> None:
        """Store a qualified model's summary of the messages before `end`. It enters the prompt with the next cut."""
        async with self._writing:
            prefix = await self.load(session_id)
            if prefix is not None and prefix.first is not None:
                updated = prefix.model_copy(update={"recap": text, "recapped": end})
                await self._session_state.set(session_id, STABLE_PREFIX, updated.model_dump(mode="json"))

    async def _make(
        self,
        turn: TurnContext,
        model: LoadedModel,
        prefix: StablePrefix,
        earlier: Sequence[UUID],
        previous_first: UUID | None = None,
    ) -> StablePrefix:
        """Store the prefix with its sections made again; `earlier` are the sessions that are in it in full.

        `previous_first` is the first message of the history before a cut.
        """
        session, terms = turn.session, self._terms(turn)
        before = await self._past.before(session)
        past_ids, full = {summary.guid for summary in before}, set(earlier)
        rolling = (await self._token_counts.count([f"{PRESENT}\n{prefix.rolling}"]))[0] + 2 if prefix.rolling else 0
        others = [summary for summary in before if summary.guid not in full]
        sections = await self._load_notebook_sections(session, model.context)
        token_limit = int(model.context * CAPS[PromptPart.SUMMARIES]) - rolling - sections.tokens
        core = await self._past.core(turn.participants, int(model.context * CAPS[PromptPart.FACTS]), session.guid)
        made = prefix.model_copy(
            update={
                "handling": self._handling(turn.rows.states),
                "earlier": [guid for guid in earlier if guid in past_ids],
                "summaries": await self._past.summaries(others, turn.participants, token_limit, session.added)
                if not starts_without_earlier(turn.rows.states)
                else [],
                "facts": [fact for fact in core if not sections.says(fact.text)],
                "notebook": sections.notebook,
                "lately": sections.lately,
            }
        )
        async with self._writing:
            stored = await self.load(session.guid)
            if stored is not None and stored.first == (previous_first or made.first):  # a recap that came meanwhile is not lost
                made = made.model_copy(update={"recap": stored.recap, "recapped": stored.recapped})
            await self._session_state.set(session.guid, STABLE_PREFIX, made.model_dump(mode="json"))
            self._terms_by_session[session.guid] = terms
        return made

    async def _create_initial_prefix(self, session: ChatSession, model: LoadedModel) -> StablePrefix:
        """Return a prefix without earlier cuts. Messages beyond what a context can hold are summarised."""
        max_messages = max(model.context // MIN_MESSAGE_TOKENS, 1)
        outline = await self._session_store.outline(session.guid) if session.leaf_id else []
        if len(outline) <= max_messages:
            return StablePrefix(context=model.context, explains_memory=True)
        first = outline[-max_messages].id
        rolling = await self._summarise(session.guid, None, first, "", model)
        return StablePrefix(context=model.context, first=first, rolling=rolling, explains_memory=True)

    async def _choose_full_sessions(self, turn: TurnContext, model: LoadedModel) -> list[UUID]:
        if self._handling(turn.rows.states) is SessionHandling.CURRENT_ONLY:
            return []
        return await self._past.fitting(await self._past.before(turn.session), int(model.context * EARLIER_SHARE))

    def _handling(self, states: Mapping[str, object]) -> SessionHandling:
        """Return which sessions are in the prompt of one with these states."""
        chosen = self._preferences.current.session_handling
        return SessionHandling.CURRENT_ONLY if starts_without_earlier(states) else chosen

    async def sessions_in_prompt(self, session: ChatSession, model: LoadedModel | None) -> list[SessionSummary]:
        """Return the earlier sessions that are in the prompt of a session in full or as a summary, newest first.

        They are those of the stored prefix; before there is one, those that the prompt for `model` would have.
        """
        states = await self._session_state.values_of(session.guid)
        before, prefix, settings = await self._past.before(session), stored_prefix(states), self._preferences.current
        if starts_without_earlier(states):
            return []
        if prefix is not None and prefix.handling is settings.session_handling:
            summarised = {section.guid for section in prefix.summaries} if settings.session_memory_system else set()
            return [summary for summary in before if summary.guid in summarised.union(prefix.earlier)]
        if settings.session_memory_system:
            return before
        if settings.session_handling is SessionHandling.CURRENT_ONLY:
            return []
        context = model.context if model is not None else USUAL_CONTEXT
        return before[: len(await self._past.fitting(before, int(context * EARLIER_SHARE)))]

    async def leave_out_earlier(self, session_id: UUID, *, is_left_out: bool) -> None:
        """Set whether a session starts without the earlier ones, neither in full nor as summaries, beginning with its next
        prompt.
        """
        await self._session_state.set(session_id, WITHOUT_EARLIER, True if is_left_out else None)

    async def starts_without_earlier(self, session_id: UUID) -> bool:
        """Return whether the user left the earlier sessions out of a session's prompts."""
        return starts_without_earlier({WITHOUT_EARLIER: await self._session_state.get(session_id, WITHOUT_EARLIER)})

    def _terms(self, turn: TurnContext) -> object:
        """Return the settings and counters whose change has the prefix made again."""
        settings = self._preferences.current
        return (
            self._renewals[turn.session.persona_id],
            starts_without_earlier(turn.rows.states),
            settings.session_handling,
            settings.history_overflow,
            settings.session_memory_system,
            settings.session_reserved_tokens,
            settings.fact_retrieval,
            settings.core_facts_tokens,
            settings.notebooks,
        )
