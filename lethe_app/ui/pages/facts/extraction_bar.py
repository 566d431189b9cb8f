"""Progress bar of the extraction of facts from all sessions of a persona, with a stop button."""

from __future__ import annotations

from PySide6.QtCore import QLocale, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QWidget

from lethe_app.ui.chat.chat_panel import ElidedLabel
from lethe_app.ui.core.formatting import counted
from lethe_app.ui.core.palette import SPACE_2, SPACE_4
from lethe_app.ui.pages.context import PageContext

BAR_WIDTH = 160


class ExtractionBar(QWidget):
    """Runs an extraction and shows its progress; hidden otherwise."""

    ended = Signal()

    def __init__(self, place: PageContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._place = place
        self._is_stopped = self._is_closed = False
        self.words = ElidedLabel()
        self.words.setProperty("small", True)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(BAR_WIDTH)
        self.bar.setAccessibleName(self.tr("Extraction progress"))
        self.stop_button = QPushButton(self.tr("Stop"))
        self.stop_button.setProperty("filled", True)
        self.stop_button.clicked.connect(self.stop)
        row = QHBoxLayout(self)
        row.setContentsMargins(SPACE_4, SPACE_2, SPACE_4, SPACE_2)
        row.setSpacing(SPACE_2)
        row.addWidget(self.words, 1)
        row.addWidget(self.bar)
        row.addWidget(self.stop_button)
        self.hide()

    async def run(self, persona: str, name: str) -> None:
        """Extract facts from all sessions of the persona, then notify the user how many facts there are, unless it was
        stopped.
        """
        self._is_stopped = False
        try:
            is_done = await self._place.services.fact_extraction.extract_all(persona, self._report)
        finally:
            if not self._is_closed:
                self.hide()
                self.ended.emit()
        if is_done:
            facts = [fact for fact in await self._place.services.knowing.all(persona) if not (fact.superseded or fact.in_story)]
            known = counted(len(facts), self.tr("{n} fact"), self.tr("{n} facts"))
            self._place.window.notifier.tell(self.tr("{name} now knows {facts}.").format(name=name, facts=known))

    def stop(self) -> None:
        """Stop the extraction after the current session."""
        self._is_stopped = True

    def close_bar(self) -> None:
        """Stop the extraction because the page is closing; the widgets are not touched any more."""
        self._is_stopped = self._is_closed = True

    def _report(self, done: int, total: int) -> bool:
        if not self._is_closed:
            self.bar.setRange(0, max(total, 1))
            self.bar.setValue(done)
            locale = QLocale()
            words = self.tr("Reading conversation {place} of {total}…")
            self.words.set_full(words.format(place=locale.toString(min(done + 1, total)), total=locale.toString(total)))
            self.show()
        return not self._is_stopped
