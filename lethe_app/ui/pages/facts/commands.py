"""Undo commands of the facts page. Each compares the persona's facts before and after it to know what to restore."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

from lethe_app.domain.facts import ExtractedFact
from lethe_app.services.memory.facts import FactService
from lethe_app.ui.core.formatting import truncate_text
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, run_dialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.undo_commands import CommandRunner

FactChange = tuple[ExtractedFact, ExtractedFact | None]
"""Fact before a command and after it; the second is None if the fact was forgotten."""


class FactEdits:
    """Edits facts of a persona; every edit becomes a command on the page's undo stack."""

    def __init__(
        self, page: Page, context: PageContext, fact_service: FactService, on_done: Callable[[UUID | None], None]
    ) -> None:
        """Create the edits of a page; `after` is called after each step with the fact to select, if any."""
        self._page, self._context, self._on_done = page, context, on_done
        self._fact_service = fact_service
        self._commands = CommandRunner(page.undo_stack, context.tasks, self._on_step_done)
        self._fact_to_select: UUID | None = None
        self.is_open = True
        """True until the page is closed; its undo stack may be used only while this is true."""

    def add_fact(self, persona_id: str, text: str, *, pinned: bool) -> None:
        """Add a fact written by the user. Redo restores the same fact instead of creating another one."""
        added: list[ExtractedFact] = []
        fact_service = self._fact_service

        async def redo_step() -> None:
            if added:
                await fact_service.restore_facts(added)
            else:
                added.append(await fact_service.add(persona_id, text, pinned=pinned))
            self._fact_to_select = added[0].guid

        self._push_command(persona_id, self._page.tr("adding a fact"), redo_step, added)

    def edit_text(self, persona_id: str, fact: ExtractedFact, text: str) -> None:
        """Change the text of a fact, and say so with an undo button, because leaving the field is enough."""
        self._push_command(persona_id, self._page.tr("editing a fact"), lambda: self._fact_service.edit(fact.guid, text))
        self._notify_undoable(self._page.tr("The fact was saved."), [fact])

    def set_pinned(self, persona_id: str, fact: ExtractedFact, *, pinned: bool) -> None:
        """Pin a fact, so that it is in every prompt, or unpin it."""
        title = self._page.tr("pinning a fact") if pinned else self._page.tr("unpinning a fact")
        self._push_command(persona_id, title, lambda: self._fact_service.pin(fact.guid, pinned=pinned))

    def restore_fact(self, persona_id: str, fact: ExtractedFact, *, replace_successor: bool) -> None:
        """Make a superseded fact current again; with `replace_successor` it supersedes its successor."""
        title = self._page.tr("restoring a fact")
        self._fact_to_select = fact.guid
        self._push_command(
            persona_id, title, lambda: self._fact_service.restore(fact.guid, replaces_successor=replace_successor)
        )

    def ask_to_forget(self, persona_id: str, persona_name: str, facts: Sequence[ExtractedFact]) -> None:
        """Forget facts after confirmation, because a forgotten fact is not extracted again from the same session."""
        if facts:
            self._context.tasks.start_task(self._confirm_and_forget(persona_id, persona_name, facts), key="fact dialog")

    async def _confirm_and_forget(self, persona_id: str, persona_name: str, facts: Sequence[ExtractedFact]) -> None:
        tr, is_single = self._page.tr, len(facts) == 1
        description = f"“{truncate_text(facts[0].fact, 60)}”" if is_single else tr("{n} facts").format(n=len(facts))
        question = ConfirmDialog(
            self._context.dialog_parent,
            tr("Forget {what}?").format(what=description),
            tr(
                "{name} will no longer use it as a fact, nor learn it again from the same conversations. These still contain "
                "what was said, until you delete the messages. You can undo this right afterwards."
            ).format(name=persona_name),
            tr("Forget {what}").format(what=description if len(description) <= 40 else tr("this fact")),
        )
        if await run_dialog(question):
            notice = tr("{what} was forgotten.") if is_single else tr("{what} were forgotten.")
            self.forget_facts(persona_id, facts, notice.format(what=description))

    def forget_facts(self, persona_id: str, facts: Sequence[ExtractedFact], notice: str) -> None:
        """Forget facts and show a notification with an undo button, which works after the page was closed, too."""

        async def redo_step() -> None:
            for fact in facts:
                await self._fact_service.forget_fact(fact.guid)

        self._push_command(persona_id, self._page.tr("forgetting facts"), redo_step)
        self._notify_undoable(notice, facts)

    def _notify_undoable(self, notice: str, before: Sequence[ExtractedFact]) -> None:
        restore = lambda: self._fact_service.restore_facts(before)  # noqa: E731 - said in one line
        self._commands.notify_undoable(self._context.notifier, notice, restore, lambda: self.is_open)

    def merge_facts(self, persona_id: str, facts: Sequence[ExtractedFact], text: str) -> None:
        """Merge several facts into one with the given text."""

        async def redo_step() -> None:
            self._fact_to_select = (await self._fact_service.merge([fact.guid for fact in facts], text)).guid

        self._push_command(persona_id, self._page.tr("merging {n} facts").format(n=len(facts)), redo_step)

    def _push_command(
        self, persona_id: str, title: str, redo_step: Callable[[], Awaitable[object]], added: Sequence[ExtractedFact] = ()
    ) -> None:
        """Push a command; `added` contains the new fact once `redo_step` has run."""
        fact_service, changed, new = self._fact_service, list[FactChange](), list[UUID]()

        async def run_and_compare() -> None:
            # All facts are compared, because an edit can change others, for instance supersede them.
            before = {fact.guid: fact for fact in await fact_service.facts_of(persona_id)}
            await redo_step()
            after = {fact.guid: fact for fact in await fact_service.facts_of(persona_id)}
            changed[:] = [(fact, after.get(fact.guid)) for fact in before.values() if after.get(fact.guid) != fact]
            new[:] = [fact.guid for fact in added if fact.guid not in before]

        async def undo_step() -> None:
            current = {fact.guid: fact for fact in await fact_service.facts_of(persona_id)}
            await fact_service.restore_facts([revert_fact(*both, current.get(both[0].guid)) for both in changed], new)

        self._commands.run_command(title, run_and_compare, undo_step)

    def _on_step_done(self) -> None:
        fact_to_select, self._fact_to_select = self._fact_to_select, None
        self._on_done(fact_to_select)


def revert_fact(before: ExtractedFact, after: ExtractedFact | None, current: ExtractedFact | None) -> ExtractedFact:
    """Return the fact with one command undone: fields that were changed again since, by an extraction for instance, stay as
    they are.
    """
    if after is None or current is None:
        return before
    names = [name for name in ExtractedFact.model_fields if getattr(before, name) != getattr(after, name)]
    return current.model_copy(
        update={name: getattr(before, name) for name in names if getattr(current, name) == getattr(after, name)}
    )
