"""Packs a persona into one file, to give away or to take along, and lets one in that came so: the whole of it or nothing."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from lethe_app.domain.bundle import ENDING, VERSION, WITHOUT_A_MIND, Bundle, BundleScope, Habits, Holds, Manifest, Past
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
"""Scope under which `services/memory/objections` keeps them for each persona."""
SHARE_PACKED = 0.45
"""Of a text's bytes, about how many are left when it is packed."""
EACH = 160
"""Bytes that a memory, a fact or what belongs to a message takes, packed."""


@dataclass(frozen=True)
class BundleOffer:
    """What a bundle of this persona would hold, and about how many bytes it would have, by how much goes into it."""

    persona: Persona
    giver: str
    holds: Holds
    sizes: dict[BundleScope, int]


@dataclass(frozen=True)
class Received:
    """A persona who has come, with all that is needed to take it back."""

    persona: Persona
    new_worlds: Sequence[World] = ()
    came_as: str = ""
    """Her name in the bundle, where she got another one here."""


class Bundles:
    """Reading and writing happen beside the loop. Cancelling a task leaves nothing half done behind."""

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

    # giving

    async def offer(self, persona_id: str) -> BundleOffer:
        """Raises FileError if there is no such persona."""
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
        """Write the bundle to `target`, which gets our ending if it has none; what is there is replaced when all is well."""
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
                version=VERSION if has_mind else WITHOUT_A_MIND,
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
        """Those she is bound to and that are there, with the names under which she knows them."""
        known = await self._library.worlds()
        return {name: known[name] for name in persona.worlds if name in known and may_be_packed(name)}

    async def _giver(self) -> str:
        chosen = self._preferences.current.user_persona
        with suppress(FileError):
            return (await self._library.persona(chosen)).name if chosen else ""
        return ""

    # receiving

    async def look(self, file: Path, told: Told = silent) -> Bundle:
        """Read and understand all of it; nothing is stored. Raises FileError."""

        def work(check: Told) -> Bundle:
            try:
                with file.open("rb") as opened:
                    return BundleReader(opened, file.name, parse, check).read()
            except FileNotFoundError as error:
                raise FileError(file, "is not there") from error
            except OSError as error:
                raise FileError(file, f"cannot be opened: {(error.strerror or str(error)).lower()}") from error

        stop = CancelToken(told)
        bundle = await until_done(asyncio.to_thread(work, stop.check), stop)
        if stop.is_wanted:
            raise asyncio.CancelledError
        return bundle

    async def name_for(self, bundle: Bundle) -> str:
        """What she would be called here: another name where somebody has hers."""
        present = [*await self._library.personas(), *await self._library.user_personas()]
        return free_name(bundle.persona.name, {persona.name for persona in present})

    async def receive(self, bundle: Bundle, name: str = "", told: Told = silent) -> Received:
        """Store everything in the bundle under new ids, as somebody called `name`; without one, as `name_for` says."""
        name = name.strip() or await self.name_for(bundle)
        selves = {persona.unique_name for persona in await self._library.user_personas()}
        guests = Guests(bundle.persona)
        stop = CancelToken(told)

        def enter() -> Arrival:
            self._book.write_files(guests, bundle, name)
            self._minds.write_notebooks(guests.persona.unique_name, bundle.past, guests.files)
            here, habits = guests.persona.unique_name, bundle.past.habits

            def speaker(old: str) -> str:
                """Those who spoke: she herself, and the user's own selves if they are here too."""
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
        """She and her worlds go to the trash; her past stays with her, out of sight."""
        await self._library.delete_persona(received.persona.unique_name)
        for world in received.new_worlds:
            with suppress(FileError):  # thrown away already
                await self._library.delete_world(world.unique_name)


def _as_given(persona: Persona, scope: BundleScope) -> Persona:
    """Without what is nobody else's business: which model this computer has, and what she noted about the user."""
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
