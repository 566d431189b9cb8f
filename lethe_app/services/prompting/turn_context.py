"""Context of a turn: the data of a session that one turn needs, read once in one transaction and passed from step to step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from lethe_app.brain.notebooks.document import Notebook
from lethe_app.brain.text.reported_speech import shorten
from lethe_app.brain.text.utterance import WITHDRAWN, without_withdrawn
from lethe_app.config.options import SessionHandling
from lethe_app.domain.chat import ChatSession, Message, Role
from lethe_app.domain.model import LoadedModel
from lethe_app.domain.presets import SamplerPreset, SystemPreset
from lethe_app.errors import FileError
from lethe_app.prompt.sections import StableAdditions
from lethe_app.prompt.variables import Variables
from lethe_app.services.library import Library
from lethe_app.services.participants import (
    SESSION_WORLDS_KEY,
    Participants,
    ParticipantService,
    SessionWorlds,
    collect_world_names,
    select_worlds,
)
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.past_sessions import FrozenSection
from lethe_app.services.stored_values import read_stored
from lethe_app.storage.chats.sessions import SHARED_VARIABLES, VARIABLES, VariableChanges
from lethe_app.storage.chats.turn_rows import TurnReader, TurnRows, TurnScope, newest_user_message
from lethe_app.storage.memory.turn_memories import NO_TURN

STABLE_PREFIX = "stable_prefix"
"""Key of the session state."""
WITHOUT_EARLIER = "without earlier sessions"
"""Key of the session state: True if the user left the earlier sessions out of the prompts of this one."""
ROLLING = 0.2
"""Characters of the rolling summary per token of the context."""
MIN_ROLLING_CHARACTERS = 240
"""Minimum of the length limit of a rolling summary, in characters."""
MIN_MESSAGE_TOKENS = 4
"""Tokens of the shortest message assumed; a prompt reads no more messages than a context of such ones could hold."""
PRESENT = "Earlier in this conversation:"


class StablePrefix(BaseModel):
    """Parts of a prompt that stay the same from turn to turn, besides the persona."""

    model_config = ConfigDict(extra="ignore", frozen=True)  # version 0.1 stored the tool note with it

    context: int
    """Context size of the model it was made for; with another size the history starts again from the beginning."""
    handling: SessionHandling = SessionHandling.FIT_ALL
    earlier: list[UUID] = Field(default_factory=list)
    """Sessions that are in it in full, oldest first."""
    summaries: list[FrozenSection] = Field(default_factory=list)
    """Summaries of the other sessions, newest first."""
    facts: list[FrozenSection] = Field(default_factory=list)
    notebook: str = ""
    """Text of the notebook that was open when it was made."""
    lately: str = ""
    """List of recent notebook subjects."""
    first: UUID | None = None
    """First message of this session in the history; None if the history begins with the session."""
    rolling: str = ""
    """Summary of the messages before `first`."""
    explains_memory: bool = False
    """True if the prompt may explain memory. False in prefixes of older versions: with another text above it, a long session
    would have to be evaluated again; that waits for the next cut, which makes it necessary anyway.
    """
    recap: str = ""
    """Summary of the messages before `recapped` by a qualified model; it replaces `rolling` with the next cut."""
    recapped: UUID | None = None
    """Message up to which `recap` reaches, itself not included."""

    @property
    def summaries_before(self) -> str:
        """Summary of the messages before `first`: the recap if it reaches that far, else the one by rules."""
        return (
            shorten(self.recap, max_rolling_characters(self.context))
            if self.recap and self.recapped == self.first
            else self.rolling
        )

    def extras(self, world: Sequence[str] = (), instructions: Sequence[str] = ()) -> StableAdditions:
        """Return the sections of the system prompt; the rolling summary of this session is the newest of the summaries."""
        present = [f"{PRESENT}\n{self.rolling}"] if self.rolling else []
        notebook_texts = [text for text in (self.notebook, self.lately) if text]
        summaries = [*present, *notebook_texts, *(section.text for section in self.summaries)]
        return StableAdditions(world, summaries, [section.text for section in self.facts], instructions)


def stored_prefix(states: Mapping[str, object]) -> StablePrefix | None:
    """Return the prefix that is stored in the state of a session; None if there is none that can be read."""
    return read_stored(StablePrefix.model_validate, states.get(STABLE_PREFIX))


def starts_without_earlier(states: Mapping[str, object]) -> bool:
    """Return whether the earlier sessions are left out of the prompts of a session with these states."""
    return states.get(WITHOUT_EARLIER) is True


def max_rolling_characters(context: int) -> int:
    """Return the most characters of a rolling summary for a context of so many tokens."""
    return max(MIN_ROLLING_CHARACTERS, int(context * ROLLING))


LOOK_BACK = 64
"""Minimum number of messages read; the user's newest message is looked for among them."""
MAX_SCAN_DEPTH = 200
"""Maximum number of messages that are scanned for keys."""
USUAL_CONTEXT = 8192
"""Context size in tokens if no model is loaded."""
SMALL_MODEL = 1_000_000_000
"""Number of parameters below which a model gets simpler presets: it loses the thread in a long system prompt and repeats
itself.
"""

MAX_SNAPSHOTS = 200
"""Snapshots of a session that are kept, the newest ones."""
MAX_DISTANCE = 32
"""Messages after which a snapshot is stored again, so that it is among those that a turn reads."""
BEGINNING = "reply"
"""Key of the prompt of a reply without messages above it; that of another reply follows the key of the message above it."""
NO_SYSTEM, NO_SAMPLER = SystemPreset(name="none", prompt=""), SamplerPreset(name="none")
"""Presets of a turn whose files cannot be read and which therefore gets no prompt."""


@dataclass(frozen=True)
class TurnFiles:
    """Data that a turn reads from the user's files."""

    participants: Participants
    worlds: SessionWorlds
    system: SystemPreset
    sampler: SamplerPreset
    notebooks: Sequence[Notebook] = ()
    problem: FileError | None = None
    """Set if a file of the persona or a preset cannot be read: the user's message is stored, and no reply is generated."""


@dataclass(frozen=True)
class TurnContext:
    """Session, participants and stored data as one turn sees them. Immutable."""

    rows: TurnRows[TurnFiles]
    files: TurnFiles
    before: UUID | None
    """Reply that is regenerated, above which the history ends; None for a reply at the end."""
    model: LoadedModel | None
    """Model that was loaded when this was read."""
    participants: Participants
    messages: Sequence[Message]
    """Messages of the session above the reply, oldest first."""
    cache_revision: int = 0
    """Revision of the saved KV cache states when this was read; later deletions may concern it."""
    prefix: StablePrefix | None = None
    """Stable prefix of the prompt, once it was looked up or made."""

    @property
    def session(self) -> ChatSession:
        return self.rows.session

    @property
    def user_message(self) -> Message | None:
        """The user's newest message."""
        return newest_user_message(self.messages)

    def with_user_message(self, message: Message) -> TurnContext:
        """Return the turn with a new message of the user, which was just stored."""
        session = self.session.model_copy(update={"leaf_id": message.id})
        rows = replace(self.rows, session=session, turn=NO_TURN, is_newest=True)
        return replace(self, rows=rows, messages=[*self.messages, message])

    def with_hidden_message(self, hidden_message: Message, above: UUID) -> TurnContext:
        """Return the turn with a hidden message that was just stored directly above a message."""
        position = next((index for index, message in enumerate(self.messages) if message.id == above), len(self.messages))
        return replace(self, messages=[*self.messages[:position], hidden_message, *self.messages[position:]])

    def without_messages(self, deleted: Sequence[UUID]) -> TurnContext:
        """Return the turn without messages that were just deleted."""
        return replace(self, messages=[message for message in self.messages if message.id not in deleted])


@dataclass(frozen=True)
class TurnLoader:
    """Load turn contexts."""

    reader: TurnReader
    participants: ParticipantService
    library: Library
    preferences: Preferences
    app_keys: Callable[[str], Sequence[tuple[str, str]]]
    """Returns scope and key of the app state that a turn of a persona needs."""
    read_notebooks: Callable[[str], Sequence[Notebook]]
    """Is called with the persona's id in the storage thread."""
    cache_revision: Callable[[], int]

    async def load(
        self,
        session_id: UUID,
        model: LoadedModel | None,
        before: Message | None = None,
        speaker: str = "",
        *,
        adds_user_message: bool = False,
    ) -> TurnContext:
        """Load a session for the reply at its end, or for `before`, a reply that is regenerated.

        `speaker` is the speaking persona in a group. With `adds_user_message`, a message of the user is about to be stored, and
        a persona whose file cannot be read is reported in `TurnFiles.problem`. Raise StorageError and FileError.
        """
        name = before.speaker if before is not None else speaker
        context = model.context if model is not None else USUAL_CONTEXT

        def scope(session: ChatSession, states: Mapping[str, object]) -> TurnScope[TurnFiles]:
            files = self._read_files(
                session, states, name, small=model is not None and is_small(model), reports_problem=adds_user_message
            )
            prefix = stored_prefix(states)
            return TurnScope(
                files=files,
                min_messages=max(LOOK_BACK, 2 * min(files.worlds.scan_depth, MAX_SCAN_DEPTH)),  # hidden lines lie between
                max_messages=max(context // MIN_MESSAGE_TOKENS, 1),
                first_message=prefix.first if prefix is not None and prefix.context == context else None,
                past_sessions=prefix.earlier if prefix is not None else (),
                app_state=self.app_keys(session.persona_id),
            )

        above = before.id if before is not None else None
        revision = self.cache_revision()  # before anything is read, so that no later deletion is missed
        rows = await self.reader.read(session_id, above, scope, adds_user_message=adds_user_message)
        past = {guid: [without_withdrawn(one, WITHDRAWN) for one in past] for guid, past in rows.past_messages.items()}
        rows, files = replace(rows, past_messages=past), rows.scope.files
        # The newest message keeps what it wants forgotten, so that the persona can answer; the roles go on alternating.
        messages = [*(without_withdrawn(message, WITHDRAWN) for message in rows.messages[:-1]), *rows.messages[-1:]]
        return TurnContext(rows, files, above, model, files.participants, messages, revision)

    async def app_state_of(self, persona_id: str) -> Mapping[tuple[str, str], object]:
        """Return the app state that a turn of a persona needs, by scope and key."""
        return await self.reader.read_app_state(self.app_keys(persona_id))

    async def notebooks_of(self, persona_id: str) -> Sequence[Notebook]:
        """Return the notebooks of a persona that can be read; none if notebooks are disabled."""
        if not self.preferences.current.notebooks:
            return ()
        return await self.library.run_in_storage_thread(lambda: self.read_notebooks(persona_id))

    def _read_files(
        self, session: ChatSession, states: Mapping[str, object], speaker: str, *, small: bool, reports_problem: bool
    ) -> TurnFiles:
        settings = self.preferences.current
        try:
            participants = self.participants.read_for_session(session, speaker)
            system = self.library.read_system_preset(settings.system_preset or default_system_name(small=small))
            sampler_name = settings.sampler or default_sampler_name(small=small)
            sampler = self.participants.read_sampler(participants.speaker, sampler_name)
        except FileError as error:
            if not reports_problem:
                raise
            return TurnFiles(
                self.participants.read_without_persona(session),
                SessionWorlds(),
                NO_SYSTEM,
                NO_SAMPLER,
                problem=error,
            )
        names = collect_world_names(participants, states.get(SESSION_WORLDS_KEY), settings.global_worlds)
        return TurnFiles(
            participants=participants,
            worlds=select_worlds(names, self.library.read_worlds()) if names else SessionWorlds(),
            system=system,
            sampler=sampler,
            notebooks=self.read_notebooks(session.persona_id) if settings.notebooks else (),
        )


class Snapshot(BaseModel, extra="ignore"):
    """Variables after the macros of one text or prompt were expanded."""

    local: dict[str, str] = {}
    shared: dict[str, tuple[str | None, str | None]] = {}
    """Value before and after, of those shared by all conversations that were changed."""


_SNAPSHOTS, SHARED_VALUES = TypeAdapter(dict[str, Snapshot]), TypeAdapter(dict[str, str])


class MacroState:
    """Macro values at the end of a turn's messages: the newest messages, and the variables, which are kept by the message at
    which they were so. A prompt that is built again, such as for another alternative, starts from the same values and changes
    nothing twice.
    """

    def __init__(self, turn: TurnContext, *, is_reply: bool = True) -> None:
        """`is_reply` is false for a text of the user that is not stored yet."""
        rows, spoken = turn.rows, [message for message in turn.messages if not message.hidden]
        self._snapshots = read_stored(_SNAPSHOTS.validate_python, rows.states.get(VARIABLES)) or {}
        texts = [f"{message.id}/{message.shown}" for message in reversed(spoken)]
        self._keys = [*(key for text in texts for key in (f"{text}/{BEGINNING}", text)), BEGINNING]
        self._key = self._keys[0] if is_reply else ""
        local = next((self._snapshots[key].local for key in self._keys if key != self._key and key in self._snapshots), {})
        shared = read_stored(SHARED_VALUES.validate_python, rows.app_state.get(SHARED_VARIABLES)) or {}
        for name, (before, _after) in self._snapshots.get(self._key, Snapshot()).shared.items():
            others = {key: value for key, value in shared.items() if key != name}
            shared = others if before is None else others | {name: before}
        self.variables = Variables(local, shared)
        """Values before the text or prompt, also if it was expanded before."""
        is_near = not local or any(key in self._snapshots for key in self._keys[: 2 * MAX_DISTANCE])
        self.is_due = not is_near or self._key in self._snapshots
        """True if they are stored in any case: they were stored long ago, or after another expansion."""
        last = spoken[-1] if spoken else None
        users = [number for number, message in enumerate(spoken) if message.role is Role.USER]
        later = len(spoken) - 1 - users[-1] if users and is_reply else -1
        newest = {role: next((one.content for one in reversed(spoken) if one.role is role), "") for role in Role}
        self.values = {
            "lastmessage": last.content if last else "",
            "lastusermessage": newest[Role.USER],
            "lastcharmessage": newest[Role.ASSISTANT],
            "lastmessageid": str(rows.turn_position.messages - 1 + later) if last else "",
            "firstincludedmessageid": str(rows.messages_before or 0) if last else "",
            "firstdisplayedmessageid": "0" if last else "",
            "lastswipeid": str(len(last.alternatives)) if last else "",
            "currentswipeid": str(last.shown + 1) if last else "",
        }

    def changes(self, after: Variables, message: Message | None = None) -> VariableChanges:
        """Return what is stored once the prompt, or the text of a new message, was expanded."""
        before, key = self.variables, self._key if message is None else f"{message.id}/{message.shown}"
        old = self._snapshots[key].shared if key in self._snapshots else {}
        shared = {
            name: (before.shared.get(name), after.shared.get(name))
            for name in before.shared.keys() | after.shared.keys()
            if before.shared.get(name) != after.shared.get(name)
        }
        kept = {one: value for one, value in self._snapshots.items() if one != key}
        kept[key] = Snapshot(local=after.local, shared=shared)
        newest = dict([*kept.items()][-MAX_SNAPSHOTS:])
        # What another conversation has changed since is left as it is.
        expected = {name: old[name][1] if name in old else before.shared.get(name) for name in shared.keys() | old.keys()}
        values = {name: (value, after.shared.get(name)) for name, value in expected.items()}
        return _SNAPSHOTS.dump_python(newest, mode="json"), values


def greeting_changes(message: Message, before: Variables, after: Mapping[int, Variables]) -> VariableChanges | None:
    """Return what has to be stored of the variables that greetings, by their number, have set; None if there is nothing. Those
    shared by all conversations are set by the one that is shown.
    """
    changed = {number: variables for number, variables in after.items() if variables != before}
    snapshots = {f"{message.id}/{number}": Snapshot(local=variables.local) for number, variables in changed.items()}
    shared = changed.get(message.shown, before).shared
    values = {name: (before.shared.get(name), value) for name, value in shared.items() if before.shared.get(name) != value}
    return (_SNAPSHOTS.dump_python(snapshots, mode="json"), values) if changed else None


def is_small(model: LoadedModel) -> bool:
    """Return whether a model has fewer than `SMALL_MODEL` parameters; an unknown number counts as large."""
    return 0 < model.file.parameters < SMALL_MODEL


def default_sampler_name(*, small: bool) -> str:
    """Return the name of the sampler preset that is used if the user chose none."""
    return "small-models" if small else "default"


def default_system_name(*, small: bool) -> str:
    """Return the name of the system preset that is used if the user chose none."""
    return "tiny" if small else "default"
