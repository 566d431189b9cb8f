"""What stands still in a prompt: every conversation is there word for word, or told, never both and never neither."""

from __future__ import annotations

import itertools
import json
import random
import re
from datetime import timedelta
from pathlib import Path

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role, SessionPart
from lethe_app.domain.clock import now
from lethe_app.domain.facts import MadeBy
from lethe_app.domain.model import LoadedModel
from lethe_app.domain.prompt import CutReason, PromptPart
from lethe_app.domain.recall import TurnMemory
from lethe_app.services.extraction.conversation import ConversationExtraction
from lethe_app.services.prompting.prefixes import StablePrefixes
from lethe_app.services.prompting.turn_context import StablePrefix
from lethe_app.services.sessions.rolling_summary import RollingSummary
from tests.services.past_sessions import NUTS, chats_of, copy_home, hold, opened, trusted
from tests.sweep import exhaustive

DAY = timedelta(days=1)


async def load(services: AppServices, folder: Path, context: int = 1024) -> None:
    path = folder / "small.json"
    path.write_text(json.dumps({"context": context}), encoding="utf-8")
    await services.preferences.set(max_reply=64, context=context)
    await services.models.load(path)


def loaded(services: AppServices) -> LoadedModel:
    state = services.models.state
    return state.model


def frames_of(services: AppServices) -> StablePrefixes:
    return services.stable_prefixes


async def prompt(services: AppServices, session: ChatSession) -> str:
    """What stands before the user's next words."""
    turn = await services.turn_loader.load(session.guid, loaded(services))
    return await services.prompt_assembler.build_prefill(turn, loaded(services), TurnMemory())


async def frame(services: AppServices, session: ChatSession) -> StablePrefix:
    found = await frames_of(services).load(session.guid)
    assert found
    return found


def marked(name: str, count: int, words: int = 16) -> list[str]:
    """Lines of a conversation, each with a mark of its own."""
    return [f"I like my {name}x{number}x {'very ' * words}much." for number in range(count)]


def verbatim(text: str, name: str) -> list[int]:
    """Which of these lines are in the history; a quotation in a summary is not."""
    history = text.split("<|im_end|>", 1)[1] if "<|im_end|>" in text else text
    return [int(number) for number in re.findall(rf"{name}x(\d+)x", history)]


async def over(services: AppServices, name: str, count: int, days: int, words: int = 4, summary: str = "") -> ChatSession:
    """A conversation some days ago, archived with a summary that names it."""
    session = await hold(services, *marked(name, count, words), at=now() - days * DAY)
    await services.archive_queue.archive_session(session.guid)
    await services.archive_queue.write(session.guid, SessionPart.SUMMARY, summary or f"They talked about {name}sum.")
    return await services.sessions.open(session.guid)


async def test_earlier_conversations_are_there_word_for_word_as_far_as_they_fit(services: AppServices, tmp_path: Path):
    for days, name in ((4, "old"), (3, "mid"), (2, "new")):
        await over(services, name, 10, days, 4)
    present = await hold(services, *marked("here", 2))
    await load(services, tmp_path, 1024)

    text = await prompt(services, present)

    assert verbatim(text, "new") == verbatim(text, "mid") == list(range(10))
    assert verbatim(text, "old") == []
    assert "oldsum" in text
    assert "newsum" not in text
    assert "midsum" not in text


async def test_only_the_present_conversation_if_the_user_wants_it_so(services: AppServices, tmp_path: Path):
    await over(services, "new", 6, 2)
    present = await hold(services, *marked("here", 2))
    await load(services, tmp_path)
    before = await prompt(services, present)

    await services.preferences.set(session_handling="current_only")
    after = await prompt(services, present)
    await services.preferences.set(session_handling="fit_all")
    again = await prompt(services, present)

    assert verbatim(before, "new")
    assert "newsum" not in before
    assert not verbatim(after, "new")
    assert "newsum" in after
    assert again == before


async def test_a_conversation_can_start_without_the_earlier_ones_and_take_them_back(services: AppServices, tmp_path: Path):
    old = await over(services, "old", 60, 3, 12)
    new = await over(services, "new", 6, 2)
    present = await hold(services, *marked("here", 2))
    await load(services, tmp_path)
    expected = await frames_of(services).sessions_in_prompt(present, loaded(services))
    before = await prompt(services, present)

    await frames_of(services).leave_out_earlier(present.guid, is_left_out=True)
    without = await prompt(services, present)
    nothing = await frames_of(services).sessions_in_prompt(present, loaded(services))
    await frames_of(services).leave_out_earlier(present.guid, is_left_out=False)
    again = await prompt(services, present)

    assert [summary.guid for summary in expected] == [new.guid, old.guid]
    assert await frames_of(services).sessions_in_prompt(present, loaded(services)) == expected
    assert verbatim(before, "new")
    assert "oldsum" in before
    assert not verbatim(without, "new")
    assert "oldsum" not in without
    assert "newsum" not in without
    assert nothing == []
    assert again == before


async def test_no_conversation_is_said_to_be_in_the_prompt_that_the_settings_keep_out(services: AppServices, tmp_path: Path):
    await over(services, "new", 6, 2)
    present = await hold(services, *marked("here", 2))
    await load(services, tmp_path)
    await services.preferences.set(session_handling="current_only", session_memory_system=False)

    expected = await frames_of(services).sessions_in_prompt(present, loaded(services))
    text = await prompt(services, present)

    assert not verbatim(text, "new")
    assert "newsum" not in text
    assert expected == await frames_of(services).sessions_in_prompt(present, loaded(services)) == []


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=exhaustive) for seed in range(3, 12))])
async def test_a_conversation_is_there_or_told_never_both_and_never_neither(services: AppServices, tmp_path: Path, seed: int):
    dice = random.Random(seed)
    context = dice.choice([768, 1024, 2048, 4096])
    names = [f"s{chr(97 + number)}" for number in range(dice.randint(1, 5))]
    for place, name in enumerate(names):
        long = f"They talked about {name}sum. " + "More was said of it. " * dice.choice([0, 5, 120])
        await over(services, name, dice.randint(3, 24), 20 - place, dice.randint(1, 12), long)
    present = await hold(services, *marked("here", 1))
    await load(services, tmp_path, context)
    said = 1
    for _turn in range(12):
        text = await prompt(services, present)
        one = await frame(services, present)
        whole = {name: len(await services.sessions.outline(guid)) for name, guid in await named(services, names)}
        for name in names:
            there = verbatim(text, name)
            assert there in ([], list(range(whole[name]))), (context, name, there)
            assert not (there and f"{name}sum" in text), f"{name} is there and told"
        untold = [name for name in reversed(names) if not verbatim(text, name)]
        assert not untold or f"{untold[0]}sum" in text, f"{untold[0]} is neither there nor told"
        here = verbatim(text, "here")
        assert here == list(range(here[0], said))
        assert bool(one.rolling) == bool(here[0])
        assert one.rolling in text
        assert not re.search(rf"herex{here[0]}x", one.rolling)
        more = dice.randint(2, 8) * 2
        moment = now() + timedelta(minutes=said)
        await hold(services, *marked("here", said + more)[said:], session=present, at=moment)
        said += more


async def named(services: AppServices, names: list[str]) -> list[tuple[str, object]]:
    listed = sorted(await services.sessions.list("mira-test"), key=lambda one: one.started)
    return [(name, one.guid) for name, one in zip(names, listed, strict=False)]


async def test_between_cuts_the_beginning_stays_the_same_to_the_letter(services: AppServices, tmp_path: Path):
    await over(services, "old", 30, 3)
    present = await hold(services, *marked("here", 2))
    await load(services, tmp_path)
    heads: list[tuple[str, object]] = []
    for turn in range(30):
        text = await prompt(services, present)
        heads.append((text.split("<|im_end|>", 1)[0], (await frame(services, present)).first))
        await services.archive_queue.update(present.guid)  # what is learnt in the background changes nothing
        await hold(
            services, *marked("here", 4 + turn * 2)[2 + turn * 2 :], session=present, at=now() + timedelta(minutes=turn * 2)
        )

    changes = sum(one[0] != other[0] for one, other in itertools.pairwise(heads))
    cuts = sum(one[1] != other[1] for one, other in itertools.pairwise(heads))
    assert 1 <= cuts < 10
    assert changes == cuts


async def test_all_that_left_is_read_even_where_the_context_holds_a_tenth_of_it(services: AppServices, tmp_path: Path):
    beginning = ["My sister Ines drowned in the harbour of Porto when I was nine.", "I am so sorry, Tomas."]
    present = await hold(services, *beginning, *["Yes.", "Well."] * 400)
    await load(services, tmp_path, 768)

    text = await prompt(services, present)

    assert "Ines" in text


async def test_a_message_that_was_the_first_is_deleted_and_nothing_is_there_twice(services: AppServices, tmp_path: Path):
    present = await hold(services, *marked("here", 60))
    await load(services, tmp_path)
    before = verbatim(await prompt(services, present), "here")
    first = (await frame(services, present)).first
    assert first
    await chats_of(services).delete_message(first)

    text = await prompt(services, present)

    one = await frame(services, present)
    here = verbatim(text, "here")
    assert before[0] not in here
    assert here[0] > 0
    assert all(int(number) < here[0] for number in re.findall(r"herex(\d+)x", one.rolling))


@pytest.mark.parametrize("context", [768, 4096])
async def test_with_another_context_the_history_is_cut_anew(services: AppServices, tmp_path: Path, context: int):
    await over(services, "old", 8, 3)
    present = await hold(services, *marked("here", 60))
    await load(services, tmp_path, 1024)
    await prompt(services, present)

    await load(services, tmp_path, context)
    text = await prompt(services, present)

    one, here = await frame(services, present), verbatim(text, "here")
    assert one.context == context
    assert bool(one.rolling) == bool(here[0]) == (context == 768)
    assert bool(verbatim(text, "old")) != ("oldsum" in text)


async def test_a_deleted_conversation_is_told_no_more_and_a_restored_one_again(services: AppServices, tmp_path: Path):
    await services.preferences.set(session_handling="current_only")
    old = await over(services, "old", 6, 3)
    present = await hold(services, *marked("here", 2))
    await load(services, tmp_path)
    before = await prompt(services, present)

    await services.sessions.delete(old.guid)
    without = await prompt(services, present)
    await services.sessions.restore(old.guid)

    assert "oldsum" in before
    assert "oldsum" not in without
    assert await prompt(services, present) == before


async def test_a_conversation_that_was_there_word_for_word_and_deleted_is_gone(services: AppServices, tmp_path: Path):
    old, mid = await over(services, "old", 6, 3), await over(services, "mid", 6, 2)
    present = await hold(services, *marked("here", 2))
    await load(services, tmp_path, 4096)
    assert verbatim(await prompt(services, present), "old")

    await services.sessions.delete(old.guid)
    text = await prompt(services, present)

    assert not verbatim(text, "old")
    assert "oldsum" not in text
    assert verbatim(text, "mid")
    assert (await frame(services, present)).earlier == [mid.guid]


async def test_what_the_user_writes_of_a_conversation_is_told_at_once(services: AppServices, tmp_path: Path):
    await services.preferences.set(session_handling="current_only")
    old = await over(services, "old", 6, 3)
    present = await hold(services, *marked("here", 2))
    await load(services, tmp_path)
    await prompt(services, present)

    await services.archive_queue.write(old.guid, SessionPart.SUMMARY, "It was about something else.")

    assert "It was about something else." in await prompt(services, present)


async def test_forgetting_editing_and_adding_a_fact_is_true_with_the_next_prompt(services: AppServices, tmp_path: Path):
    one = await services.facts.add("mira-test", "Tomas keeps bees.")
    other = await services.facts.add("mira-test", "Tomas likes tea.")
    present = await hold(services, *marked("here", 2))
    await load(services, tmp_path)
    before = await prompt(services, present)

    await services.facts.forget_fact(one.guid)
    await services.facts.edit(other.guid, "Tomas likes coffee.")
    await services.facts.add("mira-test", "Tomas plays the cello.")
    after = await prompt(services, present)

    assert "keeps bees" in before
    assert "likes tea" in before
    assert "keeps bees" not in after
    assert "likes tea" not in after
    assert "likes coffee" in after
    assert "cello" in after


async def test_what_was_forgotten_last_is_not_in_the_prompt_after_a_restart(services: AppServices, tmp_path: Path):
    fact = await services.facts.add("mira-test", "Tomas keeps bees.")
    present = await hold(services, *marked("here", 2))
    await load(services, tmp_path)
    assert "keeps bees" in await prompt(services, present)
    await services.fact_store.forget_facts("mira-test", [fact.guid], [])  # and the program ends before anybody hears of it

    async with opened(await copy_home(services, tmp_path / "next")) as after:
        await load(after, tmp_path)
        assert "keeps bees" not in await prompt(after, present)


async def test_a_fact_about_a_namesake_is_in_the_prompt(services: AppServices, tmp_path: Path):
    await services.facts.learn("mira-test", [])
    for text in ("Miranda is the sister of Tomas.", "Mira is a navigator by trade."):
        fact = await services.facts.add("mira-test", text)
        assert fact.made_by is MadeBy.USER
    present = await hold(services, *marked("here", 2))
    await load(services, tmp_path)

    text = await prompt(services, present)

    assert "Miranda is the sister" in text
    assert "navigator by trade" not in text


async def test_core_facts_and_summaries_keep_to_their_rooms(services: AppServices, tmp_path: Path):
    for number in range(40):
        await services.facts.add("mira-test", f"Tomas owns {number} " + "very " * 10 + f"old boats called fact{number}.")
    for number in range(12):
        await over(services, f"s{number}e", 4, 30 - number, summary=f"They talked of s{number}e. " + "And on it went. " * 12)
    present = await hold(services, *marked("here", 2))
    await services.preferences.set(session_handling="current_only", session_reserved_tokens=200, core_facts_tokens=100)
    await load(services, tmp_path, 8192)
    await prompt(services, present)

    one, count = await frame(services, present), services.token_counts.count

    assert 1 <= len(one.facts) < 40
    assert sum(await count([each.text for each in one.facts])) <= 100
    assert 1 <= len(one.summaries) < 12
    assert sum(await count([each.text for each in one.summaries])) <= 200
    await services.preferences.set(session_reserved_tokens=0, core_facts_tokens=0)
    text = await prompt(services, present)
    assert "They talked of" not in text
    assert "boats called" not in text


async def test_sticky_conversations_come_before_others_but_inside_the_room(services: AppServices, tmp_path: Path):
    sessions = [
        await over(services, f"s{n}e", 4, 30 - n, summary=f"They talked of s{n}e. " + "And so on. " * 20) for n in range(8)
    ]
    await chats_of(services).change_session(sessions[0].guid, sticky=True)
    present = await hold(services, *marked("here", 2))
    await services.preferences.set(session_handling="current_only", session_reserved_tokens=200)
    await load(services, tmp_path, 8192)

    await prompt(services, present)

    reported = [one.guid for one in (await frame(services, present)).summaries]
    assert reported[0] == sessions[-1].guid
    assert reported[-1] == sessions[0].guid
    assert len(reported) < 8


async def test_everything_of_the_last_day_is_told_however_briefly(services: AppServices, tmp_path: Path):
    told = "Then of something else, at length. " * 12
    old = await over(services, "s0e", 4, 30, summary="They talked of s0e.")
    await chats_of(services).change_session(old.guid, sticky=True)
    recent = [await over(services, f"s{n}e", 4, 0.9 - n / 10, summary=f"They talked of s{n}e. {told}") for n in range(1, 6)]
    present = await hold(services, *marked("here", 2))
    await services.preferences.set(session_handling="current_only", session_reserved_tokens=300)
    await load(services, tmp_path, 8192)

    text = await prompt(services, present)

    one, count = await frame(services, present), services.token_counts.count
    assert [each.guid for each in one.summaries][:5] == [session.guid for session in reversed(recent)]
    assert all(f"They talked of s{n}e." in text for n in range(1, 6))
    assert sum(await count([each.text for each in one.summaries])) <= 300


async def test_a_summary_too_long_for_the_room_is_cut_short_for_the_newest(services: AppServices, tmp_path: Path):
    await over(
        services, "old", 30, 3, words=20, summary="They talked of oldsum. " + "Then of something else, at length. " * 200
    )
    present = await hold(services, *marked("here", 2))
    await load(services, tmp_path, 1024)

    text = await prompt(services, present)

    assert "oldsum" in text
    assert "…" in text


async def test_one_that_was_never_archived_is_told_all_the_same(services: AppServices, tmp_path: Path):
    await hold(services, *NUTS, at=now() - DAY)
    present = await hold(services, *marked("here", 2))
    await services.preferences.set(session_handling="current_only")
    await load(services, tmp_path, 2048)

    assert "peanuts" in await prompt(services, present)


async def test_the_turn_cap_and_the_target_are_kept_to(services: AppServices, tmp_path: Path):
    await services.preferences.set(turn_cap=10, history_target=0.5)
    present = await hold(services, *marked("here", 60))
    await load(services, tmp_path, 8192)

    text = await prompt(services, present)

    here = verbatim(text, "here")
    assert here == list(range(50, 60))
    assert (await frame(services, present)).rolling in text


async def test_greetings_nobody_answered_take_no_room(services: AppServices, tmp_path: Path):
    await over(services, "old", 4, 40, 4)
    for number in range(30):
        empty = await hold(services, at=now() - DAY * (30 - number))
        greeting = Message(session_id=empty.guid, role=Role.ASSISTANT, alternatives=[Alternative(content="Hello, Tomas.")])
        await chats_of(services).add_message(greeting)
    present = await hold(services, *marked("here", 2))
    await load(services, tmp_path, 2048)

    assert len((await reached(services, present)).earlier) == 1


async def reached(services: AppServices, session: ChatSession) -> StablePrefix:
    await prompt(services, session)
    return await frame(services, session)


async def recapping(services: AppServices) -> RollingSummary:
    return RollingSummary(
        frames_of(services),
        ConversationExtraction(services.structured_output),
        services.qualification,
        services.priority,
        services.preferences,
    )


async def test_a_trusted_model_tells_what_left_and_its_words_come_with_the_next_cut(services: AppServices, script: Path):
    await services.preferences.set(max_reply=64, context=4096)
    reported = ["Tomas went on about many things he likes.", "Tomas likes ever more things, and told Mira so at length."]
    await trusted(services, script, context=4096, answers=[{"paragraphs": [text]} for text in reported])
    keeper = await recapping(services)
    present = await hold(services, *marked("here", 200))
    before = await prompt(services, present)
    first = (await frame(services, present)).first

    await keeper.finish()
    unchanged = await prompt(services, present)
    await hold(services, *marked("here", 270)[200:], session=present, at=now() + DAY)
    cut = await prompt(services, present)
    await keeper.finish()
    one = await frame(services, present)
    await keeper.background.close()

    assert unchanged == before
    assert first != one.first
    assert reported[0] in cut
    assert reported[0] not in before
    assert (one.recap, one.recapped) == (reported[1], one.first)


async def test_a_model_nobody_trusts_tells_nothing(services: AppServices, tmp_path: Path):
    await load(services, tmp_path, 1024)
    keeper = await recapping(services)
    present = await hold(services, *marked("here", 60))
    await prompt(services, present)

    await keeper.finish()
    await keeper.background.close()

    assert (await frame(services, present)).recap == ""


async def test_when_words_that_had_left_are_changed_all_is_told_anew(services: AppServices, tmp_path: Path):
    await load(services, tmp_path, 1024)
    present = await hold(services, "My secret word is xylophone.", *marked("here", 61)[1:])
    assert "xylophone" in await prompt(services, present)
    (first, *_rest) = await chats_of(services).page(present.guid, 0, 1)
    await chats_of(services).delete_message(first.id)

    await frames_of(services).drop(present.guid)

    assert "xylophone" not in await prompt(services, present)


async def test_truncated_messages_are_left_out_and_the_prefix_stays_between_cuts(services: AppServices, tmp_path: Path):
    await services.preferences.set(history_overflow="truncate")
    await load(services, tmp_path, 1024)
    present = await hold(services, "My secret word is xylophone.", *marked("here", 60)[1:])
    text = await prompt(services, present)
    starts = {(await frame(services, present)).first}
    for turn in range(20):
        await hold(services, *marked("here", 61 + turn)[60 + turn :], session=present)
        await prompt(services, present)
        starts.add((await frame(services, present)).first)

    one = await frame(services, present)

    assert one.first is not None
    assert one.rolling == ""
    assert "Earlier in this conversation" not in text
    assert "xylophone" not in text
    assert verbatim(text, "here")[-1] == 59
    assert len(starts) <= 5, "a cut makes room for several turns at once"


async def test_truncation_is_reported_as_such_and_a_summary_as_a_summary(services: AppServices, tmp_path: Path):
    await load(services, tmp_path, 1024)
    present = await hold(services, *marked("here", 60))
    kinds = []
    for choice in ("summarise", "truncate", "summarise"):
        await services.preferences.set(history_overflow=choice)
        await prompt(services, present)
        turn = await services.turn_loader.load(present.guid, loaded(services))
        built = await services.prompt_assembler.build(turn, loaded(services))
        kinds += [cut.kind for share in built.receipt.shares for cut in share.cuts if share.part is PromptPart.HISTORY]
        assert ("Earlier in this conversation" in built.text) is (choice == "summarise")

    assert kinds == [CutReason.SUMMARISED, CutReason.TRUNCATED, CutReason.SUMMARISED]


@pytest.mark.parametrize("turn_cap", [0, 1, 10])
async def test_the_last_three_messages_stay_whatever_is_cut(services: AppServices, tmp_path: Path, turn_cap: int):
    await services.preferences.set(turn_cap=turn_cap, history_target=0.1, history_overflow="truncate")
    present = await hold(services, *marked("here", 60, 4))
    await load(services, tmp_path, 1024)

    here = verbatim(await prompt(services, present), "here")

    assert here[-2:] == [58, 59], "beside the message that is about to be written"


async def test_the_users_instructions_replace_those_for_the_rolling_summary(services: AppServices, script: Path):
    await services.preferences.set(max_reply=64, context=4096, summary_instructions="Write a {logbook} in rhyme.")
    await trusted(services, script, context=4096, answers=[{"paragraphs": ["Tomas likes much, and such."]}])
    task = services.structured_output.load_prompt("recap")
    keeper = await recapping(services)
    present = await hold(services, *marked("here", 200))
    await prompt(services, present)

    await keeper.finish()
    await keeper.background.close()

    assert (await frame(services, present)).recap == "Tomas likes much, and such."
    own = task.with_instructions(services.preferences.current.summary_instructions)
    assert own.instructions == "Write a logbook in rhyme."
    assert (own.frame, own.examples) == (task.frame, task.examples)
    assert task.with_instructions("  ") == task


async def test_with_truncation_no_model_is_asked_for_a_summary(services: AppServices, script: Path):
    await services.preferences.set(max_reply=64, context=4096, history_overflow="truncate")
    await trusted(services, script, context=4096, answers=[{"paragraphs": ["Tomas likes much."]}])
    keeper = await recapping(services)
    present = await hold(services, *marked("here", 200))
    await prompt(services, present)

    await keeper.finish()
    await keeper.background.close()

    one = await frame(services, present)
    assert one.first is not None
    assert (one.recap, one.rolling) == ("", "")


NOTE = "is remembered beyond this conversation"


async def load_large(services: AppServices, folder: Path, **script: object) -> None:
    path = folder / "large.json"
    path.write_text(json.dumps({"context": 4096, **script}), encoding="utf-8")
    await services.preferences.set(max_reply=64, context=4096)
    await services.models.load(path)


async def test_memory_is_explained_above_all_that_is_known_and_the_same_in_every_turn(services: AppServices, tmp_path: Path):
    present = await hold(services, *marked("here", 2))
    await load_large(services, tmp_path)

    before = await prompt(services, present)
    await hold(services, *marked("here", 4)[2:], session=present)
    after = await prompt(services, present)

    assert "What Tomas says is remembered beyond this conversation" in before
    assert before.index(NOTE) < before.index("herex0x")
    assert "{{user}}" not in before
    assert after.startswith(before[: before.rindex("herex1x")])


async def test_memory_is_not_explained_where_it_is_off_or_the_model_or_its_context_is_small(
    services: AppServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    present = await hold(services, *marked("here", 2))
    await load(services, tmp_path, 1024)
    small_context = await prompt(services, present)
    await load_large(services, tmp_path)
    shown = {}
    for change in ({"memory_explained": False}, {"memory_explained": True, "memory_enabled": False}, {"memory_enabled": True}):
        await services.preferences.set(**change)
        shown[str(change)] = NOTE in await prompt(services, present)
    monkeypatch.setattr("lethe_app.services.prompting.assembler.is_small", lambda _model: True)

    assert NOTE not in small_context
    assert list(shown.values()) == [False, False, True]
    assert NOTE not in await prompt(services, present)


async def test_a_session_of_an_older_version_keeps_its_prompt_until_its_history_is_cut(services: AppServices, tmp_path: Path):
    present = await hold(services, *marked("here", 2))
    await load_large(services, tmp_path)
    await prompt(services, present)
    old = await frame(services, present)
    stored = old.model_dump(mode="json", exclude={"explains_memory"})
    await services.session_state.set(present.guid, "stable_prefix", stored)

    unchanged = await prompt(services, present)
    await hold(services, *marked("here", 260)[2:], session=present)
    cut = await prompt(services, present)

    assert NOTE not in unchanged
    assert NOTE in cut
    assert (await frame(services, present)).first is not None


async def test_the_users_own_explanation_of_memory_replaces_ours(services: AppServices, tmp_path: Path):
    services.paths.own_prompts.mkdir(parents=True, exist_ok=True)
    (services.paths.own_prompts / "memory_note.md").write_text("{{user}} is never forgotten.", encoding="utf-8")
    present = await hold(services, *marked("here", 2))
    await load_large(services, tmp_path)

    text = await prompt(services, present)

    assert "Tomas is never forgotten." in text
    assert NOTE not in text
