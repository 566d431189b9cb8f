"""Web look-up in a conversation, when the user asks for it and web access is allowed, and the note that keeps its sources."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter

from lethe_app.agents.session_material import describe_role
from lethe_app.agents.web_reading import MergedPages, ReadingRequest, ReadPage, TaskModel, WebReader, join_site_names
from lethe_app.brain.llm_schemas.chunking import format_lines
from lethe_app.brain.llm_schemas.web import SearchDecisionAnswer
from lethe_app.brain.text.utterance import to_utterances
from lethe_app.brain.web_intent import WebIntent, detect_web_intent, extract_query
from lethe_app.domain.chat import ChatSession, Message
from lethe_app.domain.clock import now
from lethe_app.domain.web import WebHit
from lethe_app.errors import LetheError, ModelError
from lethe_app.services.events import Emit, WebSearchStarted
from lethe_app.services.memory.proactive import build_hidden_message
from lethe_app.services.participants import Participants
from lethe_app.services.preferences import Preferences
from lethe_app.services.stored_values import read_stored
from lethe_app.services.untrusted_memories import truncate_to_sentences
from lethe_app.storage.chats.sessions import SessionStore

NOTE_PREFIX = "search"
"""Prefix of the note of a hidden message about a look-up; topic and sources follow as JSON."""
_NOTE = TypeAdapter(tuple[str, list[tuple[str, str]]])


@dataclass(frozen=True)
class WebLookup:
    """Look-up before a reply, with its sources; without sources nothing was found."""

    topic: str
    sources: tuple[WebHit, ...] = ()


def build_note(lookup: WebLookup) -> str:
    """Return the note of a hidden message about a look-up."""
    sources = [(hit.title, hit.address) for hit in lookup.sources]
    return f"{NOTE_PREFIX} {json.dumps([lookup.topic, sources], ensure_ascii=False)}"


def parse_note(message: Message) -> WebLookup | None:
    """Parse the note of a hidden message; None if it does not belong to a look-up."""
    kind, _, payload = message.note.partition(" ")
    if not message.hidden or kind != NOTE_PREFIX:
        return None
    if (parsed := read_stored(_NOTE.validate_json, payload)) is None:
        return None
    topic, sources = parsed
    return WebLookup(topic, tuple(WebHit(title, address) for title, address in sources))


WEB_TOOLS = "web"
"""Tool set that replaces this look-up: with it the model searches by itself."""
MAX_LINES, MAX_LINES_CHARACTERS = 6, 1500
"""Number of newest messages shown to the model that decides, and the maximum number of their characters."""
MAX_PAGE_TOKENS = 1000
"""Maximum number of tokens of pages, because the user waits while they are read."""
MAX_RESULT_CHARACTERS = 3500


@dataclass(frozen=True)
class WebLookupService:
    """Decide whether a message needs a look-up, by words and by a qualified model. Whatever fails, the reply is still
    generated.
    """

    preferences: Preferences
    session_store: SessionStore
    web_reader: WebReader
    task_model: TaskModel
    """Must not wait for the end of the turn, within which it is called."""
    is_model_qualified: Callable[[], bool]

    async def look_up_for_turn(
        self, session: ChatSession, participants: Participants, message: Message, emit: Emit
    ) -> Message | None:
        """Search for what the user's message asks for, and insert the result before it as a hidden message, which is returned.

        None is returned if nothing is asked for, look-ups are not allowed, or the model has the web tools itself.
        """
        settings, persona = self.preferences.current, participants.persona
        tools = persona.tools if persona.override_default_toolset else settings.default_tools
        has_web_tools = settings.tools_enabled and WEB_TOOLS in tools
        if not (settings.web_allowed and settings.web_in_chat) or has_web_tools:
            return None
        topic = await self._choose_topic(session, participants, message)
        if not topic:
            return None
        await emit(WebSearchStarted(topic))
        try:
            reason = f"{participants.user.name} asked {persona.name} about it."
            pages = await self.web_reader.search_and_read([topic], reason)
            await emit(WebSearchStarted(topic, len(pages)))
            merged = await self._merge_pages(participants, message, topic, pages)
        except LetheError:  # of the gate, the engine or the model; the log of requests shows which
            merged = MergedPages()
        text = await self._build_hidden_text(participants, message, topic, merged)
        hidden_message = build_hidden_message(session, text, now(), build_note(WebLookup(topic, merged.sources)))
        return await self.session_store.insert_above(hidden_message, message.id)

    async def _choose_topic(self, session: ChatSession, participants: Participants, message: Message) -> str:
        """Return the topic to search for; empty if there is none."""
        intent = detect_web_intent(message.content)
        if intent is WebIntent.NONE:
            return ""
        is_explicit = intent is WebIntent.EXPLICIT
        if not self.is_model_qualified():
            return extract_query(message.content) if is_explicit else ""
        utterances = to_utterances(await self.session_store.newest_messages(session.guid, MAX_LINES, message.id))
        placeholders = {"user": participants.user.name, "message": message.content[:MAX_LINES_CHARACTERS]}
        try:
            answer = await self.task_model.ask(
                "wants_search",
                SearchDecisionAnswer,
                conversation=format_lines(utterances)[-MAX_LINES_CHARACTERS:] or "(nothing yet)",
                **placeholders,
            )
        except ModelError:  # no usable answer: the user's message decides
            return extract_query(message.content) if is_explicit else ""
        return (answer.topic or extract_query(message.content)) if answer.search else ""

    async def _merge_pages(
        self, participants: Participants, message: Message, topic: str, pages: Sequence[ReadPage]
    ) -> MergedPages:
        persona, user = participants.persona, participants.user
        role, context = describe_role(persona, user), f"{user.name}: {message.content}"
        request = ReadingRequest(persona.name, topic, f"{user.name} asked for it.", role, context)
        return await self.web_reader.merge_pages(
            request, pages, self.task_model if self.is_model_qualified() else None, MAX_PAGE_TOKENS
        )

    async def _build_hidden_text(self, participants: Participants, message: Message, topic: str, merged: MergedPages) -> str:
        """Return the hidden message for the model, in which untrusted text is quoted."""
        name, user = participants.persona.spoken_name, participants.user.name
        if not merged.plain_text:
            searched = f"{name} has searched the internet for “{topic}”, and nothing could be found."
            return f"{searched} {name} says so and does not guess."
        quoter = await self.web_reader.build_quoter()
        if merged.text:  # written by the model, but it may repeat instructions from the pages
            quoted = quoter.quote_stored(
                truncate_to_sentences(merged.text, MAX_RESULT_CHARACTERS), merged.addresses, str(message.id)
            )
        else:
            quoted = quoter.quote_pages(merged.quotes)
        opening = (
            f"{name} has just looked up “{topic}” on the internet for {user}, at {join_site_names(merged.sources)}. "
            f"What was found:"
        )
        return f"{opening}\n{quoted}\n{name} tells {user} in {name}'s own words what of it answers the question."
