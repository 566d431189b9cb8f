"""A persona's preferred model is offered where another one is loaded, once, and loaded when the user says so."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from lethe_app.domain.persona import Persona
from lethe_app.services.events import ModelLoading, ModelReady, ModelState
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


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
