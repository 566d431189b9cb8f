"""Page “Overview”: the facts about the user by month, each with a link to its source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from uuid import UUID

from PySide6.QtCore import QCoreApplication, QDate, QLocale, QPoint, Qt
from PySide6.QtWidgets import QApplication, QWidget

from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryUnit
from lethe_app.errors import StorageError
from lethe_app.services.memory.facts import FactService
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.search.fact_lists import FactLists
from lethe_app.services.search.timeline import Timeline, TimelineConversation, TimelineItem
from lethe_app.services.sessions.editing import FactAbsence, FactExtraction
from lethe_app.services.sessions.service import SessionService
from lethe_app.ui.core.formatting import format_count, format_session_title
from lethe_app.ui.core.labels.facts import format_absence, format_kind
from lethe_app.ui.core.palette import SPACE_1
from lethe_app.ui.core.routes import FactsRoute
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.facts.commands import FactEdits
from lethe_app.ui.pages.overview.list import TimelineList, TimelineRow, TimelineRowKind, filter_rows
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.pages.record_page.base import ReloadingPage
from lethe_app.ui.widgets.buttons import build_chip
from lethe_app.ui.widgets.context_menu import MenuEntry, popup_menu
from lethe_app.ui.widgets.flow_layout import FlowLayout
from lethe_app.ui.widgets.table import SearchField, format_no_match

EMPTY_TIMELINE = Timeline("", "", ())


class OverviewPage(ReloadingPage):
    """Page with the pinned facts first and then the others by month; each row opens its source."""

    def __init__(
        self,
        context: PageContext,
        persona_selector: PersonaSelector,
        fact_lists: FactLists,
        fact_extraction: FactExtraction,
        facts: FactService,
        sessions: SessionService,
        memory: MemoryService,
    ) -> None:
        super().__init__(context, QCoreApplication.translate("OverviewPage", "Overview"), persona_selector)
        self._fact_lists, self._fact_extraction = fact_lists, fact_extraction
        self._sessions, self._memory = sessions, memory
        self._timeline = EMPTY_TIMELINE
        self._absence: FactAbsence | None = None
        self.edits = FactEdits(self, context, facts)
        self._build()
        self.follow(facts.changed, sessions.changed, memory.changed)
        persona_selector.chosen.connect(lambda _persona: self._show_persona())
        persona_selector.emit_chosen()

    def _build(self) -> None:
        self.copy_button = self.add_button(self.tr("Copy"), self.copy_facts, "copy")
        self.save_button = self.add_button(self.tr("Save as text…"), self.save_facts, "export")
        self.delete_day_button = self.add_button(
            self.tr("Delete a day…"), lambda: self._context.run_action("erase_day"), "trash"
        )
        self.search = SearchField(self.theme, self.tr("Search facts about you"))
        self.oldest_first_chip = build_chip(self.tr("Oldest first"), self.tr("Sort from oldest to newest"))
        self.by_topic_chip = build_chip(self.tr("Group by topic"), self.tr("Group the facts by topic instead of by month"))
        self.include_others_chip = build_chip(
            self.tr("About everyone"), self.tr("Show facts about everyone, not only about you")
        )
        self.fact_list = TimelineList(self.theme, self.tr("Facts about you"))
        self.fact_list.opened.connect(self._open_row)
        self.fact_list.edit_requested.connect(self._edit_fact)
        self.fact_list.forget_requested.connect(self._forget_fact)
        self.fact_list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.fact_list.customContextMenuRequested.connect(self._show_menu)
        self.search.down_pressed.connect(self.fact_list.setFocus)
        self.search.textChanged.connect(lambda _text: self._update_rows())
        self._chips = QWidget()
        flow = FlowLayout(self._chips, spacing=SPACE_1)
        for chip in (self.by_topic_chip, self.oldest_first_chip, self.include_others_chip):
            chip.toggled.connect(lambda _on: self._update_rows())
            flow.addWidget(chip)
        self.add_head(self.build_search_row(self.search), self._chips)
        self.body.addWidget(self.fact_list, 1)

    def first_focus_widget(self) -> QWidget:
        return self.fact_list

    # reading

    def _show_persona(self) -> None:
        """Clear the list, so that no fact of the persona before can be changed as one of the new persona's, and load it."""
        self._timeline, self._absence = EMPTY_TIMELINE, None
        self.fact_list.empty_text = ""
        self._update_rows()
        self.reload()

    async def load(self) -> None:
        persona_id = self.persona_id
        timeline = await self._fact_lists.load_timeline(persona_id)
        timeline = timeline.with_moments(await self._memory.memories(persona_id))
        absence = None if timeline.items else await self._fact_extraction.explain_absence(persona_id)
        self._timeline, self._absence = timeline, absence
        self._update_rows()

    @property
    def _includes_others(self) -> bool:
        """True if facts about others are shown: on request, or if no fact mentions the user, who may have used another name."""
        return self.include_others_chip.isChecked() or not any(item.about_user for item in self._timeline.items)

    def _update_rows(self) -> None:
        name = self._timeline.persona
        rows = self._build_rows(by_topic=self.by_topic_chip.isChecked(), newest_first=not self.oldest_first_chip.isChecked())
        self.fact_list.fill(filter_rows(rows, self.search.text()), keeps_place=True)
        count = sum(row.item is not None for row in self.fact_list.lines)
        if self.search.text().strip():
            text = format_count(count, self.tr("{n} fact found"), self.tr("{n} facts found"))
        else:
            things = format_count(count, self.tr("{n} fact"), self.tr("{n} facts"))
            text = self.tr("{name} remembers {things}").format(name=name, things=things) if count else ""
        self.subtitle.set_full_text(text)
        about_user = {one.about_user for one in self._timeline.items}
        self.include_others_chip.setVisible(len(about_user) > 1)  # else it changes nothing
        has_rows = bool(self._timeline.items or self._timeline.moments)
        for widget in (self.copy_button, self.save_button, self._chips):
            widget.setVisible(has_rows)
        if has_rows:
            self.fact_list.empty_text = format_no_match(self.search.text())
        elif self._absence is not None:
            moments = self.tr("What mattered in a day is added as key moments once the day is over.")
            parts = [format_absence(self._absence), *([moments] if self._absence.keeps_moments else [])]
            self.fact_list.empty_text = " ".join(parts)

    def _build_rows(self, *, by_topic: bool, newest_first: bool) -> Iterator[TimelineRow]:
        """Yield the pinned facts, and the others with the key moments by topic or by month, below their headings."""
        timeline, includes_others = self._timeline, self._includes_others
        pinned = timeline.pinned_items(include_others=includes_others)
        yield from self._build_group(TimelineRowKind.MONTH, self.tr("Pinned"), pinned)
        if by_topic:
            moments = timeline.listed_moments(include_others=includes_others, newest_first=newest_first)
            yield from self._build_group(TimelineRowKind.MONTH, self.tr("Key moments"), moments)
            topics = timeline.group_by_kind(include_others=includes_others, newest_first=newest_first)
            for kind, items in topics.items():
                yield from self._build_group(TimelineRowKind.MONTH, format_kind(kind), items)
            return
        for month in timeline.group_by_month(include_others=includes_others, newest_first=newest_first):
            title = QLocale().toString(QDate(month.year, month.month, 1), "MMMM yyyy")
            yield TimelineRow(title, TimelineRowKind.MONTH)
            yield from self._build_group(TimelineRowKind.TALK, self.tr("Key moments"), month.moments)
            for one in month.conversations:
                yield from self._build_group(TimelineRowKind.TALK, self._conversation_title(one), one.items, one.session)

    def _build_group(
        self,
        kind: TimelineRowKind,
        title: str,
        records: Sequence[TimelineItem | MemoryUnit],
        session: UUID | None = None,
    ) -> Iterator[TimelineRow]:
        """Yield a heading and the rows of facts or key moments below it, if there are any."""
        if records:
            yield TimelineRow(title, kind, session=session)
        date_format = "d MMM" if kind is TimelineRowKind.TALK else "d MMM yyyy"  # the year is that of the month
        for record in records:
            if isinstance(record, TimelineItem):
                day, text = _format_day(record.when, date_format), record.fact.fact
                yield TimelineRow(" ".join(text.split()), day=day, item=record, session=record.session)
            else:
                yield TimelineRow(" ".join(record.content.split()), day=self._format_period(record, date_format), moment=record)

    def _format_period(self, moment: MemoryUnit, date_format: str) -> str:
        """Return the day of a key moment, and that on which a newer fact replaced what it states."""
        began, end = moment.added.astimezone(), self._timeline.end_of(moment)
        day = _format_day(began, date_format)
        if end is None or end.date() <= began.date():
            return day
        return self.tr("{day}, until {end}").format(day=day, end=_format_day(end, date_format))

    def _conversation_title(self, conversation: TimelineConversation) -> str:
        if conversation.session is None:
            return self.tr("Added by you") if conversation.by_user else self.tr("From a deleted conversation")
        return (
            self.tr("From “{title}”").format(title=format_session_title(conversation.title))
            if conversation.title
            else self.tr("From an untitled conversation")
        )

    # Opening sources and saving.

    def _show_menu(self, point: QPoint) -> None:
        row = self.fact_list.line_at(self.fact_list.indexAt(point))
        if row is not None and row.can_open:
            popup_menu(self, self.fact_list.viewport().mapToGlobal(point), self.list_actions(row))

    def list_actions(self, row: TimelineRow) -> list[MenuEntry]:
        """Return the entries of the context menu of a row that has a source."""
        entries = [MenuEntry(self.tr("Open in the conversation\tEnter"), lambda: self._open_row(row))]
        if row.item is not None:
            fact = row.item.fact
            pin = self.tr("Unpin") if fact.pinned else self.tr("Pin")
            entries += [
                MenuEntry(self.tr("Edit in Facts…\tF2"), lambda: self._edit_fact(fact)),
                MenuEntry(pin, lambda: self.edits.set_pinned(fact, pinned=not fact.pinned)),
                MenuEntry(self.tr("Forget…\tDel"), lambda: self._forget_fact(fact)),
            ]
        return entries

    def _edit_fact(self, fact: ExtractedFact) -> None:
        self._context.navigator.open(FactsRoute(self.persona_id, fact.guid, is_editing=True))

    def _forget_fact(self, fact: ExtractedFact) -> None:
        self._context.tasks.start_task(self.edits.ask_and_forget([fact]), key="fact dialog")

    def _open_row(self, row: TimelineRow) -> None:
        self._context.tasks.start_task(self._open_source(row), key="timeline source")

    async def _open_source(self, row: TimelineRow) -> None:
        """Open the message a fact was extracted from, or else its conversation."""
        if row.moment is not None:
            await self._open_moment(row.moment)
        elif row.item is None:
            if row.session is not None:
                self._context.open_session(row.session, None)
        elif sources := await self._fact_lists.list_sources(row.item.fact):
            self._context.open_session(sources[0].session, sources[0].message)
        else:
            self._context.notifier.notify(self.tr("Added by you, or the conversation was deleted."))

    async def _open_moment(self, moment: MemoryUnit) -> None:
        """Open the first message in which a key moment was found."""
        try:
            message = await self._sessions.message(moment.source_messages[0])
        except StorageError:
            self._context.notifier.notify(self.tr("The conversation was deleted."))
        else:
            self._context.open_session(message.session_id, message.id)

    @property
    def markdown(self) -> str:
        """All facts and key moments as Markdown, oldest first."""
        text = "# " + self.tr("What {name} remembers about me").format(name=self._timeline.persona) + "\n"
        marks = {TimelineRowKind.MONTH: "##", TimelineRowKind.TALK: "###"}
        for kind, rows in groupby(self._build_rows(by_topic=False, newest_first=False), attrgetter("kind")):
            if kind is TimelineRowKind.LINE:
                text += "\n" + "".join(f"- {row.text} ({row.when:%Y-%m-%d})\n" for row in rows)
            else:
                text += "".join(f"\n{marks[kind]} {row.text}\n" for row in rows)
        return text

    def copy_facts(self) -> None:
        """Copy all facts to the clipboard as Markdown."""
        QApplication.clipboard().setText(self.markdown)
        self._context.notifier.notify(self.tr("Copied to the clipboard."))

    def save_facts(self) -> None:
        """Save all facts as a Markdown file."""
        save, title = self._fact_lists.save_text, self.tr("Save facts")
        work = self.ask_and_save_text(title, self._timeline.persona, self.markdown, save)
        self._context.tasks.start_task(work, key="timeline save")


def _format_day(moment: datetime, date_format: str) -> str:
    return QLocale().toString(QDate(moment.year, moment.month, moment.day), date_format)
