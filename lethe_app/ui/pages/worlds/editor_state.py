"""State of the worlds page: the worlds, which one is on display, and all edits with undo and saving."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from uuid import UUID

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.services.worlds.service import OpenWorld, WorldOwner, WorldSaved, WorldService, copy_entry
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.undo_commands import CommandRunner
from lethe_app.ui.pages.worlds.commands import (
    WorldEdit,
    append_entries,
    remove_entries,
    reorder_entries,
    replace_entries,
    with_fields,
)


class WorldEditorState(QObject):
    """Worlds of the page as immutable values. An edit replaces a world and saves it automatically after a short delay."""

    list_changed = Signal()
    """The list of worlds or their names or sizes have changed."""
    world_switched = Signal(object)
    """Another world is on display, or None."""
    world_changed = Signal(object)
    """The world on display has a new version."""
    entries_deleted = Signal(str, list)
    """File stem of a world, and the entries that were deleted from it."""
    save_finished = Signal(object)
    """`WorldSaved`: the result of saving, successful or not."""

    def __init__(self, context: PageContext, worlds: WorldService, stack: QUndoStack) -> None:
        super().__init__()
        self._context, self._worlds, self._stack = context, worlds, stack
        self._commands = CommandRunner(stack, context.tasks)
        self._unsubscribe = self._worlds.saved.add(self._on_world_saved)
        self.open_worlds: dict[str, OpenWorld] = {}
        self.stem = ""
        self.bindings: dict[WorldOwner, list[str]] = {}
        self._deleted_entries: dict[str, tuple[str, dict[UUID, WorldEntry]]] = {}
        """Entries deleted on this page, by the file stem of their world, with its name."""

    def close(self) -> None:
        self._unsubscribe()
        present_guids = (
            {entry.guid for open_world in self.open_worlds.values() for entry in open_world.world.entries}
            if self._deleted_entries
            else set()
        )
        # Undo ends with the page, so entries that are still deleted are moved to the trash now.
        for stem, (name, entries) in self._deleted_entries.items():
            deleted = [entry for guid, entry in entries.items() if guid not in present_guids]
            if deleted:
                title = self.tr("{name}: deleted entries").format(name=name)
                self._worlds.schedule_trash(World(unique_name=stem, name=title, entries=deleted))

    @property
    def world(self) -> World | None:
        """The world on display."""
        return self.open_worlds[self.stem].world if self.stem in self.open_worlds else None

    @property
    def other_worlds(self) -> list[World]:
        return [open_world.world for stem, open_world in self.open_worlds.items() if stem != self.stem]

    async def load_worlds(self, stem: str = "") -> None:
        """Load all worlds and show `stem`, else the world shown before, else an assigned one, else the first."""
        before = dict(self.open_worlds)
        self.bindings = await self._worlds.session_worlds(self._context.current_session())
        loaded = {open_world.world.unique_name: open_world for open_world in await self._worlds.list_worlds()}
        # A world that was edited while the files were read is newer than its file.
        edited = {name: now for name, now in self.open_worlds.items() if name in loaded and now is not before.get(name)}
        self.open_worlds = loaded | edited
        self.list_changed.emit()
        preferred_stems = [stem, self.stem, *(name for owner in WorldOwner for name in self.bindings[owner]), *self.open_worlds]
        self.switch_world(next((name for name in preferred_stems if name in self.open_worlds), ""))

    def switch_world(self, stem: str) -> None:
        """Show another world."""
        self.stem = stem
        self.world_switched.emit(self.world)

    # Edits in memory, which take effect at once.

    def edit_worlds(self, title: str, *worlds: World, merge_key: str = "") -> None:
        """Replace worlds by new versions in one undo step."""
        changes = [(self.open_worlds[world.unique_name].world, world) for world in worlds]
        if any(old is not new for old, new in changes):
            self._stack.push(WorldEdit(title, changes, self._apply_worlds, merge_key))

    def edit_entries(self, title: str, entries: Iterable[WorldEntry], merge_key: str = "") -> None:
        """Replace entries of the world on display by new versions in one undo step."""
        changed = list(entries)
        if self.world is not None and changed:
            self.edit_worlds(title, replace_entries(self.world, changed), merge_key=merge_key)

    def set_fields(
        self, title: str, entries: Collection[WorldEntry], fields: Mapping[str, object], merge_key: str = ""
    ) -> None:
        self.edit_entries(title, [with_fields(entry, fields) for entry in entries], merge_key)

    def add_entry(self, name: str) -> WorldEntry | None:
        """Add an entry after all others and return it."""
        if self.world is None:
            return None
        last = max((entry.order for entry in self.world.entries), default=90)
        entry = WorldEntry(name=name, order=max(100, last))
        self.edit_worlds(self.tr("adding an entry"), append_entries(self.world, [entry]))
        return entry

    def duplicate_entries(self, entries: Sequence[WorldEntry]) -> list[WorldEntry]:
        if self.world is None or not entries:
            return []
        copies = [copy_entry(entry) for entry in entries]
        self.edit_worlds(self.tr("duplicating entries"), append_entries(self.world, copies))
        return copies

    def delete_entries(self, entries: Sequence[WorldEntry]) -> None:
        if self.world is not None and entries:
            deleted = self._deleted_entries.setdefault(self.stem, (self.world.name, {}))[1]
            deleted |= {entry.guid: entry for entry in entries if entry.content.strip()}
            self.edit_worlds(self.tr("deleting entries"), remove_entries(self.world, {entry.guid for entry in entries}))
            self.entries_deleted.emit(self.stem, list(entries))

    def restore_entries(self, stem: str, entries: Sequence[WorldEntry]) -> None:
        """Restore deleted entries that are not there already."""
        if stem in self.open_worlds:
            present_guids = {entry.guid for entry in self.open_worlds[stem].world.entries}
            missing = [entry for entry in entries if entry.guid not in present_guids]
            self.edit_worlds(self.tr("restoring entries"), append_entries(self.open_worlds[stem].world, missing))

    def transfer_entries(self, entries: Sequence[WorldEntry], stem: str, *, is_move: bool) -> None:
        """Copy entries to another world, or move them if `is_move`."""
        if self.world is None or stem not in self.open_worlds or not entries:
            return
        target = append_entries(self.open_worlds[stem].world, entries if is_move else [copy_entry(entry) for entry in entries])
        if is_move:
            self.edit_worlds(self.tr("moving entries"), target, remove_entries(self.world, {entry.guid for entry in entries}))
        else:
            self.edit_worlds(self.tr("copying entries"), target)

    def reorder(self, moved: Collection[UUID], before: UUID | None) -> None:
        """Move entries before another one; None is the end."""
        if self.world is not None:
            self.edit_entries(self.tr("reordering entries"), reorder_entries(self.world.entries, moved, before))

    def _apply_worlds(self, worlds: Sequence[World]) -> None:
        is_list_changed = False
        for world in worlds:
            stem = world.unique_name
            if stem not in self.open_worlds:
                continue  # it was deleted meanwhile, and comes back as it was then
            old = self.open_worlds[stem]
            is_list_changed |= (old.world.name, len(old.world.entries)) != (world.name, len(world.entries))
            self.open_worlds[stem] = OpenWorld(world, old.is_own, old.is_shipped)
            self._worlds.schedule_save(world)
            if stem == self.stem:
                self.world_changed.emit(world)
        if is_list_changed or len(worlds) > 1:
            self.list_changed.emit()

    def _on_world_saved(self, result: WorldSaved) -> None:
        open_world = self.open_worlds.get(result.stem)
        if open_world is not None and result.error is None and not open_world.is_own:
            self.open_worlds[result.stem] = OpenWorld(open_world.world, is_own=True, is_shipped=open_world.is_shipped)
            self.list_changed.emit()
        self.save_finished.emit(result)

    # Requests to the world service, which are asynchronous.

    def create_world(self, name: str) -> None:
        self._add_world(self.tr("adding a world"), lambda: self._worlds.create(name))

    def duplicate_world(self, name: str) -> None:
        source = self.world
        if source is not None:
            title = self.tr("duplicating “{name}”").format(name=source.name)
            self._add_world(title, lambda: self._worlds.duplicate(source, name))

    def _add_world(self, title: str, create: Callable[[], Awaitable[World]]) -> None:
        """Create a world and show it. Redo restores its file from the trash instead of creating another world."""
        created, trashed = list[World](), dict[str, Path]()

        async def redo_step() -> None:
            if path := trashed.pop("path", None):
                await self._worlds.restore(path)
            else:
                created[:] = [await create()]
            await self.load_worlds(created[0].unique_name)

        self._commands.run_command(title, redo_step, lambda: self._trash_world(created[0].unique_name, trashed))

    def delete_world(self, on_deleted: Callable[[World, Callable[[], None]], object]) -> None:
        """Move the world on display to the trash, then call `on_deleted` with the world and a function that restores it."""
        world, trashed = self.world, dict[str, Path]()
        if world is None:
            return
        stem = world.unique_name

        async def redo_step() -> None:
            await self._trash_world(stem, trashed)
            on_deleted(world, undo_action)

        async def undo_step() -> None:
            if trashed:  # neither undone nor taken back yet
                await self.load_worlds(await self._worlds.restore(trashed.pop("path")))

        def undo_action() -> None:
            self._context.tasks.start_task(undo_step())

        self._commands.run_command(self.tr("deleting “{name}”").format(name=world.name), redo_step, undo_step)

    def set_binding(self, title: str, owner: WorldOwner, *, is_bound: bool) -> None:
        """Assign the world on display to an owner, or remove it from there."""
        stem, session = self.stem, self._context.current_session()

        async def apply_binding(*, there: bool) -> None:
            await self._worlds.bind(stem, owner, session, is_bound=there)
            self.bindings = await self._worlds.session_worlds(session)
            self.list_changed.emit()

        self._commands.run_command(title, partial(apply_binding, there=is_bound), partial(apply_binding, there=not is_bound))

    async def _trash_world(self, stem: str, trashed: dict[str, Path]) -> None:
        trashed["path"] = await self._worlds.delete(stem)
        await self.load_worlds()
