"""How long a move from another program takes: a chat of 10,000 messages, a book of 5,000 entries, and 200 cards.

Each is read from a file, shown as a plan and stored in a home of its own, and the seconds are those of both together. While the
chat is imported the event loop is asked for a sign of life all the time: `longest_pause_ms` is the longest it was silent.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from lethe_app.interchange.cards import png
from tests.bench._setup import built
from tests.bench.report import run
from tests.interchange.external_files import as_bytes, picture, v2_card, world_info

MESSAGES, ENTRIES, CARDS = 10_000, 5_000, 200
TEXT = "The lamp was lit late, and the tide came in over the lower steps before anybody had noticed. " * 4


def write_chat(folder: Path) -> None:
    lines = [{"user_name": "Ann", "character_name": "Vera", "chat_metadata": {}}]
    lines += [
        {
            "name": "Ann" if number % 2 else "Vera",
            "is_user": bool(number % 2),
            "send_date": 1_600_000_000_000 + number * 600_000,
            "mes": f"{number}: {TEXT}",
            "extra": {"api": "koboldcpp", "model": "tide-7b", "token_count": 80},
            **({} if number % 2 else {"swipe_id": 1, "swipes": ["Another.", f"{number}: {TEXT}"]}),
        }
        for number in range(MESSAGES)
    ]
    (folder / "chat.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")


def write_book(folder: Path) -> None:
    entry = world_info()["entries"]["7"]  # type: ignore[index]
    entries = {str(number): {**entry, "uid": number, "key": [f"key {number}"], "content": TEXT} for number in range(ENTRIES)}
    (folder / "book.json").write_bytes(as_bytes({"entries": entries}))


def write_cards(folder: Path) -> None:
    for number in range(CARDS):
        book = {"entries": [{"keys": [f"key {entry}"], "content": TEXT, "insertion_order": entry} for entry in range(10)]}
        card = as_bytes(v2_card(name=f"Vera {number}", description=TEXT * 8, character_book=book, extensions={}))
        (folder / f"{number}.png").write_bytes(png.write_cards(picture(64), {"chara": card}, "x"))


async def longest_pause(stop: asyncio.Event) -> float:
    """Return the longest time in milliseconds in which the event loop did not get round."""
    longest, last = 0.0, time.perf_counter()
    while not stop.is_set():
        await asyncio.sleep(0.002)
        longest, last = max(longest, time.perf_counter() - last), time.perf_counter()
    return longest * 1000


async def measure(write: Callable[[Path], None]) -> tuple[float, float]:
    """Return the seconds of an import, and the longest pause of the event loop."""
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder)
        write(files)
        stop = asyncio.Event()
        async with built(personas={}) as services:
            watch = asyncio.create_task(longest_pause(stop))
            began = time.perf_counter()
            result = await services.imports.run(await services.imports.read_plan([files]))
            took = time.perf_counter() - began
            stop.set()
            assert not result.errors
            return took, await watch


async def measure_all() -> dict[str, float]:
    figures = {}
    for name, write in (("chat", write_chat), ("book", write_book), ("cards", write_cards)):
        took, pause = await measure(write)
        figures |= {f"{name}_seconds": took, f"{name}_longest_pause_ms": pause}
    return figures


if __name__ == "__main__":
    run(__doc__, lambda _wanted: measure_all())
