"""Plays one evening with the starter model in a real window, and leaves pictures and a transcript of what was really said.

Run with `python -m tests.demo [folder]`; without a folder everything goes to build/demo. Nothing is touched up: the starter
model is very small, and the transcript shows it.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from lethe_app.domain.chat import Message
from lethe_app.paths import Paths
from tests.screenshots import hide_this_machine
from tests.stories.stage import Stage

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "build" / "demo"
MAX_REPLY_TOKENS = 160
"""Tokens, so that the evening ends in good time on a slow machine."""
USER, PERSONA = "Tomas", "Mira"
QUESTIONS = (
    "Good evening, Mira. How does the sea look tonight?",
    "Tell me the longest story you know about a lighthouse.",
    "What should we do about the customs cutter?",
)


@dataclass
class Evening:
    """What is kept of the evening while it is played."""

    folder: Path
    home: Path
    began: float = field(default_factory=time.monotonic)
    log: list[str] = field(default_factory=list)
    told: list[Message] = field(default_factory=list)
    pictures: int = 0

    def picture(self, stage: Stage, name: str) -> None:
        self.pictures += 1
        QApplication.processEvents()
        path = self.folder / f"{self.pictures:02}-{name}.png"
        if not stage.window.grab().save(str(path)):
            raise OSError(f"{path} could not be written")
        self.note(f"picture {path.name}")

    def note(self, words: str) -> None:
        self.log.append(f"{time.monotonic() - self.began:6.1f} s  {words}")
        print(self.log[-1], flush=True)  # noqa: T201 - a script that tells

    # the evening

    async def play_first(self, stage: Stage) -> None:
        """Welcome, three exchanges, one of them cut short and one answered twice."""
        await stage.until(lambda: stage.welcome is not None and stage.welcome._models, "the welcome screen is complete")
        self.picture(stage, "welcome")
        await stage.begin(USER, PERSONA)
        await stage.until(lambda: stage.window.chat.status.full_text.startswith("●"), "the model is loaded")
        self.picture(stage, "greeting")
        await self.ask(stage, QUESTIONS[0])
        self.picture(stage, "first-reply")
        await self.ask(stage, QUESTIONS[1], words=25)
        self.picture(stage, "stopped")
        await self.ask(stage, QUESTIONS[2])
        await self.ask_again(stage)
        self.picture(stage, "another-wording")
        self.told = messages(stage)

    async def play_second(self, stage: Stage) -> None:
        """Everything is there again, word for word."""
        await stage.until(lambda: len(messages(stage)) == len(self.told), "the conversation is there again")
        assert messages(stage) == self.told, "the conversation came back changed"
        await stage.until(lambda: stage.window.chat.status.full_text.startswith("●"), "the model is loaded again")
        self.picture(stage, "reopened")
        self.note("closed and opened again: every word is there")

    async def ask(self, stage: Stage, text: str, words: int = 0) -> None:
        """Say `text` and hear the answer out, or stop it after so many words."""
        count = len(stage.messages())
        await stage.write(text)
        await stage.until(lambda: len(stage.messages()) == count + 2 and stage.messages()[-1][1], "the answer begins")
        self.note("the first words arrive")
        if words:
            await stage.until(lambda: spoken(stage) >= words or not stage.is_answering, "some words were said")
            self.picture(stage, "being-written")
            stage.click(stage.window.chat.composer.send_button)
        await self.wait_for_end(stage)

    async def ask_again(self, stage: Stage) -> None:
        """Ask for another wording of the last reply."""
        QTest.keyClick(stage.window.chat.composer.draft_field, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
        await stage.until(lambda: stage.is_answering, "another wording begins")
        await self.wait_for_end(stage)
        assert len(messages(stage)[-1].alternatives) == 2, "there is no second wording"

    async def wait_for_end(self, stage: Stage) -> None:
        await stage.until(lambda: not stage.is_answering, "the answer ends")
        await asyncio.sleep(0.2)
        complete = messages(stage)[-1].current.complete
        self.note(f"answered: {stage.window.chat.status.full_text}" if complete else "stopped; the half answer is kept")


def messages(stage: Stage) -> list[Message]:
    """Every message on display."""
    model = stage.window.chat.view.model() if stage.messages() else None
    found = [model.message(row) for row in range(model.rowCount())] if model is not None else []
    return [message for message in found if message is not None]


def spoken(stage: Stage) -> int:
    return len(stage.messages()[-1][1].split())


def transcript(evening: Evening) -> str:
    """What was said, with every wording, as Markdown."""
    model = next(message.current.model for message in evening.told if message.current.model)
    about = (
        f"{USER} and {PERSONA}, answered by {model} with replies of at most {MAX_REPLY_TOKENS} tokens. Nothing was touched up. "
        "A model of this size shows that everything works; it does not show how well a persona can be played."
    )
    parts = ["# An evening with the starter model", about]
    for message in evening.told:
        for number, wording in enumerate(message.alternatives, start=1):
            if not wording.model and number - 1 != message.shown:
                continue  # greetings that were not chosen
            is_one_of_several = wording.model and len(message.alternatives) > 1
            place = f", wording {number} of {len(message.alternatives)}" if is_one_of_several else ""
            parts.append(f"**{message.speaker_name}**{place}{'' if wording.complete else ' (stopped)'}")
            parts.append("\n".join(f"> {line}".rstrip() for line in wording.content.splitlines()))
    return "\n\n".join([*parts, "## How long it took", "```\n" + "\n".join(evening.log) + "\n```"]) + "\n"


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    application = QApplication([])
    application.setCursorFlashTime(0)
    with tempfile.TemporaryDirectory() as somewhere:
        hide_this_machine(Path(somewhere))  # whatever models it has are not part of the evening
        evening = Evening(folder, Path(somewhere) / "lethe")
        paths = Paths.standard(evening.home)
        paths.home.mkdir()
        paths.settings.write_text(json.dumps({"max_reply": MAX_REPLY_TOKENS, "theme": "dark"}), encoding="utf-8")
        for act in (evening.play_first, evening.play_second):
            Stage(evening.home).play(act)
    (folder / "transcript.md").write_text(transcript(evening), encoding="utf-8")
    print(f"\n{evening.pictures} pictures and transcript.md are in {folder}")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
