"""What is done behind the user besides tasks stands in the same list: what runs, what it cost and made, and the way back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from lethe_app.agents.registry import Registry
from lethe_app.agents.task import NOTHING, TaskResult
from lethe_app.composition.app_services import AppServices
from lethe_app.config.options import SearchProvider
from lethe_app.domain.agent_runs import ProducedKind, RunOutcome, TaskRun
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.web import InquiryState
from lethe_app.errors import LetheError
from lethe_app.plugins import Plugin
from lethe_app.services.background.activity_log import NOTEBOOKS, RESEARCH, WORK_BY_NAME, ActivityEntry
from tests.services.past_sessions import NUTS, answers, archive, concluded, hold, trusted
from tests.services.tasks import Clock, Scripted, kept_runs, nothing
from tests.services.turns import MIRA, until
from tests.web.server import Reply, Site, page, serving

KEEPERS = (
    "<p>The lighthouse of Brenn was built in 1871 by the engineer Ada Holm. Its keeper wrote down every ship that passed, with "
    "name and hour, and lit the lamp of the lighthouse at dusk on every single evening of the year, in storms and in fog.</p>"
    "<p>The lamp burned rapeseed oil until 1902, when it was exchanged for a paraffin burner which needed less care "
    "and could be seen from nineteen miles away by ships that came from the west in clear weather, as the log books tell.</p>"
    "<p>Today the tower is a small museum. Visitors climb its many steps, read the old books, and look at the great lens.</p>"
)
PLAN = {"questions": ["Who built the lighthouse of Brenn?"], "enough_when": "It is known who built it."}
FOUND = {"text": "The lighthouse of Brenn was built in 1871 by the engineer Ada Holm."}
REPORT = {"paragraphs": ["The lighthouse of Brenn was built in 1871 by Ada Holm [1]."]}
BREAD = ("The dough wants a night in the cellar.", "So it does.", "I sell loaves at the market.", "Good.", "I bake on Sundays.")
CONCLUDED = {
    "conclusions": [
        concluded(1, "The dough wants a night in the cellar", "Tomas's dough wants a night in the cellar."),
        concluded(3, "I sell loaves at the market", "Tomas sells loaves at the market."),
        concluded(5, "I bake on Sundays", "Tomas bakes on Sundays."),
    ],
    "subject": "Baking bread",
}


async def over(services: AppServices, *lines: str) -> ChatSession:
    """A conversation that was held and archived."""
    session = await hold(services, *lines)
    await archive(services, session)
    return session


async def baked(services: AppServices, tmp_path: Path, *talks: tuple[str, ...]) -> None:
    """Conversations are over, and a model that may be believed says what each came to."""
    for lines in talks:
        await over(services, *lines)
    await trusted(services, tmp_path / "model.json", answers=[CONCLUDED] * len(talks))


async def spend(services: AppServices, tokens: int) -> None:
    """Mira has used so many today."""
    run = TaskRun(persona_id=MIRA, task="thoughts", outcome=RunOutcome.MADE, tokens=tokens)
    await services.task_runs.save_run(run)


@asynccontextmanager
async def looking_up(services: AppServices, tmp_path: Path, *answers: object, **script: object) -> AsyncIterator[Site]:
    """A house that may use an internet of one page."""
    site = Site({"/keepers": Reply(page("Brenn", KEEPERS))})
    async with serving(site):
        found = [{"title": "Keepers", "url": f"{site.url}/keepers", "content": ""}]
        site.replies["/search"] = Reply(json.dumps({"results": found}).encode(), kind="application/json")
        engine = {"web_provider": SearchProvider.SEARXNG, "web_searxng_url": site.url, "web_private_addresses": True}
        await services.preferences.set(web_allowed=True, **engine)
        await trusted(services, tmp_path / "model.json", answers=list(answers), **script)
        yield site


async def found_out(services: AppServices) -> None:
    await until(lambda: services.research.running is None and not services.activity_log.running_entries)


async def run_notebooks(services: AppServices, action: Callable[[ActivityEntry], Awaitable[TaskResult]]) -> TaskRun:
    """Work of the kind that writes notebooks, which does this."""
    entry = services.activity_log.create_entry(NOTEBOOKS, (MIRA, "Mira"))
    return await services.activity_log.run_entry(entry, action)


# notebooks


async def test_what_notebooks_cost_and_wrote_is_told_and_counts_for_the_day(services: AppServices, tmp_path: Path):
    await baked(services, tmp_path, BREAD)

    assert await services.notebook_writer.write_pending(MIRA) == 1

    (run,) = await kept_runs(services)
    assert (run.task, run.outcome, services.background_runner.title_of(run.task)) == ("notebooks", RunOutcome.MADE, "Notebooks")
    assert run.summary == "Read one conversation and wrote into one notebook."
    assert [one.title for one in run.made if one.kind is ProducedKind.NOTEBOOK] == ["Baking bread"]
    assert "Tomas's dough wants a night in the cellar." in [one.title for one in run.made if one.kind is ProducedKind.FACT]
    assert run.ended is not None
    assert run.tokens > 0
    assert (await services.background_runner.usage_today(MIRA)).tokens == run.tokens


async def test_taken_back_a_new_notebook_is_in_the_trash_and_what_a_model_learnt_is_forgotten(
    services: AppServices, tmp_path: Path
):
    await baked(services, tmp_path, BREAD)
    before = {fact.guid for fact in await services.facts.facts_of(MIRA)}
    await services.notebook_writer.write_pending(MIRA)
    (run,) = await kept_runs(services)

    await services.background_runner.undo(run.id)

    assert await services.notebooks.notebooks_of(MIRA) == []
    assert [one.title for one in await services.trash.list_items() if one.persona_id == MIRA and one.stem] == ["Baking bread"]
    assert {fact.guid for fact in await services.facts.facts_of(MIRA)} <= before
    assert (await kept_runs(services))[0].undone


async def test_what_a_model_learns_is_recorded_before_it_is_stored_and_only_what_was_new_stays(
    services: AppServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    await baked(services, tmp_path, BREAD)
    learn, recorded_before = services.facts.learn, list[str]()

    async def learn_first(persona_id: str, facts: Sequence[ExtractedFact]) -> int:
        recorded_before.extend(one.id for one in (await services.task_runs.newest_runs())[0].made)
        assert recorded_before == [str(fact.guid) for fact in facts]
        return await learn(persona_id, facts[:1])

    monkeypatch.setattr(services.facts, "learn", learn_first)
    await services.notebook_writer.write_pending(MIRA)

    (run,) = await kept_runs(services)
    assert len(recorded_before) > 1
    assert [one.id for one in run.made if one.kind is ProducedKind.FACT] == recorded_before[:1]


async def test_taken_back_a_notebook_that_was_there_is_as_it_was(services: AppServices, tmp_path: Path):
    await baked(services, tmp_path, BREAD)
    name = await services.notebooks.create(MIRA, "Baking bread")
    await services.notebooks.save_edit(MIRA, name, "# Baking bread\n\nThe dough, the cellar, loaves and Sundays.\n", "")
    before = await services.notebooks.load_texts(MIRA)
    await services.notebook_writer.write_pending(MIRA)
    (run,) = await kept_runs(services)
    assert await services.notebooks.load_texts(MIRA) != before

    await services.background_runner.undo(run.id)

    assert await services.notebooks.load_texts(MIRA) == before


async def test_where_nothing_is_left_for_today_a_conversation_waits_for_another_day(
    services: AppServices, tmp_path: Path, clock: Clock
):
    await services.preferences.set(agent_day_tokens=1000)
    await baked(services, tmp_path, BREAD)
    await spend(services, 1000)

    await services.notebook_writer.write_all_pending()
    assert await services.notebooks.notebooks_of(MIRA) == []
    assert [run.task for run in await kept_runs(services)] == ["thoughts"]

    clock.go_on(days=1)
    await services.notebook_writer.write_all_pending()
    assert [kept.notebook.title for kept in await services.notebooks.notebooks_of(MIRA)] == ["Baking bread"]


async def test_the_means_are_asked_for_anew_before_every_conversation(services: AppServices, tmp_path: Path):
    await services.preferences.set(agent_day_tokens=1)
    other = tuple(line.replace("Sundays", "Mondays") for line in BREAD)
    await baked(services, tmp_path, BREAD, other)

    assert await services.notebook_writer.write_pending(MIRA) == 1  # one that was begun is read to its end

    (run,) = await kept_runs(services)
    assert run.tokens > 1


async def test_what_rules_can_do_alone_needs_no_means(services: AppServices):
    await services.preferences.set(agent_day_tokens=1)
    await over(services, *NUTS)
    await spend(services, 1)

    assert await services.notebook_writer.write_pending(MIRA) == 1
    assert len(await services.notebooks.notebooks_of(MIRA)) == 1


async def test_stopped_by_the_user_it_ends_and_nothing_else_does(services: AppServices):
    began = asyncio.Event()

    async def for_ever(doing: ActivityEntry) -> TaskResult:
        doing.report_progress("Reading")
        began.set()
        await asyncio.Event().wait()
        return NOTHING

    work = asyncio.create_task(run_notebooks(services, for_ever))
    await began.wait()
    (one,) = services.activity_log.running_entries
    assert (one.persona, one.title, one.step) == ("Mira", "Notebooks", "Reading")

    services.activity_log.stop(one.run.id)

    assert (await work).outcome is RunOutcome.STOPPED
    assert services.activity_log.running_entries == []


async def test_what_breaks_down_is_told_as_that(services: AppServices):
    async def dry(_doing: ActivityEntry) -> TaskResult:
        raise LetheError("The well is dry.")

    with pytest.raises(LetheError):
        await run_notebooks(services, dry)

    (run,) = await kept_runs(services)
    assert (run.outcome, run.trouble) == (RunOutcome.FAILED, "The well is dry.")


def test_no_plugin_can_take_the_name_of_such_work():
    registry = Registry([], lambda: ([Plugin(Scripted(nothing, RESEARCH.name), "lethe-wells")], []), WORK_BY_NAME)

    assert registry.list_tasks() == []
    assert [fault.distribution for fault in registry.errors] == ["lethe-wells"]


# research


async def test_what_the_user_wants_to_know_is_found_out_whatever_is_left_for_today(services: AppServices, tmp_path: Path):
    await services.preferences.set(agent_day_tokens=1)
    await spend(services, 1)
    enough = {"is_enough": True, "next_queries": []}
    async with looking_up(services, tmp_path, PLAN, FOUND, REPORT, enough):
        inquiry = await services.research.start_inquiry(MIRA, "The lighthouse of Brenn")
        await found_out(services)

    run = (await kept_runs(services))[0]
    assert (run.task, run.outcome) == ("deep_research", RunOutcome.MADE)
    assert run.summary == "Researched “The lighthouse of Brenn”."
    assert [(one.kind, one.id) for one in run.made] == [(ProducedKind.REPORT, str(inquiry.id))]
    assert run.tokens == (await services.research.load_inquiry(inquiry.id)).tokens > 0
    assert (await services.background_runner.usage_today(MIRA)).tokens == run.tokens + 1


async def test_it_is_seen_while_it_lasts_and_can_be_stopped_there(services: AppServices, tmp_path: Path):
    async with looking_up(services, tmp_path, PLAN, FOUND, "x " * 4000, delay=0.01):
        await services.research.start_inquiry(MIRA, "The lighthouse of Brenn")
        await until(lambda: any(one.step.endswith("Writing the report") for one in services.activity_log.running_entries))
        (one,) = services.activity_log.running_entries
        assert (one.persona, one.title, one.is_requested) == ("Mira", "Research", True)
        assert one.step == "“The lighthouse of Brenn”: Writing the report"

        services.activity_log.stop()
        await found_out(services)

    (run,) = await kept_runs(services)
    (inquiry,) = await services.research.list_inquiries()
    assert (run.outcome, inquiry.state) == (RunOutcome.STOPPED, InquiryState.STOPPED)
    assert inquiry.report
    assert [made.kind for made in run.made] == [ProducedKind.REPORT]


async def test_a_report_can_be_taken_back(services: AppServices, tmp_path: Path):
    enough = {"is_enough": True, "next_queries": []}
    async with looking_up(services, tmp_path, PLAN, FOUND, REPORT, enough):
        await services.research.start_inquiry(MIRA, "The lighthouse of Brenn")
        await found_out(services)

    await services.background_runner.undo((await kept_runs(services))[0].id)

    assert await services.research.list_inquiries() == []


async def test_the_tasks_of_a_deleted_persona_end(services: AppServices, tmp_path: Path):
    async with looking_up(services, tmp_path, PLAN, FOUND, "x " * 4000, delay=0.01):
        await services.research.start_inquiry(MIRA, "The lighthouse of Brenn")
        await until(lambda: services.activity_log.running_entries)
        await services.library.delete_persona(MIRA)
        await found_out(services)

    assert [run.outcome for run in await kept_runs(services)] == [RunOutcome.STOPPED]


# the archive


async def archived_by_model(services: AppServices, tmp_path: Path) -> ChatSession:
    """A conversation is over, and a model that may be believed sums it up."""
    session = await hold(services, *NUTS)
    await trusted(services, tmp_path / "model.json", answers=answers())
    await archive(services, session)
    return session


async def test_what_a_model_did_for_the_archive_is_told_with_its_cost_and_counts_for_no_day(
    services: AppServices, tmp_path: Path
):
    await archived_by_model(services, tmp_path)

    (run,) = await kept_runs(services)
    assert (run.task, run.outcome, services.background_runner.title_of(run.task)) == ("archive", RunOutcome.MADE, "Archiving")
    assert run.summary == "“Peanuts and Porto” was summarised by the model. This does not count towards the daily limit."
    assert run.tokens > 0
    assert run.ended is not None
    assert (await services.background_runner.usage_today(MIRA)).tokens == 0


async def test_what_rules_alone_archive_costs_nothing_and_is_not_listed(services: AppServices):
    await over(services, *NUTS)

    assert await kept_runs(services) == []


async def test_an_archive_that_is_paused_made_way_and_is_not_shown_twice_while_it_lasts(services: AppServices, tmp_path: Path):
    session = await hold(services, *NUTS)
    await trusted(services, tmp_path / "model.json", answers=["x " * 4000], delay=0.01)
    services.archive_queue.background.start()
    assert await services.archive_queue.archive_session(session.guid)

    async def is_at_it() -> bool:
        return bool(await services.task_runs.newest_runs()) and services.archive_queue.progress.session is not None

    await until(is_at_it)
    assert services.activity_log.running_entries == []
    await services.archive_queue.background.pause()

    assert (await kept_runs(services))[0].outcome is RunOutcome.GAVE_WAY
