"""State of the worlds page: the worlds, which one is on display, and all edits with undo and saving."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from uuid import UUID

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.services.worlds.service import OpenWorld, Owner, Worlds, WorldSaved, twin
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.undo_commands import CommandRunner
from lethe_app.ui.pages.worlds.commands import WorldEdit, added, reordered, replaced, with_fields, without


class WorldBook(QObject):
    """Worlds of the page as immutable values. An edit replaces a world and saves it automatically after a short delay."""

    listed = Signal()
    """The list of worlds or their names or sizes have changed."""
    turned = Signal(object)
    """Another world is on display, or None."""
    changed = Signal(object)
    """The world on display has a new version."""
    deleted = Signal(str, list)
    """File stem of a world, and the entries that were deleted from it."""
    written = Signal(object)
    """`WorldSaved`: the result of saving, successful or not."""

    def __init__(self, place: PageContext, stack: QUndoStack) -> None:
        super().__init__()
        self._place, self._stack = place, stack
        self._worlds: Worlds = place.services.worlds
        self._deeds = CommandRunner(stack, place.bridge)
        self._forget = self._worlds.kept.add(self._kept)
        self.held: dict[str, OpenWorld] = {}
        self.stem = ""
        self.bound: dict[Owner, list[str]] = {}
        self._gone: dict[str, tuple[str, dict[UUID, WorldEntry]]] = {}
        """Entries deleted on this page, by the file stem of their world, with its name."""

    def close(self) -> None:
        self._forget()
        there = {entry.guid for held in self.held.values() for entry in held.world.entries} if self._gone else set()
        # Undo ends with the page, so entries that are still deleted are moved to the trash now.
        for stem, (name, entries) in self._gone.items():
            lost = [entry for guid, entry in entries.items() if guid not in there]
            if lost:
                title = self.tr("{name}: deleted entries").format(name=name)
                self._worlds.part_with(World(unique_name=stem, name=title, entries=lost))

    @property
    def world(self) -> World | None:
        """The world on display."""
        return self.held[self.stem].world if self.stem in self.held else None

    @property
    def others(self) -> list[World]:
        return [held.world for stem, held in self.held.items() if stem != self.stem]

    async def load(self, stem: str = "") -> None:
        """Load all worlds and show `stem`, else the world shown before, else an assigned one, else the first."""
        held, bound = await self._worlds.all(), await self._worlds.bound(self._place.session())
        self.held, self.bound = {one.world.unique_name: one for one in held}, bound
        self.listed.emit()
        wanted = [stem, self.stem, *(name for owner in Owner for name in self.bound[owner]), *self.held]
        self.show(next((name for name in wanted if name in self.held), ""))

    def show(self, stem: str) -> None:
        """Show another world."""
        self.stem = stem
        self.turned.emit(self.world)

    # Edits in memory, which take effect at once.

    def edit(self, title: str, *worlds: World, merges: str = "") -> None:
        """Replace worlds by new versions in one undo step."""
        changes = [(self.held[world.unique_name].world, world) for world in worlds]
        if any(old is not new for old, new in changes):
            self._stack.push(WorldEdit(title, changes, self._put, merges))

    def edit_entries(self, title: str, entries: Iterable[WorldEntry], merges: str = "") -> None:
        """Replace entries of the world on display by new versions in one undo step."""
        changed = list(entries)
        if self.world is not None and changed:
            self.edit(title, replaced(self.world, changed), merges=merges)

    def set_fields(self, title: str, entries: Collection[WorldEntry], fields: Mapping[str, object], merges: str = "") -> None:
        self.edit_entries(title, [with_fields(entry, fields) for entry in entries], merges)

    def add_entry(self, name: str) -> WorldEntry | None:
        """Add an entry after all others and return it."""
        if self.world is None:
            return None
        last = max((entry.order for entry in self.world.entries), default=90)
        entry = WorldEntry(name=name, order=max(100, last))
        self.edit(self.tr("adding an entry"), added(self.world, [entry]))
        return entry

    def duplicate_entries(self, entries: Sequence[WorldEntry]) -> list[WorldEntry]:
        if self.world is None or not entries:
            return []
        twins = [twin(entry) for entry in entries]
        self.edit(self.tr("duplicating entries"), added(self.world, twins))
        return twins

    def delete_entries(self, entries: Sequence[WorldEntry]) -> None:
        if self.world is not None and entries:
            gone = self._gone.setdefault(self.stem, (self.world.name, {}))[1]
            gone |= {entry.guid: entry for entry in entries if entry.content.strip()}
            self.edit(self.tr("deleting entries"), without(self.world, {entry.guid for entry in entries}))
            self.deleted.emit(self.stem, list(entries))

    def put_back(self, stem: str, entries: Sequence[WorldEntry]) -> None:
        """Restore deleted entries that are not there already."""
        if stem in self.held:
            there = {entry.guid for entry in self.held[stem].world.entries}
            missing = [entry for entry in entries if entry.guid not in there]
            self.edit(self.tr("restoring entries"), added(self.held[stem].world, missing))

    def carry(self, entries: Sequence[WorldEntry], stem: str, *, away: bool) -> None:
        """Copy entries to another world, or move them if `away`."""
        if self.world is None or stem not in self.held or not entries:
            return
        there = added(self.held[stem].world, entries if away else [twin(entry) for entry in entries])
        if away:
            self.edit(self.tr("moving entries"), there, without(self.world, {entry.guid for entry in entries}))
        else:
            self.edit(self.tr("copying entries"), there)

    def reorder(self, moved: Collection[UUID], before: UUID | None) -> None:
        """Move entries before another one; None is the end."""
        if self.world is not None:
            self.edit_entries(self.tr("reordering entries"), reordered(self.world.entries, moved, before))

    def _put(self, worlds: Sequence[World]) -> None:
        is_listed_otherwise = False
        for world in worlds:
            stem = world.unique_name
            if stem not in self.held:
                continue  # it was deleted meanwhile, and comes back as it was then
            old = self.held[stem]
            is_listed_otherwise |= (old.world.name, len(old.world.entries)) != (world.name, len(world.entries))
            self.held[stem] = OpenWorld(world, old.is_own, old.is_shipped)
            self._worlds.schedule_save(world)
            if stem == self.stem:
                self.changed.emit(world)
        if is_listed_otherwise or len(worlds) > 1:
            self.listed.emit()

    def _kept(self, kept: WorldSaved) -> None:
        held = self.held.get(kept.stem)
        if held is not None and kept.error is None and not held.is_own:
            self.held[kept.stem] = OpenWorld(held.world, is_own=True, is_shipped=held.is_shipped)
            self.listed.emit()
        self.written.emit(kept)

    # Requests to the world service, which are asynchronous.

    def create(self, name: str) -> None:
        made: list[World] = []

        async def forth() -> None:
            if made and (path := trashed.pop("path", None)):
                await self._worlds.restore(path)
            else:
                # Redo restores the file from the trash instead of creating another world.
                made[:] = [await self._worlds.create(name)]
            await self.load(made[0].unique_name)

        trashed: dict[str, Path] = {}
        self._deeds.do(self.tr("adding a world"), forth, lambda: self._take(made[0].unique_name, trashed))

    def duplicate(self, name: str) -> None:
        source, made = self.world, list[World]()
        if source is None:
            return
        trashed: dict[str, Path] = {}

        async def forth() -> None:
            if made and (path := trashed.pop("path", None)):
                await self._worlds.restore(path)
            else:
                made[:] = [await self._worlds.duplicate(source, name)]
            await self.load(made[0].unique_name)

        title = self.tr("duplicating “{name}”").format(name=source.name)
        self._deeds.do(title, forth, lambda: self._take(made[0].unique_name, trashed))

    def delete(self, after: Callable[[World, Callable[[], None]], object]) -> None:
        """Move the world on display to the trash, then call `after` with the world and a function that restores it."""
        world, trashed = self.world, dict[str, Path]()
        if world is None:
            return
        stem = world.unique_name

        async def forth() -> None:
            await self._take(stem, trashed)
            after(world, take_back)

        async def back() -> None:
            if trashed:  # neither undone nor taken back yet
                await self.load(await self._worlds.restore(trashed.pop("path")))

        def take_back() -> None:
            self._place.bridge.spawn(back())

        self._deeds.do(self.tr("deleting “{name}”").format(name=world.name), forth, back)

    def bind(self, title: str, owner: Owner, *, on: bool) -> None:
        """Assign the world on display to an owner, or remove it from there."""
        stem, session = self.stem, self._place.session()

        async def put(*, there: bool) -> None:
            await self._worlds.bind(stem, owner, session, on=there)
            self.bound = await self._worlds.bound(session)
            self.listed.emit()

        self._deeds.do(title, partial(put, there=on), partial(put, there=not on))

    async def _take(self, stem: str, trashed: dict[str, Path]) -> None:
        trashed["path"] = await self._worlds.delete(stem)
        await self.load()
