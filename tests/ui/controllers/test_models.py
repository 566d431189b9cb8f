"""Models are downloaded and loaded while the user goes on, and the one that a persona prefers is offered."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QPushButton

from lethe_app.domain.model import ModelFile, RemoteModel
from lethe_app.domain.persona import Persona
from lethe_app.services.events import ModelLoading, ModelReady, ModelState
from lethe_app.services.models.recommendation import DownloadAssessment
from lethe_app.services.models.service import STARTER_SOURCE
from lethe_app.ui.chat.composer_card import ComposerCard
from lethe_app.ui.core.labels.models import format_speed
from lethe_app.ui.shell.welcome import Welcome
from lethe_app.ui.widgets.buttons import IconButton
from tests.llm.gguf_factory import chat_settings, write_model
from tests.llm.hub_server import HubServer, serving
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


LOAD_LIMIT = 20
"""Seconds until a model that is complete is being loaded."""


async def recommended(scene: Scene) -> DownloadAssessment:
    """What is recommended for the computer that runs the tests."""
    found = await scene.services.downloads.find_better([])
    assert found is not None
    return found


def received_states(scene: Scene) -> list[ModelState]:
    states: list[ModelState] = []
    scene.services.models.changed.add(states.append)
    return states


def button(scene: Scene, text: str) -> QPushButton | None:
    """The button with this text of a notification or of the card above the composer."""
    widgets = [*scene.toasts, *cards(scene)]
    buttons = [one for widget in widgets for one in widget.findChildren(QPushButton)]
    return next((one for one in buttons if one.text() == text and one.isVisible()), None)


def cards(scene: Scene) -> list[ComposerCard]:
    return [card for card in scene.window.findChildren(ComposerCard) if card.isVisible()]


def click(found: QPushButton | None) -> None:
    QTest.mouseClick(found, Qt.MouseButton.LeftButton)


def tiny_content(folder: Path) -> bytes:
    write_model(folder / "made.gguf", settings=chat_settings())
    return (folder / "made.gguf").read_bytes()


async def test_the_welcome_page_recommends_a_download_that_two_clicks_start(tmp_path: Path):
    async with serving(HubServer(stalls=1)) as server, opened(tmp_path, welcomed=False) as scene:
        await scene.services.preferences.set(hub_mirror=server.url)
        page = scene.window.pages.currentWidget()
        assert isinstance(page, Welcome)
        await until(lambda: page.offer_card is not None)
        model = (await recommended(scene)).model
        assert page.offer_card.text() == f"Recommended: {model.name}"
        assert model.licence in page.offer_card.accessibleDescription()
        assert not page.offer_card.isChecked()  # nothing is downloaded that nobody chose

        QTest.mouseClick(page.offer_card, Qt.MouseButton.LeftButton)
        QTest.mouseClick(page.start_button, Qt.MouseButton.LeftButton)
        await until(lambda: server.asked)

        assert model.file in server.asked[0]["path"]
        await until(lambda: scene.window.pages.currentWidget() is scene.window.panes)
        assert scene.services.preferences.current.awaited_download == model.file


async def test_the_menu_of_models_recommends_one_and_the_click_starts_it(tmp_path: Path, echo_model: Callable[..., Path]):
    async with serving(HubServer(stalls=1)) as server, opened(tmp_path, echo_model("Yes.")) as scene:
        await scene.services.preferences.set(hub_mirror=server.url)
        better = await recommended(scene)
        menu = scene.controller.model_controller.build_menu([], better)
        action = next(one for one in menu.actions() if one.text().startswith(f"Download {better.model.name}"))
        assert menu.actions()[0] is action
        assert menu.actions()[1].text() == f"Recommended: {format_speed(better.speed, uses_gpu=better.uses_gpu)}"

        action.trigger()
        await until(lambda: server.asked)

        menu = scene.controller.model_controller.build_menu([], better)
        assert f"Downloading {better.model.name}…" in [one.text() for one in menu.actions()]


async def test_the_menu_of_models_is_narrow_and_says_the_rest_in_tooltips(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        long_name = "Mistral Small 24B Instruct 2501 with every word that an uploader could think of"
        model = ModelFile(Path("long.gguf"), long_name, 14_300_000_000, "llama", source="LM Studio", quantization="Q4_K_M")

        menu = scene.controller.model_controller.build_menu([model], await recommended(scene))

        assert menu.sizeHint().width() <= 560
        (action,) = (one for one in menu.actions() if one.isCheckable())
        assert action.text().endswith("\t14.3 GB")
        assert action.toolTip() == f"{long_name}\nLM Studio · 14.3 GB · Q4_K_M"


async def test_the_menu_of_models_ends_below_the_right_edge_of_its_button(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        scene.window.resize(800, 600)
        QTest.mouseClick(scene.window.chat.status, Qt.MouseButton.LeftButton)
        await until(lambda: any(menu.isVisible() for menu in scene.window.findChildren(QMenu)))
        menu = next(menu for menu in scene.window.findChildren(QMenu) if menu.isVisible())
        status = scene.window.chat.status

        corner = status.mapToGlobal(status.rect().bottomRight())
        assert abs(menu.geometry().right() - corner.x()) <= 1
        assert menu.geometry().top() == corner.y() + 1
        menu.close()


async def test_a_model_is_loaded_when_its_download_is_complete(tmp_path: Path, echo_model: Callable[..., Path]):
    content = tiny_content(tmp_path)
    async with serving(HubServer(content=content, etag="")) as server, opened(tmp_path / "home", echo_model("Yes.")) as scene:
        await scene.services.preferences.set(hub_mirror=server.url)
        await until(lambda: isinstance(scene.services.models.state, ModelReady))
        states = received_states(scene)

        scene.controller.model_downloads.start_download(await recommended(scene))

        await until(lambda: any(isinstance(state, ModelLoading) for state in states), LOAD_LIMIT)
        assert scene.services.preferences.current.awaited_download == ""


async def test_a_reply_in_progress_is_finished_by_the_model_that_began_it(tmp_path: Path, echo_model: Callable[..., Path]):
    content = tiny_content(tmp_path)
    slow = echo_model("One, two, three, four, five, six, seven, eight.", delay=0.1)
    async with serving(HubServer(content=content, etag="")) as server, opened(tmp_path / "home", slow) as scene:
        await scene.services.preferences.set(hub_mirror=server.url)
        better = await recommended(scene)
        states = received_states(scene)
        scene.send("Count.")
        await until(lambda: scene.is_replying and scene.words[-1].startswith("One"))
        states.clear()

        scene.controller.model_downloads.start_download(better)
        await until(lambda: scene.services.downloads.find_downloaded(better.model) is not None)
        assert not any(isinstance(state, ModelLoading) for state in states)

        await until(lambda: any(isinstance(state, ModelLoading) for state in states), LOAD_LIMIT)
        assert scene.words[-1].endswith("eight.")


async def test_a_download_that_was_not_complete_is_offered_again(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path) as scene:
        model: RemoteModel = (await recommended(scene)).model
        await scene.services.preferences.set(awaited_download=model.file)
        part = scene.services.paths.models / f"{model.file}.part"
        part.parent.mkdir(exist_ok=True)
        part.write_bytes(b"GGUF" * 1000)
    async with serving(HubServer(stalls=1)) as server, opened(tmp_path, echo_model("Yes.")) as scene:
        await scene.services.preferences.set(hub_mirror=server.url)
        await until(lambda: button(scene, "Resume"))
        assert not server.asked  # nothing goes out before the click

        click(button(scene, "Resume"))

        await until(lambda: server.asked)
        assert server.asked[0]["range"] == "bytes=4000-"


async def test_a_download_that_failed_says_why_and_is_tried_again(tmp_path: Path, echo_model: Callable[..., Path]):
    async with serving(HubServer(status=404)) as server, opened(tmp_path, echo_model("Yes.")) as scene:
        await scene.services.preferences.set(hub_mirror=server.url)

        scene.controller.model_downloads.start_download(await recommended(scene))
        await until(lambda: button(scene, "Try again"))

        assert any("no longer available" in toast.detail for toast in scene.toasts)
        asked = len(server.asked)
        click(button(scene, "Try again"))
        await until(lambda: len(server.asked) > asked)


async def test_the_starter_model_is_explained_once(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path, echo_model(*["Yes."] * 4)) as scene:
        models = scene.services.models
        await until(lambda: isinstance(models.state, ModelReady))
        await scene.say("Hello.")
        assert not cards(scene)  # another model wrote this

        assert isinstance(models.state, ModelReady)
        loaded = models.state.model
        models.state = ModelReady(replace(loaded, file=replace(loaded.file, source=STARTER_SOURCE)))
        await scene.say("And now?")
        await until(lambda: cards(scene))
        (card,) = cards(scene)
        better = await recommended(scene)
        assert better.model.name in card.details.text()
        download = button(scene, "Download")
        assert download.accessibleName() == f"Download {better.model.name}"

        first_session = scene.session
        assert first_session is not None
        other = await scene.services.sessions.new("edmund")
        await scene.controller.session_controller.go_to_session(other.guid)
        assert not cards(scene)
        await scene.controller.session_controller.go_to_session(first_session.guid)
        assert cards(scene) == [card]
        await scene.services.sessions.end(first_session.guid)
        await scene.say("It goes on.")
        assert cards(scene) == [card]

        (close_button,) = (one for one in card.findChildren(IconButton) if one.accessibleName() == "Not now")
        QTest.mouseClick(close_button, Qt.MouseButton.LeftButton)
        await until(lambda: not cards(scene))
        await scene.say("Once more.")
        assert not cards(scene)
        assert scene.services.preferences.current.has_seen_starter_notice


async def test_the_starter_model_is_explained_in_a_few_lines_after_a_stopped_reply(
    tmp_path: Path, echo_model: Callable[..., Path]
):
    async with opened(tmp_path, echo_model("One, two, three, four, five, six, seven, eight.", delay=0.2)) as scene:
        models = scene.services.models
        await until(lambda: isinstance(models.state, ModelReady))
        assert isinstance(models.state, ModelReady)
        loaded = models.state.model
        models.state = ModelReady(replace(loaded, file=replace(loaded.file, source=STARTER_SOURCE)))
        scene.window.resize(800, 600)
        scene.send("Count.")
        await until(lambda: scene.is_replying and scene.words[-1].startswith("One"))

        scene.window.window_actions["stop"].trigger()

        await until(lambda: cards(scene) and not scene.is_replying)
        assert not scene.words[-1].endswith("eight.")
        (card,) = cards(scene)
        assert card.height() <= scene.window.height() // 5


def offers(scene: Scene) -> list[QPushButton]:
    found = [button for toast in scene.toasts for button in toast.findChildren(QPushButton)]
    return [button for button in found if button.text() == "Load model"]


async def wanting(scene: Scene, model: str) -> Persona:
    """Mira, who would rather speak with that model."""
    mira = await scene.services.library.persona("mira")
    return mira.model_copy(update={"preferred_model": model})


async def test_the_preferred_model_is_offered_once_and_loaded_on_a_click(
    tmp_path: Path, echo_model: Callable[..., Path], starter_model: Path
):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        models = scene.services.models
        await until(lambda: isinstance(models.state, ModelReady))
        hers = scene.services.paths.models / "hers.gguf"
        hers.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(starter_model, hers)
        mira = await wanting(scene, "hers.gguf")

        scene.controller.model_controller.set_persona(mira)
        scene.controller.model_controller.set_persona(mira)
        await until(lambda: offers(scene))

        assert len(offers(scene)) == 1
        (name,) = [model.name for model in await models.list_chat_models() if model.path == hers]
        received: list[ModelState] = []
        models.changed.add(received.append)
        QTest.mouseClick(offers(scene)[0], Qt.MouseButton.LeftButton)
        await until(lambda: any(isinstance(state, ModelLoading) and state.name == name for state in received), 20)


async def test_nothing_is_offered_that_is_loaded_already_or_not_there(
    tmp_path: Path, echo_model: Callable[..., Path], starter_model: Path
):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        models = scene.services.models
        await until(lambda: isinstance(models.state, ModelReady))
        hers = scene.services.paths.models / "hers.gguf"
        hers.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(starter_model, hers)

        for model in ("echo.json", "", "nowhere.gguf", "hers.gguf"):
            scene.controller.model_controller.set_persona(await wanting(scene, model))
            await models.list_chat_models()  # as the offer does before it is made
        await until(lambda: offers(scene))

        assert len(offers(scene)) == 1


async def test_a_chosen_model_that_is_gone_is_told_with_another_to_choose_and_none_is_loaded_instead(
    tmp_path: Path, echo_model: Callable[..., Path]
):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        chosen = Path(scene.services.preferences.stored.model_path)
        await scene.services.models.unload()
        shutil.move(chosen, tmp_path / "moved")

        scene.send("Are you there?")
        await until(lambda: button(scene, "Choose model"), 15)

        (toast,) = [toast for toast in scene.toasts if toast.text.startswith("The chosen model")]
        assert toast.text.startswith(f"The chosen model “{chosen.name}” is no longer in {tmp_path}")
        assert "move the file back" in toast.notice.detail
        assert scene.services.models.loaded is None
