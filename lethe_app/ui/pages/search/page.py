"""Page “Search everything”: one search field for messages, summaries, memories, facts and world entries."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from uuid import UUID

from PySide6.QtCore import QCoreApplication, QSignalBlocker, QTimer
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from lethe_app.domain.chat import ChatSession
from lethe_app.domain.list_items import HitKind, SearchHit
from lethe_app.services.search.everything import MOST
from lethe_app.ui.core.formatting import counted
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.memories.labels import day_of, moment_in_words
from lethe_app.ui.pages.page import Page, explanation
from lethe_app.ui.pages.search.results import FoundList, ResultGroup, ResultLine
from lethe_app.ui.pages.sessions.labels import shortened
from lethe_app.ui.widgets.fields import NoWheelComboBox
from lethe_app.ui.widgets.flow_layout import Flow
from lethe_app.ui.widgets.table import SearchField

TYPED_MS, MEANT_MS = 60, 350
"""Pause in typing, in milliseconds, before a search by word and before one by meaning, which costs more."""
LANE = "find in everything"


class SearchPage(Page):
    """Page with the search field and results grouped by conversation, those of the open conversation first."""

    def __init__(self, place: PageContext) -> None:
        super().__init__(place.theme, QCoreApplication.translate("SearchPage", "Search everything"))
        self._place, self._services = place, place.services
        self._here: ChatSession | None = place.session()
        self._names: dict[str, str] = {}
        self._hits: list[SearchHit] = []
        self._build()
        self._connect()
        place.bridge.spawn(self._read_names())

    def _build(self) -> None:
        self.search = SearchField(self.theme, self.tr("Search words, or an exact “phrase”"))
        self.whose = NoWheelComboBox()
        self.whose.setAccessibleName(self.tr("Persona"))
        self.whose.addItem(self.tr("All personas"), "")
        self.whose.setMaximumWidth(260)
        self._scopes = QButtonGroup(self)
        self.here, self.everywhere = self._chip(self.tr("This conversation")), self._chip(self.tr("Everywhere"))
        for chip in (self.here, self.everywhere):
            self._scopes.addButton(chip)
        self.everywhere.setChecked(True)
        self.here.setEnabled(self._here is not None)
        self.by_meaning = self._chip(self.tr("By meaning"))
        self.by_meaning.setToolTip(self.tr("Search for a similar meaning instead of the same words"))
        self.hint = explanation("")
        self.found = FoundList(self.theme, self.tr("Search results"))
        self._invitation = self.tr("Search messages, summaries, memories, facts and world entries.")
        self.found.words = self._invitation
        self.search.below = self.found
        self.found.above = self.search
        self._lay_out()

    def _lay_out(self) -> None:
        line, above, chips = QHBoxLayout(), QWidget(), QWidget()
        line.setSpacing(SPACE_2)
        line.addWidget(self.search, 1)
        line.addWidget(self.whose)
        flow = Flow(chips, spacing=SPACE_1)
        for chip in (self.everywhere, self.here, self.by_meaning):
            flow.addWidget(chip)
        head = QVBoxLayout(above)
        head.setContentsMargins(SPACE_4, SPACE_3, SPACE_4, SPACE_2)
        head.setSpacing(SPACE_2)
        head.addLayout(line)
        head.addWidget(chips)
        head.addWidget(self.hint)
        self.body.addWidget(above)
        self.body.addWidget(self.found, 1)

    def _connect(self) -> None:
        self._typed = QTimer(self, singleShot=True, interval=TYPED_MS)
        self._typed.timeout.connect(self._begin)
        self.search.textChanged.connect(lambda _text: self._typed.start())
        self.search.returnPressed.connect(self._enter)
        self.whose.currentIndexChanged.connect(lambda _place: self._begin())
        self._scopes.buttonClicked.connect(lambda _chip: self._switch())
        self.by_meaning.toggled.connect(lambda _on: self._switch())
        self.found.opened.connect(self.go_to)

    def _chip(self, words: str) -> QPushButton:
        chip = QPushButton(words)
        chip.setProperty("chip", True)
        chip.setCheckable(True)
        return chip

    def first_focus(self) -> QWidget:
        return self.search

    def close_page(self) -> None:
        self._place.bridge.cancel(LANE)

    # what is looked for

    def _switch(self) -> None:
        """Search again after the scope or method was changed; by meaning, a single conversation cannot be searched."""
        is_meaning = self.by_meaning.isChecked()
        if is_meaning:
            self.everywhere.setChecked(True)
        self.here.setEnabled(self._here is not None and not is_meaning)
        self.whose.setEnabled(not self.here.isChecked())
        self._typed.setInterval(MEANT_MS if is_meaning else TYPED_MS)
        self.search.setFocus()
        self._begin()

    def _enter(self) -> None:
        """Open the selected result. If typing has not paused yet, search first, so that the whole text counts."""
        if self._typed.isActive():
            self._typed.stop()
            self._place.bridge.spawn(self._find_and_go(self.search.text()), lane=LANE)
        elif self.found.current is not None:
            self.go_to(self.found.current)

    async def _find_and_go(self, text: str) -> None:
        await self._find(text)
        if self.found.current is not None:
            self.go_to(self.found.current)

    def _begin(self) -> None:
        self._typed.stop()
        self._place.bridge.spawn(self._find(self.search.text()), lane=LANE)

    async def _find(self, text: str) -> None:
        hits: list[SearchHit] = []
        persona = str(self.whose.currentData() or "")
        if self.by_meaning.isChecked() and text.strip():
            here = self._here.persona_id if self._here is not None else ""
            everybody = sorted(self._names, key=lambda name: name != here)  # whom the user talks with is asked first
            hits = await self._services.finding.by_meaning(text, [persona] if persona else everybody)
            self._show(hits)
        elif text.strip():
            session = self._here.guid if self.here.isChecked() and self._here is not None else None
            async for some in self._services.finding.by_words(text, persona or None, session):
                hits += some
                if hits:  # what was found before stays until there is something else
                    self._show(hits)
        if not hits:
            self._show([])

    def _show(self, hits: list[SearchHit]) -> None:
        self._hits = list(hits)
        lines = [line for group in self._groups(hits) for line in self._lines(group)]
        asked = bool(self.search.text().strip())
        nothing = self.tr("No results. Try fewer words or turn on “By meaning”.")
        self.found.words = nothing if asked else self._invitation
        self.found.show_lines(lines)
        self.hint.setText(self._told(hits) if hits else "")

    def _told(self, hits: list[SearchHit]) -> str:
        places = counted(len(hits), self.tr("{n} result"), self.tr("{n} results"))
        talks = len({hit.session for hit in hits if hit.session is not None})
        inside = counted(talks, self.tr("{n} conversation"), self.tr("{n} conversations"))
        told = self.tr("{places} in {conversations}").format(places=places, conversations=inside) if talks else places
        if len(hits) >= MOST and not self.by_meaning.isChecked():
            return self.tr("First {n} results; add words to narrow the search").format(n=len(hits))
        return f"{told} · {self.tr('Enter opens the result')}"

    # how it is shown

    def _groups(self, hits: Iterable[SearchHit]) -> list[ResultGroup]:
        """Group the hits by conversation or world: the open conversation first, then the newest; by meaning in the order of
        the hits.
        """
        by: dict[tuple[str, UUID | None, str], list[SearchHit]] = {}
        for hit in hits:
            by.setdefault((hit.persona_id, hit.session, hit.world), []).append(hit)
        groups = [self._group(persona, session, found) for (persona, session, _world), found in by.items()]
        if not self.by_meaning.isChecked():
            groups.sort(key=lambda group: group.when, reverse=True)
        return sorted(groups, key=lambda group: not group.is_here)

    def _group(self, persona: str, session: UUID | None, hits: list[SearchHit]) -> ResultGroup:
        name, when = self._names.get(persona, persona.capitalize()), max(hit.when for hit in hits)
        if not self.by_meaning.isChecked():
            hits = sorted(hits, key=lambda hit: (hit.kind is HitKind.MESSAGE, hit.when), reverse=session is None)
        if hits[0].world:
            return ResultGroup(self.tr("World · {name}").format(name=hits[0].title), "", when, None, hits)
        if session is None:
            return ResultGroup(self.tr("Memories of {name}").format(name=name), "", when, None, hits)
        is_here = self._here is not None and session == self._here.guid
        title = next((hit.title for hit in hits if hit.title), "") or self.tr("Untitled conversation")
        days = sorted({day_of(hit.when.timestamp()): hit.when for hit in hits}.values())
        span = day_of(days[0].timestamp())
        if len(days) > 1:
            span = self.tr("{first} to {last}").format(first=span, last=day_of(days[-1].timestamp()))
        detail = self.tr("this conversation") if is_here else f"{name} · {span}"
        return ResultGroup(title, detail, when, session, hits, is_here)

    def _lines(self, group: ResultGroup) -> list[ResultLine]:
        places = (ResultLine(hit.text, partial(self._detail, hit), hit) for hit in group.hits)
        return [ResultLine(group.title, lambda: group.detail), *places]

    def _detail(self, hit: SearchHit) -> str:
        moment = moment_in_words(hit.when)
        match hit.kind:
            case HitKind.MESSAGE:
                return f"{hit.speaker} · {moment}" if hit.speaker else moment
            case HitKind.SUMMARY:
                return self.tr("Summary")
            case HitKind.FACT:
                words = self.tr("Replaced fact · {day}") if hit.is_over else self.tr("Fact · {day}")
                return words.format(day=day_of(hit.when.timestamp()))
            case HitKind.WORLD:
                return self.tr("World entry")
            case HitKind.MEMORY:
                return self.tr("Memory · {day}").format(day=day_of(hit.when.timestamp()))

    async def _read_names(self) -> None:
        self._names = {persona.unique_name: persona.name for persona in await self._services.library.personas()}
        with QSignalBlocker(self.whose):
            for unique_name, name in self._names.items():
                self.whose.addItem(name, unique_name)
        if self._here is not None:
            title = shortened(self._here.name) if self._here.name else ""
            self.here.setToolTip(title)

    # where it leads

    def go_to(self, hit: SearchHit) -> None:
        """Open the message, memory, fact or world entry of a hit."""
        self._place.bridge.spawn(self._go(hit), lane="find go")

    async def _go(self, hit: SearchHit) -> None:
        if hit.kind is HitKind.MESSAGE and hit.session is not None:
            await self._services.finding.reveal(hit.session, hit.id)
            self._place.go_to(hit.session, hit.id)
        elif hit.kind is HitKind.MEMORY:
            self._open_memory(hit)
        elif hit.kind is HitKind.WORLD:
            await self._open_entry(hit)
        elif hit.kind is HitKind.FACT:
            await self._go_to_fact(hit)
        elif hit.session is not None:
            self._place.go_to(hit.session, None)

    async def _go_to_fact(self, hit: SearchHit) -> None:
        """Go to the message a fact was extracted from if it still exists; a superseded fact is shown on the facts page."""
        found = None if hit.is_over else await self._services.finding.place_of_fact(hit.id)
        if found is not None:
            await self._services.finding.reveal(*found)
            self._place.go_to(*found)
        elif hit.session is not None:
            self._place.go_to(hit.session, None)
        else:
            self._open_fact(hit)

    def _open_memory(self, hit: SearchHit) -> None:
        from lethe_app.ui.pages.memories.page import MemoryPage  # noqa: PLC0415 - only where a memory is opened

        page = self._place.desk.open(lambda: MemoryPage(self._place))
        assert isinstance(page, MemoryPage)
        page.show_memory(hit.persona_id, hit.id)

    async def _open_entry(self, hit: SearchHit) -> None:
        from lethe_app.ui.pages.worlds.page import WorldPage  # noqa: PLC0415 - only where an entry is opened

        page = self._place.desk.open(lambda: WorldPage(self._place))
        assert isinstance(page, WorldPage)
        await page.open_entry(hit.world, hit.id)

    def _open_fact(self, hit: SearchHit) -> None:
        from lethe_app.ui.pages.facts.page import FactPage  # noqa: PLC0415 - only where a fact is opened

        page = self._place.desk.open(lambda: FactPage(self._place))
        assert isinstance(page, FactPage)
        page.show_fact(hit.persona_id, hit.id)
