"""Takes the pictures of the README, and of everything else: a furnished home and a real window over it.

Run with `python -m tests.screenshots [folder]`; without a folder those of the README go to docs/images and all others to
build/screenshots. What is said in them was written for
the pictures, so the model in them is called “Your model”; the lists of models are found on a made-up disk.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch
from uuid import UUID

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QPoint
from PySide6.QtGui import QImage, QPainter, QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from lethe_app.app import build
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.llm.models.bundled import chat_model
from lethe_app.paths import Paths
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database
from lethe_app.ui.shell.main_window import MainWindow
from lethe_app.ui.shell.toast import Toast
from lethe_app.ui.shell.welcome import Welcome
from tests.homes import write_personas
from tests.life_pictures import TEXTS
from tests.llm.gguf_factory import chat_settings, write_model
from tests.ui.window_scene import Scene, shown, until
from tests.workshop_pictures import SHEEPSHANK, dialogs, pages, remembering

ROOT = Path(__file__).parent.parent
IMAGES, OTHERS = ROOT / "docs" / "images", ROOT / "build" / "screenshots"
IN_README = {
    "mind-night", "notebooks-day", "welcome-night", "chat-night", "chat-day", "group-day", "model-menu", "remembering-night",
    "inspector-night", "timeline-day", "worlds-day", "persona-night", "facts-night", "find-day",
}  # fmt: skip
WIDE, TALL, NARROW = (1200, 800), (1200, 880), (600, 800)
WORDS_ON_THE_WAY = 58
"""Of the reply that is caught while it is being written."""
PATIENCE = 20.0
PERSONAS = ("mira", "edmund", "ines", "aiko", "linden")
PRESENT = datetime(2026, 3, 17, 21, 12, tzinfo=UTC)
"""A Tuesday evening, on which all pictures are taken."""
OTHER_MODELS = {
    ".lmstudio/models/mistralai/Mistral-Nemo-Instruct-2407-Q4_K_M.gguf": (7_480_000_000, (131_072, 40, 4_096, 32, 8)),
    ".lmstudio/models/qwen/Qwen2.5-7B-Instruct-Q4_K_M.gguf": (4_680_000_000, (32_768, 28, 3_584, 28, 4)),
}
"""What another program has downloaded to the made-up disk: sparse files with a true header and nothing behind it. Bytes, and
context, layers, width, heads, and heads of the cache.
"""


@dataclass(frozen=True)
class Line:
    """A message: when it was said on the day of its conversation, by whom, in which wordings."""

    clock: str
    speaker: str
    wordings: Sequence[str]
    shown: int = 0
    thinking: str = ""


@dataclass(frozen=True)
class Talk:
    """A conversation as the sidebar lists it."""

    persona: str
    day: str
    title: str
    lines: tuple[Line, ...]
    guests: Sequence[str] = ()


TALKS = tuple(Talk(**{**talk, "lines": tuple(Line(**line) for line in talk["lines"])}) for talk in TEXTS["talks"])


async def fill_home(paths: Paths) -> dict[str, str]:
    """Fill a home with Tomas and some weeks of conversations; returns their ids by title."""
    write_personas(paths.home, {"tomas": {"name": "Tomas", "is_user": True, "bio": "{{user}} is the captain of the Petrel."}})
    library = {name: json.loads((paths.shipped_personas / f"{name}.json").read_text("utf-8")) for name in PERSONAS}
    names = {name: persona["name"] for name, persona in library.items()} | {"tomas": "Tomas"}
    database = await Database.open(paths.database)
    chats = SessionStore(database)
    sessions = {}
    for conversation in TALKS:
        began = moment(conversation.day, conversation.lines[0].clock)
        about = {"name": conversation.title, "added": began, "last_trigger": began, "guests": list(conversation.guests)}
        session = ChatSession(persona_id=conversation.persona, user_id="tomas", **about)
        await chats.add_session(session)
        await chats.add_messages([message(session.guid, conversation.day, line, names) for line in conversation.lines])
        sessions[conversation.title] = str(session.guid)
    await database.close()
    return sessions


def moment(day: str, clock: str) -> datetime:
    return datetime.fromisoformat(f"{day}T{clock}:00+00:00")


def message(session_id: UUID, day: str, line: Line, names: dict[str, str]) -> Message:
    time = moment(day, line.clock)
    return Message(
        session_id=session_id,
        role=Role.USER if line.speaker == "tomas" else Role.ASSISTANT,
        speaker=line.speaker,
        speaker_name=names[line.speaker],
        time=time,
        alternatives=[Alternative(content=text, thinking=line.thinking, created=time) for text in line.wordings],
        shown=line.shown,
    )


def furnish_disk(home: Path) -> None:
    for name, (size, (context, layers, width, heads, kv_heads)) in OTHER_MODELS.items():
        settings = chat_settings(
            general__name="",
            llama__context_length=context,
            llama__block_count=layers,
            llama__embedding_length=width,
            llama__attention__head_count=heads,
            llama__attention__head_count_kv=kv_heads,
        )
        os.truncate(write_model(home / name, settings=settings), size)


def settle_in(paths: Paths, **settings: object) -> None:
    """The settings a user would have made."""
    usual = {"welcomed": True, "user_persona": "tomas", "reduced_motion": True, "rotation_minutes": 0}
    paths.settings.write_text(json.dumps(usual | settings), encoding="utf-8")


def write_script(folder: Path, reply: str = "", **how: object) -> Path:
    """A model that says what a picture needs."""
    path = folder / "Your model.json"
    folder.mkdir(exist_ok=True)
    path.write_text(json.dumps({"replies": [reply], **how}), encoding="utf-8")
    return path


@dataclass
class Studio:
    """One furnished home and the folder for its pictures."""

    home: Path
    images: Path
    sessions: dict[str, str]
    """Ids of conversations by title."""

    def keep(self, picture: QPixmap, name: str) -> None:
        """Write a picture without an alpha channel, as small as PNG can be."""
        folder = OTHERS if self.images == IMAGES and name not in IN_README else self.images
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.png"
        image = picture.toImage().convertToFormat(QImage.Format.Format_RGB888)
        if not image.save(str(path), "PNG", 0):
            raise OSError(f"{path} could not be written")
        print(f"{path.name:20} {image.width()} × {image.height()}  {path.stat().st_size / 1000:6.0f} kB")  # noqa: T201 - a script that tells

    @asynccontextmanager
    async def window(self, engine: str = "echo", size: tuple[int, int] = WIDE, **settings: object) -> AsyncIterator[Scene]:
        """A window that has settled; `settings` are written before it opens."""
        paths = Paths.standard(self.home)
        settle_in(paths, **settings)
        services = await build(paths, engine)
        window = MainWindow(paths, clock=lambda: PRESENT)
        window.resize(*size)
        async with shown(window, services) as scene:
            yield scene

    async def open(self, scene: Scene, title: str) -> None:
        """Show the conversation called `title`, scrolled to its end."""
        scene.window.sidebar.session_chosen.emit(self.sessions[title])
        await until(lambda: scene.session and str(scene.session.guid) == self.sessions[title])
        await calm(scene)
        scene.controller.view.go_to_end()
        await calm(scene)


async def calm(scene: Scene) -> None:
    """Everything on the screen is there and painted."""
    model, view = scene.controller.messages, scene.controller.view
    await until(
        lambda: view.visible_rows and all(model.message(placed.row) is not None for placed in view.visible_rows), PATIENCE
    )
    for _ in range(10):
        QApplication.processEvents()
        await asyncio.sleep(0.01)


async def model_is_ready(scene: Scene) -> None:
    await until(lambda: scene.window.chat.status.full_text.startswith("●"), PATIENCE)


async def welcome(studio: Studio) -> None:
    """The first start, with a name half the world could have."""
    async with studio.window(size=TALL, welcomed=False, theme="dark") as scene:
        window = scene.window

        def page() -> Welcome | None:
            shown = window.pages.currentWidget()
            return shown if isinstance(shown, Welcome) and shown.model_cards else None

        await until(page, PATIENCE)
        QTest.keyClicks(page().name_field, "Tomas")
        for _ in range(10):
            QApplication.processEvents()
            await asyncio.sleep(0.01)
        studio.keep(window.grab(), "welcome-night")


async def conversations(studio: Studio) -> None:
    """A scene at night, code by day, the drawer of a narrow window."""
    script = write_script(studio.home / "quiet")
    async with studio.window(theme="dark", model_path=str(script), last_session=studio.sessions["Through the Needle"]) as scene:
        await model_is_ready(scene)
        await studio.open(scene, "Through the Needle")
        studio.keep(scene.window.grab(), "chat-night")
        scene.window.resize(*NARROW)
        scene.window.panes.open_drawer()
        await calm(scene)
        studio.keep(scene.window.grab(), "narrow-drawer")
        scene.window.panes.close_drawer()
        scene.window.resize(*WIDE)
        await scene.services.preferences.set(theme="light")
        await studio.open(scene, "Names for the holiday photos")
        studio.keep(scene.window.grab(), "chat-day")
        await studio.open(scene, "Who moved the piano")
        studio.keep(scene.window.grab(), "group-day")


async def replies(studio: Studio) -> None:
    """A reply on its way, and one that the model did not live to finish."""
    flowing = write_script(studio.home / "flowing", TEXTS["eleven_metres"], delay=0.03)
    dying = write_script(studio.home / "dying", TEXTS["fifty_minutes"], delay=0.01, crash_after=30)
    async with studio.window(theme="dark", model_path=str(flowing)) as scene:
        await model_is_ready(scene)
        await studio.open(scene, "Eleven metres")
        ask_again(scene)
        await until(lambda: len(scene.words[-1].split()) >= WORDS_ON_THE_WAY, PATIENCE)
        studio.keep(scene.window.grab(), "streaming")
        await scene.controller.replies.stop_all_replies()
        await scene.services.models.load(dying)
        await studio.open(scene, "The customs cutter")
        ask_again(scene)
        await until(lambda: scene.window.findChildren(Toast), PATIENCE)
        await calm(scene)
        studio.keep(scene.window.grab(), "error")


def ask_again(scene: Scene) -> None:
    """Another wording of the last reply: its message keeps the time it has."""
    last = scene.controller.messages.outline(scene.controller.messages.rowCount() - 1)
    assert last.role is Role.ASSISTANT
    scene.controller.replies.regenerate(last.id)


async def model_menu(studio: Studio) -> None:
    """The models of a disk, with the starter model really loaded."""
    async with studio.window("llama", theme="light", model_path=str(chat_model())) as scene:
        await studio.open(scene, "Through the Needle")
        await model_is_ready(scene)
        scene.controller.model_controller.open_menu()
        await until(lambda: open_menu(scene), PATIENCE)
        menu = open_menu(scene)
        await calm(scene)
        picture = scene.window.grab()
        painter = QPainter(picture)
        status = scene.window.chat.status  # where the menu hangs on a screen that is large enough; the offscreen one is not
        painter.drawPixmap(status.mapTo(scene.window, QPoint(status.width() - menu.width(), status.height())), menu.grab())
        painter.end()
        studio.keep(picture, "model-menu")
        menu.close()


def open_menu(scene: Scene) -> QMenu | None:
    return next((menu for menu in scene.window.findChildren(QMenu) if menu.isVisible()), None)


async def workshop(studio: Studio) -> None:
    """What was remembered and why, every page behind the conversation, and everything that is asked in a dialog."""
    script = str(write_script(studio.home / "remembering", SHEEPSHANK))
    await remembering(studio, script)
    await pages(studio, script)
    await dialogs(studio, script)


PICTURES: tuple[Callable[[Studio], Awaitable[None]], ...] = (welcome, conversations, model_menu, replies, workshop)


async def take_all(home: Path, images: Path) -> None:
    disk = home / "disk"
    furnish_disk(disk)
    hide_this_machine(disk)
    studio = Studio(home / "lethe", images, await fill_home(Paths.standard(home / "lethe")))
    for take in PICTURES:
        await take(studio)


def hide_this_machine(home: Path) -> None:
    """Nothing of the real user's is seen: not their models, not their clock's zone, not their language."""
    for name in [name for name in os.environ if name.startswith(("XDG_", "HF_", "OLLAMA_", "LLAMA_", "LC_"))]:
        del os.environ[name]
    os.environ |= {"HOME": str(home), "USERPROFILE": str(home), "TZ": "UTC", "LANG": "C"}
    if hasattr(time, "tzset"):
        time.tzset()


def main() -> int:
    images = Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES
    images.mkdir(parents=True, exist_ok=True)
    application = QApplication([])
    application.setCursorFlashTime(0)

    def at_present() -> datetime:
        return PRESENT

    with tempfile.TemporaryDirectory() as home, patch("lethe_app.ui.transcript.painting.painter.now", at_present):
        asyncio.run(take_all(Path(home), images))
    return 0


if __name__ == "__main__":
    sys.exit(main())
