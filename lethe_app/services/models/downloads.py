"""Model downloads into the user's model folder, one at a time; a stopped download can be resumed."""

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
"""Minimum seconds between two progress reports of a download within one stage."""


class Downloads:
    """Queue of model downloads. No connection is made before `start_download`, which is only called on the user's click."""

    def __init__(self, paths: Paths, preferences: Preferences) -> None:
        self.changed: Listeners[DownloadProgress] = Listeners()
        self.progress: dict[str, DownloadProgress] = {}
        """Progress by file name, of running downloads and of those that ended since the program started."""
        self._paths, self._preferences = paths, preferences
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._one_at_a_time = asyncio.Lock()

    async def recommended(self) -> list[RemoteModel]:
        """Return the recommended models, smallest memory requirement first; read from a shipped file, without a connection."""
        text = await asyncio.to_thread((self._paths.resources / "models.json").read_text, encoding="utf-8")
        return sorted(_LIST.validate_json(text), key=lambda model: model.memory)

    def start_download(self, model: RemoteModel) -> None:
        """Queue a download. Does nothing if the file is queued or being downloaded already."""
        if model.file in self._tasks:
            return
        self._tell(DownloadProgress(model, DownloadStage.WAITING))
        task = asyncio.get_running_loop().create_task(self._fetch(model))
        self._tasks[model.file] = task
        task.add_done_callback(lambda _task: self._tasks.pop(model.file, None))

    async def stop(self, file: str) -> None:
        """Stop a download and keep the partial file, from which `start_download` resumes."""
        task = self._tasks.get(file)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            if not self.progress[file].is_over:  # it may have come to its end at this very moment
                self._tell(DownloadProgress(self.progress[file].model, DownloadStage.STOPPED))

    async def discard(self, file: str) -> None:
        """Stop a download and delete its partial file."""
        await self.stop(file)
        await asyncio.to_thread((self._paths.models / f"{file}.part").unlink, missing_ok=True)
        self.progress.pop(file, None)

    def kept(self, model: RemoteModel) -> int:
        """Return the size of the partial file in bytes; 0 if there is none."""
        part = self._paths.models / f"{model.file}.part"
        return part.stat().st_size if part.is_file() else 0

    def has(self, model: RemoteModel) -> Path | None:
        """Return the path of the downloaded model; None if it is not there."""
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
    """Measure the speed of a download over the last 5 seconds and limit the rate of progress reports."""

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
