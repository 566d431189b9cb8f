"""A user folder of another program moves in whole, twice without harm, and out again; what fails leaves nothing behind."""

from __future__ import annotations

import asyncio
import json
import zipfile
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.bundle import WITH_CARD_FIELDS, BundleScope
from lethe_app.domain.chat import ChatSession, Role
from lethe_app.domain.clock import now
from lethe_app.domain.import_notes import ImportNote, NoteKind
from lethe_app.interchange.cards import png
from lethe_app.services.imports.plan import (
    TEMPLATES,
    ImportItem,
    ImportResult,
    ItemAction,
    ItemKind,
    describe_note,
    describe_place,
)
from tests.interchange.external_files import as_bytes, book_entry, chat_file, lost, picture, v2_card, v3_card, world_info
from tests.interchange.packed import archive
from tests.services.past_sessions import hold
from tests.services.turns import MIRA, prompt_of, say

CONTENTS = [ItemKind.WORLD, ItemKind.PERSONA, ItemKind.CONVERSATION, ItemKind.PRESET]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The user folder of somebody with one character, her book, a chat with her and a preset."""
    user = tmp_path / "default-user"
    files = {
        "characters/Vera Lind.png": png.write_cards(picture(), {"chara": as_bytes(v2_card())}, "x"),
        "worlds/Harbour.json": as_bytes(world_info()),
        "chats/Vera Lind/2023-6-19.jsonl": chat_file(),
        "TextGen Settings/Mine.json": as_bytes({"temp": 1, "top_p": 0.9, "top_k": 0, "rep_pen": 1.1}),
        "settings.json": b"{}",
        "secrets.json": b"{}",
        "thumbnails/avatar/Vera Lind.png": picture(),
        "groups/1.json": as_bytes({"id": "1", "members": [], "activation_strategy": 0}),
        "user.css": b"x",
    }
    for name, content in files.items():
        (user / name).parent.mkdir(parents=True, exist_ok=True)
        (user / name).write_bytes(content)
    return user


async def stored(services: AppServices) -> dict[str, object]:
    """Everything an import may add."""
    return {
        "personas": sorted(persona.name for persona in await services.library.personas()),
        "worlds": sorted(world.name for world in (await services.library.worlds()).values()),
        "presets": sorted(preset.name for preset in (await services.library.samplers()).values()),
        "sessions": len(await services.session_store.sessions()),
    }


async def test_a_whole_user_folder_moves_in(services: AppServices, folder: Path):
    plan = await services.imports.read_plan([folder])
    assert [item.kind for item in plan.items] == CONTENTS
    assert (plan.errors, plan.ignored) == ([], {"": 1, "group definition": 1})

    result = await services.imports.run(plan)

    assert result.errors == []
    persona = await services.library.persona(result.personas[0])
    world = (await services.library.worlds())[result.worlds[0]]
    assert (persona.name, persona.worlds, world.name) == ("Vera Lind", [world.unique_name], "Harbour")
    assert services.library.avatar(persona) is not None
    (session,) = result.sessions
    messages = await services.sessions.page(session, 0, 99)
    assert [(message.role, message.speaker, message.content) for message in messages] == [
        (Role.ASSISTANT, persona.unique_name, "Come in."),
        (Role.USER, "tomas", "How is it?"),
        (Role.ASSISTANT, persona.unique_name, "Wet."),
    ]
    assert "Mine" in [preset.name for preset in (await services.library.samplers()).values()]


async def test_an_imported_conversation_is_archived_in_the_background(services: AppServices, folder: Path):
    result = await services.imports.run(await services.imports.read_plan([folder]))

    await services.archive_queue.finish()

    session = await services.session_store.session(result.sessions[0])
    assert session.archived
    assert session.name


async def test_the_same_files_are_skipped_the_second_time_and_copied_or_updated_on_request(services: AppServices, folder: Path):
    first = await services.imports.run(await services.imports.read_plan([folder]))
    before = await stored(services)

    again = await services.imports.read_plan([folder])
    assert {item.action for item in again.items} == {ItemAction.SKIP}
    await services.imports.run(again)
    assert await stored(services) == before

    persona = await services.library.persona(first.personas[0])
    await services.library.save_persona(persona.model_copy(update={"bio": "Edited.", "tagline": "mine"}))
    await services.imports.run(replace(again, items=[replace(one_of(again.items, ItemKind.PERSONA), action=ItemAction.UPDATE)]))
    persona = await services.library.persona(first.personas[0])
    assert (persona.bio, persona.tagline) == (v2_card()["description"], "mine")
    assert await stored(services) == before

    copies = [replace(item, action=ItemAction.IMPORT) for item in again.items if item.kind is ItemKind.PERSONA]
    await services.imports.run(replace(again, items=copies))
    assert "Vera Lind 2" in (await stored(services))["personas"]  # type: ignore[operator]


async def test_an_undone_import_leaves_nothing_and_may_be_repeated(services: AppServices, folder: Path):
    before = await stored(services)
    result = await services.imports.run(await services.imports.read_plan([folder]))
    assert await stored(services) != before

    await services.imports.revert(result)

    assert await stored(services) == before
    assert {item.action for item in (await services.imports.read_plan([folder])).items} == {ItemAction.IMPORT}


async def test_a_file_that_cannot_be_read_is_named_and_stops_no_other(services: AppServices, folder: Path, tmp_path: Path):
    broken = tmp_path / "broken.json"
    broken.write_bytes(b"{nope")

    plan = await services.imports.read_plan([broken, folder, tmp_path / "missing.png"])

    assert [item.kind for item in plan.items] == CONTENTS
    assert [error.path.name for error in plan.errors] == ["broken.json", "missing.png"]
    assert "line 1" in plan.errors[0].problem


async def test_a_chat_joins_the_persona_of_its_name_or_makes_one(services: AppServices, tmp_path: Path):
    lines = [{"name": "MIRA", "mes": "Late again.", "is_user": False}, {"name": "Sam", "mes": "Yes.", "is_user": True}]
    known, unknown = tmp_path / "known.jsonl", tmp_path / "unknown.jsonl"
    known.write_bytes(b"\n".join(map(as_bytes, lines)))
    unknown.write_bytes(as_bytes(lines[0] | {"name": "Nobody yet"}))

    result = await services.imports.run(await services.imports.read_plan([known, unknown]))

    sessions = [await services.session_store.session(guid) for guid in result.sessions]
    assert [session.persona_id for session in sessions] == [MIRA, result.personas[0]]
    assert (await services.library.persona(result.personas[0])).name == "Nobody yet"


async def test_an_imported_card_is_shared_with_everything_it_had(services: AppServices, tmp_path: Path):
    """Fields nobody knows survive the import, a bundle, and the import of that."""
    card = v3_card(character_book={"name": "Rock", "entries": [book_entry()]})
    (tmp_path / "vera.json").write_bytes(as_bytes(card))
    result = await services.imports.run(await services.imports.read_plan([tmp_path / "vera.json"]))
    target = tmp_path / "vera.lethe"

    await services.bundles.export(result.personas[0], BundleScope.PERSONA, target)
    bundle = await services.bundles.read_bundle(target)

    assert bundle.manifest.version == WITH_CARD_FIELDS
    original = await services.library.persona(result.personas[0])
    assert lost(original.model_dump(exclude={"unique_name", "avatar", "worlds"}), bundle.persona.model_dump()) == []
    (world,) = bundle.worlds.values()
    assert world.entries[0].original["extensions"]["someone_else"] == {"deep": [1, 2]}  # type: ignore[index]


def one_of(items: object, kind: ItemKind) -> ImportItem:
    return next(item for item in items if item.kind is kind)  # type: ignore[attr-defined]


async def test_what_is_not_run_is_named_in_the_preview(services: AppServices, tmp_path: Path):
    data = {
        "name": "Ada",
        "description": "{{setvar::a::1}}{{get_message_variable::stat.hp}} {{if x}}{{foo}}{{/if}} <%= getvar('hp') %>",
        "first_mes": "Hello {{foo}} {{user}}.",
        "character_book": {"entries": [{"keys": ["a"], "content": "{{bar}}"}]},
        "extensions": {
            "regex_scripts": [{"scriptName": "Hide status", "findRegex": "/x/"}],
            "TavernHelper_scripts": [{"type": "script", "value": {"name": "Dice", "content": "…"}}],
            "tavern_helper": {"scripts": [], "variables": {"hp": 5}},
            "chub": {"id": 1},
        },
    }
    (tmp_path / "ada.json").write_bytes(as_bytes({"spec": "chara_card_v2", "spec_version": "2.0", "data": data}))
    empty = {"regex_scripts": [], "tavern_helper": [["scripts", []], ["variables", {}]]}
    plain = {"name": "Bo", "description": "{{user}}", "first_mes": "Hi.", "extensions": empty}
    (tmp_path / "bo.json").write_bytes(as_bytes({"spec": "chara_card_v2", "spec_version": "2.0", "data": plain}))

    ada, bo = (await services.imports.read_plan([tmp_path / "ada.json", tmp_path / "bo.json"])).items

    scripts = "regex_scripts (Hide status), TavernHelper_scripts (Dice), tavern_helper (hp)"
    assert [describe_note(note) for note in ada.notes] == [
        "Unknown macros are kept as they are, and left out of greetings: {{get_message_variable::stat.hp}}, {{foo}}, {{bar}}",
        "Code between <% and %> is not run, and is sent to the model as it is",
        f"Scripts and variables of extensions are kept for export, but not run or set: {scripts}",
        "“data.extensions.chub” is kept for export, but has no effect",
    ]
    assert not bo.notes


def test_notes_are_worded():
    values = {"found": "string", "used": "1", "limit": 5, "name": "x", "version": "4", "host": "h", "count": 3, "names": "a"}
    assert set(TEMPLATES) == set(NoteKind)
    assert all("{" not in describe_note(ImportNote(kind, "data.tags", values)) for kind in NoteKind)


async def test_decorators_without_effect_are_named(services: AppServices, tmp_path: Path):
    entries = {"0": {"key": ["a"], "content": "@@instruct_depth 4\n@@depth 2\nText."}}
    (tmp_path / "book.json").write_bytes(as_bytes({"entries": entries}))

    (item,) = (await services.imports.read_plan([tmp_path / "book.json"])).items

    assert [(note.kind, note.values) for note in item.notes] == [(NoteKind.UNKNOWN_DECORATOR, {"name": "@@instruct_depth"})]


async def test_a_chat_of_several_characters_is_a_group(services: AppServices, tmp_path: Path):
    lines = [{"name": name, "mes": f"{name} speaks.", "is_user": name == "Sam"} for name in ("Mira", "Sam", "Bo")]
    (tmp_path / "bo.json").write_bytes(as_bytes(v2_card(name="Bo")))
    (tmp_path / "group.jsonl").write_bytes(b"\n".join(map(as_bytes, lines)))

    result = await services.imports.run(await services.imports.read_plan([tmp_path / "bo.json", tmp_path / "group.jsonl"]))

    session = await services.session_store.session(result.sessions[0])
    messages = await services.sessions.page(session.guid, 0, 9)
    assert (session.persona_id, session.guests) == (MIRA, [result.personas[0]])
    assert [message.speaker for message in messages] == [MIRA, "tomas", result.personas[0]]


async def test_an_updated_world_keeps_the_ids_of_its_entries_and_the_old_one_is_in_the_trash(
    services: AppServices, tmp_path: Path
):
    (tmp_path / "harbour.json").write_bytes(as_bytes(world_info()))
    first = await services.imports.run(await services.imports.read_plan([tmp_path / "harbour.json"]))
    world = (await services.library.worlds())[first.worlds[0]]
    edited = world.entries[0].model_copy(update={"content": "Edited."})
    await services.library.save_world(world.model_copy(update={"entries": [edited]}))
    plan = await services.imports.read_plan([tmp_path / "harbour.json"])

    await services.imports.run(replace(plan, items=[replace(plan.items[0], action=ItemAction.UPDATE)]))

    updated = (await services.library.worlds())[first.worlds[0]]
    assert [(entry.guid, entry.content) for entry in updated.entries] == [(edited.guid, "The harbour lies empty.")]
    assert any("Edited." in file.read_text(encoding="utf-8") for file in (services.paths.trash / "worldinfo").iterdir())


async def test_pictures_without_a_character_are_passed_over_in_a_folder(services: AppServices, folder: Path):
    (folder / "characters" / "Vera Lind").mkdir()
    for name in ("joy", "anger"):
        (folder / "characters" / "Vera Lind" / f"{name}.png").write_bytes(picture())

    plan = await services.imports.read_plan([folder])
    named = await services.imports.read_plan([folder / "characters" / "Vera Lind" / "joy.png"])

    assert (plan.errors, plan.ignored) == ([], {"": 3, "group definition": 1})
    assert [error.problem for error in named.errors] == ["is a picture without a character card"]


async def test_an_update_is_undone_too(services: AppServices, tmp_path: Path):
    files = [tmp_path / "vera.json", tmp_path / "harbour.json"]
    for file, content in zip(files, (v2_card(extensions={}), world_info()), strict=True):
        file.write_bytes(as_bytes(content))
    first = await services.imports.run(await services.imports.read_plan(files))
    persona = await services.library.save_persona(
        (await services.library.persona(first.personas[0])).model_copy(update={"bio": "Mine."})
    )
    plan = await services.imports.read_plan(files)
    updates = [replace(item, action=ItemAction.UPDATE) for item in plan.items]

    result = await services.imports.run(replace(plan, items=updates))
    assert sorted(record.name for record in result.updated) == ["Harbour", "Vera Lind"]
    assert (await services.library.persona(persona.unique_name)).bio != "Mine."
    await services.imports.revert(result)

    assert await services.library.persona(persona.unique_name) == persona
    assert {item.action for item in (await services.imports.read_plan(files)).items} == {ItemAction.SKIP}


async def test_a_file_that_changed_after_the_preview_is_not_imported(services: AppServices, folder: Path):
    before, plan = await stored(services), await services.imports.read_plan([folder / "characters", folder / "worlds"])
    (folder / "characters" / "Vera Lind.png").unlink()
    (folder / "worlds" / "Harbour.json").write_bytes(as_bytes({"entries": {}}))

    result = await services.imports.run(plan)

    assert [error.problem for error in result.errors] == [
        "has changed since it was read",
        "cannot be opened: no such file or directory",
    ]
    assert await stored(services) == before


@pytest.mark.parametrize("milliseconds", [0, 5, 20, 50, 100, 200])
async def test_an_import_that_is_cancelled_at_any_moment_is_whole_or_nothing(
    services: AppServices, folder: Path, milliseconds: int
):
    before, plan = await stored(services), await services.imports.read_plan([folder])
    task = asyncio.create_task(services.imports.run(plan))
    await asyncio.sleep(milliseconds / 1000)
    task.cancel()

    (outcome,) = await asyncio.gather(task, return_exceptions=True)

    if isinstance(outcome, asyncio.CancelledError):
        assert await stored(services) == before
    else:
        assert not isinstance(outcome, BaseException)
        assert outcome.keys.keys() == {item.key for item in plan.items}


async def test_a_file_of_our_own_is_not_taken_for_a_card(services: AppServices):
    """As one it would lose what cards have no field for."""
    plan = await services.imports.read_plan([services.paths.personas / "mira-test.json"])

    assert (plan.items, len(plan.errors)) == ([], 1)


async def test_what_a_card_says_of_its_character_reaches_the_prompt(services: AppServices, tmp_path: Path, says):
    card = v3_card(
        name="Vera Lind",
        nickname="Vee",
        description="{{char}} keeps a harbour.",
        personality="Dry, loyal.",
        post_history_instructions="Never let {{char}} laugh.",
        creator_notes="Best with a large model.",
        extensions={"depth_prompt": {"prompt": "{{char}} is cold tonight.", "depth": 1, "role": "user"}},
    )
    (tmp_path / "vera.json").write_bytes(as_bytes(card))
    result = await services.imports.run(await services.imports.read_plan([tmp_path / "vera.json"]))
    session = await services.sessions.new(result.personas[0])
    await says("“Aye.”", "“No.”")
    await say(services, session, "A friend.")

    prompt = await prompt_of(services, session, await say(services, session, "It is late."))

    assert "Vee keeps a harbour.\n\nDry, loyal." in prompt
    assert "Best with a large model." not in prompt
    places = [prompt.index(text) for text in ("“Aye.”", "Vee is cold tonight.", "It is late.", "Never let Vee laugh.")]
    assert places == sorted(places)


async def test_pictures_of_expressions_are_kept_for_the_next_export(services: AppServices, tmp_path: Path):
    assets = [{"type": "emotion", "uri": "embeded://assets/joy.png", "name": "joy", "ext": "png"}]
    content = archive({"card.json": as_bytes(v3_card(name="Vera Lind", assets=assets)), "assets/joy.png": picture(13)})
    (tmp_path / "vera.charx").write_bytes(content)
    result = await services.imports.run(await services.imports.read_plan([tmp_path / "vera.charx"]))
    copy = await services.library.duplicate_persona(result.personas[0], "Vera again")

    for persona_id in (result.personas[0], copy.unique_name):
        await services.card_export.export_card(persona_id, tmp_path / f"{persona_id}.charx")

        with zipfile.ZipFile(tmp_path / f"{persona_id}.charx") as written:
            assert written.read("assets/joy.png") == picture(13)
    await services.imports.revert(result)
    await services.bundles.export(copy.unique_name, BundleScope.PERSONA, tmp_path / "vera.lethe")
    imported = await services.bundles.import_bundle(await services.bundles.read_bundle(tmp_path / "vera.lethe"))
    assert imported.persona.assets == ""


async def test_memories_of_the_original_lethe_come_to_the_persona_of_their_file(services: AppServices, tmp_path: Path):
    units = [
        {"Category": "General", "Insertion": "Trigger", "Content": text, "Name": "Lamp"}
        for text in ("It is lit.", "It is dark.")
    ]
    (tmp_path / "Mira.brain").write_bytes(as_bytes(units))
    (tmp_path / "Nerys.brain").write_bytes(as_bytes({"Memories": units[:1]}))
    before = {memory.guid for memory in await services.memory.memories(MIRA)}
    plan = await services.imports.read_plan([tmp_path])
    assert [(item.kind, item.name, item.size) for item in plan.items] == [
        (ItemKind.MEMORIES, "Mira", 2),
        (ItemKind.MEMORIES, "Nerys", 1),
    ]

    result = await services.imports.run(plan)

    made = [memory for memory in await services.memory.memories(MIRA) if memory.guid not in before]
    assert sorted(memory.content for memory in made) == ["It is dark.", "It is lit."]
    assert [persona.name for persona in await services.library.personas() if persona.unique_name in result.personas] == [
        "Nerys"
    ]
    assert [item.action for item in (await services.imports.read_plan([tmp_path])).items] == [ItemAction.SKIP] * 2
    await services.imports.revert(result)
    assert {memory.guid for memory in await services.memory.memories(MIRA)} == before


def rows_of(*messages: tuple[str, str]) -> bytes:
    """A chat of SillyTavern with these speakers and texts; the user is called You."""
    lines = [{"user_name": "You", "character_name": "unused"}]
    lines += [{"name": name, "is_user": name == "You", "mes": text} for name, text in messages]
    return b"\n".join(as_bytes(line) for line in lines)


async def import_files(services: AppServices, folder: Path, files: dict[str, bytes]) -> ImportResult:
    for name, content in files.items():
        path = folder / name
        await asyncio.to_thread(path.parent.mkdir, parents=True, exist_ok=True)
        await asyncio.to_thread(path.write_bytes, content)
    return await services.imports.run(await services.imports.read_plan([folder / name for name in files]))


async def test_every_member_of_a_group_speaks_as_somebody(services: AppServices, tmp_path: Path):
    chat = rows_of(("Megumin", "Explosion!"), ("You", "No."), ("Darkness", "Yes."))

    result = await import_files(services, tmp_path, {"group.jsonl": chat})

    spoken = await services.sessions.page(result.sessions[0], 0, 9)
    assert [message.speaker for message in spoken] == ["megumin", "tomas", "darkness"]
    assert sorted(result.personas) == ["darkness", "megumin"]


async def test_the_card_of_somebody_known_from_a_chat_makes_that_persona_whole(services: AppServices, tmp_path: Path):
    chat = await import_files(services, tmp_path, {"chat.jsonl": rows_of(("Vera Lind", "Hello."), ("You", "Hi."))})
    before = await services.sessions.list("vera-lind")

    card = await import_files(services, tmp_path, {"card.json": as_bytes(v2_card())})

    assert (chat.personas, card.personas, [one.name for one in card.updated]) == (["vera-lind"], [], ["Vera Lind"])
    persona = await services.library.persona("vera-lind")
    assert (persona.name, bool(persona.bio)) == ("Vera Lind", True)
    assert await services.sessions.list("vera-lind") == before != []

    await services.imports.revert(card)
    assert (await services.library.persona("vera-lind")).bio == ""
    assert await services.sessions.list("vera-lind") == before


async def test_a_second_character_of_a_name_keeps_it_in_its_texts(services: AppServices, tmp_path: Path):
    other = v2_card()
    other["data"] = {**other["data"], "description": "Another one."}
    await import_files(services, tmp_path, {"a.json": as_bytes(v2_card())})

    result = await import_files(services, tmp_path, {"b.json": as_bytes(other)})

    persona = await services.library.persona(result.personas[0])
    assert (persona.name, persona.nickname) == ("Vera Lind 2", "Vera Lind")
    assert result.renamed == {"Vera Lind": "Vera Lind 2"}


async def test_user_personas_of_other_programs_move_in(services: AppServices, tmp_path: Path):
    settings = {
        "power_user": {
            "personas": {"ann.png": "Ann", "x.png": ""},
            "persona_descriptions": {"ann.png": {"description": "{{user}} keeps bees.", "position": 0}},
        }
    }

    result = await import_files(services, tmp_path, {"settings.json": as_bytes(settings)})

    (persona,) = [one for one in await services.library.user_personas() if one.unique_name in result.personas]
    assert (persona.name, persona.bio, persona.is_user) == ("Ann", "{{user}} keeps bees.", True)


async def test_user_personas_without_descriptions_move_in(services: AppServices, tmp_path: Path):
    backup = {"personas": {"ann.png": "Ann"}, "persona_descriptions": {}, "default_persona": None}

    result = await import_files(services, tmp_path, {"personas.json": as_bytes(backup)})

    assert [(await services.library.persona(name)).name for name in result.personas] == ["Ann"]


async def test_folders_are_passed_over_in_a_user_folder_only(services: AppServices, tmp_path: Path):
    card = as_bytes(v2_card())
    for name in ("mine/assets/a.json", "user/characters/b.json", "user/assets/c.json"):
        await asyncio.to_thread((tmp_path / name).parent.mkdir, parents=True, exist_ok=True)
        await asyncio.to_thread((tmp_path / name).write_bytes, card + b" " * len(name))

    plan = await services.imports.read_plan([tmp_path])

    assert sorted(item.file.name for item in plan.items) == ["a.json", "b.json"]


async def test_a_chat_of_text_generation_webui_has_its_dates_versions_and_character(services: AppServices, tmp_path: Path):
    chat = {
        "internal": [["<|BEGIN-VISIBLE-CHAT|>", "Hello & welcome."], ["Of what is the moon?", "Rock <b>mostly</b>."]],
        "visible": [["", "Hello &amp; welcome."], ["Of what is the moon?", "Rock &lt;b&gt;mostly&lt;/b&gt;."]],
        "metadata": {
            "assistant_0": {"timestamp": "Jul 01, 2025 14:03"},
            "user_1": {"timestamp": "Jul 01, 2025 14:04"},
            "assistant_1": {
                "timestamp": "Jul 01, 2025 14:05",
                "versions": [{"content": "Cheese."}, {"content": "Rock <b>mostly</b>."}],
            },
        },
    }

    result = await import_files(services, tmp_path, {"logs/chat/Chiharu/20250701-14-03-00.json": as_bytes(chat)})

    messages = await services.sessions.page(result.sessions[0], 0, 9)
    assert [message.content for message in messages] == ["Hello & welcome.", "Of what is the moon?", "Rock <b>mostly</b>."]
    assert [f"{message.time:%d %H:%M}" for message in messages] == ["01 14:03", "01 14:04", "01 14:05"]
    assert [one.content for one in messages[2].alternatives] == ["Cheese.", "Rock <b>mostly</b>."]
    assert result.personas == ["chiharu"]


async def test_what_has_no_counterpart_is_named(services: AppServices, tmp_path: Path):
    files = {
        "reasoning.json": {"name": "DeepSeek", "prefix": "<think>", "suffix": "</think>", "separator": ""},
        "completion.json": {"temperature": 1, "prompts": [], "prompt_order": []},
        "replies.json": {"version": 2, "name": "Mine", "qrList": []},
    }
    folder = tmp_path / "presets"
    await asyncio.to_thread(folder.mkdir)
    for name, values in files.items():
        await asyncio.to_thread((folder / name).write_bytes, as_bytes(values))

    whole = await services.imports.read_plan([folder])
    named = await services.imports.read_plan([folder / "reasoning.json"])

    kinds = {"reasoning template": 1, "chat completion preset": 1, "quick reply set": 1}
    assert (whole.items, whole.ignored) == ([], kinds)
    assert [error.problem for error in named.errors] == [
        "is a reasoning template of SillyTavern, which has no counterpart in Lethe"
    ]


async def export_chat(services: AppServices, session: ChatSession, file: Path) -> Path:
    await services.card_export.export_conversation(session.guid, file)
    return file


async def read_sessions(services: AppServices) -> list[list[str]]:
    return [[text for _role, text in said] for said in await services.session_store.texts_of(MIRA)]


async def test_conversations_that_are_here_already_are_recognised_whatever_their_file(services: AppServices, tmp_path: Path):
    lines = ["I sold the boat.", "A pity.", "It was old.", "Still."]
    session = await hold(services, *lines)
    file = await export_chat(services, session, tmp_path / "Mira.jsonl")
    again = await services.imports.run(await services.imports.read_plan([file]))
    assert (again.sessions, again.chats, again.known_chats) == ([], 0, 1)
    assert await read_sessions(services) == [lines]

    header, *rows = await asyncio.to_thread(lambda: file.read_text(encoding="utf-8").splitlines())
    changed = tmp_path / "other" / "chat.jsonl"
    changed.parent.mkdir()
    rows = [json.dumps({**json.loads(row), "send_date": ""}) for row in rows[1:]]
    await asyncio.to_thread(changed.write_text, "\n".join([header, *rows]), encoding="utf-8")
    assert (await services.imports.run(await services.imports.read_plan([changed]))).known_chats == 1
    assert await read_sessions(services) == [lines]

    await services.sessions.delete(session.guid)
    both = await services.imports.read_plan([file, changed])
    both = replace(both, items=[replace(item, action=ItemAction.IMPORT, earlier="") for item in both.items])
    result = await services.imports.run(both)
    assert (result.chats, result.known_chats) == (1, 1)


async def test_of_a_conversation_that_went_on_elsewhere_only_the_new_messages_are_stored(services: AppServices, tmp_path: Path):
    session = await hold(services, "I sold the boat.", "A pity.")
    await hold(services, "Do you miss it?", "Every day.", session=session, at=now() + timedelta(minutes=9))
    file = await export_chat(services, session, tmp_path / "Mira.jsonl")
    messages = await services.sessions.page(session.guid, 0, 9)
    for message in messages[2:]:
        await services.message_editing.delete(session.guid, message.id)

    result = await services.imports.run(await services.imports.read_plan([file]))

    assert result.messages == 2
    assert sorted(await read_sessions(services)) == [["Do you miss it?", "Every day."], ["I sold the boat.", "A pity."]]
    (new,) = result.sessions
    assert [message.parent_id is None for message in await services.sessions.page(new, 0, 9)] == [True, False]


@pytest.mark.parametrize("change", ["edit", "delete"])
async def test_a_conversation_is_recognised_though_a_line_of_it_was_changed_here(
    services: AppServices, tmp_path: Path, change: str
):
    session = await hold(services, "I sold the boat.", "A pity.", "I was in prison.", "Oh.", "Still, I miss it.", "Of course.")
    file = await export_chat(services, session, tmp_path / "Mira.jsonl")
    secret = (await services.sessions.page(session.guid, 2, 1))[0]
    if change == "edit":
        await services.message_editing.edit(secret.id, "It was old.")
    else:
        await services.message_editing.delete(session.guid, secret.id)
    before = await read_sessions(services)

    result = await services.imports.run(await services.imports.read_plan([file]))

    assert (result.messages, result.known_chats) == (0, 1)
    assert await read_sessions(services) == before


async def test_a_conversation_that_only_begins_like_a_known_one_is_another(services: AppServices, tmp_path: Path):
    greeting = ["Good evening.", "You are late."]
    other = await hold(services, *greeting, "The train stood for an hour.", "Which one?", "The one from Porto.", "I see.")
    file = await export_chat(services, other, tmp_path / "Mira.jsonl")
    await services.sessions.delete(other.guid)
    known = await hold(services, *greeting, "I have brought bread.", "Is it warm?", "Still.", "Then come in.")

    assert (await services.imports.run(await services.imports.read_plan([file]))).messages == 6
    assert len(await services.sessions.page(known.guid, 0, 9)) == 6


async def test_a_conversation_in_the_trash_may_be_imported_again(services: AppServices, tmp_path: Path):
    session = await hold(services, "I sold the boat.", "A pity.")
    file = await export_chat(services, session, tmp_path / "Mira.jsonl")
    await services.sessions.delete(session.guid)

    result = await services.imports.run(await services.imports.read_plan([file]))

    assert result.chats == 1
    assert await read_sessions(services) == [["I sold the boat.", "A pity."]]


@pytest.mark.parametrize("nested", [True, False])
async def test_the_global_settings_beside_a_world_or_a_card_hold_for_both(services: AppServices, tmp_path: Path, nested: bool):
    settings = {"world_info_match_whole_words": False, "world_info_recursive": False}
    entry = {"content": "Closed.", "matchWholeWords": None}
    (tmp_path / "settings.json").write_bytes(as_bytes({"world_info_settings": settings}))
    worlds, cards = (tmp_path / "worlds", tmp_path / "characters") if nested else (tmp_path, tmp_path)
    for path in {worlds, cards}:
        path.mkdir(exist_ok=True)
    (worlds / "Clinic.json").write_bytes(as_bytes({"entries": {"0": {**entry, "key": ["vet"]}}}))
    card = v2_card(name="Ana", character_book={"name": "Ana's", "entries": [{**entry, "keys": ["vet"]}]})
    (cards / "Ana.png").write_bytes(png.write_cards(picture(), {"chara": as_bytes(card)}, "x"))

    await services.imports.run(await services.imports.read_plan([worlds, cards]))

    found = {world.name: world for world in (await services.library.worlds()).values()}
    for name in ("Clinic", "Ana's"):
        assert (found[name].recursive, found[name].entries[0].whole_word) == (False, False)


async def test_a_folder_of_the_original_lethe_moves_in(services: AppServices, tmp_path: Path):
    data = tmp_path / "data"
    settings = {"SenseOfTime": True, "SelfEditField": "I miss her.", "SelfEditTokens": 200, "TTSVoice": "Ann", "Icon": "a.png"}
    ada = {"Name": "Ada", "Bio": "Keeps the light.", "IsUser": False, "CanInitiateChat": True, "Worlds": ["Places"], **settings}
    entry = {"Name": "Pier", "KeyWordsMain": ["pier"], "KeyWordsSecondary": [], "Content": "It is long.", "WordLink": "Or"}
    for name, values in {
        "chars/Ada.json": ada,
        "chars/Kit.json": {"Name": "Kit", "Bio": "", "IsUser": True, "Notes": "N/A"},
        "worlds/Places.json": {"Name": "All Places", "Description": "", "ScanDepth": 2, "Entries": [entry]},
        "instruct/Marks.json": {"UserStart": "[Q]", "BotStart": "[A]", "BotEnd": "[/A]"},
        "sysprompts/Short.json": {"Prompt": "Be {{char}}.", "ScenarioTitle": "# Scene"},
    }.items():
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_bytes(as_bytes(values))

    plan = await services.imports.read_plan([data])
    await services.imports.run(plan)

    assert (plan.errors, plan.ignored) == ([], {})
    persona = next(one for one in await services.library.personas() if one.name == "Ada")
    world = next(one for one in (await services.library.worlds()).values() if one.name == "All Places")
    assert persona.worlds == [world.unique_name]
    assert (persona.sense_of_time, persona.self_edit_field, persona.self_edit_tokens) == (True, "I miss her.", 200)
    assert (persona.tts_voice, persona.can_initiate_chat) == ("Ann", True)
    assert [one.name for one in await services.library.user_personas() if one.is_user and one.name == "Kit"] == ["Kit"]
    assert "Marks" in [one.name for one in (await services.library.instruct_presets()).values()]
    assert "Short" in [one.name for one in (await services.library.system_presets()).values()]


async def test_the_preview_says_what_a_preset_is_and_that_a_world_is_empty(services: AppServices, tmp_path: Path):
    data = tmp_path / "data"
    for name, values in {
        "instruct/Same.json": {"name": "Same", "input_sequence": "[Q]", "output_sequence": "[A]"},
        "sysprompt/Same.json": {"name": "Same", "content": "Tell."},
        "TextGen Settings/Same.json": {"temp": 1, "top_p": 1, "top_k": 0},
        "worlds/Nothing.json": {"entries": {}},
    }.items():
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_bytes(as_bytes(values))

    items = (await services.imports.read_plan([data])).items

    assert {describe_place(item) for item in items if item.kind is ItemKind.PRESET} == {
        "Instruct format · instruct/Same.json",
        "System prompt · sysprompt/Same.json",
        "Sampler preset · TextGen Settings/Same.json",
    }
    assert [note.kind for item in items if item.kind is ItemKind.WORLD for note in item.notes] == [NoteKind.NO_ENTRIES]
