"""Characters of other programs are read whole, and return as they came, edited only where somebody edited them."""

from __future__ import annotations

import base64
import io
import json
import zipfile
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.domain.chat import Role
from lethe_app.domain.import_notes import NoteKind
from lethe_app.errors import FileError
from lethe_app.interchange import images
from lethe_app.interchange.cards import png
from lethe_app.interchange.cards.card import is_card, read_card, write_charx, write_json, write_png
from tests.interchange.external_files import (
    archive,
    as_bytes,
    book_entry,
    chunk,
    lost,
    picture,
    v2_card,
    v3_card,
    webp_with_comment,
)


def embedded(card: object, keyword: str = "chara", base: bytes = b"") -> bytes:
    return png.write_cards(base or picture(), {keyword: as_bytes(card)}, "card.png")


def test_every_field_of_a_card_has_its_place():
    persona = read_card(as_bytes(v3_card()), "vera.json").persona

    assert (persona.name, persona.nickname, persona.personality) == ("Vera Lind", "Vee", "dry, patient")
    assert persona.bio == "{{char}} keeps the light on <BOT>'s rock."
    assert persona.first_messages == ["Come in, {{user}}.", "You again.", "Mind the step."]
    assert persona.group_greetings == ["All of you, in."]
    assert persona.example_dialogs == ["{{user}}: Is it far?\n{{char}}: It is wet.", "{{char}}: Sit."]
    assert (persona.system_prompt, persona.post_history_instructions) == ("{{original}} Be brief.", "Stay on the rock.")
    assert (persona.depth_prompt, persona.depth_prompt_depth, persona.depth_prompt_role) == ("She limps.", 3, Role.SYSTEM)
    assert (persona.creator, persona.character_version, persona.creator_notes) == ("ada", "1.2", "Best with rain.")
    assert (persona.tags, persona.talkativeness) == (["sea", "night"], 0.7)


@pytest.mark.parametrize("card", [v2_card(), v3_card(), v2_card(tags="sea, night"), v2_card(mes_example="{{char}}: no mark")])
def test_an_unedited_card_returns_as_it_came(card: dict[str, object]):
    read = read_card(as_bytes(card), "vera.json")

    written = json.loads(write_json(read.persona, read.world))

    spec = {".spec", ".spec_version"}  # written as V3
    assert [one for one in lost(card, written) if one.partition(":")[0] not in spec] == []


def test_extensions_that_are_only_kept_for_export_are_named():
    card = v2_card(extensions={"foo": {"bar": 1}, "fav": False, "world": "Bay", "talkativeness": "0.7"})

    notes = [(note.kind, note.location) for note in read_card(as_bytes(card), "vera.json").notes]

    assert [location for kind, location in notes if kind is NoteKind.NO_EFFECT] == ["data.extensions.foo"]


def test_an_edited_card_keeps_what_nobody_edited():
    card = v2_card()
    persona = read_card(as_bytes(card), "vera.json").persona

    edited = persona.model_copy(update={"bio": "She left the rock.", "tags": ["land"]})
    written = json.loads(write_json(edited, None))

    changed = {one.partition(":")[0] for one in lost(card, written)}
    assert changed == {".description", ".data.description", ".data.tags", ".spec", ".spec_version"}
    assert written["data"]["extensions"]["chub"] == {"id": 12, "related_lorebooks": []}


def test_a_png_carries_both_versions_and_keeps_the_chunks_of_others():
    read = read_card(embedded(v2_card(), base=embedded({"name": "old", "description": "x"})), "vera.png")

    written = write_png(read.persona, read.world, picture(), "vera.png")

    texts = png.read_texts(written, "vera.png")
    assert set(texts) == {"software", "chara", "ccv3"}
    specs = {keyword: json.loads(base64.b64decode(texts[keyword]))["spec"] for keyword in png.CARD_KEYWORDS}
    assert specs == {"ccv3": "chara_card_v3", "chara": "chara_card_v2"}
    assert read_card(written, "vera.png").persona.model_dump(exclude={"original"}) == read.persona.model_dump(
        exclude={"original"}
    )
    assert (read.picture_ending, read.picture[:8]) == (".png", png.SIGNATURE)


def test_the_newer_card_of_a_picture_is_read_and_the_older_one_if_it_is_damaged():
    both = png.write_cards(picture(), {"chara": as_bytes(v2_card(name="Two")), "ccv3": as_bytes(v3_card(name="Three"))}, "x")
    broken = png.write_cards(picture(), {"chara": as_bytes(v2_card(name="Two")), "ccv3": b"{no json"}, "x")

    assert read_card(both, "x.png").persona.name == "Three"
    assert read_card(broken, "x.png").persona.name == "Two"


@pytest.mark.parametrize("kind", [b"tEXt", b"zTXt", b"iTXt", b"iTXt packed"])
def test_every_kind_of_text_chunk_is_read(kind: bytes):
    card = base64.b64encode(as_bytes(v2_card()))
    data = {
        b"tEXt": b"Chara\0" + card,
        b"zTXt": b"chara\0\0" + zlib.compress(card),
        b"iTXt": b"chara\0\0\0en\0\0" + card,
        b"iTXt packed": b"chara\0\1\0\0\0" + zlib.compress(card),
    }[kind]
    content = picture()[:-12] + chunk(kind[:4], data) + chunk(b"IEND", b"")

    assert read_card(content, "x.png").persona.name == "Vera Lind"


def test_a_card_in_the_comment_of_a_webp_picture_is_read():
    content = webp_with_comment(base64.b64encode(as_bytes(v2_card())))

    assert read_card(content, "x.webp").persona.name == "Vera Lind"


@pytest.mark.parametrize("before", [b"", b"\xff\xd8\xff\xe0 a picture"])
def test_an_archive_is_read_with_its_icon_and_book_also_behind_a_picture(before: bytes):
    assets = [
        {"type": "emotion", "uri": "https://example.org/joy.png", "name": "joy", "ext": "png"},
        {"type": "icon", "uri": "embeded://assets/icon/images/main.png", "name": "main", "ext": "png"},
    ]
    card = v3_card(assets=assets, character_book={"name": "Rock", "entries": [book_entry()]})
    members = {"card.json": as_bytes(card), "assets/icon/images/main.png": picture(12), "../../evil": b"x", "a\\b": b"x"}

    read = read_card(archive(members, before), "vera.charx")

    assert (read.world.name, len(read.world.entries), read.picture) == ("Rock", 1, picture(12))
    assert [(note.kind, note.values) for note in read.notes if note.kind is NoteKind.REMOTE_ASSET] == [
        (NoteKind.REMOTE_ASSET, {"host": "example.org"})
    ]


def test_further_assets_of_an_archive_return_with_it():
    assets = [
        {"type": "icon", "uri": "embeded://assets/icon/images/main.png", "name": "main", "ext": "png"},
        {"type": "emotion", "uri": "embeded://assets/emotion/images/joy.png", "name": "joy", "ext": "png"},
        {"type": "x-sound", "uri": "embeded://assets/gone.mp3", "name": "rain", "ext": "mp3"},
    ]
    members = {
        "card.json": as_bytes(v3_card(assets=assets)),
        "assets/icon/images/main.png": picture(12),
        "assets/emotion/images/joy.png": picture(13),
        "unlisted.txt": b"x",
    }

    read = read_card(archive(members), "vera.charx")
    back = io.BytesIO(write_charx(read.persona, read.world, read.picture, read.assets))

    with zipfile.ZipFile(back) as written:
        assert written.read("assets/emotion/images/joy.png") == picture(13)
        assert set(written.namelist()) == members.keys() - {"unlisted.txt"}
    assert read_card(archive({"card.json": as_bytes(v3_card())}), "vera.charx").assets == b""


def test_a_character_is_worth_more_than_its_picture(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(images, "MAX_BYTES", len(picture(12)) - 1)
    assets = [{"type": "icon", "uri": "embeded://assets/main.png", "name": "main", "ext": "png"}]
    members = {"card.json": as_bytes(v3_card(assets=assets)), "assets/main.png": picture(12)}

    read = read_card(archive(members), "vera.charx")

    assert (read.persona.name, read.picture) == ("Vera Lind", b"")
    assert [note.location for note in read.notes if note.kind is NoteKind.SKIPPED] == ["assets/main.png"]


def test_other_formats_of_characters_are_read():
    pygmalion = {
        "char_name": "Bo",
        "char_persona": "tall",
        "char_greeting": "Hey.",
        "example_dialogue": "a",
        "world_scenario": "s",
    }
    lethe = {
        "UniqueName": "bo",
        "Name": "Bo",
        "Bio": "tall",
        "FirstMessage": ["Hey.", "Hi."],
        "Scenario": "s",
        "ExampleDialogs": ["a"],
    }
    backyard = archive(
        {
            "manifest.json": as_bytes(
                {"schemaVersion": 1, "characters": ["characters/1/c.json"], "scenarios": ["s/1.json", "s/2.json"]}
            ),
            "characters/1/c.json": as_bytes(
                {
                    "id": "1",
                    "name": "b",
                    "displayName": "Bo",
                    "persona": "{character} is tall",
                    "loreItems": [{"key": "a, b", "value": "v"}],
                    "images": [{"path": "images/p.png"}],
                }
            ),
            "characters/1/images/p.png": picture(),
            "s/1.json": as_bytes(
                {"narrative": "s", "firstMessages": [{"text": "Hey, {user}."}], "exampleMessages": [{"text": "#{user}: a"}]}
            ),
            "s/2.json": as_bytes({"firstMessages": [{"text": "Hi."}]}),
        }
    )

    first, second, third = (
        read_card(content, name)
        for content, name in ((as_bytes(pygmalion), "bo.json"), (as_bytes(lethe), "b.json"), (backyard, "b.byaf"))
    )

    assert {card.persona.name for card in (first, second, third)} == {"Bo"}
    assert (first.persona.bio, first.persona.first_messages, first.persona.scenario) == ("tall", ["Hey."], "s")
    assert second.persona.first_messages == ["Hey.", "Hi."]
    assert (third.persona.bio, third.persona.first_messages) == ("{{char}} is tall", ["Hey, {{user}}.", "Hi."])
    assert third.persona.example_dialogs == ["{{user}}: a"]
    assert third.world.entries[0].keywords_main == ["a", "b"]
    assert third.picture == picture()


def test_fields_of_a_wrong_type_are_converted_or_left_out_with_a_note():
    card = v2_card(
        name=None, tags={"a": 1}, alternate_greetings="Hi.", description=["one", "two"], character_book=[], creator=5
    )
    card["data"]["extensions"] = []  # type: ignore[index]

    read = read_card(as_bytes(card), "No Name.json")

    assert (read.persona.name, read.persona.bio, read.persona.creator) == ("No Name", "one\ntwo", "5")
    assert read.persona.first_messages[1:] == ["Hi."]
    assert {(note.kind, note.location) for note in read.notes} >= {
        (NoteKind.NAME_MISSING, "data.name"),
        (NoteKind.WRONG_TYPE, "data.tags"),
        (NoteKind.CONVERTED, "data.description"),
    }
    assert read.world is None


@pytest.mark.parametrize(
    ("content", "name", "problem"),
    [
        (picture(), "x.png", "without a character card"),
        (b"{}", "x.json", "not a character card"),
        (b"[1", "x.json", "not valid JSON"),
        (b"[" * 200_000, "x.json", "nested too deeply|more than"),
        (archive({"a.txt": b""}), "x.charx", "without a character"),
        (embedded({"spec": "x"}), "x.png", "not a character card"),
        (picture()[:-12] + chunk(b"tEXt", b"chara\0!!!!") + chunk(b"IEND", b""), "x.png", "JSON|base64"),
    ],
)
def test_what_is_no_card_is_refused_by_name(content: bytes, name: str, problem: str):
    with pytest.raises(FileError, match=problem) as refused:
        read_card(content, name)
    assert name in str(refused.value)


def test_a_bomb_in_a_chunk_or_an_archive_is_not_unpacked():
    bomb = zlib.compress(b"\0" * 200_000_000)
    with pytest.raises(FileError, match="without a character card"):
        read_card(picture()[:-12] + chunk(b"zTXt", b"chara\0\0" + bomb) + chunk(b"IEND", b""), "bomb.png")
    with pytest.raises(FileError, match="too large"):
        read_card(archive({"card.json": b" " * 80_000_000}), "bomb.charx")


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=40)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*v3_card()["data"], "unknown", "extensions"]), values, max_size=8))  # type: ignore[misc]
def test_whatever_a_card_holds_returns_unless_it_says_nothing(fields: dict[str, object]):
    """Every value returns that is not a book. Names are stripped, and what could not be read at all is replaced."""
    card = {"spec": "chara_card_v3", "spec_version": "3.0", "data": {"name": "Vera"} | fields}
    card["data"].pop("character_book", None)

    read = read_card(as_bytes(card), "Vera.json")
    written = json.loads(write_json(read.persona, None))

    assert lost(card, written) == []


def test_a_character_of_agnai_has_all_it_says():
    character = {
        "kind": "character",
        "name": "Aiva",
        "description": "By Ann.",
        "greeting": "Hi.",
        "scenario": "A lab.",
        "sampleChat": "Aiva: Yes.",
        "persona": {"kind": "attributes", "attributes": {"species": ["android"], "traits": ["calm", "kind"]}},
        "tags": ["sf"],
        "alternateGreetings": ["Hello, again."],
        "characterBook": {"name": "Lab", "entries": [{"name": "e", "keywords": ["k"], "entry": "Text.", "weight": 6}]},
        "voice": {"service": "x"},
    }

    card = read_card(json.dumps(character).encode(), "aiva.json")

    persona = card.persona
    assert (persona.bio, persona.scenario, persona.tags) == ("species: android\ntraits: calm, kind", "A lab.", ["sf"])
    assert persona.first_messages == ["Hi.", "Hello, again."]
    assert persona.example_dialogs == ["Aiva: Yes."]
    assert persona.creator_notes == "By Ann."
    assert [(entry.keywords_main, entry.content, entry.order) for entry in card.world.entries] == [(["k"], "Text.", 6)]
    assert "voice" in json.dumps(persona.original)


@pytest.mark.parametrize("values", [{"name": "P", "description": "d"}, {"name": "P", "description": "d", "settings": {}}])
def test_a_name_and_a_description_are_no_character(values: dict[str, object]):
    assert not is_card(values)
