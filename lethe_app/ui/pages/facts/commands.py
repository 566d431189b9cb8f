"""Edits of facts, which can be undone. Each compares the persona's facts before and after it to know what to restore."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

from PySide6.QtCore import QObject

from lethe_app.domain.facts import ExtractedFact
from lethe_app.services.memory.facts import FactService
from lethe_app.ui.core.formatting import truncate_text
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, run_dialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.record_page.base import ReloadingPage
from lethe_app.ui.pages.undo_commands import Step

Facts = Sequence[ExtractedFact]


class FactEdits(QObject):
    """Edits facts of the persona of a page; every edit but that of a text becomes a command on the page's undo stack."""

    def __init__(
        self,
        page: ReloadingPage,
        context: PageContext,
        fact_service: FactService,
        select: Callable[[UUID], object] = lambda _fact: None,
    ) -> None:
        """Create the edits of a page. `select` is called with the fact to select when the list is read again."""
        super().__init__()
        self._page, self._context, self._fact_service, self._select = page, context, fact_service, select
        self._undo_typing: dict[UUID, Step] = {}
        """Step that takes back what typing into the text of a fact has changed, also of other facts, by that fact."""

    async def store_text(self, persona_id: str, guid: UUID, text: str) -> None:
        """Store the text that was typed into a fact; an empty one changes nothing. What was typed before is taken back first,
        so that a half-written text leaves nothing behind, neither superseded facts nor one that was merged with it.
        """
        text = text.strip()
        if not text or await self._text_of(persona_id, guid) == text:
            return
        if (undo_step := self._undo_typing.pop(guid, None)) is not None:
            await undo_step()
        if await self._text_of(persona_id, guid) != text:
            self._undo_typing[guid] = await self._run_and_compare(persona_id, lambda: self._fact_service.edit(guid, text))

    async def _text_of(self, persona_id: str, guid: UUID) -> str:
        return next((fact.fact for fact in await self._fact_service.facts_of(persona_id) if fact.guid == guid), "")

    def add_fact(self, text: str, *, pinned: bool) -> None:
        """Add a fact written by the user. Redo restores the same fact instead of creating another one."""
        persona_id, added, service = self._page.persona_id, list[ExtractedFact](), self._fact_service

        async def redo_step() -> ExtractedFact:
            if added:
                await service.restore_facts(added)
            else:
                added.append(await service.add(persona_id, text, pinned=pinned))
            self._select(added[0].guid)
            return added[0]

        self._run_on_facts(self.tr("adding a fact"), redo_step)

    def set_pinned(self, fact: ExtractedFact, *, pinned: bool) -> None:
        """Pin a fact, so that it is in every prompt, or unpin it."""
        title = self.tr("pinning a fact") if pinned else self.tr("unpinning a fact")
        self._run_on_facts(title, lambda: self._fact_service.pin(fact.guid, pinned=pinned))

    def restore_fact(self, fact: ExtractedFact, *, replace_successor: bool = False) -> None:
        """Make a superseded fact current again; with `replace_successor` it supersedes its successor."""
        self._select(fact.guid)
        restore = self._fact_service.restore
        self._run_on_facts(self.tr("restoring a fact"), lambda: restore(fact.guid, replaces_successor=replace_successor))

    def merge_facts(self, facts: Facts, text: str) -> None:
        """Merge several facts into one with the given text."""

        async def redo_step() -> ExtractedFact:
            merged = await self._fact_service.merge([fact.guid for fact in facts], text)
            self._select(merged.guid)
            return merged

        self._run_on_facts(self.tr("merging {n} facts").format(n=len(facts)), redo_step)

    async def ask_and_forget(self, facts: Facts) -> None:
        """Forget facts after confirmation, because a forgotten fact is not extracted again from the same session, and show a
        notification with an undo button.
        """
        is_one = len(facts) == 1
        name = f"“{truncate_text(facts[0].fact, 60)}”" if is_one else self.tr("{n} facts").format(n=len(facts))
        question = ConfirmDialog(
            self._context.dialog_parent,
            self.tr("Forget {what}?").format(what=name),
            self.tr(
                "{name} will no longer use it as a fact, nor learn it again from the same conversations. These still contain "
                "what was said, until you delete the messages. You can undo this right afterwards."
            ).format(name=self._page.persona_name),
            self.tr("Forget {what}").format(what=name if len(name) <= 40 else self.tr("this fact")),
        )

        async def redo_step() -> None:
            for fact in facts:
                await self._fact_service.forget_fact(fact.guid)

        if await run_dialog(question):
            notice = self.tr("{what} was forgotten.") if is_one else self.tr("{what} were forgotten.")
            self._run_on_facts(self.tr("forgetting facts"), redo_step, notice.format(what=name))

    def _run_on_facts(self, title: str, redo_step: Callable[[], Awaitable[object]], notice: str = "") -> None:
        """Run a step as a command whose undo restores all facts that it changed, and removes one that it added and returned."""
        persona_id = self._page.persona_id
        self._page.run_undoable(title, lambda: self._run_and_compare(persona_id, redo_step), notice=notice)

    async def _run_and_compare(self, persona_id: str, step: Callable[[], Awaitable[object]]) -> Step:
        """Run a step and return one that takes it back, except of fields that were changed again since. All facts are compared,
        because one can supersede others.
        """
        before = {fact.guid: fact for fact in await self._fact_service.facts_of(persona_id)}
        result = await step()
        after = {fact.guid: fact for fact in await self._fact_service.facts_of(persona_id)}
        changes = [(fact, after.get(guid)) for guid, fact in before.items() if after.get(guid) != fact]
        added = [result.guid] if isinstance(result, ExtractedFact) and result.guid not in before else []

        async def take_back() -> None:
            current = {fact.guid: fact for fact in await self._fact_service.facts_of(persona_id)}
            reverted = [revert_fact(*both, current.get(both[0].guid)) for both in changes]
            await self._fact_service.restore_facts(reverted, added)

        return take_back


def revert_fact(before: ExtractedFact, after: ExtractedFact | None, current: ExtractedFact | None) -> ExtractedFact:
    """Return the fact with one change undone: fields that were changed again since, by an extraction for instance, stay as
    they are.
    """
    if after is None or current is None:
        return before
    names = [name for name in ExtractedFact.model_fields if getattr(before, name) != getattr(after, name)]
    return current.model_copy(
        update={name: getattr(before, name) for name in names if getattr(current, name) == getattr(after, name)}
    )
