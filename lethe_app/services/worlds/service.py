"""The user's worlds (lorebooks): automatic saving, trash, and assignment to personas, sessions or everybody."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from uuid import UUID, uuid4

from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.errors import FileError, LetheError
from lethe_app.paths import Paths
from lethe_app.services.bound_worlds import BOUND
from lethe_app.services.events import Listeners
from lethe_app.services.library import Library
from lethe_app.services.participants import NOBODY, Participants, ParticipantService
from lethe_app.services.preferences import Preferences
from lethe_app.services.token_counts import Counting
from lethe_app.services.worlds.purge import WorldPurge
from lethe_app.services.worlds.test_bench import WorldTrials
from lethe_app.storage.database import Database
from lethe_app.storage.key_value import SessionState
from lethe_app.storage.memory.world_usage import Awakenings

DELAY = 0.6
"""Seconds after the last change before a world is written."""
Stamp = tuple[int, int]


class Owner(StrEnum):
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


@dataclass(frozen=True)
class WorldSaved:
    """Result of saving a world; `error` is set if it failed."""

    stem: str
    error: LetheError | None = None
    replaced: Path | None = None
    """Path in the trash of a version that another program had written in the meantime."""


class Worlds:
    """Edit worlds. Changes are written after `DELAY` seconds, together if they follow each other; `flush` and `close` write
    at once.
    """

    def __init__(
        self,
        paths: Paths,
        library: Library,
        casting: ParticipantService,
        preferences: Preferences,
        state: SessionState,
        counting: Counting,
        database: Database,
        trials: WorldTrials,
        withdrawing: WorldPurge,
    ) -> None:
        self.kept: Listeners[WorldSaved] = Listeners()
        self.trials = trials
        self._withdrawing = withdrawing
        self._paths, self._library, self._casting = paths, library, casting
        self._preferences, self._state, self._counting, self._database = preferences, state, counting, database
        self._waiting: dict[str, World] = {}
        self._parted: list[World] = []
        self._stamps: dict[str, Stamp | None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._writing: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()

    # Listing

    async def all(self) -> list[OpenWorld]:
        """Return all readable worlds, unsaved changes included, sorted by name; for broken files see `problems`."""
        worlds = {**await self._library.worlds(), **self._waiting}
        stamps, shipped = await self._database.aside(self._look)
        self._stamps = {**stamps, **{stem: self._stamps.get(stem) for stem in self._waiting}}
        held = [OpenWorld(world, stem in stamps, stem in shipped) for stem, world in worlds.items()]
        return sorted(held, key=lambda one: (one.world.name.casefold(), one.world.unique_name))

    async def problems(self) -> list[FileError]:
        """Return the errors of world files that cannot be read."""
        folders = {self._paths.worlds, self._paths.shipped_worlds}
        return [problem for problem in await self._library.problems() if problem.path.parent in folders]

    async def counts(self) -> Mapping[UUID, int]:
        """Return the number of turns in which each entry was activated, by guid."""
        return await Awakenings(self._database).counts()

    async def tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the token count of each text, by the loaded model's tokenizer, or an estimate without one."""
        return await self._counting.count(texts)

    # Saving

    def schedule_save(self, world: World) -> None:
        """Schedule a world to be saved under the file name it has."""
        self._waiting[world.unique_name] = world
        self._soon()

    def part_with(self, part: World) -> None:
        """Schedule deleted entries, in a world of the same name, to be moved to the trash, once undo can no longer restore
        them.
        """
        self._parted.append(part)
        self._soon()

    def _soon(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(DELAY, self._begin)

    @property
    def is_waiting(self) -> bool:
        """Return whether there are unsaved changes."""
        return bool(self._waiting) or bool(self._parted) or bool(self._writing)

    async def flush(self) -> bool:
        """Save all changes now; return False if one could not be saved. Unsaved changes stay scheduled."""
        async with self._turn:
            done = [await self._write(world) for world in list(self._waiting.values())]
            done.append(await self._part())
        return all(done)

    async def _part(self) -> bool:
        try:
            while self._parted:
                await self._library.trash_part(self._parted[0])
                del self._parted[0]
        except LetheError as error:
            self.kept.tell(WorldSaved(self._parted[0].unique_name, error))
            return False
        return True

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        await asyncio.gather(*self._writing)
        await self.flush()

    def _begin(self) -> None:
        task = asyncio.get_running_loop().create_task(self._flushed())
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def _flushed(self) -> None:
        await self.flush()

    async def _write(self, world: World) -> bool:
        stem = world.unique_name
        try:
            before = (await self._library.worlds()).get(stem)
            replaced = await self._make_way(stem)
            await self._library.save_world(world)
            await self._withdrawing.rewritten(before, world)
            self._stamps[stem] = await self._database.aside(lambda: _stamp(self._path(stem)))
        except LetheError as error:
            self.kept.tell(WorldSaved(stem, error))
            return False
        if self._waiting.get(stem) is world:
            del self._waiting[stem]
        self.kept.tell(WorldSaved(stem, replaced=replaced))
        return True

    async def _make_way(self, stem: str) -> Path | None:
        """Move a version that another program wrote since the file was last read to the trash, and return its path there.

        Raise FileError if that version is broken: it is left in place, and nothing is written.
        """
        there = await self._database.aside(lambda: _stamp(self._path(stem)))
        if there is None or there == self._stamps.get(stem):
            return None
        for problem in await self.problems():
            if problem.path == self._path(stem):
                raise FileError(
                    problem.path, problem.problem, problem.field, "Your changes are kept until the file is repaired or moved."
                )
        return await self._library.delete_world(stem)

    # Creating and deleting

    async def create(self, name: str) -> World:
        """Create an empty world."""
        return await self._added(World(name=name))

    async def duplicate(self, world: World, name: str) -> World:
        """Create a copy under another name. Its entries get new ids, so that both worlds can be active at the same time."""
        entries = [twin(entry) for entry in world.entries]
        return await self._added(world.model_copy(update={"unique_name": "", "name": name, "entries": entries}))

    async def delete(self, stem: str) -> Path:
        """Move a world to the trash and return its path there. Raise ReadOnly for a shipped world."""
        await self.flush()
        self._waiting.pop(stem, None)
        before = (await self._library.worlds()).get(stem)
        trashed = await self._library.delete_world(stem)
        await self._withdrawing.rewritten(before, (await self._library.worlds()).get(stem))  # one of ours may show again
        return trashed

    async def restore(self, trashed: Path) -> str:
        """Restore a world from the trash and return its file name."""
        stem = await self._library.restore_world(trashed)
        self._stamps[stem] = await self._database.aside(lambda: _stamp(self._path(stem)))
        return stem

    async def _added(self, world: World) -> World:
        saved = await self._library.save_world(world)
        stem = saved.unique_name
        self._stamps[stem] = await self._database.aside(lambda: _stamp(self._path(stem)))
        return saved

    # Assignment

    async def owners(self, session: ChatSession | None) -> dict[Owner, str]:
        """Return the owners to which a world can be assigned in this session, with their names where they have one."""
        cast = await self._cast(session)
        found = {Owner.PERSONA: cast.persona.name} if cast else {}
        if cast and cast.user is not NOBODY:
            found[Owner.USER] = cast.user.name
        return {**found, **({Owner.SESSION: ""} if session else {}), Owner.EVERYBODY: ""}

    async def bound(self, session: ChatSession | None) -> dict[Owner, list[str]]:
        """Return the file names of the worlds assigned to each owner."""
        cast = await self._cast(session)
        chosen = await self._state.get(session.guid, BOUND) if session else None
        return {
            Owner.PERSONA: list(cast.persona.worlds) if cast else [],
            Owner.USER: list(cast.user.worlds) if cast else [],
            Owner.SESSION: [name for name in chosen if isinstance(name, str)] if isinstance(chosen, list) else [],
            Owner.EVERYBODY: list(self._preferences.current.global_worlds),
        }

    async def bind(self, stem: str, owner: Owner, session: ChatSession | None, *, on: bool) -> None:
        """Assign a world to an owner, or remove the assignment."""
        names = [name for name in (await self.bound(session))[owner] if name != stem] + [stem] * on
        cast = await self._cast(session)
        if owner is Owner.EVERYBODY:
            await self._preferences.set(global_worlds=names)
        elif owner is Owner.SESSION and session is not None:
            await self._state.set(session.guid, BOUND, names or None)
        elif cast is not None and (owner is Owner.PERSONA or cast.user is not NOBODY):
            persona = cast.persona if owner is Owner.PERSONA else cast.user
            await self._library.save_persona(persona.model_copy(update={"worlds": names}))

    async def _cast(self, session: ChatSession | None) -> Participants | None:
        return await self._casting.of_session(session) if session is not None else None

    # Files

    def _path(self, stem: str) -> Path:
        return self._paths.worlds / f"{stem}.json"

    def _look(self) -> tuple[dict[str, Stamp | None], set[str]]:
        """Return the file stamps of the user's worlds, and the names of the shipped ones. Runs in the storage thread."""
        own = sorted(self._paths.worlds.glob("*.json")) if self._paths.worlds.is_dir() else []
        return {path.stem: _stamp(path) for path in own}, {path.stem for path in self._paths.shipped_worlds.glob("*.json")}


def twin(entry: WorldEntry) -> WorldEntry:
    """Return a copy of an entry with a new id and without its activation count."""
    return entry.model_copy(update={"guid": uuid4(), "trigger_count": 0})


def as_memory(entry: WorldEntry, insertion: MemoryInsertion) -> MemoryUnit:
    """Convert an entry to a memory of a persona, inserted as `insertion` says. It is dated now at the earliest, and enabled."""
    shared = {name: getattr(entry, name) for name in MemoryUnit.model_fields if name not in {"guid", "last_trigger"}}
    category = MemoryType.GENERAL if entry.category is MemoryType.WORLD_INFO else entry.category
    told = {"category": category, "insertion": insertion, "added": max(entry.added, now()), "trigger_count": 0, "enabled": True}
    return MemoryUnit.model_validate({**shared, **told})


def _stamp(path: Path) -> Stamp | None:
    """Return modification time and size of a file, by which a change by another program is detected; None if there is no
    file.
    """
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
