"""The user's worlds: kept by themselves, had back from the trash, bound to whom they say, and tried without a trace."""

from __future__ import annotations

import asyncio
import json
from uuid import UUID

import pytest

from lethe_app.brain.lore.keyword_matcher import Keyword, find_spans
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession, Role
from lethe_app.domain.memory import MemoryInsertion, MemoryType
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.errors import FileError, ReadOnly
from lethe_app.services.worlds.key_checks import KeyIssue, KeyProblem, WorldKeyIndex, check_entry, find_regex_error
from lethe_app.services.worlds.service import WorldOwner, convert_to_memory
from lethe_app.services.worlds.world_trial import TrialInput, TrialOutcome
from tests.services.turns import MIRA, Talk, dump, say, write_world

SETTINGS = {"recall_without_match": 0, "rag_enabled": False}

GROTTO = {"name": "Grotto", "content": "The grotto floods at noon.", "keywords_main": ["grotto"]}


def world_of(*entries: dict[str, object], **fields: object) -> World:
    return World.model_validate({"name": "Isles", "unique_name": "isles", "entries": list(entries), **fields})


def on_disk(services: AppServices, stem: str) -> dict[str, object]:
    return json.loads((services.paths.worlds / f"{stem}.json").read_text(encoding="utf-8"))


def whys(outcome: TrialOutcome) -> dict[str, str]:
    return {one.entry.name: one.block_reason.value for one in outcome.tried if one.block_reason is not None}


def causes(outcome: TrialOutcome) -> dict[str, str]:
    return {one.entry.name: one.reason.kind.value for one in outcome.activated if one.reason is not None}


# Keeping


async def test_a_shipped_world_is_changed_as_a_file_of_the_users_own(services: AppServices):
    shipped = next(held for held in await services.worlds.list_worlds() if held.world.unique_name == "quarr")
    assert (shipped.is_own, shipped.is_shipped) == (False, True)

    await services.worlds.save(shipped.world.model_copy(update={"name": "My Quarr"}))

    held = {one.world.unique_name: one for one in await services.worlds.list_worlds()}["quarr"]
    assert (held.world.name, held.is_own, held.is_shipped) == ("My Quarr", True, True)
    await services.worlds.delete("quarr")
    assert {one.world.unique_name: one for one in await services.worlds.list_worlds()}["quarr"].world == shipped.world
    with pytest.raises(ReadOnly):
        await services.worlds.delete("quarr")


async def test_a_file_that_another_program_broke_is_told_and_left_untouched(services: AppServices):
    world = await services.worlds.create("Isles")
    path = services.paths.worlds / "isles.json"
    path.write_text('{"name": "Isles", "entries": [', encoding="utf-8")

    mine = world.model_copy(update={"description": "mine"})
    await services.worlds.list_worlds()
    with pytest.raises(FileError):
        await services.worlds.save(mine)
    assert mine in [one.world for one in await services.worlds.list_worlds()]

    assert path.read_text(encoding="utf-8") == '{"name": "Isles", "entries": ['
    assert [problem.path for problem in await services.worlds.list_errors()] == [path]
    path.unlink()
    assert await services.worlds.save(mine) is None
    assert on_disk(services, "isles")["description"] == "mine"


async def test_what_another_program_wrote_meanwhile_goes_to_the_trash(services: AppServices):
    world = await services.worlds.create("Isles")
    write_world(services, "isles", GROTTO)

    replaced = await services.worlds.save(world.model_copy(update={"description": "mine"}))

    assert on_disk(services, "isles")["description"] == "mine"
    assert "grotto" in replaced.read_text(encoding="utf-8")


async def test_what_another_program_wrote_goes_to_the_trash_though_the_worlds_were_listed(services: AppServices):
    world = await services.worlds.create("Isles")
    mine = world.model_copy(update={"description": "mine"})
    services.worlds.unsaved["isles"] = mine
    write_world(services, "isles", GROTTO)

    listed = {one.world.unique_name: one.world for one in await services.worlds.list_worlds()}
    assert listed["isles"] == mine
    replaced = await services.worlds.save(mine)

    assert "grotto" in replaced.read_text(encoding="utf-8")
    assert services.worlds.unsaved == {}


async def test_a_world_deleted_while_it_is_to_be_saved_stays_deleted(services: AppServices):
    world = await services.worlds.create("Isles")
    mine = world.model_copy(update={"description": "mine"})

    await asyncio.gather(services.worlds.delete("isles"), services.worlds.save(mine))

    assert "isles" not in {one.world.unique_name for one in await services.worlds.list_worlds()}


async def test_the_entries_of_a_copy_are_others(services: AppServices):
    world = world_of(GROTTO)
    copy = await services.worlds.duplicate(world, "Isles, a copy")
    assert copy.unique_name == "isles-a-copy"
    assert copy.entries[0].content == world.entries[0].content
    assert copy.entries[0].guid != world.entries[0].guid


# Whose it is


@pytest.mark.parametrize("owner", list(WorldOwner))
async def test_a_world_belongs_to_whom_it_is_given(talk: Talk, owner: WorldOwner):
    talk.write_world("isles", GROTTO)
    assert "Grotto" not in (await talk.say("The grotto!")).ways

    await talk.services.worlds.bind("isles", owner, talk.session, is_bound=True)
    assert (await talk.services.worlds.session_worlds(talk.session))[owner][-1] == "isles"
    assert (await talk.say("The grotto!")).ways["Grotto"] == "keyword"

    await talk.services.worlds.bind("isles", owner, talk.session, is_bound=False)
    assert "Grotto" not in (await talk.say("The grotto!")).ways


async def test_how_often_an_entry_came_is_counted(talk: Talk):
    world = talk.write_world("isles", {**GROTTO, "guid": "00000000-0000-0000-0000-000000000001"}, scan_depth=0)
    await talk.services.worlds.bind("isles", WorldOwner.EVERYBODY, talk.session, is_bound=True)
    for text in ("The grotto!", "Good.", "The grotto?"):
        await talk.say(text)
    assert await talk.services.worlds.count_activations() == {world.entries[0].guid: 2}


# Trying


async def test_a_trial_says_what_comes_by_which_word_and_where(talk: Talk):
    outcome = await talk.services.world_trials.run(TrialInput(world_of(GROTTO), "Into the Grotto, now!", talk.session))
    assert not outcome.is_in_use  # no persona of the conversation has this world
    (one,) = outcome.tried
    assert (one.reason.values, list(one.spans)) == ({"key": "grotto", "before": 0}, [(9, 15)])
    assert (one.tokens, outcome.tokens) == (5, 5)  # the echo counts words
    assert causes(outcome) == {"Grotto": "key"}


async def test_a_trial_changes_nothing(talk: Talk):
    services = talk.services
    world = talk.write_world("isles", {**GROTTO, "duration": 3, "cooldown": 5})
    await services.worlds.bind("isles", WorldOwner.EVERYBODY, talk.session, is_bound=True)
    await talk.say("Good.")
    before = await dump(services)
    for times in (1, 20):
        trial = TrialInput(world.model_copy(update={"unique_name": "isles"}), "The grotto!", talk.session, times=times)
        assert causes(await services.world_trials.run(trial)) == {"Grotto": "key"}
    assert await dump(services) == before


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"keywords_secondary": ["noon"]}, "secondary"),
        ({"trigger_chance": 0.0}, "chance"),
        ({"delay": 40}, "delay"),
        ({"enabled": False}, "disabled"),
        ({"end_time": "2020-01-01T00:00:00Z"}, "not due"),
    ],
)
async def test_a_trial_says_what_keeps_an_entry_back(talk: Talk, fields: dict[str, object], why: str):
    outcome = await talk.services.world_trials.run(TrialInput(world_of({**GROTTO, **fields}), "The grotto!", talk.session))
    assert whys(outcome) == {"Grotto": why}
    assert list(outcome.tried[0].spans) == [(4, 10)]


async def test_a_trial_knows_groups_and_room(talk: Talk):
    strong = {**GROTTO, "name": "One", "groups": ["g"], "group_override": True}
    weak = {**GROTTO, "name": "Two", "groups": ["g"]}
    grouped = await talk.services.world_trials.run(TrialInput(world_of(strong, weak), "The grotto!", talk.session))
    assert (causes(grouped), whys(grouped)) == ({"One": "key"}, {"Two": "group"})
    full = await talk.services.world_trials.run(TrialInput(world_of(GROTTO, token_budget=2), "The grotto!", talk.session))
    assert whys(full) == {"Grotto": "budget"}


async def test_a_trial_knows_how_the_conversation_stands_unless_it_is_to_forget_it(talk: Talk):
    services = talk.services
    entry = {**GROTTO, "cooldown": 9, "guid": "00000000-0000-0000-0000-000000000001"}
    talk.write_world("isles", entry, scan_depth=0)
    await services.worlds.bind("isles", WorldOwner.EVERYBODY, talk.session, is_bound=True)
    await talk.say("The grotto!")
    world = (await services.library.worlds())["isles"]

    assert whys(await services.world_trials.run(TrialInput(world, "The grotto!", talk.session))) == {"Grotto": "cooldown"}
    assert causes(await services.world_trials.run(TrialInput(world, "The grotto!", talk.session, fresh=True))) == {
        "Grotto": "key"
    }


async def test_a_message_that_was_said_is_tried_as_it_was_then(talk: Talk):
    services = talk.services
    talk.write_world("isles", {**GROTTO, "trigger_chance": 0.5}, scan_depth=0)
    await services.worlds.bind("isles", WorldOwner.EVERYBODY, talk.session, is_bound=True)
    world = (await services.library.worlds())["isles"]
    for number in range(8):
        turn_outcome = await talk.say(f"The grotto {number}!")
        trial = TrialInput(world, turn_outcome.asked.content, talk.session, turn_outcome.asked.id)
        assert ("Grotto" in causes(await services.world_trials.run(trial))) == ("Grotto" in turn_outcome.ways)
    said = await services.world_trials.list_messages(talk.session, 3)
    assert [one.content for one in said] == ["“Aye.”", "The grotto 7!", "“Aye.”"]


async def test_the_dice_are_thrown_twenty_times(talk: Talk):
    sure, rare = {**GROTTO, "name": "Sure"}, {**GROTTO, "name": "Rare", "trigger_chance": 0.5}
    outcome = await talk.services.world_trials.run(TrialInput(world_of(sure, rare), "The grotto!", talk.session, times=20))
    shares = {one.entry.name: one.share for one in outcome.tried}
    assert shares["Sure"] == 1.0
    assert shares["Rare"] is not None
    assert 0.05 <= shares["Rare"] <= 0.95


async def test_other_worlds_of_the_conversation_take_part_unless_it_is_to_be_alone(talk: Talk):
    talk.write_world("reef", {**GROTTO, "name": "Reef"})
    await talk.services.worlds.bind("reef", WorldOwner.EVERYBODY, talk.session, is_bound=True)
    together = await talk.services.world_trials.run(TrialInput(world_of(GROTTO), "The grotto!", talk.session))
    alone = await talk.services.world_trials.run(TrialInput(world_of(GROTTO), "The grotto!", talk.session, alone=True))
    assert set(causes(together)) == {"Grotto", "Reef"}
    assert set(causes(alone)) == {"Grotto"}


# Spots


@pytest.mark.parametrize(
    ("key", "text", "found"),
    [
        ("king", "The king of kingdoms, KING!", ["king", "KING"]),
        ("low  water", "At low\n water", ["low\n water"]),
        ("straße", "In der STRASSE.", ["STRASSE"]),
        ("é", "caf\u0065\u0301 e\u0301", ["e\u0301"]),
        ("don't", "I don’t.", ["don’t"]),
        ("/k[io]ng/i", "Kong, king", ["Kong", "king"]),
        ("/k(/", "k(", []),
        ("/(a+)+$/", "a" * 40 + "!", []),
        ("王", "国王说", ["王"]),
        ("strasse", "Die Straße.", ["Straße"]),
        ("i\u0307zmir", "In İzmir.", ["İzmir"]),
        ("fish", "A ﬁsh.", ["ﬁsh"]),
        ("ABC", "An ＡＢＣ.", ["ＡＢＣ"]),
        ("km2", "Ten km².", ["km²"]),
        ("so...", "So… what?", ["So…"]),
        ("soft", "A so\u00adft\u200b one.", ["so\u00adft"]),
        ("e\u0323\u0301", "An e\u0301\u0323.", ["e\u0301\u0323"]),
        ("왕", "옛날에 \u110b\u116a\u11bc이", ["\u110b\u116a\u11bc"]),
        ("a b a", "xa b a b a", ["a b a"]),
        ("cafe", "At the cafe\u0301.", ["cafe\u0301"]),
    ],
)
def test_a_key_is_found_where_it_stands(key: str, text: str, found: list[str]):
    assert [text[start:end] for start, end in find_spans(Keyword(key), text)] == found


# Checks


def findings(said: tuple[str, ...] = (), *others: WorldEntry, **fields: object) -> dict[KeyProblem, KeyIssue]:
    entry = WorldEntry.model_validate({"name": "Lamp", **fields})
    found = check_entry(entry, WorldKeyIndex.build(World(name="W", entries=[entry, *others])), said)
    return {one.problem: one for one in found}


def test_keys_that_wake_nothing_or_everything_are_told():
    assert set(findings(keywords_main=["lamp", "tide glass"])) == set()
    assert findings(keywords_main=["/lamp(/"])[KeyProblem.BROKEN].detail
    assert set(findings(keywords_main=["\u200b"])) == {KeyProblem.NEVER}
    assert set(findings(keywords_main=["…!"])) == {KeyProblem.PUNCTUATION}
    assert set(findings(keywords_main=["the"])) == {KeyProblem.COMMON}
    assert set(findings(keywords_main=["in"], case_sensitive=True, whole_word=False)) == {KeyProblem.SHORT}
    assert set(findings(keywords_main=["王"], whole_word=False)) == set()
    assert set(findings()) == {KeyProblem.NO_KEYS}
    assert set(findings(sticky=True)) == set()


def test_an_entry_that_never_comes_or_always_does_is_told():
    held = findings(keywords_main=["the old king", "crown"], keywords_secondary=["king"], word_link="not")
    assert (held[KeyProblem.BLOCKED].key, held[KeyProblem.BLOCKED].detail) == ("the old king", "king")
    assert set(findings(keywords_main=["king"], keywords_secondary=["king", "crown"], word_link="not_all")) == set()
    assert set(findings(keywords_main=["king"], keywords_secondary=["king"], word_link="and")) == set()
    assert set(findings(keywords_secondary=["king"], word_link="not")) == {KeyProblem.ONLY_EXCLUSIONS}
    assert set(findings(keywords_main=["king"], trigger_chance=0)) == {KeyProblem.ZERO_PROBABILITY}
    assert set(findings(keywords_main=["king"], end_time="2020-01-01T00:00:00Z")) == {KeyProblem.EXPIRED}


def test_a_macro_that_means_nothing_is_told():
    found = findings(keywords_main=["king"], content="{{char}} owes {{user}} a {{hatt}}.")
    assert (set(found), found[KeyProblem.MACRO].detail) == ({KeyProblem.MACRO}, "hatt")


@pytest.mark.parametrize("key", ["/.*/", "/e|a/i", r"/\w+/", "/x?/", r"/\b(the|you|and|ok|no|i)\b/i"])
def test_an_expression_that_is_found_nearly_everywhere_is_told(key: str):
    assert set(findings(keywords_main=[key])) == {KeyProblem.COMMON}
    assert set(findings(keywords_main=[r"/\blight(house)?s?\b/i"])) == set()


def test_a_key_is_measured_by_what_the_user_says():
    said = tuple(f"Dear Mira, line {number}" for number in range(10))
    assert findings(said, keywords_main=["Mira"])[KeyProblem.FREQUENT].share == 1.0
    assert set(findings(said[:5], keywords_main=["Mira"])) == set()


def test_a_key_that_two_entries_have_is_told():
    other = WorldEntry(name="Lantern", keywords_main=["LAMP"])
    assert findings((), other, keywords_main=["lamp"])[KeyProblem.DUPLICATE].detail == "Lantern"


def test_an_expression_is_weighed_while_it_is_typed():
    assert find_regex_error("/lamp") == "has no closing slash"
    assert find_regex_error("/lamp(/")
    assert find_regex_error("/lamp/i") == ""
    assert find_regex_error("24/7") == ""


async def test_the_users_own_words_are_what_keys_are_measured_by(talk: Talk):
    for text in ("One.", "Two."):
        await talk.say(text)
    assert await talk.services.world_trials.list_user_messages(talk.session) == ["Two.", "One."]
    assert await talk.services.world_trials.list_user_messages(None) == []


# To Brain


async def test_an_entry_becomes_a_memory_of_its_own(services: AppServices):
    entry = WorldEntry(name="Lamp", content="It is dark since May.", keywords_main=["lamp"], priority=7, enabled=False)
    memory = convert_to_memory(entry, MemoryInsertion.NATURAL)
    assert memory.guid != entry.guid
    assert (memory.category, memory.insertion, memory.enabled) == (MemoryType.GENERAL, MemoryInsertion.NATURAL, True)
    assert (memory.name, memory.content, memory.keywords_main, memory.priority) == ("Lamp", entry.content, ["lamp"], 7)
    await services.memory.memorize(MIRA, memory, check=False)
    assert [one.name for one in await services.memory.memories(MIRA)] == ["Lamp"]
    assert isinstance(memory.guid, UUID)


# Taken back


async def prompt_text(services: AppServices, session: ChatSession, text: str) -> str:
    """What is kept word for word of the prompt of a reply that was called up by a text."""
    reply = (await say(services, session, text)).reply
    found = await services.prompt_inspector.prompt_of(reply.id)
    return "".join(span.text for span in found.spans)


async def kept_words(talk: Talk) -> list[str]:
    """The same of every reply of a conversation, as it is kept now."""
    replies = [message for message in await talk.log() if message.role is Role.ASSISTANT]
    found = [await talk.services.prompt_inspector.prompt_of(reply.id) for reply in replies]
    return ["".join(span.text for span in one.spans) for one in found if one is not None]


@pytest.mark.parametrize(
    ("content", "stays"),
    [
        ("The grotto is dry.", False),
        ("", False),
        ("The grotto floods at noon. Bring boots.", True),
    ],
)
async def test_words_taken_back_from_a_world_are_in_no_kept_prompt(talk: Talk, content: str, stays: bool):
    services = talk.services
    talk.write_world("isles", GROTTO)
    await services.worlds.bind("isles", WorldOwner.SESSION, talk.session, is_bound=True)
    assert "floods at noon" in await prompt_text(services, talk.session, "Is this the grotto?")
    (world,) = [held.world for held in await services.worlds.list_worlds() if held.world.unique_name == "isles"]
    rewritten = world.entries[0].model_copy(update={"content": content})

    await services.worlds.save(world.model_copy(update={"entries": [rewritten]}))

    assert any("floods at noon" in words for words in await kept_words(talk)) is stays


async def test_a_deleted_world_is_in_no_kept_prompt(talk: Talk):
    talk.write_world("isles", GROTTO)
    await talk.services.worlds.bind("isles", WorldOwner.SESSION, talk.session, is_bound=True)
    assert "floods at noon" in await prompt_text(talk.services, talk.session, "Is this the grotto?")

    await talk.services.worlds.delete("isles")

    assert not any("floods at noon" in words for words in await kept_words(talk))
