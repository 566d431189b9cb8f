"""A sentence is found by words in any form, by the beginning of one, and as a phrase; and the way to it is known."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.list_items import HitKind, SearchHit
from lethe_app.domain.memory import MemoryInsertion
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.services.indexing.worlds import owner_of_world
from lethe_app.services.search.everything import MAX_HITS
from lethe_app.services.search.query import SearchQuery, build_excerpt
from lethe_app.storage.index.full_text import MAX_UNINDEXED_PER_CALL
from tests.services.turns import MIRA, add_memory, before_now, spoke


async def found(services: AppServices, text: str, persona: str | None = None, session: UUID | None = None) -> list[SearchHit]:
    return [hit async for some in services.search.search_by_words(text, persona, session) for hit in some]


async def add_conversation(
    services: AppServices, *lines: str, days: float = 0, persona: str = MIRA
) -> tuple[ChatSession, list[Message]]:
    session = await services.session_store.add_session(ChatSession(persona_id=persona, added=before_now(days=days)))
    moments = [before_now(days=days) + timedelta(minutes=number) for number in range(len(lines))]
    return session, [await spoke(services, session, line, moment) for line, moment in zip(lines, moments, strict=True)]


@pytest.mark.parametrize(
    ("asked", "text", "marked"),
    [
        ("wolves", "A wolf; two wolves.", ["wolves"]),
        ("lighthou", "The lighthouse is dark.", ["lighthouse"]),
        ("runni", "She was running.", ["running"]),
        ('"the green door"', "Behind the green door, the sea.", ["the", "green", "door"]),
        ('"green the door"', "Behind the green door, the sea.", []),
        ("don't", "I don't know.", ["don", "t"]),
        ("cafe", "Wir trafen uns im Café.", ["Café"]),
        ("灯台", "古い灯台に行った。", ["灯", "台"]),
        ("door sea ", "Behind the green door, the sea.", ["door", "sea"]),
        ("door lantern ", "Behind the green door, the sea.", []),
    ],
)
def test_words_are_marked_where_they_stand(asked: str, text: str, marked: list[str]):
    assert [text[start : start + length] for start, length in SearchQuery.parse(asked).find_marks(text)] == marked


def test_a_long_line_is_shown_around_the_first_mark():
    text = "word " * 200 + "lantern " + "word " * 200

    shown, marks = build_excerpt(text.strip(), SearchQuery.parse("lantern ").find_marks(text))

    assert shown.startswith("…")
    assert shown.endswith("…")
    ((start, length),) = marks
    assert shown[start : start + length] == "lantern"


@pytest.mark.parametrize("text", ["", "  ", '"', "\0", '""', "*", "a" * 5000, "NOT OR AND", "( ) ^ : -", "“"])
async def test_nothing_that_is_typed_breaks_the_search(services: AppServices, text: str):
    await add_conversation(services, "Something was said.")

    assert [hit for hit in await found(services, text) if hit.kind is not HitKind.WORLD] == []


async def test_a_sentence_from_months_ago_is_found_among_all_personas(services: AppServices):
    session, (line, _answer) = await add_conversation(services, "The keeper had a green lantern.", "He never lit it.", days=200)
    await add_conversation(services, "A lantern, but red.", persona="edmund")

    hits = await found(services, "green lantern")

    (hit,) = hits
    assert (hit.kind, hit.id, hit.session) == (HitKind.MESSAGE, line.id, session.guid)
    assert hit.when == line.time
    assert len(await found(services, "lantern")) == 2
    assert [one.persona_id for one in await found(services, "lantern", "edmund")] == ["edmund"]


async def test_the_date_and_the_speaker_of_a_message_are_not_its_words(services: AppServices):
    _session, (line,) = await add_conversation(services, "The tide turned.")

    assert await found(services, f"{line.time:%B}", MIRA) == []
    assert await found(services, "Tomas", MIRA) == []


async def test_facts_memories_and_summaries_are_found_too(services: AppServices):
    session, _lines = await add_conversation(services, "Something else.")
    await services.sessions.rename(session.guid, "The marmalade affair")
    await services.facts.add(MIRA, "Tomas hates marmalade.")
    await add_memory(services, "There was marmalade on the chart.")
    await add_memory(services, "Marmalade that waits.", insertion=MemoryInsertion.NATURAL)
    await add_memory(services, "Marmalade that is only kept.", insertion=MemoryInsertion.NONE)
    await services.indexing.index_all_pending()

    hits = await found(services, "marmalade")

    assert sorted(hit.kind for hit in hits) == ["fact", "memory", "memory", "memory", "summary"]
    assert all(hit.marks and hit.persona_id == MIRA for hit in hits)


async def test_facts_that_were_replaced_are_found_and_marked(services: AppServices):
    old = ExtractedFact(fact="Tomas hates marmalade.", superseded=True)
    await services.fact_store.save_facts(MIRA, old)
    await services.facts.add(MIRA, "Tomas loves marmalade.")
    await services.indexing.index_all_pending()

    hits = await found(services, "marmalade")

    assert {hit.text: hit.is_over for hit in hits} == {"Tomas hates marmalade.": True, "Tomas loves marmalade.": False}
    assert await found(services, "marmalade hates", "edmund") == []


async def test_what_the_index_leaves_out_is_looked_through_to_its_end(services: AppServices):
    reported = "There was marmalade on the chart."
    first = await add_memory(services, reported, insertion=MemoryInsertion.NONE)
    for number in range(2 * MAX_UNINDEXED_PER_CALL):
        await add_memory(services, f"Nothing of note, {number}.", insertion=MemoryInsertion.NONE)
        await services.fact_store.save_facts(MIRA, ExtractedFact(fact=f"Tomas saw {number} gulls.", superseded=True))

    assert [hit.id for hit in await found(services, "marmalade")] == [first.guid]
    assert len(await found(services, "gulls")) == MAX_HITS


async def test_entries_of_worlds_are_found_where_everybody_is_asked(services: AppServices):
    entry = WorldEntry(name="The Quillon", content="A ketch with a mauve hull.")
    world = await services.library.save_world(World(name="Velm", entries=[entry]))

    (hit,) = await found(services, "mauve hull")

    assert (hit.kind, hit.id, hit.world, hit.title) == (HitKind.WORLD, entry.guid, world.unique_name, "Velm")
    assert [hit.text[start : start + length] for start, length in hit.marks] == ["mauve", "hull"]
    assert await found(services, "quillon ketch") == [replace(hit, marks=((4, 7), (15, 5)))]
    assert await found(services, "mauve hull", MIRA) == []


async def test_passages_of_documents_are_found_with_their_place(services: AppServices, tmp_path: Path):
    manual, atlas = tmp_path / "Manual.md", tmp_path / "Atlas.md"
    manual.write_text("# Pump\n\nThe bilge pump is primed with seawater.\n", encoding="utf-8")
    atlas.write_text("Beyond the reef there is no seawater, only fog.", encoding="utf-8")
    of_mira = await services.documents.add(MIRA, manual)
    world = await services.library.save_world(World(name="Velm"))
    of_world = await services.documents.add(owner_of_world(world.unique_name), atlas)

    (hit,) = await found(services, "seawater", MIRA)

    assert (hit.kind, hit.document, hit.persona_id) == (HitKind.DOCUMENT, of_mira.guid, MIRA)
    assert (hit.title, hit.location) == ("Manual", "Manual, Pump")
    assert [hit.text[start : start + length] for start, length in hit.marks] == ["seawater"]
    assert {one.document for one in await found(services, "seawater")} == {of_mira.guid, of_world.guid}
    (first, *_others) = await services.documents.passages_of(of_mira.guid, hit.id)
    assert first.id == hit.id

    await add_conversation(services, "It has rained since Monday, and the pump is broken.", days=9)
    by_meaning = await services.search.search_by_meaning("How is the bilge pump primed?", [MIRA])
    assert [one.kind for one in by_meaning] == [HitKind.DOCUMENT, HitKind.MESSAGE]
    assert by_meaning[0].id == hit.id
    by_meaning = await services.search.search_by_meaning("What is beyond the reef?", [MIRA], [world.unique_name])
    assert of_world.guid in {one.document for one in by_meaning}

    await services.documents.remove([of_mira.guid, of_world.guid])
    assert await found(services, "seawater") == []


async def test_texts_of_a_deleted_persona_are_found_once_it_is_restored(services: AppServices, tmp_path: Path):
    mira = await services.library.persona(MIRA)
    zora = await services.library.save_persona(mira.model_copy(update={"unique_name": "", "name": "Zora"}))
    document = tmp_path / "Zoo.md"
    document.write_text("The quagga eats hay.", encoding="utf-8")
    await services.documents.add(zora.unique_name, document)
    await services.facts.add(zora.unique_name, "Tomas feeds a quagga.")
    await add_conversation(services, "The quagga sleeps here.", persona=zora.unique_name)
    await services.library.delete_persona(zora.unique_name)

    assert await found(services, "quagga") == []

    (item,) = await services.trash.list_items()
    await services.trash.restore(item)
    assert {hit.kind for hit in await found(services, "quagga")} == {HitKind.DOCUMENT, HitKind.FACT, HitKind.MESSAGE}


async def test_no_more_is_found_than_can_be_looked_through(services: AppServices):
    lines = [f"Lantern number {number}." for number in range(MAX_HITS + 60)]
    await add_conversation(services, *lines)
    await services.indexing.index_all_pending()

    assert len(await found(services, "lantern")) == MAX_HITS


async def test_a_greeting_is_found_once(services: AppServices):
    first, second = await services.sessions.new(MIRA), None
    await spoke(services, first, "Hello.", now())
    second = await services.sessions.new(MIRA)
    greeting = (await services.sessions.page(second.guid, 0, 1))[0]

    hits = await found(services, greeting.content.split()[-1].strip("”.*!"))

    assert second.guid in {hit.session for hit in hits}
    assert len([hit for hit in hits if hit.session is not None]) <= 2  # of each greeting only the newest


async def test_a_greeting_is_found_with_all_conversations_that_begin_with_it(services: AppServices):
    begun: dict[str, set[object]] = {}
    for _ in range(4):
        session = await services.sessions.new(MIRA)
        await spoke(services, session, "Hello.", now())
        begun.setdefault((await services.sessions.page(session.guid, 0, 1))[0].content, set()).add(session.guid)
    greeting = max(begun, key=lambda text: len(begun[text]))

    hits = await found(services, greeting.split()[-1].strip("”.*!"))

    assert len(begun[greeting]) > 1
    assert any({hit.session, *hit.other_sessions} == begun[greeting] for hit in hits)


async def test_one_conversation_is_looked_through_by_itself(services: AppServices):
    session, lines = await add_conversation(services, "A lantern.", "Two lanterns.", days=3)
    await add_conversation(services, "Another lantern.")

    hits = await found(services, "lantern", session=session.guid)

    assert {hit.id for hit in hits} == {line.id for line in lines}


async def test_what_was_deleted_is_not_found(services: AppServices):
    session, (line, _other) = await add_conversation(services, "A lantern.", "Two lanterns.")

    await services.message_editing.delete(session.guid, line.id)
    assert len(await found(services, "lantern")) == 1
    await services.sessions.delete(session.guid)
    assert await found(services, "lantern") == []


async def test_a_message_on_another_branch_is_put_on_display(services: AppServices):
    session, (first, second, third) = await add_conversation(services, "One.", "Two.", "Three.")
    aside = Message(session_id=session.guid, role=Role.USER, parent_id=first.id, alternatives=[Alternative(content="Aside.")])
    await services.session_store.add_message(aside)

    assert await services.session_editing.select_branch_of(session.guid, second.id)
    assert [entry.id for entry in await services.sessions.outline(session.guid)] == [first.id, second.id, third.id]
    assert not await services.session_editing.select_branch_of(session.guid, third.id)


async def test_by_meaning_leads_to_a_message(services: AppServices):
    session, _lines = await add_conversation(
        services, "My grandmother kept bees behind the chapel.", "How many hives?", days=90
    )

    hits = await services.search.search_by_meaning("grandmother bees chapel", [MIRA])

    assert session.guid in {hit.session for hit in hits}


async def test_the_place_of_a_fact_is_where_it_was_said(services: AppServices):
    fact = await services.facts.add(MIRA, "Tomas was born in May.")

    assert await services.search.find_fact_source(fact.guid) is None


async def test_an_untitled_conversation_has_the_same_title_in_every_list(services: AppServices):
    session, (line, _answer) = await add_conversation(services, "The lantern is lit.", "“Aye.”")
    fact = ExtractedFact(fact="Tomas lit the lantern.", source_memories=[session.guid], source_messages=[line.id])
    await services.database.run(lambda connection: connection.execute("UPDATE sessions SET archived = 1"))

    (hit,) = await found(services, "lantern", MIRA)
    (source,) = await services.fact_lists.list_sources(fact)
    (memory,) = [memory async for page in services.memory_lists.list_memories(MIRA) for memory in page]
    (summary,) = await services.sessions.list(MIRA)

    shown = {hit.title, source.title, memory.title, summary.first_words}
    assert shown == {"The lantern is lit."}
    assert await services.memory_lists.title_of(session) == "The lantern is lit."
