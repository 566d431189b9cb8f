"""The user's worlds (lorebooks): files, trash, erasing, and assignment to personas, sessions or everybody."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from uuid import UUID, uuid4

from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.errors import FileError
from lethe_app.paths import Paths
from lethe_app.services.events import Listeners
from lethe_app.services.library import Library
from lethe_app.services.participants import DEFAULT_USER, SESSION_WORLDS_KEY, Participants, ParticipantService
from lethe_app.services.preferences import Preferences
from lethe_app.storage.chats.receipts import Receipts
from lethe_app.storage.database import Database
from lethe_app.storage.key_value import SessionState
from lethe_app.storage.memory.turn_memories import WorldUsage


class WorldPurge:
    """Delete stored prompts when world texts are withdrawn. `purged` is notified with the id of each persona affected,
    afterwards.
    """

    def __init__(self, world_usage: WorldUsage, receipts: Receipts) -> None:
        self.purged: Listeners[str] = Listeners()
        self._world_usage = world_usage
        self._receipts = receipts

    async def purge_withdrawn(self, old_world: World | None, new_world: World | None) -> None:
        """Delete the stored prompts of all personas for whom an entry of `find_withdrawn_entries` was ever activated."""
        withdrawn_guids = find_withdrawn_entries(old_world, new_world)
        for persona_id in await self._world_usage.personas_of_entries(withdrawn_guids) if withdrawn_guids else ():
            await self.purge_persona(persona_id)

    async def purge_persona(self, persona_id: str) -> None:
        """Delete all stored prompts of a persona."""
        await self._receipts.delete_prompts(persona_id)
        self.purged.notify(persona_id)


def find_withdrawn_entries(old_world: World | None, new_world: World | None) -> set[UUID]:
    """Return the entries that were deleted or whose old text is no longer contained in the new one; a mere addition does not
    count.
    """
    # Entries that are the same object in both versions are unchanged; only the texts of the others are compared.
    unchanged_ids = {id(entry) for entry in new_world.entries} if new_world is not None else set()
    changed = [entry for entry in old_world.entries if id(entry) not in unchanged_ids] if old_world is not None else []
    new_texts = {entry.guid: entry.content for entry in new_world.entries} if new_world is not None and changed else {}
    old_texts = ((entry.guid, entry.content) for entry in changed)
    return {guid for guid, content in old_texts if content.strip() and content.strip() not in new_texts.get(guid, "")}


Stamp = tuple[int, int]


class WorldOwner(StrEnum):
    """Owner to which a world can be assigned."""

    PERSONA = "persona"
    USER = "user"
    SESSION = "session"
    EVERYBODY = "everybody"


@dataclass(frozen=True)
class OpenWorld:
    """World in its current state, with or without unsaved changes."""

    world: World
    is_own: bool
    """True if the user has a file of this name, which can be deleted."""
    is_shipped: bool
    """True if a world of this name ships with Lethe; the user's takes precedence over it."""


class WorldService:
    """Lists, saves and deletes worlds, and assigns them to their owners."""

    def __init__(
        self,
        paths: Paths,
        library: Library,
        participants: ParticipantService,
        preferences: Preferences,
        session_state: SessionState,
        database: Database,
        world_purge: WorldPurge,
    ) -> None:
        self._world_purge = world_purge
        self._paths, self._library, self._participants = paths, library, participants
        self._preferences, self._session_state, self._database = preferences, session_state, database
        self._stamps: dict[str, Stamp | None] = {}
        """Stamp of the file of each world when it was last read or written here."""
        self.unsaved: dict[str, World] = {}
        """Newest versions of worlds with changes that are not written yet, by file name. They outlive the page."""
        self._lock = asyncio.Lock()

    # Listing

    async def list_worlds(self) -> list[OpenWorld]:
        """Return all readable worlds and those in `unsaved`, sorted by name; for broken files see `list_errors`."""
        async with self._lock:
            worlds, broken = await self._library.worlds(), {error.path for error in await self.list_errors()}
            stamps, shipped = await self._database.run_outside_transaction(self._read_stamps)
        # What another program wrote is still to go to the trash if it is not shown.
        known = {stem: stamp for stem, stamp in stamps.items() if self._path(stem) not in broken and stem not in self.unsaved}
        self._stamps |= known
        open_worlds = [OpenWorld(world, stem in stamps, stem in shipped) for stem, world in (worlds | self.unsaved).items()]
        return sorted(open_worlds, key=lambda open_world: (open_world.world.name.casefold(), open_world.world.unique_name))

    async def list_errors(self) -> list[FileError]:
        """Return the errors of world files that cannot be read."""
        folders = {self._paths.worlds, self._paths.shipped_worlds}
        return [error for error in await self._library.errors() if error.path.parent in folders]

    async def count_activations(self) -> Mapping[UUID, int]:
        """Return the number of turns in which each entry was activated, by guid."""
        return await WorldUsage(self._database).activation_counts()

    async def export_world(self, world: World, target: Path) -> None:
        """Write a world as a World Info file. Raise StorageError."""
        from lethe_app.services.personas.card_export import write_world_file  # noqa: PLC0415 - takes long to load

        await asyncio.to_thread(write_world_file, world, target)

    # Saving

    async def save(self, world: World) -> Path | None:
        """Write a world under the file name it has. A version that another program wrote meanwhile goes to the trash, and its
        path there is returned. Raise StorageError, and FileError if that version is broken: nothing is written then, and the
        world stays in `unsaved`.
        """
        stem = world.unique_name
        self.unsaved[stem] = world
        async with self._lock:
            if self.unsaved.get(stem) != world:
                return None  # it was deleted, saved or changed again meanwhile
            previous = (await self._library.worlds()).get(stem)
            replaced = await self._trash_external_version(stem)
            await self._library.save_world(world)
            await self._world_purge.purge_withdrawn(previous, world)
            await self._remember_stamp(stem)
            if self.unsaved.get(stem) == world:
                del self.unsaved[stem]
        return replaced

    async def trash_entries(self, part: World) -> None:
        """Move deleted entries, in a world of the name of theirs, to the trash. Raise StorageError."""
        await self._library.trash_entries(part)

    async def _remember_stamp(self, stem: str) -> None:
        self._stamps[stem] = await self._database.run_outside_transaction(lambda: _stamp(self._path(stem)))

    async def _trash_external_version(self, stem: str) -> Path | None:
        """Move a version that another program wrote since the file was last read to the trash, and return its path there.

        Raise FileError if that version is broken: it is left in place, and nothing is written.
        """
        stamp = await self._database.run_outside_transaction(lambda: _stamp(self._path(stem)))
        if stamp is None or stamp == self._stamps.get(stem):
            return None
        for error in await self.list_errors():
            if error.path == self._path(stem):
                raise FileError(
                    error.path, error.problem, error.field, "Your changes are kept until the file is repaired or moved."
                )
        return await self._library.delete_world(stem)

    # Creating and deleting

    async def create(self, name: str) -> World:
        """Create an empty world."""
        return await self._save_new(World(name=name))

    async def duplicate(self, world: World, name: str) -> World:
        """Create a copy under another name. Its entries get new ids, so that both worlds can be active at the same time."""
        entries = [copy_entry(entry) for entry in world.entries]
        return await self._save_new(world.model_copy(update={"unique_name": "", "name": name, "entries": entries}))

    async def delete(self, stem: str) -> Path:
        """Move a world to the trash and return its path there; unsaved changes are dropped. Raise ReadOnly for a shipped
        world.
        """
        async with self._lock:
            previous = (await self._library.worlds()).get(stem)
            trashed = await self._library.delete_world(stem)
            await self._world_purge.purge_withdrawn(
                previous, (await self._library.worlds()).get(stem)
            )  # one of ours may show again
            self.unsaved.pop(stem, None)
        return trashed

    async def restore(self, trashed: Path) -> str:
        """Restore a world from the trash and return its file name."""
        stem = await self._library.restore_world(trashed)
        await self._remember_stamp(stem)
        return stem

    async def _save_new(self, world: World) -> World:
        saved = await self._library.save_world(world)
        await self._remember_stamp(saved.unique_name)
        return saved

    # Assignment

    async def list_owners(self, session: ChatSession | None) -> dict[WorldOwner, str]:
        """Return the owners to which a world can be assigned in this session, with their names where they have one."""
        participants = await self._load_participants(session)
        owner_names = {WorldOwner.PERSONA: participants.persona.name} if participants else {}
        if participants and participants.user is not DEFAULT_USER:
            owner_names[WorldOwner.USER] = participants.user.name
        return {**owner_names, **({WorldOwner.SESSION: ""} if session else {}), WorldOwner.EVERYBODY: ""}

    async def list_other_users(self, session: ChatSession | None) -> dict[str, list[str]]:
        """Return the names of the personas that use each world outside this session, by the world's file name."""
        participants = await self._load_participants(session)
        present = {participants.persona.unique_name, participants.user.unique_name} if participants else set()
        names: dict[str, list[str]] = {}
        for persona in [*await self._library.personas(), *await self._library.user_personas()]:
            for stem in persona.worlds if persona.unique_name not in present else ():
                names.setdefault(stem, []).append(persona.name)
        return names

    async def session_worlds(self, session: ChatSession | None) -> dict[WorldOwner, list[str]]:
        """Return the file names of the worlds assigned to each owner."""
        participants = await self._load_participants(session)
        session_worlds = await self._session_state.get(session.guid, SESSION_WORLDS_KEY) if session else None
        return {
            WorldOwner.PERSONA: list(participants.persona.worlds) if participants else [],
            WorldOwner.USER: list(participants.user.worlds) if participants else [],
            WorldOwner.SESSION: [name for name in session_worlds if isinstance(name, str)]
            if isinstance(session_worlds, list)
            else [],
            WorldOwner.EVERYBODY: list(self._preferences.current.global_worlds),
        }

    async def bind(self, stem: str, owner: WorldOwner, session: ChatSession | None, *, is_bound: bool) -> None:
        """Assign a world to an owner, or remove the assignment."""
        names = [name for name in (await self.session_worlds(session))[owner] if name != stem] + [stem] * is_bound
        participants = await self._load_participants(session)
        if owner is WorldOwner.EVERYBODY:
            await self._preferences.set(global_worlds=names)
        elif owner is WorldOwner.SESSION and session is not None:
            await self._session_state.set(session.guid, SESSION_WORLDS_KEY, names or None)
        elif participants is not None and (owner is WorldOwner.PERSONA or participants.user is not DEFAULT_USER):
            persona = participants.persona if owner is WorldOwner.PERSONA else participants.user
            await self._library.save_persona(persona.model_copy(update={"worlds": names}))

    async def _load_participants(self, session: ChatSession | None) -> Participants | None:
        return await self._participants.load_for_session(session) if session is not None else None

    # Files

    def _path(self, stem: str) -> Path:
        return self._paths.worlds / f"{stem}.json"

    def _read_stamps(self) -> tuple[dict[str, Stamp | None], set[str]]:
        """Return the file stamps of the user's worlds, and the names of the shipped ones. Runs in the storage thread."""
        own_paths = sorted(self._paths.worlds.glob("*.json")) if self._paths.worlds.is_dir() else []
        return {path.stem: _stamp(path) for path in own_paths}, {
            path.stem for path in self._paths.shipped_worlds.glob("*.json")
        }


def copy_entry(entry: WorldEntry) -> WorldEntry:
    """Return a copy of an entry with a new id and without its activation count."""
    return entry.model_copy(update={"guid": uuid4(), "trigger_count": 0})


def convert_to_memory(entry: WorldEntry, insertion: MemoryInsertion) -> MemoryUnit:
    """Convert an entry to a memory of a persona, inserted as `insertion` says. It is dated now at the earliest, and enabled."""
    shared_fields = {name: getattr(entry, name) for name in MemoryUnit.model_fields if name not in {"guid", "last_trigger"}}
    category = MemoryType.GENERAL if entry.category is MemoryType.WORLD_INFO else entry.category
    memory_fields = {
        "category": category,
        "insertion": insertion,
        "added": max(entry.added, now()),
        "trigger_count": 0,
        "enabled": True,
    }
    return MemoryUnit.model_validate({**shared_fields, **memory_fields})


def _stamp(path: Path) -> Stamp | None:
    """Return modification time and size of a file, by which a change by another program is detected; None if there is no
    file.
    """
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
