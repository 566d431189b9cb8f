"""Where a reply was read up stands below it: seen, clicked, reached by keys, and never in the way of what was said."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtTest import QTest

from lethe_app.config.options import SearchProvider
from lethe_app.domain.chat import Alternative, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.web import WebHit
from lethe_app.services.memory.proactive import build_hidden_message
from lethe_app.services.web.chat_lookup import WebLookup, build_note, parse_note
from lethe_app.ui.transcript.model.annotations import HiddenMessages
from lethe_app.ui.transcript.painting.reply_lists import format_source, host_of
from tests.ui.window_scene import Scene, opened, until
from tests.web.server import Reply, Site, serving

pytestmark = pytest.mark.usefixtures("styled_app")
SESSION = uuid4()
SOURCES = (WebHit("Brenn Light", "https://www.brenn.example.org/tower"), WebHit("", "https://logs.example.com/"))


async def add_conversation(scene: Scene, *sources: WebHit) -> int:
    """Something was looked up and answered in the open conversation; returns the row of the reply."""
    session = scene.session
    line = build_hidden_message(session, "Mira has looked it up.", now(), build_note(WebLookup("the tower", sources)))
    said = (
        Message(session_id=session.guid, role=Role.USER, alternatives=[Alternative(content="Look it up.")]),
        Message(
            session_id=session.guid,
            role=Role.ASSISTANT,
            speaker="mira",
            speaker_name="Mira",
            alternatives=[Alternative(content="Ada Holm built it.")],
        ),
    )
    await scene.services.session_store.add_messages([line, *said])
    scene.controller.replies.show_messages(session, await scene.services.sessions.outline(session.guid))
    await until(lambda: "Ada Holm built it." in scene.words)
    return scene.words.index("Ada Holm built it.")


def list_of(scene: Scene, row: int):
    message_layout = scene.controller.view.message_layout(row)
    return message_layout, message_layout.source_list


async def test_a_click_on_a_source_below_the_reply_opens_it(tmp_path: Path):
    async with opened(tmp_path) as scene:
        row = await add_conversation(scene, *SOURCES)
        message_layout, sources = list_of(scene, row)
        view, received = scene.controller.view, list[QUrl]()
        view.link_activated.disconnect()
        view.link_activated.connect(received.append)
        placed = view.placed_row(row)
        second = QPoint(view.text_column()[0] + 30, placed.top + message_layout.sources_top + sources.height - 6)

        QTest.mouseMove(view.viewport(), second)
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=second)

        assert [one.toString() for one in received] == [SOURCES[1].address]
        assert view.link_at(second) == SOURCES[1].address
        assert message_layout.sources_top >= message_layout.prose_top + message_layout.document.height
        assert message_layout.height >= message_layout.sources_top + sources.height


async def test_sources_are_in_the_context_menu_and_the_accessible_text(tmp_path: Path):
    async with opened(tmp_path) as scene:
        row = await add_conversation(scene, *SOURCES)
        titles = [action.text() for action in scene.controller.view.build_menu(row).actions()]

        assert "Open https://www.brenn.example.org/tower" in titles
        assert "Open https://logs.example.com/" in titles
        assert "2 sources" in scene.controller.messages.index(row).data(Qt.ItemDataRole.AccessibleDescriptionRole)


async def test_a_search_without_results_is_one_line(tmp_path: Path):
    async with opened(tmp_path) as scene:
        _sheet, sources = list_of(scene, await add_conversation(scene))

        assert sources.web_lookup == WebLookup("the tower")
        assert sources.heading == "No results for “the tower”"


async def test_other_replies_have_no_source_list(tmp_path: Path):
    async with opened(tmp_path) as scene:
        await add_conversation(scene, *SOURCES)

        assert list_of(scene, 0)[1] is None


async def test_a_running_search_is_shown_and_sources_appear_with_the_reply(tmp_path: Path):
    site = Site({"/tower": Reply(b"<p>nothing</p>")})
    script = tmp_path / "echo.json"
    script.write_text('{"replies": ["Ada Holm built it."]}', encoding="utf-8")
    async with serving(site), opened(tmp_path / "home", script) as scene:
        engine = {"web_provider": SearchProvider.SEARXNG, "web_searxng_url": site.url, "web_private_addresses": True}
        await scene.services.preferences.set(web_allowed=True, web_in_chat=True, **engine)
        hit = f'{{"title": "Tower", "url": "{site.url}/tower", "content": "The tower of Brenn was built by Ada Holm."}}'
        site.replies["/search"] = Reply(f'{{"results": [{hit}]}}'.encode(), kind="application/json")
        said: list[str] = []
        scene.controller.messages.reply_grew.connect(lambda: said.append(scene.controller.messages.waiting_text))
        scene.send("Please look up who built the tower of Brenn.")
        await until(lambda: "Ada Holm built it." in scene.words and not scene.is_replying)
        row = scene.words.index("Ada Holm built it.")
        _sheet, sources = list_of(scene, row)

    assert "Searching the internet for “who built the tower of Brenn”…" in said
    assert sources.web_lookup.sources == (WebHit("Tower", f"{site.url}/tower"),)


async def test_sources_follow_an_edited_message(tmp_path: Path):
    site = Site({"/tower": Reply(b"<p>nothing</p>")})
    script = tmp_path / "echo.json"
    script.write_text('{"replies": ["Ada Holm built it.", "With rapeseed oil.", "Good evening."]}', encoding="utf-8")
    async with serving(site), opened(tmp_path / "home", script) as scene:
        engine = {"web_provider": SearchProvider.SEARXNG, "web_searxng_url": site.url, "web_private_addresses": True}
        await scene.services.preferences.set(web_allowed=True, web_in_chat=True, **engine)
        hit = f'{{"title": "Tower", "url": "{site.url}/tower", "content": "The tower of Brenn was built by Ada Holm."}}'
        site.replies["/search"] = Reply(f'{{"results": [{hit}]}}'.encode(), kind="application/json")
        scene.controller.replies.send_message("Please look up who built the tower of Brenn.")
        await until(lambda: "Ada Holm built it." in scene.words and not scene.is_replying)
        row = scene.words.index("Ada Holm built it.")
        messages = scene.controller.messages
        asked, reply = messages.outline(row - 1).id, messages.outline(row).id

        async def anew(words: str, answer: str) -> WebLookup | None:
            await scene.controller.message_changes.edit_message(asked, words)
            await until(lambda: scene.words[row - 1] == words)
            scene.controller.replies.regenerate(reply)
            await until(lambda: scene.words[row] == answer and not scene.is_replying)
            return messages.annotations_of(row).web_lookup

        other = await anew("Please look up what the tower of Brenn burned.", "With rapeseed oil.")
        nothing = await anew("Good evening.", "Good evening.")
        messages.set_show_hidden(True)
        await until(lambda: all(scene.words))
        words = list(scene.words)

    assert other.topic == "what the tower of Brenn burned"
    assert nothing is None
    assert not any("looked up" in said for said in words)


def test_only_http_addresses_become_links():
    foul = (WebHit("A", "javascript:alert(1)"), WebHit("B", "file:///etc"))
    note = build_note(WebLookup("x", (*foul, *SOURCES)))
    line = Message(session_id=SESSION, role=Role.SYSTEM, hidden=True, note=note)
    user, reply = Message(session_id=SESSION, role=Role.USER), Message(session_id=SESSION, role=Role.ASSISTANT)
    marks = HiddenMessages()

    marks.add_inserted_message(line, user.id)

    reported = marks.find_lookup(user.id)
    assert reported.sources == SOURCES
    assert marks.find_lookup(reply.id) is None


@pytest.mark.parametrize("note", ["", "search", "search {", "search [1]", 'search ["a"]', "return", 'memory ["a", []]'])
def test_other_hidden_messages_hold_no_web_lookup(note: str):
    line = Message(session_id=SESSION, role=Role.SYSTEM, hidden=True, note=note)

    assert parse_note(line) is None


def test_a_source_is_formatted_with_its_host():
    assert format_source(1, SOURCES[0]) == "1  Brenn Light – brenn.example.org"
    assert format_source(2, SOURCES[1]) == "2  logs.example.com"
    assert host_of("http://[broken") == "http://[broken"
