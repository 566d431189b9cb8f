"""The memory index can be rebuilt from the list of commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from lethe_app.domain.memory import MemoryUnit
from lethe_app.services.indexing.service import IndexingProgress
from tests.ui.window_scene import opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


async def test_a_lost_index_is_rebuilt_with_progress_and_prompts_follow(tmp_path: Path):
    async with opened(tmp_path) as scene:
        memory, action = scene.services.memory, scene.window.window_actions["rebuild_index"]
        await memory.memorize("mira", MemoryUnit(name="The bell", content="The bell hangs in the chapel at Harrow Light."))
        await scene.services.database.run(lambda c: c.execute("DELETE FROM passages").rowcount)
        await memory.reload()
        lost = await scene.services.memory_lookup.search("mira", "Where does the bell hang?")
        reported: list[IndexingProgress] = []
        renewed: list[str] = []
        scene.services.indexing.changed.add(reported.append)
        scene.services.prompts_outdated.add(renewed.append)

        action.trigger()
        assert not action.isEnabled()
        await until(lambda: any(toast.text == "The memory index has been rebuilt" for toast in scene.toasts))

        assert lost == []
        assert action.isEnabled()
        assert (await scene.services.memory_lookup.search("mira", "Where does the bell hang?"))[0].title == "The bell"
        assert any(progress.changes for progress in reported)
        assert {"mira", "aiko"} <= set(renewed)


async def test_an_embedding_model_that_does_not_work_is_told_once(tmp_path, echo_model):
    async with opened(tmp_path) as scene:
        scene.services.embedding.enabled = True
        await scene.services.preferences.set(embedder_path=str(tmp_path / "gone.gguf"))
        await scene.services.embedding.ensure_loaded()
        await scene.services.embedding.ensure_loaded()

        (toast,) = scene.toasts
        assert toast.text == "The chosen embedding model does not work, so memories are found only by their words."
        assert "gone.gguf" in toast.detail
