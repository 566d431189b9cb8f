"""Export of a persona to a bundle file, and its import, which either completes or leaves nothing behind."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from lethe_app.domain.bundle import (
    ENDING,
    VERSION,
    WITH_CARD_FIELDS,
    WITHOUT_A_MIND,
    WITHOUT_SESSIONS,
    Bundle,
    BundleCounts,
    BundleScope,
    Manifest,
    PersonaHistory,
    PersonaRecords,
)
from lethe_app.domain.clock import now
from lethe_app.domain.persona import Persona
from lethe_app.domain.worldinfo import World
from lethe_app.errors import FileError
from lethe_app.interchange.bundles import BundleReader, BundleWriter, is_member_name
from lethe_app.paths import Paths
from lethe_app.services.events import Listeners
from lethe_app.services.indexing.service import IndexingService
from lethe_app.services.library import Library
from lethe_app.services.memory.proactive import NOTES
from lethe_app.services.mood import MoodService
from lethe_app.services.personas.bundle_parts import BundleFileWriter, ImportedFiles, MindTransfer, build_app_state, free_name
from lethe_app.services.preferences import Preferences
from lethe_app.services.scheduling.offload import CancelToken, ProgressCallback, ignore_progress, run_cancellable, run_in_thread
from lethe_app.storage.atomic import delete_temporary_file, sync_file, sync_folder
from lethe_app.storage.bundles.export import PersonaExport
from lethe_app.storage.bundles.import_ import BundleImport, IdMapping, PersonaImport
from lethe_app.storage.database import Database
from lethe_app.storage.error_translation import translate_errors
from lethe_app.storage.files.json_files import parse_model
from lethe_app.storage.home_files import share_like_folder
from lethe_app.storage.key_value import AppState

OBJECTIONS = "objections {}"
"""Scope of the app state in which `services/memory/objections` stores a persona's objections."""
COMPRESSION_RATIO = 0.45
"""Estimated ratio of packed to original bytes of text."""
RECORD_BYTES = 160
"""Estimated packed bytes of a memory, a fact or a message's metadata."""


@dataclass(frozen=True)
class ExportPreview:
    """Preview of an export: the number of records of each kind, and the estimated file size in bytes for each scope."""

    persona: Persona
    user_name: str
    counts: BundleCounts
    sizes: dict[BundleScope, int]


@dataclass(frozen=True)
class ImportedPersona:
    """Imported persona, with what `revert_import` needs to undo the import."""

    persona: Persona
    new_worlds: Sequence[World] = ()
    original_name: str = ""
    """The persona's name in the bundle if it was renamed on import; empty otherwise."""


class BundleService:
    """Export and import of bundles. Files are read and written in threads; a cancelled task leaves no partial file or record
    behind.
    """

    def __init__(
        self,
        paths: Paths,
        database: Database,
        library: Library,
        app_state: AppState,
        indexing: IndexingService,
        preferences: Preferences,
        sessions_changed: Listeners[str],
        moods: MoodService,
    ) -> None:
        self._database, self._library, self._app_state = database, library, app_state
        self._indexing, self._preferences, self._sessions_changed = indexing, preferences, sessions_changed
        self._exporter, self._importer = PersonaExport(database), BundleImport(database)
        self._file_writer = BundleFileWriter(paths)
        self._mind_transfer = MindTransfer(paths, database, app_state, moods)

    # Export

    async def preview_export(self, persona_id: str) -> ExportPreview:
        """Count what a bundle of this persona would contain and estimate its size. Raise FileError if the persona does not
        exist.
        """
        persona = await self._library.persona(persona_id)
        counts, text_size = await self._exporter.count_records(persona_id)
        notebooks, notebook_size = await self._mind_transfer.measure_notebooks(persona_id)
        worlds = await self._packable_worlds(persona)
        file = self._library.avatar(persona)
        picture_size = await asyncio.to_thread(lambda: file.stat().st_size) if file is not None else 0
        record_size = sum(len(record.model_dump_json()) for record in [persona, *worlds.values()])
        persona_size = picture_size + round(record_size * COMPRESSION_RATIO)
        memory_size = persona_size + (counts.memories + counts.facts) * RECORD_BYTES + round(notebook_size * COMPRESSION_RATIO)
        message_size = round(text_size * COMPRESSION_RATIO) + counts.messages * RECORD_BYTES
        sizes = {
            BundleScope.PERSONA: persona_size,
            BundleScope.MEMORIES: memory_size,
            BundleScope.EVERYTHING: memory_size + message_size,
        }
        counts = counts.model_copy(update={"worlds": len(worlds), "notebooks": notebooks})
        return ExportPreview(persona, await self._user_name(), counts, sizes)

    async def export(
        self, persona_id: str, scope: BundleScope, target: Path, on_progress: ProgressCallback = ignore_progress
    ) -> Path:
        """Write a bundle to `target` and return its path, with `.lethe` appended if it has another ending.

        An existing file is replaced only after the new one is complete: the bundle is written to a hidden temporary file in
        the same folder, synced and renamed. `on_progress` receives the progress from 0 to 1. Raise FileError for a missing
        persona or unreadable notebook, and StorageError if the file cannot be written.
        """
        target = target if target.suffix.lower() == ENDING else target.with_name(f"{target.name}{ENDING}")
        draft = target.with_name(f".{secrets.token_hex(8)}.tmp")
        try:
            with translate_errors(target):
                await self._write(draft, persona_id, scope, on_progress)
            await run_in_thread(lambda: _replace_target(draft, target))
        except BaseException:
            delete_temporary_file(draft)
            raise
        return target

    async def _write(self, draft: Path, persona_id: str, scope: BundleScope, on_progress: ProgressCallback) -> None:
        persona = await self._library.persona(persona_id)
        worlds, giver = await self._packable_worlds(persona), await self._user_name()
        file = self._library.avatar(persona)
        has_history, has_messages = scope is not BundleScope.PERSONA, scope is BundleScope.EVERYTHING
        sessions = await self._exporter.session_ids_of(persona_id) if has_messages else []
        holds, has_mind, program_version = BundleCounts(worlds=len(worlds)), False, ""
        opened = await run_in_thread(lambda: draft.open("xb"))
        writer = BundleWriter(opened)
        try:
            picture = await run_in_thread(file.read_bytes) if file is not None else b""
            ending = file.suffix.lower() if file is not None else ""
            await run_in_thread(lambda: writer.write_persona(_prepare_for_export(persona, scope), picture, ending, worlds))
            if has_history:
                history = await self._load_history(persona_id, with_sessions=has_messages)
                has_mind = bool(history.notebooks) or not history.mind.is_empty
                await run_in_thread(lambda: writer.write_history(history))
                counts = {"memories": len(history.memories), "facts": len(history.facts), "notebooks": len(history.notebooks)}
                holds = holds.model_copy(update=counts)
            session_count = message_count = 0
            for number, guid in enumerate(sessions):
                on_progress(number / len(sessions))
                session = await self._exporter.conversation(guid)
                if session is not None:  # else it was deleted since the list was made
                    session_count, message_count = session_count + 1, message_count + len(session.messages)
                    await run_in_thread(partial(writer.write_conversation, session))
            with suppress(PackageNotFoundError):
                program_version = version("lethe-app")
            manifest = Manifest(
                version=_format_version(writer, has_sessions=bool(session_count), has_mind=has_mind),
                made_by=f"Lethe {program_version}".strip(),
                made=now(),
                giver=giver[:200],
                name=persona.name[:200],
                unique_name=persona.unique_name[:200],
                scope=scope,
                holds=holds.model_copy(update={"conversations": session_count, "messages": message_count}),
            )
            await run_in_thread(lambda: writer.finish(manifest))
            on_progress(1.0)
        finally:
            with suppress(OSError):  # of a full disk, which was reported already
                await run_in_thread(writer.close)
            await run_in_thread(opened.close)

    async def _load_history(self, persona_id: str, *, with_sessions: bool) -> PersonaHistory:
        history = await self._exporter.history_of(persona_id, None if with_sessions else ())
        history = await self._mind_transfer.add_mind(persona_id, history, with_sessions=with_sessions)
        if not with_sessions:
            return history
        objections = await self._app_state.get(OBJECTIONS.format(persona_id), "all")
        notes = await self._app_state.get(NOTES, persona_id)
        records = PersonaRecords(
            objections=objections if isinstance(objections, list) else [], notes=notes if isinstance(notes, list) else []
        )
        return replace(history, records=records)

    async def _packable_worlds(self, persona: Persona) -> dict[str, World]:
        """Return the persona's worlds that exist and can be packed, by the name under which the persona refers to them."""
        all_worlds = await self._library.worlds()
        return {name: all_worlds[name] for name in persona.worlds if name in all_worlds and is_member_name(name)}

    async def _user_name(self) -> str:
        chosen = self._preferences.current.user_persona
        with suppress(FileError):
            return (await self._library.persona(chosen)).name if chosen else ""
        return ""

    # Import

    async def read_bundle(self, file: Path, on_progress: ProgressCallback = ignore_progress) -> Bundle:
        """Read and validate a bundle file without storing anything. Raise FileError if it cannot be opened or is invalid."""

        def read_file(check: ProgressCallback) -> Bundle:
            try:
                with file.open("rb") as opened:
                    return BundleReader(opened, file.name, parse_model, check).read()
            except FileNotFoundError as error:
                raise FileError(file, "does not exist") from error
            except OSError as error:
                raise FileError(file, f"cannot be opened: {(error.strerror or str(error)).lower()}") from error

        token = CancelToken(on_progress)
        bundle = await run_cancellable(asyncio.to_thread(read_file, token.report_progress), token)
        if token.is_cancelled:
            raise asyncio.CancelledError
        return bundle

    async def find_free_name(self, bundle: Bundle) -> str:
        """Return the name the persona would get here: its own, or the next free one."""
        present = [*await self._library.personas(), *await self._library.user_personas()]
        return free_name(bundle.persona.name, {persona.name for persona in present})

    async def import_bundle(
        self, bundle: Bundle, name: str = "", on_progress: ProgressCallback = ignore_progress, *, replaced_id: str = ""
    ) -> ImportedPersona:
        """Store the contents of a bundle under new ids, with the persona named `name`; if it is empty, with the name from
        `find_free_name`. With `replaced_id`, the persona takes the place of that one and has its sessions.

        Files and database records are written within one job of the storage thread; if it fails or is cancelled before it
        completes, everything written is removed. `on_progress` receives the progress from 0 to 1. Raise FileError,
        StorageError.
        """
        name = name.strip() or await self.find_free_name(bundle)
        user_persona_ids = {persona.unique_name for persona in await self._library.user_personas()}
        imported = ImportedFiles(bundle.persona)
        token = CancelToken(on_progress)

        def write_contents() -> PersonaImport:
            self._file_writer.write_files(imported, bundle, name, replaced_id)
            self._mind_transfer.write_notebooks(imported.persona.unique_name, bundle.history, imported.files)
            persona_id, records = imported.persona.unique_name, bundle.history.records

            def map_speaker(old: str) -> str:
                """Return the new speaker id of a message: the imported persona, a user persona that exists here too, or
                none.
                """
                return persona_id if old and old == bundle.manifest.unique_name else old if old in user_persona_ids else ""

            app_state = build_app_state(bundle.history.mind, persona_id)
            app_state |= {(OBJECTIONS.format(persona_id), "all"): records.objections, (NOTES, persona_id): records.notes}
            return PersonaImport(persona_id, bundle.history, imported.entries, imported.worlds, map_speaker, app_state)

        try:
            await run_cancellable(self._importer.import_persona(write_contents, token.report_progress), token)
        except BaseException:
            await self._database.run_outside_transaction(imported.delete_files)
            raise
        self._library.changed.notify(None)
        self._sessions_changed.notify(imported.persona.unique_name)
        self._indexing.background.wake()
        renamed = bundle.persona.name if name != bundle.persona.name else ""
        return ImportedPersona(imported.persona, tuple(imported.new_worlds), renamed)

    async def import_history(
        self,
        persona_id: str,
        history: PersonaHistory,
        worlds: Mapping[str, str],
        on_progress: ProgressCallback = ignore_progress,
    ) -> IdMapping:
        """Add records to a persona that exists, under new ids, in one transaction; return these by the old ones.

        Speakers are ids of personas here, and `worlds` are file names here by the names in the sessions. Raise StorageError.
        """
        token = CancelToken(on_progress)

        records = PersonaImport(persona_id, history, {}, worlds, lambda speaker: speaker, {}, keeps_guests=True)
        ids = await run_cancellable(self._importer.import_persona(lambda: records, token.report_progress), token)
        self._sessions_changed.notify(persona_id)
        self._indexing.background.wake()
        return ids

    async def revert_import(self, imported: ImportedPersona) -> None:
        """Move the imported persona and its new worlds to the trash; its sessions and memories stay stored but are not
        shown.
        """
        await self._library.delete_persona(imported.persona.unique_name)
        for world in imported.new_worlds:
            with suppress(FileError):  # moved to the trash already
                await self._library.delete_world(world.unique_name)


def _prepare_for_export(persona: Persona, scope: BundleScope) -> Persona:
    """Return the persona without fields that do not belong in a bundle of this scope: local models and samplers, unless
    everything is exported, and the persona's notes about the user in the scope PERSONA.
    """
    changes: dict[str, object] = {}
    if scope is not BundleScope.EVERYTHING:
        changes |= {"preferred_model": "", "allowed_samplers": []}
    if scope is BundleScope.PERSONA:
        changes |= {"self_edit_field": "", "point_value": 0}
    return persona.model_copy(update=changes)


def _format_version(writer: BundleWriter, *, has_sessions: bool, has_mind: bool) -> int:
    """Return the oldest version of the format that has a place for everything written."""
    if has_sessions:
        return VERSION
    return WITH_CARD_FIELDS if writer.has_card_fields else WITHOUT_SESSIONS if has_mind else WITHOUT_A_MIND


def _replace_target(draft: Path, target: Path) -> None:
    with translate_errors(target):
        sync_file(draft)
        share_like_folder(draft)
        draft.replace(target)
        sync_folder(target.parent)
