"""Files of other programs, changed at random, are read and imported for as long as asked: nothing crashes, hangs or escapes.

Valid files of every format are changed in bytes, in JSON values, in structure and in the packing around them. Every file is
read; each hundredth is imported into a real home too. `crashes` are exceptions other than a FileError, `hangs` are files that
took more than a second, `escapes` are files outside the home that the process opened for writing, renamed or removed, as
Python's audit hook reports them, `peak_mb` is the largest growth of
the process over its size at the beginning, in MB.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import random
import struct
import sys
import tempfile
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from lethe_app.app import build
from lethe_app.composition.app_services import AppServices
from lethe_app.errors import FileError
from lethe_app.interchange.cards import png
from lethe_app.interchange.external_file import read_external_file
from lethe_app.paths import Paths
from tests.bench.report import Figures, run
from tests.interchange import external_files as files
from tests.interchange.test_lorebooks import OTHERS as BOOKS
from tests.interchange.test_presets import CHATML
from tests.interchange.test_transcripts import OTHERS as CHATS

MAX_SECONDS, IMPORT_EVERY = 1.0, 100
ODD: tuple[object, ...] = (
    None, True, -1, 0, 1e308, 2**70, "", "\0", "\ud800", "a" * 5000, "{{char}}" * 500, "@@" * 300, "/(a+)+$/",
    "../../etc/passwd", [], {}, [[]], [None] * 50, {"": {"": {}}}, "1e400", "٣", "<script>", "=cmd()", -(2**63),
)  # fmt: skip
"""Values put in the place of others."""


def originals() -> list[tuple[str, bytes]]:
    """A valid file of every format, by name."""
    book = {"name": "B", "entries": [files.book_entry(), files.book_entry(id=5, content="@@depth 2\n@@@role user\nText")]}
    cards = [
        files.v2_card(character_book=book),
        files.v3_card(character_book=book),
        {"name": "A", "description": "x", "first_mes": "y"},
    ]
    found = [(f"card{number}.json", files.as_bytes(card)) for number, card in enumerate(cards)]
    found += [
        (f"card{number}.png", png.write_cards(files.picture(), {"chara": files.as_bytes(card)}, "x"))
        for number, card in enumerate(cards)
    ]
    found += [("card.webp", files.webp_with_comment(base64.b64encode(files.as_bytes(cards[0]))))]
    found += [
        ("card.charx", files.archive({"card.json": files.as_bytes(cards[1]), "assets/icon/images/a.png": files.picture()}))
    ]
    found += [("card.yaml", b"name: Bo\ncontext: |\n  tall\ngreeting: hey\n")]
    found += [
        ("world.json", files.as_bytes(files.world_info())),
        ("v3.json", files.as_bytes({"spec": "lorebook_v3", "data": book})),
    ]
    found += [(f"{name}.json", files.as_bytes(value)) for name, value in (BOOKS | CHATS).items()]
    found += [
        ("Vera.brain", files.as_bytes([files.lethe_memory()])),
        ("chat.jsonl", files.chat_file()),
        ("instruct.json", files.as_bytes(CHATML)),
    ]
    found += [("sampler.json", files.as_bytes({"temp": 1, "top_p": 1, "top_k": 0, "dry_sequence_breakers": '["a"]'}))]
    return found


def change_bytes(content: bytes, rng: random.Random) -> bytes:
    """Flip, cut, repeat or insert a few bytes."""
    changed = bytearray(content)
    for _ in range(rng.randint(1, 6)):
        place = rng.randrange(len(changed) + 1)
        match rng.randrange(4):
            case 0 if changed:
                changed[place % len(changed)] = rng.randrange(256)
            case 1:
                del changed[place : place + rng.randint(1, 40)]
            case 2:
                changed[place:place] = changed[place : place + rng.randint(1, 200)] * rng.randint(1, 5)
            case _:
                changed[place:place] = rng.randbytes(rng.randint(1, 12))
    return bytes(changed)


def change_value(value: object, rng: random.Random) -> object:
    """Replace, drop, double or rename something within a JSON value."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        name = rng.choice(list(value))
        changed = dict(value)
        match rng.randrange(6):
            case 0:
                changed[name] = rng.choice(ODD)
            case 1:
                del changed[name]
            case 2:
                changed[rng.choice(list(value))] = changed.pop(name)
            case _:
                changed[name] = change_value(value[name], rng)
        return changed
    if isinstance(value, list) and value and rng.random() < 0.85:
        place = rng.randrange(len(value))
        doubled = value * rng.choice((1, 1, 1, 5))
        return [*doubled[:place], change_value(value[place], rng), *doubled[place + 1 :]]
    return rng.choice(ODD)


def change(name: str, content: bytes, rng: random.Random) -> bytes:
    """Change a file in its values where these are known, or else in its bytes."""
    if rng.random() < 0.4:
        return change_bytes(content, rng)
    if name.endswith(".json"):
        value: object = json.loads(content)
        for _ in range(rng.randint(1, 4)):
            value = change_value(value, rng)
        return json.dumps(value).encode()
    if name.endswith(".jsonl"):
        lines = content.splitlines()
        place = rng.randrange(len(lines))
        lines[place] = json.dumps(change_value(json.loads(lines[place]), rng)).encode()
        return b"\n".join(lines * rng.choice((1, 1, 1, 30)))
    if name.endswith(".png"):
        card = change_value(json.loads(png.decode_card(png.read_texts(content, name)["chara"], name)), rng)
        packed = base64.b64encode(json.dumps(card).encode())
        kind, data = rng.choice(((b"tEXt", b"ccv3\0" + packed), (b"zTXt", b"chara\0\0" + zlib.compress(packed))))
        length = rng.choice((len(data), len(data), 2**31, 0))
        chunk = struct.pack(">I", length) + kind + data + struct.pack(">I", 0)
        return content[:33] + chunk + content[33:]
    return change_bytes(content, rng)


class Fuzzing:
    """Counts of one run."""

    def __init__(self, home: Path, services: AppServices, seed: int) -> None:
        self.home, self.services, self.rng = home, services, random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.slowest = 0.0
        self.peak = 0
        self.size = psutil.Process().memory_info().rss
        self.first_crash = ""

    @contextmanager
    def counted(self, name: str) -> Iterator[None]:
        """Count how the work within ends: under this name, as refused or as a crash."""
        try:
            yield
            self.counts[name] += 1
        except FileError:
            self.counts["refused"] += 1
        except Exception:
            self.counts["crashes"] += 1
            self.first_crash = self.first_crash or traceback.format_exc()

    def read_file(self, name: str, content: bytes) -> None:
        began = time.perf_counter()
        with self.counted("read"):
            read_external_file(content, name)
        took = time.perf_counter() - began
        self.slowest = max(self.slowest, took)
        self.counts["hangs"] += took > MAX_SECONDS
        self.peak = max(self.peak, psutil.Process().memory_info().rss - self.size)

    async def import_file(self, name: str, content: bytes) -> None:
        """Import a file into the home, and take it back."""
        file = self.home.parent / "inbox" / name
        file.write_bytes(content)
        began = time.perf_counter()
        with self.counted("imported"):
            result = await self.services.imports.run(await self.services.imports.read_plan([file]))
            await self.services.imports.revert(result)
        self.counts["slow imports"] += time.perf_counter() - began > 5 * MAX_SECONDS


async def measure(seconds: float, seed: int) -> Figures:
    """Read and import changed files for that many seconds."""
    with tempfile.TemporaryDirectory() as folder:
        home, inbox = Path(folder) / "home", Path(folder) / "inbox"
        inbox.mkdir()
        services = await build(Paths.standard(home), engine="echo")
        fuzzing, valid = Fuzzing(home, services, seed), originals()
        watch = WriteWatch(Path(folder))
        watch.is_watching = True
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            name, content = fuzzing.rng.choice(valid)
            changed = change(name, content, fuzzing.rng)
            fuzzing.counts["inputs"] += 1
            fuzzing.read_file(name, changed)
            if fuzzing.counts["inputs"] % IMPORT_EVERY == 0:
                await fuzzing.import_file(name, changed)
                await asyncio.sleep(0)
        watch.is_watching = False
        await services.close()
    if fuzzing.first_crash:
        print(fuzzing.first_crash, file=sys.stderr)
    counts = fuzzing.counts
    return {
        "inputs": counts["inputs"],
        "crashes": counts["crashes"],
        "hangs": counts["hangs"] + counts["slow imports"],
        "escapes": len(watch.escapes),
        "read": counts["read"],
        "refused": counts["refused"],
        "imported": counts["imported"],
        "slowest_ms": fuzzing.slowest * 1000,
        "peak_mb": fuzzing.peak / 1e6,
    }


class WriteWatch:
    """Notes the files outside a folder that this process writes, renames or removes."""

    EVENTS = frozenset({"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "shutil.rmtree"})

    def __init__(self, folder: Path) -> None:
        self._folder = os.path.realpath(folder)
        self.is_watching = False
        self.escapes: set[str] = set()
        sys.addaudithook(self._note)  # which cannot be removed again

    def _note(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self.is_watching or event not in self.EVENTS:
            return
        path = arguments[0]
        if event == "open" and not (isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)):
            return
        name = os.path.realpath(path) if isinstance(path, str | os.PathLike) else ""
        if name and not name.startswith((self._folder, "/dev/")):
            self.escapes.add(name)


if __name__ == "__main__":
    run(
        __doc__,
        lambda wanted: measure(wanted.seconds, wanted.seed),
        ("--seconds", {"type": float, "default": 20.0, "help": "how long to go on"}),
        ("--seed", {"type": int, "default": 7, "help": "another seed gives other files"}),
    )
