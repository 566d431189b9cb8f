"""State of the worlds page: the worlds, which one is on display, and all edits with undo and saving."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, count
from pathlib import Path
from uuid import UUID

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.errors import LetheError
from lethe_app.services.worlds.service import OpenWorld, WorldOwner, WorldService, copy_entry
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.field_saver import FieldSaver
from lethe_app.ui.pages.undo_commands import CommandRunner
from lethe_app.ui.pages.worlds.entry_order import find_entry, reorder_entries, replace_entries

WHOLE_WORLD = "world"
"""Name of the change of a whole world, for the saver; a text is changed under the name of its field, with that of its entry."""


class WorldEditorState(QObject):
    """Worlds of the page as immutable values. An edit replaces a world and saves it automatically after a short delay."""

    list_changed = Signal()
    """The list of worlds or their names or sizes have changed."""
    world_switched = Signal(object)
    """Another world is on display, or None."""
    world_changed = Signal(object)
    """The world on display has a new version."""
    copy_requested = Signal(object)
    """An entry is to be copied to the memories of a persona."""
    world_added = Signal()
    """A new world is on display."""
    saving_changed = Signal(str)
    """Text that says whether the changes are saved."""

    def __init__(self, context: PageContext, worlds: WorldService, stack: QUndoStack) -> None:
        super().__init__()
        self._context, self._worlds, self._stack = context, worlds, stack
        self.saver = FieldSaver(
            stack,
            context.tasks,
            self._report_error,
            self._save_world,
            self._apply_change,
            {stem: {WHOLE_WORLD: world} for stem, world in worlds.unsaved.items()},
        )
        self.commands = CommandRunner(stack, context.tasks, self.saver.save)
        self.open_worlds: dict[str, OpenWorld] = {}
        self.stem = ""
        self.bindings: dict[WorldOwner, list[str]] = {}
        self._withdraw_notices: list[Callable[[], None]] = []
        """Functions that withdraw the offers to restore deleted entries."""
        self._deleted_entries: dict[str, tuple[str, dict[UUID, WorldEntry]]] = {}
        """Entries deleted on this page, by the file stem of their world, with its name."""

    def close(self) -> None:
        self.commands.is_open = False
        self.saver.close()
        for withdraw in self._withdraw_notices:
            withdraw()
        present = (
            {entry.guid for one in self.open_worlds.values() for entry in one.world.entries} if self._deleted_entries else ()
        )
        deleted = [
            World(unique_name=stem, name=self.tr("{name}: deleted entries").format(name=name), entries=list(gone.values()))
            for stem, (name, entries) in self._deleted_entries.items()
            if (gone := {guid: entry for guid, entry in entries.items() if guid not in present})
        ]

        async def trash_deleted() -> None:
            while deleted:
                await self._worlds.trash_entries(deleted[0])
                del deleted[0]

        if deleted:  # undo ends with the page; when the program quits at once, the last step does what the task cannot
            self._context.tasks.last_steps.append(trash_deleted)
            self._context.tasks.start_task(trash_deleted())

    @property
    def world(self) -> World | None:
        """The world on display."""
        return self.open_worlds[self.stem].world if self.stem in self.open_worlds else None

    @property
    def other_worlds(self) -> list[World]:
        return [open_world.world for stem, open_world in self.open_worlds.items() if stem != self.stem]

    async def load_worlds(self, stem: str = "") -> None:
        """Load all worlds and show `stem`, else the world shown before, else an assigned one, else the first."""
        await self.saver.save()
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

    # Saving

    async def save(self) -> bool:
        """Save all changes now; return False if one could not be saved."""
        await self.saver.save()
        return not self._worlds.unsaved

    async def _save_world(self, stem: Hashable, _values: Mapping[str, object]) -> None:
        world = self._worlds.unsaved.get(str(stem))  # None if it was deleted, or saved by another page
        replaced = await self._worlds.save(world) if world is not None else None
        if replaced is not None:
            self._context.notifier.notify(
                self.tr("“{file}” was changed by another program.").format(file=f"{stem}.json"),
                self.tr("Your version was saved; the other one is in the Trash as {name}.").format(name=replaced.name),
            )
        if self.commands.is_open:
            self.saving_changed.emit(self.tr("saved"))
            open_world = self.open_worlds.get(str(stem))
            if world is not None and open_world is not None and not open_world.is_own:
                self.open_worlds[str(stem)] = replace(open_world, is_own=True)
                self.list_changed.emit()

    def _report_error(self, error: LetheError) -> None:
        if self.commands.is_open:
            self.saving_changed.emit(self.tr("not saved"))
        self._context.notifier.report_error(error)

    # Edits in memory, which take effect at once.

    def _apply_change(self, stem: Hashable, name: str, value: object) -> None:
        """Show a changed world, or one with a changed text; one that was deleted meanwhile comes back as it was then."""
        old = self.open_worlds.get(str(stem))
        field, _, guid = name.partition(" ")
        entry = find_entry(old.world, UUID(guid)) if old is not None and guid else None
        if old is None or (guid and entry is None):
            return
        if isinstance(value, World):
            world = value
        elif entry is not None:
            world = replace_entries(old.world, [entry.model_copy(update={field: value})])
        else:
            world = old.world.model_copy(update={field: value})
        self.open_worlds[str(stem)] = replace(old, world=world)
        self._worlds.unsaved[str(stem)] = world
        if stem == self.stem:
            self.saving_changed.emit(self.tr("saving…"))
            self.world_changed.emit(world)
        if (old.world.name, len(old.world.entries)) != (world.name, len(world.entries)):
            self.list_changed.emit()

    def change_text(self, title: str, field: str, text: str, entry: WorldEntry | None = None) -> None:
        """Change a text of an entry of the world on display, or of that itself; what is typed without a pause is one step."""
        if self.world is not None:
            name = f"{field} {entry.guid}" if entry is not None else field
            self.saver.change_field(title, self.stem, name, getattr(entry or self.world, field), text)

    def edit_worlds(self, title: str, *worlds: World) -> None:
        """Replace worlds by new versions in one undo step."""
        changes = [(self.open_worlds[world.unique_name].world, world) for world in worlds]
        if any(old is not new for old, new in changes):
            self._stack.beginMacro(title)
            for old, new in changes:
                self.saver.change_field(title, new.unique_name, WHOLE_WORLD, old, new)
            self._stack.endMacro()

    def edit_entries(self, title: str, entries: Iterable[WorldEntry]) -> None:
        """Replace entries of the world on display by new versions in one undo step."""
        changed = list(entries)
        if self.world is not None and changed:
            self.edit_worlds(title, replace_entries(self.world, changed))

    def set_fields(self, title: str, entries: Collection[WorldEntry], fields: Mapping[str, object]) -> None:
        """Set fields of entries; the values must be valid, as they are not checked."""
        self.edit_entries(title, [entry.model_copy(update=dict(fields)) for entry in entries])

    def set_enabled(self, entries: Collection[WorldEntry], *, is_enabled: bool) -> None:
        title = self.tr("enabling") if is_enabled else self.tr("disabling")
        self.set_fields(title, entries, {"enabled": is_enabled})

    def add_entry(self, name: str) -> WorldEntry | None:
        """Add an entry after all others and return it."""
        if self.world is None:
            return None
        last = max((entry.order for entry in self.world.entries), default=90)
        entry = WorldEntry(name=name, order=max(100, last))
        self.edit_worlds(self.tr("adding an entry"), with_entries(self.world, [*self.world.entries, entry]))
        return entry

    def duplicate_entries(self, entries: Sequence[WorldEntry]) -> None:
        self.transfer_entries(entries, self.stem, is_move=False, title=self.tr("duplicating entries"))

    def delete_entries(self, entries: Sequence[WorldEntry]) -> None:
        if self.world is not None and entries:
            deleted = self._deleted_entries.setdefault(self.stem, (self.world.name, {}))[1]
            deleted |= {entry.guid: entry for entry in entries if entry.content.strip()}
            self.edit_worlds(self.tr("deleting entries"), without_entries(self.world, entries))
            text = self.tr("“{name}” was deleted.").format(name=entries[0].name or self.tr("An entry"))
            if len(entries) > 1:
                text = format_count(len(entries), "", self.tr("{n} entries were deleted."))
            restore = partial(self._restore_entries, self.stem, list(entries))
            self._withdraw_notices.append(self._context.notifier.notify_undoable(text, restore))

    def _restore_entries(self, stem: str, entries: Sequence[WorldEntry]) -> None:
        """Restore deleted entries that are not there already."""
        if stem in self.open_worlds:
            world = self.open_worlds[stem].world
            present = {entry.guid for entry in world.entries}
            missing = [entry for entry in entries if entry.guid not in present]
            if missing:
                self.edit_worlds(self.tr("restoring entries"), with_entries(world, [*world.entries, *missing]))

    def transfer_entries(self, entries: Sequence[WorldEntry], stem: str, *, is_move: bool, title: str = "") -> None:
        """Copy entries to a world, or move them there if `is_move`."""
        if self.world is None or stem not in self.open_worlds or not entries:
            return
        target = self.open_worlds[stem].world
        target = with_entries(target, [*target.entries, *(entries if is_move else map(copy_entry, entries))])
        if is_move:
            self.edit_worlds(self.tr("moving entries"), target, without_entries(self.world, entries))
        else:
            self.edit_worlds(title or self.tr("copying entries"), target)

    def reorder(self, moved: Collection[UUID], before: UUID | None) -> None:
        """Move entries before another one; None is the end."""
        if self.world is not None:
            self.edit_entries(self.tr("reordering entries"), reorder_entries(self.world.entries, moved, before))

    # Requests to the world service, which are asynchronous.

    def create_world(self) -> None:
        name = self._find_free_name(self.tr("New world"))
        self._add_world(self.tr("adding a world"), lambda: self._worlds.create(name))

    def duplicate_world(self) -> None:
        source = self.world
        if source is not None:
            name = self._find_free_name(self.tr("{name} (copy)").format(name=source.name))
            title = self.tr("duplicating “{name}”").format(name=source.name)
            self._add_world(title, lambda: self._worlds.duplicate(source, name))

    def _find_free_name(self, base_name: str) -> str:
        taken = {open_world.world.name for open_world in self.open_worlds.values()}
        numbered = (f"{base_name} {number}" for number in count(2))
        return next(name for name in chain([base_name], numbered) if name not in taken)

    def _add_world(self, title: str, create: Callable[[], Awaitable[World]]) -> None:
        """Create a world and show it. Redo restores its file from the trash instead of creating another world."""
        created, trashed = list[World](), list[Path]()

        async def redo_step() -> None:
            if trashed:
                await self.load_worlds(await self._worlds.restore(trashed.pop()))
            else:
                created[:] = [await create()]
                await self.load_worlds(created[0].unique_name)
                self.world_added.emit()

        async def undo_step() -> None:
            trashed.append(await self._trash_world(created[0].unique_name))

        self.commands.run_command(title, redo_step, undo_step)

    def delete_world(self) -> None:
        """Move the world on display to the trash, and show a notification that offers to restore it."""
        world, trashed = self.world, list[Path]()
        if world is None:
            return

        async def redo_step() -> None:
            trashed.append(await self._trash_world(world.unique_name))
            text = self.tr("“{name}” was deleted.").format(name=world.name)
            self.commands.notify_undoable(self._context.notifier, text, command)

        async def undo_step() -> None:
            if trashed:  # neither undone nor taken back yet
                await self.load_worlds(await self._worlds.restore(trashed.pop()))

        title = self.tr("deleting “{name}”").format(name=world.name)
        command = self.commands.run_command(title, redo_step, undo_step)

    async def _trash_world(self, stem: str) -> Path:
        path = await self._worlds.delete(stem)
        self.open_worlds.pop(stem, None)  # what is typed while the others are read must not bring it back
        await self.load_worlds()
        return path

    def set_binding(self, title: str, owner: WorldOwner, *, is_bound: bool) -> None:
        """Assign the world on display to an owner, or remove it from there."""
        stem, session = self.stem, self._context.current_session()

        async def apply_binding(*, there: bool) -> None:
            await self._worlds.bind(stem, owner, session, is_bound=there)
            self.bindings = await self._worlds.session_worlds(session)
            self.list_changed.emit()

        self.commands.run_command(title, partial(apply_binding, there=is_bound), partial(apply_binding, there=not is_bound))


def with_entries(world: World, entries: Sequence[WorldEntry]) -> World:
    """Return the world with these entries in place of its own."""
    return world.model_copy(update={"entries": list(entries)})


def without_entries(world: World, entries: Iterable[WorldEntry]) -> World:
    """Return the world without these entries."""
    guids = {entry.guid for entry in entries}
    return with_entries(world, [entry for entry in world.entries if entry.guid not in guids])
