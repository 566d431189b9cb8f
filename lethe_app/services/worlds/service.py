"""The user's worlds: what they write is kept by itself, deleted ones can be had back, and each belongs to whom they say."""

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
from lethe_app.services.events import Listeners
from lethe_app.services.library import Library
from lethe_app.services.memory.lore import BOUND
from lethe_app.services.participants import NOBODY, Participants, ParticipantService
from lethe_app.services.preferences import Preferences
from lethe_app.services.token_counts import Counting
from lethe_app.services.worlds.purge import WorldPurge
from lethe_app.services.worlds.test_bench import WorldTrials
from lethe_app.storage.database import Database
from lethe_app.storage.key_value import SessionState
from lethe_app.storage.memory.world_usage import Awakenings

DELAY = 0.6
"""Seconds after the last change until a world is written."""
Stamp = tuple[int, int]


class Owner(StrEnum):
    """To whom a world can belong."""

    PERSONA = "persona"
    USER = "user"
    SESSION = "session"
    EVERYBODY = "everybody"


@dataclass(frozen=True)
class OpenWorld:
    """A world as it is now, written already or not."""

    world: World
    is_own: bool
    """Is there a file of the user's, which can be deleted?"""
    is_shipped: bool
    """Does it come with Lethe? Then one of the user's with the same name stands before it."""


@dataclass(frozen=True)
class WorldSaved:
    """Something was written, or could not be."""

    stem: str
    error: LetheError | None = None
    replaced: Path | None = None
    """Where the version lies that another program had written meanwhile."""


class Worlds:
    """Changes wait a moment, so that what is typed in one go is written once; `flush` and `close` write what waits."""

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

    # What there is

    async def all(self) -> list[OpenWorld]:
        """By name. Broken files are not among them; see `problems`."""
        worlds = {**await self._library.worlds(), **self._waiting}
        stamps, shipped = await self._database.aside(self._look)
        self._stamps = {**stamps, **{stem: self._stamps.get(stem) for stem in self._waiting}}
        held = [OpenWorld(world, stem in stamps, stem in shipped) for stem, world in worlds.items()]
        return sorted(held, key=lambda one: (one.world.name.casefold(), one.world.unique_name))

    async def problems(self) -> list[FileError]:
        """Files of worlds that cannot be read."""
        folders = {self._paths.worlds, self._paths.shipped_worlds}
        return [problem for problem in await self._library.problems() if problem.path.parent in folders]

    async def counts(self) -> Mapping[UUID, int]:
        """How many turns each entry came in, by its guid."""
        return await Awakenings(self._database).counts()

    async def tokens(self, texts: Sequence[str]) -> list[int]:
        """Of each text, by the loaded model's tokenizer where there is one."""
        return await self._counting.count(texts)

    # Writing

    def schedule_save(self, world: World) -> None:
        """Write it in a moment, under the name it has."""
        self._waiting[world.unique_name] = world
        self._soon()

    def part_with(self, part: World) -> None:
        """Entries that were deleted from the world with its name, and cannot be had back by undo any more, go to the trash."""
        self._parted.append(part)
        self._soon()

    def _soon(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(DELAY, self._begin)

    @property
    def is_waiting(self) -> bool:
        """Is there anything not written yet?"""
        return bool(self._waiting) or bool(self._parted) or bool(self._writing)

    async def flush(self) -> bool:
        """Write what waits now; False if something could not be written, which then still waits."""
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
        """What another program wrote since we read the file goes to the trash; what is broken stays, and we do not write."""
        there = await self._database.aside(lambda: _stamp(self._path(stem)))
        if there is None or there == self._stamps.get(stem):
            return None
        for problem in await self.problems():
            if problem.path == self._path(stem):
                raise FileError(problem.path, problem.problem, problem.field, "Your changes wait until it is mended or moved.")
        return await self._library.delete_world(stem)

    # Making and deleting

    async def create(self, name: str) -> World:
        """A new and empty one."""
        return await self._added(World(name=name))

    async def duplicate(self, world: World, name: str) -> World:
        """The same under another name; its entries are others, so that both can be awake."""
        entries = [twin(entry) for entry in world.entries]
        return await self._added(world.model_copy(update={"unique_name": "", "name": name, "entries": entries}))

    async def delete(self, stem: str) -> Path:
        """Move it to the trash and return where it lies; raises ReadOnly for one that comes with Lethe."""
        await self.flush()
        self._waiting.pop(stem, None)
        before = (await self._library.worlds()).get(stem)
        trashed = await self._library.delete_world(stem)
        await self._withdrawing.rewritten(before, (await self._library.worlds()).get(stem))  # one of ours may show again
        return trashed

    async def restore(self, trashed: Path) -> str:
        """Take it out of the trash again; returns its file name."""
        stem = await self._library.restore_world(trashed)
        self._stamps[stem] = await self._database.aside(lambda: _stamp(self._path(stem)))
        return stem

    async def _added(self, world: World) -> World:
        saved = await self._library.save_world(world)
        stem = saved.unique_name
        self._stamps[stem] = await self._database.aside(lambda: _stamp(self._path(stem)))
        return saved

    # To whom it belongs

    async def owners(self, session: ChatSession | None) -> dict[Owner, str]:
        """To whom a world can be given now, with their names where they have one."""
        cast = await self._cast(session)
        found = {Owner.PERSONA: cast.persona.name} if cast else {}
        if cast and cast.user is not NOBODY:
            found[Owner.USER] = cast.user.name
        return {**found, **({Owner.SESSION: ""} if session else {}), Owner.EVERYBODY: ""}

    async def bound(self, session: ChatSession | None) -> dict[Owner, list[str]]:
        """The file names of the worlds that belong to each of them."""
        cast = await self._cast(session)
        chosen = await self._state.get(session.guid, BOUND) if session else None
        return {
            Owner.PERSONA: list(cast.persona.worlds) if cast else [],
            Owner.USER: list(cast.user.worlds) if cast else [],
            Owner.SESSION: [name for name in chosen if isinstance(name, str)] if isinstance(chosen, list) else [],
            Owner.EVERYBODY: list(self._preferences.current.global_worlds),
        }

    async def bind(self, stem: str, owner: Owner, session: ChatSession | None, *, on: bool) -> None:
        """Give a world to them, or take it away."""
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
        """The user's files as they are now, and the names of those that come with Lethe."""
        own = sorted(self._paths.worlds.glob("*.json")) if self._paths.worlds.is_dir() else []
        return {path.stem: _stamp(path) for path in own}, {path.stem for path in self._paths.shipped_worlds.glob("*.json")}


def twin(entry: WorldEntry) -> WorldEntry:
    """The same entry as another one."""
    return entry.model_copy(update={"guid": uuid4(), "trigger_count": 0})


def as_memory(entry: WorldEntry, insertion: MemoryInsertion) -> MemoryUnit:
    """A persona's own memory of what an entry says, which finds its way into a conversation as `insertion` says."""
    shared = {name: getattr(entry, name) for name in MemoryUnit.model_fields if name not in {"guid", "last_trigger"}}
    category = MemoryType.GENERAL if entry.category is MemoryType.WORLD_INFO else entry.category
    told = {"category": category, "insertion": insertion, "added": max(entry.added, now()), "trigger_count": 0, "enabled": True}
    return MemoryUnit.model_validate({**shared, **told})


def _stamp(path: Path) -> Stamp | None:
    """When it was written and how long it is; None where there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
