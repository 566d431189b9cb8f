"""Undo commands of pages: changes of a form field, and steps that call a service.

Each page's own steps are in its `commands`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QKeyEvent, QKeySequence, QUndoCommand, QUndoStack
from PySide6.QtWidgets import QApplication, QWidget

if TYPE_CHECKING:
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.shell.notifier import Notifier

Step = Callable[[], Awaitable[object]]
"""Coroutine function that runs or reverts a command. One that runs a command may return the step that reverts it."""
NO_MERGE = -1
"""Qt merges no command with this id."""
MAX_TYPING_PAUSE = 2.0
"""Seconds between two changes of a text from which they are undone one by one."""
SENTENCE_ENDS = frozenset(".!?…\n")
"""Characters after which a new command begins."""


class FieldChange(QUndoCommand):
    """Change of one field of a form. What is typed into a text without a pause is one command, up to the end of a sentence;
    so is what is deleted from it.
    """

    def __init__(self, title: str, name: str, old: object, new: object, apply_value: Callable[[str, object], None]) -> None:
        """Create the command; `apply_value(name, value)` shows and stores the value. It is called for undo and redo, and when
        the command is pushed.
        """
        super().__init__(title)
        self.name, self.new = name, new
        self._old, self._apply_value = old, apply_value
        self.text_index, self.inserted = find_change(old, new)
        self.changed_at = time.monotonic()
        # What is typed next replaces the selection that was deleted.
        self._has_cleared_selection = (
            isinstance(old, str) and isinstance(new, str) and not self.inserted and len(old) - len(new) > 1
        )

    def id(self) -> int:
        """Return one id for all changes of the same text, so that Qt merges them."""
        # The id of a QUndoCommand is a C int, and -1 means that it is not merged.
        return hash((self.name, self.text_index)) & 0x7FFFFFFF if self.text_index is not None else NO_MERGE

    def mergeWith(self, other: QUndoCommand) -> bool:
        """Merge a later change of the same text; a text that is the original one again removes the command."""
        if not isinstance(other, FieldChange) or (other.name, other.text_index) != (self.name, self.text_index):
            return False
        has_paused = other.changed_at - self.changed_at > MAX_TYPING_PAUSE
        first = other.inserted.strip()[:1]
        begins_sentence = self.inserted[-1:] in SENTENCE_ENDS and bool(first) and first not in SENTENCE_ENDS
        is_other_kind = bool(self.inserted) != bool(other.inserted) and not self._has_cleared_selection
        if has_paused or begins_sentence or is_other_kind:
            return False
        self.new, self.changed_at, self._has_cleared_selection = other.new, other.changed_at, False
        self.inserted = other.inserted.rstrip(" ") or self.inserted  # the space after a sentence belongs to it
        self.setObsolete(self.new == self._old)
        return True

    def redo(self) -> None:
        self._apply_value(self.name, self.new)

    def undo(self) -> None:
        self._apply_value(self.name, self._old)


def find_change(old: object, new: object) -> tuple[int | None, str]:
    """Return the index of the text that differs in a list of texts, -1 for a plain text and None for any other change, and
    what was inserted into the text; empty if something was only deleted.
    """
    if isinstance(old, str) and isinstance(new, str):
        start = common_prefix_length(old, new)
        rest = common_prefix_length(old[start:][::-1], new[start:][::-1])
        return -1, new[start : len(new) - rest]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        changed = [index for index, (before, after) in enumerate(zip(old, new, strict=True)) if before != after]
        if len(changed) == 1:
            index, (is_text, inserted) = changed[0], find_change(old[changed[0]], new[changed[0]])
            return (index if is_text == -1 else None), inserted
    return None, ""


def common_prefix_length(first: str, second: str) -> int:
    """Return the length of the common prefix, by bisection: texts may be long, and this runs at every key press."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if first[low:middle] == second[low:middle] else (low, middle - 1)
    return low


class CommandRunner:
    """Runs asynchronous commands one after the other, in the order of the user's actions."""

    def __init__(
        self,
        stack: QUndoStack,
        tasks: TaskRunner,
        before_step: Step | None = None,
        on_step_done: Callable[[], object] = lambda: None,
    ) -> None:
        """Create the runner. `before_step` is run before every step, to store what was typed; `on_step_done` is called after
        every step, also a failed one, to refresh the page.
        """
        self._stack, self._tasks, self._before_step, self._on_step_done = stack, tasks, before_step, on_step_done
        self._lock = asyncio.Lock()
        self.is_open = True
        """True until the page is closed; its undo stack may be used only while this is true."""

    def run_command(self, title: str, redo_step: Step, undo_step: Step | None = None) -> QueuedCommand:
        """Run `redo_step` now and push it as a command whose undo is `undo_step`, or without one the step that `redo_step`
        returns; return the command. A failed one is reported and removed from the stack.
        """
        command = QueuedCommand(title, redo_step, undo_step, self)
        self._stack.push(command)
        return command

    def notify_undoable(self, notifier: Notifier, text: str, command: QueuedCommand) -> None:
        """Show a notification of a command, with a button that undoes it; undoing the command closes it, and if it was undone
        already there is none.

        Once another command is on top of the stack, or the page and its stack are gone, only the step of its undo is run.
        """
        if command.is_undone:
            return
        stack = self._stack

        def undo() -> None:
            if self.is_open and stack.index() and stack.command(stack.index() - 1) is command:
                stack.undo()
            else:
                self._tasks.start_task(self._prepare_and_run(command.run_undo_step))

        command.withdraw_notice = notifier.notify_undoable(text, undo)

    def queue_step(self, command: QueuedCommand, step: Step) -> None:
        """Queue one step of a command."""
        self._tasks.start_task(self._run_step(command, step))

    async def _run_step(self, command: QueuedCommand, step: Step) -> None:
        async with self._lock:
            try:
                await self._prepare_and_run(step)
            except Exception:
                command.setObsolete(True)
                self._remove_command(command)
                raise
            finally:
                self._on_step_done()

    async def _prepare_and_run(self, step: Step) -> None:
        if self._before_step is not None:
            await self._before_step()
        await step()

    def _remove_command(self, command: QueuedCommand) -> None:
        """Remove a failed command from the stack, if it is the one that would be undone next."""
        index = self._stack.index()
        if index and self._stack.command(index - 1) is command:
            # The stack can only remove the command by undoing it, which must not run its step.
            command.is_dead = True
            self._stack.undo()


class QueuedCommand(QUndoCommand):
    """Command whose undo and redo call a service."""

    def __init__(self, title: str, redo_step: Step, undo_step: Step | None, runner: CommandRunner) -> None:
        super().__init__(title)
        self._redo_step, self._undo_step, self._runner = redo_step, undo_step, runner
        self._returns_undo = undo_step is None
        self.is_dead = self.is_undone = False
        self.withdraw_notice: Callable[[], None] = lambda: None
        """Function that withdraws the notification that offers to undo the command."""

    def redo(self) -> None:
        self.is_undone = False
        self._runner.queue_step(self, self._run_redo_step)

    async def _run_redo_step(self) -> None:
        result = await self._redo_step()
        if self._returns_undo:
            self._undo_step = cast("Step", result)

    async def run_undo_step(self) -> None:
        """Take back what the command did; nothing if it failed."""
        if self._undo_step is not None:
            await self._undo_step()

    def undo(self) -> None:
        self.is_undone = True
        self.withdraw_notice()
        if not self.is_dead:
            self._runner.queue_step(self, self.run_undo_step)


UNDO_REDO_KEYS = (QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo)


class UndoGuard(QObject):
    """Event filter on the focused field, if it is `form` or within it, that leaves the keys of undo and redo to the window's
    shortcuts, and so to the undo stack of the page.
    """

    def __init__(self, form: QWidget) -> None:
        super().__init__(form)
        self._form = form
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        self._application = application
        application.focusChanged.connect(self._watch_focused_field)

    def stop_watching(self) -> None:
        """Stop following the focus."""
        self._application.focusChanged.disconnect(self._watch_focused_field)

    def _watch_focused_field(self, _old: QWidget | None, new: QWidget | None) -> None:
        if new is not None and (new is self._form or self._form.isAncestorOf(new)):
            new.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return super().eventFilter(watched, event)
        is_undo_key = any(event.matches(keys) for keys in UNDO_REDO_KEYS)
        if is_undo_key:
            # A text field accepts the override for its own undo; the shortcut is only activated if nobody does.
            event.ignore()
        return is_undo_key
