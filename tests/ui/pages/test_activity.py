"""“While you were away”: what was done, day by day; taking it back, having it done now, and a window that tells who is here."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from uuid import uuid4

import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QPushButton

from lethe_app.agents.task import TaskContext as SettableClock
from lethe_app.agents.task import TaskResult
from lethe_app.brain.notebooks.document import Conclusion
from lethe_app.domain.agent_runs import ProducedKind, ProducedRecord, RunOutcome, TaskRun
from lethe_app.domain.clock import now, use_clock
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.web import Inquiry, InquiryState
from lethe_app.errors import LetheError
from lethe_app.plugins import PluginError
from lethe_app.services.background.activity_log import ActivityLog
from lethe_app.ui.core.labels.dates import format_date_time, format_time
from lethe_app.ui.core.routes import NotebooksRoute, ResearchRoute
from lethe_app.ui.dialogs.dialogs import ConfirmDialog
from lethe_app.ui.pages.activity.detail import item_route
from lethe_app.ui.pages.activity.labels import format_due, format_usual_cost
from lethe_app.ui.pages.activity.page import COST, DUE, PLANNED, UPKEEP_HISTORY, ActivityPage
from lethe_app.ui.pages.memories.page import MemoryPage
from lethe_app.ui.pages.personas.page import PersonaPage
from tests.services.tasks import Clock, Scripted, TaskAction
from tests.ui.activity_rows import activity_rows
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")
Install = Callable[[TaskAction], None]


@pytest.fixture
def script(echo_model) -> Path:
    return echo_model("Indeed.")


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Installs a task of the plug-in “lethe-wells”, as an installer leaves it: metadata of a distribution beside its code."""

    def install_task(run_action: TaskAction) -> None:
        class Something(Scripted):
            def __init__(self) -> None:
                super().__init__(run_action)

        module = ModuleType("lethe_wells")
        setattr(module, Something.__name__, Something)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        information = tmp_path / "plugins" / "lethe_wells-1.0.dist-info"
        information.mkdir(parents=True)
        metadata = "Metadata-Version: 2.1\nName: lethe-wells\nVersion: 1.0\n"
        (information / "METADATA").write_text(metadata, encoding="utf-8")
        entries = "[lethe.tasks]\nsomething = lethe_wells:Something\n"
        (information / "entry_points.txt").write_text(entries, encoding="utf-8")
        monkeypatch.syspath_prepend(str(information.parent))

    return install_task


async def page_of(scene: Scene) -> ActivityPage:
    scene.window.window_actions["background_activity"].trigger()
    await until(lambda: isinstance(scene.page, ActivityPage))
    page = scene.page
    assert isinstance(page, ActivityPage)
    await until(lambda: "tokens" in page.hint.text())
    return page


@asynccontextmanager
async def open_activity(home: Path, script: Path) -> AsyncIterator[tuple[Scene, ActivityPage, MemoryUnit]]:
    """Mira looked at the tide an hour ago, and failed at it yesterday."""
    async with opened(home, script) as scene:
        written = MemoryUnit(name="The tide", content="It turns at six.", made_by="something")
        memory = await scene.services.memory.memorize("mira", written)
        made = ProducedRecord(kind=ProducedKind.MEMORY, id=str(memory.guid), title=memory.name)
        began = now() - timedelta(hours=1)
        runs = scene.services.task_runs
        values = {"persona_id": "mira", "task": "thoughts"}
        await runs.save_run(
            TaskRun(
                **values,
                began=began,
                ended=began + timedelta(minutes=2),
                outcome=RunOutcome.MADE,
                tokens=2840,
                summary="Looked at the tide.",
                made=(made,),
            )
        )
        before = began - timedelta(days=1)
        await runs.save_run(
            TaskRun(**values, began=before, ended=before, outcome=RunOutcome.FAILED, trouble="The well is dry.")
        )
        yield scene, await page_of(scene), memory


def cell(page: ActivityPage, row: int, title: str) -> str:
    place = next(number for number, column in enumerate(page.rows.columns) if column.title == title)
    return str(page.rows.data(page.rows.index(row, place)))


async def test_runs_are_told_newest_first_with_their_cost_and_lead_to_what_came_of_them(tmp_path: Path, script: Path):
    async with open_activity(tmp_path / "home", script) as (scene, page, memory):
        assert [cell(page, row, "Result") for row in range(2)] == ["Looked at the tide.", "The well is dry."]
        assert cell(page, 0, "Task") == "Personal thoughts"
        assert cell(page, 0, "Persona") == "Mira"
        assert cell(page, 0, "Tokens") == "2.8k"
        assert f"of {QLocale().toString(100_000)} tokens" in page.hint.text()
        assert "after you have been away for 15 minutes" in page.hint.text()
        assert "Looked at the tide." in page.detail.summary_label.text()

        show = next(button for button in page.detail.findChildren(QPushButton) if "The tide" in button.accessibleName())
        QTest.mouseClick(show, Qt.MouseButton.LeftButton)
        memories = scene.page
        assert isinstance(memories, MemoryPage)
        await until(lambda: memories.table.current_row is not None and memories.table.current_row.guid == str(memory.guid))


async def test_a_run_can_be_taken_back(tmp_path: Path, script: Path):
    async with open_activity(tmp_path / "home", script) as (scene, page, _memory):
        QTest.mouseClick(page.buttons.button("Undo task"), Qt.MouseButton.LeftButton)
        await until(lambda: "Undone" in page.detail.date_label.text())

        assert not await scene.services.memory.memories("mira")
        assert page.buttons.button("Undo task").isHidden()


async def test_something_can_be_done_now_and_is_seen_while_it_lasts(tmp_path: Path, script: Path, install: Install):
    go = asyncio.Event()

    async def wait(task_context: SettableClock) -> TaskResult:
        task_context.report_progress("Waiting for the tide")
        await go.wait()
        return TaskResult("Saw the tide turn.")

    install(wait)
    async with open_activity(tmp_path / "home", script) as (scene, page, _memory):
        scene.services.background_runner.background.start()
        page.show_task_menu()
        menu = next(menu for menu in page.findChildren(QMenu) if menu.isVisible())
        next(action for action in menu.actions() if action.text() == "A little something").trigger()
        await until(lambda: page.subtitle.accessibleName().endswith("Waiting for the tide"))
        rows = [row for row in activity_rows(scene.window.sidebar.activity_button) if row.title.text().startswith("Mira: ")]
        assert [(row.title.text(), row.detail.text(), row.button.text()) for row in rows] == [
            ("Mira: A little something", "Waiting for the tide", "Stop")
        ]
        assert not page.button("Stop").isHidden()

        go.set()
        await until(lambda: page.rows.row_total == 3)
        assert cell(page, 0, "Result") == "Saw the tide turn."
        assert page.button("Stop").isHidden()

        go.clear()
        page.start_task("something")
        await until(lambda: not page.button("Stop").isHidden() and scene.services.background_runner.running_task is not None)
        QTest.mouseClick(page.button("Stop"), Qt.MouseButton.LeftButton)
        await until(lambda: page.rows.row_total == 4)
        assert cell(page, 0, "Result") == "Stopped by you"


async def test_what_cannot_be_done_now_says_why(tmp_path: Path, script: Path):
    async with open_activity(tmp_path / "home", script) as (scene, page, _memory):
        before = await scene.services.activity_log.list_runs()
        page.start_task("thoughts")
        await until(lambda: scene.toasts)

        await scene.services.background_runner.run_next_task()
        assert await scene.services.activity_log.list_runs() == before


async def test_keys_clicks_and_words_in_the_writing_field_say_that_the_user_is_here(tmp_path: Path, script: Path):
    clock = Clock(now())
    with use_clock(clock):
        async with opened(tmp_path / "home", script) as scene:
            idleness, window = scene.services.idleness, scene.window.windowHandle()
            received: list[str] = []

            def after(act: str) -> None:
                assert idleness.idle_time is not None
                clock.go_on(hours=1)
                if act == "key":
                    QTest.keyClick(window, Qt.Key.Key_Shift)
                elif act == "click":
                    QTest.mouseClick(window, Qt.MouseButton.LeftButton, pos=scene.window.rect().center())
                if idleness.idle_time is not None and idleness.idle_time < timedelta(minutes=1):
                    received.append(act)

            for act in ("nothing", "key", "click"):
                after(act)
            scene.draft.setPlainText("I was about to")
            clock.go_on(hours=1)
            while_writing = idleness.idle_time
            scene.draft.clear()
            clock.go_on(hours=1)

            assert received == ["key", "click"]
            assert while_writing == timedelta()
            assert idleness.idle_time is not None
            assert idleness.idle_time >= timedelta(hours=1)

            await scene.close_controller()
            assert idleness.idle_time is None, "nobody counts as away once the window is closed"


async def test_tasks_are_chosen_by_ticking_them_and_an_unknown_one_stays(tmp_path: Path, script: Path):
    async with opened(tmp_path / "home", script) as scene:
        mira = await scene.services.library.persona("mira")
        await scene.services.library.save_persona(mira.model_copy(update={"agent_tasks": ["gardening"]}))
        page = scene.open_page("persona_editor", PersonaPage)
        await until(lambda: page.is_loaded)

        page.sheet.field("agent_tasks").box_for("thoughts").click()
        await page.save_persona()

        assert (await scene.services.library.persona("mira")).agent_tasks == ["gardening", "thoughts"]


async def test_a_run_of_a_task_and_a_persona_that_are_gone_is_still_told(tmp_path: Path, script: Path):
    async with opened(tmp_path / "home", script) as scene:
        made = (ProducedRecord(kind=ProducedKind.NOTEBOOK, id=str(uuid4()), title="Bees"),)
        gone = TaskRun(persona_id="nobody", task="weaving", ended=now(), outcome=RunOutcome.MADE, made=made)
        await scene.services.task_runs.save_run(gone)
        page = await page_of(scene)
        await until(lambda: page.rows.row_total)

        assert (cell(page, 0, "Persona"), cell(page, 0, "Task")) == ("nobody", "weaving")


async def test_what_notebooks_and_research_do_is_told_and_leads_there(tmp_path: Path, script: Path):
    async with opened(tmp_path / "home", script) as scene:
        services = scene.services
        name = await services.notebooks.create("mira", "Bees", [Conclusion("They like thyme.", now().date())])
        inquiry = Inquiry(persona_id="mira", topic="Thyme", state=InquiryState.DONE, ended=now(), report="It is a herb.")
        await services.research.restore(inquiry)
        for task, kind, made_id, title in (
            ("notebooks", ProducedKind.NOTEBOOK, name, "Bees"),
            ("deep_research", ProducedKind.REPORT, str(inquiry.id), "Thyme"),
        ):
            made = (ProducedRecord(kind=kind, id=made_id, title=title),)
            run = TaskRun(persona_id="mira", task=task, ended=now(), outcome=RunOutcome.MADE, tokens=900, made=made)
            await services.task_runs.save_run(run)
        page = await page_of(scene)
        await until(lambda: page.rows.row_total == 2)
        assert [cell(page, row, "Task") for row in range(page.table.model().rowCount())] == ["Research"]
        page.filters.chips[UPKEEP_HISTORY].click()  # what Lethe does for every persona is no activity of hers
        assert {cell(page, row, "Task") for row in range(2)} == {"Notebooks", "Research"}
        by_task = {run.task: run for run in page.rows.all_rows}

        routes = [item_route(run, run.made[0]) for run in (by_task["notebooks"], by_task["deep_research"])]
        assert routes == [NotebooksRoute("mira", name), ResearchRoute(inquiry.id)]


async def test_a_report_is_let_go_only_after_a_question(tmp_path: Path, script: Path):
    async with opened(tmp_path / "home", script) as scene:
        inquiry = Inquiry(persona_id="mira", topic="Thyme", state=InquiryState.DONE, ended=now(), report="It is a herb.")
        await scene.services.research.restore(inquiry)
        made = (ProducedRecord(kind=ProducedKind.REPORT, id=str(inquiry.id), title="Thyme"),)
        run = TaskRun(persona_id="mira", task="deep_research", ended=now(), outcome=RunOutcome.MADE, made=made)
        await scene.services.task_runs.save_run(run)
        page = await page_of(scene)
        await until(page.buttons.button("Undo task").isVisible)

        def question() -> ConfirmDialog | None:
            return next((one for one in scene.window.findChildren(ConfirmDialog) if one.isVisible()), None)

        QTest.mouseClick(page.buttons.button("Undo task"), Qt.MouseButton.LeftButton)
        await until(question)
        question().reject()
        await until(lambda: question() is None)
        assert len(await scene.services.research.list_inquiries()) == 1

        QTest.mouseClick(page.buttons.button("Undo task"), Qt.MouseButton.LeftButton)
        await until(question)
        question().accept()
        await until(lambda: "Undone" in page.detail.date_label.text())
        assert await scene.services.research.list_inquiries() == []


async def test_plugins_that_do_not_work_are_told_by_name_with_a_way_to_try_again(
    tmp_path: Path, script: Path, install: Install
):
    async def fail(_hands: SettableClock) -> TaskResult:
        raise LetheError("The well is dry.")

    install(fail)
    async with opened(tmp_path / "home", script) as scene:
        page = await page_of(scene)
        assert page.problem_list.isHidden()
        assert page.problem_list.problems == []

        services = scene.services
        for _time in range(3):
            services.background_runner.request_run("mira", "something")
            await services.background_runner.run_next_task()
        services.background_runner.registry.errors.append(
            PluginError("lethe-kites", "The task “kites” cannot be used: it has no title.")
        )
        services.tool_registry.errors.append(PluginError("lethe-dials", "The tools “dials” cannot be used: no such module."))
        services.tool_registry.changed.notify(None)

        await until(lambda: len(page.problem_list.problems) == 3)
        assert [text for text, _task in page.problem_list.problems] == [
            ("“A little something” of the plug-in “lethe-wells” was disabled because it failed repeatedly. The well is dry."),
            (
                "A task of the plug-in “lethe-kites” was not loaded. The task “kites” cannot be used: it has no title."
                " Everything else works."
            ),
            (
                "Tools of the plug-in “lethe-dials” were not loaded. The tools “dials” cannot be used: no such module."
                " Everything else works."
            ),
        ]
        again = next(one for one in page.problem_list.findChildren(QPushButton) if "A little something" in one.accessibleName())
        QTest.mouseClick(again, Qt.MouseButton.LeftButton)

        await until(lambda: len(page.problem_list.problems) == 2)
        assert services.preferences.current.tasks_off == []


async def test_what_is_planned_is_listed_before_anything_ran_and_says_whether_it_is_on(tmp_path: Path, script: Path):
    async with opened(tmp_path, script) as scene:
        page = await page_of(scene)
        await until(lambda: page.planned_rows.row_total)

        assert page.planned_table.isVisible()
        titles = [task.title for task in page.planned_rows.all_rows]
        assert "Journal" in titles
        assert "Dreams" in titles
        assert "Background activity is off" in page.hint.text()
        assert "Tasks start after" not in page.hint.text()
        assert page.planned_table.isColumnHidden(COST)

        page.agent_mode_check.click()
        await until(lambda: "one at a time" in page.hint.text())
        await scene.services.preferences.set(agents=False)
        await until(lambda: "turned off in the settings" in page.hint.text())
        assert "one at a time" not in page.hint.text()
        table = page.planned_rows
        assert "as soon as you are away" not in [table.data(table.index(row, DUE)) for row in range(table.rowCount())]


async def test_the_plan_states_the_next_run_and_the_usual_cost(tmp_path: Path, script: Path):
    async with opened(tmp_path, script) as scene:
        began = now() - timedelta(minutes=10)
        for tokens, minutes in ((1000, 1), (3000, 3)):
            run = TaskRun(
                persona_id="mira",
                task="journal",
                began=began,
                ended=began + timedelta(minutes=minutes),
                outcome=RunOutcome.MADE,
                tokens=tokens,
            )
            await scene.services.task_runs.save_run(run)
        mira = await scene.services.library.persona("mira")
        await scene.services.library.save_persona(mira.model_copy(update={"agent_tasks": ["journal", "dream"]}))

        planned = {task.name: task for task in await scene.services.background_runner.plan_tasks(mira)}

        assert planned["journal"].due is not None
        assert planned["journal"].due > now()
        assert (planned["journal"].tokens, planned["journal"].time) == (2000, timedelta(minutes=2))
        assert format_usual_cost(planned["journal"]) == "2000 tokens · 2 min"
        tomorrow = replace(planned["journal"], due=now() + timedelta(days=1), missing="")
        assert format_due(tomorrow, is_on=True) == f"tomorrow from {format_time(tomorrow.due)}"
        later = tomorrow.due + timedelta(days=2)
        assert format_due(replace(tomorrow, due=later), is_on=True) == f"from {format_date_time(later)}"
        assert format_due(replace(tomorrow, due=None), is_on=True) == "as soon as you are away"
        assert format_due(replace(tomorrow, due=None), is_on=False) == "once it is turned on"
        assert format_due(replace(tomorrow, missing="web"), is_on=True) == "needs internet search"


async def test_nothing_is_switched_while_another_persona_is_loaded(
    tmp_path: Path, script: Path, monkeypatch: pytest.MonkeyPatch
):
    async with open_activity(tmp_path / "home", script) as (scene, page, _memory):
        await until(page.agent_mode_check.isEnabled)
        load, is_released = ActivityLog.list_runs, asyncio.Event()

        async def load_slowly(self: ActivityLog, *arguments: int) -> list[TaskRun]:
            await is_released.wait()
            return await load(self, *arguments)

        monkeypatch.setattr(ActivityLog, "list_runs", load_slowly)
        page.persona_selector.choose_persona("edmund")
        page.agent_mode_check.click()
        is_released.set()

        await until(page.agent_mode_check.isEnabled)
        assert not any(persona.agent_mode for persona in await scene.services.library.personas())
        page.filters.chips[PLANNED].click()
        page.agent_mode_check.click()
        await until(lambda: page.agent_mode_check.isChecked() and "one at a time" in page.hint.text())
        assert (await scene.services.library.persona("edmund")).agent_mode
        page.undo_stack.undo()
        await until(lambda: not page.agent_mode_check.isChecked())
        assert not (await scene.services.library.persona("edmund")).agent_mode
