"""Measures a conversation of ten thousand messages: opening it, scrolling through all of it, streaming a reply at its end.

The messages lie in a real database; timings include fetching them and everything up to the painted pixel.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median, quantiles
from uuid import UUID, uuid4

import psutil

if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication

from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database
from lethe_app.ui.core.palette import NIGHT
from lethe_app.ui.transcript.chat_view import ChatView
from lethe_app.ui.transcript.model.chat_model import ChatModel
from tests.bench.report import Measured, run

MANY, FEW = 10_000, 10
SIZE = (1100, 800)
TOKENS = 240
ROUNDS = 6
TURN = 0.0005
"""Seconds between two looks whether the loader is done. The window waits for events in between; a loop that only spins would
hold the interpreter's lock, for which the storage thread then waits 5 ms with every row it reads.
"""
LIMITS = {"open_ms": 300.0, "scroll_ms_p95": 16.0, "stream_ratio": 1.3}

NOUNS = ("harbour", "lamp", "compass", "letter", "galley", "chart", "rope", "captain", "gull", "lantern", "storm", "tide")
VERBS = ("waits", "turns", "remembers", "burns", "folds", "counts", "listens", "drifts", "answers", "forgets", "opens")
WORDS = ("slowly", "again", "without", "a", "sound", "under", "the", "brass", "light", "before", "dawn", "as", "if", "nobody")


def sentence(rng: random.Random) -> str:
    told = f"the {rng.choice(NOUNS)} {rng.choice(VERBS)} {' '.join(rng.choices(WORDS, k=rng.randint(2, 9)))}"
    return told.capitalize() + "."


def scene(rng: random.Random) -> str:
    parts = [f"*{sentence(rng)}*", f"“{sentence(rng)} {sentence(rng)}”", sentence(rng), f'"{sentence(rng)}"']
    return " ".join(rng.choices(parts, k=rng.randint(1, 5)))


def listing(rng: random.Random) -> str:
    return "\n".join(f"{number}. {sentence(rng)}" for number in range(1, rng.randint(3, 7)))


def code(rng: random.Random) -> str:
    lines = [f"    {rng.choice(VERBS)}({rng.choice(NOUNS)}, {rng.randint(1, 90)})" for _ in range(rng.randint(2, 9))]
    return "\n".join(["```python", f"def {rng.choice(NOUNS)}():", *lines, "```"])


def table(rng: random.Random) -> str:
    rows = [f"| {rng.choice(NOUNS)} | {rng.randint(1, 99)} | *{rng.choice(VERBS)}* |" for _ in range(rng.randint(2, 5))]
    return "\n".join(["| what | how many | does |", "|:--|--:|:--|", *rows])


def quote(rng: random.Random) -> str:
    return f"> {sentence(rng)}\n> {sentence(rng)}"


def words_of(rng: random.Random) -> str:
    """One message: mostly scenes, now and then something else, seldom something long."""
    parts = [scene(rng) for _ in range(rng.choice((1, 1, 1, 2, 2, 3)))]
    if rng.random() < 0.16:
        parts.insert(rng.randint(0, len(parts)), rng.choice((listing, code, table, quote))(rng))
    if rng.random() < 0.01:
        parts += [scene(rng) for _ in range(30)]
    return "\n\n".join(parts)


def conversation(session: UUID, count: int, seed: int = 7) -> list[Message]:
    rng = random.Random(seed)
    began = datetime.now(UTC) - timedelta(minutes=11 * count)
    messages = []
    for number in range(count):
        name, role = ("Tomas", Role.USER) if number % 2 else ("Mira", Role.ASSISTANT)
        wordings = [Alternative(content=words_of(rng), thinking=sentence(rng) if rng.random() < 0.1 else "")]
        if rng.random() < 0.05:
            wordings.append(Alternative(content=words_of(rng)))
        messages.append(
            Message(
                session_id=session,
                role=role,
                speaker=name.lower(),
                speaker_name=name,
                time=began + timedelta(minutes=11 * number),
                alternatives=wordings,
            )
        )
    return messages


async def stored(chats: SessionStore, count: int, seed: int = 7) -> UUID:
    """A session of that many messages."""
    session = await chats.add_session(ChatSession(persona_id="mira"))
    await chats.add_messages(conversation(session.guid, count, seed))
    return session.guid


class Paints(QObject):
    """Counts how often a viewport was painted."""

    def __init__(self, view: ChatView) -> None:
        super().__init__(view)
        self.count = 0
        view.viewport().installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's spelling
        self.count += event.type() == QEvent.Type.Paint
        return False


class Stage:
    """A window's view with one conversation in it."""

    def __init__(self, application: QApplication) -> None:
        self.application = application
        self.model = ChatModel()
        self.view = ChatView(self.model)
        self.view.set_message_palette(NIGHT)
        self.view.resize(*SIZE)
        self.paints = Paints(self.view)
        self.view.show()
        application.processEvents()

    def is_complete(self) -> bool:
        return bool(self.view.visible_rows) and all(
            self.model.message(placed.row) is not None for placed in self.view.visible_rows
        )

    async def paint(self) -> None:
        """Until everything in view is there, and painted after it was."""
        await self.fetch()
        painted = self.paints.count
        self.view.viewport().update()
        while self.paints.count == painted or not self.is_complete():
            self.application.processEvents()
            await self.fetch()

    async def fetch(self) -> None:
        """The loader's time, in which the window stays alive."""
        while not self.is_complete():  # noqa: ASYNC110 - the loop itself is waited for
            await asyncio.sleep(TURN)

    async def open(self, chats: SessionStore, session: UUID) -> float:
        began = time.perf_counter()
        self.model.show_session(await chats.outline(session), lambda start, count: chats.page(session, start, count))
        await self.paint()
        return (time.perf_counter() - began) * 1000

    def close(self) -> None:
        self.model.close()
        self.view.close()
        self.view.deleteLater()
        self.application.processEvents()


async def scroll(stage: Stage) -> list[float]:
    """Milliseconds of each of 400 steps; half are wheel notches, half pages, after jumps through the whole range."""
    view, bar, times = stage.view, stage.view.verticalScrollBar(), []
    wheel = 3 * bar.singleStep()
    for leg in range(20):
        bar.setValue(round(bar.maximum() * (leg + 0.5) / 20))
        await stage.paint()
        for step in range(20):
            distance = wheel if step % 2 else bar.pageStep()
            began = time.perf_counter()
            bar.setValue(bar.value() + (distance if leg % 2 else -distance))
            view.viewport().repaint()
            if not stage.is_complete():
                await stage.fetch()
                view.viewport().repaint()
            times.append((time.perf_counter() - began) * 1000)
            stage.application.processEvents()
    return times


def stream(stage: Stage, rng: random.Random) -> list[float]:
    """Milliseconds of each token of one reply, drawn at once instead of thirty times a second."""
    stage.view.go_to_end()
    message = Message(session_id=uuid4(), role=Role.ASSISTANT, speaker="mira", speaker_name="Mira")
    tokens = [f"{word} " for word in " ".join(words_of(rng) for _ in range(20)).split(" ")][:TOKENS]
    stage.model.start_reply(message)
    times = []
    for token in tokens:
        began = time.perf_counter()
        stage.model.append_content(token)
        stage.view.layout_growing_reply()
        stage.application.processEvents()
        times.append((time.perf_counter() - began) * 1000)
    finished = message.model_copy(update={"alternatives": [Alternative(content="".join(tokens))]})
    stage.model.finish_reply(finished)
    stage.model.remove_messages(finished.id)
    stage.application.processEvents()
    return times


def compare(large: Stage, small: Stage) -> tuple[float, float]:
    """Median milliseconds of a token in the large conversation, and how many times that of the small one it is."""
    times: dict[Stage, list[float]] = {large: [], small: []}
    for turn in range(ROUNDS):
        for stage in (large, small) if turn % 2 else (small, large):  # each goes first as often as the other
            times[stage] += stream(stage, random.Random(turn))
    return median(times[large]), median(times[large]) / median(times[small])


async def measure(chats: SessionStore) -> dict[str, float]:
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    process = psutil.Process()
    warm = Stage(application)  # fonts and libraries are loaded with the window, before any conversation
    await warm.open(chats, await stored(chats, 30, seed=1))
    warm.close()
    many, few = await stored(chats, MANY), await stored(chats, FEW, seed=3)
    before = process.memory_info().rss
    large = Stage(application)
    result = {"open_ms": await large.open(chats, many)}
    steps = await scroll(large)
    result["scroll_ms_p95"] = quantiles(steps, n=20)[-1]
    result["scroll_ms_median"], result["scroll_ms_max"] = median(steps), max(steps)
    small = Stage(application)
    await small.open(chats, few)
    result["stream_ms"], result["stream_ratio"] = compare(large, small)
    result["view_mb"] = (process.memory_info().rss - before) / 2**20
    result["rss_mb"] = process.memory_info().rss / 2**20
    large.close()
    small.close()
    return result


async def measure_in_database() -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        database = await Database.open(Path(folder) / "lethe.sqlite3")
        try:
            figures = await measure(SessionStore(database))
            return [(name, verdict(name, value)) for name, value in figures.items()], figures
        finally:
            await database.close()


def verdict(name: str, value: float) -> str:
    limit = LIMITS.get(name)
    return f"{value:10.2f}" + ("" if limit is None else f"   limit {limit:g}   {'ok' if value <= limit else 'TOO MUCH'}")


if __name__ == "__main__":
    run(__doc__, lambda _wanted: measure_in_database())
