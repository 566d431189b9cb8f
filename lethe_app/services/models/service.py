"""The chat model: discovery of model files, loading and unloading, and reloading after a crash."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path

from lethe_app.domain.model import KvType, LoadedModel, LoadOptions, ModelFile
from lethe_app.errors import LetheError, ModelCrashed, ModelMissing
from lethe_app.llm.client import SAVE_TIMEOUT, ModelClient
from lethe_app.llm.engines.registry import describe_usable_model
from lethe_app.llm.models import bundled, discovery
from lethe_app.llm.models.discovery import STARTER_SOURCE
from lethe_app.llm.tokenizer.counter import TokenCounter
from lethe_app.paths import Paths
from lethe_app.services.events import Listeners, ModelFailed, ModelLoading, ModelReady, ModelState, NoModel
from lethe_app.services.preferences import Preferences
from lethe_app.services.token_counts import TokenCountService

SMALL_BACKGROUND_CONTEXT = 2048
"""Context size in tokens of background jobs on a small computer; longer conversations are read in more portions."""
RETRYABLE_ERRORS = (ModelCrashed, ModelMissing)
"""Errors after which the next request loads the model again."""


class ModelService:
    """The loaded chat model, at most one at a time. `state` is its current state, and `changed` is notified of every new
    one.
    """

    def __init__(self, client: ModelClient, token_counts: TokenCountService, preferences: Preferences, paths: Paths) -> None:
        self.state: ModelState = NoModel()
        self.changed: Listeners[ModelState] = Listeners()
        self._client = client
        self._token_counts = token_counts
        self._preferences = preferences
        self._paths = paths
        self._lock = asyncio.Lock()
        self._loading_task: asyncio.Task[tuple[LoadedModel, TokenCounter | None]] | None = None
        """Task that loads a model; None if no model is being loaded."""
        self._is_loading_cancelled = False

    async def list_chat_models(self) -> list[ModelFile]:
        """Return the chat models on this machine, the user's own first and the starter model last, without embedding models."""
        return [model for model in await self.list_all_models() if not model.is_embedding]

    async def list_all_models(self) -> list[ModelFile]:
        """Return all models on this machine, in the same order as `list_chat_models`."""
        settings = self._preferences.current
        starter = bundled.chat_model()
        chosen = Path(settings.model_path) if settings.model_path else starter
        own_paths = [self._paths.models, *map(Path, settings.model_folders)]
        if chosen is not None and chosen != starter:
            own_paths.insert(0, chosen)
        roots = discovery.model_roots(Path.home(), os.environ, user_folders=own_paths, starter_model=starter)
        return (await asyncio.to_thread(discovery.find_models, roots)).models

    async def add_folder(self, folder: Path) -> list[ModelFile]:
        """Add `folder` to the folders that are searched for models, and return the chat models found in it."""
        folders = self._preferences.current.model_folders
        if str(folder) not in folders:
            await self._preferences.set(model_folders=[*folders, str(folder)])
        return [model for model in await self.list_chat_models() if folder in model.path.parents]

    async def load(self, path: Path | None = None) -> None:
        """Load `path`, or else the chosen model, or else, if none was ever chosen, the first one found. A `path` that loads is
        saved in the settings.
        """
        async with self._lock:
            # An unreadable file raises an error here, and leaves the loaded model untouched.
            file = await asyncio.to_thread(describe_user_model, path) if path else await self._find_preferred()
            await self._load(file)
            if path is not None and not isinstance(self.state, ModelFailed):
                await self._preferences.set(model_path=str(path))

    async def ensure_loaded(self) -> LoadedModel:
        """Return the loaded model; wait while it is loading, and load it if there is none or it has crashed. Raise
        ModelError.

        A model that failed for another reason than `RETRYABLE_ERRORS` is not loaded again: its error is raised.
        """
        async with self._lock:
            if isinstance(self.state, ModelFailed) and not isinstance(self.state.error, RETRYABLE_ERRORS):
                raise self.state.error
            if not isinstance(self.state, ModelReady):
                await self._load(await self._find_preferred())
            assert isinstance(self.state, ModelReady)
            return self.state.model

    async def test_output(self) -> None:
        """Compute the next token of a short text. Raise ModelUnreadable if the weights of the loaded model are damaged."""
        await self._client.score_next_tokens("Hello", 1)

    @property
    def loaded(self) -> LoadedModel | None:
        """Return the loaded model; None if there is none that can generate."""
        return self.state.model if isinstance(self.state, ModelReady) else None

    @property
    def has_crashed(self) -> bool:
        """Return whether the process of the model has ended unexpectedly, so that it has to be started again."""
        return isinstance(self.state, ModelFailed) and isinstance(self.state.error, ModelCrashed)

    def cancel_loading(self) -> None:
        """Cancel loading, if a model is being loaded. Whoever waits for it gets ModelMissing."""
        if self._loading_task is not None:
            self._is_loading_cancelled = True
            self._loading_task.cancel()

    async def unload(self) -> None:
        """Save the prompt caches, unload the model and free its memory."""
        async with self._lock:
            await self._client.save_state(time_limit=SAVE_TIMEOUT)
            await self._client.close()
            self._token_counts.set_tokenizer(None, "")
            self._set_state(NoModel())

    async def _load(self, file: ModelFile) -> None:
        await self._client.save_state(time_limit=SAVE_TIMEOUT)
        self._token_counts.set_tokenizer(None, "")
        self._set_state(ModelLoading(file.name, 0.0))
        self._is_loading_cancelled = False
        self._loading_task = asyncio.get_running_loop().create_task(self._load_file(file))
        try:
            model, counter = await self._loading_task
        except LetheError as error:
            await self._client.close()
            self._set_state(ModelFailed(error))
            raise
        except asyncio.CancelledError:
            await self._client.close()
            self._set_state(NoModel())
            if self._is_loading_cancelled:
                raise ModelMissing(f"Loading {file.name} was cancelled.", "Load it again, or choose another model.") from None
            raise
        finally:
            self._loading_task = None
        self._token_counts.set_tokenizer(counter, f"{file.path.name} {file.size}")
        self._set_state(ModelReady(model))

    async def _load_file(self, file: ModelFile) -> tuple[LoadedModel, TokenCounter | None]:
        settings, is_small = self._preferences.current.for_model(file.path.name), self._preferences.is_small_computer
        options = LoadOptions(
            background_context=SMALL_BACKGROUND_CONTEXT if is_small else LoadOptions.background_context,
            saves_memory=is_small,
            context=settings.context,
            gpu_layers=settings.gpu_layers,
            threads=settings.threads,
            batch=settings.batch,
            flash_attention=settings.flash_attention,
            kv_type=KvType(settings.kv_type),
            mmap=settings.mmap,
            mlock=settings.mlock,
        )
        model = await self._client.load(
            file,
            options,
            lambda fraction: self._set_state(ModelLoading(file.name, fraction)),
            lambda error: self._set_state(ModelFailed(error)),
        )
        counts_here = model.capabilities.counts_tokens_here
        return model, await asyncio.to_thread(TokenCounter.for_model, file.path) if counts_here else None

    async def _find_preferred(self) -> ModelFile:
        """Return the chosen model, or else the first one found. A chosen one that is gone is never replaced by another: raise
        ModelMissing.
        """
        if isinstance(self.state, ModelReady):
            return self.state.model.file
        chosen = self._preferences.current.model_path
        try:
            if chosen:
                return await asyncio.to_thread(find_chosen_model, Path(chosen))
            if models := await self.list_chat_models():
                return models[0]
            raise ModelMissing("No model was found on this computer.", "Choose a GGUF file.")
        except LetheError as error:
            self._set_state(ModelFailed(error))
            raise

    def _set_state(self, state: ModelState) -> None:
        self.state = state
        self.changed.notify(state)


def is_starter(model: ModelFile) -> bool:
    """Return whether this is the model that is installed with the program."""
    return model.source == STARTER_SOURCE


def describe_user_model(path: Path) -> ModelFile:
    """Describe a file that the user named, in the same way as the search for models does."""
    described = describe_usable_model(path)  # raises the error that says what is wrong
    starter = bundled.chat_model()
    search_result = discovery.find_models([(STARTER_SOURCE if path == starter else discovery.USER_SOURCE, path)])
    return next(iter(search_result.models), replace(described, source=discovery.USER_SOURCE))


def find_chosen_model(path: Path) -> ModelFile:
    """Describe the chosen model. Raise ModelMissing with its place if it is gone, and ModelUnreadable.

    The starter model may have moved with a new installation of the program; it is the same file.
    """
    starter = bundled.chat_model()
    if not path.is_file() and starter is not None and path.name == starter.name:
        return describe_user_model(starter)
    if not path.is_file():
        raise ModelMissing(
            f"The chosen model “{path.name}” is no longer in {path.parent}.",
            "Connect its drive, move the file back, or choose another model.",
        )
    return describe_user_model(path)
