"""Who asks for memory in so many words gets it from a few lines; nobody gets what was never told."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryType
from lethe_app.domain.recall import ReasonKind, RecalledMemory, RecallLead, RecallWay
from lethe_app.retrieval.relevance_gate import BY_MEANING, BY_WORDS
from lethe_app.services.memory.search import without_forgotten
from tests.brain.recall.test_explicit_requests import ASKED, KNOWN, SILENT
from tests.retrieval.conftest import embed
from tests.services.turns import MIRA, add_memory, before_now, spoke

MIN_SURE = min(gate.question_limits.others for gate in (BY_MEANING, BY_WORDS))


@pytest.fixture(params=["by meaning", "by words"])
async def session_with_facts(services: AppServices, request: pytest.FixtureRequest) -> ChatSession:
    """An evening of four lines, three days ago."""
    if request.param == "by meaning":
        services.memory_index.set_embedder(embed, "words")
    evening = ChatSession(persona_id=MIRA, name="The evening", added=before_now(days=3))
    session = await services.session_store.add_session(evening)
    for number, line in enumerate(KNOWN):
        await spoke(services, session, line, evening.added + timedelta(minutes=number))
    await services.indexing.index_changes()
    return session


async def reminded(services: AppServices, text: str) -> list[RecalledMemory]:
    context = await services.recall_contexts.build_for_new_session(MIRA, text)
    found, _remark = await services.memory_search.search(context, 3)
    return found


@pytest.mark.parametrize("text", ASKED)
async def test_what_was_told_comes_when_it_is_asked_for(services: AppServices, session_with_facts: ChatSession, text: str):
    found = await reminded(services, text)

    assert [one.memory for one in found] == [session_with_facts.guid]
    assert found[0].because[0].kind is ReasonKind.ASKED_FOR


@pytest.mark.parametrize("text", SILENT)
async def test_what_was_not_told_or_not_asked_for_comes_no_sooner_than_anything_else(
    services: AppServices, session_with_facts: ChatSession, text: str
):
    found = await reminded(services, text)

    assert [one.memory for one in found if one.likelihood is None or one.likelihood < MIN_SURE] == []
    assert all(because.kind is not ReasonKind.ASKED_FOR for one in found for because in one.because)


async def test_a_plan_that_was_changed_comes_with_what_holds_now(services: AppServices):
    evening = await services.session_store.add_session(
        ChatSession(persona_id=MIRA, name="The evening", added=before_now(days=3))
    )
    planned = await spoke(services, evening, "We are going to Bergen for Christmas.", evening.added)
    changed = await spoke(services, evening, "Christmas in Bergen is off, we stay at home.", evening.added)
    new = ExtractedFact(fact="Tomas stays at home for Christmas.", source_memories=[evening.guid], source_messages=[changed.id])
    old = ExtractedFact(
        fact="Tomas is going to Bergen for Christmas.",
        source_memories=[evening.guid],
        source_messages=[planned.id],
        superseded=True,
        superseded_by=new.guid,
    )
    await services.fact_store.save_facts(MIRA, new, old)
    await services.indexing.index_changes()

    (found,) = await reminded(services, "Do you remember what I said about Christmas in Bergen?")

    assert [lead.origin for lead in found.leads if lead.is_outdated] == [found.leads[-1].origin] == [planned.id]
    assert f"- {new.fact}" in found.text.splitlines()
    assert found.text.endswith('going to Bergen for Christmas." (no longer so)')


async def test_a_plan_whose_change_was_forgotten_is_told_as_it_was_said(services: AppServices):
    evening = await services.session_store.add_session(
        ChatSession(persona_id=MIRA, name="The evening", added=before_now(days=3))
    )
    planned = await spoke(services, evening, "We are going to Bergen for Christmas.", evening.added)
    new = ExtractedFact(fact="Tomas stays at home for Christmas.", source_memories=[evening.guid])
    old = ExtractedFact(
        fact="Tomas is going to Bergen for Christmas.",
        source_memories=[evening.guid],
        source_messages=[planned.id],
        superseded=True,
        superseded_by=new.guid,
    )
    store = services.fact_store
    await store.save_facts(MIRA, new, old)
    await store.forget_facts(MIRA, [new.guid], [])
    await services.indexing.index_changes()

    (found,) = await reminded(services, "Do you remember what I said about Christmas in Bergen?")

    assert not any(lead.is_outdated for lead in found.leads)
    assert "stays at home" not in found.text


def test_what_became_outdated_and_what_took_its_place_can_both_be_forgotten():
    gone, kept = uuid4(), uuid4()
    old = RecallLead(kind="message", text='Tomas said, "We go to Bergen."', origin=gone, is_outdated=True)
    new = RecallLead(kind="fact", text="Tomas stays at home.", origin=kept)
    lines = ["**The evening**", "- Tomas stays at home.", '- Tomas said, "We go to Bergen." (no longer so)']
    session_with_facts = RecalledMemory(
        memory=uuid4(), category=MemoryType.CHAT_SESSION, text="\n".join(lines), way=RecallWay.FACT, leads=[new, old]
    )

    without_old, without_new = without_forgotten(session_with_facts, {gone}), without_forgotten(session_with_facts, {kept})

    assert without_old.text.splitlines() == lines[:2]
    assert without_new.text.splitlines() == [lines[0], lines[2]]


async def test_reasons_name_the_words_that_occur_and_nothing_that_does_not_exist(services: AppServices):
    services.memory_index.set_embedder(embed, "words")
    await add_memory(services, "The spare key lies under the blue pot.")
    await services.indexing.index_changes()

    (found,) = (await services.memory_lookup.preview_recall(MIRA, "Where is the spare key?")).recalled

    assert found.because[0].values == {"words": "spare, key", "count": 2}
    assert not {"about", "summary"} & {reason.values.get("signal") for reason in found.because}
