"""Sessions as the user handles them: list, resume, begin with a greeting, rename, delete."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from lethe_app.brain.languages.requests import find_requested_language
from lethe_app.domain.chat import (
    Alternative,
    ChatSession,
    Message,
    MessageMode,
    Role,
    SessionPart,
)
from lethe_app.domain.clock import now
from lethe_app.domain.persona import Persona
from lethe_app.prompt.macros import MacroContext, expand, expand_greetings
from lethe_app.services.events import Listeners
from lethe_app.services.participants import FillMacros, MacroPosition, Participants, ParticipantService
from lethe_app.services.prompting.turn_context import (
    STABLE_PREFIX,
    MacroState,
    TurnContext,
    greeting_changes,
)
from lethe_app.services.sessions.archive_queue import ArchiveQueue
from lethe_app.services.sessions.languages import MessageLanguages, describe_text
from lethe_app.services.sessions.reply_writer import ReplyKind, ReplyWriter
from lethe_app.services.sessions.timeout import SessionTimeout
from lethe_app.storage.chats.sessions import SHARED_VARIABLES, VARIABLES, SessionStore


class SessionService:
    """Manage the sessions of all personas."""

    def __init__(
        self,
        session_store: SessionStore,
        participants: ParticipantService,
        archive_queue: ArchiveQueue,
        session_timeout: SessionTimeout,
        fill_macros: FillMacros,
        changed: Listeners[str],
        languages: MessageLanguages,
    ) -> None:
        """`fill_macros` looks up the values of macros."""
        self.languages = languages
        self.changed = changed
        """Emits the persona whose list of sessions changed."""
        self._session_store = session_store
        self._participants = participants
        self._archive_queue = archive_queue
        self._session_timeout = session_timeout
        self._fill_macros = fill_macros
        self._archive_tasks: dict[str, asyncio.Task[None]] = {}
        """Task by persona that archives the sessions before the newest one."""
        self.list = self._session_store.sessions
        """Return the persona's sessions, newest activity first."""
        self.open = self._session_store.session
        self.outline = self._session_store.outline
        """Return the outline of all messages on the displayed branch, oldest first."""
        self.page = self._session_store.page
        """Return full messages by their index in the outline."""
        self.message = self._session_store.message
        self.find_erased = self._session_store.find_erased
        self.texts_of = self._session_store.texts_of
        """Return role and text of the messages of each of a persona's sessions."""

    async def resume(self, persona_id: str) -> ChatSession:
        """Return the newest session, or a new one if there is none."""
        newest = await self._session_store.newest_session(persona_id)
        return await self.new(persona_id) if newest is None else await self._session_store.session(newest.guid)

    async def ensure_open(self, session: ChatSession) -> ChatSession:
        """Return the session, reopened if it was archived, because a new message is added; it is archived again at its next
        end.
        """
        return await self._reopen_session(session) if session.archived else session

    async def has_ended(self, guid: UUID) -> bool:
        """Return whether a session has timed out, so that the user's next message begins a new one."""
        return await self._session_timeout.find_ended_session((await self._session_store.session(guid)).persona_id) == guid

    async def end(self, guid: UUID) -> bool:
        """Archive a session now: title, summary and facts by rules are stored on return. Return False if it is archived or
        the user has not written in it.
        """
        session = await self._session_store.session(guid)
        has_ended = not session.is_incognito and await self._session_timeout.archive(guid, at_once=True, even_if_short=True)
        self.changed.notify(session.persona_id)
        return has_ended

    async def reopen(self, guid: UUID) -> None:
        """Continue a session that has timed out."""
        await self._reopen_session(await self._session_store.session(guid))

    async def _reopen_session(self, session: ChatSession) -> ChatSession:
        reopened = await self._session_timeout.reopen(session)
        self.changed.notify(session.persona_id)
        return reopened

    async def new(self, persona_id: str) -> ChatSession:
        """Begin a new session, and wait until rules have archived those before it.

        Raise the errors of archiving.
        """
        before = self._archive_tasks.get(persona_id)
        session = await self.start_session(persona_id)
        task = self._archive_tasks.get(persona_id)
        # No new task means that an unanswered session was reused.
        if task is not None and task is not before:
            await asyncio.shield(task)
        return await self._session_store.session(session.guid)

    async def start_incognito(self, persona_id: str) -> ChatSession:
        """Begin an incognito session with the persona's greeting, if any. Its texts are kept in memory only, nothing is learnt
        from it, and it ends with `delete` or with the program.
        """
        session = await self._begin(persona_id, is_incognito=True)
        self.changed.notify(persona_id)
        return session

    async def start_session(self, persona_id: str) -> ChatSession:
        """Begin a new session with the persona's greeting, if any. A session in which the user never wrote is reused.

        The sessions before it are archived in the background, and the next reply waits for that (`wait_until_archived`).
        """
        if unanswered := await self._find_unanswered(persona_id):
            return unanswered
        await self.wait_until_archived(persona_id)
        session = await self._begin(persona_id)
        self._start_archiving(persona_id)
        self.changed.notify(persona_id)
        return session

    async def _begin(self, persona_id: str, *, is_incognito: bool = False) -> ChatSession:
        """Store a new session with the persona's greeting, if any."""
        participants = await self._participants.load_for_persona(persona_id)
        newest = await self._session_store.newest_session(persona_id)
        before = await self._session_store.page(newest.guid, 0, 1) if newest is not None else []
        session = await self._session_store.add_session(
            ChatSession(persona_id=persona_id, user_id=participants.user.unique_name, is_incognito=is_incognito)
        )
        macro_context = await self._fill(session, participants, session.added, participants.persona.first_messages)
        previous = before[0].content if before else ""
        if greeting := create_greeting(participants.persona, session, macro_context, previous):
            await self._session_store.add_message(greeting)
            await self.store_greeting_variables(greeting, participants.persona, macro_context)
        return await self._session_store.session(session.guid)

    async def store_greeting_variables(self, greeting: Message, persona: Persona, macro_context: MacroContext) -> None:
        """Store the variables that the greetings of a persona have set, each for the alternative that it is."""
        texts = [*filter(str.strip, persona.first_messages), *filter(str.strip, persona.group_greetings)]
        greetings = expand_greetings(texts, macro_context)
        contents = [alternative.content for alternative in greeting.alternatives]
        after = {contents.index(text): variables for text, variables in reversed(greetings) if text in contents}
        if (changes := greeting_changes(greeting, macro_context.variables, after)) is not None:
            await self._session_store.save_variables(greeting.session_id, changes)

    async def wait_until_archived(self, persona_id: str) -> bool:
        """Wait until rules have archived the sessions that ended when the newest one began; return whether any still were."""
        task = self._archive_tasks.get(persona_id)
        if task is None or task.done():
            return False
        await asyncio.wait({task})
        return True

    async def close(self) -> None:
        """Finish the archiving of ended sessions and the detection of languages."""
        await self.languages.finish()
        await asyncio.gather(*self._archive_tasks.values(), return_exceptions=True)

    def _start_archiving(self, persona_id: str) -> None:
        """Archive the sessions before a new one in the background; one that fails is archived at the next start."""
        self._archive_tasks[persona_id] = asyncio.create_task(self._archive_open_sessions(persona_id))

    def has_timed_out(self, turn: TurnContext) -> bool:
        """Return whether the user was away for so long that the next message begins a new session."""
        newest = turn.rows.newest_session
        return newest is not None and newest.guid == turn.session.guid and self._session_timeout.has_timed_out(newest)

    async def rotate(self, session: ChatSession) -> UUID:
        """Begin a new session in place of one that has timed out, and return its id; it begins with the user's message and
        no greeting.
        """
        await self.wait_until_archived(session.persona_id)
        new_session = ChatSession(
            persona_id=session.persona_id, user_id=session.user_id, scenario=session.scenario, guests=session.guests
        )
        new_session = await self._session_store.add_session(new_session)
        self._start_archiving(session.persona_id)
        self.changed.notify(session.persona_id)
        return new_session.guid

    async def add_user_message(self, turn: TurnContext, text: str, mode: MessageMode = MessageMode.TEXT) -> TurnContext:
        """Store a message of the user at the end of a session, with its macros expanded, and the switches it makes; return the
        turn with it.
        """
        session, participants = turn.session, turn.participants
        macro_context = await self._fill(session, participants, now(), [text])
        state = MacroState(turn, is_reply=False)
        macro_context = replace(macro_context, values=macro_context.values | state.values, variables=deepcopy(state.variables))
        message = Message(
            session_id=session.guid,
            role=Role.USER,
            speaker=participants.user.unique_name,
            speaker_name=participants.user.name,
            mode=mode,
            alternatives=[describe_text(Alternative(content=expand(text, macro_context)))],
        )
        message = await self._session_store.add_message(message, find_requested_language(text))
        if state.variables != macro_context.variables:
            changes = state.changes(macro_context.variables, message)
            await self._session_store.save_variables(session.guid, changes)
            shared = {SHARED_VARIABLES: macro_context.variables.shared}
            states, app_state = {**turn.rows.states, VARIABLES: changes[0]}, {**turn.rows.app_state, **shared}
            turn = replace(turn, rows=replace(turn.rows, states=states, app_state=app_state))
        self.languages.note_stored(message)
        self.changed.notify(session.persona_id)
        return turn.with_user_message(message)

    def create_writer(self, turn: TurnContext, before: Message | None, kind: ReplyKind, requested_at: float) -> ReplyWriter:
        """Return a writer that stores a reply of the turn's speaker, or another alternative or the continuation of `before`,
        during generation.
        """
        speaker = turn.participants.speaker
        reply = before or Message(
            session_id=turn.session.guid,
            role=Role.ASSISTANT,
            speaker=speaker.unique_name,
            speaker_name=speaker.name,
        )
        return ReplyWriter(self._session_store, reply, kind, requested_at, self.languages.note_stored)

    async def _archive_open_sessions(self, persona_id: str) -> None:
        """Archive every open session of the persona; for the newest one, the parts by rules are stored on return."""
        is_newest = True
        for summary in await self._session_store.sessions(persona_id):
            if not summary.archived and await self._session_timeout.archive(summary.guid, at_once=is_newest):
                is_newest = False

    async def _find_unanswered(self, persona_id: str) -> ChatSession | None:
        """Return the newest session that has at most the greeting and the same user persona, begun again now if there are
        newer ones; None if there is none.
        """
        summaries = await self._session_store.sessions(persona_id)
        for summary in summaries:
            if summary.archived or summary.title or summary.messages > 1 or summary.first_words:
                continue
            outline = await self._session_store.outline(summary.guid)
            session = await self._session_store.session(summary.guid)
            if session.user_id != self._participants.default_user_id or any(
                entry.role is not Role.ASSISTANT for entry in outline
            ):
                continue
            if summary is summaries[0]:
                return session
            await self.wait_until_archived(persona_id)
            await self._session_store.restart_session(session.guid, now(), STABLE_PREFIX)
            self._start_archiving(persona_id)
            self.changed.notify(persona_id)
            return await self._session_store.session(session.guid)
        return None

    async def rename(self, guid: UUID, title: str) -> None:
        """Set the title to the user's, which is never overwritten automatically. An incognito session has none."""
        if (await self._session_store.session(guid)).is_incognito:
            return
        await self._archive_queue.write(guid, SessionPart.TITLE, title.strip())

    async def set_guests(self, guid: UUID, names: Sequence[str]) -> ChatSession:
        """Set the participants of a session besides its persona to `names` (file names, in this order).

        While nobody has answered, the persona's group greetings are added to its greeting, and one is displayed while there
        are other participants. Raise StorageError.
        """
        session = await self._session_store.session(guid)
        guests = [name for name in dict.fromkeys(names) if name != session.persona_id]
        session = await self._session_store.change_session(guid, guests=guests)
        await self._show_group_greeting(session)
        self.changed.notify(session.persona_id)
        return session

    async def _show_group_greeting(self, session: ChatSession) -> None:
        participants = await self._participants.load_for_session(session)
        persona = participants.persona
        outline = await self._session_store.outline(session.guid)
        if not persona.group_greetings or len(outline) != 1 or outline[0].role is not Role.ASSISTANT:
            return
        message = await self._session_store.message(outline[0].id)
        greetings = [*persona.first_messages, *persona.group_greetings]
        macro_context = await self._fill(session, participants, session.added, greetings)
        texts = [text for text, _ in expand_greetings([*filter(str.strip, persona.group_greetings)], macro_context)]
        known = [alternative.content for alternative in message.alternatives]
        for text in texts if session.guests else ():
            if text not in known:
                alternative = Alternative(content=text, created=session.added)
                await self._session_store.store_reply(message, None, alternative, is_new=False)
                known.append(text)
        await self.store_greeting_variables(await self._session_store.message(message.id), persona, macro_context)
        wanted = texts if session.guests else [text for text in known if text not in texts]
        if wanted and message.current.content not in wanted:
            await self._session_store.set_shown(message.id, known.index(random.choice(wanted)))  # noqa: S311 - as above

    async def mark(self, guid: UUID, **fields: bool) -> None:
        """Set “sticky”, with which the summary of a session is in every prompt of its persona, or “protected”."""
        await self._renew(await self._session_store.change_session(guid, **fields))

    async def delete(self, guid: UUID) -> None:
        """Move a session to the trash, and remove it from all prompts; an incognito one is gone at once."""
        session = await self._session_store.session(guid)
        if session.is_incognito:
            await self._session_store.erase_incognito(guid)
            self.changed.notify(session.persona_id)
            return
        await self._session_store.delete_session(guid)
        await self._renew(session)

    async def restore(self, guid: UUID) -> None:
        """Restore a session from the trash."""
        await self._session_store.restore_session(guid)
        session = await self._session_store.session(guid)
        self.changed.notify(session.persona_id)  # at once: the prompts may have to wait for a reply
        await self._renew(session)

    async def _renew(self, session: ChatSession) -> None:
        """Apply a change of a session to the persona's prompts and to the list of sessions."""
        await self._archive_queue.renew(session.persona_id)
        self.changed.notify(session.persona_id)

    async def _fill(
        self, session: ChatSession, participants: Participants, moment: datetime, texts: Sequence[str]
    ) -> MacroContext:
        """Return the macro values of texts at the end of a session."""
        macro_context = participants.build_macro_context(session, moment)
        return await self._fill_macros(macro_context, MacroPosition(session, participants), texts)


def create_greeting(persona: Persona, session: ChatSession, macro_context: MacroContext, previous: str = "") -> Message | None:
    """Return the greeting of a session: one of the persona's at random, but not `previous` if there is another, with all of
    them as alternatives; None if there are none.
    """
    greetings = [text for text, _ in expand_greetings([*filter(str.strip, persona.first_messages)], macro_context)]
    if not greetings:
        return None
    new = [index for index, text in enumerate(greetings) if text != previous]
    return Message(
        session_id=session.guid,
        role=Role.ASSISTANT,
        speaker=persona.unique_name,
        speaker_name=persona.name,
        time=session.added,
        alternatives=[describe_text(Alternative(content=text, created=session.added)) for text in greetings],
        shown=random.choice(new or range(len(greetings))),  # noqa: S311 - nobody gains by guessing a greeting
    )


def format_transcript(title: str, messages: Iterable[Message], format_moment: Callable[[datetime], str]) -> str:
    """Return the messages of a session as Markdown, each below its speaker and time, in their order.

    `format_moment` returns a date and time as they are displayed.
    """
    parts = [f"# {' '.join(title.split())}"]
    for message in messages:
        parts += [f"**{message.speaker_name}** ({format_moment(message.time)})", message.content.strip()]
    return "\n\n".join(part for part in parts if part) + "\n"
