"""A real window over a real house on one event loop, played by a script that sees and touches only what a person could."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget

from lethe_app.app import build, run
from lethe_app.composition.app_services import AppServices
from lethe_app.paths import Paths
from lethe_app.ui.shell.main_window import MainWindow
from lethe_app.ui.shell.welcome import Welcome
from lethe_app.ui.transcript.chat_view import ChatView
from lethe_app.ui.transcript.model.chat_model import ChatModel

PATIENCE = 300.0
PICTURES = Path(__file__).parent.parent.parent / "build" / "screenshots"
Story = Callable[["Stage"], Awaitable[None]]


class Stage:
    """One opening of the program, from the first paint to the closed house."""

    def __init__(self, home: Path, engine: str = "llama") -> None:
        self._paths = Paths.standard(home)
        self._engine = engine
        self.window = MainWindow(self._paths)
        self.exit_code = -1
        self._services: AppServices | None = None

    def play(self, story: Story) -> None:
        """Open, play, close; whatever the story raises is raised here, after everything is closed."""
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        self.window.resize(1200, 800)
        self.window.show()
        outcome: list[asyncio.Task[None]] = []

        async def open_services() -> AppServices:
            if not outcome:  # a start that failed is tried again
                outcome.append(asyncio.ensure_future(self._perform(story)))
            self._services = await build(self._paths, self._engine)
            return self._services

        self.exit_code = run(application, self.window, open_services)
        asyncio.set_event_loop(None)
        self.window.deleteLater()
        application.sendPostedEvents(self.window, QEvent.Type.DeferredDelete)
        outcome[0].result()

    async def _perform(self, story: Story) -> None:
        try:
            await story(self)
        finally:
            self.window.close()

    async def until(self, happens: Callable[[], object], what: str) -> None:
        """Wait until `happens` is true, as a person waits for something to appear."""
        ends = time.monotonic() + PATIENCE
        while not happens():
            assert time.monotonic() < ends, f"waited in vain until {what}; on the screen: {self.words()}"
            await asyncio.sleep(0.02)

    async def fill_the_disk(self) -> None:
        """From now on the database cannot grow by a page."""
        await self.services.database.run(lambda connection: connection.execute("PRAGMA max_page_count = 1"))

    @property
    def services(self) -> AppServices:
        assert self._services is not None, "they are built while the window shows itself"
        return self._services

    # what one sees

    @property
    def welcome(self) -> Welcome | None:
        page = self.window.pages.currentWidget()
        return page if isinstance(page, Welcome) else None

    @property
    def view(self) -> ChatView:
        view = self.window.chat.view
        assert isinstance(view, ChatView)
        return view

    def messages(self) -> list[tuple[str, str]]:
        """Who said what, as far as it is loaded."""
        if not isinstance(self.window.chat.view, ChatView):
            return []
        model = self.view.model()
        assert isinstance(model, ChatModel)
        rows = ((model.message(row), model.text_of(row)[0]) for row in range(model.rowCount()))
        return [(message.speaker_name, text) for message, text in rows if message is not None]

    @property
    def is_answering(self) -> bool:
        """Is there something to stop?"""
        return self.window.window_actions["stop"].isEnabled()

    def words(self, within: QWidget | None = None) -> str:
        """Everything written on visible labels and buttons."""
        widgets = (within or self.window).findChildren(QWidget)
        return "\n".join(
            widget.text() for widget in widgets if isinstance(widget, QLabel | QAbstractButton) and widget.isVisible()
        )

    async def take_picture(self, name: str) -> None:
        """Save what is on the screen."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        await asyncio.sleep(0.1)  # layouts settle; processing events here would step into other tasks
        assert self.window.grab().save(str(PICTURES / f"story-{name}.png"))

    # what one does

    def press(self, widget: QWidget, key: Qt.Key) -> None:
        QTest.keyClick(widget, key)

    def click(self, widget: QWidget) -> None:
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton)

    async def write(self, text: str) -> None:
        """Type into the composer and press Enter."""
        field = self.window.chat.composer.draft_field
        QTest.keyClicks(field, text)
        self.press(field, Qt.Key.Key_Return)
        await asyncio.sleep(0)

    async def begin(self, name: str, persona: str) -> None:
        """Go through the first start."""
        await self.until(lambda: self.welcome is not None and self.welcome.persona_cards, "the welcome screen offers personas")
        welcome = self.welcome
        assert welcome is not None
        QTest.keyClicks(welcome.name_field, name)
        cards = {card.text(): card for card in welcome.persona_cards}
        self.click(cards[persona])
        await self.until(lambda: welcome.model_cards, "the models on this computer are listed")
        self.click(welcome.start_button)
        await self.until(lambda: self.welcome is None and self.messages(), "the persona greets")
