"""Export of a persona to a bundle file, and its import, which either completes or leaves nothing behind."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from lethe_app.domain.bundle import (
    ENDING,
    VERSION,
    WITHOUT_A_MIND,
    WITHOUT_SESSIONS,
    Bundle,
    BundleScope,
    Habits,
    Holds,
    Manifest,
    Past,
)
from lethe_app.domain.clock import now
from lethe_app.domain.persona import Persona
from lethe_app.domain.worldinfo import World
from lethe_app.errors import FileError
from lethe_app.interchange.bundles import BundleReader, BundleWriter, may_be_packed
from lethe_app.paths import Paths
from lethe_app.services.events import Listeners
from lethe_app.services.indexing.service import Indexing
from lethe_app.services.library import Library
from lethe_app.services.memory.proactive import NOTES
from lethe_app.services.personas.bundle_files import GuestBook, Guests, free_name
from lethe_app.services.personas.bundle_mind import Minds, places
from lethe_app.services.preferences import Preferences
from lethe_app.services.scheduling.offload import CancelToken, Told, beside, silent, until_done
from lethe_app.storage.atomic import remove_draft, sync_file, sync_folder
from lethe_app.storage.bundles.export import Belongings
from lethe_app.storage.bundles.import_ import Arrival, Arrivals
from lethe_app.storage.database import Database
from lethe_app.storage.error_translation import translated
from lethe_app.storage.files.json_files import parse
from lethe_app.storage.key_value import AppState

OBJECTIONS = "objections {}"
"""Scope of the app state in which `services/memory/objections` stores a persona's objections."""
SHARE_PACKED = 0.45
"""Estimated ratio of packed to original bytes of text."""
EACH = 160
"""Estimated packed bytes of a memory, a fact or a message's metadata."""


@dataclass(frozen=True)
class BundleOffer:
    """Preview of an export: the number of records of each kind, and the estimated file size in bytes for each scope."""

    persona: Persona
    giver: str
    holds: Holds
    sizes: dict[BundleScope, int]


@dataclass(frozen=True)
class Received:
    """Imported persona, with what `revert_import` needs to undo the import."""

    persona: Persona
    new_worlds: Sequence[World] = ()
    came_as: str = ""
    """The persona's name in the bundle if it was renamed on import; empty otherwise."""


class Bundles:
    """Export and import of bundles. Files are read and written in threads; a cancelled task leaves no partial file or record
    behind.
    """

    def __init__(
        self,
        paths: Paths,
        database: Database,
        library: Library,
        state: AppState,
        indexing: Indexing,
        preferences: Preferences,
        sessions_changed: Listeners[str],
    ) -> None:
        self._database, self._library, self._state = database, library, state
        self._indexing, self._preferences, self._sessions_changed = indexing, preferences, sessions_changed
        self._belongings, self._arrivals, self._book = Belongings(database), Arrivals(database), GuestBook(paths)
        self._minds = Minds(paths, database, state)

    # Export

    async def offer(self, persona_id: str) -> BundleOffer:
        """Count what a bundle of this persona would contain and estimate its size. Raise FileError if the persona does not
        exist.
        """
        persona = await self._library.persona(persona_id)
        holds, words = await self._belongings.held(persona_id)
        notebooks, lines = await self._minds.written(persona_id)
        worlds = await self._worlds(persona)
        file = self._library.avatar(persona)
        picture = await asyncio.to_thread(lambda: file.stat().st_size) if file is not None else 0
        text = sum(len(one.model_dump_json()) for one in [persona, *worlds.values()])
        who = picture + round(text * SHARE_PACKED)
        known = who + (holds.memories + holds.facts) * EACH + round(lines * SHARE_PACKED)
        said = round(words * SHARE_PACKED) + holds.messages * EACH
        sizes = {BundleScope.PERSONA: who, BundleScope.MEMORIES: known, BundleScope.EVERYTHING: known + said}
        holds = holds.model_copy(update={"worlds": len(worlds), "notebooks": notebooks})
        return BundleOffer(persona, await self._giver(), holds, sizes)

    async def export(self, persona_id: str, scope: BundleScope, target: Path, told: Told = silent) -> Path:
        """Write a bundle to `target` and return its path, with `.lethe` appended if it has another ending.

        An existing file is replaced only after the new one is complete: the bundle is written to a hidden temporary file in
        the same folder, synced and renamed. `told` receives the progress from 0 to 1. Raise FileError for a missing persona
        or unreadable notebook, and StorageError if the file cannot be written.
        """
        target = target if target.suffix.lower() == ENDING else target.with_name(f"{target.name}{ENDING}")
        draft = target.with_name(f".{secrets.token_hex(8)}.tmp")
        try:
            with translated(target):
                await self._write(draft, persona_id, scope, told)
            await beside(lambda: _put_in_place(draft, target))
        except BaseException:
            remove_draft(draft)
            raise
        return target

    async def _write(self, draft: Path, persona_id: str, scope: BundleScope, told: Told) -> None:
        persona = await self._library.persona(persona_id)
        worlds, giver = await self._worlds(persona), await self._giver()
        file = self._library.avatar(persona)
        has_past, has_words = scope is not BundleScope.PERSONA, scope is BundleScope.EVERYTHING
        sessions = await self._belongings.sessions(persona_id) if has_words else []
        holds, has_mind = Holds(worlds=len(worlds)), False
        opened = await beside(lambda: draft.open("xb"))
        writer = BundleWriter(opened)
        try:
            picture = await beside(file.read_bytes) if file is not None else b""
            ending = file.suffix.lower() if file is not None else ""
            await beside(lambda: writer.put_who(_as_given(persona, scope), picture, ending, worlds))
            if has_past:
                past = await self._past(persona_id, is_whole=has_words)
                has_mind = bool(past.notebooks) or not past.mind.is_empty
                await beside(lambda: writer.put_past(past))
                known = {"memories": len(past.memories), "facts": len(past.facts), "notebooks": len(past.notebooks)}
                holds = holds.model_copy(update=known)
            talks = messages = 0
            for number, guid in enumerate(sessions):
                told(number / len(sessions))
                talk = await self._belongings.conversation(guid)
                if talk is not None:  # else it was thrown away since the list was made
                    talks, messages = talks + 1, messages + len(talk.messages)
                    await beside(partial(writer.put_conversation, talk))
            manifest = Manifest(
                version=VERSION if talks else WITHOUT_SESSIONS if has_mind else WITHOUT_A_MIND,
                made_by=f"Lethe {_own_version()}".strip(),
                made=now(),
                giver=giver[:200],
                name=persona.name[:200],
                unique_name=persona.unique_name[:200],
                scope=scope,
                holds=holds.model_copy(update={"conversations": talks, "messages": messages}),
            )
            await beside(lambda: writer.finish(manifest))
            told(1.0)
        finally:
            with suppress(OSError):  # of a full disk that was told of already
                await beside(writer.close)
            await beside(opened.close)

    async def _past(self, persona_id: str, *, is_whole: bool) -> Past:
        past = await self._belongings.past(persona_id, None if is_whole else ())
        past = await self._minds.along(persona_id, past, is_whole=is_whole)
        if not is_whole:
            return past
        objections = await self._state.get(OBJECTIONS.format(persona_id), "all")
        notes = await self._state.get(NOTES, persona_id)
        habits = Habits(
            objections=objections if isinstance(objections, list) else [], notes=notes if isinstance(notes, list) else []
        )
        return replace(past, habits=habits)

    async def _worlds(self, persona: Persona) -> dict[str, World]:
        """Return the persona's worlds that exist and can be packed, by the name under which the persona refers to them."""
        known = await self._library.worlds()
        return {name: known[name] for name in persona.worlds if name in known and may_be_packed(name)}

    async def _giver(self) -> str:
        chosen = self._preferences.current.user_persona
        with suppress(FileError):
            return (await self._library.persona(chosen)).name if chosen else ""
        return ""

    # Import

    async def look(self, file: Path, told: Told = silent) -> Bundle:
        """Read and validate a bundle file without storing anything. Raise FileError if it cannot be opened or is invalid."""

        def work(check: Told) -> Bundle:
            try:
                with file.open("rb") as opened:
                    return BundleReader(opened, file.name, parse, check).read()
            except FileNotFoundError as error:
                raise FileError(file, "does not exist") from error
            except OSError as error:
                raise FileError(file, f"cannot be opened: {(error.strerror or str(error)).lower()}") from error

        stop = CancelToken(told)
        bundle = await until_done(asyncio.to_thread(work, stop.check), stop)
        if stop.is_wanted:
            raise asyncio.CancelledError
        return bundle

    async def name_for(self, bundle: Bundle) -> str:
        """Return the name the persona would get here: its own, or the next free one."""
        present = [*await self._library.personas(), *await self._library.user_personas()]
        return free_name(bundle.persona.name, {persona.name for persona in present})

    async def receive(self, bundle: Bundle, name: str = "", told: Told = silent) -> Received:
        """Store the contents of a bundle under new ids, with the persona named `name`; if it is empty, with the name from
        `name_for`.

        Files and database records are written within one job of the storage thread; if it fails or is cancelled before it
        completes, everything written is removed. `told` receives the progress from 0 to 1. Raise FileError, StorageError.
        """
        name = name.strip() or await self.name_for(bundle)
        selves = {persona.unique_name for persona in await self._library.user_personas()}
        guests = Guests(bundle.persona)
        stop = CancelToken(told)

        def enter() -> Arrival:
            self._book.write_files(guests, bundle, name)
            self._minds.write_notebooks(guests.persona.unique_name, bundle.past, guests.files)
            here, habits = guests.persona.unique_name, bundle.past.habits

            def speaker(old: str) -> str:
                """Return the new speaker id of a message: the imported persona, a user persona that exists here too, or
                none.
                """
                return here if old and old == bundle.manifest.unique_name else old if old in selves else ""

            app_state = places(bundle.past.mind, here)
            app_state |= {(OBJECTIONS.format(here), "all"): habits.objections, (NOTES, here): habits.notes}
            return Arrival(here, bundle.past, guests.entries, guests.worlds, speaker, app_state)

        try:
            await until_done(self._arrivals.let_in(enter, stop.check), stop)
        except BaseException:
            await self._database.aside(guests.leave)
            raise
        self._library.changed.tell(None)
        self._sessions_changed.tell(guests.persona.unique_name)
        self._indexing.wake()
        renamed = bundle.persona.name if name != bundle.persona.name else ""
        return Received(guests.persona, tuple(guests.new_worlds), renamed)

    async def revert_import(self, received: Received) -> None:
        """Move the imported persona and its new worlds to the trash; its sessions and memories stay stored but are not
        shown.
        """
        await self._library.delete_persona(received.persona.unique_name)
        for world in received.new_worlds:
            with suppress(FileError):  # thrown away already
                await self._library.delete_world(world.unique_name)


def _as_given(persona: Persona, scope: BundleScope) -> Persona:
    """Return the persona without fields that do not belong in a bundle of this scope: local models and samplers, unless
    everything is exported, and the persona's notes about the user in the scope PERSONA.
    """
    own: dict[str, object] = {}
    if scope is not BundleScope.EVERYTHING:
        own |= {"preferred_model": "", "allowed_samplers": []}
    if scope is BundleScope.PERSONA:
        own |= {"self_edit_field": "", "point_value": 0}
    return persona.model_copy(update=own)


def _put_in_place(draft: Path, target: Path) -> None:
    with translated(target):
        sync_file(draft)
        draft.replace(target)
        sync_folder(target.parent)


def _own_version() -> str:
    try:
        return version("lethe-app")
    except PackageNotFoundError:
        return ""
