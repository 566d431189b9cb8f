"""What the name promises: she remembers, and says why; what is not yet to be told waits; what is forgotten stays forgotten."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path

import pytest

from lethe_app.app import build
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryInsertion, MemoryUnit
from lethe_app.domain.recall import RecallWay, TurnMemory
from lethe_app.paths import Paths
from lethe_app.services.events import PromptBuilt
from lethe_app.services.memory.reason_words import reason_in_english
from tests.homes import write_personas
from tests.services.past_sessions import hold
from tests.services.turns import collect_turn
from tests.stories.conftest import ROOT
from tests.stories.stage import Stage

PERSONAS = {
    "mira-test": {"name": "Mira", "bio": "{{char}} is the navigator of the Petrel.", "worlds": ["bay"], "sense_of_time": True},
    "tomas": {"is_user": True, "name": "Tomas"},
}
BAY = {
    "name": "The bay",
    "scan_depth": 0,
    "entries": [
        {"name": "The bell buoy", "content": "It rings by itself.", "keywords_main": ["buoy"], "duration": 2, "cooldown": 2}
    ],
}
MONDAY = (
    "Keep the cook's cake away from me, I'm allergic to walnuts.",
    "No walnuts for you, then. I will tell him.",
    "My grandmother still lives in the keeper's cottage on Skerry Point.",
    "Then somebody there still knows the rocks by name.",
    "I have been restoring an old dinghy since spring.",
    "Clinker built, I hope.",
)


@pytest.fixture
def home(tmp_path: Path, no_worlds: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Mira, Tomas and the bay; nothing else of this machine is seen."""
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    paths = write_personas(tmp_path / "home", PERSONAS)
    paths.worlds.mkdir()
    (paths.worlds / "bay.json").write_text(json.dumps(BAY), encoding="utf-8")
    paths.settings.write_text(json.dumps({"user_persona": "tomas", "welcomed": True, "rotation_minutes": 0}))
    return paths.home


@pytest.fixture
async def services(home: Path, echo_model: Callable[..., Path]) -> AsyncIterator[AppServices]:
    services = await opened(home, echo_model)
    yield services
    await services.close()


async def opened(home: Path, echo_model: Callable[..., Path], *, by_meaning: bool = False) -> AppServices:
    services = await build(Paths.standard(home), "echo", by_meaning=by_meaning)
    await services.models.load(echo_model(*["Aye."] * 40))
    return services


async def talked(services: AppServices, days_ago: float = 4.0) -> ChatSession:
    """A conversation of some days ago, in a session of its own."""
    return await hold(services, *MONDAY, at=now() - timedelta(days=days_ago))


async def say(services: AppServices, session: ChatSession, text: str) -> tuple[TurnMemory, str]:
    """What came to her mind, and the hidden line above the words, if there is one."""
    outcome = await collect_turn(services.chat.send(session.guid, text))
    return outcome.memory, outcome.note.content if outcome.note is not None else ""


def titles(memory: TurnMemory) -> list[str]:
    return [one.title for one in memory.recalled]


async def test_what_was_said_on_monday_is_remembered_on_friday_with_its_reason(home: Path, echo_model: Callable[..., Path]):
    services = await opened(home, echo_model, by_meaning=True)
    try:
        assert await services.embedding.ensure_loaded()
        await services.preferences.set(session_handling="current_only", session_memory_system=False, core_facts_tokens=0)
        monday = await talked(services)
        friday = await services.sessions.new("mira-test")
        while await services.indexing.index_pending() or await services.memory_index.embed_pending():
            pass

        memory, _note = await say(services, friday, "Which nuts is it that I am allergic to?")
        small_talk, _note = await say(services, friday, "haha ok")

        (recalled,) = (one for one in memory.recalled if one.memory == monday.guid)
        assert recalled.way in {RecallWay.FACT, RecallWay.MEANING}
        assert any("walnuts" in lead.text for lead in recalled.leads)
        assert recalled.because
        assert all(reason_in_english(reason) for reason in recalled.because)
        assert "walnuts" in recalled.text
        assert small_talk.recalled == []
    finally:
        await services.close()


async def test_what_is_remembered_is_what_the_model_reads(services: AppServices):
    await services.preferences.set(session_handling="current_only", session_memory_system=False, core_facts_tokens=0)
    await talked(services)
    session = await services.sessions.new("mira-test")
    outcome = await collect_turn(services.chat.send(session.guid, "Is my grandmother still in the keeper's cottage?"))
    receipt = next(event.receipt for event in outcome.events if isinstance(event, PromptBuilt))
    assert {share.part.value: share.tokens for share in receipt.shares}["memories"] > 10


async def test_a_memory_of_the_future_keeps_silent_until_its_day(services: AppServices):
    session = await services.sessions.new("mira-test")
    launch = MemoryUnit(name="The launch", content="The dinghy is launched today.", keywords_main=["dinghy"])
    await services.memory.memorize("mira-test", launch.model_copy(update={"added": now() + timedelta(hours=1)}))

    before, _note = await say(services, session, "How is the dinghy?")
    await services.memory.edit(launch.model_copy(update={"added": now() - timedelta(hours=1)}))
    after, _note = await say(services, session, "How is the dinghy?")

    assert "The launch" not in titles(before)
    assert "The launch" in titles(after)


async def test_something_that_waits_for_its_moment_is_told_once_and_then_only_when_it_is_asked_for(services: AppServices):
    session = await services.sessions.new("mira-test")
    waiting = MemoryUnit(
        name="The letter",
        content="A letter from Skerry Point has come.",
        insertion=MemoryInsertion.NATURAL,
        keywords_main=["letter"],
        priority=3,
    )
    await services.memory.memorize("mira-test", waiting)

    _memory, nothing = await say(services, session, "What a wind.")
    _memory, reported = await say(services, session, "Is there a letter for me?")
    again, note = await say(services, session, "Give me that letter.")

    assert "A letter from Skerry Point" in reported
    assert nothing == note == ""
    assert "The letter" not in titles(again)  # it stands in the conversation still
    held = {memory.guid: memory for memory in await services.memory.memories("mira-test")}
    assert held[waiting.guid].insertion is MemoryInsertion.TRIGGER
    outline = await services.sessions.outline(session.guid)
    messages = await services.sessions.page(session.guid, 0, len(outline))
    line = next(place for place, message in enumerate(messages) if message.hidden)
    assert messages[line + 1].content == "Is there a letter for me?"


async def test_who_comes_back_after_a_day_is_greeted_with_what_waited(services: AppServices):
    session = await talked(services, days_ago=1.0)
    news = MemoryUnit(name="News", content="The harbour master asked for {{user}}.", insertion=MemoryInsertion.USER_RETURN)
    await services.memory.memorize("mira-test", news)

    memory, note = await say(services, session, "I am back.")
    _memory, later = await say(services, session, "Anything else?")

    assert "The harbour master asked for Tomas." in note
    assert [one.way for one in memory.recalled if one.title == "News"] == [RecallWay.RETURN]
    assert later == ""
    (kept,) = await services.memory.memories("mira-test")
    assert kept.insertion is MemoryInsertion.NONE


async def test_a_forgotten_fact_stays_forgotten_after_a_restart_and_when_the_talk_is_archived_again(
    home: Path, echo_model: Callable[..., Path]
):
    services = await opened(home, echo_model)
    session = await talked(services)
    await services.archive_queue.archive_session(session.guid)
    known = {fact.fact: fact for fact in await services.facts.facts_of("mira-test")}
    secret = next(fact for text, fact in known.items() if "walnuts" in text)

    await services.facts.forget_fact(secret.guid)
    await services.close()
    services = await opened(home, echo_model)
    await services.archive_queue.update(session.guid)
    await services.archive_queue.finish()

    after = {fact.fact for fact in await services.facts.facts_of("mira-test")}
    await services.close()
    assert secret.fact not in after
    assert after == known.keys() - {secret.fact}


async def test_what_came_out_of_the_trash_and_was_forgotten_again_stays_away_whatever_is_made_anew(
    home: Path, echo_model: Callable[..., Path]
):
    services = await opened(home, echo_model)
    session = await talked(services)
    await services.archive_queue.archive_session(session.guid)
    secret = next(fact for fact in await services.facts.facts_of("mira-test") if "walnuts" in fact.fact)
    memory = MemoryUnit(name="The pistachio tin", content="It stands behind the flour.", keywords_main=["tin"])
    await services.memory.memorize("mira-test", memory, check=False)

    for _time in range(2):
        await services.facts.forget_fact(secret.guid)
        await services.memory.forget_memory(memory.guid)
        for item in await services.trash.list_items():
            await services.trash.restore(item)
    assert secret.fact in {fact.fact for fact in await services.facts.facts_of("mira-test")}
    await services.facts.forget_fact(secret.guid)
    await services.memory.forget_memory(memory.guid)
    await services.trash.erase(await services.trash.list_items())
    await services.archive_queue.update(session.guid)
    await services.archive_queue.finish()
    await services.memory.rebuild()
    await services.close()

    services = await opened(home, echo_model)
    friday = await services.sessions.new("mira-test")
    recalled, _note = await say(services, friday, "Where is the pistachio tin?")
    found = [one.text for one in await services.memory_lookup.search("mira-test", "pistachio tin behind the flour", 9)]
    places = [hit.text async for hits in services.search.search_by_words("pistachio flour") for hit in hits]
    known = {fact.fact for fact in await services.facts.facts_of("mira-test")}
    await services.close()
    assert secret.fact not in known
    assert known
    assert "The pistachio tin" not in titles(recalled)
    assert not any("behind the flour" in text for text in (*found, *places))


async def test_a_world_entry_wakes_stays_and_cools_down(services: AppServices):
    session = await services.sessions.new("mira-test")
    came = []
    for text in ("I heard the buoy.", "And now?", "The buoy again?", "The buoy!", "Listen, the buoy."):
        memory, _note = await say(services, session, text)
        came.append("The bell buoy" in titles(memory))
    assert came == [True, True, False, False, True]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_an_archive_that_is_killed_at_any_moment_is_finished_by_the_next_start(home: Path, echo_model: Callable[..., Path]):
    asyncio.run(begun(home, echo_model))
    command = [sys.executable, "-m", "lethe_app", "--home", str(home), "archive", "--persona", "mira-test", "--rules", "--json"]
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT)}
    for patience in (0.3, 0.6, 0.9, 1.2):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=surroundings)
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()

    interrupted, facts = asyncio.run(finished(home, echo_model))

    assert interrupted.archived
    assert interrupted.name
    assert "walnuts" in interrupted.content
    assert len(facts) == len(set(facts)) >= 2
    assert "Tomas is allergic to walnuts." in facts


async def begun(home: Path, echo_model: Callable[..., Path]) -> None:
    services = await opened(home, echo_model)
    await talked(services)
    await services.close()


async def finished(home: Path, echo_model: Callable[..., Path]) -> tuple[ChatSession, list[str]]:
    services = await opened(home, echo_model)
    (summary,) = await services.sessions.list("mira-test")
    if not summary.archived:  # killed before it had begun
        await services.archive_queue.archive_session(summary.guid)
    await services.archive_queue.finish()
    facts = await services.facts.facts_of("mira-test")
    session = await services.sessions.open(summary.guid)
    await services.close()
    assert all(fact.reference_count == 1 for fact in facts)
    return session, [fact.fact for fact in facts]


def test_in_the_window_a_new_conversation_remembers_the_one_before(qapp: object, home: Path, echo_model: Callable[..., Path]):
    asyncio.run(begun(home, echo_model))
    settings = json.loads((home / "settings.json").read_text())
    settings |= {"model_path": str(echo_model("Walnuts.")), "last_persona": "mira-test", "session_handling": "current_only"}
    (home / "settings.json").write_text(json.dumps(settings))

    async def evening(stage: Stage) -> None:
        await stage.until(lambda: len(stage.messages()) == len(MONDAY), "Monday is there")
        stage.window.window_actions["new"].trigger()
        await stage.until(lambda: not stage.messages(), "a new conversation begins")
        await stage.write("Was it walnuts that I am allergic to?")
        await stage.until(lambda: [text for _name, text in stage.messages()][-1:] == ["Walnuts."], "she answers")
        await stage.until(lambda: "1 source used" in stage.window.chat.status.full_text, "the window says that she remembered")

    Stage(home, "echo").play(evening)
