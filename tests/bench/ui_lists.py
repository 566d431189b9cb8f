"""Long lists in the window: 50,000 memories, 10,000 entries of a world, 5,000 conversations, in a real home and a real window.

`open_ms_max`: from the wish to the first rows on the screen, worst page, second opening (the first, which imports the page and
reads what is then held, is in the table). `filter_ms_max`: the longest the window answered nobody after a key press in the
search field, worst key; when all that is found is there, is in the table. `blocked_ms_max`: the longest the window's thread
answered nobody while something went on behind the list of memories, told by a timer that should beat every five milliseconds:
reading the list, archiving a conversation, finding and embedding all memories anew, streaming a reply. A page that is not there
yet is left out, with a line that says so. The page that finds words in everything shows nothing until somebody types: it is
open when it is painted, and its key presses include the painting of what was found; how long the finding itself takes is in the
table.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sqlite3
import sys
import tempfile
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QApplication, QListView, QTableView

from lethe_app.app import build, run
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.paths import Paths
from lethe_app.storage.chats import messages
from lethe_app.storage.database import Database
from lethe_app.storage.row_mapping import MEMORY_COLUMNS, SESSION_COLUMNS, column_values, insert, utc_text
from lethe_app.ui.core.routes import ACTION_ROUTES
from lethe_app.ui.pages.page import Page
from lethe_app.ui.shell.main_window import MainWindow
from lethe_app.ui.widgets.table import SearchField
from tests.bench import report
from tests.bench.long_chat import scene, sentence
from tests.bench.report import Measured
from tests.services.turns import until

MEMORIES, ENTRIES, SESSIONS = 50_000, 10_000, 5_000
PERSONA, BEAT_MS = "mira", 5
TYPED = "harbour lamp"
LIMITS = {"open_ms_max": 200.0, "filter_ms_max": 50.0, "blocked_ms_max": 50.0}
PAGES = {"memories": MEMORIES, "worlds": ENTRIES, "conversations": SESSIONS}
"""The wish that opens each page, and how many rows it has to come to."""
PATIENCE = 60.0
HAND_S = 0.3
"""Seconds a hand takes to the keys when the rows are there. A page makes its texts ready to be searched meanwhile."""


class Heart(QObject):
    """Beats in the window's thread; `longest` is by how many milliseconds a beat came too late since the last `begin`.

    `worked` is how many of these the thread itself was at work, at most: the rest it waited, for a processor or for Python.
    """

    def __init__(self) -> None:
        super().__init__()
        self.begin()
        self._timer = QTimer(self, timerType=Qt.TimerType.PreciseTimer, interval=BEAT_MS)
        self._timer.timeout.connect(self._beat)
        self._timer.start()

    def begin(self) -> None:
        self._last, self._spent = time.perf_counter(), time.thread_time()
        self.longest = self.worked = 0.0

    def _beat(self) -> None:
        moment, spent = time.perf_counter(), time.thread_time()
        self.longest = max(self.longest, 1000 * (moment - self._last) - BEAT_MS)
        self.worked = max(self.worked, 1000 * (spent - self._spent))
        self._last, self._spent = moment, spent


class Painted(QObject):
    """Notes when a table was painted with something in it."""

    def __init__(self, table: QAbstractItemView) -> None:
        super().__init__(table)
        self._table, self.at = table, 0.0
        table.viewport().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's own name
        if event.type() == QEvent.Type.Paint and self._table.model().rowCount() and not self.at:
            QTimer.singleShot(0, self, self._note)  # when the paint has ended
        return False

    def _note(self) -> None:
        self.at = self.at or time.perf_counter()


# A home as it is after years


def memories(rng: random.Random, count: int) -> list[MemoryUnit]:
    """Such as are still there after years: brought up lately or not waiting for long, or they would have faded."""
    apart = {MemoryType.CHAT_SESSION, MemoryType.REMINDER}  # of the old reminders all were told and are gone
    kinds = [kind for kind in MemoryType if kind not in apart]
    ways, present = [MemoryInsertion.NATURAL, MemoryInsertion.USER_RETURN, MemoryInsertion.NONE], now()
    drawn = [MemoryInsertion.TRIGGER if rng.random() < 0.9 else rng.choice(ways) for _number in range(count)]
    return [
        MemoryUnit(
            category=rng.choice(kinds),
            insertion=way,
            name=sentence(rng)[:30],
            content=scene(rng),
            added=present - timedelta(minutes=rng.randint(1, 2_000_000 if way is MemoryInsertion.TRIGGER else 10_000)),
            last_trigger=present - timedelta(minutes=rng.randint(1, 10_000)),
            trigger_count=rng.randint(1, 9),
            priority=rng.randint(0, 6),
            keywords_main=[rng.choice(("harbour", "lamp", "tide", "gull"))],
        )
        for way in drawn
    ]


def talk(session: ChatSession, rng: random.Random, count: int) -> list[Message]:
    speakers = (("tomas", "Tomas", Role.USER), (PERSONA, "Mira", Role.ASSISTANT))
    return [
        Message(
            session_id=session.guid,
            role=speakers[place % 2][2],
            speaker=speakers[place % 2][0],
            speaker_name=speakers[place % 2][1],
            time=session.added + timedelta(minutes=place),
            alternatives=[Alternative(content=scene(rng))],
        )
        for place in range(count)
    ]


async def fill_home(paths: Paths) -> None:
    """Write everything in a few transactions, past the services, which would take an hour."""
    rng = random.Random(11)
    paths.worlds.mkdir(parents=True, exist_ok=True)
    entries = [
        WorldEntry(name=f"Entry {number}", content=scene(rng), keywords_main=[f"word{number}", rng.choice(("lamp", "tide"))])
        for number in range(ENTRIES)
    ]
    atlas = World(name="A great atlas", entries=entries)
    hers = json.loads((paths.shipped_personas / f"{PERSONA}.json").read_text(encoding="utf-8"))["worlds"][0]
    text = atlas.model_dump_json(exclude={"unique_name"})
    (paths.worlds / f"{hers}.json").write_text(text, encoding="utf-8")  # the user's own wins, and a page begins with it
    began = now() - timedelta(hours=SESSIONS)
    sessions = [
        ChatSession(
            persona_id=PERSONA, name=sentence(rng), content=scene(rng), archived=True, added=began + timedelta(hours=number)
        )
        for number in range(SESSIONS)
    ]

    def work(connection: sqlite3.Connection) -> None:
        for memory in memories(rng, MEMORIES - SESSIONS):
            insert(connection, "memories", {**column_values(memory, MEMORY_COLUMNS), "persona_id": PERSONA})
        for session in sessions:
            memory_row, row = column_values(session, MEMORY_COLUMNS), column_values(session, SESSION_COLUMNS)
            insert(connection, "memories", {**memory_row, "persona_id": PERSONA})
            insert(connection, "sessions", {**row, "guid": memory_row["guid"], "last_activity": utc_text(session.added)})
            for message in talk(session, rng, 3):
                messages.add(connection, message)
        connection.execute("DELETE FROM passage_debts")  # found and embedded long ago

    database = await Database.open(paths.database)
    await database.run(work)
    await database.close()


# What is measured


class Bench:
    """One window, measured in turn."""

    def __init__(self, window: MainWindow, services: AppServices, heart: Heart) -> None:
        self._window, self._services, self._heart = window, services, heart
        self.rows: list[tuple[str, object]] = []
        self.opened: list[float] = []
        self.typed: list[float] = []
        self.blocked: list[float] = []

    async def measure(self) -> None:
        for wish, count in PAGES.items():
            if wish not in ACTION_ROUTES:
                self.rows.append((wish, "there is no such page yet"))
                continue
            first = await self._open(wish, count, "first time")
            if first is not None:
                await self._close()
                self.opened.append(await self._open(wish, count, "again") or 0.0)
                await asyncio.sleep(HAND_S)
                await self._type(wish)
                await self._close()
        await self._find()
        await self._work_behind()

    async def _find(self) -> None:
        """The page that finds words in everything reads behind a pause in typing: until the first places are painted, and how
        long each key press holds the window up."""
        for how in ("first time", "again"):
            began = time.perf_counter()
            self._window.window_actions["search_everything"].trigger()
            self._page.repaint()
            took = 1000 * (time.perf_counter() - began)
            self.rows.append((f"find, {how}: painted [ms]", took))
            if how == "first time":
                await self._close()
        self.opened.append(took)
        found, search = self._page.findChild(QListView), self._page.findChild(SearchField)
        times, worked = [], []
        for key in TYPED:
            self._heart.begin()
            began, spent = time.perf_counter(), time.thread_time()
            QTest.keyClicks(search, key)
            search.repaint()
            times.append(1000 * (time.perf_counter() - began))
            worked.append(1000 * (time.thread_time() - spent))
            await asyncio.sleep(0.5)  # it searches when the fingers rest
            times.append(self._heart.longest)
            worked.append(self._heart.worked)
        began, painted = time.perf_counter(), Painted(found)
        QTest.keyClick(search, Qt.Key.Key_Backspace)
        await until(lambda: painted.at)
        self.typed.append(max(times))
        self.rows += [
            ("find: longest key press or painting of what was found [ms]", max(times)),
            ("find: of these at work [ms]", max(worked)),
            ("find: from a key press to the first places, a pause of 60 ms included [ms]", 1000 * (painted.at - began)),
        ]
        await self._close()

    async def _open(self, wish: str, count: int, how: str) -> float | None:
        self._heart.begin()
        began = time.perf_counter()
        self._window.window_actions[wish].trigger()
        page = self._window.pages.currentWidget()
        if not isinstance(page, Page):
            self.rows.append((wish, "the page does not open"))
            return None
        made = 1000 * (time.perf_counter() - began)
        marks = {table: Painted(table) for table in page.findChildren(QTableView)}
        table = await self._full(page, count)
        if table is None:
            self.rows.append((wish, f"the page never came to show {count} rows"))
            await self._close()
            return None
        await until(lambda: marks[table].at)
        took = 1000 * (marks[table].at - began)
        self.rows += [
            (f"{wish}, {how}: first rows [ms]", took),
            (f"{wish}, {how}: making the page [ms]", made),
            (f"{wish}, {how}: all {count} there [ms]", 1000 * (time.perf_counter() - began)),
            (f"{wish}, {how}: longest without an answer [ms]", self._heart.longest),
            (f"{wish}, {how}: of these at work [ms]", self._heart.worked),
        ]
        return took

    async def _full(self, page: Page, count: int) -> QTableView | None:
        """The table of the page in which so many rows have come."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for table in page.findChildren(QTableView):
                if table.model().rowCount() >= count:
                    return table
            await asyncio.sleep(0.01)
        return None

    async def _type(self, wish: str) -> None:
        """Key by key, there and back; each is done when the table is painted anew. The time counts during which the window
        answers nobody: a long list is filtered in steps.
        """
        page = self._page
        table = max(page.findChildren(QTableView), key=lambda each: each.model().rowCount())
        fields = [field for field in page.findChildren(SearchField) if field.isVisible()]
        search = next((field for field in fields if field.parentWidget().isAncestorOf(table)), fields[0])
        search.setFocus()
        times, worked, until_found = [], [], []
        for key in [*TYPED, *[None] * len(TYPED)]:
            began, spent = time.perf_counter(), time.thread_time()
            QTest.keyClick(search, Qt.Key.Key_Backspace) if key is None else QTest.keyClicks(search, key)
            table.viewport().repaint()
            times.append(1000 * (time.perf_counter() - began))
            worked.append(1000 * (time.thread_time() - spent))
            self._heart.begin()
            while table.model().is_busy:  # noqa: ASYNC110 - for a few turns of the event loop
                await asyncio.sleep(0)
            await asyncio.sleep(2 * BEAT_MS / 1000)
            times.append(self._heart.longest)
            worked.append(self._heart.worked)
            until_found.append(1000 * (time.perf_counter() - began))
        self.typed.append(max(times))
        self.rows += [
            (f"{wish}: longest without an answer after a key press [ms]", max(times)),
            (f"{wish}: of these at work [ms]", max(worked)),
            (f"{wish}: from a key press to all that is found [ms]", max(until_found)),
        ]

    async def _work_behind(self) -> None:
        """With the list of memories open and read."""
        self._heart.begin()
        self._window.window_actions["memories"].trigger()
        await self._full(self._page, MEMORIES)
        session = await self._long_talk()
        await self._while("archiving a conversation", self._services.archive_queue.archive_session(session.guid))
        await self._while("finding memories anew", self._rebuild())
        await self._while("embedding", self._embed())
        await self._while("streaming a reply", self._stream())

    async def _while(self, what: str, work: object) -> None:
        await asyncio.sleep(1.0)  # the list is read again after the last thing that changed
        self._heart.begin()
        began = time.perf_counter()
        await work  # type: ignore[misc]
        self.blocked.append(self._heart.longest)
        self.rows += [
            (f"{what} ({time.perf_counter() - began:.1f} s): longest without an answer [ms]", self._heart.longest),
            (f"{what}: of these at work [ms]", self._heart.worked),
        ]

    async def _long_talk(self) -> ChatSession:
        session = ChatSession(persona_id=PERSONA, user_id="", added=now() - timedelta(days=1))
        chats, rng = self._services.sessions._session_store, random.Random(5)
        session = await chats.add_session(session)
        await chats.add_messages(talk(session, rng, 120))
        return session

    async def _rebuild(self) -> None:
        """A quarter of a minute of it; for all of them it takes some."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._services.indexing.rebuild(), 15)

    async def _embed(self) -> None:
        """For ten seconds; the real embedder would take many minutes for all of them."""
        self._services.embedding.enabled = True
        if not await self._services.embedding.ensure_loaded():
            self.rows.append(("embedding", "there is no embedder here"))
            return
        end = time.monotonic() + 10
        while time.monotonic() < end and await self._services.indexing._embed_pending():
            pass

    async def _stream(self) -> None:
        session = await self._services.sessions.new(PERSONA)
        async for _event in self._services.chat.send(session.guid, "Tell me of the harbour."):
            pass

    @property
    def _page(self) -> Page:
        page = self._window.pages.currentWidget()
        assert isinstance(page, Page)
        return page

    async def _close(self) -> None:
        self._page.back_requested.emit()
        await until(lambda: self._window.pages.currentWidget() is self._window.panes)
        await asyncio.sleep(0.3)


def measure() -> Measured:
    """Fill a home, open the window over it, and measure."""
    with tempfile.TemporaryDirectory() as folder:
        paths = Paths.standard(Path(folder))
        asyncio.run(fill_home(paths))
        script = Path(folder) / "echo.json"
        script.write_text(json.dumps({"replies": ["Well. " * 300], "delay": 0.01}), encoding="utf-8")
        application = QApplication(sys.argv[:1])
        window = MainWindow(paths)
        window.resize(1280, 800)
        window.show()
        bench: list[Bench] = []

        async def services() -> AppServices:
            made = await build(paths, engine="echo")
            await made.preferences.set(welcomed=True, last_persona=PERSONA, model_path=str(script))
            asyncio.get_running_loop().create_task(measure_in_window(made))
            return made

        async def measure_in_window(made: AppServices) -> None:
            try:
                await until(lambda: window.windowTitle().startswith("Mira"))
                await asyncio.sleep(1.0)
                bench.append(Bench(window, made, Heart()))
                await bench[0].measure()
            finally:
                window.close()

        run(application, window, services)
    done = bench[0]
    measured = {"open_ms_max": done.opened, "filter_ms_max": done.typed, "blocked_ms_max": done.blocked}
    figures = {key: max(values) for key, values in measured.items()}
    rows = [*done.rows, *((f"limit of {key}", LIMITS[key]) for key in figures)]
    return rows, figures


if __name__ == "__main__":
    report.run(__doc__, lambda _wanted: measure())
