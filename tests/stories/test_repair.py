"""A start that fails says why and helps: repair, a backup, default settings; then Lethe starts."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QPushButton

from lethe_app.app import build
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.memory import MemoryUnit
from lethe_app.paths import Paths, shipped_root
from lethe_app.services.maintenance.backups import back_up
from lethe_app.services.maintenance.single_instance import is_open
from lethe_app.storage.database import Database
from lethe_app.storage.lock import HomeLock
from lethe_app.storage.memory.memories import MemoryStore
from lethe_app.ui.shell.start_problem import StartProblemPage
from lethe_app.ui.shell.toast import Toast
from tests.services.turns import say
from tests.storage.damaged_pages import damage_pages
from tests.stories.stage import Stage

LINE = "My grandmother kept bees behind the mill."


@pytest.fixture
def home(tmp_path: Path, no_worlds: None, monkeypatch: pytest.MonkeyPatch, echo_model: Callable[..., Path]) -> Path:
    """A home of somebody who has talked with Mira, and has a backup of that."""
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    home = tmp_path / "home"
    home.mkdir()
    settings = {
        "welcomed": True,
        "last_persona": "mira",
        "model_path": str(echo_model(*["Tell me more."] * 9)),
        "font_size": 18,
    }
    (home / "settings.json").write_text(json.dumps(settings))

    async def live() -> None:
        services = await build(Paths.standard(home), engine="echo")
        await services.models.ensure_loaded()
        await say(services, await services.sessions.new("mira"), LINE)
        await services.close()
        await back_up(home)

    asyncio.run(live())
    return home


def page_of(stage: Stage) -> StartProblemPage | None:
    return next((page for page in stage.window.findChildren(StartProblemPage) if page.isVisible()), None)


def buttons_of(stage: Stage) -> dict[str, QPushButton]:
    page = page_of(stage)
    found = page.findChildren(QPushButton) if page is not None else []
    return {button.text(): button for button in found if button.isVisible() and button.isEnabled()}


async def press(stage: Stage, text: str) -> None:
    await stage.until(lambda: text in buttons_of(stage), f"there is a button “{text}”")
    stage.click(buttons_of(stage)[text])


async def is_started(stage: Stage) -> None:
    await stage.until(lambda: page_of(stage) is None and stage.messages(), "the conversation is there")
    await stage.until(lambda: LINE in [text for _speaker, text in stage.messages()], "with what was said in it")


def damage(database: Path) -> None:
    data = bytearray(database.read_bytes())
    data[:100] = b"\xa5" * 100
    database.write_bytes(data)


def test_a_damaged_database_is_repaired_in_the_window(qapp: QApplication, home: Path):
    database = home / "lethe.sqlite3"
    damage(database)
    damaged = database.read_bytes()

    async def story(stage: Stage) -> None:
        began = time.monotonic()
        await stage.until(lambda: "Try repair" in buttons_of(stage), "a repair is offered")
        assert "Starting Lethe" not in stage.words()
        assert "is damaged" in stage.words()
        assert list(buttons_of(stage)) == ["Try repair", "Restore a backup…", "Try again", "Open the folder", "Copy report"]
        await stage.take_picture("repair-damaged")
        await press(stage, "Copy report")
        assert "DatabaseDamaged" in QGuiApplication.clipboard().text()
        assert LINE not in QGuiApplication.clipboard().text()
        await press(stage, "Try repair")
        await stage.until(lambda: "Saved: 1 conversation" in stage.words(), "the report says what was saved")
        await stage.take_picture("repair-outcome")
        await press(stage, "Start Lethe")
        await is_started(stage)
        await stage.take_picture("repair-started")
        assert time.monotonic() - began < 60

    stage = Stage(home, "echo")
    stage.play(story)

    assert stage.exit_code == 0
    (kept,) = (home / "backups").glob("*-replaced/lethe.sqlite3")
    assert kept.read_bytes() == damaged


def test_a_backup_is_restored_in_the_window_when_nothing_can_be_repaired(qapp: QApplication, home: Path):
    (home / "lethe.sqlite3").write_bytes(b"\xa5" * 50_000)

    async def story(stage: Stage) -> None:
        await press(stage, "Try repair")
        await stage.until(lambda: "beyond repair" in stage.words(), "the repair fails with a reason")
        assert next(iter(buttons_of(stage))) == "Restore a backup…"
        await press(stage, "Restore a backup…")
        await stage.until(lambda: "Choose a backup." in stage.words(), "the backups are listed")
        assert "Restore from file…" in buttons_of(stage)
        await stage.take_picture("repair-backups")
        await press(stage, next(iter(buttons_of(stage))))
        await stage.until(lambda: "The backup was restored." in stage.words(), "it is restored")
        await press(stage, "Start Lethe")
        await is_started(stage)

    stage = Stage(home, "echo")
    stage.play(story)

    assert stage.exit_code == 0


def test_settings_that_cannot_be_read_are_kept_aside_and_the_start_goes_on(qapp: QApplication, home: Path):
    content = (home / "settings.json").read_text().replace("}", ",}")
    (home / "settings.json").write_text(content)

    async def story(stage: Stage) -> None:
        await stage.until(lambda: "Start with default settings" in buttons_of(stage), "the defaults are offered")
        assert "Try repair" not in buttons_of(stage)
        await stage.take_picture("repair-settings")
        await press(stage, "Start with default settings")
        await stage.until(lambda: page_of(stage) is None and stage._services is not None, "Lethe starts")
        assert stage.welcome is None
        await stage.until(lambda: "settings.unreadable-" in stage.words(), "a notice says where the file is kept")
        await stage.take_picture("repair-defaults")

    stage = Stage(home, "echo")
    stage.play(story)

    assert stage.exit_code == 0
    (kept,) = home.glob("settings.unreadable-*.json")
    assert kept.read_text() == content


@pytest.mark.parametrize("table", ["messages", "facts"])
def test_damage_that_the_start_does_not_meet_is_told_and_leads_to_the_repair(
    qapp: QApplication, home: Path, table: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("lethe_app.composition.app_services.CHECK_AFTER", 0.1)

    async def remember() -> None:
        database = await Database.open(home / "lethe.sqlite3")
        await MemoryStore(database).save_memories("mira", MemoryUnit(content="Bees sting."))
        await database.close()

    asyncio.run(remember())
    damage_pages(home / "lethe.sqlite3", table)

    async def notice(stage: Stage) -> None:
        await stage.until(lambda: toasts_of(stage), "the damage is told")
        await asyncio.sleep(0.5)
        (toast,) = toasts_of(stage)
        assert "is damaged" in toast.text
        assert toast.remaining_ms > 3_600_000
        await stage.take_picture(f"repair-notice-{table}")
        assert toast.button is not None
        stage.click(toast.button)
        for _ in range(3):  # no longer: Lethe closes, and with it the loop
            await asyncio.sleep(0)

    first = Stage(home, "echo")
    first.play(notice)
    assert first.window.restarts

    async def repair(stage: Stage) -> None:
        await press(stage, "Try repair")
        await stage.until(lambda: "Saved: " in stage.words(), "the report says what was saved")
        await stage.take_picture(f"repair-outcome-{table}")
        assert next(iter(buttons_of(stage))) == ("Restore a backup…" if table == "messages" else "Start Lethe")
        await press(stage, "Start Lethe")
        await stage.until(lambda: stage._services is not None, "Lethe starts")
        assert await stage.services.integrity.check()

    Stage(home, "echo").play(repair)


def toasts_of(stage: Stage) -> list[Toast]:
    return [toast for toast in stage.window.findChildren(Toast) if toast.isVisible()]


def put_right(blocked: Path, home: Path) -> None:
    blocked.unlink()
    home.rename(blocked)


def test_a_file_in_the_place_of_the_home_is_told_and_tried_again(qapp: QApplication, home: Path, tmp_path: Path):
    blocked = tmp_path / "blocked"
    blocked.write_text("not a folder")

    async def story(stage: Stage) -> None:
        await stage.until(lambda: "Try again" in buttons_of(stage), "the problem is told")
        assert "is a file" in stage.words()
        assert "lethe --home FOLDER" in stage.words()
        assert not {"Try repair", "Restore a backup…", "Start with default settings"} & buttons_of(stage).keys()
        await stage.take_picture("repair-folder")
        put_right(blocked, home)
        await press(stage, "Try again")
        await is_started(stage)

    stage = Stage(blocked, "echo")
    stage.play(story)

    assert stage.exit_code == 0


def test_a_database_of_a_newer_version_offers_the_backups(qapp: QApplication, home: Path):
    data = bytearray((home / "lethe.sqlite3").read_bytes())
    data[60:64] = (999).to_bytes(4)
    (home / "lethe.sqlite3").write_bytes(data)

    async def story(stage: Stage) -> None:
        await stage.until(lambda: "Restore a backup…" in buttons_of(stage), "the backups are offered")
        assert "Try repair" not in buttons_of(stage)
        assert "newer version" in stage.words()

    stage = Stage(home, "echo")
    stage.play(story)

    assert stage.exit_code == 1


def test_a_home_that_another_process_uses_is_opened_as_soon_as_that_has_ended(
    qapp: QApplication, home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("lethe_app.ui.controllers.start_repair.CHECK_INTERVAL_S", 0.1)
    lock = HomeLock(home)

    async def story(stage: Stage) -> None:
        await stage.until(lambda: "Try again" in buttons_of(stage), "the problem is told")
        assert "already running" in stage.words()
        await stage.take_picture("repair-locked")
        await press(stage, "Try again")
        await stage.until(lambda: "Try again" in buttons_of(stage), "it is still in use")
        lock.release()
        await is_started(stage)

    stage = Stage(home, "echo")
    stage.play(story)

    assert stage.exit_code == 0


OPENS_A_WINDOW = """
import sys
from pathlib import Path
from lethe_app import app
from lethe_app.paths import Paths

run = app.run

def run_and_look(application, window, make_services):
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QPushButton

    def look():
        buttons = [button.text() for button in window.findChildren(QPushButton) if button.isVisible()]
        if "Try again" in buttons:
            print(*buttons, sep=", ")
            window.close()

    timer = QTimer(window)
    timer.timeout.connect(look)
    timer.start(100)
    return run(application, window, make_services)

app.run = run_and_look
app.open_window(Paths.standard(Path(sys.argv[1])))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="permissions work in another way there")
@pytest.mark.parametrize("mode", [0o000, 0o444])
def test_a_home_that_cannot_be_read_is_told_in_the_window(mode: int):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        home = Path(folder) / "home"
        home.mkdir()
        home.chmod(mode)
        stranger = {"user": 65534} if os.geteuid() == 0 else {}  # nothing is forbidden to root
        environment = {**os.environ, "PYTHONPATH": str(shipped_root()), "QT_QPA_PLATFORM": "offscreen", "HOME": folder}
        command = [sys.executable, "-B", "-c", OPENS_A_WINDOW, str(home)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False, **stranger)  # type: ignore[call-overload]
        home.chmod(0o755)

    assert "Traceback" not in done.stderr
    assert done.stdout == "Try again, Open the folder, Copy report\n", done.stderr


def test_a_new_home_is_private_at_once_and_no_notice_tells_of_it(tmp_path: Path):
    mask = os.umask(0o022)
    paths = Paths.standard(tmp_path / "new")
    try:
        assert not is_open(paths)  # the first that a start does
        assert paths.home.stat().st_mode & 0o777 == 0o700
        services = asyncio.run(open_and_close(paths))
    finally:
        os.umask(mask)
    assert not services.notices


async def open_and_close(paths: Paths) -> AppServices:
    services = await build(paths, engine="echo")
    await services.close()
    return services


def test_the_backups_are_listed_though_the_data_cannot_be_read(qapp: QApplication, home: Path):
    damage_pages(home / "lethe.sqlite3", "messages")

    async def story(stage: Stage) -> None:
        await stage.until(lambda: stage._services is not None and stage.messages() == [], "Lethe starts")
        stage.window.window_actions["backups"].trigger()
        await stage.until(lambda: "It contains" in stage.words(), "the backup is described")
        assert "Your data cannot be read now" in stage.words()
        await stage.take_picture("repair-backups-page")

    Stage(home, "echo").play(story)


def test_several_broken_files_are_named_in_one_notice(qapp: QApplication, home: Path):
    for name in ("personas/ada.json", *(f"presets/samplers/{number}.json" for number in range(5))):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("{")

    async def story(stage: Stage) -> None:
        await stage.until(lambda: toasts_of(stage), "the files are named")
        (toast,) = toasts_of(stage)
        assert toast.text.startswith("6 files cannot be read: personas/ada.json, samplers/0.json")
        await stage.take_picture("repair-broken-files")

    Stage(home, "echo").play(story)
