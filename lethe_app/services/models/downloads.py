"""Models that the user has asked for: fetched one at a time into their own folder, stopped and taken up again at will."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from pydantic import TypeAdapter

from lethe_app.domain.model import DownloadProgress, DownloadStage, RemoteModel
from lethe_app.errors import LetheError
from lethe_app.llm.models.hugging_face import Hub
from lethe_app.paths import Paths
from lethe_app.services.events import Listeners
from lethe_app.services.preferences import Preferences

_LIST = TypeAdapter(list[RemoteModel])
TELL_EVERY = 0.2
"""Seconds between two news of a download under way."""


class Downloads:
    """Nothing is connected to before `begin`, which only the user's own click calls."""

    def __init__(self, paths: Paths, preferences: Preferences) -> None:
        self.changed: Listeners[DownloadProgress] = Listeners()
        self.progress: dict[str, DownloadProgress] = {}
        """By file name, those under way and those that are over since the start."""
        self._paths, self._preferences = paths, preferences
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._one_at_a_time = asyncio.Lock()

    async def recommended(self) -> list[RemoteModel]:
        """A few that run well, the smallest first; no connection is made."""
        text = await asyncio.to_thread((self._paths.resources / "models.json").read_text, encoding="utf-8")
        return sorted(_LIST.validate_json(text), key=lambda model: model.memory)

    def start_download(self, model: RemoteModel) -> None:
        """Fetch it, as soon as those before it are through. One that is under way goes on as it is."""
        if model.file in self._tasks:
            return
        self._tell(DownloadProgress(model, DownloadStage.WAITING))
        task = asyncio.get_running_loop().create_task(self._fetch(model))
        self._tasks[model.file] = task
        task.add_done_callback(lambda _task: self._tasks.pop(model.file, None))

    async def stop(self, file: str) -> None:
        """What came so far is kept, and `begin` goes on from there."""
        task = self._tasks.get(file)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            if not self.progress[file].is_over:  # it may have come to its end at this very moment
                self._tell(DownloadProgress(self.progress[file].model, DownloadStage.STOPPED))

    async def discard(self, file: str) -> None:
        """Stop it, and throw away what came of it."""
        await self.stop(file)
        await asyncio.to_thread((self._paths.models / f"{file}.part").unlink, missing_ok=True)
        self.progress.pop(file, None)

    def kept(self, model: RemoteModel) -> int:
        """Bytes that are there of one that was broken off."""
        part = self._paths.models / f"{model.file}.part"
        return part.stat().st_size if part.is_file() else 0

    def has(self, model: RemoteModel) -> Path | None:
        """Where it lies, if it is there."""
        path = self._paths.models / model.file
        return path if path.is_file() else None

    async def close(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _fetch(self, model: RemoteModel) -> None:
        async with self._one_at_a_time:
            settings = self._preferences.current
            hub = Hub(settings.hub_mirror, settings.proxy)
            clock = _Clock()

            def told(stage: DownloadStage, done: int, total: int) -> None:
                speed = clock.speed(done)
                if clock.is_time(stage):
                    self._tell(DownloadProgress(model, stage, done, total or model.size, speed))

            try:
                path = await hub.fetch(model, self._paths.models, told)
            except LetheError as error:
                self._tell(DownloadProgress(model, DownloadStage.FAILED, problem=str(error)))
            else:
                size = path.stat().st_size
                self._tell(DownloadProgress(model, DownloadStage.DONE, size, size, path=path))

    def _tell(self, progress: DownloadProgress) -> None:
        self.progress[progress.model.file] = progress
        self.changed.tell(progress)


class _Clock:
    """How fast it goes, over the last seconds, and whether there is news worth telling."""

    def __init__(self) -> None:
        self._seen: list[tuple[float, int]] = []
        self._told = 0.0
        self._stage: DownloadStage | None = None

    def speed(self, done: int) -> float:
        moment = time.monotonic()
        self._seen = [(at, size) for at, size in self._seen if moment - at < 5 and size <= done]
        self._seen.append((moment, done))
        (first, size), passed = self._seen[0], moment - self._seen[0][0]
        return (done - size) / passed if passed > 0 and first < moment else 0.0

    def is_time(self, stage: DownloadStage) -> bool:
        moment = time.monotonic()
        if stage is self._stage and moment - self._told < TELL_EVERY:
            return False
        self._stage, self._told = stage, moment
        return True
