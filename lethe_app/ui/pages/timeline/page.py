"""Page “What do you remember about me?”: the facts about the user by month, each with a link to its source."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QDate, QLocale, QTimer
from PySide6.QtWidgets import QApplication, QFileDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from lethe_app.services.search.timeline import Headings, Month, Timeline, TimelineConversation, TimelineItem, as_markdown
from lethe_app.services.sessions.fact_extraction import FactAbsence
from lethe_app.ui.core.formatting import counted
from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.dialogs.dialogs import answered
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.facts.labels import absence_in_words
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.persona_selector import Whose
from lethe_app.ui.pages.timeline.list import TimelineList, TimelineModel, TimelineRow, TimelineRowKind, passing
from lethe_app.ui.widgets.table import SearchField

CHANGED_MS = 300
NOTHING = Timeline("", "", ())


class TimelinePage(Page):
    """Page with the pinned facts first and then the others by month; each row opens its source."""

    def __init__(self, place: PageContext) -> None:
        super().__init__(place.theme, QCoreApplication.translate("TimelinePage", "What do you remember about me?"))
        self._place, self._services = place, place.services
        self._known = NOTHING
        self._absence: FactAbsence | None = None
        self.lines = TimelineModel(self)
        self._build()
        self._soon = QTimer(self, singleShot=True, interval=CHANGED_MS)
        self._soon.timeout.connect(self._read_soon)
        self._stop = [
            self._services.knowing.changed.add(self._changed_behind),
            self._services.sessions.changed.add(self._changed_behind),
        ]
        self.whose.chosen.connect(lambda _persona: self._read_soon())
        self.whose.announce_first()

    def _build(self) -> None:
        self.copy_button = self.add_button(self.tr("Copy"), self.copy, "copy")
        self.save_button = self.add_button(self.tr("Save as text…"), self.save, "export")
        self.whose = Whose(self._place)
        self.whose.setAccessibleName(self.tr("Persona"))
        self.whose.setToolTip(self.tr("Persona"))
        self.search = SearchField(self.theme, self.tr("Search facts about you"))
        self.oldest_first = self._chip(self.tr("Oldest first"), self.tr("Sort from oldest to newest"))
        self.everybody = self._chip(self.tr("Include others"), self.tr("Show facts about everyone, not only about you"))
        self.list = TimelineList(self.lines, self.theme, self.tr("Facts about you"))
        self.list.opened.connect(self._open)
        self.search.below = self.list
        self.search.textChanged.connect(lambda _text: self._show())
        line = QHBoxLayout()
        line.setContentsMargins(SPACE_4, SPACE_3, SPACE_4, SPACE_2)
        line.setSpacing(SPACE_2)
        line.addWidget(self.whose)
        line.addWidget(self.search, 1)
        line.addWidget(self.oldest_first)
        line.addWidget(self.everybody)
        above = QWidget()
        column = QVBoxLayout(above)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(line)
        self.body.addWidget(above)
        self.body.addWidget(self.list, 1)

    def _chip(self, words: str, more: str) -> QPushButton:
        chip = QPushButton(words)
        chip.setProperty("chip", True)
        chip.setCheckable(True)
        chip.setToolTip(more)
        chip.toggled.connect(lambda _on: self._show())
        return chip

    def first_focus(self) -> QWidget:
        return self.list

    def close_page(self) -> None:
        self.whose.close_field()
        self._soon.stop()
        for stop in self._stop:
            stop()

    # reading

    def _changed_behind(self, persona: str) -> None:
        if persona == self.whose.persona:
            self._soon.start()

    def _read_soon(self) -> None:
        self._place.bridge.spawn(self._read(self.whose.persona), lane="timeline")

    async def _read(self, persona: str) -> None:
        known = await self._services.browsing.timeline(persona)
        absence = None if known.known else await self._services.fact_extraction.explain_absence(persona)
        self._known, self._absence = known, absence
        self._show()

    @property
    def _is_of_all(self) -> bool:
        """True if facts about others are shown: on request, or if no fact mentions the user, who may have used another name."""
        return self.everybody.isChecked() or not any(one.about_user for one in self._known.known)

    def _show(self) -> None:
        name = self._known.persona
        self.lines.fill(list(passing(list(self._rows()), self.search.text())))
        count = sum(row.kind is TimelineRowKind.LINE for row in self.lines.shown)
        things = counted(count, self.tr("{n} fact"), self.tr("{n} facts"))
        self.subtitle.set_full(self.tr("{name} remembers {things}").format(name=name, things=things) if count else "")
        self.everybody.setEnabled(any(one.about_user for one in self._known.known))
        for button in (self.copy_button, self.save_button):
            button.setEnabled(bool(self._known.known))
        if self._known.known:
            self.list.empty = self.tr("No matches. Try fewer words.")
        elif self._absence is not None:
            self.list.empty = absence_in_words(self._absence)

    def _rows(self) -> Iterator[TimelineRow]:
        everybody = self._is_of_all
        if pinned := self._known.pinned(everybody=everybody):
            yield TimelineRow(TimelineRowKind.MONTH, self.tr("Pinned"))
            yield from (_line(one, "d MMM yyyy") for one in pinned)
        for month in self._known.months(everybody=everybody, newest_first=not self.oldest_first.isChecked()):
            yield TimelineRow(TimelineRowKind.MONTH, _month(month))
            for talk in month.talks:
                yield TimelineRow(TimelineRowKind.TALK, self._title_of(talk), session=talk.session)
                yield from map(_line, talk.known)

    def _title_of(self, talk: TimelineConversation) -> str:
        if talk.session is None:
            return self.tr("Added by you") if talk.by_user else self.tr("From a deleted conversation")
        return self.tr("From “{title}”").format(title=talk.title) if talk.title else self.tr("From an untitled conversation")

    # Opening sources and saving.

    def _open(self, row: TimelineRow) -> None:
        self._place.bridge.spawn(self._go(row), lane="timeline source")

    async def _go(self, row: TimelineRow) -> None:
        """Open the message a fact was extracted from, or else its conversation."""
        if row.known is None:
            if row.session is not None:
                self._place.go_to(row.session, None)
            return
        sources = await self._services.browsing.sources(row.known.fact)
        if sources:
            self._place.go_to(sources[0].session, sources[0].message)
        else:
            self._place.window.notifier.tell(self.tr("Added by you, or the conversation was deleted."))

    @property
    def text(self) -> str:
        """All facts as Markdown."""
        title = self.tr("What {name} remembers about me").format(name=self._known.persona)
        headings = Headings(title, self.tr("Pinned"), _month, self._title_of)
        return as_markdown(self._known, headings, everybody=self._is_of_all)

    def copy(self) -> None:
        """Copy all facts to the clipboard as Markdown."""
        QApplication.clipboard().setText(self.text)
        self._place.window.notifier.tell(self.tr("Copied to the clipboard."))

    def save(self) -> None:
        """Save all facts as a Markdown file."""
        self._place.bridge.spawn(self._save(), lane="timeline save")

    async def _save(self) -> None:
        dialog = QFileDialog(self._place.window, self.tr("Save facts"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(self.tr("Markdown (*.md)"))
        dialog.setDefaultSuffix("md")
        dialog.selectFile(f"{self._known.persona}.md")
        if await answered(dialog):
            path = Path(dialog.selectedFiles()[0])
            await self._services.browsing.save_text(path, self.text)
            self._place.window.notifier.tell(self.tr("Saved as {file}.").format(file=path.name))


def _month(month: Month) -> str:
    return QLocale().toString(QDate(month.year, month.month, 1), "MMMM yyyy")


def _line(known: TimelineItem, form: str = "d MMM") -> TimelineRow:
    day = QLocale().toString(QDate(known.when.year, known.when.month, known.when.day), form)
    return TimelineRow(TimelineRowKind.LINE, " ".join(known.fact.fact.split()), day, known, known.session)
