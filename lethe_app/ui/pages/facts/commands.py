"""What the user changes in facts, as commands that can be undone: each remembers what the facts were before."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

from lethe_app.domain.facts import ExtractedFact
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.undo_commands import CommandRunner

Changed = tuple[ExtractedFact, ExtractedFact | None]
"""A fact before something was done, and after it; None where it was forgotten."""


class FactEdits:
    """Every change of the page goes through here and onto its undo stack."""

    def __init__(self, page: Page, place: PageContext, after: Callable[[UUID | None], None]) -> None:
        """`after` is called when a change is done, with the fact to be shown then."""
        self._page, self._place, self._after = page, place, after
        self._deeds = CommandRunner(page.undo, place.bridge, self._done)
        self._wanted: UUID | None = None
        self.is_open = True
        """Is there still a page, with a stack to undo on?"""

    def add(self, persona: str, text: str, *, pinned: bool) -> None:
        """A fact in the user's words. To do it once more brings the same one back."""
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
        """Say it in other words."""
        self._do(persona, self._page.tr("wording a fact"), lambda: self._place.services.knowing.edit(fact.guid, text))

    def pin(self, persona: str, fact: ExtractedFact, *, pinned: bool) -> None:
        """Keep it in mind whatever comes, or not."""
        title = self._page.tr("pinning a fact") if pinned else self._page.tr("unpinning a fact")
        self._do(persona, title, lambda: self._place.services.knowing.pin(fact.guid, pinned=pinned))

    def restore(self, persona: str, fact: ExtractedFact, *, instead: bool) -> None:
        """Let a replaced one hold again."""
        title = self._page.tr("restoring a fact")
        self._wanted = fact.guid
        self._do(persona, title, lambda: self._place.services.knowing.restore(fact.guid, instead=instead))

    def forget_facts(self, persona: str, facts: Sequence[ExtractedFact]) -> Callable[[], None]:
        """Know them no more; returns what takes that back."""

        async def forth() -> None:
            for fact in facts:
                await self._place.services.knowing.forget_fact(fact.guid)

        self._do(persona, self._page.tr("forgetting"), forth)
        stack = self._page.undo
        command = stack.command(stack.index() - 1)

        def take_back() -> None:
            if self.is_open and stack.index() and stack.command(stack.index() - 1) is command:
                stack.undo()
            else:
                self._place.bridge.spawn(self._place.services.knowing.put_back(facts))

        return take_back

    def merge(self, persona: str, facts: Sequence[ExtractedFact], text: str) -> None:
        """Make one of several."""

        async def forth() -> None:
            self._wanted = (await self._place.services.knowing.merge([fact.guid for fact in facts], text)).guid

        self._do(persona, self._page.tr("making one fact of {n}").format(n=len(facts)), forth)

    def _do(self, persona: str, title: str, forth: Callable[[], Awaitable[object]], made: Sequence[ExtractedFact] = ()) -> None:
        """`made` holds, once it was done, the fact that was not there before."""
        knowing, changed, new = self._place.services.knowing, list[Changed](), list[UUID]()

        async def noting() -> None:
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
    """What was done to it taken back, and nothing else: what others have made of it since, such as the talk itself, stays."""
    if after is None or present is None:
        return before
    names = [name for name in ExtractedFact.model_fields if getattr(before, name) != getattr(after, name)]
    return present.model_copy(
        update={name: getattr(before, name) for name in names if getattr(present, name) == getattr(after, name)}
    )
