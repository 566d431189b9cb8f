"""What several measurements set up alike: homes with personas in them, and the starter models."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from lethe_app.app import build
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.model import LoadOptions
from lethe_app.llm.client import ModelClient
from lethe_app.llm.engines.llama import LlamaEngine
from lethe_app.llm.models import bundled
from lethe_app.llm.models.gguf_model import describe_model
from tests.bench.report import Measured
from tests.homes import Personas, write_personas
from tests.llm.model_files import load_engine

Result = TypeVar("Result")
HERE = Path(__file__).parent
SMALL_TALK = [line for line in (HERE / "smalltalk.txt").read_text(encoding="utf-8").splitlines() if line.strip()]
PERSONAS: dict[str, dict[str, object]] = {
    "mira-test": {"name": "Mira", "bio": "{{char}} is the navigator of the Petrel.", "first_messages": ["You are late."]},
    "tomas": {"is_user": True, "name": "Tomas", "bio": "The captain."},
}


@asynccontextmanager
async def built(
    engine: str = "echo",
    personas: Personas = PERSONAS,
    *,
    by_meaning: bool = False,
    **preferences: object,
) -> AsyncIterator[AppServices]:
    """The services of a new home with these personas, the last of which is the user."""
    with tempfile.TemporaryDirectory() as folder:
        paths = write_personas(Path(folder) / "home", personas)
        services = await build(paths, engine=engine, by_meaning=by_meaning)
        try:
            await services.preferences.set(**({"user_persona": list(personas)[-1]} if personas else {}), **preferences)
            assert not by_meaning or await services.embedding.ensure_loaded(), "the starter embedder is not installed"
            yield services
        finally:
            await services.close()


def starter_model() -> Path:
    """The chat model that ships with the program."""
    path = bundled.chat_model()
    assert path is not None, "the starter model is not installed"
    return path


def starter_engine(options: LoadOptions) -> LlamaEngine:
    """The engine of the program with the starter model, in this process."""
    return load_engine(starter_model(), options)


async def with_embedder(work: Callable[[Any], Awaitable[Result]], *, by_meaning: bool = True) -> Result:
    """Work with the function of the embedder that ships with the program, in a process of its own, or with None."""
    if not by_meaning:
        return await work(None)
    client = ModelClient(embeds_texts=True)
    await client.load(describe_model(bundled.embedding_model()), LoadOptions(), lambda _fraction: None)
    try:
        return await work(client.embed_tokens)
    finally:
        await client.close()


LOCOMO = ("--data", {"type": Path, "help": "a file in LoCoMo's format; without it nothing is measured"})
"""The option for data that may not be passed on, so that there is none to fall back on."""
WORDS = ("--words", {"action": "store_true", "help": "without an embedder"})


def on_locomo(
    measure: Callable[[Sequence[dict], Any, argparse.Namespace], Awaitable[Measured]],
) -> Callable[[argparse.Namespace], Awaitable[Measured]]:
    """Measure with the conversations of a file in LoCoMo's format, and with the function of the starter embedder or None."""

    async def work(wanted: argparse.Namespace) -> Measured:
        if wanted.data is None:
            return [("nothing measured", "name a file in LoCoMo's format with --data")], {}
        samples = json.loads(wanted.data.read_text(encoding="utf-8"))
        by_meaning = not getattr(wanted, "words", False)
        return await with_embedder(lambda embed: measure(samples, embed, wanted), by_meaning=by_meaning)

    return work
