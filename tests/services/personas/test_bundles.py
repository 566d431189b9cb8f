"""A persona that was packed in one home and let into another is the same persona, and whoever cannot come leaves no trace."""

from __future__ import annotations

import asyncio
import json
import random
import re
import sqlite3
import zipfile
from collections.abc import AsyncIterator
from contextlib import closing, nullcontext
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lethe_app.brain.notebooks.document import Conclusion
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.bundle import VERSION, WITHOUT_SESSIONS, BundleCounts, BundleScope
from lethe_app.domain.chat import (
    Alternative,
    ChatSession,
    Degradation,
    DegradationKind,
    Message,
    MessageMode,
    PartRecord,
    PartState,
    Role,
    SessionPart,
)
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact, MadeBy, Tombstone
from lethe_app.domain.memory import MemoryType, MemoryUnit
from lethe_app.domain.mood import MoodReading
from lethe_app.domain.persona import Weekday
from lethe_app.domain.recall import RecalledMemory, RecallWay, TurnMemory
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.errors import DatabaseDamaged, FileError
from lethe_app.storage.bundles.export import PersonaExport
from lethe_app.storage.chats.archive_jobs import ArchiveJobs
from lethe_app.storage.chats.session_reshaping import SessionReshaping
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.key_value import SessionState
from lethe_app.storage.memory.facts import FactStore
from lethe_app.storage.memory.memories import MemoryStore
from lethe_app.storage.memory.turn_memories import TurnMemories
from tests.interchange.packed import archive, lines, members, png
from tests.services.past_sessions import opened
from tests.services.turns import MIRA
from tests.storage.scenes import store_alternative
from tests.sweep import examples

UUIDS = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
EVERYTHING = BundleScope.EVERYTHING
WORDS = re.findall(r"\w+", Path(__file__).read_text(encoding="utf-8"))


async def lived(services: AppServices) -> ChatSession:
    """Give Mira a world, a portrait and a past with everything in it that a past can have."""
    database, moment = services.database, now() - timedelta(days=40)
    world = await services.library.save_world(
        World(name="The Petrel", entries=[WorldEntry(name="Engine", content="It sulks.")])
    )
    mira = await services.library.persona(MIRA)
    avatar = await services.library.save_picture("Mira", png())
    reported = {"worlds": [world.unique_name, "gone"], "avatar": avatar, "preferred_model": "/x.gguf"}
    await services.library.save_persona(mira.model_copy(update={**reported, "self_edit_field": "He is kind."}))
    chats = SessionStore(database)
    conversation = ChatSession(
        persona_id=MIRA, user_id="tomas", name="First night", content="They met.", archived=True, added=moment, relevance=4,
        keywords_main=["lighthouse"], future_goals=["Sail north."], sticky=True, path="/etc/passwd",
    )  # fmt: skip
    await chats.add_session(conversation)
    own = {"session_id": conversation.guid, "role": Role.USER, "speaker": "tomas", "speaker_name": "Tomas"}
    first = await chats.add_message(Message(**own, alternatives=[Alternative(content="Do you remember?", created=moment)]))
    hidden = {"role": Role.SYSTEM, "hidden": True, "note": "memory", "alternatives": [Alternative(content="!")]}
    await SessionReshaping(database).insert(Message(session_id=conversation.guid, **hidden), first.id)
    wordings = [Alternative(content="Yes.", model="m"), Alternative(content="No…", complete=False, thinking="Hm.")]
    reply = Message(
        session_id=conversation.guid, role=Role.ASSISTANT, speaker=MIRA, speaker_name="Mira", alternatives=wordings, shown=1
    )
    await chats.add_message(reply)
    await chats.add_message(Message(**own, parent_id=first.id, alternatives=[Alternative(content="Another way.")]))
    gone = await chats.add_message(Message(**own, alternatives=[Alternative(content="A secret.")]))
    await chats.add_message(Message(**own, alternatives=[Alternative(content="After it.")]))
    await chats.delete_message(gone.id)
    await chats.set_leaf(conversation.guid, reply.id)
    memory = MemoryUnit(name="Peanuts", content="He is allergic.", tags=["health"], filed_under="user/health", added=moment)
    await MemoryStore(database).save_memories(MIRA, memory, MemoryUnit(name="Thrown away", category=MemoryType.EVENT))
    await MemoryStore(database).delete(
        [one.guid for one in await MemoryStore(database).memories_of(MIRA) if one.name == "Thrown away"]
    )
    sources = {"source_memories": [conversation.guid, memory.guid], "source_messages": [first.id]}
    fact = ExtractedFact(fact="Tomas keeps bees.", pinned=True, **sources)
    old = ExtractedFact(fact="Tomas keeps cats.", superseded=True, superseded_by=fact.guid, first_seen=moment, last_seen=moment)
    await FactStore(database).save_facts(MIRA, old, fact)
    await FactStore(database).forget_facts(MIRA, [], [Tombstone("d1e5", (first.id,))])
    seen = RecalledMemory(memory=memory.guid, category=MemoryType.GENERAL, text="He is allergic.", way=RecallWay.MEANING)
    woken = {"category": MemoryType.WORLD_INFO, "way": RecallWay.KEYWORD, "world": "x"}
    lore = RecalledMemory(memory=world.entries[0].guid, text="It sulks.", **woken)
    await TurnMemories(database).save_turn(first.id, TurnMemory(recalled=[seen, lore]))
    done = PartRecord(conversation.guid, SessionPart.SUMMARY, PartState.DONE, MadeBy.USER, maker="", tries=2)
    await ArchiveJobs(database).save_value(done)
    await SessionState(database).set(conversation.guid, "worlds", [world.unique_name])
    await SessionState(database).set(conversation.guid, "session_notes", {"home": "Porto"})
    await chats.add_session(ChatSession(persona_id=MIRA, name="Empty"))
    known = [Conclusion("Ada Holm built it.", moment.date())]
    await services.notebooks.create(MIRA, "The lighthouse", known, "Who built it.")
    await services.moods.set_mood(MIRA, "energy", 0.1)
    return conversation


@pytest.fixture
async def away(tmp_path: Path) -> AsyncIterator[AppServices]:
    async with opened(tmp_path / "away") as services:
        yield services


@pytest.fixture
async def file(services: AppServices, tmp_path: Path) -> Path:
    """All of Mira's past in a bundle."""
    await lived(services)
    return await services.bundles.export(MIRA, EVERYTHING, tmp_path / "Mira.lethe")


async def belongings(services: AppServices, persona_id: str) -> list[object]:
    """All that belongs to her, with ids told by the order in which they first come up, for ids may differ."""
    kept = PersonaExport(services.database)
    past = await kept.history_of(persona_id, None)
    talks = [conversation for guid in await kept.session_ids_of(persona_id) if (conversation := await kept.conversation(guid))]
    reported = [*past.memories, *past.facts, *past.forgotten]
    reported += [one for conversation in talks for one in (conversation.record, *conversation.messages)]
    persona = await services.library.persona(persona_id)
    worlds = [world for name, world in (await services.library.worlds()).items() if name in persona.worlds]
    text = json.dumps([one.model_dump(mode="json") for one in [persona, *worlds, *reported]])
    text = re.sub(r'"last_trigger": "[^"]*"', "", text).replace(", ,", ",")  # in a file that names none it is always now
    numbers: dict[str, str] = {}
    text = UUIDS.sub(lambda found: numbers.setdefault(found[0], f"#{len(numbers)}"), text)
    return json.loads(text.replace(f'"{persona_id}"', '"her"').replace(f'"{persona.avatar}"', '"picture"'))


async def test_everything_taken_along_is_the_same_in_an_empty_home(services: AppServices, away: AppServices, tmp_path: Path):
    conversation = await lived(services)
    file = await services.bundles.export(MIRA, EVERYTHING, tmp_path / "Mira.lethe")
    await away.library.save_persona((await services.library.persona("tomas")).model_copy(update={"unique_name": "tomas"}))
    received = await away.bundles.import_bundle(await away.bundles.read_bundle(file), "Mira aboard")
    here, there = await belongings(services, MIRA), await belongings(away, received.persona.unique_name)
    listed = next(one for one in await away.sessions.list(received.persona.unique_name) if one.title == "First night")
    session = await away.sessions.open(listed.guid)
    page = await away.sessions.page(listed.guid, 0, 10)
    picture = away.library.avatar(received.persona)
    content = picture.read_bytes() if picture else b""
    thoughts = [await away.turn_memories.get(message.id) for message in page]

    here[0] |= {"name": "Mira aboard", "worlds": there[0]["worlds"]}
    assert there == without_paths(here)
    assert [message.content for message in page] == ["!", "Do you remember?", "No…"]
    assert (session.persona_id, session.user_id, session.guid == conversation.guid) == (
        received.persona.unique_name,
        "tomas",
        False,
    )
    assert content == png()
    assert [one.text for one in thoughts[1].recalled] == ["He is allergic.", "It sulks."]


async def test_messages_keep_their_data_and_sessions_their_switches(services: AppServices, away: AppServices, tmp_path: Path):
    conversation = ChatSession(persona_id=MIRA)
    await services.session_store.add_session(conversation)
    cut = Degradation(kind=DegradationKind.HISTORY_CUT, values={"count": 2})
    for language, mode in (("en", MessageMode.TEXT), ("de", MessageMode.VOICE)):
        told = Alternative(content=language, language=language, is_sensitive=True, total_ms=7, degradations=[cut])
        message = Message(session_id=conversation.guid, role=Role.USER, mode=mode, alternatives=[told])
        await services.session_store.add_message(message)
    file = await services.bundles.export(MIRA, EVERYTHING, tmp_path / "Mira.lethe")

    received = await away.bundles.import_bundle(await away.bundles.read_bundle(file), "Mira aboard")
    (session,) = await away.sessions.list(received.persona.unique_name)
    messages = await away.sessions.page(session.guid, 0, 9)
    events = await away.sessions.languages.events_of(session.guid)

    last = messages[1].current
    assert (messages[1].mode, last.language, last.is_sensitive, last.total_ms) == (MessageMode.VOICE, "de", True, 7)
    assert last.degradations == [cut]
    assert [(event.message_id, event.before, event.after) for event in events] == [
        (messages[1].id, "en", "de"),
        (messages[1].id, "text", "voice"),
    ]


def without_paths(value: object) -> object:
    """A path of this computer means nothing on another."""
    return json.loads(json.dumps(value).replace("/etc/passwd", ""))


@pytest.mark.parametrize("scope", [BundleScope.MEMORIES, EVERYTHING])
async def test_notebooks_moods_plans_goals_and_reminders_come_along(
    services: AppServices, away: AppServices, tmp_path: Path, scope: BundleScope
):
    conversation = await lived(services)
    mind, later = services, now() + timedelta(days=3)
    (services.paths.notebooks / MIRA / "My bees.md").write_text("# My bees\n\nTwo hives.\r\n", encoding="utf-8")
    await mind.moods.apply_reading(
        MIRA, MoodReading(session=conversation.guid, at=now(), model="m.gguf", steps={"energy": 0.2})
    )
    await mind.goals.save_request(MIRA, "Learn to sail.", "No cats.")
    await mind.week.save_plan(MIRA, Weekday.MONDAY, "She mends nets.")
    await mind.reminders.create_reminder(MIRA, "Call the harbour", later)
    file = await services.bundles.export(MIRA, scope, tmp_path / "Mira.lethe")
    felt, wished = await mind.moods.load_mood(MIRA), await mind.goals.load_request(MIRA)

    bundle = await away.bundles.read_bundle(file)
    received = await away.bundles.import_bundle(bundle, "Mira aboard")
    her, there = received.persona.unique_name, away
    texts = {
        kept.notebook.title: await there.notebooks.load_text(her, kept.name) for kept in await there.notebooks.notebooks_of(her)
    }
    (recent,) = [one for one in await there.notebooks.notebooks_of(her) if one.when is not None]
    moods, readings = await there.moods.load_mood(her), await there.moods.load_readings(her)
    (reminder,) = await there.reminders.reminders_of(her)
    plan, asked = await there.week.load_plan(her, Weekday.MONDAY), await there.goals.load_request(her)
    talks = {one.guid for one in await away.sessions.list(her)}

    version = VERSION if scope is EVERYTHING else WITHOUT_SESSIONS
    assert (bundle.manifest.version, bundle.holds.notebooks) == (version, 2)
    assert her != MIRA
    assert "Ada Holm built it." in texts["The lighthouse"]
    assert texts["My bees"] == "# My bees\n\nTwo hives.\n"
    assert recent.summary == "Who built it."
    assert moods.feelings["energy"].value == pytest.approx(felt.feelings["energy"].value, abs=0.01)
    assert [one.steps for one in readings] == ([{"energy": 0.2}] if scope is EVERYTHING else [])
    assert all(one.session in talks for one in readings)
    assert (reminder.content, reminder.added) == ("Call the harbour", later)
    assert plan == "She mends nets."
    assert asked == wished


async def test_a_notebook_that_cannot_be_read_is_told_before_anything_is_given_away(services: AppServices, tmp_path: Path):
    await lived(services)
    (services.paths.notebooks / MIRA / "broken.md").write_bytes(b"# Fog\n\xff")

    with pytest.raises(FileError, match=r"broken\.md.*is not UTF-8 text"):
        await services.bundles.export(MIRA, BundleScope.MEMORIES, tmp_path / "Mira.lethe")

    assert names_in(tmp_path) == []


async def test_values_of_another_type_in_the_state_of_a_session_stay_behind(services: AppServices):
    session = await lived(services)
    for key, value in (("worlds", ["fog", 7]), ("session_notes", {"a": "b", "c": 1}), ("original", [])):
        await SessionState(services.database).set(session.guid, key, value)

    exported = await PersonaExport(services.database).conversation(session.guid)

    record = exported.record
    assert (record.worlds, record.session_notes, record.original) == (["fog"], {"a": "b"}, {})


@pytest.mark.parametrize(("key", "is_exported"), [("worlds", True), ("elsewhere", False)])
async def test_damaged_state_of_a_session_matters_only_if_it_is_exported(services: AppServices, key: str, *, is_exported: bool):
    session = await lived(services)
    await SessionState(services.database).set(session.guid, key, [])
    damage = "UPDATE session_state SET value = '[' WHERE session_id = ? AND key = ?"
    await services.database.run(lambda connection: connection.execute(damage, (str(session.guid), key)))

    with pytest.raises(DatabaseDamaged) if is_exported else nullcontext():
        await PersonaExport(services.database).conversation(session.guid)


async def test_two_notebooks_that_a_system_takes_for_one_find_room_beside_each_other(services: AppServices, tmp_path: Path):
    file = tmp_path / "Mira.lethe"
    books = {"notebooks/Fog.md": b"# Fog\n\n- One.", "notebooks/fog.md": b"# Fog\n\n- Two.", "notebooks/con.md": b"# Con\n"}
    index = b"2026-03-03T10:00:00+00:00|fog|Two.\nwho knows\n2026-03-03T10:00:00+00:00|gone|Nothing."
    file.write_bytes(archive(members(version=2) | books | {"notebooks/index.txt": index}))
    received = await services.bundles.import_bundle(await services.bundles.read_bundle(file))
    her = received.persona.unique_name
    texts = [await services.notebooks.load_text(her, kept.name) for kept in await services.notebooks.notebooks_of(her)]
    (recent,) = [one for one in await services.notebooks.notebooks_of(her) if one.when is not None]
    reported = await services.notebooks.load_text(her, recent.name)

    assert sorted(texts) == ["# Con\n", "# Fog\n\n- One.", "# Fog\n\n- Two."]
    assert reported == "# Fog\n\n- Two."


async def test_what_lies_in_the_trash_stays_behind(services: AppServices, file: Path):
    with zipfile.ZipFile(file) as packed:
        words = b"".join(packed.read(name) for name in packed.namelist())
    assert b"Another way." in words
    assert b"A secret." not in words
    assert b"Thrown away" not in words


async def test_to_give_away_holds_not_a_word_of_what_was_said(services: AppServices, tmp_path: Path):
    await lived(services)

    file = await services.bundles.export(MIRA, BundleScope.PERSONA, tmp_path / "Mira.lethe")

    with zipfile.ZipFile(file) as packed:
        names = set(packed.namelist())
        words = b"".join(packed.read(name) for name in names)
    assert names == {"manifest.json", "persona.json", "avatar.png", "worlds/the-petrel.json"}
    for word in (b"bees", b"allergic", b"remember", b"kind", b"x.gguf", b"lighthouse"):
        assert word not in words
    assert (await services.bundles.read_bundle(file)).manifest.version == 1, "every version reads it"


async def test_memories_come_without_naming_conversations_that_do_not(services: AppServices, tmp_path: Path):
    await lived(services)

    file = await services.bundles.export(MIRA, BundleScope.MEMORIES, tmp_path / "Mira.lethe")

    bundle = await services.bundles.read_bundle(file)
    assert bundle.manifest.holds == bundle.holds == BundleCounts(worlds=1, memories=1, facts=2, notebooks=1)
    assert [len(fact.source_memories) for fact in bundle.history.facts] == [0, 1]
    assert [fact.source_messages for fact in bundle.history.facts] == [[], []]


async def test_the_same_bundle_twice_makes_two_personas_who_share_a_world(services: AppServices, file: Path):
    bundle = await services.bundles.read_bundle(file)

    one, two = await services.bundles.import_bundle(bundle), await services.bundles.import_bundle(bundle)

    assert [received.persona.name for received in (one, two)] == ["Mira 2", "Mira 3"]
    assert (one.original_name, one.new_worlds) == ("Mira", ())
    assert one.persona.worlds == two.persona.worlds == ["the-petrel"]
    assert len({MIRA, one.persona.unique_name, two.persona.unique_name}) == 3
    counts = [len(await services.sessions.list(name)) for name in (MIRA, one.persona.unique_name, two.persona.unique_name)]
    assert counts == [2, 2, 2]
    known = [fact.fact for fact in await services.facts.facts_of(two.persona.unique_name) if not fact.superseded]
    assert known == ["Tomas keeps bees."]


async def test_a_world_of_the_same_name_that_says_something_else_gets_another_name(services: AppServices, tmp_path: Path):
    await lived(services)
    file = await services.bundles.export(MIRA, BundleScope.PERSONA, tmp_path / "Mira.lethe")
    known = (await services.library.worlds())["the-petrel"]
    await services.library.save_world(known.model_copy(update={"description": "Mine."}))

    received = await services.bundles.import_bundle(await services.bundles.read_bundle(file))

    assert [world.name for world in received.new_worlds] == ["The Petrel 2"]
    assert received.persona.worlds == ["the-petrel-2"]
    worlds = await services.library.worlds()
    assert worlds["the-petrel"].description == "Mine."
    assert worlds["the-petrel"].entries[0].guid != worlds["the-petrel-2"].entries[0].guid


async def test_a_guest_stays_behind_for_whoever_bears_that_name_elsewhere_may_be_another(
    services: AppServices, away: AppServices, tmp_path: Path
):
    conversation = await lived(services)
    await services.sessions.set_guests(conversation.guid, ["edmund"])  # who ships with every Lethe
    file = await services.bundles.export(MIRA, EVERYTHING, tmp_path / "Mira.lethe")
    received = await away.bundles.import_bundle(await away.bundles.read_bundle(file))
    every = [await away.sessions.open(one.guid) for one in await away.sessions.list(received.persona.unique_name)]

    assert every
    assert all(session.guests == [] for session in every)


async def test_what_came_is_found_by_its_words(away: AppServices, file: Path):
    received = await away.bundles.import_bundle(await away.bundles.read_bundle(file))
    await away.indexing.catch_up()
    found = await away.memory_lookup.search(received.persona.unique_name, "who keeps bees", 5)

    assert any("Tomas keeps bees." in one.text for one in found)


async def test_an_undone_import_moves_persona_and_world_to_the_trash(away: AppServices, file: Path):
    before = {persona.unique_name for persona in await away.library.personas()}, set(await away.library.worlds())
    received = await away.bundles.import_bundle(await away.bundles.read_bundle(file))
    await away.bundles.revert_import(received)
    after = {persona.unique_name for persona in await away.library.personas()}, set(await away.library.worlds())
    trash = {item.title for item in await away.trash.list_items()}

    assert after == before
    assert {received.persona.name, "The Petrel"} <= trash


@pytest.mark.parametrize("after", [0, 1, 2])
async def test_a_disk_that_fails_half_way_leaves_neither_rows_nor_files(services: AppServices, file: Path, after: int):
    bundle = await services.bundles.read_bundle(file)
    await services.library.delete_world("the-petrel")
    before = traces(services)
    table = ("memories", "messages", "turn_memories")[after]
    stumble = f"CREATE TRIGGER stumble BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'no'); END"
    await services.database.run(lambda connection: connection.execute(stumble))

    with pytest.raises(sqlite3.IntegrityError):
        await services.bundles.import_bundle(bundle)

    assert traces(services) == before


def traces(services: AppServices) -> tuple[list[str], list[tuple[int]]]:
    """Every file of hers that there is, and how many rows each table has."""
    folders = (services.paths.personas, services.paths.worlds, services.paths.notebooks)
    files = sorted(str(file) for folder in folders for file in folder.rglob("*"))
    tables = ("memories", "sessions", "messages", "alternatives", "facts", "app_state", "session_state")
    with closing(sqlite3.connect(f"file:{services.paths.database}?mode=ro", uri=True)) as database:
        return files, [database.execute(f"SELECT count(*) FROM {table}").fetchone() for table in tables]


async def test_stopping_while_it_is_stored_leaves_nothing(services: AppServices, tmp_path: Path):
    await lived(services)
    bundle = await services.bundles.read_bundle(await services.bundles.export(MIRA, EVERYTHING, tmp_path / "Mira.lethe"))
    before = traces(services)
    held = asyncio.Event()
    waiting = asyncio.ensure_future(services.bundles.import_bundle(bundle))
    asyncio.get_running_loop().call_soon(held.set)
    await held.wait()
    waiting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert traces(services) == before


async def test_stopping_while_it_is_written_leaves_the_old_file(services: AppServices, tmp_path: Path):
    await lived(services)
    target = tmp_path / "Mira.lethe"
    target.write_bytes(b"old")
    waiting = asyncio.ensure_future(services.bundles.export(MIRA, EVERYTHING, target, lambda _done: waiting.cancel()))

    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert target.read_bytes() == b"old"
    assert names_in(tmp_path) == ["Mira.lethe"]


def names_in(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir() if file.is_file()]


async def test_nothing_is_stored_of_a_bundle_that_is_not_understood_to_its_end(services: AppServices, tmp_path: Path):
    file = tmp_path / "Mira.lethe"
    file.write_bytes(archive(members() | {"facts.jsonl": lines({"fact": "One."}, {"fact": ""})}))
    before = traces(services)

    with pytest.raises(FileError) as refused:
        await services.bundles.read_bundle(file)

    assert refused.value.message == "Mira.lethe › facts.jsonl, line 2, field “fact”: must not be empty"
    assert traces(services) == before


async def test_the_offer_says_what_would_be_inside_and_about_how_large_that_is(services: AppServices, tmp_path: Path):
    await lived(services)
    chats = services.session_store
    (conversation, *_rest) = await services.sessions.list(MIRA)
    chance = random.Random(7)
    for _ in range(300):
        said = [Alternative(content=" ".join(chance.choices(WORDS, k=60)))]
        await chats.add_message(Message(session_id=conversation.guid, role=Role.USER, alternatives=said))

    offer = await services.bundles.preview_export(MIRA)
    sizes = [(await services.bundles.export(MIRA, scope, tmp_path / f"{scope}.lethe")).stat().st_size for scope in BundleScope]

    assert offer.counts == BundleCounts(worlds=1, memories=1, facts=2, notebooks=1, conversations=2, messages=305)
    assert offer.user_name == "Tomas"
    for guessed, real in zip(offer.sizes.values(), sizes, strict=True):
        assert real / 4 < guessed < real * 4


async def test_a_shipped_persona_can_be_exported_with_its_drawn_portrait(services: AppServices, tmp_path: Path):
    file = await services.bundles.export("edmund", BundleScope.PERSONA, tmp_path / "Edmund")

    bundle = await services.bundles.read_bundle(file)

    assert (file.name, bundle.picture_ending) == ("Edmund.lethe", ".svg")


DEEDS = st.sampled_from(["say", "swipe", "branch", "hide", "show"])
STEPS = st.lists(st.tuples(DEEDS, st.integers(0, 99), st.text(max_size=12)))


async def outcome(services: AppServices, steps: list[tuple[str, int, str]]) -> None:
    """Say, swipe, branch and hide, as told."""
    chats = services.session_store
    conversation = await chats.add_session(ChatSession(persona_id=MIRA, name="Played"))
    said: list[Message] = []
    for what, pick, words in steps:
        chosen = said[pick % len(said)] if said else None
        if what in {"say", "hide"} or chosen is None:
            own = {"hidden": what == "hide", "alternatives": [Alternative(content=words)]}
            said.append(await chats.add_message(Message(session_id=conversation.guid, role=Role.USER, **own)))
        elif what == "branch":
            own = {"parent_id": chosen.id, "alternatives": [Alternative(content=words)]}
            said.append(await chats.add_message(Message(session_id=conversation.guid, role=Role.ASSISTANT, **own)))
        elif what == "swipe":
            await store_alternative(services.database, chosen.id, Alternative(content=words))
        else:
            await chats.set_leaf(conversation.guid, chosen.id)


@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_any_conversation_survives_the_journey(tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, str]]):
    async def journey() -> tuple[list[object], list[object]]:
        folder = tmp_path_factory.mktemp("journey")
        async with opened(folder / "here") as here, opened(folder / "away") as away:
            await here.library.save_persona((await here.library.persona("mira")).model_copy(update={"unique_name": MIRA}))
            await outcome(here, steps)
            file = await here.bundles.export(MIRA, EVERYTHING, folder / "Mira.lethe")
            received = await away.bundles.import_bundle(await away.bundles.read_bundle(file))
            return (await belongings(here, MIRA))[1:], (await belongings(away, received.persona.unique_name))[1:]

    here, there = asyncio.run(journey())

    assert there == here


async def test_the_metadata_of_a_memory_comes_along_and_a_bundle_without_any_is_read_by_older_versions(
    services: AppServices, away: AppServices, tmp_path: Path
):
    plain = await services.bundles.export(MIRA, BundleScope.MEMORIES, tmp_path / "plain.lethe")
    metadata = {"origin": "letter of 3 May", "requires_user_permission": "true"}
    await services.memory.memorize(MIRA, MemoryUnit(content="The safe is behind the map.", metadata=metadata))
    file = await services.bundles.export(MIRA, BundleScope.MEMORIES, tmp_path / "Mira.lethe")

    bundle = await away.bundles.read_bundle(file)
    received = await away.bundles.import_bundle(bundle, "Mira aboard")
    (memory,) = await away.memory.memories(received.persona.unique_name)

    assert memory.metadata == metadata
    assert memory.needs_permission
    assert bundle.manifest.version > (await services.bundles.read_bundle(plain)).manifest.version
    assert "metadata" not in zipfile.ZipFile(plain).read("memories.jsonl").decode()


async def test_a_bundle_of_an_older_version_keeps_that_a_memory_needs_permission(services: AppServices, tmp_path: Path):
    file = tmp_path / "Mira.lethe"
    memory = MemoryUnit(content="The safe is behind the map.").model_dump(mode="json", exclude={"metadata"})
    file.write_bytes(archive(members(version=2) | {"memories.jsonl": lines(memory | {"needs_permission": True})}))

    (read,) = (await services.bundles.read_bundle(file)).history.memories

    assert read.metadata == {"requires_user_permission": "true"}
