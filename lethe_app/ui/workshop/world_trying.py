"""Joins the test bench to the worlds that lie open: what is written there is tried on them, and nothing is changed by it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QSplitter, QWidget

from lethe_app.domain.chat import Message
from lethe_app.services.world_trials import Trial, Tried
from lethe_app.ui.workshop.place import Place
from lethe_app.ui.workshop.world_bench import Bench
from lethe_app.ui.workshop.world_book import WorldBook

RECENT = 40
"""Messages of the open conversation that can be picked."""


class Trying(QObject):
    """The newest wish counts: a trial that is under way when another is wanted is let go."""

    opened = Signal(str, object)
    """The world and the guid of a result that the user wants to see."""

    def __init__(self, place: Place, book: WorldBook, desk: QSplitter) -> None:
        """The bench is built, below what `desk` holds, when something is first to be tried."""
        super().__init__()
        self._place, self._book, self._desk = place, book, desk
        self._trials = place.house.worlds.trials
        self._messages: Sequence[Message] | None = None

    @cached_property
    def bench(self) -> Bench:
        """What is written on and what came of it."""
        bench = Bench(self._place.theme)
        bench.hide()
        self._desk.addWidget(bench)
        self._desk.setSizes([420, 230])
        bench.wanted.connect(lambda: self._place.bridge.spawn(self._try(), lane="world-trial"))
        bench.opened.connect(self._open)
        if self._messages is not None:
            bench.show_messages(self._messages)
        return bench

    @property
    def is_open(self) -> bool:
        return self._is_made and not self.bench.isHidden()

    def holds(self, widget: QWidget | None) -> bool:
        """Is it a part of the bench?"""
        return widget is not None and self._is_made and self.bench.isAncestorOf(widget)

    @property
    def _is_made(self) -> bool:
        return "bench" in vars(self)

    async def load(self) -> None:
        """Let messages of the open conversation be picked."""
        session = self._place.session()
        if session is not None:
            self._messages = await self._trials.messages(session, RECENT)
            if self._is_made:
                self.bench.show_messages(self._messages)

    def soon(self) -> None:
        """A world changed: what is written may wake others."""
        if self._is_made:
            self.bench.soon()

    def toggle(self) -> None:
        """Open the bench and begin to write, or put it away."""
        self.bench.setVisible(self.bench.isHidden())
        if self.is_open:
            self.bench.text.setFocus()
            self.bench.wanted.emit()

    def _open(self, tried: Tried) -> None:
        self.opened.emit(tried.world.unique_name, tried.entry.guid)

    async def _try(self) -> None:
        world, bench = self._book.world, self.bench
        if world is None or bench.isHidden():
            return
        trial = Trial(
            world,
            bench.text.text,
            self._place.session(),
            bench.message_id,
            alone=bench.alone.isChecked(),
            fresh=bench.fresh.isChecked(),
            times=bench.times,
        )
        bench.show_outcome(await self._trials.run(trial))
