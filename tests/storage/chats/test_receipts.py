"""A receipt is kept as long as its reply; the text of a prompt is deleted with anything that may be in it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest

from lethe_app.config.options import PromptLayout
from lethe_app.domain.chat import Alternative, ChatSession, Message, PartRecord, PartState, Role, SessionPart
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.prompt import (
    CacheMiss,
    CutReason,
    PartTokens,
    PrefillCost,
    PromptCut,
    PromptPart,
    PromptSpan,
    Receipt,
    ReceiptEntry,
)
from lethe_app.storage.chats.archive_jobs import ArchiveJobs
from lethe_app.storage.chats.receipts import Receipts, ReplyReceipt, count_deletions, save_receipt
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database
from lethe_app.storage.memory.facts import FactStore
from lethe_app.storage.memory.memories import MemoryStore
from tests.storage.scenes import purge_trash, store_alternative

Say = Callable[..., Message]
SHARES = (
    PartTokens(PromptPart.PERSONA, 70),
    PartTokens(PromptPart.MEMORIES, 20, 9, (PromptCut(CutReason.NO_SPACE, 1, 3),)),
)
ENTRY = ReceiptEntry(
    Receipt(SHARES, 90, 1000, 100, "model", 3, PromptLayout.DEPTH),
    PrefillCost(40, 50, 2, 30, CacheMiss.MEMORIES_AMONG_MESSAGES),
)
SPANS = [
    PromptSpan(PromptPart.TEMPLATE, "<|im_start|>"),
    PromptSpan(PromptPart.MEMORIES, "Tomas hid the key 👩‍👧 \x00 \ud83d."),
]


@pytest.fixture
def receipts(database: Database, monkeypatch: pytest.MonkeyPatch) -> Receipts:
    monkeypatch.setattr("lethe_app.storage.chats.receipts.MAX_STORED_PROMPTS", 3)
    return Receipts(database)


@pytest.fixture
async def reply(chats: SessionStore, say: Say) -> Message:
    await chats.add_message(say("Where is it?"))
    return await chats.add_message(say("Hidden.", Role.ASSISTANT))


async def stored_deletions(database: Database, persona_id: str = "mara") -> int:
    return await database.run(lambda connection: count_deletions(connection, persona_id))


async def keep(
    database: Database, message: Message, persona_id: str = "mara", entry: ReceiptEntry = ENTRY, deletions: int | None = None
) -> None:
    known = deletions if deletions is not None else await stored_deletions(database, persona_id)
    receipt = ReplyReceipt(entry, persona_id, SPANS, known)
    await database.run(lambda connection: save_receipt(connection, message.id, receipt))


async def spans_of(receipts: Receipts, message: Message) -> tuple[PromptSpan, ...]:
    return await receipts.spans(message.id, message.shown)


async def test_a_stored_receipt_can_be_read(receipts: Receipts, reply: Message, database: Database):
    await keep(database, reply)

    assert await receipts.get(reply.id, 0) == ENTRY
    assert await spans_of(receipts, reply) == tuple(SPANS)
    assert await receipts.get(reply.id, 1) is None


async def test_every_alternative_has_its_own_receipt(
    receipts: Receipts, chats: SessionStore, reply: Message, database: Database
):
    await keep(database, reply)
    await store_alternative(database, reply.id, Alternative(content="Under the stone."))
    other = ReceiptEntry(Receipt((), 5, 1000, 100, "model"))
    await keep(database, reply, entry=other)

    assert (await receipts.get(reply.id, 0), await receipts.get(reply.id, 1)) == (ENTRY, other)


async def test_a_receipt_follows_its_alternative_when_another_is_removed(
    receipts: Receipts, chats: SessionStore, reply: Message, database: Database
):
    await store_alternative(database, reply.id, Alternative(content="Under the stone."))
    await keep(database, reply)

    await chats.remove_alternative(reply.id, 0)

    assert await receipts.get(reply.id, 0) == ENTRY
    assert await receipts.spans(reply.id, 0) == tuple(SPANS)


async def test_only_the_newest_prompts_but_all_receipts_are_kept(
    receipts: Receipts, chats: SessionStore, say: Say, database: Database
):
    replies = [await chats.add_message(say(f"{number}", Role.ASSISTANT)) for number in range(5)]
    for reply in replies:
        await keep(database, reply)

    assert [bool(await spans_of(receipts, reply)) for reply in replies] == [False, False, True, True, True]
    assert all([await receipts.get(reply.id, 0) for reply in replies])


async def test_nothing_is_stored_for_a_deleted_message(
    receipts: Receipts, chats: SessionStore, reply: Message, database: Database
):
    await chats.delete_message(reply.id)

    await keep(database, reply)

    assert await receipts.get(reply.id, 0) is None


@pytest.mark.parametrize("erased", ["message", "session"])
async def test_receipt_and_prompt_are_erased_with_their_message_or_session(
    receipts: Receipts, chats: SessionStore, database: Database, session: ChatSession, reply: Message, erased: str
):
    await keep(database, reply)
    await (chats.delete_message(reply.id) if erased == "message" else chats.delete_session(session.guid))

    await purge_trash(database, 1, datetime.now(UTC) + timedelta(days=3))

    rows = await database.run(lambda c: [*c.execute("SELECT * FROM receipts"), *c.execute("SELECT * FROM kept_prompts")])
    assert rows == []


async def fact_forgotten(database: Database, _session: ChatSession) -> None:
    fact = ExtractedFact(fact="Tomas hid the key.")
    await FactStore(database).save_facts("mara", fact)
    await FactStore(database).forget_facts("mara", [fact.guid], [])


async def fact_reworded(database: Database, _session: ChatSession) -> None:
    fact = ExtractedFact(fact="Tomas hid the key.")
    await FactStore(database).save_facts("mara", fact)
    await FactStore(database).save_facts("mara", fact.model_copy(update={"fact": "Tomas hid nothing.", "made_by": MadeBy.USER}))


async def memory_forgotten(database: Database, _session: ChatSession) -> None:
    memory = MemoryUnit(name="Key", content="Tomas hid the key.")
    await MemoryStore(database).save_memories("mara", memory)
    await MemoryStore(database).delete([memory.guid])


async def memory_edited(database: Database, _session: ChatSession) -> None:
    memory = MemoryUnit(name="Key", content="Tomas hid the key.")
    await MemoryStore(database).save_memories("mara", memory)
    await MemoryStore(database).save_memories("mara", memory.model_copy(update={"content": "Nothing."}))


async def message_deleted(database: Database, session: ChatSession) -> None:
    await SessionStore(database).delete_message((await SessionStore(database).page(session.guid, 0, 1))[0].id)


async def session_deleted(database: Database, _session: ChatSession) -> None:
    chats = SessionStore(database)
    other = await chats.add_session(ChatSession(persona_id="mara"))
    await chats.delete_session(other.guid)


async def summary_written_by_the_user(database: Database, session: ChatSession) -> None:
    await ArchiveJobs(database).save_value(
        PartRecord(session.guid, SessionPart.SUMMARY, PartState.DONE, MadeBy.USER), content="Nothing."
    )


FORGETTING = [
    fact_forgotten,
    fact_reworded,
    memory_forgotten,
    memory_edited,
    message_deleted,
    session_deleted,
    summary_written_by_the_user,
]


@pytest.mark.parametrize("forget", FORGETTING, ids=lambda forget: forget.__name__)
async def test_a_deletion_deletes_all_stored_prompts_of_the_persona(
    forget: Callable[[Database, ChatSession], Awaitable[None]],
    receipts: Receipts,
    database: Database,
    session: ChatSession,
    reply: Message,
):
    await keep(database, reply)

    await forget(database, session)

    assert await spans_of(receipts, reply) == ()
    assert await receipts.get(reply.id, 0) == ENTRY


@pytest.mark.parametrize("forget", FORGETTING, ids=lambda forget: forget.__name__)
async def test_a_prompt_built_before_a_deletion_is_not_stored_after_it(
    forget: Callable[[Database, ChatSession], Awaitable[None]],
    receipts: Receipts,
    database: Database,
    session: ChatSession,
    reply: Message,
):
    begun = await stored_deletions(database)
    await forget(database, session)

    await keep(database, reply, deletions=begun)

    assert await spans_of(receipts, reply) == ()
    assert await receipts.get(reply.id, 0) == ENTRY


async def test_prompts_of_other_personas_stay(receipts: Receipts, database: Database, session: ChatSession, reply: Message):
    await keep(database, reply, "somebody-else")

    for forget in (fact_forgotten, memory_forgotten):
        await forget(database, session)

    assert await spans_of(receipts, reply) == tuple(SPANS)


async def test_learning_and_archiving_delete_no_prompt(
    receipts: Receipts, database: Database, session: ChatSession, chats: SessionStore, reply: Message
):
    await keep(database, reply)
    fact = ExtractedFact(fact="Tomas hid the key.")
    await FactStore(database).save_facts("mara", fact)
    await FactStore(database).save_facts(
        "mara", fact.model_copy(update={"fact": "Tomas hid the key again.", "superseded": True})
    )
    await MemoryStore(database).save_memories("mara", MemoryUnit(name="Key", content="Tomas hid the key."))
    await ArchiveJobs(database).save_value(
        PartRecord(session.guid, SessionPart.SUMMARY, PartState.DONE, MadeBy.RULES), content="A key."
    )
    await chats.delete_session((await chats.add_session(ChatSession(persona_id="other"))).guid)

    assert await spans_of(receipts, reply) == tuple(SPANS)


async def test_all_stored_prompts_of_a_persona_can_be_deleted(receipts: Receipts, reply: Message, database: Database):
    await keep(database, reply)

    await receipts.delete_prompts("mara")

    assert await spans_of(receipts, reply) == ()


async def test_a_receipt_of_another_version_counts_as_missing(receipts: Receipts, database: Database, reply: Message):
    await keep(database, reply)
    await database.run(lambda c: c.execute("UPDATE receipts SET value = '{}'").rowcount)
    await database.run(lambda c: c.execute("UPDATE kept_prompts SET spans = x'00ff'").rowcount)

    assert await receipts.get(reply.id, 0) is None
    assert await spans_of(receipts, reply) == ()
