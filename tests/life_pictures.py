"""What has happened in Mira's life between the user's visits, so that the pages about it can be pictured."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from uuid import uuid4

from lethe_app.brain.notebooks.document import Conclusion
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.agent_runs import ProducedKind, ProducedRecord, RunOutcome, TaskRun
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.domain.mood import Feeling, Mood, MoodCause, MoodSample
from lethe_app.storage.agents.task_runs import TaskRuns

MIRA = "mira"
TEXTS = json.loads((Path(__file__).parent / "data" / "screenshots.json").read_text(encoding="utf-8"))
"""What is said in the pictures and what is known in them."""
LIFE = TEXTS["life"]


async def live(services: AppServices) -> None:
    """Some weeks of it."""
    present = now()
    persona = await services.library.persona(MIRA)
    more = {"mood": True, "self_edit_field": LIFE["thoughts"], "schedule": LIFE["week"], "agent_mode": True}
    await services.library.save_persona(persona.model_copy(update=more))
    await _feel(services, present)
    for name, content in LIFE["journal"]:
        await _keep(services, name, content, MemoryType.JOURNAL, MemoryInsertion.TRIGGER, made_by="journal")
    for name, content, priority in LIFE["goals"]:
        ends = {"end_time": present + timedelta(days=23), "priority": priority, "made_by": "goals"}
        await _keep(services, name, content, MemoryType.GOAL, MemoryInsertion.NATURAL, **ends)
    for content in LIFE["twice"] * 2:
        await _keep(services, "", content, MemoryType.GENERAL, MemoryInsertion.TRIGGER, made_by="journal")
    await services.reminders.create_reminder(MIRA, "Ask how the talk with the Tide Office went.", present + timedelta(days=2))
    for title, lines in LIFE["notebooks"].items():
        await services.notebooks.create(MIRA, title, [Conclusion(line, present.date()) for line in lines])
    await _work(TaskRuns(services.database), present)
    await services.indexing.index_all_pending()


async def _feel(services: AppServices, present: datetime) -> None:
    moods: dict[str, list[float]] = LIFE["moods"]
    days = list(zip(*moods.values(), strict=True))
    samples = [
        MoodSample(at=present - timedelta(days=len(days) - day), values=dict(zip(moods, values, strict=True)))
        for day, values in enumerate(days)
    ]
    causes = (MoodCause.PRAISE, MoodCause.TALK, MoodCause.NEWS)
    since = present - timedelta(hours=3)
    feelings = {
        side: Feeling(value=values[-1], why=why, since=since) for (side, values), why in zip(moods.items(), causes, strict=True)
    }
    state = services.moods._app_state
    await state.set("mood history", MIRA, [one.model_dump(mode="json") for one in samples])
    await state.set("moods", MIRA, Mood(at=present, feelings=feelings).model_dump(mode="json"))


async def _keep(
    services: AppServices, name: str, content: str, category: MemoryType, insertion: MemoryInsertion, **fields: object
) -> MemoryUnit:
    memory = MemoryUnit.model_validate(
        {"name": name, "content": content, "category": category, "insertion": insertion, **fields}
    )
    return await services.memory.memorize(MIRA, memory, check=False)


async def _work(runs: TaskRuns, present: datetime) -> None:
    """Four attempts, of which three came to an end."""
    for hours, task, outcome, tokens, summary, title in (
        (2, "journal", RunOutcome.MADE, 3_412, "Wrote about the bell logs.", "The bell logs"),
        (3, "goals", RunOutcome.MADE, 2_980, "Set herself a goal.", "Learn the Quarr signals"),
        (5, "thoughts", RunOutcome.GAVE_WAY, 640, "", ""),
        (26, "journal", RunOutcome.NOTHING, 1_105, "Nothing asked to be written down.", ""),
    ):
        began = present - timedelta(hours=hours)
        made = (ProducedRecord(kind=ProducedKind.MEMORY, id=str(uuid4()), title=title),) if title else ()
        await runs.save_run(
            TaskRun(
                persona_id=MIRA,
                task=task,
                began=began,
                ended=began + timedelta(seconds=48),
                outcome=outcome,
                tokens=tokens,
                summary=summary,
                made=made,
            )
        )
