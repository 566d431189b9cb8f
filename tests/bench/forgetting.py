"""What is deleted for good: is it in any file of the home any more, and does anything it said still count as true?

The real engine and embedder talk about a canary, which then lies in a conversation, in facts that extend, merge and reword
others, in its summary and key moments, in notebooks, in the index, in saved states of the model, in recorded prompts, in a
backup and in one that was cut off. Each of the `ways` deletes what says it and empties the Trash; then every file is searched
for its words, its tokens and the vectors of its sentences. `planted` counts the pairs of a way and one of the `places` where
it was before, `leaked` those where it is afterwards. `still_valid` are facts with its words that are valid although it is
deleted, before the Trash is emptied; `lost` are older facts that ought to be valid again by then and are not.
"""

from __future__ import annotations

import argparse
import asyncio
import sqlite3
import tempfile
import zipfile
import zlib
from array import array
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from lethe_app.app import build
from lethe_app.brain.notebooks.document import Conclusion
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession, Message
from lethe_app.domain.clock import now
from lethe_app.domain.model import LoadOptions
from lethe_app.paths import Paths
from lethe_app.services.maintenance.backups import back_up
from lethe_app.services.maintenance.erasure import erase_backups
from tests.bench._setup import PERSONAS, starter_engine, starter_model
from tests.bench.report import Measured, Row, run
from tests.homes import write_personas
from tests.services.maintenance.test_traces import content_of
from tests.services.past_sessions import archive, hold
from tests.services.turns import MIRA, add_memory, say

CANARY = "zanzibarite"
OLDER = ("Braga", "carpenter", "peanuts")
"""Words of what older conversations state, which the canary's extends, replaces or is merged with."""
SAID = (
    f"My sister Ana lives in Braga with her secret girlfriend {CANARY.title()}.",
    f"I work as a {CANARY} dealer now.",
    f"I am allergic to {CANARY}.",
)
ALONE = {"fact": "quillfish", "memory": "marrowstone", "document": "velvetglass", "notebook": "ashwinder"}
"""Further canaries, each in one thing that is deleted by itself."""
ASKED = (
    "What do you know of my sister Ana?",
    "And what am I allergic to, again?",
    "What do I keep in a jar?",
    "What stands in the hall?",
    "Which blue stone is found in rivers?",
    "What sings at dawn?",
)
"""Questions that bring the canaries into prompts without naming them."""
FOLDERS = {
    "backups": "backups",
    "cache/index": "vector files",
    "cache/states": "saved states",
    "logs": "logs",
    "notebooks": "notebooks",
    "personas": "personas",
    "trash": "trash",
    "worldinfo": "worlds",
}
"""Places by folders of the home; any other file is a place by its own name."""
RAW_DATABASE = "raw database"


@dataclass(frozen=True)
class Home:
    """A home in which the canary lies everywhere."""

    services: AppServices
    session: ChatSession
    """The conversation in which it was said."""
    said: tuple[Message, ...]
    """The messages that say it."""
    needles: tuple[bytes, ...]
    """Its letters, tokens and vectors."""


async def delete_lines(home: Home) -> None:
    """Delete each message that says it."""
    for message in home.said:
        await home.services.message_editing.delete(home.session.guid, message.id)


async def edit_lines(home: Home) -> None:
    """Reword each message that says it."""
    for message in home.said:
        await home.services.message_editing.edit(message.id, "The tide was slow.")


async def delete_part(home: Home) -> None:
    """Split the conversation at the first line that says it, and delete the second half."""
    snapshot = await home.services.session_editing.split(home.said[0].id)
    await home.services.session_editing.delete(snapshot.created[0])


async def delete_conversation(home: Home) -> None:
    """Delete the conversation."""
    await home.services.session_editing.delete(home.session.guid)


async def expire(home: Home) -> None:
    """Let the conversation grow older than conversations are kept."""
    await home.services.preferences.set(retention_days=7)
    await home.services.retention.delete_old_sessions()


async def purge(home: Home) -> None:
    """Delete the conversation, and let the Trash grow older than it is kept."""
    await delete_conversation(home)
    await home.services.preferences.set(trash_days=1)
    await home.services.database.run(
        lambda connection: connection.execute(
            "UPDATE memories SET deleted_at = '2020-01-01T00:00:00Z' WHERE deleted_at IS NOT NULL"
        )
    )
    await home.services.trash.purge_expired()


async def delete_persona(home: Home) -> None:
    """Delete the persona with all that it remembers."""
    await home.services.library.delete_persona(MIRA)


async def delete_memories(home: Home) -> None:
    """Delete the memories of a persona that remains."""
    await home.services.erasure.erase([MIRA])


async def delete_everything(home: Home) -> None:
    """Delete all conversations and memories."""
    await home.services.erasure.erase_all()


async def delete_day(home: Home) -> None:
    """Delete the day on which it was said."""
    await home.services.days.erase(home.said[0].time.astimezone().date(), MIRA)


async def forget_fact(home: Home) -> None:
    """Forget a fact."""
    facts = await home.services.facts.facts_of(MIRA)
    await home.services.facts.forget_fact(next(fact.guid for fact in facts if ALONE["fact"] in fact.fact))


async def forget_memory(home: Home) -> None:
    """Forget a memory."""
    memories = await home.services.memory.memories(MIRA)
    await home.services.memory.forget_memory(next(one.guid for one in memories if ALONE["memory"] in one.content))


async def remove_document(home: Home) -> None:
    """Remove a document."""
    documents = await home.services.document_store.documents_of([MIRA])
    await home.services.documents.remove([document.guid for document in documents])


async def delete_notebook(home: Home) -> None:
    """Delete a notebook."""
    notebooks = await home.services.notebooks.notebooks_of(MIRA)
    await home.services.notebooks.delete(MIRA, next(item.name for item in notebooks if item.notebook.title == "Birds"))


async def ask_to_forget(home: Home) -> None:
    """Ask for it in a conversation and erase what was forgotten for good."""
    services = home.services
    session = await services.sessions.new(MIRA)
    asked = (await say(services, session, f"Please forget what I told you about {CANARY}.")).asked
    forgotten = services.forgetting.forgotten[asked.id]
    await services.forgetting.forget_chosen(forgotten, [fact.guid for fact in forgotten.candidates])
    await services.forgetting.erase(forgotten)


WAYS: dict[str, Callable[[Home], Awaitable[object]]] = {
    "lines": delete_lines,
    "edit": edit_lines,
    "part": delete_part,
    "conversation": delete_conversation,
    "retention": expire,
    "trash by age": purge,
    "day": delete_day,
    "persona": delete_persona,
    "persona's memories": delete_memories,
    "everything": delete_everything,
    "asked to forget": ask_to_forget,
    "fact": forget_fact,
    "memory": forget_memory,
    "document": remove_document,
    "notebook": delete_notebook,
}


async def empty_trash(services: AppServices) -> None:
    """Empty the Trash and accept the offer to delete the backups, too."""
    await services.trash.erase(await services.trash.list_items())
    await erase_backups(services.database.path)
    await services.archive_queue.finish()
    await services.indexing.index_all_pending()
    await services.notebook_writer.write_all_pending()
    await services.cache_state.finish()
    await services.trash.scrub()


@asynccontextmanager
async def planted(canary: str = CANARY) -> AsyncIterator[Home]:
    """A home in which a person told of the canary ten days ago and spoke of it since, opened again."""
    with tempfile.TemporaryDirectory() as folder:
        paths = write_personas(Path(folder) / "home", PERSONAS)
        async with running(paths) as services:
            await services.preferences.set(user_persona="tomas", max_reply=16)
            session = await plant(services, Path(folder))
        async with running(paths) as services:
            page = await services.sessions.page(session, 0, 100)
            said = tuple(message for message in page if CANARY in message.content.lower())
            yield Home(services, await services.sessions.open(session), said, await find_needles(services, canary))


@asynccontextmanager
async def running(paths: Paths) -> AsyncIterator[AppServices]:
    """The program with its models loaded."""
    services = await build(paths)
    try:
        await services.embedding.ensure_loaded()
        await services.models.load(starter_model())
        yield services
    finally:
        await services.close()


async def plant(services: AppServices, folder: Path) -> UUID:
    """Say it, have everything made of it that the program makes, and ask about it; return the conversation that says it."""
    days_ago = [now() - timedelta(days=days) for days in (30, 20, 10)]
    filler = "The tide was slow, and the harbour lay still for hours."
    for moment in days_ago[:2]:
        older = await hold(
            services, "My sister Ana lives in Braga.", filler, "I work as a carpenter.", filler, "I am allergic to peanuts.",
            at=moment,
        )  # fmt: skip
        await archive(services, older)
    lines = [line for said in ("I had a slow week.", *SAID) for line in (said, filler)]
    session = await hold(services, *lines, at=days_ago[2])
    await archive(services, session)
    facts = await services.facts.facts_of(MIRA)
    allergies = [fact.guid for fact in facts if "allergic" in fact.fact]
    await services.facts.merge(allergies, f"Tomas is allergic to peanuts and {CANARY}.")
    sources = [f"session:{session.guid}"]
    await add_memory(services, f"Tomas looks for {CANARY}.", made_by="journal", sources=sources, added=days_ago[2])
    await services.key_moments.look_through_days()
    await services.notebook_writer.write_all_pending()
    await plant_alone(services, folder)
    await services.indexing.index_all_pending()
    later = await services.sessions.new(MIRA)
    for question in ASKED:
        reply = (await say(services, later, question)).reply
        neutral = reply.current.model_copy(update={"content": "Ask me tomorrow."})  # a model may repeat what it is asked about
        await services.session_store.replace_alternative(reply.id, 0, neutral)
    await services.prefill.finish()
    backup = await back_up(services.paths.home)
    with zipfile.ZipFile(backup) as members:
        database = members.read("lethe.sqlite3")
    backup.with_suffix(".partial").write_bytes(database[:-4096])  # what a backup leaves that is killed
    return session.guid


async def find_needles(services: AppServices, canary: str) -> tuple[bytes, ...]:
    """What the canary looks like in a file: letters, tokens of the model in the middle of a sentence, vectors."""
    query = "SELECT vector FROM passages JOIN passage_vectors ON passage = number WHERE lower(text) LIKE ?"
    vectors = await services.database.run(lambda c: [vector for (vector,) in c.execute(query, (f"%{canary}%",))])
    return (canary.encode(), *TOKENS[canary], *(bytes(vector[:64]) for vector in vectors))


async def plant_alone(services: AppServices, folder: Path) -> None:
    """Put what is deleted by itself into the home, each with a canary of its own."""
    await services.facts.add(MIRA, f"Tomas keeps a {ALONE['fact']} in a jar.")
    await add_memory(services, f"A {ALONE['memory']} stands in the hall.")
    file = folder / "stones.txt"
    await asyncio.to_thread(file.write_text, f"The {ALONE['document']} is a blue stone from the north. It is found in rivers.")
    await services.documents.add(MIRA, file)
    await services.notebooks.create(MIRA, "Birds", [Conclusion(f"The {ALONE['notebook']} sings at dawn.", now().date())])


def canary_tokens() -> dict[str, list[bytes]]:
    """The canaries in a sentence as tokens of the starter model, as saved states hold them."""
    model = starter_engine(LoadOptions())._model
    assert model is not None
    return {
        canary: [array("i", model.tokenize(f"a {word}")[-3:]).tobytes() for word in (canary, canary.title())]
        for canary in (CANARY, *ALONE.values())
    }


TOKENS: dict[str, list[bytes]] = {}


def find_places(home: Home) -> set[str]:
    """The places that hold the canary: files, and tables of the database."""
    folder, found = home.services.paths.home, set[str]()
    for path in folder.rglob("*"):
        if not path.is_file():
            continue
        content = content_of(path)
        if any(needle in content or needle in content.lower() for needle in home.needles):
            name = path.relative_to(folder).as_posix()
            place = next((place for start, place in FOLDERS.items() if name.startswith(f"{start}/")), path.name)
            if path.suffix == ".partial":
                place = "cut backups"
            found.add(RAW_DATABASE if name.startswith("lethe.sqlite3") else place)
    return found | find_tables(home)


def find_tables(home: Home) -> set[str]:
    """Return the tables of the database that hold it."""
    found = set[str]()
    with closing(sqlite3.connect(home.services.database.path)) as connection:
        for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            rows = connection.execute(f'SELECT * FROM "{table}"')
            content = b"\0".join(_read(value) for row in rows for value in row if isinstance(value, str | bytes))
            if any(needle in content or needle in content.lower() for needle in home.needles):
                found.add(f"table {table}")
    return found


def _read(value: str | bytes) -> bytes:
    """Return the bytes of a value, decompressed if it is compressed."""
    if isinstance(value, str):
        return value.encode(errors="surrogatepass")
    with suppress(zlib.error):
        return zlib.decompress(value)
    return value


async def measure_way(name: str) -> tuple[set[str], set[str], list[str], list[str]]:
    """Return the places of the canary before and after it is deleted, the facts with it that are still valid, and the words of
    older facts that are not valid again.
    """
    canary = ALONE.get(name, CANARY)
    async with planted(canary) as home:
        before = await asyncio.to_thread(find_places, home)
        await WAYS[name](home)
        facts = await home.services.facts.facts_of(MIRA) if name != "persona" else []
        valid = [fact.fact for fact in facts if not fact.superseded]
        await empty_trash(home.services)
        after = await asyncio.to_thread(find_places, home)
    # Older conversations go as well.
    without_older = ("retention", "persona", "persona's memories", "everything", *ALONE)
    expected = () if name in without_older else OLDER
    lost = [word for word in expected if not any(word in fact for fact in valid)]
    return before, after, [fact for fact in valid if canary in fact.lower()], lost


async def measure(wanted: argparse.Namespace) -> Measured:
    """The matrix."""
    TOKENS.update(await asyncio.to_thread(canary_tokens))
    rows: list[Row] = []
    planted_count = leaked = 0
    still_valid, lost, places = list[str](), list[str](), set[str]()
    for name in wanted.ways or WAYS:
        before, after, wrong, missing = await measure_way(name)
        places |= before
        planted_count, leaked = planted_count + len(before), leaked + len(after)
        still_valid, lost = still_valid + wrong, lost + missing
        remarks = [f"planted in {len(before)}", f"left in {', '.join(sorted(after)) or 'none'}"]
        remarks += [f"still valid: {'; '.join(wrong)}"] * bool(wrong) + [f"lost: {', '.join(missing)}"] * bool(missing)
        rows.append((name, ", ".join(remarks)))
    rows.append(("places", ", ".join(sorted(places))))
    return rows, {
        "ways": len(wanted.ways or WAYS),
        "places": len(places),
        "planted": planted_count,
        "leaked": leaked,
        "still_valid": len(still_valid),
        "lost": len(lost),
    }


if __name__ == "__main__":
    run(__doc__, measure, ("ways", {"nargs": "*", "help": "only these ways"}))
