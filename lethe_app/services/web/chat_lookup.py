"""Web look-up during a conversation, when the user asks for it and web access is allowed."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from lethe_app.agents.web_reading import Gathering, Merge, ReadingRequest, ReadPage, TaskModel, sites
from lethe_app.brain.llm_schemas.chunking import format_lines
from lethe_app.brain.llm_schemas.web import WantsSearch
from lethe_app.brain.text.utterance import to_utterances
from lethe_app.brain.web_intent import WebIntent, detect_web_intent, extract_query
from lethe_app.domain.chat import ChatSession, Message
from lethe_app.domain.clock import now
from lethe_app.domain.web import WebHit
from lethe_app.errors import LetheError, ModelError
from lethe_app.services.events import NoteAdded, Searching
from lethe_app.services.memory.proactive import hidden_line
from lethe_app.services.participants import Participants
from lethe_app.services.preferences import Preferences
from lethe_app.services.truncation import shortened
from lethe_app.storage.chats.sessions import Chats

SEARCH = "search"
"""Prefix of the note of a hidden message about a look-up; topic and sources follow as JSON."""
WEB_TOOLS = "web"
"""Tool set that replaces this look-up: with it the model searches by itself."""
LINES, LONGEST_LINES = 6, 1500
"""Number of newest messages shown to the model that decides, and the maximum number of their characters."""
MOST_READ = 1000
"""Maximum number of tokens of pages, because the user waits while they are read."""
LONGEST_TOLD = 3500
LONGEST_ROLE = 400
_NOTE = TypeAdapter(tuple[str, list[tuple[str, str]]])


@dataclass(frozen=True)
class LookedUp:
    """Look-up before a reply, with its sources; without sources nothing was found."""

    topic: str
    sources: tuple[WebHit, ...] = ()


class LookingUp:
    """Decide whether a message needs a look-up, by words and by a qualified model. Whatever fails, the reply is still
    generated.
    """

    def __init__(
        self, preferences: Preferences, chats: Chats, gathering: Gathering, asker: TaskModel, is_trusted: Callable[[], bool]
    ) -> None:
        """Create the service; `asker` must not wait for the end of the turn, within which it is called."""
        self._preferences, self._chats = preferences, chats
        self._gathering, self._asker, self._is_trusted = gathering, asker, is_trusted

    def is_on(self, cast: Participants) -> bool:
        """Return whether look-ups are allowed and the model does not have the web tools itself."""
        settings, persona = self._preferences.current, cast.persona
        tools = persona.tools if persona.override_default_toolset else settings.default_tools
        is_aside = settings.tools_enabled and WEB_TOOLS in tools
        return settings.web_allowed and settings.web_in_chat and not is_aside

    async def of_turn(
        self, session: ChatSession, cast: Participants, message: Message
    ) -> AsyncGenerator[Searching | NoteAdded]:
        """Search for what the user's message asks for, and insert the result before it as a hidden message."""
        if not self.is_on(cast) or detect_web_intent(message.content) is WebIntent.NO:
            return
        topic = await self._topic(session, cast, message)
        if not topic:
            return
        yield Searching(topic)
        try:
            why = f"{cast.user.name} asked {cast.persona.name} about it."
            pages = await self._gathering.pages([topic], why, self._asker.count)
            yield Searching(topic, len(pages))
            merge = await self._merged(cast, message, topic, pages)
        except LetheError:  # the gate, the engine, the model: the list of what left this computer tells which
            merge = Merge()
        line = hidden_line(session, await self._line(cast, message, topic, merge), now(), note_of(topic, merge))
        yield NoteAdded(await self._chats.add_above(line, message.id), message.id)

    async def _topic(self, session: ChatSession, cast: Participants, message: Message) -> str:
        """Return the topic to search for; empty if there is none."""
        plainly = detect_web_intent(message.content) is WebIntent.PLAINLY
        if not self._is_trusted():
            return extract_query(message.content) if plainly else ""
        lines = to_utterances(await self._chats.tail(session.guid, LINES, message.id))
        gaps = {"user": cast.user.name, "message": message.content[:LONGEST_LINES]}
        try:
            answer = await self._asker.ask(
                "wants_search", WantsSearch, conversation=format_lines(lines)[-LONGEST_LINES:] or "(nothing yet)", **gaps
            )
        except ModelError:  # no usable answer: then the user's own words decide
            return extract_query(message.content) if plainly else ""
        return (answer.topic or extract_query(message.content)) if answer.search else ""

    async def _merged(self, cast: Participants, message: Message, topic: str, pages: Sequence[ReadPage]) -> Merge:
        name = cast.user.name
        bio = (cast.persona.mini_bio or cast.persona.bio).replace("{{char}}", cast.persona.name).replace("{{user}}", name)
        wish = ReadingRequest(
            cast.persona.name, topic, f"{name} asked for it.", bio[:LONGEST_ROLE], f"{name}: {message.content}"
        )
        return await self._gathering.merged(wish, pages, self._asker if self._is_trusted() else None, MOST_READ)

    async def _line(self, cast: Participants, message: Message, topic: str, merge: Merge) -> str:
        """Return the hidden message for the model, in which untrusted text is quoted."""
        name, user = cast.persona.name, cast.user.name
        if not merge.plain_text:
            searched = f"{name} has searched the internet for “{topic}”, and nothing could be found."
            return f"{searched} {name} says so and does not guess."
        quoter = await self._gathering.quoter()
        if merge.text:  # a model's words, but it may have taken over what strangers want it to say
            told = quoter.kept(shortened(merge.text, LONGEST_TOLD), merge.addresses, str(message.id))
        else:
            told = quoter.quoted_all(merge.quotes)
        opening = f"{name} has just looked up “{topic}” on the internet for {user}, at {sites(merge.sources)}. What was found:"
        return f"{opening}\n{told}\n{name} tells {user} in {name}'s own words what of it answers the question."


def note_of(topic: str, merge: Merge) -> str:
    """Return the note of the hidden message, with topic and sources."""
    return f"{SEARCH} {json.dumps([topic, [[one.title, one.address] for one in merge.sources]], ensure_ascii=False)}"


def looked_up(line: Message) -> LookedUp | None:
    """Parse the note of a hidden message; None if it is no look-up."""
    kind, _, told = line.note.partition(" ")
    if not line.hidden or kind != SEARCH:
        return None
    try:
        topic, found = _NOTE.validate_json(told)
    except ValidationError:
        return None
    return LookedUp(topic, tuple(WebHit(title, address) for title, address in found))
