"""What has happened in Mira's life between the user's visits, so that the pages about it can be pictured."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import uuid4

from lethe_app.brain.notebooks.document import Conclusion
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.agent_runs import ProducedKind, ProducedRecord, RunOutcome, TaskRun
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.domain.mood import Feeling, Mood, MoodCause, MoodSample
from lethe_app.domain.persona import Weekday
from lethe_app.storage.agents.task_runs import TaskRuns

MIRA = "mira"
SIDES = ("cheer", "energy", "curiosity")
CHEER = (0.42, 0.47, 0.45, 0.55, 0.6, 0.58, 0.66, 0.7, 0.64, 0.69, 0.74, 0.72, 0.78, 0.8)
ENERGY = (0.8, 0.74, 0.7, 0.66, 0.71, 0.62, 0.58, 0.55, 0.6, 0.52, 0.48, 0.55, 0.5, 0.46)
CURIOSITY = (0.5, 0.52, 0.6, 0.58, 0.66, 0.7, 0.64, 0.72, 0.75, 0.7, 0.78, 0.76, 0.8, 0.83)
THOUGHTS = (
    "I tell myself that I keep the Petrel afloat for the money. It has not been for the money since the Needle. I like how the "
    "captain asks twice before he decides, and that he has stopped pretending not to be tired."
)
WEEK = {
    Weekday.MONDAY: "Charts, the whole morning; nobody speaks to her before noon.",
    Weekday.WEDNESDAY: "Market at Tern Quay: lemons, lamp oil, gossip.",
    Weekday.SATURDAY: "Mends sails with Anselm and lets him talk.",
}
JOURNAL = (
    ("The bell logs", "Sold them short today, and slept better than I have in a month. Tomas noticed and said nothing."),
    ("Rain", "Four days of it. I have drawn the same shoal six times; it is no smaller."),
)
GOALS = (
    ("Learn the Quarr signals", "All nineteen, before the next Return.", 2),
    ("Find out why Tomas will not board the Heron", "Not by asking. By being there when he is ready.", 3),
)
NOTEBOOKS = {
    "The Heron": (
        "Ines sailed her until the storm of the eleventh.",
        "Her bell hangs in the chapel at Harrow Light since May.",
        "Tomas has not been aboard since.",
    ),
    "Lemons": ("Pickled in sea water for nine days.", "Anselm swears by ten.", "Never again in the brass pot."),
    "The Needle": ("A fathom under the keel at slack water.", "The customs cutter lies behind the headland on market days."),
}
TWICE = ("Anselm will be fifty on the second of the Dry.", "The stairs of Harrow Light have a hundred and four steps.")


async def live(services: AppServices) -> None:
    """Some weeks of it."""
    present = now()
    persona = await services.library.persona(MIRA)
    more = {"mood": True, "self_edit_field": THOUGHTS, "schedule": WEEK, "agent_mode": True}
    await services.library.save_persona(persona.model_copy(update=more))
    await _feel(services, present)
    for name, content in JOURNAL:
        await _keep(services, name, content, MemoryType.JOURNAL, MemoryInsertion.TRIGGER, made_by="journal")
    for name, content, priority in GOALS:
        ends = {"end_time": present + timedelta(days=23), "priority": priority, "made_by": "goals"}
        await _keep(services, name, content, MemoryType.GOAL, MemoryInsertion.NATURAL, **ends)
    for content in TWICE * 2:
        await _keep(services, "", content, MemoryType.GENERAL, MemoryInsertion.TRIGGER, made_by="journal")
    await services.reminders.create_reminder(MIRA, "Ask how the talk with the Tide Office went.", present + timedelta(days=2))
    for title, lines in NOTEBOOKS.items():
        await services.notebooks.create(MIRA, title, [Conclusion(line, present.date()) for line in lines])
    await _work(TaskRuns(services.database), present)
    await services.indexing.index_all_pending()


async def _feel(services: AppServices, present: datetime) -> None:
    days = zip(CHEER, ENERGY, CURIOSITY, strict=True)
    samples = [
        MoodSample(at=present - timedelta(days=len(CHEER) - day), values=dict(zip(SIDES, values, strict=True)))
        for day, values in enumerate(days)
    ]
    since = present - timedelta(hours=3)
    feelings = {
        "cheer": Feeling(value=CHEER[-1], why=MoodCause.PRAISE, since=since),
        "energy": Feeling(value=ENERGY[-1], why=MoodCause.TALK, since=since),
        "curiosity": Feeling(value=CURIOSITY[-1], why=MoodCause.NEWS, since=since),
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
    return (await services.memory.memorize(MIRA, memory, check=False)).record


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
