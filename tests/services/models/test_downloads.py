"""Models come one at a time, tell how far they are, and are stopped and taken up again as the user likes."""

from __future__ import annotations

import asyncio
from pathlib import Path

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.model import DownloadProgress, DownloadStage, RemoteModel
from tests.llm.hub_server import MODEL, HubServer, serving

TINY = RemoteModel(name="Tiny", repository="somebody/tiny-GGUF", file="tiny.gguf")
OTHER = RemoteModel(name="Other", repository="somebody/other-GGUF", file="other.gguf")


async def over(services: AppServices, *models: RemoteModel) -> list[DownloadProgress]:
    """Wait until all of these are over, and tell how."""
    ended = asyncio.Event()

    def look(_news: DownloadProgress) -> None:
        if all((found := services.downloads.progress.get(one.file)) and found.is_over for one in models):
            ended.set()

    forget = services.downloads.changed.add(look)
    await asyncio.wait_for(ended.wait(), 120)
    forget()
    return [services.downloads.progress[one.file] for one in models]


async def test_two_models_come_one_after_the_other(services: AppServices):
    async with serving(HubServer()) as server:
        await services.preferences.set(hub_mirror=server.url)
        services.downloads.start_download(TINY)
        services.downloads.start_download(OTHER)
        services.downloads.start_download(TINY)
        first, second = await over(services, TINY, OTHER)

    assert (first.stage, second.stage) == (DownloadStage.DONE, DownloadStage.DONE)
    assert services.downloads.find_downloaded(TINY) == services.paths.models / "tiny.gguf"
    assert (services.paths.models / "other.gguf").read_bytes() == MODEL
    assert [asked["path"].split("/")[2] for asked in server.asked] == ["tiny-GGUF", "other-GGUF"]


async def test_a_stopped_one_is_kept_and_a_discarded_one_is_not(services: AppServices):
    async with serving(HubServer(stalls=1)) as server:
        await services.preferences.set(hub_mirror=server.url)
        services.downloads.start_download(TINY)
        await begun(services)
        await services.downloads.stop(TINY.file)
        assert services.downloads.progress[TINY.file].stage is DownloadStage.STOPPED
        kept = services.downloads.partial_size(TINY)
        services.downloads.start_download(TINY)
        await services.downloads.discard(TINY.file)

    assert kept > 0
    assert services.downloads.partial_size(TINY) == 0
    assert TINY.file not in services.downloads.progress


async def begun(services: AppServices) -> None:
    """Wait until something of it has come."""
    came = asyncio.Event()
    forget = services.downloads.changed.add(lambda news: came.set() if news.stage is DownloadStage.LOADING else None)
    await asyncio.wait_for(came.wait(), 120)
    forget()


async def test_the_recommended_ones_are_told_without_any_connection(services: AppServices):
    models = await services.downloads.list_offers()

    assert len(models) >= 4
    assert [model.memory for model in models] == sorted(model.memory for model in models)
    assert all(model.licence and model.why and model.size for model in models)
    assert all(Path(model.file).suffix == ".gguf" for model in models)
