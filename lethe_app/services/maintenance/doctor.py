"""Checks the set-up from end to end and says in plain words what is missing and what to do about it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable

from lethe_app.domain.model import EngineCheck, LoadOptions
from lethe_app.errors import LetheError
from lethe_app.llm.client import ModelClient
from lethe_app.llm.models import bundled
from lethe_app.llm.models.gguf_model import describe
from lethe_app.paths import Paths
from lethe_app.services.indexing.calibration import Calibration
from lethe_app.services.indexing.embedder import known_as
from lethe_app.services.library import Library
from lethe_app.services.models.service import Models

MODELS_PACKAGES = "Install the packages named in packaging/models.lock."


class Doctor:
    """Every check is one line with a verdict; none of them changes anything but the model that is loaded to try it."""

    def __init__(
        self,
        paths: Paths,
        library: Library,
        models: Models,
        embedder: ModelClient,
        calibration: Calibration,
        window: Callable[[], EngineCheck],
    ) -> None:
        self._paths = paths
        self._library = library
        self._models = models
        self._embedder = embedder
        self._calibration = calibration
        self._window = window

    async def check(self) -> list[EngineCheck]:
        """All checks, in the order in which one would repair them."""
        return [
            self._python(),
            await asyncio.to_thread(self._window),
            EngineCheck("Your data", passed=True, detail=str(self._paths.home)),
            await asyncio.to_thread(self._shipped),
            await self._problems(),
            await asyncio.to_thread(self._starter),
            await run_check("Models", self._found),
            await run_check("Engine", self._engine),
            await run_check("Embedding model", self._meaning),
        ]

    def _python(self) -> EngineCheck:
        return EngineCheck(
            "Python", passed=sys.version_info >= (3, 11), detail=sys.version.split()[0], remedy="Use Python 3.11."
        )

    def _shipped(self) -> EngineCheck:
        """What travels with the program, wherever it was installed; whether it can be read is the next check's business."""
        paths = self._paths
        places = {
            "personas": paths.shipped_personas,
            "worlds": paths.shipped_worlds,
            "instruct formats": paths.shipped_presets / "instruct",
            "samplers": paths.shipped_presets / "samplers",
            "system prompts": paths.shipped_presets / "system",
            "icons": paths.icons,
        }
        counts = {what: len(list(place.glob("*.svg" if what == "icons" else "*.json"))) for what, place in places.items()}
        detail = ", ".join(f"{count} {what}" for what, count in counts.items())
        missing = [what for what, count in counts.items() if not count]
        remedy = f"No {', '.join(missing)} below {self._paths.shipped}: install Lethe anew."
        return EngineCheck("What ships with Lethe", passed=not missing, detail=detail, remedy=remedy)

    async def _problems(self) -> EngineCheck:
        problems = await self._library.problems()
        detail = "; ".join(problem.message for problem in problems) or "all readable"
        return EngineCheck(
            "Your files", passed=not problems, detail=detail, remedy="Correct the field named, or move the file away."
        )

    def _starter(self) -> EngineCheck:
        """Are they there, and is the chat model byte for byte the one that was published?"""
        chat, embedder = bundled.chat_model(), bundled.embedder_source()
        whole = chat is not None and bundled.sha256(chat) == bundled.CHAT_SHA256
        spoken = "whole" if whole else "damaged" if chat else "missing"
        detail = f"chat model {spoken}, embedding model {'found' if embedder else 'missing'}"
        return EngineCheck("Starter models", passed=whole and embedder is not None, detail=detail, remedy=MODELS_PACKAGES)

    async def _found(self) -> EngineCheck:
        models = await self._models.found()
        detail = ", ".join(f"{model.name} ({model.source})" for model in models[:8]) or "none"
        return EngineCheck("Models", passed=bool(models), detail=detail, remedy=f"Put a GGUF file into {self._paths.models}.")

    async def _engine(self) -> EngineCheck:
        """Load the model that would answer, and look what it says of itself."""
        model = await self._models.ready()
        detail = f"{model.file.name} answers: {model.context} tokens of context, {model.threads} threads"
        return EngineCheck("Engine", passed=True, detail=detail)

    async def _meaning(self) -> EngineCheck:
        """Prepare the starter embedder, load it, and compare it with the vectors its published weights must give."""
        path = await asyncio.to_thread(bundled.embedder, self._paths.starter_models)
        file = describe(path)
        await self._embedder.load(file, LoadOptions(), lambda _fraction: None)
        reference = self._paths.resources / "starter_reference.json"
        vectors = await self._embedder.embed(await asyncio.to_thread(bundled.reference_sentences, reference))
        await self._embedder.close()
        verdict = bundled.self_test(vectors, reference)
        remedy = f"Delete {path}: it is made anew from what was installed."
        limits = await self._calibration.limits_of(known_as(file))
        near = f"facts are the same below {limits.same_words:.3f}, changed below {limits.update:.3f}"
        detail = f"{path.name}: {verdict.detail}; {near}"
        return EngineCheck("Embedding model", passed=verdict.passed, detail=detail, remedy=remedy)


async def run_check(title: str, check: Callable[[], Awaitable[EngineCheck]]) -> EngineCheck:
    """The check's own verdict, or what stopped it."""
    try:
        return await check()
    except LetheError as error:
        return EngineCheck(title, passed=False, detail=error.message, remedy=error.remedy)
