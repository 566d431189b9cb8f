"""What is left of a conversation with a roleplaying persona, seen in the real window with the real starter model.

Every story leaves a picture of the window in `build/screenshots`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from lethe_app.app import build
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact
from lethe_app.house import House
from lethe_app.paths import Paths
from lethe_app.ui.workshop.fact_page import FactPage
from tests.stories.stage import Stage

PICTURES = Path(__file__).parent.parent.parent / "build" / "screenshots"
PERSONA = {"name": "Isaura", "bio": "{{char}} is captain of the airship Merle and speaks in scenes."}
USER = {"is_user": True, "name": "Robin"}
ACTED = (
    ("Robin", "*climbs aboard and shakes the rain off* evening captain! btw im robin, i work as a gardener in york"),
    (
        "Isaura",
        (
            "*The captain looks up from her charts. Lamplight slides along the brass of her sleeve.* “A gardener.” *She tastes "
            "the word as though it were foreign fruit.* “We have one fern. It hates us.” *She pushes a stool over.*"
        ),
    ),
    ("Robin", "*pats the poor fern* lol. my daughter Elsie is seven and she talks to hers every day"),
    (
        "Isaura",
        (
            "*Something in her face comes loose and is tied again at once.* “Seven. That is an age at which ferns answer.” "
            "*Below the deck the boiler groans, and the whole ship leans into the wind.* “Hold on to something, Robin.”"
        ),
    ),
    ("Robin", "*grabs the rail* “I am the lost prince of the cloud isles!” btw im allergic to nuts, so tell the cook"),
    (
        "Isaura",
        (
            "*She bows, one hand on her heart, and nearly loses her hat to the gale.* “Your Highness. The cook shall hear of "
            "the nuts.” *The first mate rolls his eyes so hard that it can almost be heard.*"
        ),
    ),
)
"""Half played, by her almost entirely; three lasting things are said in passing."""
KEY = (
    ("Robin", "I hid the spare key in the old kettle on the balcony."),
    ("Isaura", "In the kettle. I will not tell a soul."),
    ("Robin", "Where did I hide the spare key?"),
    ("Isaura", "You asked me to remember that, and I have been thinking of keys ever since."),
    ("Robin", "My neighbour Ken waters the balcony on Sundays."),
    ("Isaura", "A patient man."),
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, starter_model: Path) -> Path:
    """Isaura, Robin and the starter model; nothing else of this machine is seen, and replies are short."""
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    paths = Paths.standard(tmp_path / "home")
    for name, persona in (("isaura", PERSONA), ("robin", USER)):
        paths.personas.mkdir(parents=True, exist_ok=True)
        (paths.personas / f"{name}.json").write_text(json.dumps(persona), encoding="utf-8")
    settings = {
        "user_persona": "robin",
        "last_persona": "isaura",
        "welcomed": True,
        "model_path": str(starter_model),
        "session_handling": "current_only",
        "rotation_minutes": 0,
        "max_reply": 24,
    }
    paths.settings.write_text(json.dumps(settings), encoding="utf-8")
    return paths.home


def hold(home: Path, lines: Sequence[tuple[str, str]], *, days_ago: float, facts: Sequence[str] = (), is_over: bool) -> None:
    """What was said some time ago, and facts the user added; where it `is_over`, it is archived by rules."""

    async def held() -> None:
        house = await build(Paths.standard(home), "echo")
        try:
            session = await spoken(house, lines, days_ago)
            for fact in facts:
                await house.knowing.add("isaura", fact)
            if is_over:
                assert await house.archiving.begin(session.guid)
        finally:
            await house.close()

    asyncio.run(held())


async def spoken(house: House, lines: Sequence[tuple[str, str]], days_ago: float) -> ChatSession:
    begun = now() - timedelta(days=days_ago)
    session = await house.chat._chats.add_session(ChatSession(persona_id="isaura", user_id="robin", added=begun))
    said = [
        Message(
            session_id=session.guid,
            role=Role.USER if name == "Robin" else Role.ASSISTANT,
            speaker=name.lower(),
            speaker_name=name,
            time=begun + timedelta(minutes=place),
            alternatives=[Alternative(content=text, created=begun)],
        )
        for place, (name, text) in enumerate(lines)
    ]
    await house.chat._chats.add_messages(said)
    return session


def change_settings(home: Path, **values: object) -> None:
    path = Paths.standard(home).settings
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | values), encoding="utf-8")


def take_picture(stage: Stage, name: str) -> None:
    """Keep what is on the screen."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    QApplication.processEvents()
    assert stage.window.grab().save(str(PICTURES / f"story-{name}.png"))


async def facts_on_the_page(stage: Stage) -> FactPage:
    """Go to the page of facts as one does by its key."""
    stage.window.actions_["facts"].trigger()
    await stage.until(lambda: stage.window.findChildren(FactPage), "the page of facts opens")
    return stage.window.findChildren(FactPage)[-1]


def listed(page: FactPage) -> list[str]:
    return [fact.fact for fact in page.rows.shown]


async def say(stage: Stage, text: str) -> None:
    """Write something in a new conversation and hear her out."""
    stage.window.actions_["new"].trigger()
    await stage.until(lambda: not any(name == "Robin" for name, _text in stage.messages()), "a new conversation begins")
    await stage.write(text)
    await stage.until(lambda: stage.messages()[-1:] and stage.messages()[-1][0] == "Isaura", "she answers")
    await stage.until(lambda: not stage.is_answering, "she has finished")


def test_a_persona_acts_all_evening_and_what_its_user_told_stands_on_the_page_of_facts(qapp: object, home: Path):
    hold(home, ACTED, days_ago=0.01, is_over=False)

    async def evening(stage: Stage) -> None:
        await stage.until(lambda: len(stage.messages()) == len(ACTED), "the evening is there")
        stage.window.actions_["new"].trigger()
        await stage.until(lambda: not stage.messages(), "a new conversation begins")
        page = await facts_on_the_page(stage)
        await stage.until(lambda: any("allergic" in fact for fact in listed(page)), "the facts are listed")
        take_picture(stage, "facts-of-a-played-evening")

        told = " ".join(listed(page)).lower()
        assert all(word in told for word in ("gardener", "elsie", "allergic"))
        assert "prince" not in told

    Stage(home).play(evening)


def test_a_question_that_was_asked_before_is_no_memory_and_neither_is_the_old_answer(qapp: object, home: Path):
    change_settings(home, session_memory_system=False, core_facts_tokens=0)
    hold(home, KEY, days_ago=1, is_over=True)

    async def next_evening(stage: Stage) -> None:
        await stage.until(lambda: len(stage.messages()) == len(KEY), "yesterday's conversation is there")
        await say(stage, "Where did I hide the spare key?")
        stage.window.actions_["memory_panel"].trigger()
        await stage.until(lambda: stage.window.memory.cards, "the panel lists what came to mind")
        for card in stage.window.memory.cards:
            if not card.fold.isChecked():
                stage.click(card.fold)
        take_picture(stage, "a-question-asked-again")

        shown = stage.words(stage.window.memory)
        assert "kettle" in shown
        assert "Where did I hide" not in shown
        assert "thinking of keys" not in shown

    Stage(home).play(next_evening)


def test_where_nothing_came_to_mind_the_panel_lists_what_is_always_there(qapp: object, home: Path):
    hold(home, KEY, days_ago=1, facts=["Robin works as a gardener in York."], is_over=True)

    async def next_evening(stage: Stage) -> None:
        await stage.until(lambda: len(stage.messages()) == len(KEY), "yesterday's conversation is there")
        await say(stage, "haha ok")
        stage.window.actions_["memory_panel"].trigger()
        await stage.until(lambda: "gardener" in stage.words(stage.window.memory), "the panel lists the facts always in mind")
        take_picture(stage, "always-in-mind")

        shown = stage.words(stage.window.memory)
        assert "Nothing came to mind" not in shown
        assert "kettle" in shown  # the summary of the conversation before stands in the prompt as well

    Stage(home).play(next_evening)


def test_a_conversation_left_open_two_days_ago_is_over_and_learnt_from_though_nobody_writes(qapp: object, home: Path):
    change_settings(home, rotation_minutes=60)
    hold(home, ACTED, days_ago=2, is_over=False)

    async def two_days_later(stage: Stage) -> None:
        await stage.until(lambda: len(stage.messages()) == len(ACTED), "the conversation is there")
        page = await facts_on_the_page(stage)
        await stage.until(lambda: any("allergic" in fact for fact in listed(page)), "silence has ended the conversation")
        take_picture(stage, "silence-ends-a-conversation")

    Stage(home).play(two_days_later)

    async def kept() -> list[ExtractedFact]:
        house = await build(Paths.standard(home), "echo")
        try:
            (summary,) = await house.sessions.list("isaura")
            assert summary.archived
            assert summary.messages == len(ACTED)
            return await house.knowing.all("isaura")
        finally:
            await house.close()

    assert asyncio.run(kept())
