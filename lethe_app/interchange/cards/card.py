"""Character cards of other programs: the format is recognised by content, and read as a persona with its world."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from urllib.parse import urlsplit

from pydantic import JsonValue

from lethe_app.domain.import_notes import ImportNote, ImportNotes, NoteKind
from lethe_app.domain.persona import Persona
from lethe_app.domain.worldinfo import World
from lethe_app.errors import FileError, UnknownFormat
from lethe_app.interchange import images
from lethe_app.interchange.bundle_archive import Archive, BundleLimits
from lethe_app.interchange.cards import png
from lethe_app.interchange.cards.card_fields import V2, V3, read_card_fields, write_card
from lethe_app.interchange.cards.other_formats import (
    from_agnai,
    from_backyard,
    from_old_lethe,
    from_pygmalion,
    read_old_lethe_settings,
)
from lethe_app.interchange.field_reader import FieldReader
from lethe_app.interchange.images import read_comment
from lethe_app.interchange.json_text import MAX_BYTES, JsonObject, parse_json
from lethe_app.interchange.lorebooks.lorebook import (
    NO_SETTINGS,
    LorebookFormat,
    find_format,
    read_book,
    write_character_book,
)
from lethe_app.interchange.transcripts.other_formats import find_reader

CHARX_CARD, BYAF_MANIFEST = "card.json", "manifest.json"
ARCHIVE_END = b"PK\x05\x06"
"""Mark near the end of every ZIP archive."""
PACKED_LIMITS = BundleLimits(member=64 * 1024 * 1024, total=512 * 1024 * 1024, members=5000)
"""Limits of a CHARX or BYAF archive; with pictures and sounds, some take 200 MB."""
V1_MARKS = ("description", "personality", "first_mes", "scenario", "mes_example")
MIN_V1_MARKS = 2
"""Fields that a V1 card must have besides its name; a name with a description may be anything."""
CARD_SPEC = "chara_card"
"""Beginning of the `spec` of V2 and V3 cards."""


@dataclass(frozen=True)
class ImportedCard:
    """Card as read: the persona, its book as a world, its picture, and notes about what was changed or has no effect."""

    persona: Persona
    world: World | None = None
    picture: bytes = b""
    picture_ending: str = ""
    assets: bytes = b""
    """The archive itself, if it has pictures or sounds besides the icon."""
    notes: list[ImportNote] = field(default_factory=list)


def read_card(content: bytes, file_name: str, settings: JsonObject = NO_SETTINGS) -> ImportedCard:
    """Read a card from a PNG, WEBP or JPEG picture, a CHARX or BYAF archive, or JSON. Raise FileError.

    `settings` are SillyTavern's global ones of World Info, for the card's book.
    """
    notes, assets = ImportNotes(), b""
    if content.startswith(png.SIGNATURE):
        card, picture = _read_png(content, file_name, notes), content
    elif ARCHIVE_END in content[-70_000:]:
        archive = _open_archive(content, file_name)
        card, picture = _read_archive(archive, file_name, notes)
        assets = content if any(path in archive for path in _further_asset_paths(card)) else b""
    elif content[:4] == b"RIFF" or content[:2] == b"\xff\xd8":
        comment = read_comment(content)
        if comment is None:
            raise UnknownFormat(file_name, "is a picture without a character card")
        card, picture = parse_json(png.decode_card(comment.strip(b"\0 "), file_name), file_name, notes), content
    else:
        card, picture = parse_json(content, file_name, notes), b""
    return replace(build_card(card, file_name, notes, picture, settings), assets=assets)


def _open_archive(content: bytes, file_name: str) -> Archive:
    return Archive(io.BytesIO(content), file_name, limits=PACKED_LIMITS, is_external=True)


def _further_asset_paths(card: JsonValue) -> list[str]:
    """Return the paths in the archive of a card's assets, apart from its icon."""
    assets = FieldReader(card).child("data").objects("assets")
    uris = [asset.text("uri").partition("://") for values, asset in assets if not _is_main_icon(values)]
    return [path for _scheme, separator, path in uris if separator and path]


def build_card(
    card: JsonValue, file_name: str, notes: ImportNotes, picture: bytes = b"", settings: JsonObject = NO_SETTINGS
) -> ImportedCard:
    """Return the persona and the world of a card's JSON value of any known format. Raise FileError."""
    converter = _find_converter(card) if isinstance(card, dict) else None
    if converter is None or not isinstance(card, dict):
        raise FileError(file_name, "is not a character card that Lethe knows")
    values = converter(card)
    persona = read_card_fields(values, PurePath(file_name).stem or "Character", notes)
    if converter is from_old_lethe:
        persona = persona.model_copy(update=read_old_lethe_settings(card, notes))
    data = values.get("data") if isinstance(values.get("data"), dict) else values
    book = FieldReader(data, notes, "data").mapping("character_book")
    world = None
    if book.get("entries"):
        name = FieldReader(book).text("name").strip() or f"{persona.name}’s lorebook"
        world = read_book(book, LorebookFormat.CHARACTER_BOOK, name, notes, "data.character_book", settings)
        world = world if world.entries else None
    for number, asset in enumerate(FieldReader(values).child("data").items("assets")):
        uri = FieldReader(asset).text("uri")
        if uri.startswith(("http://", "https://")):
            notes.add(NoteKind.REMOTE_ASSET, f"data.assets[{number}].uri", host=urlsplit(uri).hostname or "")
    ending = images.find_suffix(picture)
    if picture and (not ending or images.find_problem(picture, ending)):
        picture, ending = b"", ""
        notes.add(NoteKind.SKIPPED, "picture")
    return ImportedCard(persona, world, picture, ending, notes=notes.notes)


def is_card(values: JsonValue) -> bool:
    """Return whether a JSON value is a character of a format that `build_card` reads. Books and chats of other programs have a
    name and a description, too, but no card has what marks them.
    """
    if not isinstance(values, dict) or _find_converter(values) is None:
        return False
    return _has_spec(values) or (find_reader(values) is None and find_format(values) is None)


def _has_spec(values: Mapping[str, JsonValue]) -> bool:
    return str(values.get("spec", "")).startswith(CARD_SPEC)


def write_png(persona: Persona, world: World | None, picture: bytes, name: str) -> bytes:
    """Return a PNG picture with the persona as a V2 and as a V3 card. `picture` must be a PNG. Raise FileError."""
    cards = {keyword: _write(persona, world, spec) for keyword, spec in (("chara", V2), ("ccv3", V3))}
    texts = {keyword: json.dumps(card, ensure_ascii=False).encode() for keyword, card in cards.items()}
    return png.write_cards(picture, texts, name)


def _write(persona: Persona, world: World | None, spec: tuple[str, str] = V3) -> JsonObject:
    return write_card(persona, write_character_book(world) if world is not None else None, spec)


def write_json(persona: Persona, world: World | None) -> bytes:
    """Return a persona as a V3 card in JSON."""
    return json.dumps(_write(persona, world), ensure_ascii=False, indent=2).encode()


def write_charx(persona: Persona, world: World | None, picture: bytes, assets: bytes = b"") -> bytes:
    """Return a persona as a CHARX archive: a V3 card, with its picture beside it as the icon, and with the further assets of
    the archive it was imported from.
    """
    card, suffix = _write(persona, world), images.find_suffix(picture)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        if suffix:
            path = f"assets/icon/images/main{suffix}"
            data = FieldReader(card).mapping("data")
            others = [one for one in FieldReader(data).items("assets") if not _is_main_icon(one)]
            icon: JsonObject = {"type": "icon", "uri": f"embeded://{path}", "name": "main", "ext": suffix[1:]}
            card = {**card, "data": {**data, "assets": [icon, *others]}}
            archive.writestr(path, picture)
        if assets:
            kept = _open_archive(assets, persona.name)
            for path in dict.fromkeys(_further_asset_paths(card)):
                if path in kept and path not in archive.namelist():
                    archive.writestr(path, kept.read_member(path, PACKED_LIMITS.member))
        archive.writestr(CHARX_CARD, json.dumps(card, ensure_ascii=False, indent=2))
    return packed.getvalue()


def _is_main_icon(asset: JsonValue) -> bool:
    return isinstance(asset, dict) and asset.get("type") == "icon" and asset.get("name") == "main"


def _read_png(content: bytes, file_name: str, notes: ImportNotes) -> JsonValue:
    texts = png.read_texts(content, file_name)
    errors: list[FileError] = []
    for keyword in png.CARD_KEYWORDS:
        if keyword in texts:
            try:
                return parse_json(png.decode_card(texts[keyword], file_name), file_name, notes)
            except FileError as error:  # a damaged V3 card may have an intact V2 card beside it
                errors.append(error)
    if errors:
        raise errors[0]
    raise UnknownFormat(file_name, "is a picture without a character card")


def _read_archive(archive: Archive, file_name: str, notes: ImportNotes) -> tuple[JsonValue, bytes]:
    if CHARX_CARD in archive:
        card = parse_json(archive.read_member(CHARX_CARD, MAX_BYTES), file_name, notes)
        return card, _read_main_icon(card, archive, notes)
    if BYAF_MANIFEST in archive:
        return _read_backyard(archive, file_name, notes)
    raise UnknownFormat(file_name, "is an archive without a character")


def _read_main_icon(card: JsonValue, archive: Archive, notes: ImportNotes) -> bytes:
    """Return the picture that a CHARX card names as its icon; empty if there is none that can be read."""
    icons = [asset for _values, asset in FieldReader(card).child("data").objects("assets") if asset.text("type") == "icon"]
    icons.sort(key=lambda icon: icon.text("name") != "main")
    for icon in icons:
        _, separator, path = icon.text("uri").partition("://")
        if separator and path in archive:
            return _read_picture(path, archive, notes)
    return b""


def _read_picture(path: str, archive: Archive, notes: ImportNotes) -> bytes:
    try:
        return archive.read_member(path, images.MAX_BYTES)
    except FileError:  # too large or damaged; the character is worth more than its picture
        notes.add(NoteKind.SKIPPED, path)
        return b""


def _read_backyard(archive: Archive, file_name: str, notes: ImportNotes) -> tuple[JsonValue, bytes]:
    """Return the first character of a BYAF archive as a card, with its first picture."""

    def read(path: str) -> JsonObject:
        values = parse_json(archive.read_member(path, MAX_BYTES), file_name, notes) if path in archive else None
        return values if isinstance(values, dict) else {}

    manifest = FieldReader(read(BYAF_MANIFEST), notes, BYAF_MANIFEST)
    characters = manifest.texts("characters")
    if not characters:
        raise FileError(file_name, "contains no character", "characters")
    character = read(characters[0])
    pictures = [image.text("path") for _values, image in FieldReader(character).objects("images")]
    folder = characters[0].rpartition("/")[0]
    paths = [path for picture in pictures for path in (picture, f"{folder}/{picture}") if path in archive]
    picture = _read_picture(paths[0], archive, notes) if paths else b""
    return from_backyard(character, [read(path) for path in manifest.texts("scenarios")]), picture


def _find_converter(values: Mapping[str, JsonValue]) -> Callable[[Mapping[str, JsonValue]], JsonObject] | None:
    """Return the function that makes a V1, V2 or V3 card of a character's values; None if the format is not known."""
    data = values.get("data")
    if isinstance(data, dict) and (_has_spec(values) or "name" in data):
        return dict
    if values.get("kind") == "character":
        return from_agnai
    if "char_name" in values or ("name" in values and ("greeting" in values or "context" in values)):
        return from_pygmalion
    if "Name" in values and ("Bio" in values or "FirstMessage" in values or "IsUser" in values):
        return from_old_lethe
    # A persona's file of our own has a name and a scenario too, but as a V1 card it would lose its bio.
    is_own = "first_messages" in values or "bio" in values
    has_marks = sum(mark in values for mark in V1_MARKS) >= MIN_V1_MARKS
    return dict if "name" in values and not is_own and has_marks else None
