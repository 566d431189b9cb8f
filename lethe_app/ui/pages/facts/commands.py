"""Undo commands of the facts page. Each compares the persona's facts before and after it to know what to restore."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

from lethe_app.domain.facts import ExtractedFact
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.undo_commands import CommandRunner

Changed = tuple[ExtractedFact, ExtractedFact | None]
"""Fact before a command and after it; the second is None if the fact was forgotten."""


class FactEdits:
    """Edits facts of a persona; every edit becomes a command on the page's undo stack."""

    def __init__(self, page: Page, place: PageContext, after: Callable[[UUID | None], None]) -> None:
        """Create the edits of a page; `after` is called after each step with the fact to select, if any."""
        self._page, self._place, self._after = page, place, after
        self._deeds = CommandRunner(page.undo, place.bridge, self._done)
        self._wanted: UUID | None = None
        self.is_open = True
        """True until the page is closed; its undo stack may be used only while this is true."""

    def add(self, persona: str, text: str, *, pinned: bool) -> None:
        """Add a fact written by the user. Redo restores the same fact instead of creating another one."""
        made: list[ExtractedFact] = []
        knowing = self._place.services.knowing

        async def forth() -> None:
            if made:
                await knowing.put_back(made)
            else:
                made.append(await knowing.add(persona, text, pinned=pinned))
            self._wanted = made[0].guid

        self._do(persona, self._page.tr("adding a fact"), forth, made)

    def word(self, persona: str, fact: ExtractedFact, text: str) -> None:
        """Change the text of a fact."""
        self._do(persona, self._page.tr("editing a fact"), lambda: self._place.services.knowing.edit(fact.guid, text))

    def pin(self, persona: str, fact: ExtractedFact, *, pinned: bool) -> None:
        """Pin a fact, so that it is in every prompt, or unpin it."""
        title = self._page.tr("pinning a fact") if pinned else self._page.tr("unpinning a fact")
        self._do(persona, title, lambda: self._place.services.knowing.pin(fact.guid, pinned=pinned))

    def restore(self, persona: str, fact: ExtractedFact, *, instead: bool) -> None:
        """Make a superseded fact current again; with `instead` it supersedes its successor."""
        title = self._page.tr("restoring a fact")
        self._wanted = fact.guid
        self._do(persona, title, lambda: self._place.services.knowing.restore(fact.guid, instead=instead))

    def forget_facts(self, persona: str, facts: Sequence[ExtractedFact]) -> Callable[[], None]:
        """Forget facts and return a function that undoes it, also after the page was closed."""

        async def forth() -> None:
            for fact in facts:
                await self._place.services.knowing.forget_fact(fact.guid)

        self._do(persona, self._page.tr("forgetting facts"), forth)
        stack = self._page.undo
        command = stack.command(stack.index() - 1)

        def take_back() -> None:
            # Undoing here would undo the command on top of the stack. If that is a later one, or the page and its stack are
            # gone, the facts are restored directly.
            if self.is_open and stack.index() and stack.command(stack.index() - 1) is command:
                stack.undo()
            else:
                self._place.bridge.spawn(self._place.services.knowing.put_back(facts))

        return take_back

    def merge(self, persona: str, facts: Sequence[ExtractedFact], text: str) -> None:
        """Merge several facts into one with the given text."""

        async def forth() -> None:
            self._wanted = (await self._place.services.knowing.merge([fact.guid for fact in facts], text)).guid

        self._do(persona, self._page.tr("merging {n} facts").format(n=len(facts)), forth)

    def _do(self, persona: str, title: str, forth: Callable[[], Awaitable[object]], made: Sequence[ExtractedFact] = ()) -> None:
        """Push a command; `made` contains the new fact once `forth` has run."""
        knowing, changed, new = self._place.services.knowing, list[Changed](), list[UUID]()

        async def noting() -> None:
            # All facts are compared, because an edit can change others, for instance supersede them.
            before = {fact.guid: fact for fact in await knowing.all(persona)}
            await forth()
            after = {fact.guid: fact for fact in await knowing.all(persona)}
            changed[:] = [(fact, after.get(fact.guid)) for fact in before.values() if after.get(fact.guid) != fact]
            new[:] = [fact.guid for fact in made if fact.guid not in before]

        async def back() -> None:
            present = {fact.guid: fact for fact in await knowing.all(persona)}
            await knowing.put_back([undone(*both, present.get(both[0].guid)) for both in changed], new)

        self._deeds.do(title, noting, back)

    def _done(self) -> None:
        wanted, self._wanted = self._wanted, None
        self._after(wanted)


def undone(before: ExtractedFact, after: ExtractedFact | None, present: ExtractedFact | None) -> ExtractedFact:
    """Return the fact with one command undone: fields that were changed again since, by an extraction for instance, stay as
    they are.
    """
    if after is None or present is None:
        return before
    names = [name for name in ExtractedFact.model_fields if getattr(before, name) != getattr(after, name)]
    return present.model_copy(
        update={name: getattr(before, name) for name in names if getattr(present, name) == getattr(after, name)}
    )
