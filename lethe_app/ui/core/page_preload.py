"""Import of the pages' modules while the window is idle, so that a page opens as fast the first time as later."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import CodeType

from PySide6.QtCore import QObject, QTimerEvent

START_DELAY_MS = 5_000
"""Milliseconds after the window is complete before the first import, when the start is over and the session is shown."""
STEP_INTERVAL_MS = 30
"""Milliseconds between two steps; a module takes a few milliseconds."""
PACKAGES = ("lethe_app.ui.core.labels", "lethe_app.ui.widgets", "lethe_app.ui.pages")
MODULE_PREFIXES = tuple(f"{package}." for package in PACKAGES)


class PagePreload(QObject):
    """Timer that imports one module per step, until all are imported or it is closed. A step is skipped unless `can_continue`
    returns True.
    """

    def __init__(
        self,
        can_continue: Callable[[], bool],
        parent: QObject,
        start_delay_ms: int = START_DELAY_MS,
        step_interval_ms: int = STEP_INTERVAL_MS,
    ) -> None:
        super().__init__(parent)
        self._can_continue, self._step_interval_ms = can_continue, step_interval_ms
        self._steps = iter_import_steps()
        self._is_started = False
        self._timer = self.startTimer(start_delay_ms)

    def timerEvent(self, event: QTimerEvent) -> None:
        if event.timerId() != self._timer:
            return
        if not self._is_started:
            self._is_started = True
            self.killTimer(self._timer)
            self._timer = self.startTimer(self._step_interval_ms)
        if self._can_continue() and next(self._steps, None) is None:
            self.close()

    def close(self) -> None:
        if self._timer:
            self.killTimer(self._timer)
        self._timer = 0


def iter_import_steps() -> Iterator[str]:
    """Inspect or import one module per step, dependencies first, and yield its name.

    Importing a page's module directly would import everything it needs in one long step.
    """
    seen: set[str] = set()
    pending = [name for package in PACKAGES for name in _list_modules(package)][::-1]
    while pending:
        name = pending[-1]
        dependencies = (
            [] if name in seen or name in sys.modules else [one for one in _list_dependencies(name) if one not in seen]
        )
        if not dependencies:
            pending.pop()
            if name not in sys.modules:
                importlib.import_module(name)
        seen.add(name)
        pending += [one for one in dependencies if one not in sys.modules]
        yield name


def _list_modules(package: str) -> list[str]:
    """Return the names of all modules in a package and its sub-packages; imports only the packages themselves."""
    path = importlib.import_module(package).__path__
    return [name for _finder, name, is_package in pkgutil.walk_packages(path, f"{package}.") if not is_package]


def _list_dependencies(name: str) -> list[str]:
    """Return the modules of `PACKAGES` that a module imports, read from its compiled code, because a frozen program has no
    source.
    """
    code = _load_code(find_spec(name))
    return [one for one in code.co_names if one.startswith(MODULE_PREFIXES)] if code is not None else []


def _load_code(spec: ModuleSpec | None) -> CodeType | None:
    get_code = getattr(spec.loader, "get_code", None) if spec is not None else None
    code = get_code(spec.name) if get_code is not None and spec is not None else None
    return code if isinstance(code, CodeType) else None
