"""Fields of a character card (V1, V2, V3) and of a persona, read and written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from pydantic import JsonValue

from lethe_app.domain.chat import Role
from lethe_app.domain.import_notes import ImportNotes, NoteKind
from lethe_app.domain.persona import Persona
from lethe_app.interchange.field_reader import FieldReader
from lethe_app.interchange.json_text import JsonObject
from lethe_app.interchange.originals import keep_original, restore_original

V2, V3 = ("chara_card_v2", "2.0"), ("chara_card_v3", "3.0")
"""Values of `spec` and `spec_version`."""
NEWEST_VERSION = 3.0
V1_FIELDS = ("name", "description", "personality", "scenario", "first_mes", "mes_example")
ROLES = {"system": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT}
EXAMPLE_START = "<START>"
CARD = "card"
"""Field of a persona's `original` with the fields of its card that have no counterpart."""
DEFAULT_DEPTH, DEFAULT_TALKATIVENESS = 4, 0.5
_EXAMPLE_STARTS = re.compile(r"^[ \t]*<START>[ \t]*$", re.IGNORECASE | re.MULTILINE)
USED_EXTENSIONS = {"depth_prompt", "talkativeness", "world"}
"""Extensions of a card that Lethe acts on."""
_SCRIPTS = re.compile("script|helper|variable", re.IGNORECASE)
"""What the names of extensions contain that hold scripts: those of SillyTavern, and of helper extensions."""
MAX_NAMES = 60
"""Letters of the names of an extension's scripts in a note."""
NOT_COMPARED = {"original", "unique_name", "avatar", "worlds"}
"""Fields of a persona that a card does not determine by itself."""


def read_card_fields(card: Mapping[str, JsonValue], name: str, notes: ImportNotes) -> Persona:
    """Return the persona of a card, with what it cannot express as its `original`; `name` is used if it has none.

    `card` is a V1 object or one with `spec` and `data`. Its book is not read.
    """
    persona = read_persona(card, name, notes)
    original, read = without_book(card), _reader(name)
    kept = keep_original(original, write_persona(persona), read, read(original))
    extensions = FieldReader(kept).child("data").mapping("extensions")
    named = {name: list(_find_names(value)) for name, value in extensions.items() if name not in USED_EXTENSIONS}
    scripts = [name for name in named if _SCRIPTS.search(name)]
    if titles := [f"{name} ({', '.join(named[name])[:MAX_NAMES]})" for name in scripts if named[name]]:
        notes.add(NoteKind.SCRIPTS, names=", ".join(titles))
    for other in sorted(other for other in named.keys() - scripts if extensions[other]):
        notes.add(NoteKind.NO_EFFECT, f"data.extensions.{other}")
    return persona.model_copy(update={"original": {CARD: kept} if kept else {}})


def _find_names(value: JsonValue, name: str = "") -> Iterator[str]:
    """Yield what the scripts and variables of an extension are called; nothing for empty ones."""
    match value:
        case list():
            yield from (found for one in value for found in _find_names(one, name))
        case {"scriptName": str(title)} | {"name": str(title)}:
            yield title
        case {"value": dict() as script}:
            yield from _find_names(script, name)
        case dict():
            yield from (found for key, one in value.items() for found in _find_names(one, key))
        case _ if name and value not in (None, "", False):
            yield name


def read_persona(card: Mapping[str, JsonValue], name: str, notes: ImportNotes) -> Persona:
    """Return the persona of a card without its `original`."""
    has_data = isinstance(card.get("data"), dict)
    fields = FieldReader(FieldReader(card, notes).mapping("data") if has_data else card, notes, "data" if has_data else "")
    extensions = fields.child("extensions")
    note = extensions.child("depth_prompt")
    version = FieldReader(card).decimal("spec_version", 2.0, 0.0, 1000.0)
    if version > NEWEST_VERSION:
        notes.add(NoteKind.NEWER_VERSION, "spec_version", version=f"{version:g}")
    own_name = fields.text("name").strip()
    if not own_name:
        notes.add(NoteKind.NAME_MISSING, fields.location_of("name"), name=name)
    greetings = [fields.text("first_mes"), *fields.texts("alternate_greetings", "\0")]
    return Persona(
        name=own_name or name,
        nickname=fields.text("nickname").strip(),
        bio=fields.text("description"),
        personality=fields.text("personality"),
        scenario=fields.text("scenario"),
        first_messages=[text for text in greetings if text.strip()],
        group_greetings=fields.texts("group_only_greetings", "\0"),
        example_dialogs=[block for one in _EXAMPLE_STARTS.split(fields.text("mes_example")) if (block := one.strip())],
        system_prompt=fields.text("system_prompt"),
        post_history_instructions=fields.text("post_history_instructions"),
        depth_prompt=note.text("prompt"),
        depth_prompt_depth=note.number("depth", DEFAULT_DEPTH, 0, 200),
        depth_prompt_role=ROLES.get(note.text("role", "system").casefold(), Role.SYSTEM),
        talkativeness=extensions.decimal("talkativeness", DEFAULT_TALKATIVENESS, 0.0, 1.0),
        creator=fields.text("creator"),
        character_version=fields.text("character_version"),
        creator_notes=fields.text("creator_notes") or _multilingual_notes(fields),
        tags=list(dict.fromkeys(fields.texts("tags"))),
    )


def _multilingual_notes(fields: FieldReader) -> str:
    """Return the creator's notes in English, or in the first language there is."""
    by_language = fields.mapping("creator_notes_multilingual")
    notes = FieldReader(by_language)
    return next((text for language in ("en", *by_language) if (text := notes.text(language))), "")


def linked_world_names(persona: Persona) -> set[str]:
    """Return the names of the worlds that SillyTavern (one) or the original Lethe links with the character, in lower case."""
    extensions = FieldReader(persona.original).child(CARD).child("data").child("extensions")
    found = [extensions.text("world"), *extensions.child("lethe").texts("Worlds", "\0")]
    return {name.strip().casefold() for name in found if name.strip()}


def write_card(persona: Persona, book: JsonObject | None, spec: tuple[str, str] = V3) -> JsonObject:
    """Return a persona as a card, with the fields of the card it came from that still hold, and with its book."""
    original = FieldReader(persona.original).mapping(CARD)

    card = restore_original(write_persona(persona), original, _reader(persona.name))
    data = FieldReader(card).mapping("data")
    if book is not None:
        data = {**data, "character_book": book}
    return {**card, "data": data, "spec": spec[0], "spec_version": spec[1]}


def _reader(name: str) -> Callable[[JsonObject], object]:
    """Return the function by which two cards are compared; `name` is that of a card without one."""

    def read(card: JsonObject) -> object:
        persona = read_persona(card, name, ImportNotes())
        # The repeated fields of V1 must say the same, or an edited card would carry the text of before at its top.
        data = FieldReader(card).mapping("data")
        repeated = {**data, **{field: card[field] for field in V1_FIELDS if field in card}}
        is_consistent = not data or read_persona(repeated, name, ImportNotes()) == persona
        return persona.model_dump(exclude=NOT_COMPARED), is_consistent

    return read


def write_persona(persona: Persona) -> JsonObject:
    """Return a persona as a V3 card from our fields alone. The fields of V1 are repeated at the top, as SillyTavern does."""
    data: JsonObject = {
        "name": persona.name,
        "description": persona.bio,
        "personality": persona.personality,
        "scenario": persona.scenario,
        "first_mes": next(iter(persona.first_messages), ""),
        "mes_example": "".join(f"{EXAMPLE_START}\n{block}\n" for block in persona.example_dialogs if block.strip()),
        "creator_notes": persona.creator_notes,
        "system_prompt": persona.system_prompt,
        "post_history_instructions": persona.post_history_instructions,
        "alternate_greetings": [*persona.first_messages[1:]],
        "group_only_greetings": [*persona.group_greetings],
        "tags": [*persona.tags],
        "creator": persona.creator,
        "character_version": persona.character_version,
        "extensions": {
            "talkativeness": f"{persona.talkativeness:g}",
            "depth_prompt": {
                "prompt": persona.depth_prompt,
                "depth": persona.depth_prompt_depth,
                "role": persona.depth_prompt_role.value,
            },
        },
    }
    if persona.nickname:
        data["nickname"] = persona.nickname
    return {name: data[name] for name in V1_FIELDS} | {"spec": V3[0], "spec_version": V3[1], "data": data}


def without_book(card: Mapping[str, JsonValue]) -> JsonObject:
    """Return a card without its book, which is read as a world."""
    data = card.get("data")
    kept = {name: value for name, value in card.items() if name != "character_book"}
    if isinstance(data, dict):
        kept["data"] = {name: value for name, value in data.items() if name != "character_book"}
    return kept
