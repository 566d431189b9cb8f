"""Export of a persona as a character card, of a world as World Info, and of conversations as a chat of SillyTavern."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from uuid import UUID

from lethe_app.domain.bundle import BundledConversation, BundledMessage
from lethe_app.domain.chat import Role
from lethe_app.domain.persona import Persona
from lethe_app.domain.worldinfo import World
from lethe_app.errors import FileError
from lethe_app.interchange.cards.card import write_charx, write_json, write_png
from lethe_app.interchange.json_text import JsonObject
from lethe_app.interchange.lorebooks.lorebook import write_world_info
from lethe_app.interchange.transcripts.conversations import CHAT_ID, write_markdown
from lethe_app.interchange.transcripts.silly_tavern import restore_lines, write_chat
from lethe_app.services.library import Library
from lethe_app.storage.atomic import write_atomically
from lethe_app.storage.bundles.export import PersonaExport
from lethe_app.storage.database import Database
from lethe_app.storage.error_translation import translate_errors
from lethe_app.storage.files.file_names import unique_stem

MARKDOWN_SUFFIX = ".md"
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


class CardExport:
    """Writer of files for other programs. A file is replaced only after the new one is complete."""

    def __init__(self, database: Database, library: Library) -> None:
        self._library, self._exporter = library, PersonaExport(database)

    async def export_card(self, persona_id: str, target: Path, substitute: bytes = b"") -> Path:
        """Write a persona with its worlds as a V3 card; the suffix of `target` says in which form. Raise FileError, and
        StorageError if its picture or its assets cannot be read.

        A picture carries the card as V2 too, for programs that do not know V3. `substitute` is a PNG that is used if the
        persona's own picture is none.
        """
        persona = await self._library.persona(persona_id)
        all_worlds = await self._library.worlds()
        world = join_worlds([all_worlds[name] for name in persona.worlds if name in all_worlds])
        suffix = target.suffix.lower()
        picture = await asyncio.to_thread(_read_attachment, self._library.avatar(persona))
        assets = await asyncio.to_thread(_read_attachment, self._library.assets(persona)) if suffix == ".charx" else b""
        if suffix == ".png" and not picture.startswith(PNG_SIGNATURE):
            picture = substitute
        content = await asyncio.to_thread(_pack_card, persona, world, picture, assets, target)
        await asyncio.to_thread(write_atomically, target, content)
        return target

    async def export_world(self, unique_name: str, target: Path) -> Path:
        """Write a world as a World Info file. Raise FileError if there is none of that name, StorageError."""
        worlds = await self._library.worlds()
        if unique_name not in worlds:
            raise FileError(unique_name, "is not a world")
        await asyncio.to_thread(write_world_file, worlds[unique_name], target)
        return target

    async def export_chat(self, persona_id: str, target: Path) -> int:
        """Write all conversations of a persona, the oldest first, as one chat; return the number of messages. Of each the
        branch on display is written, with all alternatives. Raise FileError, StorageError.
        """
        persona = await self._library.persona(persona_id)
        conversations = [one async for one in self._conversations_of(persona_id)]
        return await self._write_chat(persona, conversations, target)

    async def export_conversation(self, session_id: UUID, target: Path) -> Path:
        """Write one conversation as Markdown (.md) or as a chat. Of it the branch on display is written. Raise FileError,
        StorageError.
        """
        conversation = await self._exporter.conversation(session_id)
        if conversation is None:
            raise FileError(target, "cannot be written, because the conversation no longer exists")
        if target.suffix.lower() == MARKDOWN_SUFFIX:
            text = write_markdown(conversation.record.session, displayed_branch(conversation))
            await asyncio.to_thread(write_atomically, target, text.encode())
        else:
            persona = await self._library.persona(conversation.record.session.persona_id)
            await self._write_chat(persona, [conversation], target)
        return target

    async def export_chats(self, persona_id: str, folder: Path) -> int:
        """Write the conversations of a persona into a folder, each as a chat named by its day and title; those into which an
        imported chat was split are one chat again. Return the number of files. Raise FileError, StorageError.
        """
        persona = await self._library.persona(persona_id)
        with translate_errors(folder):
            await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        chats: dict[str, list[BundledConversation]] = {}
        async for conversation in self._conversations_of(persona_id):
            chat_id = conversation.record.original.get(CHAT_ID, conversation.record.session.guid)
            chats.setdefault(str(chat_id), []).append(conversation)
        taken: set[str] = set()
        for chat in chats.values():
            session = chat[0].record.session
            stem = unique_stem(f"{session.added:%Y-%m-%d} {session.name}".strip(), taken)
            taken.add(stem)
            await self._write_chat(persona, chat, folder / f"{stem}.jsonl")
        return len(chats)

    async def _conversations_of(self, persona_id: str) -> AsyncIterator[BundledConversation]:
        for guid in await self._exporter.session_ids_of(persona_id):
            conversation = await self._exporter.conversation(guid)
            if conversation is not None:
                yield conversation

    async def _write_chat(self, persona: Persona, conversations: Sequence[BundledConversation], target: Path) -> int:
        """Write conversations as one chat, with the header of the first that was imported; return the number of messages."""
        messages = [message for conversation in conversations for message in displayed_branch(conversation)]
        originals = [conversation.record.original for conversation in conversations]
        headers = [{name: value for name, value in original.items() if name != CHAT_ID} for original in originals]
        user = next((one.speaker_name for one in messages if one.role is Role.USER and one.speaker_name), "You")
        usual: JsonObject = {"user_name": user, "character_name": persona.name, "chat_metadata": {}}
        header = usual | next(filter(None, headers), {})
        lines = await asyncio.to_thread(
            lambda: [line for message in messages for line in restore_lines(message, message.original)]
        )
        await asyncio.to_thread(write_atomically, target, write_chat(header, lines).encode())
        return len(messages)


def write_world_file(world: World, target: Path) -> None:
    """Write a world as a World Info file. Raise StorageError."""
    write_atomically(target, json.dumps(write_world_info(world), ensure_ascii=False, indent=4).encode())


def join_worlds(worlds: list[World]) -> World | None:
    """Return all worlds as one, because a card has a single book; None if there are none."""
    if not worlds:
        return None
    return worlds[0].model_copy(update={"entries": [entry for world in worlds for entry in world.entries]})


def displayed_branch(conversation: BundledConversation) -> list[BundledMessage]:
    """Return the spoken messages of the branch on display, oldest first, without hidden ones and those of tools."""
    by_id = {message.id: message for message in conversation.messages}
    branch: list[BundledMessage] = []
    place: UUID | None = conversation.record.session.leaf_id
    while place in by_id:
        message = by_id.pop(place)
        branch.append(message)
        place = message.parent_id
    return [message for message in reversed(branch) if not message.hidden and message.role is not Role.TOOL]


def _read_attachment(path: Path | None) -> bytes:
    """Return a file that belongs to a persona; nothing for None. Raise StorageError."""
    if path is None:
        return b""
    with translate_errors(path):
        return path.read_bytes()


def _pack_card(persona: Persona, world: World | None, picture: bytes, assets: bytes, target: Path) -> bytes:
    match target.suffix.lower():
        case ".json":
            return write_json(persona, world)
        case ".charx":
            return write_charx(persona, world, picture, assets)
        case ".png":
            if not picture:
                raise FileError(
                    persona.name, "has no picture in PNG format", remedy="Export to a .json or .charx file instead."
                )
            return write_png(persona, world, picture, persona.name)
    raise FileError(target, "has an ending that is none of a card", remedy="Use .png, .json or .charx.")
