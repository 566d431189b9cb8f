"""Whatever happens between two turns, drawn by lot: what the model has read of a conversation stands there to the letter.

Only what was changed itself may be different, and all of it may be where the history was cut.
"""

from __future__ import annotations

import json
import random
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from lethe_app.app import build
from lethe_app.composition.app_services import AppServices
from lethe_app.domain import clock
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.memory import MemoryInsertion, MemoryUnit
from lethe_app.domain.prompt import Prompt, PromptPart
from lethe_app.llm.models.gguf_header import read_header
from lethe_app.paths import Paths
from lethe_app.services.chat import service as chat_service
from lethe_app.services.prompting.turn_context import StablePrefix
from tests.prompt.test_stable_prefix import BAY, BEGUN, MIRA, TOMAS, RecordingClient, SettableClock, run_turn

SUBJECTS = ("buoy", "crab", "gull", "violin", "the lighthouse", "my sister Ines lives in Porto", "I am angry", "thank you")
CRAB = {"name": "Crab", "content": "Crabs walk sideways, {{user}}.", "keywords_main": ["crab"], "role": "user"}
LIVELY = [
    {**CRAB, "duration": 3},
    {"name": "Gull", "content": "Gulls steal pears.", "keywords_main": ["gull"], "role": "assistant"},
    {"name": "Deep", "content": "It is {{time}} out there.", "sticky": True, "trigger_chance": 0.5},
]
WISHES: list[dict[str, object]] = [
    {"rag_entries": 1},
    {"session_notes": False},
    {"mood_handling": False},
    {"cache_surgery": False},
    {"kept_states": 0},
    {"temperature_override": 0.7},
    {"first_paragraph_only": True},
]
"""Settings that change nothing of what was said."""
OPENS = "<|im_start|>"


@dataclass
class Evening:
    """A conversation in which anything may happen."""

    services: AppServices
    session: ChatSession
    moved_clock: SettableClock
    dice: random.Random
    received: RecordingClient
    ahead: list[str]
    prompts: list[Prompt]
    reported: list[str] = field(default_factory=list)
    """What happened."""
    changed: list[str] = field(default_factory=list)
    """Words that were changed or taken away since the last turn."""

    async def frame(self) -> StablePrefix | None:
        return await self.services.stable_prefixes.load(self.session.guid)

    async def read(self) -> None:
        """The user is silent until the model has read."""
        await self.services.prefill.finish()

    async def ask(self) -> None:
        words = " and ".join(self.dice.sample(SUBJECTS, self.dice.randrange(1, 4)))
        text = f"Words {len(self.reported)}: {words}" + " blah" * self.dice.choice([0, 40])
        await run_turn(self.services.chat.send(self.session.guid, text))
        await self.read()

    # What may come between

    async def another_wording(self) -> None:
        reply = await self.reply()
        await run_turn(self.services.chat.regenerate(self.session.guid, reply.id))
        self.changed.append(reply.content)

    async def go_on(self) -> None:
        reply = await self.reply()
        await run_turn(self.services.chat.continue_reply(self.session.guid, reply.id))
        self.changed.append(reply.content)

    async def look_through_wordings(self) -> None:
        reply = await self.reply()
        await self.services.message_editing.show_alternative(reply.id, self.dice.randrange(len(reply.alternatives)))
        self.changed.append(reply.content)

    async def edit(self) -> None:
        reply = await self.reply()
        await self.services.message_editing.edit(reply.id, f"Edited {len(self.reported)}: the buoy.")
        self.changed.append(reply.content)

    async def delete(self) -> None:
        reply = await self.reply()
        await self.services.message_editing.delete(self.session.guid, reply.id)
        self.changed.append(reply.content)

    async def stop(self) -> None:
        async with aclosing(self.services.chat.send(self.session.guid, f"Words {len(self.reported)}: stop.")) as events:
            for _event in range(self.dice.randrange(1, 8)):
                await anext(events, None)

    async def learn(self) -> None:
        subject = self.dice.choice(SUBJECTS)
        fields = {"insertion": self.dice.choice(list(MemoryInsertion)), "duration": self.dice.choice([1, 4])}
        memory = MemoryUnit(name="M", content=f"Of {subject}, {len(self.reported)}.", keywords_main=[subject], **fields)  # type: ignore[arg-type]
        always = memory.model_copy(update={"sticky": self.dice.random() < 0.2, "position_index": self.dice.choice([0, 2, 5])})
        await self.services.memory.memorize(MIRA_ID, always, check=False)

    async def archive(self) -> None:
        begun, chats = BEGUN - timedelta(days=self.dice.randrange(1, 9)), self.services.session_store
        session = await chats.add_session(ChatSession(persona_id=MIRA_ID, user_id="tomas", added=begun))
        for role, words in ((Role.USER, "I work as a carpenter."), (Role.ASSISTANT, f"I see {len(self.reported)}.")) * 2:
            said = [Alternative(content=words, created=begun)]
            await chats.add_message(
                Message(session_id=session.guid, role=role, speaker_name="X", time=begun, alternatives=said)
            )
        await self.services.archive_queue.archive_session(session.guid)
        await self.services.archive_queue.finish()

    async def begin_a_notebook(self) -> None:
        await self.services.notebooks.create(MIRA_ID, f"Violin {len(self.reported)}")

    async def cheer_up(self) -> None:
        feelings = (await self.services.moods.load_mood(MIRA_ID)).feelings
        await self.services.moods.set_mood(MIRA_ID, self.dice.choice(list(feelings)), self.dice.random())

    async def set(self) -> None:
        requested = self.dice.choice(WISHES)
        await self.services.preferences.set(**requested)

    async def talk_elsewhere(self) -> None:
        other = await self.services.sessions.new(MIRA_ID)
        await run_turn(self.services.chat.send(other.guid, "Elsewhere: a storm."))

    async def reply(self) -> Message:
        outline = await self.services.sessions.outline(self.session.guid)
        replies = [one for one in outline if one.role is Role.ASSISTANT and not one.hidden]
        return await self.services.sessions.message(self.dice.choice(replies[-3:]).id)


MIRA_ID = "mira-test"


async def evening(home: Path, moved_clock: SettableClock, dice: random.Random, starter_model: Path) -> Evening:
    paths, random_replies = Paths.standard(home), ("Aye {}.", "<think>Hm {}.</think>Thus {}.", "*She nods {}.*\n\nAnd then?")
    bay = {**BAY, "entries": [*BAY["entries"], *LIVELY]}  # type: ignore[misc]
    for folder, name, content in (
        (paths.personas, MIRA_ID, {**MIRA, "mood": True}),
        (paths.personas, "tomas", TOMAS),
        (paths.worlds, "bay", bay),
    ):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    template = read_header(starter_model, arrays=set(), tensors=False).text("tokenizer.chat_template")
    replies = [dice.choice(random_replies).replace("{}", str(number)) for number in range(200)]
    script = {"replies": replies, "context": dice.choice([1200, 3000]), "template": template}
    (home / "echo.json").write_text(json.dumps(script), encoding="utf-8")
    services = await build(paths, engine="echo")
    await services.preferences.set(user_persona="tomas", rotation_minutes=0, system_preset="default", min_insert_delay=0,
                                max_reply=64, add_names=dice.random() < 0.3, tools_enabled=dice.random() < 0.3)  # fmt: skip
    await services.models.load(home / "echo.json")
    received, ahead, prompts = RecordingClient(services), list[str](), list[Prompt]()
    listen(services, ahead, prompts)
    return Evening(services, await services.sessions.new(MIRA_ID), moved_clock, dice, received, ahead, prompts)


def listen(services: AppServices, ahead: list[str], prompts: list[Prompt]) -> None:
    """Keep what is read ahead, and every prompt that is made."""
    client, made = services.client, services.prompt_assembler.build
    reads = client.prefill

    async def prefill(text: str, **more: object) -> object:
        ahead.append(text)
        return await reads(text, **more)  # type: ignore[arg-type]

    async def built(*what: object, **more: object) -> Prompt:
        prompts.append(await made(*what, **more))  # type: ignore[arg-type]
        return prompts[-1]

    client.prefill = prefill  # type: ignore[method-assign, assignment]
    services.prompt_assembler.build = built  # type: ignore[method-assign]


def lasting(prompt: Prompt) -> list[str]:
    """Its turns as they are in the next prompt, too: without those of this turn alone and the opening of the reply."""
    place, brought = 0, list[int]()
    for span in prompt.spans:
        brought += [place] if span.part is PromptPart.MEMORIES else []
        place += len(span.text)
    place, kept = 0, list[str]()
    for turn in prompt.text.split(OPENS)[1:]:
        end = place + len(OPENS) + len(turn)
        if not any(place <= start < end for start in brought):
            kept.append(turn)
        place = end
    return kept[:-1]


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_happens_between_two_turns_what_was_said_before_stands_there_to_the_letter(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, starter_model: Path
):
    moved_clock, dice = SettableClock(), random.Random(seed)
    monkeypatch.setattr(clock, "datetime", moved_clock)
    monkeypatch.setattr(chat_service, "PREFILL_DELAY", 0.0)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    scene = await evening(tmp_path, moved_clock, dice, starter_model)
    between: list[Callable[[], Awaitable[None]]] = [
        scene.another_wording, scene.go_on, scene.look_through_wordings, scene.edit, scene.delete, scene.stop, scene.learn,
        scene.archive, scene.begin_a_notebook, scene.cheer_up, scene.set, scene.talk_elsewhere,
    ]  # fmt: skip
    await scene.ask()
    try:
        for _turn in range(20):
            before, frame, read = scene.prompts[-1], await scene.frame(), scene.ahead[-1]
            happened = [dice.choice(between) for _ in range(dice.choice([0, 0, 1, 2]))]
            scene.reported += [action.__name__ for action in happened] or [""]
            for action in happened:
                await action()
            moved_clock.moment += timedelta(minutes=dice.choice([1, 7, 400]))
            count = len(scene.prompts)
            await scene.ask()
            if not is_cut(frame, await scene.frame()):
                assert_stands(scene, before, scene.prompts[count])
                assert happened or scene.prompts[count].text.startswith(read[: read.rindex(OPENS)])
            scene.changed.clear()
    finally:
        await scene.services.close()


def is_cut(before: StablePrefix | None, after: StablePrefix | None) -> bool:
    def edge(frame: StablePrefix | None) -> tuple[list[UUID], UUID | None] | None:
        return (frame.earlier, frame.first) if frame is not None else None

    return edge(before) != edge(after)


def assert_stands(scene: Evening, before: Prompt, after: Prompt) -> None:
    old, new = lasting(before), after.text.split(OPENS)[1:]
    touched = [place for place, turn in enumerate(old) if any(words in turn for words in scene.changed)]
    end = max(min(touched, default=len(old)) - 3, 1) if touched else len(old)  # hidden lines above what was deleted go too
    assert new[:end] == old[:end], scene.reported[-6:]
