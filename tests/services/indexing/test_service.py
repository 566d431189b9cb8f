"""The passages are what the present state gives, after whatever happened; and nobody waits long for that."""

from __future__ import annotations

import asyncio
import json
import math
import random
import sqlite3
import struct
import tempfile
from collections import defaultdict
from collections.abc import Collection
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from lethe_app.app import build
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.domain.memory import MemoryInsertion, MemoryType
from lethe_app.domain.passage import TextEmbedding
from lethe_app.errors import ModelCrashed, StorageError
from lethe_app.language_tables import load_table
from lethe_app.paths import Paths
from lethe_app.services.indexing.service import AT_ONCE, EMBEDDED_AT_ONCE
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.index.pending import PendingIndex
from lethe_app.storage.memory.facts import FactStore
from lethe_app.storage.memory.memories import MemoryStore
from lethe_app.storage.trash_listing import TrashListing
from tests.services.turns import MIRA, add_memory, before_now, spoke, unit, until, write_world
from tests.storage.scenes import mark_recalled, purge_trash, store_above, store_alternative
from tests.sweep import examples

ROWS = "SELECT kind, owner, source, origin, text, searched, time, speaker, place FROM passages ORDER BY source, place, text"
Row = tuple[str, str, str, str, str, str, str, str, int]


async def passages(services: AppServices) -> list[Row]:
    return await services.database.run(lambda c: c.execute(ROWS).fetchall())


async def texts(services: AppServices, owner: str = MIRA) -> set[str]:
    return {row[4] for row in await passages(services) if row[1] == owner}


def in_order(rows: list[Row]) -> list[tuple[object, ...]]:
    """Instead of the places themselves, which differ once something was purged, their order within a source."""
    places: dict[str, set[int]] = defaultdict(set)
    for row in rows:
        places[row[2]].add(row[-1])
    ranks = {source: {place: rank for rank, place in enumerate(sorted(found))} for source, found in places.items()}
    return sorted((*row[:-1], ranks[row[2]][row[-1]]) for row in rows)


async def from_nothing(services: AppServices) -> list[Row]:
    """What the present state gives where nothing is known yet."""

    def lose(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO passage_words (passage_words) VALUES ('delete-all')")
        connection.execute("DELETE FROM passages")

    await services.database.run(lose)
    await PendingIndex(services.database).queue_all()
    await services.memory.reload()
    return await passages(services)


def rests(fact: ExtractedFact, alive: Collection[UUID], in_trash: Collection[UUID]) -> bool:
    """Is all that is left of where it was said in the trash, and does nobody want it kept?"""
    left = [source for source in fact.source_memories if source in alive or source in in_trash]
    return bool(left) and not (fact.pinned or fact.made_by is MadeBy.USER) and all(source in in_trash for source in left)


class AnyLife(RuleBasedStateMachine):
    """Whatever happens to conversations, memories and facts, in any order, the passages follow."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.services = self.runner.run(build(Paths.standard(Path(self.folder.name)), engine="echo"))
        self.random = random.Random(7)
        self.sessions: list[UUID] = []
        self.messages: list[Message] = []
        self.memories: list[UUID] = []
        self.facts: list[ExtractedFact] = []
        database = self.services.database
        self.chats, self.store, self.known = SessionStore(database), MemoryStore(database), FactStore(database)

    def do(self, work: object) -> None:
        """What is not there any more cannot be changed, and says so."""
        with suppress(StorageError):
            self.runner.run(work)  # type: ignore[arg-type]

    @initialize()
    def begin(self) -> None:
        self.session()

    @rule()
    def session(self) -> None:
        made = self.runner.run(self.chats.add_session(ChatSession(persona_id=MIRA, added=before_now(days=2))))
        self.sessions.append(made.guid)
        self.say(Role.ASSISTANT, hidden=False)

    @rule(
        role=st.sampled_from([Role.USER, Role.USER, Role.ASSISTANT, Role.SYSTEM]), hidden=st.sampled_from([False, False, True])
    )
    def say(self, role: Role, *, hidden: bool) -> None:
        said = [Alternative(content=f"Words {self.random.random():.6f}.")]
        session = self.random.choice(self.sessions)
        message = Message(session_id=session, role=role, alternatives=said, hidden=hidden, speaker_name="Somebody")
        self.messages.append(message)
        self.do(self.chats.add_message(message))

    @rule()
    def note_above(self) -> None:
        asked = [message for message in self.messages if message.role is Role.USER and not message.hidden]
        if not asked:
            return
        below = self.random.choice(asked)
        line = [Alternative(content="A hidden line.")]
        note = Message(session_id=below.session_id, role=Role.SYSTEM, hidden=True, alternatives=line)
        self.messages.append(note)
        self.do(store_above(self.services.database, below.id, note))

    @rule(act=st.sampled_from(["edit", "swipe", "show", "delete", "restore"]))
    def change_message(self, act: str) -> None:
        id_ = self.random.choice(self.messages).id
        match act:
            case "edit":
                self.do(self.chats.edit_message(id_, f"Edited {self.random.random():.6f}."))
            case "swipe":
                self.do(
                    store_alternative(self.services.database, id_, Alternative(content=f"Another {self.random.random():.6f}."))
                )
            case "show":
                self.do(self.chats.set_shown(id_, 0))
            case "delete":
                self.do(self.chats.delete_message(id_))
            case "restore":
                self.do(self.chats.restore_message(id_))

    @rule(act=st.sampled_from(["delete", "restore", "sum up", "rename"]))
    def change_session(self, act: str) -> None:
        guid = self.random.choice(self.sessions)
        match act:
            case "delete":
                self.do(self.chats.delete_session(guid))
            case "restore":
                self.do(self.chats.restore_session(guid))
            case "sum up":
                self.do(self.chats.change_session(guid, content=f"They met. It rained {self.random.random():.6f} days."))
            case "rename":
                self.do(self.chats.change_session(guid, name=f"Talk {self.random.random():.6f}"))

    @rule(insertion=st.sampled_from(MemoryInsertion), category=st.sampled_from([MemoryType.GENERAL, MemoryType.FILE]))
    def memorize(self, insertion: MemoryInsertion, category: MemoryType) -> None:
        memory = unit(f"Memory {self.random.random():.6f}.", insertion=insertion, category=category)
        self.memories.append(memory.guid)
        self.do(self.store.save_memories(MIRA, memory))

    @rule(act=st.sampled_from(["edit", "off", "wait", "delete", "restore", "touch"]))
    def change_memory(self, act: str) -> None:
        if self.memories:
            self.do(self._change_memory(self.random.choice(self.memories), act))

    async def _change_memory(self, guid: UUID, act: str) -> None:
        changes = {
            "edit": {"content": f"Edited {self.random.random():.6f}."},
            "off": {"enabled": False},
            "wait": {"insertion": MemoryInsertion.NATURAL},
        }
        match act:
            case "delete":
                await self.store.delete([guid])
            case "restore":
                await self.store.restore([guid])
            case "touch":
                await mark_recalled(self.services.database, [guid])
            case _:
                await self.store.save_memories(MIRA, (await self.store.get(guid)).model_copy(update=changes[act]))

    @rule(act=st.sampled_from(["add", "add", "supersede", "forget", "pin", "take over", "say again"]))
    def change_facts(self, act: str) -> None:
        if act == "add" or not self.facts:
            sources = self.random.sample(self.sessions, k=min(len(self.sessions), self.random.choice([0, 1, 1, 2])))
            self.facts.append(ExtractedFact(fact=f"Tomas counts to {self.random.random():.6f}.", source_memories=sources))
            self.do(self.known.save_facts(MIRA, self.facts[-1]))
        else:
            self.do(self._change_fact(self.random.choice(self.facts).guid, act))

    async def _change_fact(self, guid: UUID, act: str) -> None:
        fact = next((one for one in await self.known.undeleted_facts_of(MIRA) if one.guid == guid), None)
        if fact is None:
            return
        elsewhere = [*fact.source_memories, self.random.choice(self.sessions)]
        changes = {
            "supersede": {"superseded": True},
            "pin": {"pinned": not fact.pinned},
            "take over": {"made_by": MadeBy.USER, "last_seen": now()},
            "say again": {"source_memories": list(dict.fromkeys(elsewhere)), "last_seen": now()},
        }
        if act == "forget":
            await self.known.forget_facts(MIRA, [guid], [])
        else:
            await self.known.save_facts(MIRA, fact.model_copy(update=changes[act]))

    @invariant()
    def what_is_known_hangs_on_the_conversations_it_is_from(self) -> None:
        async def compare() -> tuple[set[UUID], set[UUID]]:
            alive = {one.guid for one in await self.chats.sessions(MIRA)}
            in_trash = {UUID(item.id) for item in await TrashListing(self.services.database).list_items()}
            learnt = await self.known.undeleted_facts_of(MIRA)
            expected = {fact.guid for fact in learnt if not rests(fact, alive, in_trash)}
            return {fact.guid for fact in await self.known.facts_of(MIRA)}, expected

        known, expected = self.runner.run(compare())
        assert known == expected

    @rule()
    def purge(self) -> None:
        self.do(purge_trash(self.services.database, 0, now() + timedelta(seconds=1)))
        assert self.runner.run(self.known.undeleted_facts_of(MIRA)) == self.runner.run(
            self.known.facts_of(MIRA)
        )  # what rested went along

    @rule()
    def process_events(self) -> None:
        self.do(self.services.indexing.index_pending(3))

    def teardown(self) -> None:
        async def compare() -> tuple[list[Row], list[Row]]:
            await self.services.indexing.index_all_pending()
            followed = await passages(self.services)
            anew = await from_nothing(self.services)
            await self.services.close()
            return followed, anew

        followed, anew = self.runner.run(compare())
        self.runner.close()
        self.folder.cleanup()
        assert in_order(followed) == in_order(anew)


TestAnyLife = AnyLife.TestCase
TestAnyLife.settings = settings(max_examples=examples(25), stateful_step_count=30, database=None)


# What is a passage and what is not


async def test_a_greeting_is_none_and_every_other_line_is(services: AppServices):
    session = await services.sessions.new(MIRA)
    await spoke(services, session, "I came by the north road.", before_now(hours=1))
    await services.indexing.index_all_pending()
    assert await texts(services) == {'Tomas said, "I came by the north road."'}


@pytest.mark.parametrize(
    ("title", "content", "found"),
    [
        ("The offer", "", {"The offer"}),
        ("what do i do on thursdays", "", set()),
        ("Thursdays", 'Tomas asked, "What do I do on Thursdays?"', set()),
        ("Thursdays", 'Tomas sails.\nTomas asked, "When?" and "Where?"', {"Thursdays", "Tomas sails."}),
    ],
)
async def test_of_a_conversation_of_questions_alone_not_even_its_title_is_one(
    services: AppServices, title: str, content: str, found: set[str]
):
    await services.session_store.add_session(ChatSession(persona_id=MIRA, name=title, content=content))
    await PendingIndex(services.database).queue_all()
    await services.indexing.index_all_pending()
    assert await texts(services) == found


async def test_a_hidden_line_does_not_part_what_was_said_before_and_after_it(services: AppServices):
    session = await services.sessions.new(MIRA)
    first = await spoke(services, session, "One.", before_now(minutes=3))
    reply = await spoke(services, session, "Two.", before_now(minutes=2), Role.ASSISTANT)
    await services.indexing.index_all_pending()
    asked = await spoke(services, session, "Three.", before_now(minutes=1))
    note = Message(session_id=session.guid, role=Role.SYSTEM, hidden=True, alternatives=[Alternative(content="(rain)")])
    await store_above(services.database, asked.id, note)
    await spoke(services, session, "Four.", now(), Role.ASSISTANT)
    await services.indexing.index_all_pending()
    places = [row[-1] for row in await passages(services) if row[1] == MIRA]
    assert places == list(range(places[0], places[0] + 4))
    assert {first.id, reply.id} <= {UUID(row[3]) for row in await passages(services) if row[1] == MIRA}


async def test_memories_that_wait_are_found_by_no_search(services: AppServices):
    await add_memory(services, "The cormorant nests beneath the broken winch.", insertion=MemoryInsertion.NATURAL)
    assert await texts(services) == set()
    assert await texts(services, f"waiting:{MIRA}") == {"The lamp: The cormorant nests beneath the broken winch."}


# Taking over


async def test_in_the_background_everything_is_taken_over_and_progress_is_told(services: AppServices):
    for number in range(AT_ONCE + 20):
        await services.memory_store.save_memories(MIRA, unit(f"Number {number}."))
    reported: list[int] = []
    services.indexing.changed.add(lambda progress: reported.append(progress.changes))
    services.indexing.background.start()
    await until(lambda: bool(reported) and reported[-1] == 0)
    assert max(reported) > 0
    assert len(await texts(services)) == AT_ONCE + 20


# Meaning


def meaning(text: str) -> TextEmbedding:
    """A stand-in for an embedding model: texts of the same length mean the same."""
    angle = len(text) / 100
    vector = struct.pack("2f", math.sin(angle), math.cos(angle))
    return TextEmbedding(vector, vector, ("word",))


MEASURING = {*load_table("unrelated_texts")["queries"], *load_table("unrelated_texts")["passages"]}
"""Texts by which the background of an embedder is measured; they are no passages."""


class Embedder:
    """Counts the passages it is given, and fails when it is told to."""

    def __init__(self, fails_after: int = 10_000) -> None:
        self.batches: list[int] = []
        self.fails_after = fails_after

    async def __call__(self, asked: object) -> list[TextEmbedding]:
        if set(asked) <= MEASURING:  # type: ignore[call-overload]
            return [meaning(text) for text in asked]  # type: ignore[attr-defined]
        if sum(self.batches) + len(asked) > self.fails_after:  # type: ignore[arg-type]
            raise ModelCrashed("It is gone.")
        self.batches.append(len(asked))  # type: ignore[arg-type]
        return [meaning(text) for text in asked]  # type: ignore[attr-defined]


async def waiting(services: AppServices) -> int:
    return await services.memory_index.count_pending()


async def test_meanings_are_given_in_small_batches_and_go_on_after_a_failure(services: AppServices):
    await services.indexing.catch_up()
    for number in range(20):
        await services.memory_store.save_memories(MIRA, unit(f"Number {number}."))
    dying = Embedder(fails_after=10)
    services.memory_index.set_embedder(dying, "one")
    await services.indexing.catch_up()
    everything = len(await passages(services))
    assert max(dying.batches) <= EMBEDDED_AT_ONCE
    assert 0 < await waiting(services) < everything
    well = Embedder()
    services.memory_index.set_embedder(well, "one")
    await services.indexing.catch_up()
    assert await waiting(services) == 0
    assert sum(well.batches) + sum(dying.batches) == everything


async def test_another_embedder_sees_everything_anew(services: AppServices):
    await add_memory(services)
    services.memory_index.set_embedder(Embedder(), "one")
    await services.indexing.catch_up()
    other = Embedder()
    services.memory_index.set_embedder(other, "two")
    assert await waiting(services) == len(await passages(services))
    await services.indexing.catch_up()
    assert sum(other.batches) == len(await passages(services))
    assert await waiting(services) == 0


async def test_what_is_memorized_has_its_meaning_at_once(services: AppServices):
    services.memory_index.set_embedder(Embedder(), "one")
    await services.indexing.catch_up()
    await add_memory(services)
    assert await waiting(services) == 0


async def test_while_somebody_waits_for_an_answer_nothing_is_begun(services: AppServices):
    await services.indexing.catch_up()
    for number in range(3 * EMBEDDED_AT_ONCE):
        await services.memory_store.save_memories(MIRA, unit(f"Number {number}."))
    slow = Embedder()
    services.memory_index.set_embedder(slow, "one")
    await services.indexing.index_all_pending()
    with services.priority.block_background():
        work = asyncio.ensure_future(services.indexing.catch_up())
        await asyncio.sleep(0.2)
        assert slow.batches == [EMBEDDED_AT_ONCE]
    await work
    assert await waiting(services) == 0


# Worlds


async def world_texts(services: AppServices, stem: str = "isles") -> set[str]:
    return await texts(services, f"world:{stem}")


async def test_worlds_follow_edits_renames_and_deletions_of_their_files(services: AppServices):
    one, two = {"name": "Grotto", "content": "It floods."}, {"name": "Reef", "content": "It cuts."}
    write_world(services, "isles", one, two)
    await services.indexing.sync_worlds()
    assert await world_texts(services) == {"Grotto: It floods.", "Reef: It cuts."}
    write_world(services, "isles", one, {**two, "content": "It has been cleared away."})
    await services.indexing.sync_worlds()
    assert await world_texts(services) == {"Grotto: It floods.", "Reef: It has been cleared away."}
    (services.paths.worlds / "isles.json").rename(services.paths.worlds / "skerries.json")
    await services.indexing.sync_worlds()
    assert await world_texts(services) == set()
    assert len(await world_texts(services, "skerries")) == 2
    (services.paths.worlds / "skerries.json").unlink()
    await services.indexing.sync_worlds()
    assert await world_texts(services, "skerries") == set()


@pytest.mark.parametrize(("world", "entry", "found"), [(True, None, 1), (True, False, 0), (False, None, 0), (False, True, 1)])
async def test_world_and_entry_say_whether_it_is_found_by_meaning(
    services: AppServices, world: bool, entry: bool | None, found: int
):
    write_world(services, "isles", {"name": "Grotto", "content": "It floods.", "do_embeds": entry}, do_embeds=world)
    await services.indexing.sync_worlds()
    assert len(await world_texts(services)) == found


async def test_after_an_edit_only_what_changed_is_understood_anew(services: AppServices):
    entries = [{"name": f"n{number}", "content": f"About {number}."} for number in range(150)]
    world = write_world(services, "isles", *entries)
    embedder = Embedder()
    services.memory_index.set_embedder(embedder, "one")
    await services.indexing.catch_up()
    embedder.batches.clear()
    entries = [entry.model_dump(mode="json") for entry in world.entries]
    write_world(services, "isles", *entries[:-1], {**entries[-1], "content": "Another text altogether."})
    await services.indexing.catch_up()
    assert embedder.batches == [1]


async def test_a_copied_world_has_passages_of_its_own(services: AppServices):
    world = write_world(services, "isles", {"name": "Grotto", "content": "It floods."})
    copy = json.dumps(world.model_dump(mode="json", exclude={"unique_name"}))
    (services.paths.worlds / "copy.json").write_text(copy, encoding="utf-8")
    await services.indexing.sync_worlds()
    assert (len(await world_texts(services)), len(await world_texts(services, "copy"))) == (1, 1)
    (services.paths.worlds / "copy.json").unlink()
    await services.indexing.sync_worlds()
    assert (len(await world_texts(services)), len(await world_texts(services, "copy"))) == (1, 0)


async def test_an_edited_world_in_use_is_taken_over_soon(services: AppServices):
    write_world(services, "isles", {"name": "Grotto", "content": "It floods."})
    services.indexing.background.start()
    await until(lambda: world_texts(services))
    write_world(services, "isles", {"name": "Grotto", "content": "It is dry now, they say."})
    services.indexing.check_worlds(await services.library.worlds())

    async def follows() -> bool:
        return await world_texts(services) == {"Grotto: It is dry now, they say."}

    await until(follows)


async def test_taking_over_a_world_that_was_broken_off_begins_anew(services: AppServices, monkeypatch: pytest.MonkeyPatch):
    write_world(services, "isles", {"name": "Grotto", "content": "It floods."})
    real, calls = services.memory_index.replace, []

    async def broken_off(*args: object) -> None:
        calls.append(args)
        raise StorageError("The disk is full.")

    monkeypatch.setattr(services.memory_index, "replace", broken_off)
    with pytest.raises(StorageError):
        await services.indexing.sync_worlds()
    monkeypatch.setattr(services.memory_index, "replace", real)
    await services.indexing.sync_worlds()
    assert await world_texts(services) == {"Grotto: It floods."}
