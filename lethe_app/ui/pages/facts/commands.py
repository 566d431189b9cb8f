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
from lethe_app.ui.pages.undo_commands import Step

Facts = Sequence[ExtractedFact]
FactChange = tuple[ExtractedFact, ExtractedFact | None]
"""Fact before a change and after it; the second is None if the fact was forgotten."""


class FactEdits(QObject):
    """Edits facts of a persona; every edit but that of a text becomes a command on the page's undo stack."""

    def __init__(
        self,
        context: PageContext,
        fact_service: FactService,
        run_undoable: Callable[[str, Step, Step, str], None],
        select: Callable[[UUID], object] = lambda _fact: None,
    ) -> None:
        """Create the edits of a page. `run_undoable` runs a step as a command with a title, a step that undoes it, and a
        notice; `select` is called with the fact to select when the list is read again.
        """
        super().__init__()
        self._context, self._fact_service = context, fact_service
        self._run_undoable, self._select = run_undoable, select
        self._typed_changes: dict[UUID, list[FactChange]] = {}
        """What typing into the text of a fact has changed, also of other facts, by that fact."""

    async def store_text(self, persona_id: str, guid: UUID, text: str) -> None:
        """Store the text that was typed into a fact; an empty one changes nothing. What was typed before is taken back first,
        so that a half-written text leaves nothing behind, neither superseded facts nor one that was merged with it.
        """
        text, service = text.strip(), self._fact_service
        facts = {fact.guid: fact for fact in await service.facts_of(persona_id)}
        if not text or (guid in facts and facts[guid].fact == text):
            return
        await self._revert(persona_id, self._typed_changes.pop(guid, []))
        facts = {fact.guid: fact for fact in await service.facts_of(persona_id)}
        if guid not in facts or facts[guid].fact != text:
            self._typed_changes[guid] = await self._run_and_compare(persona_id, lambda: service.edit(guid, text))

    def add_fact(self, persona_id: str, text: str, *, pinned: bool) -> None:
        """Add a fact written by the user. Redo restores the same fact instead of creating another one."""
        added, service = list[ExtractedFact](), self._fact_service

        async def redo_step() -> None:
            if added:
                await service.restore_facts(added)
            else:
                added.append(await service.add(persona_id, text, pinned=pinned))
            self._select(added[0].guid)

        self._run_on_facts(persona_id, self.tr("adding a fact"), redo_step, added)

    def set_pinned(self, persona_id: str, fact: ExtractedFact, *, pinned: bool) -> None:
        """Pin a fact, so that it is in every prompt, or unpin it."""
        title = self.tr("pinning a fact") if pinned else self.tr("unpinning a fact")
        self._run_on_facts(persona_id, title, lambda: self._fact_service.pin(fact.guid, pinned=pinned))

    def restore_fact(self, persona_id: str, fact: ExtractedFact, *, replace_successor: bool = False) -> None:
        """Make a superseded fact current again; with `replace_successor` it supersedes its successor."""
        self._select(fact.guid)
        restore = self._fact_service.restore
        self._run_on_facts(
            persona_id, self.tr("restoring a fact"), lambda: restore(fact.guid, replaces_successor=replace_successor)
        )

    def merge_facts(self, persona_id: str, facts: Facts, text: str) -> None:
        """Merge several facts into one with the given text."""

        async def redo_step() -> None:
            self._select((await self._fact_service.merge([fact.guid for fact in facts], text)).guid)

        self._run_on_facts(persona_id, self.tr("merging {n} facts").format(n=len(facts)), redo_step)

    def _forget_facts(self, persona_id: str, facts: Facts) -> None:
        """Forget facts and show a notification with an undo button."""

        async def redo_step() -> None:
            for fact in facts:
                await self._fact_service.forget_fact(fact.guid)

        notice = self.tr("{what} was forgotten.") if len(facts) == 1 else self.tr("{what} were forgotten.")
        notice = notice.format(what=self._describe(facts))
        self._run_on_facts(persona_id, self.tr("forgetting facts"), redo_step, notice=notice)

    async def ask_and_forget(self, persona_id: str, persona_name: str, facts: Facts) -> None:
        """Forget facts after confirmation, because a forgotten fact is not extracted again from the same session."""
        description = self._describe(facts)
        question = ConfirmDialog(
            self._context.dialog_parent,
            self.tr("Forget {what}?").format(what=description),
            self.tr(
                "{name} will no longer use it as a fact, nor learn it again from the same conversations. These still contain "
                "what was said, until you delete the messages. You can undo this right afterwards."
            ).format(name=persona_name),
            self.tr("Forget {what}").format(what=description if len(description) <= 40 else self.tr("this fact")),
        )
        if await run_dialog(question):
            self._forget_facts(persona_id, facts)

    def _describe(self, facts: Facts) -> str:
        if len(facts) == 1:
            return f"“{truncate_text(facts[0].fact, 60)}”"
        return self.tr("{n} facts").format(n=len(facts))

    def _run_on_facts(
        self,
        persona_id: str,
        title: str,
        redo_step: Callable[[], Awaitable[object]],
        added: Facts = (),
        notice: str = "",
    ) -> None:
        """Run a step as a command whose undo restores all facts that it changed, and removes those in `added`, which contains
        the new fact once the step has run.
        """
        changes, new = list[FactChange](), list[UUID]()

        async def run_and_remember() -> None:
            known = {fact.guid for fact in await self._fact_service.facts_of(persona_id)}
            changes[:] = await self._run_and_compare(persona_id, redo_step)
            new[:] = [fact.guid for fact in added if fact.guid not in known]

        self._run_undoable(title, run_and_remember, lambda: self._revert(persona_id, changes, new), notice)

    async def _run_and_compare(self, persona_id: str, step: Callable[[], Awaitable[object]]) -> list[FactChange]:
        """Run a step and return what it changed; all facts are compared, because one can supersede others."""
        before = await self._fact_service.facts_of(persona_id)
        await step()
        after = {fact.guid: fact for fact in await self._fact_service.facts_of(persona_id)}
        return [(fact, after.get(fact.guid)) for fact in before if after.get(fact.guid) != fact]

    async def _revert(self, persona_id: str, changes: Sequence[FactChange], added: Sequence[UUID] = ()) -> None:
        """Take changes back, except of fields that were changed again since."""
        if changes or added:
            current = {fact.guid: fact for fact in await self._fact_service.facts_of(persona_id)}
            reverted = [revert_fact(*both, current.get(both[0].guid)) for both in changes]
            await self._fact_service.restore_facts(reverted, added)


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
