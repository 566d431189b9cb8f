"""How far one plain message travels: functions and modules of the program from the services to the pipe, with the echo engine.

The third turn of a conversation is profiled, from `chat.send` until the generator ends. `functions` and `files` count each
function and each module of `lethe_app` once, `calls` every call, `jumps` every call into another module, and `storage_trips`
what was handed to the storage thread meanwhile.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType

import lethe_app
from lethe_app.storage.database import Database
from tests.bench._setup import built
from tests.bench.report import Figures, Row, run

ROOT = str(Path(lethe_app.__file__).parent)
LINES = ("Good evening.", "It is raining again.", "Let us go on.")


class Walk:
    """Counts calls of the program's own functions in this thread, through `sys.setprofile`."""

    def __init__(self) -> None:
        self.functions: Counter[CodeType] = Counter()
        self.jumps = 0
        self.trips = 0
        self._entered: set[FrameType] = set()
        """Frames that were entered; a coroutine is reported again whenever it goes on."""

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        """Count a call; `frame` is that of the function called."""
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(ROOT) or code.co_name.startswith("<"):
            return
        if frame in self._entered:
            return
        self._entered.add(frame)
        self.functions[code] += 1
        if code.co_qualname == "Database.run_outside_transaction":
            self.trips += 1
        caller = frame.f_back
        if caller is not None and caller.f_code.co_filename != code.co_filename:
            self.jumps += 1

    @property
    def files(self) -> Counter[str]:
        """Calls by module."""
        found: Counter[str] = Counter()
        for code, count in self.functions.items():
            found[Path(code.co_filename).relative_to(ROOT).as_posix()] += count
        return found


async def walked() -> Walk:
    """Return what the third turn of a conversation called."""
    assert callable(getattr(Database, "run_outside_transaction", None)), "storage trips are counted by this method"
    async with built(read_ahead=False) as services:
        script = services.paths.home / "echo.json"
        script.write_text(json.dumps({"replies": ["Yes."] * len(LINES)}), encoding="utf-8")
        await services.models.load(script)
        session = await services.sessions.new("mira-test")
        walk = Walk()
        for number, line in enumerate(LINES):
            await asyncio.sleep(0.5)  # what the turn before left to the background
            if number == len(LINES) - 1:
                sys.setprofile(walk)
            async for _event in services.chat.send(session.guid, line):
                pass
            sys.setprofile(None)
        return walk


async def measure() -> tuple[list[Row], Figures]:
    walk = await walked()
    figures = {
        "functions": float(len(walk.functions)),
        "files": float(len(walk.files)),
        "storage_trips": float(walk.trips),
        "calls": float(walk.functions.total()),
        "jumps": float(walk.jumps),
    }
    return list(walk.files.most_common(12)), figures


if __name__ == "__main__":
    run(__doc__, lambda _wanted: measure())
