"""What is deleted permanently is in no file of the home any more: searched for in the raw bytes."""

from __future__ import annotations

import asyncio
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.changes import ChangedRecords, RecordedChange, TrashKind
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import now
from lethe_app.services.maintenance.backups import make_daily_backup
from lethe_app.services.maintenance.erasure import erase_backups
from lethe_app.storage.row_mapping import column_values, save_row
from tests.services.past_sessions import archive
from tests.services.turns import MIRA, Talk, add_memory, say

CANARY = "zanzibarite"
FILLER = "The tide was slow, and the harbour lay still for hours. " * 12


def content_of(path: Path) -> bytes:
    """The bytes of a file, of an archive those of all its members."""
    if not zipfile.is_zipfile(path):
        return path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        return b"".join(archive.read(name) for name in archive.namelist())


async def files_with(services: AppServices, word: str = CANARY) -> list[str]:
    """The files of the home that contain the word, whatever its capitals."""
    home = services.paths.home

    def search() -> list[str]:
        return sorted(
            str(path.relative_to(home))
            for path in home.rglob("*")
            if path.is_file() and word.encode() in content_of(path).lower()
        )

    return await asyncio.to_thread(search)


@pytest.fixture
async def session(services: AppServices, says: Callable[..., object]) -> ChatSession:
    """A conversation about the canary among others, archived, with a fact and a memory of it."""
    await says(*[f"“I see. {CANARY.title()}, then.”", *["“Aye.”"] * 20])
    session = await services.sessions.new(MIRA)
    await say(services, session, f"My sister collects {CANARY.title()}. I am allergic to {CANARY}.")
    await say(services, session, FILLER)
    await archive(services, session)
    await services.indexing.index_all_pending()
    other = await services.sessions.new(MIRA)
    await say(services, other, f"What do you know of {CANARY}?")
    return session


async def erase(services: AppServices, *kinds: TrashKind) -> None:
    items = [item for item in await services.trash.list_items() if not kinds or item.kind in kinds]
    await services.trash.erase(items)


async def test_a_conversation_leaves_nothing(talk: Talk):
    services = talk.services
    assert await files_with(services)
    for summary in await services.sessions.list(MIRA):
        await services.sessions.delete(summary.guid)

    await erase(services)

    assert await files_with(services) == []


async def test_a_message_leaves_nothing_and_its_conversation_remains(services: AppServices, says: Callable[..., object]):
    await says(*["“Aye.”"] * 20)
    session = await services.sessions.new(MIRA)
    await say(services, session, "I am a carpenter in Porto.")
    turn = await say(services, session, f"My sister collects {CANARY.title()}. I am allergic to {CANARY}.")
    await say(services, session, FILLER)
    await archive(services, session)
    await services.indexing.index_all_pending()
    other = await services.sessions.new(MIRA)
    await say(services, other, "What do you know of my sister?")
    await services.message_editing.delete(session.guid, turn.asked.id)

    await erase(services, TrashKind.MESSAGE)

    assert await files_with(services) == []
    assert any("carpenter" in fact.fact for fact in await services.facts.facts_of(MIRA))
    assert "Porto" in (await services.sessions.open(session.guid)).content


async def test_an_objection_goes_with_the_message_at_which_it_was_made(services: AppServices, says: Callable[..., object]):
    await says(*["“Aye.”"] * 20)
    memory = await add_memory(services, keywords_main=["lamp"])
    session = await services.sessions.new(MIRA)
    turn = await say(services, session, f"Is the lamp made of {CANARY}?")
    await services.objections.add_objection(MIRA, memory.guid, turn.asked)
    await services.sessions.delete(session.guid)

    await erase(services)

    assert await files_with(services) == []
    assert await services.objections.objections_of(MIRA) == []


async def test_a_memory_leaves_nothing(services: AppServices, says: Callable[..., object]):
    memory = await add_memory(services, content=f"The {CANARY} is in the drawer.")
    await services.indexing.index_all_pending()
    await services.memory.forget_memory(memory.guid)

    await erase(services)

    assert await files_with(services) == []


async def test_a_change_that_a_task_recorded_leaves_nothing(services: AppServices):
    memory = await add_memory(services, content=f"The {CANARY} is in the drawer.")
    records = ChangedRecords(memories=[memory]).model_dump_json()
    change = RecordedChange(persona_id=MIRA, what="merged", before=records, after=ChangedRecords().model_dump_json())
    await services.database.run(
        lambda connection: save_row(connection, "changes", "id", column_values(change, tuple(RecordedChange.model_fields)))
    )
    await services.memory.forget_memory(memory.guid)

    await erase(services)

    assert await files_with(services) == []


async def test_a_persona_leaves_nothing(talk: Talk):
    await talk.add_memory(content=f"The {CANARY} is in the drawer.")
    await talk.services.library.delete_persona(MIRA)

    await erase(talk.services)

    assert await files_with(talk.services) == []


async def test_a_document_leaves_nothing(services: AppServices, tmp_path: Path):
    path = tmp_path / "stones.txt"
    await asyncio.to_thread(path.write_text, f"{CANARY} is blue. {FILLER}" * 50)
    document = await services.documents.add(MIRA, path)
    await services.indexing.index_all_pending()
    assert await files_with(services)

    await services.documents.remove([document.guid])

    assert await files_with(services) == []


async def test_what_one_persona_remembers_is_erased_and_the_persona_remains(talk: Talk):
    services = talk.services
    await talk.add_memory(content=f"The {CANARY} is in the drawer.")
    await services.trash.erase([])
    other = await services.sessions.new("aiko")

    await services.erasure.erase([MIRA])

    assert await files_with(services) == []
    assert (await services.library.persona(MIRA)).name == "Mira"
    assert await services.sessions.list(MIRA) == []
    assert [summary.guid for summary in await services.sessions.list("aiko")] == [other.guid]


async def test_everything_is_erased_with_the_backups(talk: Talk):
    services = talk.services
    await make_daily_backup(services.paths.home)
    await services.sessions.new("aiko")

    await services.erasure.erase_all()
    assert [Path(name).parts[0] for name in await files_with(services)] == ["backups"]
    assert await erase_backups(services.database.path) == 1

    assert await files_with(services) == []
    assert await services.sessions.list("aiko") == []


async def test_the_reminder_that_a_message_asked_for_goes_with_it(services: AppServices, says: Callable[..., object]):
    await says("“Aye.”")
    session = await services.sessions.new(MIRA)
    asked = (await say(services, session, "Remind me to feed the zinnober cat in 3 days.")).asked
    own = await services.reminders.create_reminder(MIRA, "Call the vet.", now() + timedelta(days=3))

    await services.message_editing.delete(session.guid, asked.id)
    await services.trash.erase(await services.trash.list_items())

    assert [reminder.guid for reminder in await services.reminders.reminders_of(MIRA)] == [own.guid]
