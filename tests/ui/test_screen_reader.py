"""The window as a screen reader finds it on a real accessibility bus, where Xvfb, AT-SPI, openbox and xdotool are installed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from lethe_app.paths import Paths
from lethe_app.ui.core.actions import ACTION_SPECS, action_title

ROOT = Path(__file__).parents[2]
REPLY = "*She looks up.* “A fathom and a hand.” The pencil stops. THE END."
PAGES = {
    "settings": "Settings",
    "presets": "Presets",
    "model_manager": "Models",
    "worlds": "Worlds (lorebooks)",
    "user_personas": "User personas",
    "search_everything": "Search everything",
    "conversations": "Conversations",
    "memories": "Memories",
    "facts": "Facts",
    "irrelevant_memories": "Irrelevant memories",
    "overview": "Overview",
    "mind": "Mind",
    "notebooks": "Notebooks",
    "documents": "Documents",
    "dreams": "Dreams",
    "background_activity": "",
    "research": "Research",
    "network_log": "Network log",
    "trash": "Trash",
    "inspector": "Prompt inspector",
    "new_persona": "New persona",
}
"""Titles of the pages by the actions that open them; empty if the action's title is that of the page."""


@cache
def has_screen_reader_tools() -> bool:
    if any(shutil.which(tool) is None for tool in ("xvfb-run", "dbus-run-session", "xdotool", "openbox", "/usr/bin/python3")):
        return False
    return subprocess.run(["/usr/bin/python3", "-c", "import pyatspi"], capture_output=True, check=False).returncode == 0


def keys_of(name: str) -> str:
    """Return the first shortcut of an action as xdotool spells it."""
    keys = next(spec.keys.split()[0] for spec in ACTION_SPECS if spec.name == name)
    *modifiers, key = keys.split("+")
    return "+".join(
        [
            *map(str.lower, modifiers),
            "comma" if key == "," else "Delete" if key == "Del" else key if len(key) > 1 else key.lower(),
        ]
    )


@pytest.mark.skipif(not has_screen_reader_tools(), reason="needs Xvfb, AT-SPI, openbox and xdotool")
def test_a_screen_reader_hears_replies_and_notices_and_finds_a_name_on_every_control(tmp_path: Path):
    paths, model = Paths.standard(tmp_path / "lethe"), tmp_path / "model.json"
    model.write_text(json.dumps({"replies": [REPLY], "delay": 0.05}), encoding="utf-8")
    paths.settings.parent.mkdir(parents=True, exist_ok=True)
    settings = {"welcomed": True, "model_path": str(model), "rotation_minutes": 0}
    paths.settings.write_text(json.dumps(settings), encoding="utf-8")
    keys = {name: keys_of(name) for name in PAGES}
    session = [
        "dbus-run-session",
        "sh",
        "tests/ui/screen_reader/session.sh",
        sys.executable,
        str(tmp_path / "lethe"),
        *keys.values(),
    ]
    screen = ["xvfb-run", "-a", "-s", "-screen 0 1280x800x24"]
    done = subprocess.run([*screen, *session], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)

    conversation = report["conversation"]
    assert conversation["reply"][-4:] == ["Aiko: She looks up.", "“A fathom and a hand.”", "The pencil stops.", "THE END."]
    assert any(row.endswith("Good evening.") for row in conversation["rows"])
    focused = [entry[-1][1] if entry else "" for entry in conversation["focused"]]
    assert focused[0].endswith("THE END.")
    assert focused[1].endswith("Good evening.")
    assert focused[4:6] == ["Delete message", "Delete the message by Aiko"]
    assert conversation["deletion"][0] == "Notification: The message by Aiko was deleted. Button: Undo"
    assert report["nameless"] == []
    for name, page in ((name, report["pages"][keys[name]]) for name in PAGES):
        assert page["title"] == f"{PAGES[name] or action_title(name)} — Lethe", name
        assert page["nameless"] == [], name
        assert page["focused"], name
        assert page["focused"][-1][1], name
