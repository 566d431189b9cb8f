"""Notebooks as the user lives them: what was said lands in a file they can read, and comes back when they speak of it again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

from lethe_app.composition.app_services import AppServices
from tests.services.past_sessions import copy_home, hold, opened
from tests.services.tasks import Clock
from tests.services.turns import MIRA, TurnOutcome, prompt_of, say

PAELLA = (
    "I love saffron in my paella.",
    "I am allergic to the mussels in paella.",
    "I own a copper paella pan.",
    "That was all, good night.",
)


@asynccontextmanager
async def begun(home: Path, model: Path) -> AsyncIterator[AppServices]:
    async with opened(home) as services:
        await services.preferences.set(user_persona="tomas")
        await services.models.load(model)
        yield services


async def spoken_of(services: AppServices) -> None:
    """An evening about paella, over and archived."""
    session = await hold(services)
    for line in PAELLA:
        await say(services, session, line)
    assert await services.archive_queue.archive_session(session.guid)
    await services.archive_queue.finish()
    await services.notebook_writer.write_all_pending()


def notebook(outcome: TurnOutcome) -> str:
    return "\n".join(one.text for one in outcome.memory.recalled if one.world == "notebook")


async def test_an_evening_becomes_a_file_that_comes_back_days_later(home: Path, echo_model: Callable[..., Path], clock: Clock):
    model = echo_model(*["I see."] * 20)
    async with begun(home, model) as services:
        await spoken_of(services)

    (path,) = (home / "notebooks" / MIRA).glob("*.md")
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# Paella\n\n- ")
    assert f"({clock.shown.date().isoformat()})" in text

    path.write_text(text + "- The secret is in the socarrat, says grandmother\n", encoding="utf-8")
    clock.go_on(days=3)
    async with begun(home, model) as services:
        session = await hold(services)
        first = await say(services, session, "Hello again!")
        second = await say(services, session, "I want to cook a paella tonight.")

        assert "- Paella (3 days ago)" in await prompt_of(services, session, first)
        assert notebook(first) == ""
        assert "The secret is in the socarrat, says grandmother" in notebook(second)
        reported = await prompt_of(services, session, second)
        assert reported.count("is allergic to the mussels") == 1


async def test_the_beginning_of_the_prompt_stays_the_same_when_a_notebook_is_opened(
    home: Path, echo_model: Callable[..., Path], clock: Clock
):
    async with begun(home, echo_model(*["I see."] * 20)) as services:
        await spoken_of(services)
        clock.go_on(days=1)
        session = await hold(services)
        prompts = [
            await prompt_of(services, session, await say(services, session, text))
            for text in ("Hello again!", "I want to cook a paella tonight.", "With the copper pan.", "Good.")
        ]

    for before, after in pairwise(prompts):
        system = before[: before.index("Hello again!")]
        assert after.startswith(system)


async def test_a_program_that_ends_while_it_writes_them_down_writes_them_down_once(
    home: Path, tmp_path: Path, echo_model: Callable[..., Path], clock: Clock
):
    model = echo_model(*["I see."] * 20)
    async with begun(home, model) as services:
        session = await hold(services)
        for line in PAELLA:
            await say(services, session, line)
        await services.archive_queue.archive_session(session.guid)
        await services.archive_queue.finish()
        await services.conclusion_writer.write_session(session.guid)  # and it ends before that is noted
        copy = await copy_home(services, tmp_path / "as it was")

    async with begun(copy, model) as services:
        await services.notebook_writer.write_all_pending()
        (kept,) = await services.notebooks.notebooks_of(MIRA)

    lines = [line.text for line in kept.notebook.lines]
    assert len(lines) == len(set(lines)) == 3


async def test_what_the_user_throws_away_is_not_told_any_more(home: Path, echo_model: Callable[..., Path], clock: Clock):
    async with begun(home, echo_model(*["I see."] * 20)) as services:
        await spoken_of(services)
        clock.go_on(days=1)
        (kept,) = await services.notebooks.notebooks_of(MIRA)
        await services.notebooks.delete(MIRA, kept.name)

        session = await hold(services)
        outcome = await say(services, session, "I want to cook a paella tonight.")

        assert notebook(outcome) == ""
        assert "What you two spoke of lately" not in await prompt_of(services, session, outcome)
