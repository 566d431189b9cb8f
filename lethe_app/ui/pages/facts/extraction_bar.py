"""Progress bar of the extraction of facts from all sessions of a persona, with a stop button."""

from __future__ import annotations

from PySide6.QtCore import QLocale, Signal
from PySide6.QtWidgets import QProgressBar, QWidget

from lethe_app.services.memory.facts import FactService
from lethe_app.services.sessions.editing import FactExtraction
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.palette import SPACE_2, SPACE_4
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.labels import ElidedLabel
from lethe_app.ui.widgets.layouts import build_row

BAR_WIDTH = 160


class ExtractionBar(QWidget):
    """Runs an extraction and shows its progress; hidden otherwise."""

    changed = Signal(bool)
    """An extraction has begun, or with False ended."""

    def __init__(
        self, context: PageContext, fact_service: FactService, fact_extraction: FactExtraction, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._context = context
        self._fact_service, self._fact_extraction = fact_service, fact_extraction
        self._is_stopped = self._is_closed = self.is_running = False
        self.progress_label = ElidedLabel()
        self.progress_label.setProperty("small", True)
        self.progress_bar = QProgressBar()
        self.progress_bar.setTextVisible(False)
        self.progress_bar.setFixedWidth(BAR_WIDTH)
        self.progress_bar.setAccessibleName(self.tr("Extraction progress"))
        self.stop_button = build_button(self.tr("Stop"), self.stop_extraction)
        margins = (SPACE_4, SPACE_2, SPACE_4, SPACE_2)
        build_row((self.progress_label, 1), self.progress_bar, self.stop_button, spacing=SPACE_2, margins=margins, parent=self)
        self.hide()

    def start_extraction(self, persona_id: str, name: str) -> None:
        """Extract facts from all sessions of the persona, then notify the user how many facts there are, unless it was
        stopped.
        """
        self._is_stopped, self.is_running = False, True
        self.changed.emit(True)
        self._context.tasks.start_task(self._run_extraction(persona_id, name))

    async def _run_extraction(self, persona_id: str, name: str) -> None:
        try:
            is_done = await self._fact_extraction.extract_all(persona_id, self._show_progress)
        finally:
            self.is_running = False
            if not self._is_closed:
                self.hide()
                self.changed.emit(False)
        if is_done:
            facts = [fact for fact in await self._fact_service.facts_of(persona_id) if not (fact.superseded or fact.in_story)]
            fact_count = format_count(len(facts), self.tr("{n} fact"), self.tr("{n} facts"))
            self._context.notifier.notify(self.tr("{name} now knows {facts}.").format(name=name, facts=fact_count))

    def stop_extraction(self) -> None:
        """Stop the extraction after the current session."""
        self._is_stopped = True

    def close_bar(self) -> None:
        """Stop the extraction because the page is closing; the widgets are not touched any more."""
        self._is_stopped = self._is_closed = True

    def _show_progress(self, done: int, total: int) -> bool:
        if not self._is_closed:
            self.progress_bar.setRange(0, max(total, 1))
            self.progress_bar.setValue(done)
            locale = QLocale()
            text = self.tr("Reading conversation {place} of {total}…")
            self.progress_label.set_full_text(
                text.format(place=locale.toString(min(done + 1, total)), total=locale.toString(total))
            )
            self.show()
        return not self._is_stopped
