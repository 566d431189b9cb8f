"""Plays a long talk in a real house, with a clock and identities of its own, and keeps everything that went to the model."""

from __future__ import annotations

import os
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from random import Random
from types import SimpleNamespace
from unittest.mock import patch

from lethe_app.app import build
from lethe_app.composition import core
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import use_clock
from lethe_app.domain.prompt import Prompt, PromptTurn
from lethe_app.domain.recall import TurnMemory
from lethe_app.llm.client import ModelClient
from lethe_app.llm.models import bundled
from lethe_app.paths import Paths
from lethe_app.prompt.builder import Counter, PromptRequest
from lethe_app.services.chat import service as chat_service
from lethe_app.services.events import MemoriesRecalled, NoteAdded, PromptBuilt
from lethe_app.services.prompting import assembler
from lethe_app.storage.files.json_files import write_model
from tests.bench._long_talk import Exchange, TalkScript
from tests.bench._still_model import Call, StillModel, Watched
from tests.services.past_sessions import hold
from tests.services.tasks import Clock

BEGUN = datetime(2026, 11, 2, 19, 0, tzinfo=UTC)
PAUSE = 0.05
"""Seconds before reading ahead begins; in the program it waits a little longer, and nothing else changes."""
FILLS = {2048: 12, 4096: 40, 8192: 80}
"""Exchanges that about fill a context."""
WAIT = timedelta(minutes=3)
"""Between two turns."""
PERSONA, USER, WORLD = "she", "you", "velm"
STILL, WATCHED = "still", "watched"
KINDS: dict[str, Callable[[], StillModel | Watched]] = {STILL: StillModel, WATCHED: Watched}


@dataclass(frozen=True)
class Step:
    """One turn as it was played."""

    asked: str
    answer: Call
    """What the user waited for."""
    ahead: Sequence[Call]
    """What was read while they read the reply."""
    request: PromptRequest
    """What the prompt was made of."""
    memory: TurnMemory
    note: str
    """The hidden line above the user's words, if there is one."""


@dataclass
class Evening:
    """A talk as it was played."""

    before: list[PromptTurn]
    """What had been said in this conversation already."""
    opening: str
    """What the model read when the conversation was opened."""
    steps: list[Step] = field(default_factory=list)
    counted: list[int] = field(default_factory=list)
    """What a still model beside the real one says of each call, the opening's first."""
    evaluated: list[int] = field(default_factory=list)
    """What the real one says."""


@contextmanager
def still_time(begun: datetime = BEGUN) -> Iterator[Clock]:
    """Moments and identities are the same in every run, wherever it is."""
    clock, rng = Clock(begun), Random(3)
    os.environ["TZ"] = "UTC"
    if hasattr(time, "tzset"):
        time.tzset()
    with use_clock(clock), patch.object(uuid, "os", SimpleNamespace(urandom=rng.randbytes)):
        yield clock


@dataclass
class Scene:
    """A talk that goes on."""

    services: AppServices
    session: ChatSession
    model: StillModel | Watched
    clock: Clock
    requests: list[PromptRequest]
    before: list[PromptTurn]

    async def turn(self, exchange: Exchange) -> Step:
        """Ask, hear the reply, and read it at leisure."""
        self.clock.shown += WAIT
        if isinstance(self.model, StillModel):
            self.model.replies.append(exchange[1])
        before = len(self.model.calls)
        memory, note, request = TurnMemory(), "", self.requests[-1]
        async with aclosing(self.services.chat.send(self.session.guid, exchange[0])) as events:
            async for event in events:
                if isinstance(event, MemoriesRecalled):
                    memory = event.memory
                elif isinstance(event, NoteAdded):
                    note = event.message.content
                elif isinstance(event, PromptBuilt):
                    request = self.requests[-1]
        await until_read(self.services)
        answer, *ahead = self.model.calls[before:]
        assert answer.reply is not None
        return Step(exchange[0], answer, ahead, request, memory, note)


@asynccontextmanager
async def begun(
    script: TalkScript,
    context: int,
    opening: int,
    kind: str = STILL,
    *,
    by_meaning: bool = True,
    path: Path | None = None,
    **wishes: object,
) -> AsyncIterator[Scene]:
    """The script when its first `opening` exchanges were said, the day before; the model has read them."""
    path = path or bundled.chat_model()
    assert path is not None, "the starter model is not installed"
    model: list[StillModel | Watched] = []
    requests: list[PromptRequest] = []
    built = assembler.build_prompt

    def client(*, embeds_texts: bool = False) -> StillModel | Watched | ModelClient:
        if embeds_texts or kind not in KINDS:
            return ModelClient(embeds_texts=embeds_texts)
        model.append(KINDS[kind]())
        return model[-1]

    async def recorded(request: PromptRequest, count: Counter) -> Prompt:
        requests.append(request)
        return await built(request, count)

    with (
        still_time() as clock,
        tempfile.TemporaryDirectory() as folder,
        patch.object(core, "ModelClient", client),
        patch.object(assembler, "build_prompt", recorded),
        patch.object(chat_service, "PREFILL_DELAY", PAUSE),
    ):
        services = await prepare_home(Paths.standard(Path(folder)), script, kind, by_meaning=by_meaning)
        try:
            await services.preferences.set(context=context, **wishes)
            assert not by_meaning or await services.embedding.ensure_loaded(), "the starter embedder is not installed"
            session, before = await prepare_history(services, script, script.talk[:opening], clock)
            await services.models.load(path)
            clock.shown = BEGUN
            services.chat.follow_session(session.guid)
            await until_read(services)
            yield Scene(services, session, model[0], clock, requests, before)
        finally:
            await services.close()


async def play(script: TalkScript, context: int, opening: int, kind: str = STILL, **wishes: object) -> Evening:
    """All exchanges of the script behind the first `opening`.

    With a still model the replies are the script's, with a watched one the starter model's own. After every reply the user
    reads for as long as it takes the model to read ahead.
    """
    async with begun(script, context, opening, kind, **wishes) as scene:
        model = scene.model
        evening = Evening(scene.before, model.calls[-1].prompt)
        for exchange in script.talk[opening:]:
            evening.steps.append(await scene.turn(exchange))
        if isinstance(model, Watched):
            evening.counted = model.counted
            evening.evaluated = [call.usage.evaluated_tokens for call in model.calls]
        return evening


async def prepare_home(paths: Paths, script: TalkScript, kind: str, *, by_meaning: bool) -> AppServices:
    """A home in which the script can happen."""
    write_model(paths.personas / f"{PERSONA}.json", script.persona)
    write_model(paths.personas / f"{USER}.json", script.user)
    write_model(paths.worlds / f"{WORLD}.json", script.world)
    services = await build(paths, kind, by_meaning=by_meaning)
    await services.preferences.set(user_persona=USER, welcomed=True, rotation_minutes=0, min_insert_delay=0)
    return services


async def prepare_history(
    services: AppServices, script: TalkScript, said: Sequence[Exchange], clock: Clock
) -> tuple[ChatSession, list[PromptTurn]]:
    """What was before: conversations that are over and archived, what she knows, and the beginning of this one."""
    for place, exchanges in enumerate(script.earlier):
        clock.shown = BEGUN - timedelta(days=3 * (len(script.earlier) - place) + 1)
        session = await hold_exchanges(services, exchanges, clock.shown)
        await services.archive_queue.archive_session(session.guid)
    for memory in script.memories:
        moment = BEGUN - timedelta(days=2)
        dated = memory.model_copy(update={"added": moment, "last_trigger": moment})
        await services.memory.memorize(PERSONA, dated, check=False)
    for fact in script.facts:
        await services.facts.add(PERSONA, fact, pinned=True)
    clock.shown = BEGUN - timedelta(days=1)
    present = await hold_exchanges(services, said, clock.shown)
    await services.indexing.index_all_pending()
    messages = await services.sessions.page(present.guid, 0, 2 * len(said))
    return present, assembler.to_prompt_turns(messages, present.guid)


async def hold_exchanges(services: AppServices, exchanges: Sequence[Exchange], moment: datetime) -> ChatSession:
    """A conversation of some time ago."""
    return await hold(services, *chain.from_iterable(exchanges), at=moment, persona=PERSONA, user=USER)


async def until_read(services: AppServices) -> None:
    """The user reads on until the model has read everything there is."""
    await services.prefill.finish()
