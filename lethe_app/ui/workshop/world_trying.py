"""Joins the test bench to the worlds that lie open: what is written there is tried on them, and nothing is changed by it."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

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

    def __init__(self, place: Place, book: WorldBook, bench: Bench) -> None:
        super().__init__()
        self._place, self._book, self._bench = place, book, bench
        self._trials = place.house.worlds.trials
        bench.wanted.connect(lambda: place.bridge.spawn(self._try(), lane="world-trial"))
        bench.opened.connect(self._open)

    async def load(self) -> None:
        """Let messages of the open conversation be picked."""
        session = self._place.session()
        if session is not None:
            self._bench.show_messages(await self._trials.messages(session, RECENT))

    def toggle(self) -> None:
        """Open the bench and begin to write, or put it away."""
        self._bench.setVisible(self._bench.isHidden())
        if not self._bench.isHidden():
            self._bench.text.setFocus()
            self._bench.wanted.emit()

    def _open(self, tried: Tried) -> None:
        self.opened.emit(tried.world.unique_name, tried.entry.guid)

    async def _try(self) -> None:
        world, bench = self._book.world, self._bench
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
