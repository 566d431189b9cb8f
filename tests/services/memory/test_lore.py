"""World entries in a turn: what wakes them, how long they stay, where they stand, and that an edited file counts at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lethe_app.app import build
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession, Role
from lethe_app.domain.clock import now
from lethe_app.domain.recall import RecallWay
from tests.services.turns import (
    DAY,
    MIRA,
    Talk,
    TurnOutcome,
    before_now,
    change_persona,
    collect_turn,
    recalled,
    say,
    write_world,
)

SETTINGS = {"recall_without_match": 0, "global_worlds": ["isles"], "rag_enabled": False}

GROTTO = {"name": "Grotto", "content": "The grotto floods at noon.", "keywords_main": ["grotto"]}


async def ways(services: AppServices, session: ChatSession, *texts: str, title: str = "Grotto") -> list[str | None]:
    return [(await say(services, session, text)).ways.get(title) for text in texts]


def why(outcome: TurnOutcome) -> dict[str, str]:
    return {one.title: one.why for one in outcome.memory.blocked}


async def test_a_keyword_wakes_an_entry_and_its_text_stands_in_the_prompt(talk: Talk):
    talk.write_world("isles", GROTTO)
    outcome = await talk.say("Into the grotto!")
    one = recalled(outcome.memory, "Grotto")
    assert (one.way, one.world) == (RecallWay.KEYWORD, "Isles")
    assert one.because[0].values == {"key": "grotto", "before": 0}
    prompt = await talk.prompt_of(outcome)
    assert prompt.index("The grotto floods at noon.") < prompt.rindex("Into the grotto!")


async def test_an_entry_stays_rests_and_wakes_again_even_after_a_restart(talk: Talk, echo_model: Callable[..., object]):
    talk.write_world("isles", {**GROTTO, "duration": 3, "cooldown": 2}, scan_depth=0)
    assert await ways(talk.services, talk.session, "The grotto!", "Good.") == ["keyword", "active"]
    await talk.services.close()
    again = await build(talk.services.paths, engine="echo")
    try:
        await again.models.load(echo_model(*["“Aye.”"] * 9))
        rest = await ways(again, talk.session, "Fine.", "The grotto!", "The grotto?", "The grotto.")
        assert rest == ["active", None, None, "keyword"]
    finally:
        await again.close()


@pytest.mark.parametrize("depth", [-1, 0])
async def test_entries_that_ignore_the_budget_are_limited_by_the_free_space_only(talk: Talk, depth: int):
    await talk.services.preferences.set(context=1024, max_reply=64, world_tokens=1)
    lines = [f"Rock {number} " + "lies under the water at high tide. " * 3 for number in range(10)]
    entries = [
        {"name": f"Rock {number}", "content": line, "position_index": depth, "sticky": True, "ignore_budget": True}
        for number, line in enumerate(lines)
    ]
    write_world(talk.services, "isles", *entries)
    prompt = await talk.prompt_of(await talk.say("Where are the rocks?"))
    kept = sum(line.strip() in prompt for line in lines)
    cap = 0.2 * 1024
    assert kept * (await talk.services.token_counts.count_one(lines[0])) > cap


async def test_chance_falls_for_a_reply_written_anew_as_it_fell_before(talk: Talk):
    talk.write_world("isles", {**GROTTO, "trigger_chance": 0.5}, scan_depth=0)
    outcome = [await talk.say("The grotto!") for _turn in range(12)]
    assert {"Grotto" in one.ways for one in outcome} == {True, False}
    anew = await collect_turn(talk.services.chat.regenerate(talk.session.guid, outcome[-1].reply.id))
    assert anew.memory == outcome[-1].memory


async def test_an_entry_stands_in_the_system_prompt_at_its_depth_or_late_in_its_order(talk: Talk):
    write_world(
        talk.services,
        "isles",
        {**GROTTO, "name": "Head", "content": "HEAD entry", "position_index": -1},
        {**GROTTO, "name": "Late", "content": "LATE entry", "order": 200},
        {**GROTTO, "name": "Early", "content": "EARLY entry", "order": 50},
        {**GROTTO, "name": "Deep", "content": "DEEP entry", "position_index": 4},
        {**GROTTO, "name": "Voice", "content": "VOICE entry", "role": "user", "order": 300},
    )
    await talk.say("Evening.")
    prompt = await talk.prompt_of(outcome := await talk.say("The grotto!"))
    texts = ("HEAD entry", "DEEP entry", "Evening.", "EARLY entry", "LATE entry", "VOICE entry")
    places = [*map(prompt.index, texts), prompt.rindex("The grotto!")]
    assert places == sorted(places)
    assert recalled(outcome.memory, "Voice").role is Role.USER


async def test_worlds_of_everybody_the_persona_the_self_and_the_conversation_take_part(talk: Talk):
    services = talk.services
    for name in ("isles", "hers", "mine", "here", "elsewhere"):
        talk.write_world(name, {**GROTTO, "name": name})
    await change_persona(services, worlds=["hers", "missing"])
    await change_persona(services, "tomas", worlds=["mine"])
    await services.lore.bind(talk.session.guid, ["here"])
    assert set((await talk.say("The grotto!")).ways) == {"isles", "hers", "mine", "here"}
    other = await services.session_store.add_session(ChatSession(persona_id=MIRA, user_id="tomas"))
    assert set((await say(services, other, "The grotto!")).ways) == {"isles", "hers", "mine"}


async def test_an_edited_added_or_deleted_file_counts_at_once(talk: Talk):
    services = talk.services
    talk.write_world("isles", GROTTO)
    assert await ways(services, talk.session, "The grotto!") == ["keyword"]
    talk.write_world("isles", {**GROTTO, "content": "The grotto is dry now, and has been."})
    outcome = await talk.say("The grotto!")
    assert recalled(outcome.memory, "Grotto").text == "The grotto is dry now, and has been."
    (services.paths.worlds / "isles.json").unlink()
    assert await ways(services, talk.session, "The grotto!") == [None]


async def test_a_broken_world_keeps_nobody_from_answering(talk: Talk):
    talk.write_world("isles", GROTTO)
    (talk.services.paths.worlds / "isles.json").write_text('{"name": "Isles", "entries": [{"duration"', encoding="utf-8")
    outcome = await talk.say("The grotto!")
    assert outcome.reply.content == "“Aye.”"
    assert outcome.memory.recalled == []


async def test_words_are_looked_for_as_deep_as_a_world_says(talk: Talk):
    talk.write_world("isles", {**GROTTO, "scan_depth": 30})
    await talk.spoke("The grotto!", before_now(days=1))
    for number in range(28):
        await talk.spoke(f"Line {number}.", before_now(hours=2))
    assert await ways(talk.services, talk.session, "Good.", "Fine.") == ["keyword", None]


WINCH = "The cormorant nests beneath the broken winch."
ASKED = "Where does the cormorant nest, near the broken winch?"


async def test_an_entry_is_found_by_what_it_says_and_stays_for_its_duration(talk: Talk):
    await talk.services.preferences.set(rag_enabled=True)
    talk.write_world("isles", {"name": "Open", "content": WINCH, "duration": 2})
    await talk.services.indexing.sync_worlds()
    assert await ways(talk.services, talk.session, ASKED, "Good.", "Fine.", title="Open") == ["meaning", "active", None]


@pytest.mark.parametrize(
    "rule",
    [
        {"delay": 50},
        {"keywords_main": ["cormorant"], "trigger_chance": 0.0},
        {"keywords_main": ["cormorant"], "keywords_secondary": ["nest"], "word_link": "not"},
        {"insertion": "none"},
        {"added": (now() + DAY).isoformat()},
        {"end_time": (now() - DAY).isoformat()},
        {"enabled": False},
        {"do_embeds": False},
    ],
    ids="-".join,
)
async def test_what_the_rules_of_its_world_keep_back_is_not_found_by_what_it_says(talk: Talk, rule: dict[str, object]):
    await talk.services.preferences.set(rag_enabled=True)
    talk.write_world("isles", {"name": "Shut", "content": WINCH, **rule})
    await talk.services.indexing.sync_worlds()
    assert (await talk.say(ASKED)).ways == {}


async def test_keywords_may_hold_macros(talk: Talk):
    talk.write_world("isles", {**GROTTO, "keywords_main": ["{{user}}'s grotto"], "content": "{{char}} knows it."})
    outcome = await talk.say("Where is Tomas's grotto?")
    assert outcome.ways == {"Grotto": "keyword"}
    assert "Mira knows it." in await talk.prompt_of(outcome)
