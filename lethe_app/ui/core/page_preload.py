"""Imports the pages' modules one by one while nobody waits for anything, so that the first opening of a page is as quick as
the second.
"""

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
"""After the window is furnished: the start is over, and the conversation is there."""
STEP_MS = 30
"""Between two modules, each of which takes a few milliseconds."""
PACKAGES = ("lethe_app.ui.widgets", "lethe_app.ui.pages")
PREFIXES = tuple(f"{package}." for package in PACKAGES)


class Ahead(QObject):
    """Works from its making until all is there or it is closed; `may_go_on` is asked before each step."""

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
    """Each step looks into one module, or imports one, those first that others need; yields its name."""
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
    """Pages' modules whose names stand in its import lines; read from its compiled code, which a frozen program has, too."""
    code = _code_of(find_spec(name))
    return [one for one in code.co_names if one.startswith(PREFIXES)] if code is not None else []


def _code_of(spec: ModuleSpec | None) -> CodeType | None:
    told = getattr(spec.loader, "get_code", None) if spec is not None else None
    code = told(spec.name) if told is not None and spec is not None else None
    return code if isinstance(code, CodeType) else None
