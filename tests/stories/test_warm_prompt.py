"""A conversation stays warm: whatever goes on in the background, the next turn evaluates what is new and nothing else.

Beside the model stands a cache that only counts. It is told what the chat asks of the model, and hears nothing of work
in the background: as long as both say the same, that work has cost the chat nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import timedelta
from itertools import pairwise
from os.path import commonprefix
from pathlib import Path

from lethe_app.composition.app_services import AppServices
from lethe_app.config.options import GroupTurns
from lethe_app.domain.clock import now
from lethe_app.domain.model import StopReason, Usage
from lethe_app.domain.presets import SamplerPreset
from lethe_app.llm.protocol import Done, RequestPriority
from lethe_app.services.events import ModelReady
from lethe_app.services.extraction.qualification import QualificationResult, key_of
from tests.bench._evening import BEGUN, WATCHED, Scene, begun, hold_exchanges
from tests.bench._long_talk import velm
from tests.bench._still_model import Watched

SAID = velm(5).talk
BEFORE = 2
"""Exchanges of the day before."""
GREEDY = SamplerPreset(name="greedy", temperature=0)
RESEARCH = "<|im_start|>user\nWrite a long report on lighthouses.<|im_end|>\n<|im_start|>assistant\n"


@asynccontextmanager
async def evening(path: Path) -> AsyncIterator[tuple[Scene, Watched]]:
    """Tomas sits in the workshop again; the model has read what was said the day before, and answers one thing."""
    options = {"max_reply": 16, "threads": 1, "temperature_override": 0.0}
    async with begun(velm(len(SAID)), 2048, BEFORE, WATCHED, by_meaning=False, path=path, **options) as scene:
        assert isinstance(scene.model, Watched)
        await scene.turn(SAID[BEFORE])
        yield scene, scene.model


def waited_for(model: Watched) -> list[int]:
    return [call.usage.evaluated_tokens for call in model.calls]


def qualification(services: AppServices) -> None:
    """The starter model is given work that it would not be trusted with."""
    state = services.models.state
    assert isinstance(state, ModelReady)
    services.qualification._known[key_of(state.model)] = QualificationResult(
        model="starter", facts=1.0, may_write_facts=True, may_write_summaries=True, checked=now(), detail=""
    )


async def written(services: AppServices, most: int, begins: asyncio.Event | None = None) -> Usage:
    """What a research task asks of the model."""
    usage = Usage()
    async with aclosing(services.client.generate(RESEARCH, GREEDY, most, priority=RequestPriority.BACKGROUND)) as reports:
        async for report in reports:
            if isinstance(report, Done):
                usage = report.usage
            elif begins is not None:
                begins.set()
    return usage


async def test_a_turn_while_another_conversation_is_archived_costs_what_it_costs_without(chat_model: Path):
    async with evening(chat_model) as (scene, model):
        qualification(scene.services)
        other = await hold_exchanges(scene.services, velm(4).talk, BEGUN - timedelta(days=20))
        await scene.services.archive_queue.archive_session(other.guid, at_once=False)
        scene.services.archive_queue.background.start()
        await scene.turn(SAID[BEFORE + 1])  # it makes way, whatever it had come to
        await asyncio.wait_for(model.wrote.wait(), 600)  # an answer is there, of use or not
        await scene.turn(SAID[BEFORE + 2])  # and the next is being written

    assert waited_for(model) == model.counted


async def test_a_turn_after_and_during_a_research_task_costs_what_it_costs_without(chat_model: Path):
    async with evening(chat_model) as (scene, model):
        done = await written(scene.services, 40)
        await scene.turn(SAID[BEFORE + 1])
        begins = asyncio.Event()
        writing = asyncio.get_running_loop().create_task(written(scene.services, 1500, begins))
        await begins.wait()
        await scene.turn(SAID[BEFORE + 2])
        interrupted = await writing

    assert done.reply_tokens > 20
    assert interrupted.reason is StopReason.PREEMPTED
    assert waited_for(model) == model.counted


async def test_while_the_user_waits_only_what_is_new_is_read(chat_model: Path):
    async with evening(chat_model) as (scene, model):
        before = model.calls[-1].prompt.removesuffix("<|im_start|>user\n")
        step = await scene.turn(SAID[BEFORE + 1])
        (new,) = await scene.services.client.count([step.answer.prompt.removeprefix(before)])

    assert step.answer.prompt.startswith(before)
    assert step.answer.usage.evaluated_tokens <= new
    assert step.answer.usage.drift == 0


async def test_whoever_speaks_in_a_group_what_was_read_for_the_others_stays_read(chat_model: Path):
    async with evening(chat_model) as (scene, model):
        await scene.services.preferences.set(group_turns=GroupTurns.EVERYONE, group_replies=3)
        await scene.services.sessions.set_guests(scene.session.guid, ["edmund", "aiko"])
        await scene.turn(SAID[BEFORE + 1])  # three are introduced now, and that is read once
        before = len(model.calls)
        await scene.turn(SAID[BEFORE + 2])
        replies = [call for call in model.calls[before:] if call.reply is not None]
        speakers = [one.speaker for one in await scene.services.sessions.page(scene.session.guid, 0, 100)][-3:]
        shared = [commonprefix([one.prompt, two.prompt]) for one, two in pairwise(replies)]  # noqa: RUF071 - these are no paths
        rest = [two.prompt.removeprefix(start) for start, two in zip(shared, replies[1:], strict=True)]
        new = await scene.services.client.count(rest)

    assert speakers[:2] == ["edmund", "aiko"]
    assert len(set(speakers)) == len(replies) == 3
    for reply, behind in zip(replies[1:], new, strict=True):
        assert reply.usage.evaluated_tokens <= behind + 3  # where the two texts part a token may be another one
        assert behind < reply.usage.prompt_tokens // 5
