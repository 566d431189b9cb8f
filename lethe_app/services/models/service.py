"""The chat model: discovery of model files, loading and unloading, and reloading after a crash."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from lethe_app.config.settings import Settings
from lethe_app.domain.model import KvType, LoadedModel, LoadOptions, ModelFile
from lethe_app.errors import LetheError, ModelCrashed, ModelMissing
from lethe_app.llm.client import PARTING_SECONDS, ModelClient
from lethe_app.llm.models import bundled, discovery
from lethe_app.llm.models.gguf_model import describe
from lethe_app.llm.tokenizer.counter import TokenCounter
from lethe_app.paths import Paths
from lethe_app.services.events import Failed, Listeners, Loading, ModelState, NoModel, Ready
from lethe_app.services.preferences import Preferences
from lethe_app.services.token_counts import Counting

ECHO_ENDING = ".json"
WORTH_ANOTHER_TRY = (ModelCrashed, ModelMissing)
"""Errors after which the next request loads the model again."""


class Models:
    """The loaded chat model, at most one at a time. `state` is its current state, and `changed` is notified of every new
    one.
    """

    def __init__(self, client: ModelClient, counting: Counting, preferences: Preferences, paths: Paths) -> None:
        self.state: ModelState = NoModel()
        self.changed: Listeners[ModelState] = Listeners()
        self._client = client
        self._client.on_death = self._died
        self._counting = counting
        self._preferences = preferences
        self._paths = paths
        self._one_at_a_time = asyncio.Lock()
        self._coming: asyncio.Task[tuple[LoadedModel, TokenCounter | None]] | None = None
        """Task that loads a model; None if no model is being loaded."""
        self._is_called_off = False

    async def found(self) -> list[ModelFile]:
        """Return the chat models on this machine, the user's own first and the starter model last, without embedding models."""
        return [model for model in await self.all_found() if not model.is_embedding]

    async def all_found(self) -> list[ModelFile]:
        """Return all models on this machine, in the same order as `found`."""
        settings = self._preferences.current
        small = bundled.chat_model()
        chosen = Path(settings.model_path) if settings.model_path else small
        own = [self._paths.models, *map(Path, settings.model_folders)]
        if chosen is not None and chosen != small:
            own.insert(0, chosen)
        places = discovery.roots(Path.home(), os.environ, own=own, starter=small)
        found = await asyncio.to_thread(discovery.find, places)
        return found.models

    async def load(self, path: Path | None = None) -> None:
        """Load `path`, or else the model used before, or else the first one found. A `path` that loads is saved in the
        settings.
        """
        async with self._one_at_a_time:
            await self._load(await self._describe(path) if path else await self._preferred())
            if path is not None and not isinstance(self.state, Failed):
                await self._preferences.set(model_path=str(path))

    async def ready(self) -> LoadedModel:
        """Return the loaded model; wait while it is loading, and load it if there is none or it has crashed. Raise
        ModelError.

        A model that failed for another reason than `WORTH_ANOTHER_TRY` is not loaded again: its error is raised.
        """
        async with self._one_at_a_time:
            if isinstance(self.state, Failed) and not isinstance(self.state.error, WORTH_ANOTHER_TRY):
                raise self.state.error
            if not isinstance(self.state, Ready):
                await self._load(await self._preferred())
            assert isinstance(self.state, Ready)
            return self.state.model

    async def restart(self) -> None:
        """Load the same model again, for example after a crash or with other settings."""
        await self.load()

    def call_off(self) -> None:
        """Cancel loading, if a model is being loaded. Whoever waits for it gets ModelMissing."""
        if self._coming is not None:
            self._is_called_off = True
            self._coming.cancel()

    async def unload(self) -> None:
        """Save the prompt caches, unload the model and free its memory."""
        async with self._one_at_a_time:
            await self._client.save_state(within=PARTING_SECONDS)
            await self._client.close()
            self._counting.use(None, "")
            self._become(NoModel())

    async def _load(self, file: ModelFile) -> None:
        await self._client.save_state(within=PARTING_SECONDS)
        self._counting.use(None, "")
        self._become(Loading(file.name, 0.0))
        self._is_called_off = False
        self._coming = asyncio.get_running_loop().create_task(self._bring(file))
        try:
            model, counter = await self._coming
        except LetheError as error:
            await self._client.close()
            self._become(Failed(error))
            raise
        except asyncio.CancelledError:
            await self._client.close()
            self._become(NoModel())
            if self._is_called_off:
                raise ModelMissing(f"Loading {file.name} was cancelled.", "Load it again, or choose another model.") from None
            raise
        finally:
            self._coming = None
        self._counting.use(counter, f"{file.path.name} {file.size}")
        self._become(Ready(model))

    async def _bring(self, file: ModelFile) -> tuple[LoadedModel, TokenCounter | None]:
        options = load_options(self._preferences.current.for_model(file.path.name))
        model = await self._client.load(file, options, lambda part: self._become(Loading(file.name, part)))
        counter = await asyncio.to_thread(TokenCounter.for_model, file.path) if file.path.suffix != ECHO_ENDING else None
        return model, counter

    async def _preferred(self) -> ModelFile:
        """Return the model that was chosen before, or else the first one found."""
        if isinstance(self.state, Ready):
            return self.state.model.file
        chosen = self._preferences.current.model_path
        try:
            if chosen and is_there(chosen):
                return await self._describe(Path(chosen))
            if models := await self.found():
                return models[0]
            raise ModelMissing("No model was found on this computer.", "Choose a GGUF file.")
        except LetheError as error:
            self._become(Failed(error))
            raise

    async def _describe(self, path: Path) -> ModelFile:
        """Read the metadata of a model file. An unreadable file raises an error and leaves the loaded model untouched."""
        if path.suffix == ECHO_ENDING:
            return ModelFile(path=path, name=path.stem, size=0, architecture="echo")
        return await asyncio.to_thread(as_found, path)

    def _died(self, error: ModelCrashed) -> None:
        self._become(Failed(error))

    def _become(self, state: ModelState) -> None:
        self.state = state
        self.changed.tell(state)


def as_found(path: Path) -> ModelFile:
    """Describe a file that the user named, in the same way as the search for models does."""
    if not path.is_file():
        return describe(path, discovery.YOURS)  # which says what is wrong
    own = bundled.chat_model()
    found = discovery.find([(discovery.STARTER if path == own else discovery.YOURS, path)])
    return found.models[0] if found.models else describe(path, discovery.YOURS)


def is_there(path: str) -> bool:
    """Return whether the chosen file still exists."""
    return Path(path).is_file()


def load_options(settings: Settings) -> LoadOptions:
    """Return the settings that concern loading."""
    return LoadOptions(
        context=settings.context,
        gpu_layers=settings.gpu_layers,
        threads=settings.threads,
        batch=settings.batch,
        flash_attention=settings.flash_attention,
        kv_type=KvType(settings.kv_type),
        mmap=settings.mmap,
        mlock=settings.mlock,
    )
