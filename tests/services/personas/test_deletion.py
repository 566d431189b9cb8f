"""With a persona who is deleted for good goes all she ever was; from the Trash all of it comes back with her."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from lethe_app.agents.task import TaskContext, TaskResult
from lethe_app.brain.notebooks.document import Conclusion
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.agent_runs import RecordedChange, ReplyRating
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.mood import MoodReading
from lethe_app.domain.web import Inquiry, InquiryState
from lethe_app.services.memory.working_memory import session_namespace
from lethe_app.storage.agents.change_log import ChangeLog
from tests.services.past_sessions import hold
from tests.services.tasks import Scripted, employ
from tests.services.turns import MIRA

OTHER = "mira"
"""Who came with Lethe, and stays."""
COUNTED_ONLY = "forgettings"
"""How often something was forgotten; says nothing of what."""


async def made(scene: TaskContext) -> TaskResult:
    await scene.memorize(MemoryUnit(content="The tide turns at six."))
    await scene.leave_note("The tide has turned.")
    await scene.save_state({"last": "tide"})
    return TaskResult("Looked at the tide.")


async def lived(services: AppServices) -> None:
    """Something of everything that is ever kept of her."""
    session = await hold(services, "Shall we sail?", "At six.")
    asked, reply = await services.sessions.page(session.guid, 0, 2)
    await employ(services, Scripted(made))
    services.background_runner.request_run(MIRA, "something")
    await services.background_runner.run_next_task()
    await services.feedback.rate_reply(reply.id, ReplyRating.BAD)
    await services.feedback.collect_remarks(MIRA)
    await services.objections.add_objection(MIRA, uuid4(), asked)
    await ChangeLog(services.database).save_changes(RecordedChange(persona_id=MIRA, what="infer"))
    await services.moods.apply_reading(MIRA, MoodReading(session=session.guid, at=now(), model="echo", steps={}))
    await services.goals.save_request(MIRA, "Learn the stars.")
    await services.notebooks.create(MIRA, "Tides", [Conclusion("It turns at six.", now().date())])
    thrown = await services.notebooks.create(MIRA, "Knots", [Conclusion("A bowline holds.", now().date())])
    await services.notebooks.delete(MIRA, thrown)
    await services.app_state.set("notebooks", MIRA, {str(session.guid): 2})
    inquiry = Inquiry(persona_id=MIRA, topic="The lighthouse of Brenn", state=InquiryState.DONE, ended=now())
    await services.research.restore(inquiry)
    await services.working_memory.save_entry(MIRA, session_namespace(session.guid), "page", "A whole page.")


async def rows_about(services: AppServices, persona_id: str) -> dict[str, int]:
    """By table, how many rows hold that name anywhere."""

    def work(connection) -> dict[str, int]:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found = {}
        for table in tables:
            if table.startswith(("passage_words", "sqlite")) or table == COUNTED_ONLY:
                continue
            rows = connection.execute(f"SELECT * FROM {table}").fetchall()
            found[table] = sum(any(persona_id in str(cell) for cell in row) for row in rows)
        return {table: count for table, count in found.items() if count}

    return await services.database.run(work)


async def count(services: AppServices, table: str) -> int:
    return await services.database.run(lambda c: c.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def files_of(folder: Path, persona_id: str) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and persona_id in path.parts]


async def test_of_a_persona_deleted_for_good_nothing_is_left(services: AppServices, says: Callable[..., object]):
    await says("Indeed.")
    await lived(services)
    before = await rows_about(services, MIRA)
    assert before.keys() >= {"task_runs", "changes", "feedback", "app_state", "memories", "sessions"}
    assert before["app_state"] >= 8
    assert await count(services, "working_memory") == 1
    assert len(files_of(services.paths.home, MIRA)) == 3

    await services.library.delete_persona(MIRA)
    item = next(one for one in await services.trash.list_items() if one.stem == MIRA)
    await services.trash.erase([item])

    assert await rows_about(services, MIRA) == {}
    assert await count(services, "working_memory") == 0
    assert files_of(services.paths.home, MIRA) == []
    assert [one for one in await services.trash.list_items() if one.persona_id == MIRA] == []


async def test_restoring_a_persona_restores_all_of_it(services: AppServices, says: Callable[..., object]):
    await says("Indeed.")
    await lived(services)
    before, files = await rows_about(services, MIRA), files_of(services.paths.home, MIRA)

    await services.library.delete_persona(MIRA)
    await services.trash.restore(next(one for one in await services.trash.list_items() if one.stem == MIRA))

    assert await rows_about(services, MIRA) == before
    assert files_of(services.paths.home, MIRA) == files
    assert [run.task for run in await services.activity_log.list_runs()] == ["something"]
    assert len(await services.feedback.list_feedback(MIRA)) == 1
    assert len(await services.research.list_inquiries()) == 1
    assert len(await services.moods.load_readings(MIRA)) == 1
    assert len(await services.notebooks.notebooks_of(MIRA)) == 1


async def test_what_belongs_to_others_stays(services: AppServices, says: Callable[..., object]):
    await says("Indeed.")
    await lived(services)
    await services.goals.save_request(OTHER, "Learn the stars.")
    await services.notebooks.create(OTHER, "Stars", [Conclusion("Vega is blue.", now().date())])
    await services.research.restore(Inquiry(persona_id=OTHER, topic="Vega", state=InquiryState.DONE, ended=now()))

    await services.library.delete_persona(MIRA)
    await services.trash.erase([next(one for one in await services.trash.list_items() if one.stem == MIRA)])

    assert (await services.goals.load_request(OTHER)).request == "Learn the stars."
    assert [kept.notebook.title for kept in await services.notebooks.notebooks_of(OTHER)] == ["Stars"]
    assert [one.topic for one in await services.research.list_inquiries()] == ["Vega"]
