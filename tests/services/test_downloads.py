"""Models come one at a time, tell how far they are, and are stopped and taken up again as the user likes."""

from __future__ import annotations

import asyncio
from pathlib import Path

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.model import DownloadProgress, DownloadStage, RemoteModel
from tests.llm.hub_server import MODEL, HubServer, serving

TINY = RemoteModel(name="Tiny", repository="somebody/tiny-GGUF", file="tiny.gguf")
OTHER = RemoteModel(name="Other", repository="somebody/other-GGUF", file="other.gguf")


async def over(house: AppServices, *models: RemoteModel) -> list[DownloadProgress]:
    """Wait until all of these are over, and tell how."""
    ended = asyncio.Event()

    def look(_news: DownloadProgress) -> None:
        if all((found := house.downloads.progress.get(one.file)) and found.is_over for one in models):
            ended.set()

    forget = house.downloads.changed.add(look)
    await asyncio.wait_for(ended.wait(), 120)
    forget()
    return [house.downloads.progress[one.file] for one in models]


async def test_two_models_come_one_after_the_other(house: AppServices):
    async with serving(HubServer()) as server:
        await house.preferences.set(hub_mirror=server.url)
        house.downloads.start_download(TINY)
        house.downloads.start_download(OTHER)
        house.downloads.start_download(TINY)
        first, second = await over(house, TINY, OTHER)

    assert (first.stage, second.stage) == (DownloadStage.DONE, DownloadStage.DONE)
    assert house.downloads.has(TINY) == house.paths.models / "tiny.gguf"
    assert (house.paths.models / "other.gguf").read_bytes() == MODEL
    assert [asked["path"].split("/")[2] for asked in server.asked] == ["tiny-GGUF", "other-GGUF"]


async def test_a_stopped_one_is_kept_and_a_discarded_one_is_not(house: AppServices):
    async with serving(HubServer(stalls=1)) as server:
        await house.preferences.set(hub_mirror=server.url)
        house.downloads.start_download(TINY)
        await begun(house)
        await house.downloads.stop(TINY.file)
        assert house.downloads.progress[TINY.file].stage is DownloadStage.STOPPED
        kept = house.downloads.kept(TINY)
        house.downloads.start_download(TINY)
        await house.downloads.discard(TINY.file)

    assert kept > 0
    assert house.downloads.kept(TINY) == 0
    assert TINY.file not in house.downloads.progress


async def begun(house: AppServices) -> None:
    """Wait until something of it has come."""
    came = asyncio.Event()
    forget = house.downloads.changed.add(lambda news: came.set() if news.stage is DownloadStage.LOADING else None)
    await asyncio.wait_for(came.wait(), 120)
    forget()


async def test_what_failed_says_why(house: AppServices):
    async with serving(HubServer(status=404)) as server:
        await house.preferences.set(hub_mirror=server.url)
        house.downloads.start_download(TINY)
        (news,) = await over(house, TINY)

    assert news.stage is DownloadStage.FAILED
    assert "not there" in news.problem


async def test_the_recommended_ones_are_told_without_any_connection(house: AppServices):
    models = await house.downloads.recommended()

    assert len(models) >= 4
    assert [model.memory for model in models] == sorted(model.memory for model in models)
    assert all(model.licence and model.why and model.size for model in models)
    assert all(Path(model.file).suffix == ".gguf" for model in models)
