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

BEGIN_MS = 5_000
"""Milliseconds after the window is complete before the first import, when the start is over and the session is shown."""
STEP_MS = 30
"""Milliseconds between two steps; a module takes a few milliseconds."""
PACKAGES = ("lethe_app.ui.widgets", "lethe_app.ui.pages")
PREFIXES = tuple(f"{package}." for package in PACKAGES)


class Ahead(QObject):
    """Timer that imports one module per step, until all are imported or it is closed. A step is skipped unless `may_go_on`
    returns True.
    """

    def __init__(self, may_go_on: Callable[[], bool], parent: QObject, begin: int = BEGIN_MS, step: int = STEP_MS) -> None:
        super().__init__(parent)
        self._may_go_on, self._step_ms = may_go_on, step
        self._steps = steps()
        self._is_under_way = False
        self._timer = self.startTimer(begin)

    def timerEvent(self, event: QTimerEvent) -> None:
        if event.timerId() != self._timer:
            return
        if not self._is_under_way:
            self._is_under_way = True
            self.killTimer(self._timer)
            self._timer = self.startTimer(self._step_ms)
        if self._may_go_on() and next(self._steps, None) is None:
            self.close()

    def close(self) -> None:
        if self._timer:
            self.killTimer(self._timer)
        self._timer = 0

    @property
    def is_over(self) -> bool:
        return not self._timer


def steps() -> Iterator[str]:
    """Inspect or import one module per step, dependencies first, and yield its name.

    Importing a page's module directly would import everything it needs in one long step.
    """
    seen: set[str] = set()
    waiting = [name for package in PACKAGES for name in _modules_of(package)][::-1]
    while waiting:
        name = waiting[-1]
        needed = [] if name in seen or name in sys.modules else [one for one in _needed_by(name) if one not in seen]
        if not needed:
            waiting.pop()
            if name not in sys.modules:
                importlib.import_module(name)
        seen.add(name)
        waiting += [one for one in needed if one not in sys.modules]
        yield name


def _modules_of(package: str) -> list[str]:
    """Return the names of all modules in a package and its sub-packages; imports only the packages themselves."""
    path = importlib.import_module(package).__path__
    return [name for _finder, name, is_package in pkgutil.walk_packages(path, f"{package}.") if not is_package]


def _needed_by(name: str) -> list[str]:
    """Return the modules of `PACKAGES` that a module imports, read from its compiled code, because a frozen program has no
    source.
    """
    code = _code_of(find_spec(name))
    return [one for one in code.co_names if one.startswith(PREFIXES)] if code is not None else []


def _code_of(spec: ModuleSpec | None) -> CodeType | None:
    told = getattr(spec.loader, "get_code", None) if spec is not None else None
    code = told(spec.name) if told is not None and spec is not None else None
    return code if isinstance(code, CodeType) else None
