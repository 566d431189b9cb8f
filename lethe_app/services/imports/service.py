"""Import of personas, worlds, conversations and presets of other programs: preview, storing with rollback, and undo."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from uuid import UUID, uuid4

from lethe_app.domain.bundle import Bundle, Manifest, PersonaHistory
from lethe_app.domain.clock import now
from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.domain.worldinfo import World
from lethe_app.errors import FileError, LetheError
from lethe_app.interchange.cards.card import ImportedCard
from lethe_app.interchange.cards.card_fields import linked_world_names
from lethe_app.interchange.images import find_problem, find_suffix
from lethe_app.interchange.lorebooks.lorebook import names_of
from lethe_app.interchange.memories import ImportedMemories
from lethe_app.interchange.transcripts.conversations import Speakers, build_conversations
from lethe_app.interchange.transcripts.transcript import ChatTranscript
from lethe_app.services.imports.known_messages import KnownMessages
from lethe_app.services.imports.plan import ImportItem, ImportPlan, ImportResult, ItemAction, ItemKind
from lethe_app.services.imports.reader import USER_MACRO, Content, ContentReader, read_plan
from lethe_app.services.library import Library
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.participants import DEFAULT_USER
from lethe_app.services.personas.bundle_parts import free_name
from lethe_app.services.personas.bundles import BundleService
from lethe_app.services.personas.presets import PresetService
from lethe_app.services.preferences import Preferences
from lethe_app.services.scheduling.offload import (
    CancelToken,
    ProgressCallback,
    ignore_progress,
    run_cancellable,
    run_to_completion,
)
from lethe_app.services.sessions.archive_queue import ArchiveQueue
from lethe_app.services.sessions.service import SessionService
from lethe_app.storage.key_value import AppState

EARLIER = "imports"
"""Scope of the app state with the ids of imported records by the key of their item."""
MAX_MEMBERS = 50
"""Members of a group that become personas; in a damaged file every message may have a name of its own."""
BOOK, LINKED = "book", "linked"
"""Names by which an imported persona refers to its own book, and to those it names, within a bundle."""


class ImportService:
    """Import of files of other programs. A cancelled import leaves nothing behind."""

    def __init__(
        self,
        library: Library,
        bundles: BundleService,
        presets: PresetService,
        sessions: SessionService,
        archive_queue: ArchiveQueue,
        app_state: AppState,
        preferences: Preferences,
        memory: MemoryService,
    ) -> None:
        self._library, self._bundles, self._presets, self._sessions = library, bundles, presets, sessions
        self._archive_queue, self._app_state, self._preferences = archive_queue, app_state, preferences
        self._memory = memory
        self._known_messages: dict[str, KnownMessages] = {}
        """Messages of each persona that the present import has met."""

    # Preview

    async def read_plan(self, paths: Sequence[Path], on_progress: ProgressCallback = ignore_progress) -> ImportPlan:
        """Read the files and folders, and return what would be imported; what was imported before is marked to be skipped.

        Nothing is stored. `on_progress` receives the progress from 0 to 1.
        """
        token = CancelToken(on_progress)
        plan = await run_cancellable(asyncio.to_thread(read_plan, paths, token.report_progress), token)
        if token.is_cancelled:
            raise asyncio.CancelledError
        earlier = await self._app_state.values_of(EARLIER)
        present = {persona.unique_name for persona in await self._library.personas()} | (await self._library.worlds()).keys()
        user_id = self._preferences.current.user_persona
        users = {user.unique_name: user for user in await self._library.user_personas()}
        user_name = users.get(user_id, DEFAULT_USER).spoken_name
        items = [self._mark_earlier(name_user(item, user_name), earlier, present) for item in plan.items]
        return replace(plan, items=items)

    async def read_portrait(self, item: ImportItem) -> bytes:
        """Return the picture of a card; empty if it has none, or one whose type or size is not shown."""

        def work() -> bytes:
            content = ContentReader().read(item)
            picture = content.picture if isinstance(content, ImportedCard) else b""
            suffix = find_suffix(picture)
            return picture if suffix and not find_problem(picture, suffix) else b""

        with suppress(FileError):  # the file was read before, and the import itself reports what has happened since
            return await asyncio.to_thread(work)
        return b""

    @staticmethod
    def _mark_earlier(item: ImportItem, earlier: Mapping[str, object], present: set[str]) -> ImportItem:
        found = str(earlier.get(item.key, ""))
        exists = found in present if item.kind is not ItemKind.PRESET else bool(found)
        return replace(item, earlier=found, action=ItemAction.SKIP) if exists else item

    # Storing

    async def run(self, plan: ImportPlan, on_progress: ProgressCallback = ignore_progress) -> ImportResult:
        """Import the items of a plan. An item whose file fails is reported in the result, leaves nothing behind and does not
        stop the others. If storage fails or the task is cancelled, everything that was made is taken back. Raise StorageError.
        """
        result, contents = ImportResult(), ContentReader()
        self._known_messages.clear()
        items = [item for item in plan.items if item.action is not ItemAction.SKIP]
        try:
            for number, item in enumerate(items):
                on_progress(number / len(items))
                await self._import_or_revert(item, contents, result)
                _raise_if_cancelled()
        except BaseException:
            await asyncio.shield(self.revert(result))
            raise
        on_progress(1.0)
        self._archive_queue.background.wake()
        return result

    async def _import_or_revert(self, item: ImportItem, contents: ContentReader, result: ImportResult) -> None:
        """Import one item and add it to the result, or take back what was made of it."""
        made = ImportResult()
        try:
            content = await asyncio.to_thread(contents.read, item)
            await self._import_item(item, content, made)
        except FileError as error:
            await self.revert(made)
            self._known_messages.clear()
            result.errors.append(error)
        except BaseException:
            await asyncio.shield(self.revert(made))
            raise
        else:
            result.add(made)

    async def _import_item(self, item: ImportItem, content: Content, result: ImportResult) -> None:
        match content:
            case ImportedCard():
                made = await self._import_card(item, content, result)
            case World():
                made = await run_to_completion(self._import_world(item, content, result))
            case ImportedMemories():
                made = await self._import_memories(content, result)
            case ChatTranscript():
                made = await self._import_transcript(item, content, result)
            case InstructPreset() | SamplerPreset() | SystemPreset():
                made = await run_to_completion(self._import_preset(content, result))
        result.keys[item.key] = item.earlier
        await self._app_state.set(EARLIER, item.key, made)

    async def _import_card(self, item: ImportItem, card: ImportedCard, result: ImportResult) -> str:
        if item.action is ItemAction.UPDATE and item.earlier:
            return await run_to_completion(self._update_persona(item.earlier, card, result))
        names = linked_world_names(card.persona)
        found = [world for world in (await self._library.worlds()).values() if names & names_of(world)]
        linked = {world.name.casefold(): world for world in reversed(found)}  # of two with one name the first counts
        worlds = {f"{LINKED} {name}": world for name, world in linked.items()}
        # SillyTavern writes the linked book into the card as well, under the same name.
        if card.world is not None and card.world.name.casefold() not in linked:
            worlds[BOOK] = card.world
        persona = card.persona.model_copy(update={"worlds": [*worlds]})
        return await self._store_persona(replace(card, persona=persona), result, worlds)

    async def _store_persona(
        self,
        card: ImportedCard,
        result: ImportResult,
        worlds: Mapping[str, World] | None = None,
    ) -> str:
        """Store a persona with its worlds. One of which an earlier chat told only the name is replaced, so that the chat is
        its own; a second one of the same name gets another, and keeps its own as the name in its texts.
        """
        manifest = Manifest(made=now(), name=card.persona.name[:200])
        bundle = Bundle(manifest, card.persona, card.picture, card.picture_ending, worlds or {}, assets=card.assets)
        stub = await self._find_stub(card.persona)
        if stub is not None:
            imported = await self._bundles.import_bundle(bundle, stub.name, replaced_id=stub.unique_name)
            result.updated.append(stub)
        else:
            imported = await self._bundles.import_bundle(bundle)
            result.personas.append(imported.persona.unique_name)
        persona = imported.persona
        result.worlds += [world.unique_name for world in imported.new_worlds]
        if imported.original_name and stub is None:
            result.renamed[imported.original_name] = persona.name
            nickname = persona.nickname or imported.original_name
            await self._library.save_persona(persona.model_copy(update={"nickname": nickname}))
        return persona.unique_name

    async def _find_stub(self, card: Persona) -> Persona | None:
        """Return the persona of a card's name of which nothing but the name is known; None if there is none, or if the card
        tells no more.
        """
        personas = [] if card.is_user or _is_stub(card) else await self._library.personas()
        name = card.name.casefold()
        return next((one for one in personas if one.name.casefold() == name and _is_stub(one)), None)

    async def _update_persona(self, unique_name: str, card: ImportedCard, result: ImportResult) -> str:
        """Replace the texts of the persona of an earlier import; its name, picture, worlds and settings here remain."""
        present = await self._library.persona(unique_name)
        fields = card.persona.model_dump(exclude_defaults=True, exclude={"name", "unique_name", "worlds", "avatar", "assets"})
        await self._library.save_persona(present.model_copy(update=fields), trash_existing=True)
        result.updated.append(present)
        return unique_name

    async def _import_world(self, item: ImportItem, world: World, result: ImportResult) -> str:
        if item.action is ItemAction.UPDATE and item.earlier:
            return await self._update_world(item.earlier, world, result)
        names = {known.name for known in (await self._library.worlds()).values()}
        entries = [entry.model_copy(update={"guid": uuid4()}) for entry in world.entries]
        name = free_name(world.name, names)
        if name != world.name:
            result.renamed[world.name] = name
        new = world.model_copy(update={"name": name, "entries": entries, "unique_name": ""})
        saved = await self._library.save_world(new)
        self._library.changed.notify(None)
        result.worlds.append(saved.unique_name)
        return saved.unique_name

    async def _update_world(self, unique_name: str, world: World, result: ImportResult) -> str:
        """Replace the entries of an earlier import; those of the same name and keys keep their ids, and so their state in
        conversations and their passages.
        """
        present = (await self._library.worlds())[unique_name]
        ids = {(entry.name, *entry.keywords_main): entry.guid for entry in present.entries}
        entries = [
            entry.model_copy(update={"guid": ids.pop((entry.name, *entry.keywords_main), None) or uuid4()})
            for entry in world.entries
        ]
        updated = world.model_copy(update={"unique_name": unique_name, "name": present.name, "entries": entries})
        await self._library.trash_entries(present)
        await self._library.save_world(updated)
        result.updated.append(present)
        self._library.changed.notify(None)
        return unique_name

    async def _import_transcript(self, item: ImportItem, transcript: ChatTranscript, result: ImportResult) -> str:
        """Store what is new of a conversation as archived sessions of the persona of that name, which is created if there is
        none.
        """
        persona_id = await self._find_or_create_persona(item.name, result)
        for member in transcript.members[:MAX_MEMBERS]:
            await self._find_or_create_persona(member, result)
        personas = await self._list_personas()
        speakers = Speakers(persona_id, self._preferences.current.user_persona, personas | {item.name.casefold(): persona_id})
        conversations = await asyncio.to_thread(build_conversations, transcript, speakers, item.file_time)
        if not item.earlier:  # the user asked for a copy of what this file has brought before
            if persona_id not in self._known_messages:
                texts = await self._sessions.texts_of(persona_id)
                self._known_messages[persona_id] = await asyncio.to_thread(KnownMessages, texts)
            conversations = await asyncio.to_thread(self._known_messages[persona_id].leave_out, conversations)
        worlds = {world.name: world.unique_name for world in (await self._library.worlds()).values()}
        history = PersonaHistory(conversations=conversations)
        ids = await self._bundles.import_history(persona_id, history, worlds)
        result.sessions += [UUID(ids.new_id(conversation.record.session.guid)) for conversation in conversations]
        result.chats += bool(conversations)
        result.known_chats += not conversations
        result.messages += sum(len(conversation.messages) for conversation in conversations)
        return persona_id

    async def _import_memories(self, found: ImportedMemories, result: ImportResult) -> str:
        """Store memories of the persona of that name, which is created if there is none."""
        persona_id = await self._find_or_create_persona(found.persona_name, result)
        ids = await self._bundles.import_history(persona_id, PersonaHistory(memories=found.memories), {})
        self._memory.drop_caches()
        result.memories += [UUID(ids.new_id(memory.guid)) for memory in found.memories]
        return persona_id

    async def _list_personas(self) -> dict[str, str]:
        """Return the ids of the personas by name in lower case; of two with one name the user's own counts, not the one that
        ships with Lethe.
        """
        present = sorted(await self._library.personas(), key=lambda persona: self._library.is_own(persona.unique_name))
        return {persona.name.casefold(): persona.unique_name for persona in present}

    async def _find_or_create_persona(self, name: str, result: ImportResult) -> str:
        personas = await self._list_personas()
        known = personas.get(name.casefold(), name if name in personas.values() else "")
        return known or await self._store_persona(ImportedCard(Persona(name=name[:200])), result)

    async def _import_preset(self, preset: InstructPreset | SamplerPreset | SystemPreset, result: ImportResult) -> str:
        names = {stored.value.name for stored in await self._presets.list_presets(type(preset))}
        name = free_name(preset.name, names)
        if name != preset.name:
            result.renamed[preset.name] = name
        key = await self._presets.save(preset.model_copy(update={"name": name}))
        result.presets.append((type(preset), key))
        return key

    # Undo

    async def revert(self, result: ImportResult, on_progress: ProgressCallback = ignore_progress) -> None:
        """Move everything that an import made to the trash, and restore what it overwrote. What cannot be taken back, because
        it was deleted since, is passed over. `on_progress` receives the progress from 0 to 1.
        """
        undo: list[Callable[[], Awaitable[object]]] = [partial(self._sessions.delete, guid) for guid in result.sessions]
        undo += [partial(self._memory.forget_memory, guid) for guid in result.memories]
        undo += [partial(self._library.delete_persona, persona) for persona in result.personas]
        undo += [partial(self._library.delete_world, world) for world in result.worlds]
        undo += [partial(self._presets.delete, kind, key) for kind, key in result.presets]
        for before in result.updated:
            save = self._library.save_persona if isinstance(before, Persona) else self._library.save_world
            undo.append(partial(save, before))  # type: ignore[arg-type]
        undo += [partial(self._app_state.set, EARLIER, key, earlier or None) for key, earlier in result.keys.items()]
        for number, take_back in enumerate(undo):
            on_progress(number / len(undo))
            with suppress(LetheError):
                await take_back()
        if result.worlds or result.updated:
            self._library.changed.notify(None)


def _is_stub(persona: Persona) -> bool:
    """Return whether nothing but the name of a persona is known."""
    return not persona.model_dump(exclude_defaults=True, exclude={"name", "unique_name"})


def _raise_if_cancelled() -> None:
    """Raise CancelledError if the present task was cancelled while a bundle was stored, for which nothing is raised if it was
    complete by then.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def name_user(item: ImportItem, user_name: str) -> ImportItem:
    """Return an item whose excerpts contain the user's name, as a conversation with it would."""
    excerpts = [replace(excerpt, text=excerpt.text.replace(USER_MACRO, user_name)) for excerpt in item.excerpts]
    return replace(item, excerpts=tuple(excerpts))
