"""Undo commands of pages: changes of a form field, and steps that call a service."""

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
"""Coroutine function that runs or reverts a command."""
NO_MERGE = -1
"""Qt merges no command with this id."""


class FieldChange(QUndoCommand):
    """Change of one field of a form. Text typed into the same field without interruption is one command."""

    def __init__(self, title: str, name: str, old: object, new: object, put: Callable[[str, object], None]) -> None:
        """Create the command; `put(name, value)` shows and stores the value. It is called for undo and redo, and when the
        command is pushed.
        """
        super().__init__(title)
        self.name, self.new = name, new
        self._old, self._put = old, put

    def id(self) -> int:
        """Return one id for all text changes of the same field, so that Qt merges them."""
        # The id of a QUndoCommand is a C int, and -1 means that it is not merged.
        return hash(self.name) & 0x7FFFFFFF if isinstance(self.new, str) else NO_MERGE

    def mergeWith(self, other: QUndoCommand) -> bool:
        """Merge a later change of the same field; a text that is the original one again removes the command."""
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
    """Runs asynchronous commands one after the other, in the order of the user's actions."""

    def __init__(self, stack: QUndoStack, bridge: Bridge, after: Callable[[], object] | None = None) -> None:
        """Create the runner; `after` is called after every step, also a failed one, to refresh the page."""
        self._stack, self._bridge, self._after = stack, bridge, after
        self._turn = asyncio.Lock()

    def do(self, title: str, forth: Step, back: Step) -> None:
        """Run `forth` now and push it as a command whose undo is `back`. A failed command is reported and removed from the
        stack.
        """
        self._stack.push(_QueuedCommand(title, forth, back, self))

    def run(self, command: _QueuedCommand, step: Step) -> None:
        """Queue one step of a command."""
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
        """Remove a failed command from the stack, if it is the one that would be undone next."""
        index = self._stack.index()
        if index and self._stack.command(index - 1) is command:
            # The stack can only remove the command by undoing it, which must not run its step.
            command.is_dead = True
            self._stack.undo()


class _QueuedCommand(QUndoCommand):
    """Command whose undo and redo call a service."""

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
    """Event filter on the focused field of `page` that leaves the keys of undo and redo to the window's shortcuts, and so to
    the undo stack of the page.
    """

    def __init__(self, page: QWidget) -> None:
        super().__init__(page)
        self._page = page
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        self._application = application
        application.focusChanged.connect(self._follow)

    def close(self) -> None:
        """Stop following the focus."""
        self._application.focusChanged.disconnect(self._follow)

    def _follow(self, _old: QWidget | None, new: QWidget | None) -> None:
        if new is not None and self._page.isAncestorOf(new):
            new.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return super().eventFilter(watched, event)
        is_ours = any(event.matches(keys) for keys in UNDOERS)
        if is_ours:
            # A text field accepts the override for its own undo; the shortcut is only activated if nobody does.
            event.ignore()
        return is_ours
