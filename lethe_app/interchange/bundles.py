"""Reading and writing of bundles. All records of a bundle are validated, with their references, before any is returned."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Protocol, TypeVar
from uuid import UUID

from pydantic import BaseModel

from lethe_app.domain.bundle import (
    CARD_FIELDS,
    VERSION,
    Bundle,
    BundledConversation,
    BundledMessage,
    BundledMind,
    BundledSession,
    ForgottenFact,
    Manifest,
    PersonaHistory,
    PersonaRecords,
)
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryType, MemoryUnit
from lethe_app.domain.old_reasons import convert_memory
from lethe_app.domain.persona import Persona
from lethe_app.domain.worldinfo import World
from lethe_app.errors import FileError
from lethe_app.interchange import bundle_archive as archive
from lethe_app.interchange import images
from lethe_app.interchange.bundle_archive import LIMITS, Archive, BundleLimits, BundlePacker

Model = TypeVar("Model", bound=BaseModel)
MAX_RECORD_BYTES, MAX_WORLD_BYTES, MAX_NOTEBOOK_BYTES = 4 * 1024 * 1024, 20 * 1024 * 1024, 2 * 1024 * 1024
"""Maximum bytes of a manifest or persona, of a world, and of a notebook."""
MAX_NUMBER = 2**62


class RecordValidator(Protocol):
    """Function that validates an object as a record, or raises FileError with the first invalid field; `storage.files.parse`
    is one.
    """

    def __call__(self, path: Path, kind: type[Model], values: dict[str, object], /) -> Model: ...


def is_member_name(name: str) -> bool:
    """Return whether a world or notebook of this name can be a member. Some systems allow names that others do not."""
    return name.isprintable() and archive.NAMES.fullmatch(f"worlds/{name}.json") is not None


class BundleReader:
    """Reads one bundle file, once. Raise FileError naming the file, the member and the field at fault."""

    def __init__(
        self,
        file: BinaryIO,
        name: str,
        validate: RecordValidator,
        on_progress: Callable[[float], None],
        limits: BundleLimits = LIMITS,
    ) -> None:
        self._validate = validate
        self._archive = Archive(file, name, on_progress, limits)
        self._name = name
        self._made_by = ""

    def read(self) -> Bundle:
        """Return the whole bundle. An exception from the progress callback cancels reading."""
        manifest = self._read_manifest()
        persona = self._read_record(archive.PERSONA, Persona, MAX_RECORD_BYTES)
        picture, ending = self._read_portrait()
        worlds = {
            Path(name).stem: self._read_record(name, World, MAX_WORLD_BYTES)
            for name in self._archive.names_matching(r"worlds/.*")
        }
        conversations = [self._read_conversation(name) for name in self._archive.names_matching(r"conversations/.*")]
        history = PersonaHistory(
            memories=self._read_records(archive.MEMORIES, MemoryUnit),
            facts=self._read_records(archive.FACTS, ExtractedFact),
            forgotten=self._read_records(archive.FORGOTTEN, ForgottenFact),
            conversations=conversations,
            records=self._read_record(archive.PERSONA_RECORDS, PersonaRecords, MAX_RECORD_BYTES, PersonaRecords()),
            notebooks={Path(name).stem: self._read_text(name) for name in self._archive.names_matching(r"notebooks/.*\.md")},
            notebook_index=self._read_text(archive.NOTEBOOK_INDEX) if archive.NOTEBOOK_INDEX in self._archive else "",
            mind=self._read_mind(),
        )
        bundle = Bundle(manifest, persona, picture, ending, worlds, history)
        self._check_ids(history)
        if manifest.holds is not None and manifest.holds != bundle.holds:
            raise FileError(self._name, "is incomplete: parts listed in it are missing")
        return bundle

    def _read_manifest(self) -> Manifest:
        """Read the manifest before anything else, and refuse a version newer than this program's."""
        values = self._parse_object(archive.MANIFEST, self._archive.read_member(archive.MANIFEST, MAX_RECORD_BYTES))
        version = values.get("version")
        maker = str(values.get("made_by") or "a newer version of Lethe")[:100]
        if isinstance(version, int) and version > VERSION:
            problem = f"was made by {maker}, in a newer format than this version supports"
            raise FileError(self._name, problem, remedy="Update Lethe, then try again.")
        self._made_by = maker
        return self._validate(Path(self._archive.location_of(archive.MANIFEST)), Manifest, values)

    def _read_mind(self) -> BundledMind:
        mind = self._read_record(archive.MIND, BundledMind, MAX_RECORD_BYTES, BundledMind())
        mood_values = [(f"samples[{index}].values", one.values) for index, one in enumerate(mind.samples)]
        mood_values += [(f"readings[{index}].steps", one.steps) for index, one in enumerate(mind.readings)]
        outside = next((name for name, values in mood_values if not all(-1.0 <= value <= 1.0 for value in values.values())), "")
        if field := outside or _find_out_of_range(mind):
            raise FileError(self._archive.location_of(archive.MIND), "is out of range", field)
        return mind

    def _read_text(self, member: str) -> str:
        try:
            return self._archive.read_member(member, MAX_NOTEBOOK_BYTES).decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            raise FileError(self._archive.location_of(member), f"is not UTF-8 text (byte {error.start + 1})") from error

    def _read_portrait(self) -> tuple[bytes, str]:
        found = self._archive.names_matching(r"avatar\..*")
        if len(found) > 1:
            raise FileError(self._name, "contains more than one portrait")
        if not found:
            return b"", ""
        content, ending = self._archive.read_member(found[0], images.MAX_BYTES), Path(found[0]).suffix
        if problem := images.find_problem(content, ending):
            raise FileError(self._archive.location_of(found[0]), problem)
        return content, ending

    def _read_conversation(self, member: str) -> BundledConversation:
        """Read a conversation: the first line is the session, every other line a message, after the one it replies to."""
        lines = self._archive.read_lines(member)
        first = next(lines, None)
        if first is None:
            raise FileError(self._archive.location_of(member), "is empty")
        session_record = self._parse_line(member, first, BundledSession)
        messages = [self._parse_line(member, line, BundledMessage) for line in lines]
        self._check_conversation(self._archive.location_of(member), session_record, messages)
        return BundledConversation(session_record, messages)

    def _check_conversation(self, location: str, session_record: BundledSession, messages: list[BundledMessage]) -> None:
        if session_record.session.category is not MemoryType.CHAT_SESSION:
            raise FileError(location, "is not a conversation", "session.category")
        seen: set[UUID] = set()
        for message in messages:
            if message.session_id != session_record.session.guid:
                raise FileError(location, "belongs to another conversation", f"message {message.id}: session_id")
            if message.parent_id is not None and message.parent_id not in seen:
                raise FileError(
                    location, "replies to a message that does not come before it", f"message {message.id}: parent_id"
                )
            seen.add(message.id)
        if session_record.session.leaf_id is not None and session_record.session.leaf_id not in seen:
            raise FileError(location, "is not one of its messages", "session.leaf_id")
        if len({part.part for part in session_record.parts}) < len(session_record.parts):
            raise FileError(location, "contains a part twice", "parts")

    def _check_ids(self, history: PersonaHistory) -> None:
        """Check that no id occurs twice, and that no memory is a session without its messages."""
        if any(memory.category is MemoryType.CHAT_SESSION for memory in history.memories):
            raise FileError(self._archive.location_of(archive.MEMORIES), "must not be a conversation", "category")
        memory_ids = [memory.guid for memory in history.memories] + [
            conversation.record.session.guid for conversation in history.conversations
        ]
        message_ids = [message.id for conversation in history.conversations for message in conversation.messages]
        for ids in (memory_ids, [fact.guid for fact in history.facts], message_ids):
            if len(set(ids)) < len(ids):
                raise FileError(self._name, "contains the same id twice")

    # Parsing

    def _read_record(self, member: str, kind: type[Model], max_bytes: int, default: Model | None = None) -> Model:
        """Return the record in a member; `default` if there is none."""
        if default is not None and member not in self._archive:
            return default
        return self._validate_record(member, kind, self._parse_object(member, self._archive.read_member(member, max_bytes)))

    def _read_records(self, member: str, kind: type[Model]) -> list[Model]:
        if member not in self._archive:
            return []
        return [self._parse_line(member, line, kind) for line in self._archive.read_lines(member)]

    def _parse_line(self, member: str, line: tuple[int, bytes], kind: type[Model]) -> Model:
        number, text = line
        location = f"{member}, line {number}"
        values = self._parse_object(location, text)
        turn = values.get("turn")
        if kind is BundledMessage and isinstance(turn, dict):
            # Older versions wrote reasons as sentences; what cannot be read is left to validation.
            with suppress(ValueError, TypeError, KeyError, AttributeError):
                turn["memory"] = convert_memory(turn["memory"])
        record = self._validate_record(location, kind, values)
        if field := _find_out_of_range(record):
            raise FileError(self._archive.location_of(location), "is out of range", field)
        return record

    def _validate_record(self, location: str, kind: type[Model], values: dict[str, object]) -> Model:
        try:
            return self._validate(Path(self._archive.location_of(location)), kind, values)
        except FileError as error:
            # An unknown field comes from a newer version, so the error names the program that wrote the file.
            if "not a field" in error.problem:
                raise FileError(error.path, error.problem, error.field, f"The file was made by {self._made_by}.") from error
            raise

    def _parse_object(self, location: str, content: bytes) -> dict[str, object]:
        try:
            text = content.decode("utf-8-sig")
            value = json.loads(text)
            if "\\ud" in text.lower():  # escaped surrogates, perhaps unpaired, which UTF-8 cannot encode
                value = json.loads(_replace_surrogates(json.dumps(value, ensure_ascii=False)))
        except (ValueError, RecursionError) as error:  # invalid UTF-8 and invalid JSON both raise subclasses of ValueError
            raise FileError(self._archive.location_of(location), "is not valid JSON") from error
        if not isinstance(value, dict):
            raise FileError(self._archive.location_of(location), "does not contain a JSON object, which begins with {")
        return value


class BundleWriter:
    """Writes one bundle file, once. Conversations are written one by one, so that they need not all be in memory."""

    def __init__(self, file: BinaryIO, limits: BundleLimits = LIMITS) -> None:
        self._packer = BundlePacker(file, limits)
        self.close = self._packer.close
        """Close the archive, finished or not."""
        self._conversations = 0
        self.has_card_fields = False
        """True once a record was written with fields that only version 4 knows."""

    def write_persona(self, persona: Persona, picture: bytes, ending: str, worlds: dict[str, World]) -> None:
        """Write the persona, its portrait if it is a valid image, and its worlds."""
        self._write_records(archive.PERSONA, [persona.model_copy(update={"avatar": "", "assets": ""})], indent=2)
        if picture and ending in images.SUFFIXES and not images.find_problem(picture, ending):
            self._packer.add_member(f"avatar{ending}", iter([picture]))
        for name, world in worlds.items():
            self._write_records(f"worlds/{name}.json", [world], indent=2)

    def write_history(self, history: PersonaHistory) -> None:
        """Write everything from memory except the conversations."""
        self._write_records(archive.MEMORIES, history.memories)
        self._write_records(archive.FACTS, history.facts)
        self._write_records(archive.FORGOTTEN, history.forgotten)
        self._write_records(archive.PERSONA_RECORDS, [history.records])
        for name, text in history.notebooks.items():
            self._packer.add_member(f"notebooks/{name}.md", iter([_replace_surrogates(text).encode()]))
        if history.notebook_index:
            self._packer.add_member(archive.NOTEBOOK_INDEX, iter([_replace_surrogates(history.notebook_index).encode()]))
        if not history.mind.is_empty:
            self._write_records(archive.MIND, [history.mind])

    def write_conversation(self, conversation: BundledConversation) -> None:
        """Write one conversation; its members are numbered in order of writing."""
        self._conversations += 1
        self._write_records(f"conversations/{self._conversations:06}.jsonl", [conversation.record, *conversation.messages])

    def finish(self, manifest: Manifest) -> None:
        """Write the manifest last and close the archive."""
        self._packer.add_member(archive.MANIFEST, iter([manifest.model_dump_json(indent=2).encode() + b"\n"]))
        self.close()

    def _write_records(self, member: str, records: Iterable[BaseModel], indent: int | None = None) -> None:
        self._packer.add_member(member, self._encode_records(records, indent))

    def _encode_records(self, records: Iterable[BaseModel], indent: int | None) -> Iterator[bytes]:
        """Yield records as JSON. Fields of version 4 at their defaults are left out, because older versions do not know them;
        all other fields are written, because a later version may have other defaults.
        """
        for record in records:
            unique_name = {"unique_name"} if isinstance(record, Persona | World) else None
            values, changed = (
                record.model_dump(mode="json", exclude=unique_name, exclude_defaults=is_short) for is_short in (False, True)
            )
            entries = zip(values.get("entries", ()), changed.get("entries", ()), strict=False)
            for part, set_fields in ((values, changed), (values.get("session", {}), changed.get("session", {})), *entries):
                self.has_card_fields |= not CARD_FIELDS.isdisjoint(set_fields)
                for name in CARD_FIELDS.intersection(part).difference(set_fields):
                    del part[name]
            yield _replace_surrogates(json.dumps(values, ensure_ascii=False, indent=indent)).encode() + b"\n"


def _find_out_of_range(record: BaseModel) -> str:
    """Return the field with a number or date that exceeds what database and calendar can hold; empty if there is none."""
    for name in type(record).model_fields:
        value = getattr(record, name)
        inner = value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else [value]
        for one in inner:
            if isinstance(one, BaseModel) and (field := _find_out_of_range(one)):
                return f"{name}.{field}"
            if isinstance(one, int) and abs(one) > MAX_NUMBER:
                return name
            if isinstance(one, datetime) and not 1 < one.year < 9999:
                return name
    return ""


def _replace_surrogates(text: str) -> str:
    """Join surrogate halves where they form a character and replace the others, because UTF-8 cannot encode them."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
