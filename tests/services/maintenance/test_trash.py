"""Whatever was deleted lies in the Trash, comes back to where it was, or goes for good."""

from __future__ import annotations

from datetime import timedelta

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.changes import Trashed, TrashKind
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import SamplerPreset
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.errors import LetheError
from tests.interchange.packed import png
from tests.services.turns import MIRA, add_memory, spoke


async def conversation(services: AppServices, *lines: str, persona: str = MIRA) -> ChatSession:
    session = await services.session_store.add_session(ChatSession(persona_id=persona, name="The lamp"))
    for line in lines:
        await spoke(services, session, line, now())
    return session


async def only(services: AppServices) -> Trashed:
    (item,) = await services.trash.list_items()
    return item


async def test_everything_that_can_be_deleted_lies_there_can_be_read_and_comes_back(services: AppServices):
    session = await conversation(services, "One.", "Two.")
    other = await conversation(services, "Three.", "Four.")
    memory, fact = await add_memory(services), await services.facts.add(MIRA, "Tomas is a captain.")
    persona = await services.library.save_persona(Persona(name="Somebody", tagline="a stranger", bio="Nobody knows."))
    world = await services.library.save_world(World(name="The Petrel", entries=[WorldEntry(name="Mast", content="Pine.")]))
    preset = await services.presets.save(SamplerPreset(name="Mine"))
    line = (await services.sessions.page(other.guid, 0, 1))[0]

    await services.sessions.delete(session.guid)
    await services.message_editing.delete(other.guid, line.id)
    await services.memory.forget_memory(memory.guid)
    await services.facts.forget_fact(fact.guid)
    await services.library.delete_persona(persona.unique_name)
    await services.library.delete_world(world.unique_name)
    await services.presets.delete(SamplerPreset, preset)

    items = await services.trash.list_items()
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

    previews = {item.kind: await services.trash.load_preview(item) for item in items}
    assert "One." in previews[TrashKind.CONVERSATION]
    assert previews[TrashKind.CONVERSATION].index("One.") < previews[TrashKind.CONVERSATION].index("Two.")
    assert previews[TrashKind.MESSAGE].endswith("Three.")
    assert previews[TrashKind.MEMORY] == memory.content
    assert previews[TrashKind.FACT] == "Tomas is a captain."
    assert previews[TrashKind.PERSONA] == "a stranger\n\nNobody knows."
    assert previews[TrashKind.WORLD] == "Mast: Pine."
    assert "Mine" in previews[TrashKind.PRESET]

    for item in items:
        await services.trash.restore(item)

    assert await services.trash.list_items() == []
    assert {one.guid for one in await services.sessions.list(MIRA)} == {session.guid, other.guid}
    assert [message.content for message in await services.sessions.page(other.guid, 0, 9)] == ["Three.", "Four."]
    assert [one.guid for one in await services.memory.memories(MIRA)] == [memory.guid]
    assert [one.guid for one in await services.facts.facts_of(MIRA)] == [fact.guid]
    assert (await services.library.persona(persona.unique_name)).name == "Somebody"
    assert world.unique_name in await services.library.worlds()
    assert preset in await services.library.samplers()


async def test_what_was_restored_meanwhile_is_not_erased(services: AppServices):
    session = await conversation(services, "One.")
    await services.sessions.delete(session.guid)
    item = await only(services)
    await services.sessions.restore(session.guid)

    await services.trash.erase([item])

    assert [one.guid for one in await services.sessions.list(MIRA)] == [session.guid]


async def test_an_erased_message_leaves_its_conversation_whole(services: AppServices):
    session = await conversation(services, "One.", "Two.", "Three.")
    line = (await services.sessions.page(session.guid, 1, 1))[0]
    await services.message_editing.delete(session.guid, line.id)

    await services.trash.erase([await only(services)])

    assert [message.content for message in await services.sessions.page(session.guid, 0, 9)] == ["One.", "Three."]


async def test_the_conversations_of_a_persona_are_deleted_only_when_it_is_purged(services: AppServices):
    persona = await services.library.save_persona(Persona(name="Somebody"))
    session = await conversation(services, "One.", persona=persona.unique_name)
    await services.library.delete_persona(persona.unique_name)
    item = await only(services)
    assert item.count == 1

    await services.trash.restore(item)
    assert [one.guid for one in await services.sessions.list(persona.unique_name)] == [session.guid]
    await services.library.delete_persona(persona.unique_name)
    await services.trash.erase([await only(services)])

    assert await services.sessions.list(persona.unique_name) == []


async def test_a_shipped_persona_that_reappears_keeps_its_past(services: AppServices):
    mira = await services.library.persona("mira")
    await services.library.save_persona(mira)
    session = await conversation(services, "One.", persona="mira")
    await services.library.delete_persona("mira")

    await services.trash.erase([await only(services)])

    assert [one.guid for one in await services.sessions.list("mira")] == [session.guid]


async def test_what_cannot_be_read_is_listed_and_says_where_it_lies(services: AppServices):
    services.paths.trash.mkdir(parents=True, exist_ok=True)
    (services.paths.trash / "settings.20260301T101112000000Z.json").write_text("{", encoding="utf-8")

    item = await only(services)

    assert (item.kind, item.title) == (TrashKind.FILE, "settings")
    with pytest.raises(LetheError, match="cannot be read"):
        await services.trash.restore(item)
    await services.trash.erase([item])
    assert await services.trash.list_items() == []


async def test_after_the_days_the_user_chose_things_go_by_themselves(services: AppServices):
    session, fact = await conversation(services, "One."), await services.facts.add(MIRA, "Tomas is a captain.")
    await services.sessions.delete(session.guid)
    await services.facts.forget_fact(fact.guid)
    long_ago = (now() - timedelta(days=20)).isoformat(timespec="microseconds")
    await services.database.run(lambda c: c.execute("UPDATE memories SET deleted_at = ?", (long_ago,)).rowcount)
    old = services.paths.trash / "worldinfo" / "petrel.20240301T101112000000Z.json"
    old.parent.mkdir(parents=True, exist_ok=True)
    old.write_text("{}", encoding="utf-8")

    await services.preferences.set(trash_days=0)
    await services.trash.purge_expired()
    assert len(await services.trash.list_items()) == 3
    await services.preferences.set(trash_days=10)
    await services.trash.purge_expired()

    assert (await only(services)).kind is TrashKind.FACT


async def test_a_fact_comes_back_only_with_the_conversation_it_was_learnt_in(services: AppServices):
    session = await conversation(services, "I keep bees.")
    (message,) = await services.sessions.page(session.guid, 0, 1)
    fact = ExtractedFact(fact="Tomas keeps bees.", source_memories=[session.guid], source_messages=[message.id])
    await services.facts.learn(MIRA, [fact])
    await services.facts.forget_fact(fact.guid)
    await services.sessions.delete(session.guid)
    items = {item.kind: item for item in await services.trash.list_items()}

    with pytest.raises(LetheError, match="is in the Trash"):
        await services.trash.restore(items[TrashKind.FACT])
    assert {item.kind for item in await services.trash.list_items()} == {TrashKind.FACT, TrashKind.CONVERSATION}

    await services.trash.restore(items[TrashKind.CONVERSATION])
    assert await services.facts.facts_of(MIRA) == []
    await services.trash.restore(items[TrashKind.FACT])
    assert [one.fact for one in await services.facts.facts_of(MIRA)] == [fact.fact]


async def test_the_picture_of_an_erased_persona_goes_unless_another_one_has_it(services: AppServices):
    library, folder = services.library, services.paths.personas
    picture = await library.save_picture("nerys", png())
    (folder / "nerys.charx").write_bytes(b"an archive")
    nerys = await library.save_persona(Persona(name="Nerys", avatar=picture, assets="nerys.charx"))
    copy = await library.duplicate_persona(nerys.unique_name, "Nerys again")

    await library.delete_persona(nerys.unique_name)
    await services.trash.erase([await only(services)])
    assert (folder / picture).exists()
    await library.delete_persona(copy.unique_name)
    assert (folder / picture).exists()
    await services.trash.erase([await only(services)])

    assert not (folder / picture).exists()
    assert not (folder / "nerys.charx").exists()


async def test_no_picture_is_erased_while_the_file_of_a_persona_cannot_be_read(services: AppServices):
    library, folder = services.library, services.paths.personas
    picture = await library.save_picture("nerys", png())
    nerys = await library.save_persona(Persona(name="Nerys", avatar=picture))
    copy = folder / f"{(await library.duplicate_persona(nerys.unique_name, 'Nerys again')).unique_name}.json"
    copy.write_text(copy.read_text() + "}")

    await library.delete_persona(nerys.unique_name)
    await services.trash.erase([await only(services)])

    assert (folder / picture).exists()
