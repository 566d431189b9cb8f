"""The pages are made ready in small steps while nobody waits, so that none of them is slow when it is first opened."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from lethe_app.ui.core.page_preload import PagePreload
from tests.ui.window_scene import opened, until

LOOK = """
import json, sys
import lethe_app.ui.controllers.window_controller
from lethe_app.ui.core.page_preload import MODULE_PREFIXES, iter_import_steps

def there():
    modules = [name for name in sys.modules if name.startswith(MODULE_PREFIXES)]
    return {name for name in modules if not hasattr(sys.modules[name], "__path__")}

told, before = [], there()
for _ in iter_import_steps():
    told.append(sorted(there() - before))
    before = there()
print(json.dumps({"steps": told, "there": sorted(before)}))
"""


def test_each_step_imports_few_modules_and_all_steps_every_page():
    done = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, check=True, timeout=120)
    reported = json.loads(done.stdout)

    assert max(len(new) for new in reported["steps"]) <= 2
    files = [path for name in ("widgets", "pages") for path in Path("lethe_app/ui", name).rglob("[a-z]*.py")]
    assert {".".join(path.with_suffix("").parts) for path in files} <= set(reported["there"])


async def test_preloading_waits_until_it_may_continue(qapp: QApplication):
    parent, asked = QObject(), [0]
    is_free = [False]

    def may_go_on() -> bool:
        asked[0] += 1
        return is_free[0]

    PagePreload(may_go_on, parent, start_delay_ms=0, step_interval_ms=0)
    await until(lambda: asked[0] > 3)
    is_free[0] = True
    async with asyncio.timeout(60):
        before = 0
        while asked[0] > before:  # it asks again and again until it has ended
            before = asked[0]
            await asyncio.sleep(0.2)
    assert "lethe_app.ui.pages.environment" in sys.modules


@pytest.mark.usefixtures("styled_app")
async def test_the_window_is_not_idle_while_the_user_writes_or_a_reply_is_generated(tmp_path: Path, echo_model):
    async with opened(tmp_path / "home", echo_model("Indeed.")) as scene:
        idleness = scene.services.idleness

        def is_left_alone() -> bool:
            assert idleness._last_action is not None
            idleness._last_action -= timedelta(seconds=60)
            return scene.controller.is_idle()

        assert is_left_alone()
        scene.draft.setPlainText("I was")
        assert not is_left_alone()
        scene.draft.clear()
        assert not scene.controller.is_idle()  # a moment ago there was a key
        assert is_left_alone()
        scene.controller.replies.send_message("Hello")
        assert not is_left_alone()
        await until(lambda: not scene.is_replying)
