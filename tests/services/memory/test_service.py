"""Memories in the user's hands: kept once, found purely, forgotten at once, and made findable again when the index is lost."""

from __future__ import annotations

import shutil
from datetime import timedelta

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryInsertion, MemoryType
from lethe_app.errors import LetheError, StorageError
from tests.services.turns import MIRA, Talk, add_memory, before_now, dump, spoke, unit

SETTINGS = {}

WINCH = "The cormorant nests beneath the broken winch."
RAVENS = "Ravens sleep in the steeple."
ASKED = "Where does the cormorant nest, near the broken winch?"


async def found(services: AppServices, text: str = ASKED) -> list[str]:
    """What is nearest, as it goes into the prompt."""
    return [one.text for one in await services.memory_lookup.search(MIRA, text)]


# Asking changes nothing


async def test_searching_and_previewing_change_nothing(talk: Talk):
    services = talk.services
    await services.preferences.set(global_worlds=["isles"], recall_without_match=2)
    talk.write_world("isles", {"name": "Grotto", "content": "It floods.", "keywords_main": ["grotto"], "duration": 5})
    await talk.add_memory(WINCH, name="Winch", keywords_main=["winch"], duration=3)
    await talk.add_memory("Bread.", name="Bread", insertion=MemoryInsertion.NATURAL, keywords_main=["winch"])
    await talk.say("Into the grotto, past the winch!")
    await services.indexing.catch_up()
    before = await dump(services)
    for _time in range(3):
        await services.memory_lookup.search(MIRA, ASKED, 50)
        seen = await services.memory_lookup.preview_recall(MIRA, "The grotto and the winch", talk.session.guid)
        fresh = await services.memory_lookup.preview_recall(MIRA, "The grotto and the winch")
    assert {one.title for one in seen.recalled} >= {"Grotto", "Winch"}
    assert {one.title for one in fresh.recalled} >= {"Grotto", "Winch"}
    assert await dump(services) == before


async def test_an_empty_question_finds_nothing_and_the_count_has_bounds(services: AppServices):
    for number in range(60):
        await add_memory(services, f"Winch number {number} is broken.", name=f"W{number}")
    assert await services.memory_lookup.search(MIRA, "  ") == []
    assert len(await services.memory_lookup.search(MIRA, "broken winch", 0)) == 1
    assert len(await services.memory_lookup.search(MIRA, "broken winch", 999)) == 50


# Memorize


async def test_the_same_words_are_kept_once_with_guid_counts_and_importance(services: AppServices):
    old = await add_memory(services, WINCH, name="Winch", priority=4, trigger_count=7, keywords_main=["winch"])
    kept = await services.memory.memorize(MIRA, unit(f"  {WINCH.upper()} ", name="Nest", priority=1, keywords_main=["nest"]))
    assert kept.guid == old.guid
    (held,) = await services.memory.memories(MIRA)
    assert held.guid == old.guid
    assert (held.priority, held.trigger_count, held.keywords_main) == (4, 7, ["winch", "nest"])


async def test_what_is_protected_or_of_another_kind_is_not_overwritten(services: AppServices):
    await add_memory(services, WINCH, protected=True)
    await add_memory(services, WINCH, category=MemoryType.EVENT)
    new = await services.memory.memorize(MIRA, unit(WINCH))
    assert (await services.memory.memorize(MIRA, unit(WINCH))).guid == new.guid
    assert len(await services.memory.memories(MIRA)) == 3


async def test_without_a_check_it_is_put_beside_the_others(services: AppServices):
    await add_memory(services, WINCH)
    await add_memory(services, WINCH)
    assert len(await services.memory.memories(MIRA)) == 2


async def test_a_person_of_the_same_name_is_the_same_person(services: AppServices):
    old = await add_memory(services, "Keeps the light.", name="Brannoch", category=MemoryType.PERSON)
    kept = await services.memory.memorize(MIRA, unit("Left the island.", name=" BRANNOCH", category=MemoryType.PERSON))
    assert kept.guid == old.guid
    assert [one.content for one in await services.memory.memories(MIRA)] == ["Left the island."]


async def test_a_place_of_that_name_is_not_the_person(services: AppServices):
    await add_memory(services, "Keeps the light.", name="Brannoch", category=MemoryType.PERSON)
    await services.memory.memorize(MIRA, unit("A bay.", name="Brannoch", category=MemoryType.LOCATION))
    assert len(await services.memory.memories(MIRA)) == 2


async def test_a_conversation_cannot_be_memorized(services: AppServices):
    with pytest.raises(LetheError):
        await services.memory.memorize(MIRA, ChatSession(persona_id=MIRA))


# The index follows at once


async def test_what_is_kept_edited_forgotten_and_restored_is_so_at_once(services: AppServices):
    memory = await add_memory(services, WINCH, name="Winch")
    assert await found(services) == [WINCH]
    await services.memory.edit(memory.model_copy(update={"content": RAVENS}))
    assert await found(services) == [RAVENS]
    assert await found(services, RAVENS) == [RAVENS]
    await services.memory.forget_memory(memory.guid)
    assert await found(services, RAVENS) == []
    assert await services.memory.memories(MIRA) == []
    await services.memory.restore(memory.guid)
    assert await found(services, RAVENS) == [RAVENS]


async def test_what_is_not_there_cannot_be_forgotten_or_edited(talk: Talk):
    services = talk.services
    memory = await talk.add_memory(WINCH)
    await services.memory.forget_memory(memory.guid)
    with pytest.raises(StorageError):
        await services.memory.forget_memory(memory.guid)
    with pytest.raises(StorageError):
        await services.memory.edit(memory)
    with pytest.raises(StorageError):
        await services.memory.forget_memory(talk.session.guid)  # conversations are deleted
    with pytest.raises(StorageError):
        await services.memory.restore(talk.session.guid)
    assert await talk.load_memory(memory) is None


async def test_a_forgotten_memory_stays_forgotten_after_a_restart(services: AppServices):
    memory = await add_memory(services, WINCH, name="Winch", keywords_main=["winch"])
    await services.memory.forget_memory(memory.guid)
    await services.memory.reload()
    assert await found(services) == []
    assert (await services.memory_lookup.preview_recall(MIRA, "The winch!")).recalled == []


async def test_what_was_written_past_the_program_is_seen_after_a_reload(services: AppServices):
    memory = await add_memory(services, WINCH, name="Winch")
    row = (RAVENS, str(memory.guid))
    await services.database.run(lambda c: c.execute("UPDATE memories SET content = ? WHERE guid = ?", row).rowcount)
    await services.memory.reload()
    assert (await services.memory.memories(MIRA))[0].content == RAVENS
    assert await found(services, RAVENS) == [RAVENS]


async def test_everything_lost_from_the_index_is_made_anew(talk: Talk):
    services = talk.services
    chats = services.session_store
    old = await chats.add_session(
        ChatSession(persona_id=MIRA, name="Storm", content="The mast broke.", added=before_now(days=3))
    )
    await spoke(services, old, "The mast broke in the squall.", before_now(days=3))
    await talk.add_memory(WINCH, name="Winch")
    await services.preferences.set(global_worlds=["isles"])
    talk.write_world("isles", {"name": "Grotto", "content": "The grotto floods at noon."})
    await services.indexing.catch_up()
    questions = (ASKED, "Did the mast break in the squall?", "When does the grotto flood?")
    before = [await found(services, text) for text in questions]
    tops = [found[0] for found in before]
    assert all(word in top for word, top in zip(("cormorant", "squall", "floods"), tops, strict=True))

    def lose(connection: object) -> None:
        connection.execute("INSERT INTO passage_words (passage_words) VALUES ('delete-all')")  # type: ignore[attr-defined]
        connection.execute("DELETE FROM passages")  # type: ignore[attr-defined]

    await services.database.run(lose)
    shutil.rmtree(services.paths.index, ignore_errors=True)
    await services.memory.reload()
    assert [await found(services, text) for text in questions] == [[], [], []]
    await services.memory.rebuild()
    assert [await found(services, text) for text in questions] == before


async def test_making_everything_anew_takes_away_what_nobody_knows_of(services: AppServices):
    memory = await add_memory(services, WINCH, name="Winch")

    def spoil(connection: object) -> None:
        connection.execute("DELETE FROM memories WHERE guid = ?", (str(memory.guid),))  # type: ignore[attr-defined]
        connection.execute("DELETE FROM passage_debts")  # type: ignore[attr-defined]

    await services.database.run(spoil)
    await services.memory.rebuild()
    count = "SELECT count(*) FROM passages WHERE owner = ?"
    assert await services.database.run(lambda c: c.execute(count, (MIRA,)).fetchone()[0]) == 0


async def test_a_reminder_for_later_keeps_its_day_when_it_is_said_again(services: AppServices):
    soon, later = now() + timedelta(days=1), now() + timedelta(days=9)
    old = await add_memory(
        services, "Call the harbour.", insertion=MemoryInsertion.USER_RETURN, category=MemoryType.REMINDER, added=soon
    )
    again = unit(
        "Call the harbour.", insertion=MemoryInsertion.USER_RETURN, category=MemoryType.REMINDER, added=later, name="Call"
    )
    kept = await services.memory.memorize(MIRA, again)
    assert (kept.guid, kept.added) == (old.guid, later)
