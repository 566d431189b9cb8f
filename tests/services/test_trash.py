"""Whatever was deleted lies in the Trash, comes back to where it was, or goes for good."""

from __future__ import annotations

from datetime import timedelta

import pytest

from lethe_app.app import build
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.changes import Trashed, TrashKind
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import SamplerPreset
from lethe_app.domain.worldinfo import World
from lethe_app.errors import LetheError
from lethe_app.storage.chats.sessions import Chats
from tests.services.stage import MIRA, keep, spoke


async def conversation(house: AppServices, *lines: str, persona: str = MIRA) -> ChatSession:
    session = await Chats(house._database).add_session(ChatSession(persona_id=persona, name="The lamp"))
    for line in lines:
        await spoke(house, session, line, now())
    return session


async def only(house: AppServices) -> Trashed:
    (item,) = await house.trash.all()
    return item


async def test_everything_that_can_be_deleted_lies_there_with_the_newest_first(house: AppServices):
    session = await conversation(house, "One.", "Two.")
    other = await conversation(house, "Three.", "Four.")
    memory, fact = await keep(house), await house.knowing.add(MIRA, "Tomas is a captain.")
    persona = await house.library.save_persona(Persona(name="Somebody"))
    world = await house.library.save_world(World(name="The Petrel"))
    preset = await house.presets.save(SamplerPreset(name="Mine"))
    line = (await house.sessions.page(other.guid, 0, 1))[0]

    await house.sessions.delete(session.guid)
    await house.chat.delete(other.guid, line.id)
    await house.brain.forget_memory(memory.guid)
    await house.knowing.forget_fact(fact.guid)
    await house.library.delete_persona(persona.unique_name)
    await house.library.delete_world(world.unique_name)
    await house.presets.delete(SamplerPreset, preset)

    items = await house.trash.all()
    assert [item.kind for item in items] == [
        TrashKind.PRESET,
        TrashKind.WORLD,
        TrashKind.PERSONA,
        TrashKind.FACT,
        TrashKind.MEMORY,
        TrashKind.MESSAGE,
        TrashKind.CONVERSATION,
    ]
    assert [item.title for item in items] == [
        "Mine", "The Petrel", "Somebody", "Tomas is a captain.", "The lamp", "Three.", "The lamp"
    ]  # fmt: skip
    assert all(item.size > 0 for item in items)

    for item in items:
        await house.trash.restore(item)

    assert await house.trash.all() == []
    assert {one.guid for one in await house.sessions.list(MIRA)} == {session.guid, other.guid}
    assert [message.content for message in await house.sessions.page(other.guid, 0, 9)] == ["Three.", "Four."]
    assert [one.guid for one in await house.brain.memories(MIRA)] == [memory.guid]
    assert [one.guid for one in await house.knowing.all(MIRA)] == [fact.guid]
    assert (await house.library.persona(persona.unique_name)).name == "Somebody"
    assert world.unique_name in await house.library.worlds()
    assert preset in await house.library.samplers()


async def test_what_was_deleted_comes_back_after_a_restart(house: AppServices):
    session = await conversation(house, "One.", "Two.")
    await house.sessions.delete(session.guid)
    await house.close()

    again = await build(house.paths, engine="echo")
    try:
        await again.trash.restore(await only(again))
        assert [message.content for message in await again.sessions.page(session.guid, 0, 9)] == ["One.", "Two."]
    finally:
        await again.close()


async def test_deleted_for_good_is_gone_and_the_rest_stays(house: AppServices):
    session, other = await conversation(house, "One."), await conversation(house, "Two.")
    await house.sessions.delete(session.guid)

    await house.trash.erase([await only(house)])

    assert await house.trash.all() == []
    assert [one.guid for one in await house.sessions.list(MIRA)] == [other.guid]


async def test_what_was_restored_meanwhile_is_not_erased(house: AppServices):
    session = await conversation(house, "One.")
    await house.sessions.delete(session.guid)
    item = await only(house)
    await house.sessions.restore(session.guid)

    await house.trash.erase([item])

    assert [one.guid for one in await house.sessions.list(MIRA)] == [session.guid]


async def test_an_erased_message_leaves_its_conversation_whole(house: AppServices):
    session = await conversation(house, "One.", "Two.", "Three.")
    line = (await house.sessions.page(session.guid, 1, 1))[0]
    await house.chat.delete(session.guid, line.id)

    await house.trash.erase([await only(house)])

    assert [message.content for message in await house.sessions.page(session.guid, 0, 9)] == ["One.", "Three."]


async def test_with_a_persona_goes_what_was_said_with_her_but_only_for_good(house: AppServices):
    persona = await house.library.save_persona(Persona(name="Somebody"))
    session = await conversation(house, "One.", persona=persona.unique_name)
    await house.library.delete_persona(persona.unique_name)
    item = await only(house)
    assert item.count == 1

    await house.trash.restore(item)
    assert [one.guid for one in await house.sessions.list(persona.unique_name)] == [session.guid]
    await house.library.delete_persona(persona.unique_name)
    await house.trash.erase([await only(house)])

    assert await house.sessions.list(persona.unique_name) == []


async def test_a_persona_that_shows_again_from_those_that_ship_keeps_her_past(house: AppServices):
    mira = await house.library.persona("mira")
    await house.library.save_persona(mira)
    session = await conversation(house, "One.", persona="mira")
    await house.library.delete_persona("mira")

    await house.trash.erase([await only(house)])

    assert [one.guid for one in await house.sessions.list("mira")] == [session.guid]


async def test_what_cannot_be_read_is_listed_and_says_where_it_lies(house: AppServices):
    house.paths.trash.mkdir(parents=True, exist_ok=True)
    (house.paths.trash / "settings.20260301T101112000000Z.json").write_text("{", encoding="utf-8")

    item = await only(house)

    assert (item.kind, item.title) == (TrashKind.FILE, "settings")
    with pytest.raises(LetheError, match="cannot be read"):
        await house.trash.restore(item)
    await house.trash.erase([item])
    assert await house.trash.all() == []


async def test_after_the_days_the_user_chose_things_go_by_themselves(house: AppServices):
    session, fact = await conversation(house, "One."), await house.knowing.add(MIRA, "Tomas is a captain.")
    await house.sessions.delete(session.guid)
    await house.knowing.forget_fact(fact.guid)
    long_ago = (now() - timedelta(days=20)).isoformat(timespec="microseconds")
    await house._database.run(lambda c: c.execute("UPDATE memories SET deleted_at = ?", (long_ago,)).rowcount)
    old = house.paths.trash / "worldinfo" / "petrel.20240301T101112000000Z.json"
    old.parent.mkdir(parents=True, exist_ok=True)
    old.write_text("{}", encoding="utf-8")

    await house.preferences.set(trash_days=0)
    await house.trash._purge()
    assert len(await house.trash.all()) == 3
    await house.preferences.set(trash_days=10)
    await house.trash._purge()

    assert (await only(house)).kind is TrashKind.FACT


async def test_a_fact_comes_back_only_with_the_conversation_it_was_learnt_in(house: AppServices):
    session = await conversation(house, "I keep bees.")
    (message,) = await house.sessions.page(session.guid, 0, 1)
    fact = ExtractedFact(fact="Tomas keeps bees.", source_memories=[session.guid], source_messages=[message.id])
    await house.knowing.learn(MIRA, [fact])
    await house.knowing.forget_fact(fact.guid)
    await house.sessions.delete(session.guid)
    items = {item.kind: item for item in await house.trash.all()}

    with pytest.raises(LetheError, match="lies in the Trash"):
        await house.trash.restore(items[TrashKind.FACT])
    assert {item.kind for item in await house.trash.all()} == {TrashKind.FACT, TrashKind.CONVERSATION}

    await house.trash.restore(items[TrashKind.CONVERSATION])
    assert await house.knowing.all(MIRA) == []
    await house.trash.restore(items[TrashKind.FACT])
    assert [one.fact for one in await house.knowing.all(MIRA)] == [fact.fact]
