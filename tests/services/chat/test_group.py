"""Several personas in one conversation: who may come, who answers, under whose name, and whose memory it is."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from random import Random
from typing import TypeVar

import pytest

from lethe_app.brain.llm_schemas.archive import LlmAnswer
from lethe_app.composition.app_services import AppServices
from lethe_app.config.options import GroupTurns
from lethe_app.domain.chat import ChatSession, Message, Role
from lethe_app.domain.persona import Persona
from lethe_app.domain.prompt import PromptPart
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.errors import ModelError
from lethe_app.paths import shipped_root
from lethe_app.prompt.macros import expand
from lethe_app.prompt.task_prompts import TaskPrompts
from lethe_app.services.chat.group import TurnOrder, spoken_names
from lethe_app.services.chat.prompt_inspector import PromptInspection
from lethe_app.services.events import MemoriesRecalled, PromptBuilt, ReplyFinished, ReplyStarted, ReplyText, TurnEvent
from tests.services.turns import Talk

Says = Callable[..., object]
T = TypeVar("T", bound=LlmAnswer)
ADA, BO, CLEO = (Persona(unique_name=name.split()[0].lower(), name=name) for name in ("Ada Vale", "Bo", "Cleo Vale"))
GUESTS = {
    "wren": {"name": "Wren", "bio": "{{char}} keeps the light.", "example_dialogs": ["Short words."]},
    "oskar": {"name": "Oskar Lind", "bio": "{{char}} bakes."},
}


@pytest.fixture
async def session(services: AppServices) -> ChatSession:
    for name, persona in GUESTS.items():
        (services.paths.personas / f"{name}.json").write_text(json.dumps(persona), encoding="utf-8")
    session = await services.sessions.new("mira-test")
    return await services.sessions.set_guests(session.guid, ["wren", "oskar"])


async def all_of(turn: AsyncGenerator[TurnEvent]) -> list[TurnEvent]:
    async with aclosing(turn) as events:
        return [event async for event in events]


def replies(events: Sequence[TurnEvent]) -> list[Message]:
    return [event.message for event in events if isinstance(event, ReplyFinished)]


async def speakers(services: AppServices, session: ChatSession, text: str, speaker: str = "") -> list[str]:
    return [reply.speaker_name for reply in replies(await all_of(services.chat.send(session.guid, text, speaker)))]


def part_of(inspected: PromptInspection | None, *parts: PromptPart) -> str:
    return "".join(span.text for span in inspected.spans if span.part in parts)


# Who speaks next


def order(text: str, last: str = "", way: GroupTurns = GroupTurns.NAMED, most: int = 9) -> list[str]:
    taking = TurnOrder([ADA, BO, CLEO], way, most)
    taking.plan(text, last)
    return list(iter(taking.next, None))


@pytest.mark.parametrize(
    ("text", "last", "way", "wanted"),
    [
        ("Bo, and you, Ada?", "", GroupTurns.NAMED, ["bo", "ada"]),
        ("also bob and ADA VALE", "", GroupTurns.NAMED, ["ada"]),
        ("What of the Vale?", "ada", GroupTurns.NAMED, ["bo"]),
        ("Hello.", "", GroupTurns.NAMED, ["ada"]),
        ("Hello.", "cleo", GroupTurns.NAMED, ["ada"]),
        ("Hello.", "ada", GroupTurns.EVERYONE, ["bo", "cleo", "ada"]),
        ("Cleo?", "ada", GroupTurns.EVERYONE, ["cleo", "bo", "ada"]),
        ("Cleo, Ada?", "ada", GroupTurns.ONE, ["bo"]),
        ("Hello.", "somebody who left", GroupTurns.ONE, ["ada"]),
    ],
)
def test_whoever_is_named_answers_or_else_the_next(text: str, last: str, way: GroupTurns, wanted: list[str]):
    assert order(text, last, way) == wanted


def test_a_persona_answers_to_its_nickname():
    assert order("Bee?") == ["ada"]  # the first in turn
    assert "bo" in TurnOrder([ADA, BO.model_copy(update={"nickname": "Bee"})], GroupTurns.NAMED, 2).find_named_in("Bee?")


def drawn(text: str, seed: int, *group: Persona) -> list[str]:
    taking = TurnOrder(group, GroupTurns.TALKATIVE, 9, Random(seed))
    taking.plan(text, "")
    return list(iter(taking.next, None))


def test_others_speak_by_their_talkativeness():
    chatty, quiet = BO.model_copy(update={"talkativeness": 0.9}), CLEO.model_copy(update={"talkativeness": 0.1})
    silent = ADA.model_copy(update={"talkativeness": 0.0})

    rounds = [drawn("Hello.", seed, silent, chatty, quiet) for seed in range(400)]

    assert 330 < sum("bo" in speakers for speakers in rounds) <= 400
    assert 10 < sum("cleo" in speakers for speakers in rounds) < 90
    assert all(speakers and "ada" not in speakers for speakers in rounds)
    assert all(drawn("Ada?", seed, silent, chatty, quiet)[0] == "ada" for seed in range(20))


def test_who_never_speaks_unasked_is_left_out_of_the_rotation():
    silent = BO.model_copy(update={"talkativeness": 0.0})

    assert _speakers([ADA, silent, CLEO], "ada") == ["cleo"]
    assert _speakers([silent], "") == ["bo"]


def _speakers(group: list[Persona], last: str) -> list[str]:
    taking = TurnOrder(group, GroupTurns.ONE, 9)
    taking.plan("Hello.", last)
    return list(iter(taking.next, None))


def test_never_more_in_a_row_than_the_user_wants():
    assert order("Ada, Bo, Cleo!", most=2) == ["ada", "bo"]
    assert order("Hello.", way=GroupTurns.EVERYONE, most=2) == ["ada", "bo"]


def test_whoever_a_reply_names_may_answer_it_until_it_is_enough():
    taking = TurnOrder([ADA, BO, CLEO], GroupTurns.NAMED, 3)
    taking.plan("Bo?", "")
    spoken = []
    while (name := taking.next()) is not None:
        spoken.append(name)
        taking.note_reply(name, "Ask Cleo. I am Bo." if name == "bo" else "No, ask Bo.")

    assert spoken == ["bo", "cleo", "bo"]


def test_a_first_name_counts_where_it_is_nobody_elses_and_long_enough():
    assert spoken_names(ADA, [ADA, BO, CLEO]) == ["Ada Vale", "Ada"]
    assert spoken_names(Persona(name="Li Wei"), [ADA]) == ["Li Wei"]
    assert spoken_names(Persona(unique_name="b", name="Ada Holm"), [ADA]) == ["Ada Holm"]
    assert spoken_names(Persona(unique_name="c", name=" "), [ADA]) == []


def test_a_name_with_signs_is_found_too():
    robot = Persona(unique_name="r", name="C-3 (old)")
    assert TurnOrder([robot], GroupTurns.NAMED, 1).find_named_in("well, c-3 (OLD)?") == ["r"]


def test_where_the_model_chooses_names_come_first_and_somebody_always_answers():
    taking = TurnOrder([ADA, BO, CLEO], GroupTurns.MODEL, 4)
    taking.plan("Hello.", "ada")
    assert (taking.is_open, taking.must_answer) == (True, True)
    taking.choose("")
    assert taking.next() == "bo"  # it could not say, and the next in turn was Bo
    taking.note_reply("bo", "Ask Ada.")
    assert (taking.is_open, taking.must_answer) == (False, False)
    assert taking.next() == "ada"
    taking.note_reply("ada", "Fine.")
    taking.choose("cleo")
    assert taking.next() == "cleo"
    taking.note_reply("cleo", "Fine.")
    assert taking.is_open
    taking.choose("")
    assert taking.next() is None


# Taking part


async def test_guests_are_asked_in_and_leave_and_the_conversation_stays_its_personas(talk: Talk):
    services = talk.services
    reported: list[str] = []
    services.sessions.changed.add(reported.append)

    assert [one.name for one in await services.group.members(talk.session.guid)] == ["Mira", "Wren", "Oskar Lind"]
    assert not {"mira-test", "wren", "oskar", "tomas"} & {
        one.unique_name for one in await services.group.candidates_for(talk.session.guid)
    }

    left = await services.sessions.set_guests(talk.session.guid, ["oskar", "mira-test", "oskar"])

    assert (left.guests, left.persona_id, reported) == (["oskar"], "mira-test", ["mira-test"])
    assert (await services.sessions.open(talk.session.guid)).guests == ["oskar"]
    assert "wren" in {one.unique_name for one in await services.group.candidates_for(talk.session.guid)}


async def test_a_group_begins_with_a_group_greeting_and_a_conversation_of_two_with_another(services: AppServices):
    mira = await services.library.persona("mira-test")
    await services.library.save_persona(mira.model_copy(update={"group_greetings": ["{{char}} waves at all of you."]}))
    session = await services.sessions.new("mira-test")
    (alone,) = await services.sessions.page(session.guid, 0, 9)

    await services.sessions.set_guests(session.guid, ["wren"])
    (together,) = await services.sessions.page(session.guid, 0, 9)
    assert together.current.content == "Mira waves at all of you."
    assert [one.content for one in together.alternatives] == [
        *(one.content for one in alone.alternatives),
        "Mira waves at all of you.",
    ]

    await services.sessions.set_guests(session.guid, [])
    (again,) = await services.sessions.page(session.guid, 0, 9)
    assert again.current.content in [one.content for one in alone.alternatives]


async def test_a_greeting_that_was_answered_stays(services: AppServices, says: Says):
    mira = await services.library.persona("mira-test")
    await services.library.save_persona(mira.model_copy(update={"group_greetings": ["Welcome, all."]}))
    session = await services.sessions.new("mira-test")
    await says("“Aye.”")
    await all_of(services.chat.send(session.guid, "Hello."))
    before = await services.sessions.page(session.guid, 0, 9)

    await services.sessions.set_guests(session.guid, ["wren"])

    assert await services.sessions.page(session.guid, 0, 9) == before


async def test_a_guest_whose_file_is_gone_is_passed_over(talk: Talk):
    (talk.services.paths.personas / "wren.json").unlink()
    await talk.says("“Aye.”")

    assert [one.name for one in await talk.services.group.members(talk.session.guid)] == ["Mira", "Oskar Lind"]
    assert await speakers(talk.services, talk.session, "Wren?") == ["Oskar Lind"]  # Mira has greeted


# Speaking


async def test_those_who_are_named_answer_one_after_the_other_under_their_names(talk: Talk):
    await talk.says("Oskar Lind: “Bread.”", "“Light.”")

    events = await all_of(talk.services.chat.send(talk.session.guid, "Oskar, Wren: what is there?"))

    assert [(one.speaker, one.speaker_name, one.content) for one in replies(events)] == [
        ("oskar", "Oskar Lind", "“Bread.”"),
        ("wren", "Wren", "“Light.”"),
    ]
    assert [event.message.speaker for event in events if isinstance(event, ReplyStarted)] == ["oskar", "wren"]
    log = list(await talk.services.sessions.page(talk.session.guid, 0, 10))
    assert [one.speaker for one in log[1:]] == ["tomas", "oskar", "wren"]
    recalled = [event for event in events if isinstance(event, MemoriesRecalled)]
    assert len(recalled) == 2
    assert recalled[0] == recalled[1]  # both answer the same words


async def test_each_in_turn_and_only_who_is_chosen(talk: Talk):
    services = talk.services
    await talk.says("“Aye.”")

    assert await speakers(services, talk.session, "Good evening.") == ["Wren"]  # Mira has greeted
    assert await speakers(services, talk.session, "And?") == ["Oskar Lind"]
    assert await speakers(services, talk.session, "Oskar?", speaker="mira-test") == ["Mira"]
    assert await speakers(services, talk.session, "", speaker="wren") == ["Wren"]
    await services.preferences.set(group_turns=GroupTurns.EVERYONE, group_replies=5)
    assert await speakers(services, talk.session, "All of you?") == ["Oskar Lind", "Mira", "Wren"]


class Chooser:
    """Answers as it was told, and keeps what it was asked."""

    def __init__(self, *names: str) -> None:
        self.names, self.asked = list(names), list[dict[str, str]]()

    async def ask(self, task_prompt: str, answer: type[T], **values: str) -> T:
        assert task_prompt == "next_speaker"
        self.asked.append(values)
        if not self.names:
            raise ModelError("It said something else.")
        return answer.model_validate({"name": self.names.pop(0)})


async def test_the_model_chooses_who_is_next_until_it_is_the_users_turn(talk: Talk, monkeypatch: pytest.MonkeyPatch):
    chooser = Chooser("Oskar Lind", "Wren", "Tomas")
    monkeypatch.setattr(talk.services.group.answer_model, "ask", chooser.ask)
    await talk.services.preferences.set(group_turns=GroupTurns.MODEL, group_replies=5)
    await talk.says(*["“Aye.”"] * 4)

    assert await speakers(talk.services, talk.session, "Who goes first?") == ["Oskar Lind", "Wren"]

    first, second, third = chooser.asked
    assert first["candidates"] == "- Mira\n- Wren\n- Oskar Lind"  # the user has just spoken
    assert second["candidates"] == "- Mira\n- Wren\n- Tomas"
    assert third["talk"].endswith("Tomas: Who goes first?\nOskar Lind: “Aye.”\nWren: “Aye.”")
    assert await speakers(talk.services, talk.session, "And?") == ["Oskar Lind"]  # it cannot say; he is next in turn


async def test_the_model_is_not_asked_where_there_is_nothing_to_choose(talk: Talk, monkeypatch: pytest.MonkeyPatch):
    services = talk.services
    chooser = Chooser()
    monkeypatch.setattr(services.group.answer_model, "ask", chooser.ask)
    await services.preferences.set(group_turns=GroupTurns.MODEL, group_replies=5)
    await talk.says(*["“Aye.”"] * 4)

    assert await speakers(services, talk.session, "Hello.", speaker="wren") == ["Wren"]
    await services.sessions.set_guests(talk.session.guid, [])
    assert await speakers(services, talk.session, "Hello.") == ["Mira"]
    assert await speakers(services, talk.session, "") == ["Mira"]  # she has spoken last, and speaks again
    assert chooser.asked == []


def test_the_question_who_is_next_can_be_asked():
    prompt = TaskPrompts(shipped_root() / "resources" / "prompts").load_prompt("next_speaker")
    assert prompt.placeholders == {"names", "user", "candidates", "talk"}


async def test_closing_the_stream_silences_those_who_were_to_follow(talk: Talk):
    await talk.says("one two three four five six", delay=0.02)

    async with aclosing(talk.services.chat.send(talk.session.guid, "Oskar, Wren?")) as events:
        async for event in events:
            if isinstance(event, ReplyText):
                break

    log = list(await talk.services.sessions.page(talk.session.guid, 0, 10))
    assert [one.speaker for one in log if one.role is Role.ASSISTANT] == ["mira-test", "oskar"]


async def test_another_wording_is_spoken_by_the_same_also_after_they_left(talk: Talk):
    await talk.says("“One.”", "Wren: “Two.”")
    (reply,) = replies(await all_of(talk.services.chat.send(talk.session.guid, "Wren?")))
    await talk.services.sessions.set_guests(talk.session.guid, [])

    (again,) = replies(await all_of(talk.services.chat.regenerate(talk.session.guid, reply.id)))

    assert (again.speaker_name, again.content, len(again.alternatives)) == ("Wren", "“Two.”", 2)
    assert await speakers(talk.services, talk.session, "Wren?") == ["Mira"]


async def test_the_prompt_begins_alike_whoever_speaks_and_names_them_at_its_end(talk: Talk):
    await talk.says("“Aye.”")
    events = await all_of(talk.services.chat.send(talk.session.guid, "Oskar, Wren?"))

    receipts = [event.receipt for event in events if isinstance(event, PromptBuilt)]
    prompts = [await talk.services.prompt_inspector.prompt_of(reply.id) for reply in replies(events)]
    heads, ends = (
        [part_of(prompt, *parts) for prompt in prompts]
        for parts in ((PromptPart.PERSONA, PromptPart.STYLE), (PromptPart.SPEAKER,))
    )

    assert len(receipts) == 2
    assert heads[0] == heads[1]
    assert all(text in heads[0] for text in ("Mira is the navigator", "Wren keeps the light.", "Oskar Lind bakes."))
    assert ends == ["Oskar Lind speaks now, and nobody else.", "Wren speaks now, and nobody else."]


async def test_in_a_group_macros_know_who_speaks_and_whose_conversation_it_is(talk: Talk):
    cast = (await talk.services.participants.load_for_session(talk.session)).with_speaker("wren")
    scene = cast.build_macro_context(talk.session, talk.session.added)
    alone = replace(cast, guests=(), next_speaker=None).build_macro_context(talk.session, talk.session.added)

    assert expand("{{char}} of {{group}}", scene) == "Wren of Wren, Mira and Oskar Lind"
    assert expand("{{mgroup}}", scene) == "Mira, Wren and Oskar Lind"
    assert expand("{{mchar}}: {{currentcharbio}}", scene) == "Mira: Wren keeps the light."
    assert "is the navigator of the Petrel." in expand("{{mcharbio}}", scene)
    assert expand("{{group}} {{mchar}}", alone) == "Mira Mira"


async def test_the_worlds_of_all_are_looked_through(talk: Talk):
    lamp = WorldEntry(name="The lamp", content="The lamp burns whale oil.", keywords_main=["lamp"])
    world = await talk.services.library.save_world(World(name="Lamps", entries=[lamp]))
    wren = await talk.services.library.persona("wren")
    await talk.services.library.save_persona(wren.model_copy(update={"worlds": [world.unique_name]}))
    await talk.says("“Aye.”")

    events = await all_of(talk.services.chat.send(talk.session.guid, "Oskar, look at the lamp."))

    recalled = [event.memory.recalled for event in events if isinstance(event, MemoriesRecalled)]
    assert [one.title for one in recalled[0] if one.world] == ["The lamp"]


async def test_without_guests_nothing_names_a_speaker(talk: Talk):
    await talk.services.sessions.set_guests(talk.session.guid, [])
    await talk.says("“Aye.”")
    (reply,) = replies(await all_of(talk.services.chat.send(talk.session.guid, "Oskar?")))

    assert reply.speaker == "mira-test"
    assert part_of(await talk.services.prompt_inspector.prompt_of(reply.id), PromptPart.SPEAKER) == ""
