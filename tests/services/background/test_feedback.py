"""Thumbs down without a word: weak evidence that a dream asks about, and a reason that can be written down afterwards."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID, uuid4

import pytest

from lethe_app.brain.dreams.dislikes import DislikedReply, format_disliked_replies, infer_dislike, parse_explanation
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.agent_runs import ChangeState, ReplyRating
from lethe_app.domain.changes import AVOID, INFER, RATINGS_TAG, ChangedRecords
from lethe_app.domain.clock import now
from lethe_app.errors import StorageError
from tests.services.past_sessions import hold, trusted
from tests.services.tasks import Clock, newest
from tests.services.turns import MIRA

TALK = (
    "I slept badly.",
    "Oh! How long did you sleep?",
    "The bus was late.",
    "A pity. How late was it?",
    "I made soup.",
    "Lovely. Which soup was it?",
)
QUESTIONS = {"pattern": "answers with a question every time", "replies": [1, 2, 3]}
NO_WISHES = {"wishes": []}


async def disliked(services: AppServices, most: int = 3) -> list[UUID]:
    """Three replies of a conversation, of which so many got a thumb down."""
    conversation = await hold(services, *TALK)
    replies = [one.id for one in (await services.sessions.page(conversation.guid, 0, 9))[1::2]]
    for reply in replies[:most]:
        await services.feedback.rate_reply(reply, ReplyRating.BAD)
    return replies


def one(reply: str = "How are you?", asked: str = "Hello.") -> DislikedReply:
    return DislikedReply(uuid4(), 0, uuid4(), now(), asked, reply)


async def test_what_several_have_in_common_is_proposed_with_the_replies_it_was_seen_in(
    services: AppServices, dream, tmp_path: Path
):
    replies = await disliked(services)
    await trusted(services, tmp_path / "model.json", answers=[NO_WISHES, QUESTIONS])

    (change,) = await dream()

    (memory,) = ChangedRecords.after(change).memories
    assert (change.what, change.state) == (INFER, ChangeState.PROPOSED)
    assert memory.content == "Tomas seems not to like it when Mira answers with a question every time."
    assert set(memory.sources) == {f"message:{reply}" for reply in replies}
    assert (memory.made_by, memory.tags) == ("dream", ["inferred", RATINGS_TAG])
    assert all(thought.feedback.settled for thought in await services.feedback.list_feedback(MIRA))


async def test_it_is_never_done_without_the_user_even_where_dreams_may_tidy_up_alone(
    services: AppServices, dream, tmp_path: Path
):
    await services.preferences.set(dreams_apply=True)
    await disliked(services)
    await trusted(services, tmp_path / "model.json", answers=[NO_WISHES, QUESTIONS])

    (change,) = await dream()

    assert change.state is ChangeState.PROPOSED
    assert await services.memory.memories(MIRA) == []


async def test_two_thumbs_say_nothing_and_no_model_is_asked(services: AppServices, dream, tmp_path: Path):
    await disliked(services, 2)
    await trusted(services, tmp_path / "model.json", answers=[NO_WISHES])  # with no answer left, asking would fail

    assert await dream() == []
    assert not (await newest(services)).trouble
    assert len(await services.feedback.list_disliked(MIRA)) == 2


async def test_where_they_have_nothing_in_common_it_is_not_asked_again_before_there_is_another(
    services: AppServices, dream, tmp_path: Path, clock: Clock
):
    await disliked(services)
    nothing = {"pattern": "", "replies": []}
    await trusted(services, tmp_path / "model.json", answers=[NO_WISHES, nothing, NO_WISHES, NO_WISHES, QUESTIONS])
    assert await dream() == []

    clock.go_on(days=1)
    await hold(services, "How is the sea?")
    clock.go_on(hours=1)
    assert await dream() == []

    clock.go_on(days=1)
    conversation = await hold(services, "I walked.", "How far did you walk?")
    clock.go_on(hours=1)
    await services.feedback.rate_reply((await services.sessions.page(conversation.guid, 0, 9))[1].id, ReplyRating.BAD)
    assert [change.what for change in await dream()] == [INFER]


async def test_without_a_model_they_wait_for_one(services: AppServices, dream, tmp_path: Path, clock: Clock):
    replies = await disliked(services)
    assert await dream() == []
    waiting = {one.message: one.user_text for one in await services.feedback.list_disliked(MIRA)}
    assert waiting == dict(zip(replies, TALK[::2], strict=True))

    clock.go_on(days=1)
    await trusted(services, tmp_path / "model.json", answers=[QUESTIONS])
    assert [change.what for change in await dream()] == [INFER]


async def test_a_reason_written_down_afterwards_is_heard_in_the_next_dream(services: AppServices, dream):
    reply = (await disliked(services, 1))[0]

    await services.feedback.save_reason(reply, 0, "  Please don't ask how long I slept. ")
    (change,) = await dream()

    assert change.what == AVOID
    assert "Don't ask how long" in ChangedRecords.after(change).text
    assert ChangedRecords.after(change).memories[0].sources == [f"message:{reply}"]
    (thought,) = await services.feedback.list_feedback(MIRA)
    assert (thought.feedback.words, thought.feedback.settled) == ("Please don't ask how long I slept.", True)


async def test_a_reason_that_no_rule_understands_is_kept_word_for_word(services: AppServices, dream):
    reply = (await disliked(services, 1))[0]

    await services.feedback.save_reason(reply, 0, "Far too nosy.")
    (change,) = await dream()

    assert change.what == AVOID
    assert "“Far too nosy.”" in ChangedRecords.after(change).text


async def test_a_reason_can_be_taken_back_and_goes_with_the_thumb(services: AppServices, dream):
    first, second, third = await disliked(services)
    for reply in (first, second):
        await services.feedback.save_reason(reply, 0, "Far too nosy.")

    await services.feedback.save_reason(first, 0, "")
    await services.feedback.rate_reply(second, ReplyRating.BAD)

    assert await services.feedback.collect_remarks(MIRA) == []
    assert {one.message for one in await services.feedback.list_disliked(MIRA)} == {first, third}
    with pytest.raises(StorageError):
        await services.feedback.save_reason(second, 0, "Far too nosy.")


def test_too_little_says_nothing_and_nothing_is_made_up():
    frame, names = (MIRA, None, now()), ("Tomas", "Mira")
    many = [one() for _number in range(3)]

    assert infer_dislike("asks how he is", many, names, frame) is not None
    assert infer_dislike("asks how he is", many[:2], names, frame) is None
    assert infer_dislike("asks how he is", [many[0]] * 3, names, frame) is None
    assert infer_dislike("  ", many, names, frame) is None
    assert infer_dislike("speaks of Lisbon", many, names, frame) is None


def test_what_touches_money_is_only_ever_asked_about():
    change = infer_dislike("talks of his bank account", [one() for _number in range(3)], ("Tomas", "Mira"), (MIRA, None, now()))

    assert change is not None
    assert ChangedRecords.after(change).memories[0].metadata == {"source": "inferred", "requires_user_permission": "true"}


def test_a_model_is_told_how_long_each_was_even_where_it_is_cut():
    reported = format_disliked_replies([one("word " * 300), one(asked="")], "Tomas", "Mira")

    assert reported.startswith("1. (300 words)\nTomas: Hello.\nMira: word")
    assert "…" in reported
    assert reported.endswith("2. (3 words)\nMira: How are you?")


def test_no_words_are_no_reason():
    assert parse_explanation("  ", uuid4(), uuid4(), now()) == []
