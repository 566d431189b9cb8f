"""Event loop of the window: Qt and asyncio in one, safe to be called by threads that outlive it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import Context
from typing import Any

from PySide6.QtWidgets import QApplication
from qasync import QEventLoop


class WindowEventLoop(QEventLoop):
    """qasync's loop, whose `call_soon_threadsafe` raises RuntimeError once the loop is closed, as that of asyncio does.

    qasync emits a signal of a Qt object instead, which crashes when the interpreter has destroyed that object meanwhile: for
    example when a worker process ends in the moment in which the program does, and the thread that reads its pipe reports it.
    """

    def __init__(self, application: QApplication) -> None:
        self._calling = threading.RLock()
        super().__init__(application)

    def call_soon_threadsafe(self, callback: Callable[..., object], *args: Any, context: Context | None = None) -> Any:  # noqa: ANN401 - qasync's own signature
        with self._calling:
            if self.is_closed():
                raise RuntimeError("Event loop is closed")
            return super().call_soon_threadsafe(callback, *args, context=context)

    def close(self) -> None:
        super().close()  # without the lock: it waits for threads that call back
        with self._calling:  # the last call that found the loop open has ended
            pass
