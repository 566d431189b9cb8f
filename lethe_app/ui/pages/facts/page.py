"""Page “Facts”: the facts of a persona, their sources, what superseded them, and all edits of them."""

from __future__ import annotations

from uuid import UUID

from PySide6.QtCore import QCoreApplication, QEvent, QLocale, QObject, QPoint, Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QMenu, QStackedWidget, QVBoxLayout, QWidget

from lethe_app.domain.facts import ExtractedFact
from lethe_app.services.search.memory_lists import Source
from lethe_app.ui.core.formatting import counted
from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, answered
from lethe_app.ui.pages import registry
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.facts.commands import FactEdits
from lethe_app.ui.pages.facts.detail import FactDetail
from lethe_app.ui.pages.facts.dialogs import NewFact, OneOfSeveral
from lethe_app.ui.pages.facts.empty_state import AbsentFacts
from lethe_app.ui.pages.facts.extraction_bar import ExtractionBar
from lethe_app.ui.pages.facts.kind_chips import KindChips, ViewChips
from lethe_app.ui.pages.facts.table_model import (
    BY,
    FIRST,
    KIND,
    LAST,
    TIMES,
    WEIGHT,
    FactListView,
    keeper,
    nothing_in_words,
    rows_of,
)
from lethe_app.ui.pages.memories.table_model import fit
from lethe_app.ui.pages.page import Page, explanation
from lethe_app.ui.pages.persona_selector import Whose
from lethe_app.ui.widgets.card_column import side_by_side
from lethe_app.ui.widgets.table import SearchField, Table

CHANGED_MS = 300
WIDTHS = {KIND: 88, TIMES: 84, FIRST: 112, LAST: 112, BY: 128, WEIGHT: 76}
DISPENSABLE = (KIND, LAST, TIMES, WEIGHT, FIRST, BY)
FACT_WIDTH = 480
"""Width in pixels of the fact column that the other columns give way to: many facts are long quotations."""


class FactPage(Page):
    """Page with the list of facts on the left and the selected fact with its sources on the right."""

    def __init__(self, place: PageContext) -> None:
        super().__init__(place.theme, QCoreApplication.translate("FactPage", "Facts"))
        self._place, self._services = place, place.services
        self._core: set[UUID] = set()
        self._known: dict[UUID, ExtractedFact] = {}
        self._wanted: UUID | None = None
        self.rows = rows_of(place.theme, self._core)
        self.edits = FactEdits(self, place, self._did)
        self._build()
        self._connect()
        self._filter()
        self.whose.announce_first()

    def _build(self) -> None:
        self.merge_button = self.add_button(self.tr("Merge facts…"), self.merge)
        self.merge_button.setToolTip(self.tr("Select two or more facts with the same meaning to merge them"))
        self.extract_button = self.add_button(self.tr("Extract again"), self.extract_again, "refresh")
        self.extract_button.setToolTip(self.tr("Extract facts again from all conversations with this persona"))
        self.add_button(self.tr("Add fact"), self.add, "plus", primary=True)
        self.whose = Whose(self._place)
        self.search = SearchField(self.theme, self.tr("Search facts"))
        self.views, self.kinds = ViewChips(), KindChips()
        self.core_words = explanation("")
        self.table: Table[ExtractedFact] = Table(self.rows, self.theme, self.tr("Facts"), "")
        self.detail = FactDetail()
        self.absent = AbsentFacts()
        self.extraction = ExtractionBar(self._place)
        self.search.below = self.table
        self._lay_out()

    def _lay_out(self) -> None:
        line = QHBoxLayout()
        line.setSpacing(SPACE_2)
        line.addWidget(self.whose)
        line.addWidget(self.search, 1)
        above = QWidget()
        head = QVBoxLayout(above)
        head.setContentsMargins(SPACE_4, SPACE_3, SPACE_4, SPACE_2)
        head.setSpacing(SPACE_2)
        head.addLayout(line)
        head.addWidget(self.views)
        head.addWidget(self.kinds)
        head.addWidget(self.core_words)
        self.lists = QStackedWidget()
        self.lists.addWidget(side_by_side(self.table, self.detail))
        self.lists.addWidget(self.absent)
        self.body.addWidget(above)
        self.body.addWidget(self.extraction)
        self.body.addWidget(self.lists, 1)

    def _connect(self) -> None:
        self._soon = QTimer(self, singleShot=True, interval=CHANGED_MS)
        self._soon.timeout.connect(self._read_soon)
        self._stop = self._services.knowing.changed.add(self._changed_behind)
        self.whose.chosen.connect(self._show_persona)
        self.search.textChanged.connect(lambda _text: self._filter())
        self.views.changed.connect(self._filter)
        self.kinds.changed.connect(self._filter)
        self.absent.settings_wanted.connect(lambda: registry.show_setting(self._place, "fact_retrieval"))
        self.absent.extraction_wanted.connect(self.extract_again)
        self.extraction.ended.connect(self._extracted)
        self.table.current_changed.connect(self._show)
        self.table.opened.connect(lambda _fact: self.detail.field.setFocus())
        self.table.delete_wanted.connect(self.forget_facts)
        self.table.menu_wanted.connect(self._show_menu)
        self.table.viewport().installEventFilter(self)
        self.table.selectionModel().selectionChanged.connect(lambda *_which: self._follow_selection())
        self.detail.worded.connect(lambda fact, text: self.edits.word(self.whose.persona, fact, text))
        self.detail.pin_wanted.connect(lambda fact, on: self.edits.pin(self.whose.persona, fact, pinned=on))
        self.detail.forget_wanted.connect(lambda fact: self.forget_facts([fact]))
        self.detail.restore_wanted.connect(self._restore)
        self.detail.source_wanted.connect(self._go_to_source)
        self.detail.fact_wanted.connect(self.go_to)

    @property
    def view(self) -> FactListView:
        """The view on display, which decides which facts are listed."""
        return self.views.view

    def show_view(self, view: FactListView) -> None:
        """Switch to another view, without a restriction to kinds."""
        self.views.choose(view)
        self.kinds.turn_off()
        self._filter()

    def first_focus(self) -> QWidget:
        return self.search

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.table.viewport():
            fit(self.table, WIDTHS, DISPENSABLE, FACT_WIDTH)
        return False

    async def may_leave(self) -> bool:
        self.detail.apply_text()
        return True

    def close_page(self) -> None:
        self.whose.close_field()
        self.extraction.close_bar()
        self.edits.is_open = False
        self._soon.stop()
        self._stop()

    # the list

    def _changed_behind(self, persona: str) -> None:
        if persona == self.whose.persona:
            self._soon.start()

    def _show_persona(self, _persona: str) -> None:
        self._known.clear()
        self._core.clear()
        self.rows.fill([])
        self._read_soon()

    def _read_soon(self) -> None:
        self._place.bridge.spawn(self._read(self.whose.persona), lane="fact list")

    async def _read(self, persona: str) -> None:
        facts = await self._services.knowing.all(persona)
        self._known = {fact.guid: fact for fact in facts}
        self.rows.fill(facts)
        self.kinds.offer({fact.kind for fact in facts})
        if not facts:
            self.absent.explain(await self._services.fact_extraction.explain_absence(persona))
        self.lists.setCurrentIndex(0 if facts else 1)
        for widget in (self.views, self.core_words):
            widget.setVisible(bool(facts))
        await self._read_core(persona)
        self._filter()
        wanted, self._wanted = self._wanted, None
        if wanted is not None:
            self.go_to(wanted)
        self._show(self.table.current)

    async def _read_core(self, persona: str) -> None:
        core = await self._services.browsing.core(persona)
        self._core.clear()
        self._core.update(core.facts)
        facts = counted(len(core.facts), self.tr("{n} fact is always included"), self.tr("{n} facts are always included"))
        locale = QLocale()
        words = self.tr("{facts}, using {share} % of the token budget.").format(
            facts=facts, share=locale.toString(round(100 * core.tokens / max(1, core.budget)))
        )
        none = self.tr("No facts are always included, because the token budget for facts in the settings is 0.")
        self.core_words.setText(words if core.budget else none)
        tokens = self.tr("{tokens} of {budget} tokens").format(
            tokens=locale.toString(core.tokens), budget=locale.toString(core.budget)
        )
        self.core_words.setToolTip(tokens)

    def _filter(self) -> None:
        listed, kinds = keeper(self.view, self._core), self.kinds.kinds
        self.table.unmatched = "" if self.search.text() or kinds else nothing_in_words(self.view)
        self.rows.filter(self.search.text(), lambda fact: listed(fact) and (not kinds or fact.kind in kinds))
        shown = counted(len(self.rows.shown), self.tr("{n} fact"), self.tr("{n} facts"))
        self.subtitle.set_full(shown)
        self._follow_selection()

    def _follow_selection(self) -> None:
        self.merge_button.setEnabled(len(self.table.selected) > 1)

    def show_fact(self, persona: str, guid: UUID) -> None:
        """Select a fact of the given persona as soon as its facts are loaded."""
        self._wanted = guid
        self.whose.choose(persona)

    def go_to(self, guid: UUID) -> None:
        """Select a fact; if the filters hide it, switch to a view that lists it."""
        if not self.table.go_to(guid) and (fact := self._known.get(guid)) is not None:
            self.search.clear()
            self.show_view(
                FactListView.REPLACED if fact.superseded else FactListView.STORY if fact.in_story else FactListView.KNOWN
            )
            self.table.go_to(guid)

    # one fact

    def _show(self, fact: ExtractedFact | None) -> None:
        if self.detail.fact is not None and (fact is None or fact.guid != self.detail.fact.guid):
            self.detail.apply_text()
        successor = self._known.get(fact.superseded_by) if fact is not None and fact.superseded_by else None
        self.detail.show_fact(fact, successor, is_core=fact is not None and fact.guid in self._core)
        if fact is not None:
            self._place.bridge.spawn(self._show_sources(fact), lane="fact sources")

    async def _show_sources(self, fact: ExtractedFact) -> None:
        sources = await self._services.browsing.sources(fact)
        if self.detail.fact is not None and self.detail.fact.guid == fact.guid:
            self.detail.show_sources(sources)

    def _go_to_source(self, source: Source) -> None:
        self._place.go_to(source.session, source.message)

    def _did(self, wanted: UUID | None) -> None:
        self._wanted = wanted or self._wanted
        self._read_soon()

    def _restore(self, fact: ExtractedFact, instead: bool) -> None:
        self.edits.restore(self.whose.persona, fact, instead=instead)

    # what the buttons do

    def extract_again(self) -> None:
        """Extract facts from all sessions of the persona again, one session after the other."""
        self.extract_button.setEnabled(False)
        self._place.bridge.spawn(self.extraction.run(self.whose.persona, self.whose.persona_name))

    def _extracted(self) -> None:
        self.extract_button.setEnabled(True)
        self._read_soon()

    def add(self) -> None:
        """Ask for the text of a new fact and add it."""
        self._place.bridge.spawn(self._add(), lane="fact dialog")

    async def _add(self) -> None:
        dialog = NewFact(self._place.window, self.whose.persona_name)
        if await answered(dialog):
            self.edits.add(self.whose.persona, dialog.words, pinned=dialog.pinned.isChecked())

    def merge(self) -> None:
        """Ask for one text and merge the selected facts."""
        facts = self.table.selected
        if len(facts) > 1:
            self._place.bridge.spawn(self._merge(facts), lane="fact dialog")

    async def _merge(self, facts: list[ExtractedFact]) -> None:
        dialog = OneOfSeveral(self._place.window, facts)
        if await answered(dialog):
            self.edits.merge(self.whose.persona, facts, dialog.words)

    def forget_facts(self, facts: list[ExtractedFact]) -> None:
        """Forget facts after confirmation, because a forgotten fact is not extracted again from the same session."""
        if facts:
            self._place.bridge.spawn(self._forget(facts), lane="fact dialog")

    async def _forget(self, facts: list[ExtractedFact]) -> None:
        words = facts[0].fact if len(facts[0].fact) <= 60 else f"{facts[0].fact[:59]}…"
        what = f"“{words}”" if len(facts) == 1 else self.tr("{n} facts").format(n=len(facts))
        question = ConfirmDialog(
            self._place.window,
            self.tr("Forget {what}?").format(what=what),
            self.tr(
                "{name} will no longer know it and will not learn it again from the same conversations. You can undo "
                "this right afterwards."
            ).format(name=self.whose.persona_name),
            self.tr("Forget {what}").format(what=what if len(what) <= 40 else self.tr("this fact")),
        )
        if await answered(question):
            take_back = self.edits.forget_facts(self.whose.persona, facts)
            told = self.tr("{what} was forgotten.") if len(facts) == 1 else self.tr("{what} were forgotten.")
            self._place.window.notifier.tell(told.format(what=what), button=self.tr("Undo"), action=take_back)

    def _show_menu(self, place: QPoint) -> None:
        facts = self.table.selected
        if not facts:
            return
        menu, one = QMenu(self), facts[0]
        # The menu is a child of the page and would otherwise exist until the page is closed.
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        pin = self.tr("Unpin") if one.pinned else self.tr("Pin")
        menu.addAction(pin, lambda: self.edits.pin(self.whose.persona, one, pinned=not one.pinned)).setEnabled(len(facts) == 1)
        menu.addAction(self.tr("Merge facts…"), self.merge).setEnabled(len(facts) > 1)
        menu.addAction(self.tr("Forget…"), lambda: self.forget_facts(facts))
        menu.popup(place)
