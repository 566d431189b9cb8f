"""Lists to look through: whole and in order however long, compared with a sentence, and what is known of the user."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession, SessionPart
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.domain.list_items import NEVER, MemoryLine
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.services.search import memory_lists
from lethe_app.services.search.fact_lists import find_relevant_part
from tests.retrieval.conftest import embed
from tests.services.past_sessions import NUTS, archive, chats_of, hold

HER = "mira-test"


async def lines(services: AppServices, persona: str = HER) -> list[MemoryLine]:
    return [line async for piece in services.memory_lists.list_memories(persona) for line in piece]


async def keep(services: AppServices, *memories: MemoryUnit) -> None:
    for memory in memories:
        await services.memory.memorize(HER, memory, check=False)


async def test_a_list_of_any_length_is_read_whole_the_newest_first_and_without_anybody_elses(
    services: AppServices, monkeypatch
):
    monkeypatch.setattr(memory_lists, "FIRST_PAGE_SIZE", 2)
    monkeypatch.setattr(memory_lists, "PAGE_SIZE", 3)
    names = [f"memory {number}" for number in range(9)]
    await keep(services, *(MemoryUnit(name=name) for name in names))
    await services.memory.memorize("somebody", MemoryUnit(name="hers alone"), check=False)

    pieces = [piece async for piece in services.memory_lists.list_memories(HER)]

    assert [line.name for piece in pieces for line in piece] == names[::-1]
    assert [len(piece) for piece in pieces] == [2, 3, 3, 1]


async def test_a_line_says_what_the_memory_says(services: AppServices):
    memory = MemoryUnit(
        category=MemoryType.PERSON,
        insertion=MemoryInsertion.NATURAL,
        name="Ines",
        content="Lives in\n  Porto.",
        reason="He misses her",
        keywords_main=["Schwester"],
        added=datetime(2026, 3, 1, tzinfo=UTC),
        end_time=datetime(2027, 3, 1, tzinfo=UTC),
        protected=True,
    )
    await keep(services, memory)

    (line,) = await lines(services)

    assert line._replace(searched="") == MemoryLine.from_memory(memory)._replace(searched="")
    assert (line.words, line.title, line.until) == ("Lives in Porto.", "Ines", datetime(2027, 3, 1, tzinfo=UTC).timestamp())
    assert all(word in line.searched for word in ("ines", "porto", "misses her", "schwester"))


async def test_a_conversation_in_which_nothing_was_worth_a_summary_is_no_memory(services: AppServices):
    small_talk, nuts = await hold(services, "Where does my sister live?", "Hm."), await hold(services, *NUTS)
    for session in (small_talk, nuts):
        await archive(services, session)

    assert SessionPart.SUMMARY in await services.archive_queue.parts(small_talk.guid)
    assert [line.guid for line in await lines(services)] == [str(nuts.guid)]


async def test_conversations_that_have_ended_are_listed_too_and_can_be_looked_at(services: AppServices):
    session = await hold(services, *NUTS)
    assert await lines(services) == []  # an open one is no memory yet
    await end_sessions(services)

    (line,) = await lines(services)

    assert line.is_session
    assert line.until == NEVER
    assert isinstance(await services.memory_lists.load_memory(UUID(line.guid)), ChatSession)
    assert line.guid == str(session.guid)


async def test_many_are_forgotten_at_once_and_come_back(services: AppServices):
    memories = [MemoryUnit(name=str(number)) for number in range(3)]
    await keep(services, *memories)
    reported: list[str] = []
    services.memory.changed.add(reported.append)

    await services.memory_lists.forget_memories(HER, [memory.guid for memory in memories[:2]])
    left = await lines(services)
    restored = await services.memory_lists.restore_memories(HER, [memory.guid for memory in memories])

    assert [line.name for line in left] == ["2"]
    assert restored == 2
    assert len(await lines(services)) == 3
    assert reported == [HER, HER]


async def test_the_nearest_in_meaning_comes_first_with_its_distance_waiting_ones_included(services: AppServices):
    services.memory_index.set_embedder(embed, "words")
    boat = MemoryUnit(content="A white boat in the harbour")
    waiting = MemoryUnit(content="A white cat in the harbour", insertion=MemoryInsertion.NATURAL)
    await keep(services, boat, waiting, MemoryUnit(content="Peanuts make him ill"))

    found = await services.memory_lists.measure_distances(HER, "white vessel in the harbour")

    assert list(found)[:2] == [str(boat.guid), str(waiting.guid)]
    assert 0 <= found[str(boat.guid)] < found[str(waiting.guid)] < 1


async def test_a_conversation_is_near_in_meaning_to_each_sentence_of_its_summary(services: AppServices):
    services.memory_index.set_embedder(embed, "words")
    session = await hold(services, *NUTS)
    await archive(services, session)
    await services.indexing.index_changes(100)
    summary = (await services.sessions.open(session.guid)).content
    sentences = summary.splitlines()
    assert sentences

    for sentence in sentences:
        found = await services.memory_lists.measure_distances(HER, sentence)
        assert list(found) == [str(session.guid)]
        assert found[str(session.guid)] < 0.2


async def test_a_fact_leads_to_the_words_that_say_it_and_to_conversations_of_which_no_words_are_left(services: AppServices):
    session, other = await hold(services, *NUTS), await hold(services, "Good morning.", at=now() - timedelta(days=3))
    (first, *_rest) = await services.sessions.page(session.guid, 0, 9)
    sources = [session.guid, other.guid, uuid4()]
    fact = ExtractedFact(fact="Tomas is allergic.", source_memories=sources, source_messages=[first.id, uuid4()])

    found = await services.fact_lists.list_sources(fact)

    assert [(source.session, source.message) for source in found] == [(other.guid, None), (session.guid, first.id)]
    assert found[1].by_user
    assert found[1].text == NUTS[0]


async def test_the_core_is_what_stands_in_every_prompt_within_its_budget(services: AppServices):
    for number in range(20):
        await services.facts.add(HER, f"Tomas has been to harbour number {number}.")
    pinned = await services.facts.add(HER, "Tomas is allergic to peanuts.", pinned=True)
    await services.preferences.set(core_facts_tokens=64)

    core = await services.fact_lists.load_core_facts(HER)

    assert pinned.guid in core.facts
    assert 1 < len(core.facts) < 21
    assert 0 < core.tokens <= core.budget == 64


async def end_sessions(services: AppServices) -> None:
    """As archiving marks them, without a title and a summary."""
    await services.database.run(lambda connection: connection.execute("UPDATE sessions SET archived = 1"))


def known(text: str, session: ChatSession | None, day: datetime, **fields: object) -> ExtractedFact:
    sources = [session.guid] if session is not None else []
    return ExtractedFact(fact=text, first_seen=day, last_seen=day, source_memories=sources, **fields)


async def test_the_timeline_tells_by_month_and_conversation_what_is_known_of_the_user(services: AppServices):
    march, may = datetime(2026, 3, 14, 12, tzinfo=UTC), datetime(2026, 5, 2, 12, tzinfo=UTC)
    first = await chats_of(services).add_session(ChatSession(persona_id=HER, name="First night", added=march))
    second = await chats_of(services).add_session(ChatSession(persona_id=HER, name="The bell", added=may))
    facts = [
        known("Tomas keeps bees.", second, may),
        known("Tomas is a carpenter.", first, march),
        known("Ines lives in Porto.", first, march),
        known("Tomas is allergic.", first, march, pinned=True),
        known("Tomas kept cats.", first, march, superseded=True),
        known("Tomas likes rain.", None, may, made_by=MadeBy.USER),
    ]
    await services.fact_store.save_facts(HER, *facts)

    timeline = await services.fact_lists.load_timeline(HER)
    months = timeline.group_by_month(include_others=False)
    reported = [
        (conversation.title, [one.fact.fact for one in conversation.items])
        for month in months
        for conversation in month.conversations
    ]

    assert [one.fact.fact for one in timeline.pinned_items(include_others=False)] == ["Tomas is allergic."]
    assert [(month.year, month.month) for month in months] == [(2026, 5), (2026, 3)]
    assert sorted(reported[:2]) == [("", ["Tomas likes rain."]), ("The bell", ["Tomas keeps bees."])]
    assert reported[2:] == [("First night", ["Tomas is a carpenter."])]
    assert [month.month for month in timeline.group_by_month(include_others=True, newest_first=False)] == [3, 5]
    assert len(timeline.group_by_month(include_others=True)[1].conversations[0].items) == 2


async def test_the_timeline_names_the_conversation_of_the_new_value_not_that_of_the_replaced_one(services: AppServices):
    march, may = datetime(2026, 3, 14, 12, tzinfo=UTC), datetime(2026, 5, 2, 12, tzinfo=UTC)
    nurse = await chats_of(services).add_session(ChatSession(persona_id=HER, name="Nurse in Porto", added=march))
    baker = await chats_of(services).add_session(ChatSession(persona_id=HER, name="The new oven", added=may))
    fact = known("Tomas works as a baker.", baker, may)
    inherited = fact.model_copy(update={"source_memories": [nurse.guid, baker.guid]})  # as earlier versions stored it
    await services.fact_store.save_facts(HER, inherited)

    (item,) = (await services.fact_lists.load_timeline(HER)).items

    assert (item.session, item.title) == (baker.guid, "The new oven")


def test_of_a_long_message_the_part_is_shown_that_says_the_fact():
    filler = "Hello, I had such a long and tiring day, and the tram was late again, and then the lift was broken. " * 2
    message = f"{filler}My sister Ana lives in Porto. She paints."

    assert find_relevant_part(message, "Tom's sister Ana lives in Porto.") == "… My sister Ana lives in Porto. She paints."
    assert find_relevant_part("My sister Ana lives in Porto.", "Ana lives in Porto.") == "My sister Ana lives in Porto."
