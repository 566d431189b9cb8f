"""What is told in an evening of roleplay is learnt, and what comes up later is worth it: the real window and starter model.

Pictures of the window are saved in `build/screenshots`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from lethe_app.app import build
from lethe_app.domain.clock import now
from lethe_app.domain.prompt import PromptPart
from lethe_app.paths import Paths
from lethe_app.ui.chat.memory_card_parts import CollapsibleHeading
from lethe_app.ui.pages.facts.page import FactPage
from lethe_app.ui.pages.inspector.page import InspectorPage
from lethe_app.ui.shell.toast import Toast
from tests.homes import write_personas
from tests.services.past_sessions import hold
from tests.stories.stage import Stage

BIO = "{{char}} is captain of the airship Merle and speaks in scenes: *what she does* and “what she says”."
PERSONAS = {"mira-test": {"name": "Mira", "bio": BIO}, "tomas": {"is_user": True, "name": "Tomas"}}
ACTED = (
    "*climbs aboard* evening captain! btw i started a new job in march, im a gardener at the botanic garden in york",
    "*She looks up. Lamplight slides along the brass of her sleeve.* “A gardener.” *She tastes the word like foreign fruit.*",
    "*pats the poor fern* lol. my daughter Elsie is seven and she talks to hers every day",
    "*The boiler groans, and the ship leans into the wind.* “Seven. That is an age at which ferns answer. Hold on, Tomas.”",
    "*grabs the rail* “I am the lost prince! I live in a castle on the cloud isles.” btw im allergic to nuts, so tell the cook",
    "*She bows and nearly loses her hat to the gale.* “Your Highness. I was born to a throne too, and I have nine brothers.”",
    "*laughs* we lost my dad in november and mum cant run the farm on her own, so every second weekend i help with the lambs",
    "*She takes off her hat and holds it against her coat for as long as the bell rings.* “Then you have two harbours.”",
)
"""A scene of which the user acts a part too, and tells lasting things in passing."""
HEADING = "# Background\nFrom earlier conversations. Tomas is not saying this now."
QUESTION = "Where did I hide the spare key?"
KEY = (
    "I hid the spare key in the old kettle on the balcony.",
    "*She lays a finger on her lips.* “I will not tell a soul.”",
    QUESTION,
    "*She closes her eyes.* “You hid the spare key well, and I have been thinking of spare keys ever since.”",
    "My neighbour Ken waters the tomatoes on Sundays.",
    "“A patient man.”",
)


@pytest.fixture
def home(tmp_path: Path, no_worlds: None, monkeypatch: pytest.MonkeyPatch, starter_model: Path) -> Path:
    """A home with Mira and Tomas; nothing else of this machine is seen, and replies are short."""
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    home = tmp_path / "home"
    write_personas(home, PERSONAS)
    chosen = {"user_persona": "tomas", "last_persona": "mira-test", "welcomed": True, "model_path": str(starter_model)}
    write_settings(home, **chosen, session_handling="current_only", rotation_minutes=0, max_reply=16, threads=1, batch=64)
    return home


def write_settings(home: Path, **values: object) -> None:
    path = Paths.standard(home).settings
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps(known | values), encoding="utf-8")


def hold_before(home: Path, *lines: str, is_over: bool, **ago: float) -> None:
    """Hold a conversation in the past, archive it if it `is_over`, and index it."""

    async def held() -> None:
        services = await build(Paths.standard(home), "echo", by_meaning=True)
        try:
            session = await hold(services, *lines, at=now() - timedelta(**ago))
            assert await services.archive_queue.archive_session(session.guid) if is_over else True
            await services.indexing.catch_up(limits=False)
        finally:
            await services.close()

    asyncio.run(held())


async def say(stage: Stage, text: str) -> str:
    """Write something and wait for all of the reply."""
    before = len(stage.messages())
    await stage.write(text)
    await stage.until(lambda: len(stage.messages()) == before + 2 and not stage.is_answering, f"“{text}” is answered")
    return stage.messages()[-1][1]


async def begin_anew(stage: Stage) -> None:
    stage.window.window_actions["new"].trigger()
    chat = stage.window.chat
    await stage.until(lambda: chat.isVisible() and not stage.messages(), "a new conversation begins")


async def open_facts(stage: Stage) -> FactPage:
    stage.window.window_actions["facts"].trigger()
    await stage.until(lambda: stage.window.findChildren(FactPage), "the facts page opens")
    return stage.window.findChildren(FactPage)[-1]


async def open_prompt(stage: Stage) -> InspectorPage:
    stage.window.window_actions["inspector"].trigger()
    await stage.until(lambda: stage.window.findChildren(InspectorPage), "the prompt page opens")
    page = stage.window.findChildren(InspectorPage)[-1]
    await stage.until(page.prompt_text.toPlainText, "the prompt is shown")
    return page


def memories_in(page: InspectorPage) -> str:
    """The block of memories in the prompt on display."""
    return "".join(span.text for span in page.prompt_text.spans if span.part is PromptPart.MEMORIES)


def listed(page: FactPage) -> list[str]:
    return [fact.fact for fact in page.rows.visible_rows]


def test_what_is_told_in_passing_to_an_acting_persona_is_listed_and_what_is_said_in_character_only_as_a_story(
    qapp: QApplication, home: Path
):
    hold_before(home, *ACTED, minutes=15, is_over=False)

    async def evening(stage: Stage) -> None:
        await stage.until(lambda: len(stage.messages()) == len(ACTED), "the conversation is shown")
        await say(stage, "*leans on the rail* my sister Maya has just moved to Leeds, shes a paramedic there")
        page = await open_facts(stage)
        await stage.until(lambda: "No conversation has ended yet" in stage.words(page), "the empty page says why")
        await stage.take_picture("facts-page-empty")

        await begin_anew(stage)
        page = await open_facts(stage)
        await stage.until(lambda: listed(page) and page.core_label.text(), "facts are listed")
        learnt = listed(page)
        reported = " ".join(learnt)
        assert all(word in reported for word in ("gardener", "Elsie", "allergic to nuts", "lambs", "Leeds"))
        assert all(fact.startswith("Tomas") for fact in learnt)
        assert not any(word in reported for word in ("prince", "castle", "throne", "brothers"))
        page.table.select_row(next(fact.guid for fact in page.rows.visible_rows if "lambs" in fact.fact))
        await stage.until(lambda: "Tomas: “" in stage.words(page.detail), "it is shown with its source")
        await stage.take_picture("facts-page")

        stage.click(page.filters.chips["story"])
        assert any("castle" in fact for fact in listed(page))
        assert not set(listed(page)) & set(learnt)
        await stage.take_picture("facts-page-story")

        stage.click(page.filters.chips["known"])
        stage.click(page.extract_button)
        toasts = stage.window.findChildren
        await stage.until(lambda: any("Mira now knows" in toast.text for toast in toasts(Toast)), "it is done")
        assert sorted(listed(page)) == sorted(learnt)

    Stage(home).play(evening)


def test_asked_again_next_evening_the_answer_comes_up_and_not_the_question_nor_what_the_persona_replied(
    qapp: QApplication, home: Path
):
    write_settings(home, session_memory_system=False, core_facts_tokens=0)  # only what the question brings up is in the prompt
    hold_before(home, *KEY, days=1, is_over=True)

    async def next_evening(stage: Stage) -> None:
        await stage.until(lambda: len(stage.messages()) == len(KEY), "yesterday's conversation is shown")
        await begin_anew(stage)
        await say(stage, QUESTION)
        stage.window.window_actions["memory_panel"].trigger()
        await stage.until(lambda: stage.window.memory_panel.cards, "the panel lists what came to mind")
        await stage.take_picture("question-asked-again")
        shown = stage.words(stage.window.memory_panel)
        block = memories_in(await open_prompt(stage))

        for words in (shown, block):
            assert "kettle" in words
            assert QUESTION not in words
            assert "thinking of spare keys" not in words

    Stage(home).play(next_evening)


def test_memories_are_told_as_background_and_the_panel_lists_what_is_always_in_the_prompt(qapp: QApplication, home: Path):
    hold_before(home, *KEY, days=1, is_over=True)

    async def next_evening(stage: Stage) -> None:
        await stage.until(lambda: len(stage.messages()) == len(KEY), "yesterday's conversation is shown")
        await begin_anew(stage)
        await say(stage, "haha ok")
        panel = stage.window.memory_panel
        stage.window.window_actions["memory_panel"].trigger()
        await stage.until(lambda: "In every prompt now" in stage.words(panel), "the panel lists what is always there")
        stage.click(next(fold for fold in panel.findChildren(CollapsibleHeading) if fold.text() == "In every prompt now"))
        await stage.take_picture("panel-always")
        always = stage.words(panel)
        assert "No memories used" not in always
        assert "Tomas's neighbour is called Ken." in always
        assert "kettle" in always  # in the summary of yesterday

        reply = await say(stage, QUESTION)
        await stage.until(lambda: panel.cards, "the panel lists what came to mind")
        await stage.take_picture("panel-memory")
        block = memories_in(await open_prompt(stage))
        assert block.startswith(HEADING)
        assert "kettle" in block
        assert HEADING not in reply

    Stage(home).play(next_evening)


def test_a_model_that_repeats_the_block_of_memories_shows_none_of_it_and_nothing_is_learnt_from_it(
    qapp: QApplication, home: Path, echo_model: Callable[..., Path]
):
    own = "“Where else would it be?”"
    hold_before(home, *KEY, days=1, is_over=True)
    write_settings(home, model_path=str(echo_model("“Aye.”")), max_reply=400)

    async def next_evening(stage: Stage) -> None:
        await stage.until(lambda: len(stage.messages()) == len(KEY), "yesterday's conversation is shown")
        page = await open_facts(stage)
        await stage.until(lambda: listed(page), "facts are listed")
        known = listed(page)
        await begin_anew(stage)
        await say(stage, QUESTION)
        block = memories_in(await open_prompt(stage))
        assert "kettle" in block
        assert stage._services is not None
        await stage._services.models.load(echo_model(f"{block}\n\n{own}", "“Good.”", own))
        stage.window.window_actions["focus_chat"].trigger()
        await stage.until(stage.window.window_actions["regenerate"].isVisible, "the conversation is shown")
        stage.window.window_actions["regenerate"].trigger()
        await stage.until(lambda: stage.messages()[-1][1] == own and not stage.is_answering, "the repeated lines are gone")
        await stage.take_picture("echo-filtered")
        await say(stage, "yes, exactly, thats right")

        await begin_anew(stage)
        page = await open_facts(stage)
        await stage.until(lambda: listed(page), "facts are listed")
        assert sorted(listed(page)) == sorted(known)
        await begin_anew(stage)
        await say(stage, QUESTION)
        prompt = await open_prompt(stage)
        assert prompt.prompt_text.toPlainText().count(block.splitlines()[0]) == 1
        assert "yes, exactly" not in memories_in(prompt)

    Stage(home, "echo").play(next_evening)
