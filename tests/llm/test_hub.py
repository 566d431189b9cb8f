"""A download goes on where it broke, believes nothing it is told, and keeps only what was checked."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from lethe_app.domain.download import DownloadStage, RemoteModel
from lethe_app.errors import DiskFull, DownloadFailed
from lethe_app.llm import hub as hub_module
from lethe_app.llm.hub import Hub
from tests.llm.hub_server import MODEL, SHA, HubServer, serving

WANTED = RemoteModel(name="Tiny", repository="somebody/tiny-GGUF", file="tiny.gguf")


async def fetch(server: HubServer, folder: Path, wanted: RemoteModel = WANTED) -> list[tuple[DownloadStage, int, int]]:
    """Everything that was told on the way; the file is checked to be the right one."""
    told: list[tuple[DownloadStage, int, int]] = []
    path = await Hub(server.url, pause=0.01, stall=0.3).fetch(wanted, folder, lambda *news: told.append(news))
    assert path == folder / "tiny.gguf"
    assert path.read_bytes() == MODEL
    assert not (folder / "tiny.gguf.part").exists()
    return told


async def test_a_file_comes_whole_and_checked(tmp_path: Path):
    async with serving(HubServer()) as server:
        told = await fetch(server, tmp_path)

    assert server.asked[0]["path"] == "/somebody/tiny-GGUF/resolve/main/tiny.gguf?download=true"
    assert told[-2:] == [(DownloadStage.LOADING, len(MODEL), len(MODEL)), (DownloadStage.CHECKING, len(MODEL), len(MODEL))]


async def test_after_a_break_it_goes_on_from_there(tmp_path: Path):
    async with serving(HubServer(breaks=[400_000, 300_000])) as server:
        await fetch(server, tmp_path)

    assert [asked.get("range") for asked in server.asked] == [None, "bytes=400000-", "bytes=700000-"]


async def test_a_server_that_goes_silent_is_asked_again(tmp_path: Path):
    async with serving(HubServer(stalls=1)) as server:
        await fetch(server, tmp_path)

    assert len(server.asked) == 2


async def test_a_server_that_knows_no_ranges_starts_over(tmp_path: Path):
    async with serving(HubServer(breaks=[400_000], ranges=False)) as server:
        await fetch(server, tmp_path)


async def test_what_was_stopped_is_taken_up_by_the_next_start(tmp_path: Path):
    (tmp_path / "tiny.gguf.part").write_bytes(MODEL[:500_000])
    async with serving(HubServer()) as server:
        await fetch(server, tmp_path)

    assert server.asked[0]["range"] == "bytes=500000-"


async def test_what_is_whole_already_is_only_checked(tmp_path: Path):
    (tmp_path / "tiny.gguf.part").write_bytes(MODEL)
    async with serving(HubServer()) as server:
        await fetch(server, tmp_path, WANTED.model_copy(update={"sha256": SHA}))


async def test_wrong_bytes_are_thrown_away(tmp_path: Path):
    wrong = MODEL[:-1] + b"x"
    async with serving(HubServer(content=wrong)) as server:
        with pytest.raises(DownloadFailed, match="not the file that was announced"):
            await fetch(server, tmp_path)

    assert not (tmp_path / "tiny.gguf").exists()
    assert not (tmp_path / "tiny.gguf.part").exists()


async def test_a_file_other_than_the_one_lethe_knows_is_not_even_loaded(tmp_path: Path):
    known = WANTED.model_copy(update={"sha256": hashlib.sha256(b"another").hexdigest()})
    async with serving(HubServer()) as server:
        with pytest.raises(DownloadFailed, match="not the file that Lethe knows"):
            await fetch(server, tmp_path, known)

    assert not (tmp_path / "tiny.gguf.part").exists()


@pytest.mark.parametrize("said", [len(MODEL) + 5000, len(MODEL) * 2])
async def test_a_length_that_never_comes_is_given_up_at_last(tmp_path: Path, said: int):
    async with serving(HubServer(length=said, etag="")) as server:
        with pytest.raises(DownloadFailed):
            await fetch(server, tmp_path)

    assert not (tmp_path / "tiny.gguf").exists()


async def test_a_page_instead_of_a_model_is_refused(tmp_path: Path):
    async with serving(HubServer(content=b"<html>Please log in</html>", etag="")) as server:
        with pytest.raises(DownloadFailed, match="no GGUF"):
            await fetch(server, tmp_path)


@pytest.mark.parametrize(("status", "words"), [(401, "not given to everybody"), (404, "not there"), (418, "418")])
async def test_a_refusal_is_told_in_words(tmp_path: Path, status: int, words: str):
    async with serving(HubServer(status=status)) as server:
        with pytest.raises(DownloadFailed, match=words):
            await fetch(server, tmp_path)

    assert len(server.asked) == 1


async def test_a_server_in_trouble_is_asked_several_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(hub_module, "TRIES", 3)
    async with serving(HubServer(status=503)) as server:
        with pytest.raises(DownloadFailed, match="503"):
            await fetch(server, tmp_path)

    assert len(server.asked) == 3


async def test_what_was_said_before_a_redirection_counts_behind_it(tmp_path: Path):
    async with serving(HubServer()) as server:
        server.location = f"{server.url}/moved/tiny.gguf"
        await fetch(server, tmp_path)

    assert [asked["path"] for asked in server.asked] == [
        "/somebody/tiny-GGUF/resolve/main/tiny.gguf?download=true",
        "/moved/tiny.gguf",
    ]


async def test_nobody_is_followed_to_an_open_connection_elsewhere(tmp_path: Path):
    async with serving(HubServer(location="http://192.0.2.1/moved/tiny.gguf")) as server:
        with pytest.raises(DownloadFailed, match="not encrypted"):
            await fetch(server, tmp_path)


async def test_a_disk_too_small_is_told_before_anything_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(hub_module, "SPARE", 1 << 62)
    async with serving(HubServer()) as server:
        with pytest.raises(DiskFull, match="not enough room"):
            await fetch(server, tmp_path)


def told_when(half: asyncio.Event) -> Callable[[DownloadStage, int, int], None]:
    """Sets the event once anything has been kept."""
    return lambda stage, _done, _total: half.set() if stage is DownloadStage.LOADING else None


async def test_stopping_keeps_what_came(tmp_path: Path):
    async with serving(HubServer(stalls=1)) as server:
        part, half = tmp_path / "tiny.gguf.part", asyncio.Event()
        loading = asyncio.ensure_future(Hub(server.url, stall=30).fetch(WANTED, tmp_path, told_when(half)))
        await asyncio.wait_for(half.wait(), 120)
        loading.cancel()
        await asyncio.gather(loading, return_exceptions=True)

    kept = part.read_bytes()
    assert len(kept) >= hub_module.PIECE
    assert MODEL.startswith(kept)


async def test_behind_a_proxy_nobody_else_is_asked(tmp_path: Path):
    async with serving(HubServer(status=403)) as proxy:  # one that lets nobody through
        hub = Hub("https://only-the-proxy-knows.example.com", proxy.url, pause=0.01, stall=0.3)

        with pytest.raises(DownloadFailed):
            await hub.fetch(WANTED, tmp_path, lambda *_news: None)

    assert {asked["path"] for asked in proxy.asked} == {"only-the-proxy-knows.example.com:443"}
