"""Page “Search everything”: one search field for messages, summaries, memories, facts, world entries and documents."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from uuid import UUID

from PySide6.QtCore import QCoreApplication, QSignalBlocker, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QButtonGroup, QWidget

from lethe_app.domain.chat import ChatSession
from lethe_app.domain.list_items import HitKind, SearchHit
from lethe_app.services.indexing.worlds import owner_of_world
from lethe_app.services.library import Library
from lethe_app.services.search.everything import MAX_HITS, SearchService
from lethe_app.services.sessions.editing import SessionEditing
from lethe_app.ui.core.accessibility import announce
from lethe_app.ui.core.formatting import format_count, format_session_title, truncate_text
from lethe_app.ui.core.labels.dates import format_date, format_date_time
from lethe_app.ui.core.palette import SPACE_1
from lethe_app.ui.core.routes import DocumentsRoute, FactsRoute, MemoriesRoute, Route, SearchRoute, WorldsRoute
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.record_page.base import ReloadingPage
from lethe_app.ui.pages.search.results import ResultLine, ResultList
from lethe_app.ui.widgets.buttons import build_chip
from lethe_app.ui.widgets.fields import NoWheelComboBox
from lethe_app.ui.widgets.flow_layout import FlowLayout
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.table import SearchField

WORD_DELAY_MS, MEANING_DELAY_MS = 60, 350
"""Pause in typing, in milliseconds, before a search by word and before one by meaning, which costs more."""
TASK_KEY = "find in everything"


class SearchPage(ReloadingPage):
    """Page with the search field and results grouped by conversation, those of the open conversation first."""

    def __init__(self, context: PageContext, search: SearchService, session_editing: SessionEditing, library: Library) -> None:
        super().__init__(context, QCoreApplication.translate("SearchPage", "Search everything"))
        self._task_keys.append(TASK_KEY)
        self._search_service, self._session_editing, self._library = search, session_editing, library
        self._current_session: ChatSession | None = context.current_session()
        self._names: dict[str, str] = {}
        self._worlds: dict[str, str] = {}
        """Names of the worlds by file name."""
        self._is_outdated = False
        """True while the hits of the text before are still on display."""
        self._build()
        self._connect()
        self.reload()

    def _build(self) -> None:
        self.search = SearchField(self.theme, self.tr("Search words, or an exact “phrase”"))
        self.persona_box = NoWheelComboBox()
        self.persona_box.setAccessibleName(self.tr("Persona"))
        self.persona_box.addItem(self.tr("All personas"), "")
        self.persona_box.setMaximumWidth(260)
        self._scopes = QButtonGroup(self)
        self.everywhere_chip, self.this_session_chip = map(build_chip, (self.tr("Everywhere"), self.tr("This conversation")))
        self._scopes.addButton(self.everywhere_chip)
        self._scopes.addButton(self.this_session_chip)
        self.everywhere_chip.setChecked(True)
        self.this_session_chip.setEnabled(self._current_session is not None)
        hint = self.tr("Search for a similar meaning instead of the same words")
        self.by_meaning_chip = build_chip(self.tr("By meaning"), hint)
        self.hint = build_small_label("")
        self.result_list = ResultList(self.theme, self.tr("Search results"))
        self._empty_text = self.tr("Search messages, summaries, memories, facts, world entries and documents.")
        self.result_list.empty_text = self._empty_text
        self.search.down_pressed.connect(self.result_list.setFocus)
        self.result_list.up_pressed.connect(self.search.setFocus)
        chips = QWidget()
        flow = FlowLayout(chips, spacing=SPACE_1)
        for chip in (self.everywhere_chip, self.this_session_chip, self.by_meaning_chip):
            flow.addWidget(chip)
        self.add_head(self.build_search_row(self.search, [self.persona_box]), chips, self.hint)
        self.body.addWidget(self.result_list, 1)

    def _connect(self) -> None:
        self._search_timer = QTimer(self, singleShot=True, interval=WORD_DELAY_MS)
        self._search_timer.timeout.connect(self._start_search)
        self.search.textChanged.connect(lambda _text: self._search_timer.start())
        self.search.returnPressed.connect(self._search_or_open)
        self.persona_box.currentIndexChanged.connect(lambda _place: self._start_search())
        self._scopes.buttonClicked.connect(lambda _chip: self._on_scope_changed())
        self.by_meaning_chip.toggled.connect(lambda _on: self._on_scope_changed())
        self.result_list.opened.connect(lambda line: self.open_hit(line.hit))

    def first_focus_widget(self) -> QWidget:
        return self.search

    def showEvent(self, event: QShowEvent) -> None:
        """Search again, because a result may have been changed or deleted on the page it opened."""
        super().showEvent(event)
        if self.search.text().strip() and not event.spontaneous():
            self._start_search()

    def show_route(self, route: Route) -> None:
        if isinstance(route, SearchRoute) and route.text:
            self.search.setText(route.text)
        else:
            self.search.selectAll()  # what is typed replaces the text of the search before

    # what is looked for

    def _on_scope_changed(self) -> None:
        """Search again after the scope or method was changed; by meaning, a single conversation cannot be searched."""
        is_meaning = self.by_meaning_chip.isChecked()
        if is_meaning:
            self.everywhere_chip.setChecked(True)
        self.this_session_chip.setEnabled(self._current_session is not None and not is_meaning)
        self.persona_box.setEnabled(not self.this_session_chip.isChecked())
        self._search_timer.setInterval(MEANING_DELAY_MS if is_meaning else WORD_DELAY_MS)
        self.search.setFocus()
        self._start_search()

    def _search_or_open(self) -> None:
        """Open the selected result. If those of the whole text are not on display yet, search first."""
        if self._search_timer.isActive() or self._is_outdated:
            self._start_search(opens_result=True)
        elif self.result_list.current is not None:
            self.open_hit(self.result_list.current)

    def _start_search(self, *, opens_result: bool = False) -> None:
        self._search_timer.stop()
        self._context.tasks.start_task(self._search(self.search.text(), opens_result=opens_result), key=TASK_KEY)

    async def _search(self, text: str, *, opens_result: bool) -> None:
        self._is_outdated = True
        hits: list[SearchHit] = []
        persona, open_session = str(self.persona_box.currentData() or ""), self._current_session
        if self.by_meaning_chip.isChecked() and text.strip():
            open_persona = open_session.persona_id if open_session is not None else ""
            personas = sorted(self._names, key=lambda name: name != open_persona)  # whom the user talks with is asked first
            asked = ([persona], ()) if persona else (personas, self._worlds)
            hits = await self._search_service.search_by_meaning(text, *asked)
            self._show_hits(hits)
        elif text.strip():
            is_here = self.this_session_chip.isChecked()
            session = open_session.guid if is_here and open_session is not None else None
            hits = await self._search_words(text, persona, session)
            if not hits and (corrected := await self._search_service.correct_spelling(text)):
                hits = await self._search_words(corrected, persona, session)
                if hits:
                    template = self.tr("No results for “{typed}”. Results for “{found}”:")
                    self.hint.setText(template.format(typed=text.strip(), found=corrected))
        if not hits:
            self._show_hits([])
        if text.strip():
            announce(self.hint, self.hint.text() or self.result_list.empty_text)
        if opens_result and self.result_list.current is not None:
            self.open_hit(self.result_list.current)

    async def _search_words(self, text: str, persona: str, session: UUID | None) -> list[SearchHit]:
        """Search by words and show the hits as they are found; what was found before stays until then."""
        hits: list[SearchHit] = []
        async for batch in self._search_service.search_by_words(text, persona or None, session):
            hits += batch
            if hits:
                self._show_hits(hits)
        return hits

    def _show_hits(self, hits: list[SearchHit]) -> None:
        self._is_outdated = False
        has_query = bool(self.search.text().strip())
        no_results_text = self.tr("No results. Try fewer words or turn on “By meaning”.")
        self.result_list.empty_text = no_results_text if has_query else self._empty_text
        self.result_list.fill([line for group in self._group_hits(hits) for line in self._build_lines(group)])
        self.hint.setText(self._summary_text(hits) if hits else "")

    def _summary_text(self, hits: list[SearchHit]) -> str:
        if len(hits) >= MAX_HITS and not self.by_meaning_chip.isChecked():
            return self.tr("First {n} results; add words to narrow the search").format(n=len(hits))
        summary = format_count(len(hits), self.tr("{n} result"), self.tr("{n} results"))
        sessions = {session for hit in hits for session in (hit.session, *hit.other_sessions) if session is not None}
        if session_count := len(sessions):
            conversations = format_count(session_count, self.tr("{n} conversation"), self.tr("{n} conversations"))
            summary = self.tr("{places} in {conversations}").format(places=summary, conversations=conversations)
        return f"{summary} · {self.tr('Enter opens the result')}"

    # how it is shown

    def _group_hits(self, hits: Iterable[SearchHit]) -> list[list[SearchHit]]:
        """Group the hits by conversation, world or document: those with the whole words first, among them the open
        conversation, then the newest; by meaning in the order of the hits.
        """
        by_place: dict[tuple[str, UUID | None, str, UUID | None], list[SearchHit]] = {}
        for hit in hits:
            by_place.setdefault((hit.persona_id, hit.session, hit.world, hit.document), []).append(hit)
        groups = list(by_place.values())
        if not self.by_meaning_chip.isChecked():
            for group in groups:
                group.sort(key=lambda hit: (hit.kind is HitKind.MESSAGE, hit.when), reverse=group[0].session is None)
                group.sort(key=lambda hit: not hit.is_exact)
            groups.sort(key=lambda group: max(hit.when for hit in group), reverse=True)
            groups.sort(key=lambda group: (not group[0].is_exact, not self._is_in_open_session(group[0])))
        return groups

    def _is_in_open_session(self, hit: SearchHit) -> bool:
        return self._current_session is not None and hit.session == self._current_session.guid

    def _build_lines(self, group: list[SearchHit]) -> list[ResultLine]:
        """Return the heading of a group, and its hits."""
        title, detail = self._format_heading(group)
        lines = (ResultLine(hit.text, partial(self._hit_detail, hit), hit) for hit in group)
        return [ResultLine(title, lambda: detail), *lines]

    def _format_heading(self, group: list[SearchHit]) -> tuple[str, str]:
        """Return the title of a group, and what stands beside it, such as the persona and the dates."""
        hit = group[0]
        name = self._names.get(hit.persona_id, hit.persona_id.capitalize())
        if hit.world:
            return self.tr("World · {name}").format(name=hit.title), ""
        if hit.document is not None:
            world = next((self._worlds[key] for key in self._worlds if owner_of_world(key) == hit.persona_id), "")
            owner = self.tr("World · {name}").format(name=world) if world else name
            return self.tr("Document · {name}").format(name=hit.title), owner
        if hit.session is None:
            return self.tr("Memories of {name}").format(name=name), ""
        title = format_session_title(next((one.title for one in group if one.title), ""))
        if self._is_in_open_session(hit):
            return title, self.tr("this conversation")
        first, last = (format_date(pick(one.when for one in group).timestamp()) for pick in (min, max))
        dates = first if first == last else self.tr("{first} to {last}").format(first=first, last=last)
        return title, f"{name} · {dates}"

    def _hit_detail(self, hit: SearchHit) -> str:
        moment = format_date_time(hit.when)
        match hit.kind:
            case HitKind.MESSAGE:
                others = self.tr("also in {n} other conversation"), self.tr("also in {n} other conversations")
                more = format_count(len(hit.other_sessions), *others) if hit.other_sessions else ""
                return " · ".join(filter(None, (hit.speaker, moment, more)))
            case HitKind.SUMMARY:
                return self.tr("Summary")
            case HitKind.FACT:
                text = self.tr("Replaced fact · {day}") if hit.is_over else self.tr("Fact · {day}")
                return text.format(day=format_date(hit.when.timestamp()))
            case HitKind.WORLD:
                return self.tr("World entry")
            case HitKind.DOCUMENT:
                return hit.location
            case HitKind.MEMORY:
                return self.tr("Memory · {day}").format(day=format_date(hit.when.timestamp()))

    async def load(self) -> None:
        self._names = {persona.unique_name: persona.name for persona in await self._library.personas()}
        self._worlds = {world: content.name for world, content in (await self._library.worlds()).items()}
        with QSignalBlocker(self.persona_box):
            for unique_name, name in self._names.items():
                self.persona_box.addItem(name, unique_name)
        if self._current_session is not None:
            title = truncate_text(self._current_session.name) if self._current_session.name else ""
            self.this_session_chip.setToolTip(title)

    # where it leads

    def open_hit(self, hit: SearchHit) -> None:
        """Open the message, memory, fact, world entry or passage of a hit."""
        self._context.tasks.start_task(self._open_hit(hit), key="find go")

    async def _open_hit(self, hit: SearchHit) -> None:
        if hit.kind is HitKind.MESSAGE and hit.session is not None:
            await self._session_editing.select_branch_of(hit.session, hit.id)
            self._context.open_session(hit.session, hit.id)
        elif hit.kind is HitKind.MEMORY:
            self._context.navigator.open(MemoriesRoute(hit.persona_id, hit.id))
        elif hit.kind is HitKind.WORLD:
            self._context.navigator.open(WorldsRoute(hit.world, hit.id))
        elif hit.kind is HitKind.DOCUMENT:
            self._context.navigator.open(DocumentsRoute(hit.persona_id, hit.document, hit.id))
        elif hit.kind is HitKind.FACT:
            await self._open_fact_source(hit)
        elif hit.session is not None:
            self._context.open_session(hit.session, None)

    async def _open_fact_source(self, hit: SearchHit) -> None:
        """Go to the message a fact was extracted from if it still exists; a superseded fact is shown on the facts page."""
        source = None if hit.is_over else await self._search_service.find_fact_source(hit.id)
        if source is not None:
            await self._session_editing.select_branch_of(*source)
            self._context.open_session(*source)
        elif hit.session is not None:
            self._context.open_session(hit.session, None)
        else:
            self._context.navigator.open(FactsRoute(hit.persona_id, hit.id))
