"""What is known of a message besides its text is shown where one looks for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel

from lethe_app.domain.chat import Alternative, Degradation, DegradationKind, Message, MessageMode, Role
from lethe_app.ui.dialogs.message_details import MessageDetailsDialog
from lethe_app.ui.pages.inspector.page import InspectorPage
from lethe_app.ui.pages.sessions.page import SessionPage
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")
GERMAN = "Ich sehe das Schiff und du siehst es nicht."


async def details(scene: Scene, row: int) -> dict[str, str]:
    scene.controller.view.run_action("details", row)
    dialog = await scene.dialog()
    assert isinstance(dialog, MessageDetailsDialog)
    dialog.primary.click()
    await until(lambda: not dialog.isVisible())
    return dict(dialog.rows)


async def test_the_menu_of_a_message_shows_mode_language_latency_and_what_was_found(
    tmp_path: Path, echo_model: Callable[..., Path]
):
    async with opened(tmp_path, echo_model("“I see the harbour and the storm.”", template="x")) as scene:
        await scene.say("You can write to me at tomas@petrel.example whenever you want.")

        asked, reply = await details(scene, 1), await details(scene, 2)

        assert (asked["Entered"], asked["Language"]) == ("written", "English")
        assert "found in the text" in asked["Identifying data"]
        assert "Latency" not in asked
        assert reply["Latency"].startswith("first words after ")
        assert "Entered" not in reply


async def test_the_inspector_puts_what_was_left_out_into_words(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path, echo_model("“I see the harbour and the storm.”")) as scene:
        await scene.say("What do you see on the horizon?")
        message = scene.controller.messages.message(2)
        cut = Degradation(kind=DegradationKind.HISTORY_CUT, values={"count": 12})
        failed = Degradation(kind=DegradationKind.TOOL_FAILED, values={"tool": "web_search"})
        changed = message.current.model_copy(update={"degradations": [cut, failed], "is_cut": True})
        await scene.services.session_store.replace_alternative(message.id, 0, changed)

        scene.window.window_actions["inspector"].trigger()
        page = scene.page
        assert isinstance(page, InspectorPage)
        await until(lambda: page.inspection is not None)
        words = [label.text() for label in page.summary.findChildren(QLabel)]

        assert "12 earlier messages were not in the prompt." in words
        assert "The tool “web_search” failed." in words
        assert "The reply ended at its maximum length." in words
        assert "Language: English" in words


async def test_a_conversation_shows_its_switches(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path, echo_model("“I see.”")) as scene:
        for text, language, mode in (("Hello.", "en", MessageMode.TEXT), (GERMAN, "de", MessageMode.VOICE)):
            said = [Alternative(content=text, language=language)]
            message = Message(session_id=scene.session.guid, role=Role.USER, mode=mode, alternatives=said)
            await scene.services.session_store.add_message(message)
        scene.services.sessions.changed.notify("mira")

        scene.window.window_actions["conversations"].trigger()
        page = scene.page
        assert isinstance(page, SessionPage)
        await until(lambda: page.table.select_row(str(scene.session.guid)))
        await until(lambda: page.detail.session is not None and "German" in page.detail.switches_label.text())

        lines = page.detail.switches_label.text().splitlines()
        assert [line.partition(": ")[2] for line in lines] == [
            "from English to German, detected",
            "from written to spoken, at your request",
        ]
