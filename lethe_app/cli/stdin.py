"""Lines typed into the terminal, read by a thread that does not delay the exit of the program."""

from __future__ import annotations

import asyncio
import sys
import threading
from contextlib import suppress


class TypedLines:
    """Queue of typed lines. `read_line` returns one line after the other and None once the input has ended.

    Neither `input` nor `sys.stdin` is used: a thread that blocks in them keeps the program from ending until Enter is
    pressed.
    """

    def __init__(self) -> None:
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(loop,), daemon=True, name="typed-lines").start()

    async def read_line(self) -> str | None:
        line = await self._lines.get()
        if line is None:
            self._lines.put_nowait(None)
        return line

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        """Pass every line to the event loop, then None. Runs in the reader thread."""
        encoding = sys.stdin.encoding or "utf-8"
        with suppress(RuntimeError):  # the loop is closed: nobody waits for a line
            with suppress(OSError), open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as source:
                for line in source:
                    loop.call_soon_threadsafe(self._lines.put_nowait, line.decode(encoding, "replace"))
            loop.call_soon_threadsafe(self._lines.put_nowait, None)
