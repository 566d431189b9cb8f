"""Two plain turns differ nowhere before what is brought up for one of them: what the model has read, it need not read again."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from lethe_app.app import build as build_services
from lethe_app.composition.app_services import AppServices
from lethe_app.domain import clock
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.memory import MemoryInsertion, MemoryUnit
from lethe_app.domain.presets import InstructPreset
from lethe_app.domain.prompt import PromptNote, PromptTurn
from lethe_app.domain.recall import TurnMemory
from lethe_app.llm.models.gguf_header import read_header
from lethe_app.paths import Paths, shipped_root
from lethe_app.prompt.builder import build_prompt
from lethe_app.prompt.format.chat_template import ChatTemplate
from lethe_app.prompt.format.instruct import InstructRenderer
from lethe_app.prompt.format.renderer import Renderer
from lethe_app.services.events import MemoriesRecalled, ReplyFinished, TurnEvent
from tests.prompt import templates
from tests.prompt.requests import MOMENT, Count, request

SPOKEN = ("“I was there.”", "*She nods.*\n\nAnd then?", "No, never.", "Ask me tomorrow…", "Aye, aye.")
FORMATS: dict[str, Callable[[], Renderer]] = {
    **{
        name: lambda source=source: ChatTemplate(source, moment=MOMENT, bos="<s>", eos="</s>")
        for name, source in templates.FRIENDLY.items()
    },
    **{
        path.stem: lambda path=path: InstructRenderer(InstructPreset.model_validate_json(path.read_bytes()))
        for path in sorted((shipped_root() / "resources/presets/instruct").glob("*.json"))
    },
}


def starter_template(model: Path) -> ChatTemplate:
    header = read_header(model, arrays=set(), tensors=False)
    return ChatTemplate(header.text("tokenizer.chat_template"), moment=MOMENT, bos="<|im_start|>", eos="<|im_end|>")


async def prompt_turns(renderer: Renderer, *, names: bool, thinking: bool, notes: bool = True) -> list[tuple[str, str, str]]:
    """Some turns: the prompt of each, the same without what was brought up, and the user's words."""
    found, history = [], [PromptTurn("assistant", "Welcome aboard, captain.", "Ada")]
    for number, reply in enumerate(SPOKEN):
        asked = f"Question {number}: where were you in the storm?"
        history.append(PromptTurn("user", asked, "Benjamin"))
        brought = [PromptNote(f"Note {number} of {each}.", depth=each, order=100 - each) for each in range(number + 1)]
        made = request(history, renderer=renderer, add_names=names, thinking=thinking, context=8000)
        full = await build_prompt(replace(made, volatile=brought if notes else ()), Count())
        bare = await build_prompt(made, Count())
        found.append((full.text, bare.text, asked))
        history.append(PromptTurn("assistant", reply, "Ada"))
    return found


@pytest.mark.parametrize("names", [False, True], ids=["plain", "names"])
@pytest.mark.parametrize("thinking", [False, True], ids=["silent", "thinking"])
@pytest.mark.parametrize("name", sorted(FORMATS))
async def test_in_every_format_a_turn_begins_with_all_that_was_said_before_it(name: str, thinking: bool, names: bool):
    await begins_with_all_that_was_said(FORMATS[name](), names=names, thinking=thinking)


@pytest.mark.parametrize("names", [False, True], ids=["plain", "names"])
async def test_in_the_starter_models_own_template_too(starter_model: Path, names: bool):
    await begins_with_all_that_was_said(starter_template(starter_model), names=names, thinking=True)


async def begins_with_all_that_was_said(renderer: Renderer, *, names: bool, thinking: bool) -> None:
    turns = await prompt_turns(renderer, names=names, thinking=thinking)
    for number, ((_full, bare, asked), (later, _bare, _asked)) in enumerate(pairwise(turns)):
        before = up_to(bare, asked)
        assert later.startswith(before), later[shared(before, later) - 60 :][:120]
        reply = SPOKEN[number].split("\n")[0]
        assert len(before) < later.index(reply, len(before)) < later.index(f"Note {number + 1} of")


def shared(one: str, other: str) -> int:
    return next((place for place, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), len(one))


# In a whole house, with a clock that goes on

BEGUN = datetime(2026, 12, 31, 23, 40, tzinfo=UTC)
MIRA = {
    "name": "Mira",
    "bio": "{{char}} sails the Petrel. It is {{weekday}}, {{date}}, {{time}}. The wind is {{random:north,east,west}}.",
    "scenario": "They have {{roll:d20}} casks of water. Last seen: {{idle_duration}}.",
    "first_messages": ["“You are late, {{user}}.”"],
    "sense_of_time": True,
    "worlds": ["bay"],
}
TOMAS = {"is_user": True, "name": "Tomas", "bio": "{{user}} is the captain."}
BAY = {
    "name": "The bay",
    "entries": [
        {"name": "Always", "content": "The bay lies open to the west.", "sticky": True, "position_index": -1},
        {"name": "The bell buoy", "content": "It rings by itself.", "keywords_main": ["buoy"]},
    ],
}


class SettableClock:
    """A clock's: they move when they are moved."""

    moment = BEGUN

    def now(self) -> datetime:
        return self.moment


class RecordingClient:
    """Stands before the model's client and keeps what it was asked to continue."""

    def __init__(self, services: AppServices) -> None:
        self._client, self.prompts = services.chat._generator._client, list[str]()
        services.chat._generator._client = self  # type: ignore[assignment]

    def generate(self, prompt: str, *how: object, **more: object) -> AsyncGenerator[object]:
        self.prompts.append(prompt)
        return self._client.generate(prompt, *how, **more)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> object:
        return getattr(self._client, name)


@pytest.fixture
def moved_clock(monkeypatch: pytest.MonkeyPatch) -> SettableClock:
    moved_clock = SettableClock()
    monkeypatch.setattr(clock, "datetime", moved_clock)
    return moved_clock


@pytest.fixture
async def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moved_clock: SettableClock) -> AsyncIterator[AppServices]:
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    paths = Paths.standard(tmp_path / "home")
    for folder, name, content in (
        (paths.personas, "mira-test", MIRA),
        (paths.personas, "tomas", TOMAS),
        (paths.worlds, "bay", BAY),
    ):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    services = await build_services(paths, engine="echo")
    await services.preferences.set(user_persona="tomas", rotation_minutes=0, system_preset="default", read_ahead=False)
    yield services
    await services.close()


async def run_turn(turn: AsyncGenerator[TurnEvent]) -> tuple[Message, TurnMemory]:
    reply, memory = None, TurnMemory()
    async with aclosing(turn) as events:
        async for event in events:
            if isinstance(event, ReplyFinished):
                reply = event.message
            elif isinstance(event, MemoriesRecalled):
                memory = event.memory
    assert reply is not None
    return reply, memory


def up_to(prompt: str, words: str) -> str:
    """As far as something that was said, which occurs once."""
    return prompt[: prompt.rindex(words) + len(words)]


async def test_dates_dice_names_and_the_time_of_day_change_nothing_in_what_was_read(
    services: AppServices, moved_clock: SettableClock, echo_model: Callable[..., Path], starter_model: Path
):
    template = read_header(starter_model, arrays=set(), tensors=False).text("tokenizer.chat_template")
    await services.models.load(echo_model(*(f"Reply {number}." for number in range(6)), template=template))
    received = RecordingClient(services)
    session = await services.sessions.new("mira-test")
    said = ["Good evening.", "Do you hear the buoy?", "And now?", "The buoy again.", "Good night."]

    for place, words in enumerate(said):
        moved_clock.moment += timedelta(minutes=7) if place != 3 else timedelta(days=2)
        await run_turn(services.chat.send(session.guid, words))

    assert "It rings by itself." in received.prompts[1]
    assert "The bay lies open to the west." in received.prompts[0]
    for place, (before, after) in enumerate(pairwise(received.prompts)):
        stays = up_to(before.replace(brought_up(before), ""), said[place])
        assert after.startswith(stays), after[shared(stays, after) - 60 :][:120]
        assert after[len(stays) :].startswith(f"<|im_end|>\n<|im_start|>assistant\nReply {place}.<|im_end|>\n")


def brought_up(prompt: str) -> str:
    """The turn of what is true for this prompt only; there is none in a plain one."""
    start = prompt.rfind("<|im_start|>system\n#")
    return prompt[start : prompt.index("<|im_start|>user", start)] if start > 0 else ""


async def test_a_swipe_is_asked_for_with_the_same_words_and_the_next_turn_begins_as_it_would_have(
    services: AppServices, moved_clock: SettableClock, echo_model: Callable[..., Path]
):
    await services.models.load(echo_model("One.", "<think>Hm.</think>Two.", "Three.", "Four."))
    received = RecordingClient(services)
    session = await services.sessions.new("mira-test")
    reply, _memory = await run_turn(services.chat.send(session.guid, "Do you hear the buoy?"))
    moved_clock.moment += timedelta(hours=1)

    swiped, _memory = await run_turn(services.chat.regenerate(session.guid, reply.id))
    await run_turn(services.chat.send(session.guid, "And now?"))
    await services.message_editing.show_alternative(reply.id, 0)
    await run_turn(services.chat.send(session.guid, "Well?"))

    first, again, second, third = received.prompts
    before = up_to(first.replace(brought_up(first), ""), "Do you hear the buoy?")
    assert again == first
    assert swiped.thinking == "Hm."
    assert second.startswith(f"{before}<|im_end|>\n<|im_start|>assistant\nTwo.<|im_end|>\n")
    assert third.startswith(f"{before}<|im_end|>\n<|im_start|>assistant\nOne.<|im_end|>\n")
    assert "Hm." not in second + third


async def test_what_is_known_by_heart_is_frozen_while_the_conversation_goes_on(
    services: AppServices, moved_clock: SettableClock, echo_model: Callable[..., Path]
):
    await services.models.load(echo_model(*["Aye."] * 4))
    received = RecordingClient(services)
    session = await services.sessions.new("mira-test")
    await run_turn(services.chat.send(session.guid, "Good evening."))
    waiting = MemoryUnit(name="Letter", content="A letter came.", insertion=MemoryInsertion.NATURAL_FORCED)

    await services.memory.memorize("mira-test", waiting, check=False)
    other = await past_conversation(services)
    await services.archive_queue.archive_session(other.guid)
    await services.archive_queue.finish()
    learnt = {fact.fact for fact in await services.facts.facts_of("mira-test")}
    await run_turn(services.chat.send(session.guid, "Anything new?"))

    first, second = received.prompts
    assert any("Porto" in fact for fact in learnt)
    assert second.startswith(up_to(first.replace(brought_up(first), ""), "Good evening."))


async def past_conversation(services: AppServices) -> ChatSession:
    """Something to learn from."""
    chats, begun = services.session_store, BEGUN - timedelta(days=4)
    session = await chats.add_session(ChatSession(persona_id="mira-test", user_id="tomas", added=begun))
    lines = ("My sister Ines lives in Porto.", "Then you should write to her.", "I work as a carpenter.", "I can see that.")
    for place, text in enumerate(lines):
        role = Role.ASSISTANT if place % 2 else Role.USER
        name = "Mira" if place % 2 else "Tomas"
        said = [Alternative(content=text, created=begun)]
        await chats.add_message(Message(session_id=session.guid, role=role, speaker_name=name, time=begun, alternatives=said))
    return session
