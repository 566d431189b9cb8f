"""A conversation of six thousand tokens opened again: what the program kept of it against reading it anew, in one run.

Everything goes by the program's own services: the house is built, spoken in, closed and built again. Somebody speaks as soon as
the model is loaded, so nothing is read ahead; `evaluated_*` are the tokens that were computed before the first word of the
reply, `ttft_ratio` is the time from Enter to that word, warm over cold. Memories are found by words alone, so that no
embedding model is being loaded beside. `evaluated_return` are the tokens computed on the return to it within one run, after
another conversation was read. `closing_seconds` is what closing takes with all that is kept.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from uuid import UUID

from lethe_app.app import build
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.model import Usage
from lethe_app.paths import Paths
from lethe_app.services.events import ReplyFinished, ReplyText
from lethe_app.storage.chats.sessions import SessionStore
from tests.bench._setup import SMALL_TALK, starter_model
from tests.bench.report import Measured, Row, run

CONTEXT, LONG, REPLY = 8192, 6000, 24
ROUNDS = 3
TOKENS_BETWEEN = 600
"""Tokens of the conversation that is read before the return to the long one."""
"""How often it is opened warm; once it is read anew."""
ASKED = ("And what became of it?", "Did you ever go back?", "Who told you that?", "And then?")


@dataclass(frozen=True)
class Opened:
    """One reopening."""

    first: float
    """Seconds from Enter to the first word."""
    usage: Usage
    closing: float
    """Seconds."""


def lines() -> Iterator[str]:
    """Small talk that does not end and never says quite the same."""
    count = len(SMALL_TALK)
    for number, line in enumerate(cycle(SMALL_TALK)):
        yield f"{line} That was the {number + 1}th thing, {SMALL_TALK[(7 * number + number // count) % count].lower()}"


async def write(services: AppServices, wanted: int) -> ChatSession:
    """A conversation of so many tokens, as if it had been held."""
    session = await services.sessions.new("mira")
    chats, length, talk = SessionStore(services.database), 0, lines()
    while length < wanted:
        for role, name in ((Role.USER, "You"), (Role.ASSISTANT, "Mira")):
            text = next(talk)
            length += await services.token_counts.count_one(text) + 6
            said = [Alternative(content=text)]
            await chats.add_message(Message(session_id=session.guid, role=role, speaker_name=name, alternatives=said))
    return session


async def spoken(services: AppServices, session: UUID, text: str) -> tuple[float, Usage]:
    """Seconds to the first word, and what the turn cost."""
    began, first, usage = time.perf_counter(), 0.0, Usage()
    async with aclosing(services.chat.send(session, text)) as events:
        async for event in events:
            if isinstance(event, ReplyText):
                first = first or time.perf_counter() - began
            elif isinstance(event, ReplyFinished):
                usage = event.usage
    return first, usage


async def opened(paths: Paths, model: Path, session: UUID, text: str, *, warm: bool) -> Opened:
    """Open the house, speak at once, and let the model read what comes next, as it does while people think; then close."""
    services = await build(paths, by_meaning=False)
    try:
        if not warm:
            await services.cache_state.clear()
        await services.models.load(model)
        first, usage = await spoken(services, session, text)
        await services.prefill.finish()
    finally:
        began = time.perf_counter()
        await services.close()
    return Opened(first, usage, time.perf_counter() - began)


@asynccontextmanager
async def running(paths: Paths, model: Path) -> AsyncIterator[AppServices]:
    """The program with its model loaded."""
    services = await build(paths, by_meaning=False)
    try:
        await services.models.load(model)
        yield services
    finally:
        await services.close()


async def returned(paths: Paths, model: Path, session: UUID) -> Usage:
    """Speak in a conversation, then in a newer one with the same persona, and then in the first again, in one run."""
    async with running(paths, model) as services:
        await spoken(services, session, "Where were we?")
        newer = await write(services, TOKENS_BETWEEN)
        await spoken(services, newer.guid, "And how are you?")
        await services.prefill.finish()
        return (await spoken(services, session, "Back to the other thing."))[1]


async def measure(folder: Path, tokens: int) -> tuple[list[Opened], Opened, int, Usage]:
    """Warm, cold, the bytes that lay on the disk, and the return to a conversation."""
    model, paths = starter_model(), Paths.standard(folder)
    async with running(paths, model) as services:
        await services.preferences.set(context=CONTEXT, max_reply=REPLY)
        session = await write(services, tokens)
    asked = iter(ASKED)
    cold = await opened(paths, model, session.guid, next(asked), warm=False)
    warm = [await opened(paths, model, session.guid, next(asked), warm=True) for _round in range(ROUNDS)]
    size = sum(path.stat().st_size for path in paths.states.iterdir())
    return warm, cold, size, await returned(paths, model, session.guid)


async def compare(tokens: int) -> Measured:
    """Every reopening, and the figures."""
    with tempfile.TemporaryDirectory() as folder:
        warm, cold, size, back = await measure(Path(folder), tokens)
    rows: list[Row] = [
        (
            f"{name}, {number}. time",
            f"{one.usage.evaluated_tokens} of {one.usage.prompt_tokens} tokens evaluated, first word after {one.first:.2f} s",
        )
        for name, results in (("cold", [cold]), ("warm", warm))
        for number, one in enumerate(results, 1)
    ]
    figures = {
        "evaluated_warm": max(one.usage.evaluated_tokens for one in warm),
        "evaluated_cold": cold.usage.evaluated_tokens,
        "evaluated_return": back.evaluated_tokens,
        "ttft_warm": statistics.median(one.first for one in warm),
        "ttft_cold": cold.first,
        "ttft_ratio": statistics.median(one.first for one in warm) / cold.first,
        "closing_seconds": max(one.closing for one in [cold, *warm]),
        "megabytes": size / (1 << 20),
    }
    return rows, figures


if __name__ == "__main__":
    option = ("--tokens", {"type": int, "default": LONG, "help": "of the conversation"})
    run(__doc__, lambda wanted: compare(wanted.tokens), option)
