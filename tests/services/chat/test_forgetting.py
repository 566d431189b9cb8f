"""What the user asks to forget is known, recalled and in prompts no more, is not learnt again, and comes back by undo."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from lethe_app.brain.facts.superseding import supersede
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role, SessionPart
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact, SupersededBecause
from lethe_app.domain.memory import KEY_MOMENTS, MemoryUnit
from lethe_app.services.chat.forgetting import MemoriesForgotten
from lethe_app.services.events import MessageStored, TurnEvent
from tests.services.past_sessions import archive
from tests.services.turns import MIRA, say

HOME, WORK = "I live in Kraków.", "I work as a carpenter."


async def known(services: AppServices) -> list[str]:
    return sorted(fact.fact for fact in await services.facts.facts_of(MIRA) if not fact.superseded)


async def request(services: AppServices, session: ChatSession, text: str) -> MemoriesForgotten:
    return services.forgetting.forgotten[(await say(services, session, text)).asked.id]


async def told(services: AppServices) -> str:
    """All that is made of conversations and searched for recall, as one text."""
    await services.archive_queue.finish()
    await services.indexing.index_all_pending()
    texts = [*await known(services), *[memory.content for memory in await services.memory_store.memories_of(MIRA)]]
    for summary in await services.sessions.list(MIRA):
        session = await services.sessions.open(summary.guid)
        texts += [session.name, session.content, *session.keywords_main, *session.future_goals]

    def read(connection) -> list[str]:  # type: ignore[no-untyped-def]
        return [text for (text,) in connection.execute("SELECT text FROM passages")]

    return " ".join([*texts, *await services.database.run(read)])


@pytest.fixture
async def past(services: AppServices, says: Callable[..., object]) -> ChatSession:
    """An earlier conversation, from which home and work were learnt."""
    await says(*["Aye."] * 40)
    session = await services.sessions.new(MIRA)
    await say(services, session, HOME)
    await say(services, session, WORK)
    await archive(services, session)
    assert await known(services) == ["Tomas lives in Kraków.", "Tomas works as a carpenter."]
    return session


@pytest.fixture
async def session(services: AppServices, past: ChatSession) -> ChatSession:
    return await services.sessions.new(MIRA)


async def test_a_fact_of_an_earlier_conversation_is_forgotten_at_once_with_all_that_says_so(
    services: AppServices, past: ChatSession, session: ChatSession
):
    assert "Kraków" in await told(services)
    forgotten = await request(services, session, "Please forget that I live in Kraków.")

    assert [fact.fact for fact in forgotten.facts] == ["Tomas lives in Kraków."]
    assert await known(services) == ["Tomas works as a carpenter."]
    text = await told(services)
    assert "Kraków" not in text
    assert "carpenter" in text
    assert [message.content for message in await services.sessions.page(past.guid, 0, 9) if "Kraków" in message.content] == [
        HOME
    ]


async def test_what_is_forgotten_is_not_learnt_again_from_the_same_messages_but_from_a_new_one(
    services: AppServices, past: ChatSession, session: ChatSession
):
    await request(services, session, "Forget that I live in Kraków.")
    await say(services, session, "My brother Aleks plays the cello.")
    await services.archive_queue.update(past.guid)
    await archive(services, session)
    assert "Kraków" not in await told(services)

    again = await services.sessions.new(MIRA)
    await say(services, again, HOME)
    await archive(services, again)
    assert "Tomas lives in Kraków." in await known(services)


async def test_undo_brings_everything_back_and_it_stays(services: AppServices, past: ChatSession, session: ChatSession):
    forgotten = await request(services, session, "Forget that I live in Kraków.")
    await services.forgetting.undo(forgotten)

    assert await known(services) == ["Tomas lives in Kraków.", "Tomas works as a carpenter."]
    assert HOME in await told(services)
    await say(services, session, "My brother Aleks plays the cello.")
    await services.archive_queue.update(past.guid)
    await archive(services, session)
    assert {"Tomas lives in Kraków.", "Tomas works as a carpenter."} < set(await known(services))


async def test_erasing_leaves_no_word_of_it(services: AppServices, past: ChatSession, session: ChatSession):
    forgotten = await request(services, session, "Forget that I live in Kraków.")
    await services.forgetting.erase(forgotten)

    def dump(connection) -> str:  # type: ignore[no-untyped-def]
        return "\n".join(connection.iterdump())

    assert "Kraków" not in await services.database.run(dump)
    files = [file for file in services.paths.home.rglob("*") if file.is_file()]
    assert services.paths.database in files
    assert [file.name for file in files if "Kraków".encode() in file.read_bytes()] == []
    assert await known(services) == ["Tomas works as a carpenter."]
    assert WORK in [message.content for message in await services.sessions.page(past.guid, 0, 9)]


@pytest.mark.parametrize(
    ("lines", "remains"),
    [
        (("I am pregnant.", "No, please forget that."), ""),
        (("I am pregnant.", "Please forget what I told you about being pregnant."), ""),
        (("I am pregnant.", "Delete that from your memory."), ""),
        (("I am pregnant. This stays off the record.",), ""),
        (("I am pregnant and play the cello.", "Forget that I'm pregnant."), "Tomas plays the cello."),
        (("Forget that I live in Gdańsk.",), ""),
        (("I am pregnant.", "Forget everything I told you about being pregnant."), ""),
        (("Forget that movie, it was bad.",), ""),
        (("Ignore that if you are busy.",), ""),
    ],
)
async def test_a_line_of_this_conversation_is_withdrawn_and_no_other(
    services: AppServices, session: ChatSession, lines: tuple[str, ...], remains: str
):
    await say(services, session, "I have a brother called Aleks.")
    for line in lines:
        await say(services, session, line)
    await archive(services, session)
    text = await told(services)
    assert "pregnant" not in text
    assert "Aleks" in text
    assert sorted({"Tomas lives in Kraków.", "Tomas works as a carpenter."} - set(await known(services))) == []
    assert not remains or remains in await known(services)


async def test_the_next_prompt_does_not_contain_what_was_withdrawn(services: AppServices, session: ChatSession):
    await say(services, session, "I am pregnant.")
    await request(services, session, "Forget that.")
    turn = await services.turn_loader.load(session.guid, None)
    assert "pregnant" in " ".join(message.content for message in turn.rows.messages)
    assert "pregnant" not in " ".join(message.content for message in turn.messages)


async def test_of_everything_about_a_subject_the_user_chooses(services: AppServices, session: ChatSession):
    forgotten = await request(services, session, "Forget everything you know about me.")
    assert len(await known(services)) == 2
    candidates = forgotten.candidates
    assert len(candidates) == 2

    await services.forgetting.forget_chosen(forgotten, [fact.guid for fact in candidates if "Kraków" in fact.fact])
    assert await known(services) == ["Tomas works as a carpenter."]
    assert "Kraków" not in await told(services)
    await services.forgetting.undo(forgotten)
    assert len(await known(services)) == 2


async def test_the_subject_of_work_offers_the_facts_about_it(services: AppServices, session: ChatSession):
    forgotten = await request(services, session, "Forget everything about my job.")
    assert [fact.fact for fact in forgotten.candidates] == ["Tomas works as a carpenter."]


async def test_an_incognito_conversation_forgets_what_was_stored_and_stores_nothing_of_itself(
    services: AppServices, past: ChatSession
):
    session = await services.sessions.start_incognito(MIRA)
    await request(services, session, "Forget that I live in Kraków.")
    assert await known(services) == ["Tomas works as a carpenter."]
    assert all(not message.withdrawn for message in await services.sessions.page(session.guid, 0, 9))


async def test_an_archived_summary_is_made_again_without_it(services: AppServices, past: ChatSession, session: ChatSession):
    await request(services, session, "Forget that I live in Kraków.")
    await services.archive_queue.finish()
    parts = await services.archive_queue.parts(past.guid)
    assert SessionPart.SUMMARY in parts
    assert "carpenter" in (await services.sessions.open(past.guid)).content


async def test_the_reply_that_says_what_it_forgets_is_withdrawn_too(services: AppServices, says: Callable[..., object]):
    await says("Aye.", "I will forget that you live in Kraków, Tomas. How is the weather?")
    session = await services.sessions.new(MIRA)
    await say(services, session, "I have a brother called Aleks, who plays the cello.")
    await request(services, session, "Forget that I live in Kraków.")
    await archive(services, session)
    text = await told(services)
    assert "Kraków" not in text
    assert "weather" in text


async def test_an_off_the_record_line_leaves_what_was_known_before(services: AppServices, session: ChatSession):
    await say(services, session, "I work as a carpenter. This stays off the record.")
    assert len(await known(services)) == 2


async def test_every_line_that_says_so_is_withdrawn_however_many(services: AppServices, session: ChatSession):
    moment = now()
    lines = [
        Message(
            session_id=session.guid,
            role=Role.USER,
            speaker_name="Tomas",
            time=moment,
            alternatives=[Alternative(content=f"I live in Kraków, house {n}.")],
        )
        for n in range(90)
    ]
    await services.session_store.add_messages(lines)
    await services.indexing.index_all_pending()
    other = await services.sessions.new(MIRA)
    await say(services, other, "Forget that I live in Kraków.")
    assert "Kraków" not in await told(services)


async def test_every_persona_of_a_group_forgets(services: AppServices, past: ChatSession):
    await services.fact_store.save_facts("guest", ExtractedFact(fact="Tomas lives in Kraków.", subject="Tomas"))
    session = await services.sessions.new(MIRA)
    await services.sessions.set_guests(session.guid, ["guest"])
    forgetting = services.forgetting
    asked = [Alternative(content="Forget that I live in Kraków.")]
    message = Message(session_id=session.guid, role=Role.USER, speaker_name="Tomas", alternatives=asked)
    message = await services.session_store.add_message(message)
    await forgetting.follow_request(message)
    assert await services.facts.facts_of("guest") == []
    assert await known(services) == ["Tomas works as a carpenter."]


async def test_a_fact_restored_from_the_trash_is_read_again_in_its_lines(
    services: AppServices, past: ChatSession, session: ChatSession
):
    forgotten = await request(services, session, "Forget that I live in Kraków.")
    services.forgetting.forgotten.clear()  # as after a restart
    item = next(item for item in await services.trash.list_items() if item.id == str(forgotten.facts[0].guid))
    await services.trash.restore(item)
    await services.archive_queue.update(past.guid)
    assert await known(services) == ["Tomas lives in Kraków.", "Tomas works as a carpenter."]


async def test_what_was_never_known_is_not_learnt_from_the_request(services: AppServices, session: ChatSession):
    forgotten = await request(services, session, "Forget that I was in prison.")
    assert not forgotten.facts
    assert not forgotten.lines
    await say(services, session, "My brother Aleks plays the cello.")
    await archive(services, session)
    assert "prison" not in await told(services)


async def test_what_is_known_of_somebody_else_remains(services: AppServices, past: ChatSession, session: ChatSession):
    other = ExtractedFact(fact="Ana lives in Kraków.", subject="Tomas")
    relative = ExtractedFact(fact="Tomas's sister Ines lives in Kraków.", subject="Tomas")
    await services.fact_store.save_facts(MIRA, other, relative)
    await say(services, session, "Ana lives in Kraków.")
    forgotten = await request(services, session, "Forget that I live in Kraków.")
    assert [fact.fact for fact in forgotten.facts] == ["Tomas lives in Kraków."]
    assert forgotten.lines == {
        message.id for message in await services.sessions.page(past.guid, 0, 9) if message.content == HOME
    }


async def test_a_fact_that_a_model_worded_otherwise_is_the_same_value(services: AppServices, session: ChatSession):
    fact = ExtractedFact(fact="Tomas is a carpenter by trade.", subject="Tomas", key="job")
    await services.fact_store.save_facts(MIRA, fact)
    forgotten = await request(services, session, "Forget that I work as a carpenter.")
    assert "Tomas is a carpenter by trade." in [fact.fact for fact in forgotten.facts]


async def test_memories_made_by_the_program_go_and_come_back_with_it(services: AppServices, session: ChatSession):
    memory = MemoryUnit(content="Tomas: “I live in Kraków.”", made_by=KEY_MOMENTS)
    own = MemoryUnit(content="I live in Kraków, wrote Tomas.")
    await services.memory_cache.save_memories(MIRA, memory, own)
    forgotten = await request(services, session, "Forget that I live in Kraków.")
    assert [one.guid for one in await services.memory_store.memories_of(MIRA)] == [own.guid]
    await services.forgetting.undo(forgotten)
    assert {one.guid for one in await services.memory_store.memories_of(MIRA)} == {memory.guid, own.guid}


async def test_the_answer_to_a_question_is_withdrawn_with_what_it_means(services: AppServices, says: Callable[..., object]):
    await says("Where do you live, Tomas?", "Nice.", "Aye.")
    session = await services.sessions.new(MIRA)
    await say(services, session, "I have a brother called Aleks, who plays the cello.")
    await say(services, session, "In Kraków.")
    await request(services, session, "Forget that I live in Kraków.")
    await archive(services, session)
    text = await told(services)
    assert "Kraków" not in text
    assert "Aleks" in text


async def test_an_attribute_is_forgotten_by_its_name(services: AppServices, session: ChatSession):
    await say(services, session, "I'm 34. I have a brother called Aleks.")
    await request(services, session, "Forget how old I am.")
    await archive(services, session)
    assert "34" not in " ".join(await known(services))
    assert "Aleks" in await told(services)


async def test_what_he_does_is_not_what_the_user_does(services: AppServices, session: ChatSession):
    facts = [ExtractedFact(fact=f"{name} is married.", subject="Tomas") for name in ("Tomas", "Ben")]
    await services.fact_store.save_facts(MIRA, *facts)
    forgotten = await request(services, session, "Forget that he is married.")
    assert [fact.fact for fact in forgotten.facts] == ["Ben is married."]


async def test_of_several_facts_that_one_word_may_mean_the_user_chooses(services: AppServices, session: ChatSession):
    facts = [ExtractedFact(fact=f"{name} is married.", subject="Tomas") for name in ("Ana", "Ben")]
    await services.fact_store.save_facts(MIRA, *facts)
    forgotten = await request(services, session, "Forget that she is married.")
    assert not forgotten.facts
    assert {fact.fact for fact in forgotten.candidates} == {"Ana is married.", "Ben is married."}


async def test_erasing_and_undoing_one_request_leaves_the_other(services: AppServices, session: ChatSession):
    await say(services, session, "I am pregnant. I work as a carpenter.")
    first = await request(services, session, "Forget that I'm pregnant.")
    second = await request(services, session, "Forget that I work as a carpenter.")
    await services.forgetting.erase(first)
    assert WORK in [message.content for message in await services.sessions.page(session.guid, 0, 9)]
    await services.forgetting.undo(second)
    assert "Tomas works as a carpenter." in await known(services)
    await services.forgetting.erase(second)
    await services.forgetting.undo(second)
    assert await known(services) == ["Tomas lives in Kraków."]


@pytest.mark.parametrize("is_all", [True, False])
async def test_what_the_program_made_of_a_subject_goes_once_all_about_it_is_chosen(
    services: AppServices, session: ChatSession, is_all: bool
):
    facts = [ExtractedFact(fact=f"Tomas {what} sailing.", subject="Tomas") for what in ("loves", "teaches")]
    await services.fact_store.save_facts(MIRA, *facts)
    made = MemoryUnit(content="We spoke of sailing.", made_by="journal", sources=[f"session:{session.guid}"])
    await services.memory.memorize(MIRA, made, check=False)
    forgotten = await request(services, session, "Please forget what I told you about sailing.")
    assert len(forgotten.candidates) == 2

    await services.forgetting.forget_chosen(forgotten, [fact.guid for fact in facts[: 2 if is_all else 1]])

    assert (made.guid in {memory.guid for memory in await services.memory.memories(MIRA)}) is not is_all


async def test_what_is_only_extended_by_what_is_forgotten_is_valid_again_and_goes_back_with_undo(
    services: AppServices, says: Callable[..., object]
):
    older, newer = (
        ExtractedFact(fact=f"Tomas's sister Ana lives in Braga{more}.", subject="Tomas")
        for more in ("", " with her secret girlfriend Rosa")
    )
    await services.fact_store.save_facts(MIRA, *supersede(older, newer, SupersededBecause.EXTENDED))
    await says(*["Aye."] * 9)
    session = await services.sessions.new(MIRA)
    assert await known(services) == [newer.fact]
    forgotten = await request(services, session, "Forget that Ana has a secret girlfriend called Rosa.")
    assert [fact.fact for fact in forgotten.facts] == [newer.fact]
    assert await known(services) == [older.fact]

    await services.forgetting.undo(forgotten)
    assert await known(services) == [newer.fact]
    again = await request(services, session, "Forget that my sister Ana lives in Braga.")
    assert len(again.facts) == 2
    assert await known(services) == []
    await services.facts.restore(newer.guid)
    assert await known(services) == [newer.fact]


async def test_a_message_that_is_edited_into_a_request_is_followed(services: AppServices, session: ChatSession):
    asked = (await say(services, session, "I sailed to Hel.")).asked
    await say(services, session, "My brother Aleks plays the cello.")
    await services.message_editing.edit(asked.id, "Forget that I live in Kraków.")
    assert await known(services) == ["Tomas works as a carpenter."]
    await archive(services, session)
    assert "Kraków" not in await told(services)
    assert "Aleks" in await told(services)


async def test_an_edited_request_points_at_the_line_before_it(services: AppServices, session: ChatSession):
    await say(services, session, "I am pregnant.")
    asked = (await say(services, session, "I sailed to Hel.")).asked
    await say(services, session, "My brother Aleks plays the cello.")
    await services.message_editing.edit(asked.id, "Please forget that.")
    await archive(services, session)
    text = await told(services)
    assert "pregnant" not in text
    assert "Aleks" in text


async def test_a_list_shows_no_words_that_were_to_be_forgotten(services: AppServices, session: ChatSession):
    async def shown() -> str:
        summaries = {summary.guid: summary for summary in await services.sessions.list(MIRA)}
        return summaries[session.guid].first_words + summaries[session.guid].preview

    await say(services, session, "I am pregnant. My cat is ill.")
    await say(services, session, "My brother Aleks plays the cello.")
    assert "pregnant" in await shown()
    forgotten = await request(services, session, "Forget that I am pregnant.")
    assert "pregnant" not in await shown()
    assert "cello" in await shown()
    changed = list[str]()
    services.sessions.changed.add(changed.append)
    await services.forgetting.erase(forgotten)
    assert "pregnant" not in await shown()
    assert "cat" in await shown()
    assert MIRA in changed


async def test_of_chosen_facts_what_they_only_extend_remains(services: AppServices, session: ChatSession):
    texts = ("Tomas's sister Ana lives in Braga", "Tomas's sister Ana loves sailing", "Tomas's sister Ana sails with Rosa")
    older, other, newest = (ExtractedFact(fact=f"{text}.", subject="Tomas") for text in texts)
    newer = ExtractedFact(fact="Tomas's sister Ana lives in Braga with Rosa.", subject="Tomas")
    await services.fact_store.save_facts(MIRA, other, newest, *supersede(older, newer, SupersededBecause.EXTENDED))
    forgotten = await request(services, session, "Forget what I told you about Rosa.")
    assert {fact.fact for fact in forgotten.candidates} == {newer.fact, newest.fact}
    await services.forgetting.forget_chosen(forgotten, [newer.guid, newest.guid])
    assert {older.fact, other.fact} <= set(await known(services))
    assert "Rosa" not in " ".join(await known(services))

    everything = await request(services, session, "Forget everything about Ana.")
    await services.forgetting.forget_chosen(everything, [fact.guid for fact in everything.candidates])
    assert "Ana" not in " ".join(await known(services))


@pytest.mark.parametrize(("asked", "left"), [("sesame", ["Tomas is allergic to peanuts."]), ("peanuts and sesame", [])])
async def test_of_a_merged_fact_the_part_that_is_not_meant_is_valid_again(
    services: AppServices, says: Callable[..., object], asked: str, left: list[str]
):
    await says(*["Aye."] * 40)
    past = await services.sessions.new(MIRA)
    for what in ("peanuts", "sesame"):
        await say(services, past, f"I am allergic to {what}.")
    await archive(services, past)
    parts = [fact for fact in await services.facts.facts_of(MIRA) if "allergic" in fact.fact]
    assert len(parts) == 2
    await services.facts.merge([part.guid for part in parts], "Tomas is allergic to peanuts and sesame.")
    session = await services.sessions.new(MIRA)
    forgotten = await request(services, session, f"Forget that I am allergic to {asked}.")
    await services.forgetting.forget_chosen(forgotten, [fact.guid for fact in forgotten.candidates])
    assert await known(services) == left
    await services.forgetting.erase(forgotten)
    assert await known(services) == left
    assert ("peanuts" in await told(services)) is bool(left)


@pytest.mark.parametrize(
    ("fact", "asked"),
    [
        ("Tomas has a cat called Sooty.", "Forget my cat."),
        ("Tomas has a cat called Sooty.", "Forget about my cat Sooty."),
        ("Tomas has a daughter called Lena.", "Please forget Lena."),
        ("Tomas has a cat called Sooty.", "Delete the note about my cat."),
        ("Tomas is allergic to shellfish.", "Remove my allergy from your notes."),
        ("Tomas was in prison for two years.", "Forget the prison thing."),
        ("Tomas is divorced.", "Please forget my divorce."),
    ],
)
async def test_of_a_named_thing_or_person_the_user_chooses_and_nothing_is_learnt(
    services: AppServices, session: ChatSession, fact: str, asked: str
):
    await services.fact_store.save_facts(MIRA, ExtractedFact(fact=fact, subject="Tomas"))
    before = await known(services)
    forgotten = await request(services, session, asked)
    assert [one.fact for one in forgotten.candidates] == [fact]
    await say(services, session, "I have a brother called Aleks, who plays the cello.")
    await archive(services, session)
    assert [one for one in await known(services) if "Aleks" not in one] == before
    assert "forget" not in (await told(services)).casefold()
    await services.forgetting.forget_chosen(forgotten, [one.guid for one in forgotten.candidates])
    assert fact not in await known(services)


@pytest.mark.parametrize(
    ("asked", "gone"),
    [
        ("What I told you about carpenters, forget it.", "carpenter"),
        ("About Kraków: please forget that.", "Kraków"),
        ("It would be best if you forgot that I live in Kraków.", "Kraków"),
        ("Do not store where I live.", "Kraków"),
    ],
)
async def test_topic_first_and_indirect_requests_are_followed(
    services: AppServices, session: ChatSession, asked: str, gone: str
):
    forgotten = await request(services, session, asked)
    await services.forgetting.forget_chosen(forgotten, [fact.guid for fact in forgotten.candidates])
    assert gone not in await told(services)
    assert len(await known(services)) == 1


@pytest.mark.parametrize(
    ("said", "kept", "asked", "gone"),
    [
        ("私はクラクフに住んでいます。", "私は大工です。", "私がクラクフに住んでいることを忘れてください。", "クラクフ"),
        ("私はクラクフに住んでいます。", "私は大工です。", "クラクフについて話したことは忘れて。", "クラクフ"),
        ("我住在克拉科夫。", "我喜欢喝咖啡。", "请忘记我住在克拉科夫。", "克拉科夫"),
        ("Mieszkam w Krakowie.", "Pracuję jako stolarz.", "Zapomnij, co ci mówiłem o Krakowie.", "Krakowie"),
        ("Krakow jest piękny.", "Pracuję jako stolarz.", "Zapomnij, co ci mówiłem o Krakowie.", "Krakow"),
    ],
)
async def test_lines_of_other_conversations_are_found_in_other_languages(
    services: AppServices, says: Callable[..., object], said: str, kept: str, asked: str, gone: str
):
    await says(*["Aye."] * 20)
    past = await services.sessions.new(MIRA)
    await say(services, past, said)
    await say(services, past, kept)
    await archive(services, past)
    await services.indexing.index_all_pending()
    session = await services.sessions.new(MIRA)
    await request(services, session, asked)
    assert gone not in await told(services)
    assert kept.strip(".。")[-4:] in await told(services)


async def test_a_turn_that_is_stopped_once_the_message_is_stored_forgets_all_the_same(
    services: AppServices, session: ChatSession
):
    told_of = list[MemoriesForgotten]()
    services.forgetting.changed.add(told_of.append)
    turn = services.chat.send(session.guid, "Forget that I live in Kraków.")
    assert isinstance(await anext(turn), MessageStored)
    await turn.aclose()
    assert await known(services) == ["Tomas works as a carpenter."]
    assert [fact.fact for forgotten in told_of for fact in forgotten.facts] == ["Tomas lives in Kraków."]


async def test_a_turn_that_is_stopped_while_facts_are_forgotten_forgets_all_and_tells_of_it(
    services: AppServices, session: ChatSession, monkeypatch: pytest.MonkeyPatch
):
    told_of, begun, withdraw = list[MemoriesForgotten](), asyncio.Event(), services.facts.forget_facts

    async def forget_slowly(*given: object) -> None:
        begun.set()
        await asyncio.sleep(0.05)
        await withdraw(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(services.facts, "forget_facts", forget_slowly)
    services.forgetting.changed.add(told_of.append)
    turn = services.chat.send(session.guid, "Forget that I live in Kraków.")
    reading = asyncio.ensure_future(_read(turn))
    await begun.wait()
    reading.cancel()
    await asyncio.wait({reading})
    await turn.aclose()
    assert await known(services) == ["Tomas works as a carpenter."]
    assert [fact.fact for forgotten in told_of for fact in forgotten.facts] == ["Tomas lives in Kraków."]


async def _read(turn: AsyncIterator[TurnEvent]) -> None:
    async for _event in turn:
        pass
