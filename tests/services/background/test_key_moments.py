"""What mattered in a day becomes a memory that leads to its messages and goes with them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.changes import TrashKind
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryType, MemoryUnit
from lethe_app.storage.key_value import KEY_MOMENT_DAYS
from tests.services.past_sessions import qualify
from tests.services.turns import MIRA, learnt_from, say

BIRTH = "My sister Ines had a baby this morning, a girl called Lena!"
JOB = "I also got the job at the shipyard in Bremen."
FEAR = "I'm really scared of moving away from my mother."
WEDDING = "My brother Paulo got married in Porto last week."
LINES = ("Hi Mira! How are you?", "Fine.", BIRTH, "Oh!", JOB, "Good.", "The weather is awful today.", "It is.", FEAR, "I see.")


async def add_day(services: AppServices, *lines: str, days: int = 1) -> tuple[ChatSession, list[Message]]:
    chats, began = services.session_store, now() - timedelta(days=days)
    began = began.astimezone().replace(hour=12)
    session = await chats.add_session(ChatSession(persona_id=MIRA, added=began))
    messages = []
    for number, line in enumerate(lines):
        moment, role = began + timedelta(minutes=number), Role.ASSISTANT if number % 2 else Role.USER
        said = [Alternative(content=line, created=moment)]
        name = "Mira" if number % 2 else "Tomas"
        fields = {"role": role, "speaker_name": name, "time": moment, "alternatives": said}
        messages.append(await chats.add_message(Message(session_id=session.guid, **fields)))
    return session, messages


async def moments(services: AppServices) -> list[MemoryUnit]:
    return sorted(
        (memory for memory in await services.memory.memories(MIRA) if memory.is_key_moment), key=lambda memory: memory.content
    )


async def texts(services: AppServices) -> list[str]:
    return [memory.content for memory in await moments(services)]


async def test_what_mattered_in_a_day_is_remembered_with_its_messages(services: AppServices):
    _session, messages = await add_day(services, *LINES)
    said_on = messages[2].time

    await services.key_moments.look_through_days()

    job, fear, birth = await moments(services)
    assert "sister Ines had a baby" in birth.content
    assert "got the job at the shipyard in Bremen" in job.content
    assert "scared of moving away from their mother" in fear.content
    assert (birth.category, birth.added, birth.source_messages) == (MemoryType.EVENT, said_on, [messages[2].id])


async def test_small_talk_and_today_have_no_moments(services: AppServices, says: Callable[..., object]):
    await says("“Oh!”")
    await add_day(services, "Hi!", "Hello.", "What's the weather like?", "Rainy.", "ok good night", "Good night.")
    await say(services, await services.sessions.new(MIRA), BIRTH)

    await services.key_moments.look_through_days()

    assert await texts(services) == []


async def test_a_day_is_looked_through_again_only_when_its_messages_changed(services: AppServices):
    session, _messages = await add_day(services, *LINES)
    await services.key_moments.look_through_days()
    first = await moments(services)

    await services.key_moments.look_through_days()
    assert [memory.guid for memory in await moments(services)] == [memory.guid for memory in first]
    time = first[0].added
    said = [Alternative(content=WEDDING, created=time)]
    await services.session_store.add_message(
        Message(session_id=session.guid, role=Role.USER, speaker_name="Tomas", time=time, alternatives=said)
    )
    await services.key_moments.look_through_days()

    assert any("married" in text for text in await texts(services))
    assert len(await moments(services)) == 3
    assert list(await services.app_state.get(KEY_MOMENT_DAYS, MIRA)) == [time.date().isoformat()]


async def test_a_moment_goes_to_the_trash_with_its_message_and_comes_back_with_it(services: AppServices):
    session, messages = await add_day(services, *LINES)
    await services.key_moments.look_through_days()

    await services.message_editing.delete(session.guid, messages[2].id)
    assert not any("baby" in text for text in await texts(services))

    (item,) = [item for item in await services.trash.list_items() if item.kind is TrashKind.MESSAGE]
    await services.trash.restore(item)
    assert any("baby" in text for text in await texts(services))


async def test_a_conversation_takes_its_moments_along_and_brings_them_back(services: AppServices):
    session, _messages = await add_day(services, *LINES)
    await services.key_moments.look_through_days()
    before = await texts(services)

    await services.sessions.delete(session.guid)
    assert await texts(services) == []
    await services.sessions.restore(session.guid)
    assert await texts(services) == before

    await services.sessions.delete(session.guid)
    await services.trash.erase([item for item in await services.trash.list_items() if item.kind is TrashKind.CONVERSATION])
    assert await services.database.run(
        lambda connection: connection.execute("SELECT count(*) FROM memories WHERE made_by = 'key_moments'").fetchone()
    ) == (0,)


async def test_a_moment_is_recalled_like_any_memory(services: AppServices, says: Callable[..., object]):
    await says("“Oh!”")
    await add_day(services, *LINES)
    await services.key_moments.look_through_days()
    await services.indexing.index_all_pending()
    await services.preferences.set(recall_without_match=0)

    turn = await say(services, await services.sessions.new(MIRA), "Do you remember what the baby of Ines is called?")

    assert any("Lena" in memory.text and memory.category is MemoryType.EVENT for memory in turn.memory.recalled)


async def test_switched_off_nothing_is_kept(services: AppServices):
    await services.preferences.set(key_moments=False)
    await add_day(services, *LINES)

    await services.key_moments.look_through_days()

    assert await texts(services) == []


@pytest.mark.parametrize(
    ("answer", "kept"), [('{"numbers": [1]}', ["baby"]), ('{"numbers": []}', []), ("nonsense", ["baby", "job", "scared"])]
)
async def test_a_qualified_model_chooses_and_without_an_answer_the_most_salient_remain(
    services: AppServices, echo_model: Callable[..., Path], answer: str, kept: list[str]
):
    await services.models.load(echo_model(answers=[answer] * 9))
    qualify(services)
    await add_day(services, *LINES)

    await services.key_moments.look_through_days()

    found = await texts(services)
    assert len(found) == len(kept)
    assert all(any(word in text for text in found) for word in kept)


async def test_what_no_longer_held_when_the_day_ended_is_no_moment_of_it(services: AppServices):
    _session, messages = await add_day(services, *LINES, "No, I turned it down, I got a job at the school.", "Oh.")
    await services.key_moments.look_through_days()
    assert "Tomas also got the job at the shipyard in Bremen." in await texts(services)
    job = learnt_from(messages[4], "Tomas got the job at the shipyard in Bremen.", key="job")
    school = learnt_from(messages[10], "Tomas has a job at the school.", key="job")

    await services.facts.learn(MIRA, [job])  # the conversation ends after the day was looked through
    await services.facts.learn(MIRA, [school])
    await services.key_moments.look_through_days()

    assert not any("shipyard" in text for text in await texts(services))
    assert any("baby" in text for text in await texts(services))


async def learn_job(services: AppServices) -> ExtractedFact:
    """The day was looked through, and the fact that one of its moments states is learnt."""
    _session, messages = await add_day(services, *LINES)
    await services.key_moments.look_through_days()
    job = learnt_from(messages[4], "Tomas got the job at the shipyard in Bremen.")
    await services.facts.learn(MIRA, [job])
    return job


async def test_a_moment_goes_to_the_trash_with_the_fact_it_states_and_comes_back_with_it(services: AppServices):
    job, before = await learn_job(services), await texts(services)

    await services.facts.forget_fact(job.guid)
    assert not any("shipyard" in text for text in await texts(services))
    assert any("baby" in text for text in await texts(services))
    await services.facts.restore_facts([job])  # undo
    assert await texts(services) == before

    await services.facts.edit(job.guid, "Tomas builds boats in Bremen.")
    assert not any("shipyard" in text for text in await texts(services))
    await services.facts.restore_facts([job])
    assert await texts(services) == before

    await services.facts.forget_fact(job.guid)
    await services.facts.restore(job.guid)  # from the trash
    assert await texts(services) == before


async def test_a_moment_the_user_deleted_does_not_come_back_with_an_unrelated_undo(services: AppServices):
    job = await learn_job(services)
    (moment,) = [moment for moment in await moments(services) if "shipyard" in moment.content]
    await services.memory.forget_memory(moment.guid)

    await services.facts.pin(job.guid, pinned=True)
    await services.facts.restore_facts([job])

    assert not any("shipyard" in text for text in await texts(services))


async def test_a_moment_the_user_edited_stays(services: AppServices):
    job = await learn_job(services)
    (moment,) = [moment for moment in await moments(services) if "shipyard" in moment.content]
    edited = "Tomas got the job at the shipyard in Bremen, at last."
    await services.memory.edit(moment.model_copy(update={"content": edited}))

    await services.facts.forget_fact(job.guid)

    assert edited in await texts(services)


@pytest.mark.parametrize("new_text", ["", "Tomas builds boats in Bremen."])
async def test_what_was_forgotten_or_reworded_before_the_day_ended_is_no_moment_of_it(services: AppServices, new_text: str):
    _session, messages = await add_day(services, *LINES)
    job = learnt_from(messages[4], "Tomas also got the job at the shipyard in Bremen.")
    await services.facts.learn(MIRA, [job])
    if new_text:
        await services.facts.edit(job.guid, new_text)
    else:
        await services.facts.forget_fact(job.guid)

    await services.key_moments.look_through_days()

    assert not any("shipyard" in text for text in await texts(services))
    assert any("baby" in text for text in await texts(services))
