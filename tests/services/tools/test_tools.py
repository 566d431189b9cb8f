"""Tools in replies: what a model asks for is done, asked about, kept in the conversation, and told again word for word."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import aclosing

import pytest
from pydantic import BaseModel

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession, Degradation, DegradationKind, Message, Role
from lethe_app.domain.clock import system_clock, use_clock
from lethe_app.domain.tools import (
    CallOutcome,
    PermissionAnswer,
    Run,
    Tool,
    ToolCall,
    ToolContext,
    ToolOutput,
    ToolResult,
    ToolSet,
)
from lethe_app.errors import LetheError, ModelError
from lethe_app.services.events import PromptBuilt, ReplyFinished, ToolPermissionRequested, ToolUsed, TurnEvent
from lethe_app.services.memory.working_memory import session_namespace
from lethe_app.services.prompting.tool_messages import (
    MAX_PAIRS,
    MIN_PAIRS,
    create_tool_messages,
    limit_tool_pairs,
    parse_calls,
    parse_result,
)
from lethe_app.services.tools.turn import MAX_ROUNDS
from tests.prompt.templates import CHATML, HERMES
from tests.services.turns import MIRA, Talk, TurnOutcome, change_persona, collect_turn, say


class Nothing(BaseModel):
    """No arguments."""


def call(name: str, **arguments: object) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def results(outcome: TurnOutcome) -> list[ToolResult]:
    return [event.result for event in outcome.events if isinstance(event, ToolUsed)]


async def answering(
    services: AppServices, session: ChatSession, text: str, *verdicts: PermissionAnswer
) -> tuple[TurnOutcome, list[ToolPermissionRequested]]:
    """A turn in which every question is answered."""
    events: list[TurnEvent] = []
    asked: list[ToolPermissionRequested] = []
    async with aclosing(services.chat.send(session.guid, text)) as turn:
        async for event in turn:
            events.append(event)
            if isinstance(event, ToolPermissionRequested):
                asked.append(event)
                event.decide(verdicts[len(asked) - 1])
    return TurnOutcome(events), asked


@pytest.fixture
async def session(services: AppServices) -> ChatSession:
    await services.preferences.set(tools_enabled=True, default_tools=["memory", "time", "dice", "bench"])
    return await services.sessions.new(MIRA)


@pytest.fixture
def trusted(services: AppServices, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model has passed its test."""
    monkeypatch.setattr(services.tool_turns.permissions, "_is_qualified", lambda: True)


Says = Callable[..., object]


async def test_a_call_is_done_and_the_reply_goes_on_with_its_result(talk: Talk):
    await talk.says(call("dice_roll", dice="2d6"), "A good throw!", template=HERMES)
    outcome = await talk.say("Let us play.")
    assert outcome.reply.content == "A good throw!"
    (result,) = results(outcome)
    assert result.shown.startswith("rolled 2d6: ")
    roles = [message.role for message in await talk.log()]
    assert roles[-4:] == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT]
    hidden = [message.hidden for message in await talk.log()]
    assert hidden[-4:] == [False, True, True, False]


async def test_nothing_of_the_call_is_ever_said(talk: Talk):
    await talk.says("Wait. " + call("dice_roll", dice="d20"), "There it lies.", template=HERMES)
    outcome = await talk.say("Roll!")
    assert outcome.reply.content == "Wait.\n\nThere it lies."
    assert "tool_call" not in "".join(str(getattr(event, "text", "")) for event in outcome.events)
    assert (await talk.log())[-1].id == outcome.reply.id


async def test_prompts_tell_of_the_tools_only_where_they_are_on(talk: Talk):
    await talk.says("One.", "Two.", "Three.", template=HERMES)
    assert "memory_save" in await talk.prompt_of(await talk.say("A"))
    await change_persona(talk.services, override_default_toolset=True, tools=["dice"])
    text = await talk.prompt_of(await talk.say("B"))
    assert ("dice_roll" in text, "memory_save" in text) == (True, False)
    await talk.services.preferences.set(tools_enabled=False)
    assert "dice_roll" not in await talk.prompt_of(await talk.say("C"))


async def test_another_wording_reuses_what_was_done(talk: Talk, trusted: None):
    save = call("memory_save", content="Tomas is afraid of deep water.")
    await talk.says(save, "I will remember.", save, "Noted for ever.", template=HERMES)
    outcome = await talk.say("I fear deep water.")
    again = await talk.regenerate(outcome.reply)
    assert [result.text for result in results(again)] == [results(outcome)[0].text]
    assert len(await talk.services.memory.memories(MIRA)) == 1
    assert len(again.reply.alternatives) == 2


async def test_another_wording_that_wants_something_else_changed_asks_first(talk: Talk, trusted: None):
    await talk.says(
        call("memory_save", content="Tomas is afraid of deep water."),
        "I will remember.",
        call("memory_save", content="Tomas loves the mountains a lot."),
        "As you wish.",
        template=HERMES,
    )
    outcome = await talk.say("I fear deep water.")
    questions: list[ToolPermissionRequested] = []
    async with aclosing(talk.services.chat.regenerate(talk.session.guid, outcome.reply.id)) as turn:
        async for event in turn:
            if isinstance(event, ToolPermissionRequested):
                questions.append(event)
                event.decide(PermissionAnswer.NOT_NOW)
    assert len(questions) == 1
    assert [memory.content for memory in await talk.services.memory.memories(MIRA)] == ["Tomas is afraid of deep water."]


async def test_dice_fall_the_same_for_every_wording_and_anew_for_every_roll(talk: Talk):
    two = call("dice_roll", dice="3d100") + call("dice_roll", dice="3d100")
    await talk.says(two, "Both.", two, "Both again.", template=HERMES)
    outcome = await talk.say("Twice, please.")
    first, second = (result.text for result in results(outcome))
    again = await talk.regenerate(outcome.reply)
    assert first != second
    assert [result.text for result in results(again)] == [first, second]


async def test_a_reply_that_is_continued_uses_no_tools_and_shows_no_call(talk: Talk):
    await talk.says("It was a long", " night. " + call("dice_roll", dice="2d6"), template=HERMES)
    outcome = await talk.say("Tell me.")
    more = await collect_turn(talk.services.chat.continue_reply(talk.session.guid, outcome.reply.id))
    assert not results(more)
    assert more.reply.content == "It was a long night."


async def test_what_was_deleted_with_a_reply_is_gone_from_the_prompt(talk: Talk):
    await talk.says(call("dice_roll", dice="2d6"), "A good throw!", template=HERMES)
    outcome = await talk.say("Let us play.")
    await talk.services.message_editing.delete(talk.session.guid, outcome.reply.id)
    assert not [message for message in await talk.log() if message.hidden]


# Asking


async def test_a_refusal_is_told_to_the_model_and_nothing_is_done(talk: Talk):
    memory = await talk.add_memory()
    await talk.says(call("memory_delete", memory="The lamp"), "Then it stays.", template=HERMES)
    outcome, asked = await answering(talk.services, talk.session, "Forget the lamp.", PermissionAnswer.NOT_NOW)
    assert [(question.title, question.details) for question in asked] == [
        ("forget a memory", "The lamp: It is dark since May.")
    ]
    assert results(outcome)[0].outcome is CallOutcome.REFUSED
    assert "does not want that now" in await talk.prompt_of(outcome)
    assert [one.guid for one in await talk.services.memory.memories(MIRA)] == [memory.guid]


async def test_nobody_is_asked_about_what_cannot_be(talk: Talk):
    await talk.says(call("memory_delete", memory="The moon"), "There is none.", template=HERMES)
    outcome, asked = await answering(talk.services, talk.session, "Forget the moon.")
    assert not asked
    assert results(outcome)[0].outcome is CallOutcome.FAILED
    failed = Degradation(kind=DegradationKind.TOOL_FAILED, values={"tool": "memory_delete"})
    assert failed in outcome.reply.current.degradations


async def test_always_holds_for_this_conversation_alone(talk: Talk):
    services = talk.services
    await services.preferences.set(tools_always_ask=True)
    roll = call("dice_roll", dice="d6")
    await talk.says(roll, "One.", roll, "Two.", roll, "Three.", template=HERMES)
    _played, first = await answering(services, talk.session, "A", PermissionAnswer.ALWAYS)
    _played, second = await answering(services, talk.session, "B")
    other = await services.sessions.new(MIRA)
    _played, third = await answering(services, other, "C", PermissionAnswer.ALLOW)
    assert (len(first), len(second), len(third)) == (1, 0, 1)


async def test_a_model_that_failed_its_test_asks_before_it_keeps_anything(talk: Talk):
    await talk.says(call("memory_save", content="Tomas is a captain of old."), "Hm.", template=HERMES)
    _played, asked = await answering(talk.services, talk.session, "So?", PermissionAnswer.NOT_NOW)
    assert len(asked) == 1
    assert not await talk.services.memory.memories(MIRA)


async def test_stopping_while_it_asks_loses_nothing(talk: Talk):
    await talk.services.preferences.set(tools_always_ask=True)
    await talk.says("One moment. " + call("dice_roll", dice="d6"), template=HERMES)
    asking = asyncio.Event()

    async def conversation() -> None:
        async with aclosing(talk.services.chat.send(talk.session.guid, "Roll!")) as turn:
            async for event in turn:
                if isinstance(event, ToolPermissionRequested):
                    asking.set()

    task = asyncio.ensure_future(conversation())
    await asking.wait()
    task.cancel()
    await asyncio.wait([task])
    said = [message.content.strip() for message in await talk.log() if not message.hidden]
    assert said[-2:] == ["Roll!", "One moment."]


async def test_another_reply_that_is_wanted_answers_the_question_with_not_now(talk: Talk):
    await talk.services.preferences.set(tools_always_ask=True)
    await talk.says(call("dice_roll", dice="d6"), "Then not.", "Hello!", template=HERMES)
    other = await talk.services.sessions.new(MIRA)
    asking = asyncio.Event()
    replies: list[Message] = []

    async def conversation() -> None:
        async with aclosing(talk.services.chat.send(talk.session.guid, "Roll!")) as turn:
            async for event in turn:
                if isinstance(event, ToolPermissionRequested):
                    asking.set()
                if isinstance(event, ReplyFinished):
                    replies.append(event.message)

    task = asyncio.ensure_future(conversation())
    await asking.wait()
    second = await say(talk.services, other, "Hello?")
    await task
    assert [replies[0].content, second.reply.content] == ["Then not.", "Hello!"]


# Limits and mistakes


async def test_a_model_that_only_ever_asks_is_ended(talk: Talk):
    await talk.says(*[call("dice_roll", dice=f"{number}d6") for number in range(1, 14)], template=HERMES)
    outcome: list[TurnEvent] = []

    async def conversation() -> None:
        async with aclosing(talk.services.chat.send(talk.session.guid, "Roll!")) as turn:
            async for event in turn:
                outcome.append(event)

    with pytest.raises(ModelError):
        await conversation()
    assert sum(isinstance(event, PromptBuilt) for event in outcome) == MAX_ROUNDS + 1
    assert sum(isinstance(event, ToolUsed) for event in outcome) == MAX_ROUNDS


@pytest.mark.parametrize(
    ("asked", "reported"),
    [
        (call("fly_away"), "no tool called"),
        (call("dice_roll", dice="seven"), "no roll of dice"),
        (call("dice_roll"), "dice: Field required"),
        ("<tool_call>oh {dear</tool_call>", "could not be understood"),
    ],
)
async def test_mistakes_are_told_to_the_model(talk: Talk, asked: str, reported: str):
    await talk.says(asked, "Never mind.", template=HERMES)
    outcome = await talk.say("Do it.")
    (result,) = results(outcome)
    assert result.outcome is CallOutcome.FAILED
    assert reported in result.text
    assert outcome.reply.content == "Never mind."


async def test_two_things_kept_in_one_reply_are_no_repetition(talk: Talk, trusted: None):
    both = call("memory_save", content="Tomas keeps nine hives.") + call("memory_save", content="Ines sails the Heron.")
    await talk.says(both, "Noted.", template=HERMES)
    _played, asked = await answering(talk.services, talk.session, "So it is.")
    assert not asked
    assert len(await talk.services.memory.memories(MIRA)) == 2


def test_prompts_hold_only_the_newest_calls_and_leave_several_at_once():
    def pairs(count: int) -> list[Message]:
        session = ChatSession(persona_id=MIRA)
        made: list[Message] = []
        for number in range(count):
            requested = ToolCall(name="x", arguments={"number": number})
            made += create_tool_messages(session, "Mira", [requested], [ToolResult(call=requested, text=str(number))])
        return made

    kept = {count: [one for one in limit_tool_pairs(pairs(count)) if parse_calls(one)] for count in range(1, 60)}
    assert all(min(count, MIN_PAIRS) <= len(kept[count]) <= MAX_PAIRS for count in kept)
    assert len(kept[MAX_PAIRS]) == MAX_PAIRS
    changes = sum(
        parse_calls(kept[count][0])[0].arguments != parse_calls(kept[count - 1][0])[0].arguments for count in range(2, 60)
    )
    assert changes <= 7


def test_a_result_whose_call_is_gone_is_left_out():
    requested = ToolCall(name="x")
    made = create_tool_messages(ChatSession(persona_id=MIRA), "Mira", [requested], [ToolResult(call=requested, text="7")])
    assert limit_tool_pairs(made[1:]) == []
    assert [parse_result(one) for one in limit_tool_pairs(made)][-1] is not None


async def test_a_long_result_goes_to_the_workbench_and_its_key_into_the_prompt(talk: Talk):
    async def tell(_occasion: ToolContext, _wish: Nothing) -> ToolOutput:
        return ToolOutput("Once upon a time. " * 400, "told a tale")

    tale = ToolSet("dice", "Tales", (Tool("tale_tell", "tell a tale", "Tells.", Nothing, tell),))
    talk.services.tool_registry.sets = [tale, *[one for one in talk.services.tool_registry.sets if one.name != "dice"]]
    await talk.says(call("tale_tell"), "What a tale!", "Yes?", template=HERMES)
    outcome = await talk.say("A tale, please.")
    (result,) = results(outcome)
    assert len(result.text) < 2600
    (entry,) = await talk.services.working_memory.entries_below(talk.session.persona_id, session_namespace(talk.session.guid))
    assert entry.key in result.text
    assert entry.value == "Once upon a time. " * 400
    assert len(await talk.prompt_of(outcome)) < 12_000
    reported = await talk.services.working_memory.build_inventory(talk.session.persona_id, session_namespace(talk.session.guid))
    assert entry.key in reported
    assert "Once upon" not in reported


async def _silent(_occasion: ToolContext, _wish: Nothing) -> ToolOutput:
    await asyncio.sleep(3600)
    raise AssertionError("nobody waits so long")


async def _mute(_occasion: ToolContext, _wish: Nothing) -> object:
    return None


async def _puzzled(_occasion: ToolContext, _wish: Nothing) -> str:
    raise RuntimeError("oh")


@pytest.mark.parametrize(
    ("run", "reported"),
    [(_silent, "longer than 0.05 seconds"), (_mute, "broke (TypeError)"), (_puzzled, "broke (RuntimeError)")],
)
async def test_a_tool_that_hangs_says_nothing_or_breaks_does_not_keep_the_reply(talk: Talk, run: Run, reported: str):
    talk.services.tool_registry.sets = [
        ToolSet("dice", "Odd", (Tool("odd_one", "be odd", "Is odd.", Nothing, run, seconds=0.05),))
    ]
    await talk.says(call("odd_one"), "Never mind.", template=HERMES)
    outcome = await talk.say("Go.")
    assert reported in results(outcome)[0].text
    assert outcome.reply.content == "Never mind."


async def test_a_tool_that_cannot_say_what_is_at_stake_still_asks(talk: Talk):
    odd = Tool("odd_one", "be odd", "Is odd.", Nothing, _mute, asks=True, about=_puzzled)
    talk.services.tool_registry.sets = [ToolSet("dice", "Odd", (odd,))]
    await talk.says(call("odd_one"), "Never mind.", template=HERMES)
    outcome, asked = await answering(talk.services, talk.session, "Go.", PermissionAnswer.NOT_NOW)
    assert [question.details for question in asked] == [""]
    assert outcome.reply.content == "Never mind."


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        (call("week_get", day="Monday"), "checked the schedule for Monday"),
        (call("week_get", day=""), "checked the schedule for today"),
        (call("week_get", day=None), "checked the schedule for today"),
        (call("bench_save", key=12, text=7, minutes="10"), "saved “12” to working memory"),
        (call("memory_search", Words="lamp"), "searched memories: nothing found"),
        (call("time_now", timezone="UTC"), "checked the time"),
    ],
)
async def test_arguments_are_taken_as_they_were_meant(talk: Talk, asked: str, shown: str):
    await talk.says(asked, "So.", template=HERMES)
    (result,) = results(await talk.say("Do it."))
    assert result.shown.startswith(shown)


async def test_the_same_reminder_is_set_once_and_one_that_is_to_repeat_is_told_not_to(talk: Talk, trusted: None):
    weekly = call("memory_remind", text="Water the plants.", when="every Friday at 9")
    await talk.says(weekly, "Set.", weekly, "It is set already.", template=HERMES)
    (first,) = results(await talk.say("Remind me every Friday."))
    (second,) = results(await talk.say("Every Friday, please."))
    assert "does not repeat" in first.text
    assert "set before" in second.text
    assert len(await talk.services.reminders.reminders_of(MIRA)) == 1


async def test_a_search_that_finds_nothing_certain_says_so(talk: Talk):
    await talk.add_memory()
    await talk.says(call("memory_search", words="quantum chromodynamics"), "No idea.", template=HERMES)
    (result,) = results(await talk.say("What do you know of it?"))
    assert result.shown in {"searched memories: nothing found", "searched memories: nothing reliable found"}
    assert "What do you know of it?" not in result.text


def test_a_choice_that_may_be_left_out_is_declared_as_a_choice(services: AppServices):
    (week,) = (tool for one in services.tool_registry.sets for tool in one.tools if tool.name == "week_get")
    assert "saturday" in week.declared["function"]["parameters"]["properties"]["day"]["enum"]


# Models that cannot ask by themselves


async def test_a_model_without_tools_of_its_own_fills_in_a_form(talk: Talk):
    answers = [json.dumps({"tool": "dice_roll"}), json.dumps({"dice": "2d6"})]
    await talk.says("A good throw!", "And now?", answers=answers, template=CHATML)
    outcome = await talk.say("Roll 2d6 for me, please.")
    assert results(outcome)[0].shown.startswith("rolled 2d6: ")
    assert results(outcome)[0].text in await talk.prompt_of(outcome)
    assert outcome.reply.content == "A good throw!"
    again = await talk.regenerate(outcome.reply)
    assert not results(again)


async def test_it_is_not_asked_where_no_word_speaks_of_a_tool(talk: Talk, monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []

    async def ask(task_prompt: str, _answer: object, **_values: str) -> object:
        asked.append(task_prompt)
        raise LetheError("Nobody is to be asked.")

    monkeypatch.setattr(talk.services.tool_turns.task_model, "ask", ask)
    await talk.says("Good evening.", template=CHATML)
    await talk.say("Good evening! How was the crossing?")
    assert not asked


async def test_it_may_want_none(talk: Talk):
    await talk.says("I would rather not.", answers=[json.dumps({"tool": "none"})], template=CHATML)
    outcome = await talk.say("Do you like dice?")
    assert not results(outcome)
    assert outcome.reply.content == "I would rather not."


async def test_what_lies_on_the_workbench_is_shown_to_it_when_it_is_spoken_of(talk: Talk):
    place = session_namespace(talk.session.guid)
    await talk.services.working_memory.save_entry(
        MIRA, place, "web-1", "The ferry to Bergen leaves at noon, on Sundays at two.", category="note"
    )
    answers = [json.dumps({"tool": "bench_get"}), json.dumps({"key": "web-1", "start": 0})]
    await talk.says("At two.", "Good night.", answers=answers, template=CHATML)

    outcome = await talk.say("And when does the ferry leave on Sundays?")
    other = await talk.say("I am tired of all this rain.")

    assert "on Sundays at two" in results(outcome)[0].text
    assert not results(other)


async def test_what_a_task_found_is_listed_by_full_key_and_read_by_it(talk: Talk):
    memory = talk.services.working_memory
    await memory.save_entry(MIRA, "task/research", "tides", "Springs follow the moon.", category="finding", tags=["sea"])
    await memory.save_entry("edmund", "task/research", "secret", "His.")
    await talk.says(call("bench_get", key="task/research/tides"), "With the moon.", template=HERMES)

    outcome = await talk.say("When are the springs?")
    reported = await memory.build_inventory(MIRA, session_namespace(talk.session.guid))

    assert results(outcome)[0].text == "Springs follow the moon."
    assert "- task/research/tides (" in reported
    assert "Springs follow" not in reported
    assert "secret" not in reported


@pytest.fixture
def stopped_clock() -> Iterator[None]:
    moment = system_clock()
    with use_clock(lambda: moment):
        yield


@pytest.mark.usefixtures("stopped_clock")
async def test_the_tools_of_working_memory_read_other_namespaces_and_write_only_their_own(
    services: AppServices, session: ChatSession
):
    tools = {tool.name: tool for one in services.tool_registry.sets if one.name == "bench" for tool in one.tools}
    context = ToolContext(MIRA, "Mira", "Tomas", session.guid, "a turn", 0)
    await services.working_memory.save_entry(MIRA, "task/research", "tides", "Springs.", category="finding", tags=["sea"])

    async def use(name: str, **arguments: object) -> str:
        tool = tools[name]
        return (await tool.run(context, tool.arguments.model_validate(arguments))).text

    await use("bench_save", key="task/research/tides", text="Mine.", category="web", tags=["a"])

    assert await use("bench_list", namespace="task") == "- task/research/tides (5 min left; finding; sea)"
    assert (await use("bench_list")).startswith("- task/research/tides (5 min left; note; a)")
    assert await use("bench_search", tags=["sea"], namespace="task") == "- task/research/tides (5 min left; finding; sea)"
    assert await use("bench_search", category="finding") == "No saved text matches."
    assert await use("bench_get", key="task/research/tides") == "Mine.", "a key of one's own comes first"
    with pytest.raises(LetheError, match="needs words"):
        await use("bench_search")


async def test_a_persona_with_background_tasks_can_read_what_they_found(talk: Talk):
    await talk.services.preferences.set(default_tools=["dice"])
    names = []
    for agent_mode in (False, True):
        await change_persona(talk.services, agent_mode=agent_mode)
        names.append(talk.services.tool_registry.set_names_of(await talk.services.library.persona(MIRA)))

    assert names == [["dice"], ["dice", "bench"]]


async def test_a_search_is_limited_to_a_category_and_those_below_it_and_to_tags(talk: Talk):
    for content, category, tags in (
        ("Tomas likes rye bread.", "preferences/food", ["bread"]),
        ("Tomas likes lentil soup.", "preferences/food", ["Soup", "lentils"]),
        ("Tomas likes long letters.", "preferences", []),
        ("Rye grows behind the mill.", "preferences-of-others", ["bread"]),
    ):
        await talk.add_memory(content, name="", filed_under=category, tags=tags)
    switched_off = await talk.add_memory("Tomas likes old bread.", name="", filed_under="preferences", enabled=False)
    tools = {tool.name: tool for one in talk.services.tool_registry.sets if one.name == "memory" for tool in one.tools}
    context = ToolContext(MIRA, "Mira", "Tomas", talk.session.guid, "a turn", 0)

    async def search(words: str, **filters: object) -> list[str]:
        arguments = tools["memory_search"].arguments.model_validate({"words": words, **filters})
        return [line.partition("] ")[2] for line in (await tools["memory_search"].run(context, arguments)).text.splitlines()]

    assert (await search("rye bread", category="Preferences/"))[0] == "Tomas likes rye bread."
    assert set(await search("rye", category="preferences")) == {
        "Tomas likes rye bread.",
        "Tomas likes lentil soup.",
        "Tomas likes long letters.",
    }
    assert await search("rye", tags=["#soup", "lentils"]) == ["Tomas likes lentil soup."]
    assert set(await search("rye", tags=["bread"])) == {"Tomas likes rye bread.", "Rye grows behind the mill."}
    assert await search("rye", category="preferences/food", tags=["bread"]) == ["Tomas likes rye bread."]
    elsewhere = await search("lentil soup", category="weather")
    assert "Tomas likes lentil soup." in elsewhere
    assert switched_off.content not in await search("bread", category="preferences")
    categories = (await tools["memory_categories"].run(context, tools["memory_categories"].arguments())).text
    assert "- preferences/food: 2" in categories


@pytest.mark.usefixtures("trusted")
async def test_a_model_names_category_and_tags_when_it_saves_and_the_search_finds_it_by_them(
    services: AppServices, session: ChatSession, says: Says
):
    saving = call("memory_save", content="Tomas hates fennel.", filed_under="Preferences/Food", tags=["fennel", "#vegetables"])
    searching = call("memory_search", words="dislikes", category="preferences", tags=["vegetables"])
    await says(saving, "Noted.", searching, "Fennel.", template=HERMES)

    await say(services, session, "Remember that I hate fennel.")
    outcome = await say(services, session, "What vegetable do I hate?")

    (memory,) = await services.memory.memories(MIRA)
    assert (memory.filed_under, memory.tags) == ("preferences/food", ["fennel", "vegetables"])
    assert results(outcome)[0].text.endswith("Tomas hates fennel.")


@pytest.mark.usefixtures("trusted")
async def test_a_named_fact_of_the_session_is_in_the_next_prompt_replaced_and_removed(
    services: AppServices, session: ChatSession, says: Says
):
    def note(value: str) -> str:
        return call("memory_note", key="current quest", value=value)

    await says(
        note("find the artifact"), "Aye.", note("sail home, at last"), "Home.", note(""), "Done.", "Ha.", template=HERMES
    )
    blocks = []
    for message in ("We seek the artifact.", "We have it.", "We are home.", "Ha!"):
        blocks.append((await say(services, session, message)).memory.session_notes)

    assert blocks == [
        "",
        "Known facts about this session: current quest=find the artifact.",
        "Known facts about this session: current quest=sail home at last.",
        "",
    ]
    other = await services.sessions.new(MIRA)
    assert await services.memory_lookup.load_notes(other.guid) == {}
