"""Diagnosis of the installation (`lethe doctor`): each check reports a result and, if it failed, a remedy."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from lethe_app.config.options import MemoryProfile
from lethe_app.domain.model import EngineCheck, LoadOptions
from lethe_app.errors import LetheError
from lethe_app.llm.client import ModelClient
from lethe_app.llm.models import bundled
from lethe_app.paths import Paths
from lethe_app.services.indexing.calibration import Calibration
from lethe_app.services.indexing.embedder import embedder_id_of, find_embedding_model
from lethe_app.services.library import Library
from lethe_app.services.maintenance.integrity import check_database
from lethe_app.services.models.service import ModelService
from lethe_app.services.preferences import SMALL_MEMORY, Preferences
from lethe_app.storage.damage import Damage

MODELS_PACKAGES = "Install the packages named in packaging/models.lock."


@dataclass(frozen=True)
class Doctor:
    """Run the checks of the installation. They change nothing except that the chat model is loaded and the starter embedder
    prepared.
    """

    paths: Paths
    library: Library
    models: ModelService
    embedder: ModelClient
    calibration: Calibration
    check_window: Callable[[], EngineCheck]
    preferences: Preferences

    async def run_checks(self) -> list[EngineCheck]:
        """Return the results of all checks, in the order in which problems should be repaired."""
        return [
            EngineCheck("Python", sys.version_info >= (3, 11), sys.version.split()[0], "Use Python 3.11."),
            await asyncio.to_thread(self.check_window),
            await run_check("Your data", self._check_database),
            EngineCheck("Memory", passed=True, detail=describe_memory_profile(self.preferences)),
            await asyncio.to_thread(self._check_shipped_files),
            await self._check_user_files(),
            await asyncio.to_thread(self._check_starter_models),
            await run_check("Models", self._check_models),
            await run_check("Engine", self._check_engine),
            await run_check("Embedding model", self._check_embedding_model),
        ]

    async def _check_database(self) -> EngineCheck:
        damage = await check_database(self.paths)
        remedy = "Repair it by “lethe doctor --repair”, or choose a backup by “lethe restore”."
        if damage is Damage.NOTHING:
            return EngineCheck("Your data", passed=True, detail=str(self.paths.home))
        return EngineCheck("Your data", passed=False, detail=f"{self.paths.database} is damaged: {damage}", remedy=remedy)

    def _check_shipped_files(self) -> EngineCheck:
        """Check that the shipped files exist, wherever the program is installed; whether they can be read is checked by
        `_check_user_files`.
        """
        paths = self.paths
        folders = {
            "personas": paths.shipped_personas,
            "worlds": paths.shipped_worlds,
            "instruct formats": paths.shipped_presets / "instruct",
            "samplers": paths.shipped_presets / "samplers",
            "system prompts": paths.shipped_presets / "system",
            "icons": paths.icons,
        }
        counts = {name: len(list(folder.glob("*.svg" if name == "icons" else "*.json"))) for name, folder in folders.items()}
        detail = ", ".join(f"{count} {name}" for name, count in counts.items())
        missing = [name for name, count in counts.items() if not count]
        remedy = f"No {', '.join(missing)} found in {self.paths.shipped}: reinstall Lethe."
        return EngineCheck("Bundled files", passed=not missing, detail=detail, remedy=remedy)

    async def _check_user_files(self) -> EngineCheck:
        problems = [*self.preferences.unusable, *await self.library.errors()]
        detail = "; ".join(problem.message for problem in problems) or "all readable"
        return EngineCheck(
            "Your files",
            passed=not problems,
            detail=detail,
            remedy="Correct the field named, or move the file to another folder.",
        )

    def _check_starter_models(self) -> EngineCheck:
        """Check that the starter models exist and that the chat model has the published SHA-256."""
        chat, folder = bundled.chat_model(), bundled.embedder_folder()
        has_embedder = folder is not None and (folder / bundled.EMBEDDER_FILE).is_file()
        is_intact = chat is not None and bundled.hash_file(chat) == bundled.CHAT_SHA256
        chat_state = "whole" if is_intact else "damaged" if chat else "missing"
        detail = f"chat model {chat_state}, embedding model {'found' if has_embedder else 'missing'}"
        return EngineCheck("Starter models", passed=is_intact and has_embedder, detail=detail, remedy=MODELS_PACKAGES)

    async def _check_models(self) -> EngineCheck:
        models = await self.models.list_chat_models()
        detail = ", ".join(f"{model.name} ({model.source})" for model in models[:8]) or "none"
        return EngineCheck("Models", passed=bool(models), detail=detail, remedy=f"Put a GGUF file into {self.paths.models}.")

    async def _check_engine(self) -> EngineCheck:
        """Load the chosen model, compute a token with it, and report its context size and threads."""
        model = await self.models.ensure_loaded()
        await self.models.test_output()
        detail = f"{model.file.name} loaded: {model.context} tokens of context, {model.threads} threads"
        return EngineCheck("Engine", passed=True, detail=detail)

    async def _check_embedding_model(self) -> EngineCheck:
        """Load the chosen embedding model and embed sentences; vectors of the starter embedder are compared with the published
        reference vectors.
        """
        file = await asyncio.to_thread(find_embedding_model, self.preferences.current.embedder_path)
        reference = self.paths.resources / "starter_reference.json"
        try:
            await self.embedder.load(file, LoadOptions(), lambda _fraction: None)
            vectors = await self.embedder.embed(await asyncio.to_thread(bundled.reference_sentences, reference))
        finally:
            await self.embedder.close()
        if file.path.name == bundled.EMBEDDER_FILE:
            passed, figures = bundled.run_self_test(vectors, reference)
        else:
            passed, figures = vectors[0] != vectors[1], f"{len(vectors[0])} dimensions"
        limits = await self.calibration.limits_of(embedder_id_of(file))
        thresholds = f"facts count as the same below {limits.same_words:.3f}, as updated below {limits.update:.3f}"
        return EngineCheck("Embedding model", passed, f"{file.path.name}: {figures}; {thresholds}", bundled.SET_UP_AGAIN)


def describe_memory_profile(preferences: Preferences) -> str:
    """Return the memory of the computer and the memory profile in use, with the reason."""
    size = f"{preferences.memory / (1 << 30):.1f} GB"
    if not preferences.is_small_computer:
        return f"{size}, normal profile"
    is_chosen = preferences.stored.memory_profile is MemoryProfile.SMALL
    reason = "it is chosen in the settings" if is_chosen else f"that is less than {SMALL_MEMORY >> 30} GB"
    return (
        f"{size}, small profile because {reason}: {preferences.current.context} tokens of context, batches of"
        f" {preferences.current.batch}, and helpers end at once when idle"
    )


async def run_check(title: str, check: Callable[[], Awaitable[EngineCheck]]) -> EngineCheck:
    """Return the result of a check; a LetheError counts as failed, with its message and remedy."""
    try:
        return await check()
    except LetheError as error:
        return EngineCheck(title, passed=False, detail=error.message, remedy=error.remedy)
