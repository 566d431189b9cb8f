"""Pictures of every page, of every dialog and of the page of somebody new, by night and by day, in a furnished home."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtWidgets import QApplication, QDialog

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.agent_runs import ReplyRating
from lethe_app.domain.chat import Role
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.domain.memory import MemoryUnit
from lethe_app.services.events import ModelReady
from tests.life_pictures import TEXTS, live
from tests.ui.dialogs.every_dialog import DIALOGS
from tests.ui.window_scene import Scene, until

if TYPE_CHECKING:
    from tests.screenshots import Studio

MIRA = "mira"
NIGHT_AND_DAY = (("dark", "night"), ("light", "day"))
KNOWN = TEXTS["remembered"]
SHEEPSHANK: str = KNOWN["answered"]
PAGES = {
    "persona": "persona_editor",
    "worlds": "worlds",
    "memories": "memories",
    "facts": "facts",
    "timeline": "overview",
    "objections": "irrelevant_memories",
    "conversations": "conversations",
    "find": "search_everything",
    "trash": "trash",
    "inspector": "inspector",
    "models": "model_manager",
    "presets": "presets",
    "settings": "settings",
    "who-you-are": "user_personas",
    "mind": "mind",
    "notebooks": "notebooks",
    "documents": "documents",
    "away": "background_activity",
    "dreams": "dreams",
    "research": "research",
    "outgoing": "network_log",
}
"""Picture → wish."""


async def wait_for_layout(seconds: float = 0.6) -> None:
    """Let everything that is under way come to rest."""
    for _ in range(int(seconds / 0.02)):
        QApplication.processEvents()
        await asyncio.sleep(0.02)


@asynccontextmanager
async def opened(studio: Studio, script: str) -> AsyncIterator[Scene]:
    """A dark window whose scripted model is loaded."""
    async with studio.window(theme="dark", model_path=script, last_session=studio.sessions["Through the Needle"]) as scene:
        await until(lambda: isinstance(scene.services.models.state, ModelReady))
        yield scene


async def remember(services: AppServices, sessions: dict[str, str]) -> None:
    """What Mira knows after some weeks."""
    facts = []
    for text, times, title, pinned in KNOWN["facts"]:
        session = UUID(sessions[title])
        said = (await services.sessions.page(session, 0, 1))[0]
        facts.append(
            ExtractedFact(
                fact=text,
                reference_count=times,
                source_memories=[session],
                source_messages=[said.id],
                pinned=pinned,
                first_seen=said.time,
                last_seen=said.time,
                made_by=MadeBy.RULES,
            )
        )
    await services.facts.learn(MIRA, facts)
    for name, category, insertion, content, priority in KNOWN["memories"]:
        fields = {"name": name, "category": category, "insertion": insertion, "content": content, "priority": priority}
        memory = MemoryUnit.model_validate(fields)
        await services.memory.memorize(MIRA, memory.model_copy(update={"added": now() - timedelta(days=3)}))
    await services.indexing.index_all_pending()


async def object_to_some(services: AppServices, sessions: dict[str, str]) -> None:
    """Mark memories as irrelevant to what was said, and dislike replies, one of them with a reason."""
    lines = await services.sessions.page(UUID(sessions["Through the Needle"]), 0, 12)
    said, replies = [one for one in lines if one.role is Role.USER], [one for one in lines if one.role is Role.ASSISTANT]
    for message in said:
        turn = await services.turn_memories.get(message.id)
        for recalled in turn.recalled[:2] if turn is not None else ():
            await services.objections.add_objection(MIRA, recalled.memory, message)
    for reply in replies[:2]:
        await services.feedback.rate_reply(reply.id, ReplyRating.BAD)
    await services.feedback.save_reason(replies[0].id, 0, "far too long")


async def remembering(studio: Studio, script: str) -> None:
    """The conversation with the panel beside it that says why."""
    async with opened(studio, script) as scene:
        calm = {"recall_without_match": 0, "rotation_minutes": 0, "core_facts_tokens": 0, "proactive_messages": False}
        await scene.services.preferences.set(**calm)
        await remember(scene.services, studio.sessions)
        await studio.open(scene, "Through the Needle")
        scene.window.resize(1360, 860)
        scene.draft.setPlainText(KNOWN["asked"])
        scene.window.chat.composer.send_button.click()
        await until(lambda: scene.words and scene.words[-1].startswith("*She does not look up, but"), 30)
        await until(lambda: not scene.is_replying, 30)
        scene.window.chat.status.show_activity("")
        scene.window.window_actions["memory_panel"].trigger()
        await wait_for_layout()
        scene.controller.view.go_to_end()
        await wait_for_layout()
        studio.keep(scene.window.grab(), "remembering-night")
        await scene.services.preferences.set(theme="light")
        await wait_for_layout()
        studio.keep(scene.window.grab(), "remembering-day")


async def pages(studio: Studio, script: str) -> None:
    """Every page that there is."""
    async with opened(studio, script) as scene:
        await studio.open(scene, "Through the Needle")
        scene.window.resize(1280, 820)
        await scene.services.preferences.set(rotation_minutes=0)
        await live(scene.services)
        await object_to_some(scene.services, studio.sessions)
        for name, requested in PAGES.items():
            if requested not in scene.window.window_actions:
                continue
            await page(studio, scene, name, requested)


async def page(studio: Studio, scene: Scene, name: str, requested: str) -> None:
    """One page by night and by day, with whatever is worth typing first."""
    for theme, light in NIGHT_AND_DAY:
        await scene.services.preferences.set(theme=theme)
        scene.window.window_actions[requested].trigger()
        await until(lambda: scene.page is not None)
        await wait_for_layout(1.2)
        if name in PREPARED:
            await PREPARED[name](scene)
        studio.keep(scene.window.grab(), f"{name}-{light}")
        scene.controller.pages.navigator.close_all_pages()


async def choose_first(scene: Scene) -> None:
    """Put the cursor on the first row, so that its details are seen."""
    table = getattr(scene.page, "table", None)
    table = getattr(table, "table", table)
    if table is not None and table.table_model.visible_rows:
        table.select_row(table.table_model.key_of(table.table_model.visible_rows[0]))
    await wait_for_layout(0.6)


async def choose_found_model(scene: Scene) -> None:
    """One that another program has downloaded, so that no path of this machine is in the picture."""
    table = scene.page.table
    rows = table.table_model
    await until(lambda: any(one.model.source == "LM Studio" for one in rows.visible_rows))
    table.select_row(next(one.model.path for one in rows.visible_rows if one.model.source == "LM Studio"))
    await wait_for_layout(0.6)


async def dream(scene: Scene) -> None:
    """Have her dream, if she has not yet, and look at what she proposes."""
    page = scene.page
    if page.button("Dream now").isEnabled() and not page.rows.visible_rows:
        page.button("Dream now").click()
        await scene.services.background_runner.run_next_task()
        await wait_for_layout(1.0)
    await choose_first(scene)


async def find_tea(scene: Scene) -> None:
    scene.page.search.setText("tea")
    await wait_for_layout(1.0)


PREPARED: dict[str, Callable[[Scene], Awaitable[None]]] = {
    "memories": choose_first,
    "facts": choose_first,
    "conversations": choose_first,
    "find": find_tea,
    "models": choose_found_model,
    "dreams": dream,
}


async def dialogs(studio: Studio, script: str) -> None:
    """Every dialog, the list of all commands, and somebody who is being made up."""
    async with opened(studio, script) as scene:
        await studio.open(scene, "Through the Needle")
        scene.window.resize(1280, 820)
        for theme, light in NIGHT_AND_DAY:
            await scene.services.preferences.set(theme=theme)
            await wait_for_layout(0.3)
            for name, make in DIALOGS.items():
                await dialog(studio, f"dialog-{name.replace(' ', '-')}-{light}", make(scene.window, scene.window.theme))
            await commands(studio, scene, light)
            await somebody_new(studio, scene, light)


async def dialog(studio: Studio, name: str, asking: QDialog) -> None:
    """One of them, as it opens."""
    asking.open()
    await wait_for_layout(0.2)
    studio.keep(asking.grab(), name)
    asking.close()
    asking.deleteLater()


async def commands(studio: Studio, scene: Scene, light: str) -> None:
    scene.window.window_actions["palette"].trigger()
    await wait_for_layout(0.3)
    studio.keep(scene.window.grab(), f"palette-{light}")
    scene.controller.command_palette.hide()


async def somebody_new(studio: Studio, scene: Scene, light: str) -> None:
    """The page as it opens."""
    scene.window.window_actions["new_persona"].trigger()
    await until(lambda: scene.page is not None)
    await wait_for_layout(0.8)
    studio.keep(scene.window.grab(), f"new-persona-{light}")
    scene.controller.pages.navigator.close_all_pages()
    await wait_for_layout(0.3)
