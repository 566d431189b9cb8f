"""A journal as the user lives it: they come back, and she has written something they can find, read and change."""

from __future__ import annotations

from pathlib import Path

from lethe_app.agents.goals import GoalDesigner
from lethe_app.agents.journal import Journal
from lethe_app.domain.memory import MemoryType
from tests.services.past_sessions import NUTS, chats_of, hold, opened, trusted
from tests.services.tasks import Clock, employ, leave
from tests.services.turns import MIRA, say

WANTS = {"write": True, "topic": "What Tomas told me of the lighthouse."}
ENTRY = {"title": "The lighthouse", "paragraphs": ["Tomas spoke of the old lighthouse. I would like to see its lamp once."]}
PLAN = {
    "title": "See the lighthouse",
    "details": "Mira wants to see the lamp of the lighthouse with Tomas.",
    "reason": "He spoke of it as of a friend.",
    "steps": ["Ask him when he goes there again."],
}


async def test_two_evenings_later_there_is_an_entry_that_is_told_of_and_found(home: Path, tmp_path: Path, clock: Clock):
    async with opened(home) as services:
        await services.preferences.set(user_persona="tomas")
        for _evening in range(2):
            session = await hold(services, *NUTS, at=clock.shown)
            await chats_of(services).change_session(session.guid, archived=True, name="The lighthouse", content="They talked.")
            clock.go_on(days=1)
        await employ(services, Journal(lambda: 8192), GoalDesigner())
        answers = [WANTS, ENTRY, {"own": ["See the lighthouse."], "wishes": []}, PLAN]
        await trusted(services, tmp_path / "model.json", answers=answers, replies=["Welcome back.", "I do."])
        leave(services, clock)
        for _look in range(3):
            await services.background_runner.run_next_task()
        clock.go_on(hours=8)

        back = await hold(services)
        greeted = await say(services, back, "I am back.")
        asked = await say(services, back, "Do you remember the lighthouse?")

        assert greeted.note is not None
        assert "has written in the journal about “The lighthouse”" in greeted.note.content
        assert ENTRY["paragraphs"][0] in "\n".join(one.text for one in asked.memory.recalled)
        (goal,) = [one for one in await services.memory.memories(MIRA) if one.category is MemoryType.GOAL]
        assert (goal.name, goal.reason, goal.priority) == ("See the lighthouse", PLAN["reason"], 3)

        clock.go_on(days=40)
        await say(services, await hold(services), "It has been a while.")
        kinds = [one.category for one in await services.memory.memories(MIRA)]
        assert MemoryType.GOAL not in kinds
        assert MemoryType.JOURNAL in kinds
