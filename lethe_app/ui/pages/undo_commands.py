"""What the user does on a page, as commands that can be undone: some change a value at once, others ask a service."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QKeyEvent, QKeySequence, QUndoCommand, QUndoStack
from PySide6.QtWidgets import QApplication, QWidget

if TYPE_CHECKING:
    from lethe_app.ui.core.tasks import Bridge

Step = Callable[[], Awaitable[object]]
NO_MERGE = -1


class FieldChange(QUndoCommand):
    """One field of a form; what is typed into the same field in one go is undone in one go."""

    def __init__(self, title: str, name: str, old: object, new: object, put: Callable[[str, object], None]) -> None:
        """`put(name, value)` shows and keeps the value; it is called for redo and undo, and at once."""
        super().__init__(title)
        self.name, self.new = name, new
        self._old, self._put = old, put

    def id(self) -> int:
        return hash(self.name) & 0x7FFFFFFF if isinstance(self.new, str) else NO_MERGE

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, FieldChange) or other.name != self.name:
            return False
        self.new = other.new
        self.setObsolete(self.new == self._old)
        return True

    def redo(self) -> None:
        self._put(self.name, self.new)

    def undo(self) -> None:
        self._put(self.name, self._old)


class CommandRunner:
    """Runs the steps of commands one after the other, in the order in which the user asked for them."""

    def __init__(self, stack: QUndoStack, bridge: Bridge, after: Callable[[], object] | None = None) -> None:
        """`after` is called when a step is done, to show what is true now."""
        self._stack, self._bridge, self._after = stack, bridge, after
        self._turn = asyncio.Lock()

    def do(self, title: str, forth: Step, back: Step) -> None:
        """Do `forth` now; undo is `back`, redo is `forth` again. What fails is reported and forgotten."""
        self._stack.push(_QueuedCommand(title, forth, back, self))

    def run(self, command: _QueuedCommand, step: Step) -> None:
        self._bridge.spawn(self._in_turn(command, step))

    async def _in_turn(self, command: _QueuedCommand, step: Step) -> None:
        async with self._turn:
            try:
                await step()
            except Exception:
                command.setObsolete(True)
                self._drop(command)
                raise
            finally:
                if self._after is not None:
                    self._after()

    def _drop(self, command: _QueuedCommand) -> None:
        """Take a command that failed off the stack, if it is the one that would be undone next."""
        index = self._stack.index()
        if index and self._stack.command(index - 1) is command:
            command.is_dead = True
            self._stack.undo()


class _QueuedCommand(QUndoCommand):
    """A wish to a service and its opposite."""

    def __init__(self, title: str, forth: Step, back: Step, deeds: CommandRunner) -> None:
        super().__init__(title)
        self._forth, self._back, self._deeds = forth, back, deeds
        self.is_dead = False

    def redo(self) -> None:
        self._deeds.run(self, self._forth)

    def undo(self) -> None:
        if not self.is_dead:
            self._deeds.run(self, self._back)


UNDOERS = (QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo)


class UndoGuard(QObject):
    """Stands before every field of `page` that gets the focus, so that the window's own shortcuts see these keys."""

    def __init__(self, page: QWidget) -> None:
        super().__init__(page)
        self._page = page
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        self._application = application
        application.focusChanged.connect(self._follow)

    def close(self) -> None:
        self._application.focusChanged.disconnect(self._follow)

    def _follow(self, _old: QWidget | None, new: QWidget | None) -> None:
        if new is not None and self._page.isAncestorOf(new):
            new.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return super().eventFilter(watched, event)
        is_ours = any(event.matches(keys) for keys in UNDOERS)
        if is_ours:
            event.ignore()
        return is_ours
