"""Model downloads into the user's model folder, one at a time; a stopped download can be resumed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import TypeAdapter

from lethe_app.domain.model import DownloadProgress, DownloadStage, ModelFile, RemoteModel
from lethe_app.errors import LetheError
from lethe_app.llm.models.hugging_face import HuggingFaceHub
from lethe_app.paths import Paths
from lethe_app.services.events import Listeners
from lethe_app.services.models.hardware import HardwareProfile
from lethe_app.services.models.recommendation import DownloadAssessment, assess_downloads, is_better_than
from lethe_app.services.preferences import Preferences
from lethe_app.storage.key_value import AppState

_LIST = TypeAdapter(list[RemoteModel])
REPORT_INTERVAL = 0.2
"""Minimum seconds between two progress reports of a download within one stage."""


class Downloads:
    """Queue of model downloads. No connection is made before `start_download`, which is only called on the user's click."""

    def __init__(self, paths: Paths, preferences: Preferences, app_state: AppState) -> None:
        self.changed: Listeners[DownloadProgress] = Listeners()
        self.progress: dict[str, DownloadProgress] = {}
        """Progress by file name, of running downloads and of those that ended since the program started."""
        self.hardware = HardwareProfile(app_state)
        self._paths, self._preferences = paths, preferences
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._lock = asyncio.Lock()

    async def list_offers(self) -> list[RemoteModel]:
        """Return the models offered for download, smallest memory requirement first; read from a shipped file, without a
        connection.
        """
        return sorted(await self._read_list("models.json"), key=lambda model: model.memory)

    async def _read_list(self, name: str) -> list[RemoteModel]:
        return _LIST.validate_json(await asyncio.to_thread((self._paths.resources / name).read_bytes))

    async def assess_speech_offers(self) -> list[DownloadAssessment]:
        """Return the speech recognition models offered for download, smallest first, and whether they fit this computer; none
        is recommended, for that is a matter of the language.
        """
        assessments = assess_downloads(await self._read_list("speech_models.json"), await self.hardware.current())
        return [replace(one, speed=0.0, uses_gpu=False, is_recommended=False) for one in assessments]

    async def assess_offers(self) -> list[DownloadAssessment]:
        """Return the models offered for download with what is expected of each on this computer: the recommended one first,
        then in the same order.
        """
        assessments = assess_downloads(await self.list_offers(), await self.hardware.current())
        return sorted(assessments, key=lambda one: not one.is_recommended)

    async def find_better(self, local_models: Sequence[ModelFile]) -> DownloadAssessment | None:
        """Return the recommended download; None if no model fits, or if it is on this computer or hardly larger than one of
        `local_models`.
        """
        hardware = await self.hardware.current()
        best = next((one for one in assess_downloads(await self.list_offers(), hardware) if one.is_recommended), None)
        if best is None or self.find_downloaded(best.model) is not None:
            return None
        return best if is_better_than(best.model, local_models, hardware) else None

    async def find_offer(self, file: str) -> RemoteModel | None:
        """Return the model offered for download under this file name; None if there is none."""
        return next((model for model in await self.list_offers() if model.file == file), None)

    def start_download(self, model: RemoteModel) -> None:
        """Queue a download. Does nothing if the file is queued or being downloaded already."""
        if model.file in self._tasks and not self.progress[model.file].is_over:
            return
        self._set_progress(DownloadProgress(model, DownloadStage.WAITING))
        task = asyncio.get_running_loop().create_task(self._download(model))
        self._tasks[model.file] = task

        def forget_task(ended: asyncio.Task[None]) -> None:
            if self._tasks.get(model.file) is ended:  # it may have been started again after it reported its end
                del self._tasks[model.file]

        task.add_done_callback(forget_task)

    async def stop(self, file: str) -> None:
        """Stop a download and keep the partial file, from which `start_download` resumes."""
        task = self._tasks.get(file)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            if not self.progress[file].is_over:  # it may have ended in the meantime
                self._set_progress(DownloadProgress(self.progress[file].model, DownloadStage.STOPPED))

    async def discard(self, file: str) -> None:
        """Stop a download and delete its partial file."""
        await self.stop(file)
        await asyncio.to_thread((self._paths.models / f"{file}.part").unlink, missing_ok=True)
        self.progress.pop(file, None)

    def partial_size(self, model: RemoteModel) -> int:
        """Return the size of the partial file in bytes; 0 if there is none."""
        partial_file = self._paths.models / f"{model.file}.part"
        return partial_file.stat().st_size if partial_file.is_file() else 0

    def find_downloaded(self, model: RemoteModel) -> Path | None:
        """Return the path of the downloaded model; None if it is not there."""
        path = self._paths.models / model.file
        return path if path.is_file() else None

    async def close(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _download(self, model: RemoteModel) -> None:
        async with self._lock:
            settings = self._preferences.current
            hub = HuggingFaceHub(settings.hub_mirror, settings.proxy)
            meter = _ProgressMeter()

            def on_progress(stage: DownloadStage, bytes_done: int, total: int) -> None:
                speed = meter.measure_speed(bytes_done)
                if meter.is_report_due(stage):
                    self._set_progress(DownloadProgress(model, stage, bytes_done, total or model.size, speed))

            try:
                path = await hub.download(model, self._paths.models, on_progress)
            except LetheError as error:
                self._set_progress(DownloadProgress(model, DownloadStage.FAILED, problem=str(error)))
            else:
                size = path.stat().st_size
                self._set_progress(DownloadProgress(model, DownloadStage.DONE, size, size, path=path))

    def _set_progress(self, progress: DownloadProgress) -> None:
        self.progress[progress.model.file] = progress
        self.changed.notify(progress)


class _ProgressMeter:
    """Measure the speed of a download over the last 5 seconds and limit the rate of progress reports."""

    def __init__(self) -> None:
        self._samples: list[tuple[float, int]] = []
        self._last_report = 0.0
        self._stage: DownloadStage | None = None

    def measure_speed(self, bytes_done: int) -> float:
        moment = time.monotonic()
        self._samples = [(at, size) for at, size in self._samples if moment - at < 5 and size <= bytes_done]
        self._samples.append((moment, bytes_done))
        (first, size), elapsed = self._samples[0], moment - self._samples[0][0]
        return (bytes_done - size) / elapsed if elapsed > 0 and first < moment else 0.0

    def is_report_due(self, stage: DownloadStage) -> bool:
        moment = time.monotonic()
        if stage is self._stage and moment - self._last_report < REPORT_INTERVAL:
            return False
        self._stage, self._last_report = stage, moment
        return True
