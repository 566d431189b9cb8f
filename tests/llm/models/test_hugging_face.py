"""A download goes on where it broke, believes nothing it is told, and keeps only what was checked."""

from __future__ import annotations

import asyncio
import hashlib
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lethe_app.domain.model import DownloadStage, RemoteModel
from lethe_app.errors import DiskFull, DownloadFailed, StorageError
from lethe_app.llm.models import hugging_face
from lethe_app.llm.models import hugging_face as hub_module
from lethe_app.llm.models.hugging_face import HuggingFaceHub
from tests.llm.gguf_factory import chat_settings, write_model
from tests.llm.hub_server import MODEL, SHA, HubServer, serving

WANTED = RemoteModel(name="Tiny", repository="somebody/tiny-GGUF", file="tiny.gguf")


async def fetch(server: HubServer, folder: Path, wanted: RemoteModel = WANTED) -> list[tuple[DownloadStage, int, int]]:
    """Everything that was told on the way; the file is checked to be the right one."""
    report: list[tuple[DownloadStage, int, int]] = []
    path = await HuggingFaceHub(server.url, retry_delay=0.01, stall_timeout=0.3).download(
        wanted, folder, lambda *news: report.append(news)
    )
    assert path == folder / "tiny.gguf"
    assert path.read_bytes() == MODEL
    assert not (folder / "tiny.gguf.part").exists()
    return report


async def test_a_file_comes_whole_and_checked(tmp_path: Path):
    async with serving(HubServer()) as server:
        report = await fetch(server, tmp_path)

    assert server.asked[0]["path"] == "/somebody/tiny-GGUF/resolve/main/tiny.gguf?download=true"
    assert report[-2:] == [(DownloadStage.LOADING, len(MODEL), len(MODEL)), (DownloadStage.CHECKING, len(MODEL), len(MODEL))]


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
        with pytest.raises(DownloadFailed, match="is not the announced one"):
            await fetch(server, tmp_path)

    assert not (tmp_path / "tiny.gguf").exists()
    assert not (tmp_path / "tiny.gguf.part").exists()


async def test_a_file_other_than_the_one_lethe_knows_is_not_even_loaded(tmp_path: Path):
    known = WANTED.model_copy(update={"sha256": hashlib.sha256(b"another").hexdigest()})
    async with serving(HubServer()) as server:
        with pytest.raises(DownloadFailed, match="not the file Lethe expects"):
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
        with pytest.raises(DownloadFailed, match="did not send a model file"):
            await fetch(server, tmp_path)


@pytest.mark.parametrize(("status", "words"), [(401, "requires permission"), (404, "no longer available"), (418, "418")])
async def test_a_refusal_is_told_in_words(tmp_path: Path, status: int, words: str):
    async with serving(HubServer(status=status)) as server:
        with pytest.raises(DownloadFailed, match=words):
            await fetch(server, tmp_path)

    assert len(server.asked) == 1


async def test_a_server_in_trouble_is_asked_several_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(hub_module, "MAX_TRIES", 3)
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
        with pytest.raises(DownloadFailed, match="unencrypted"):
            await fetch(server, tmp_path)


async def test_a_disk_too_small_is_told_before_anything_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(hugging_face, "MIN_FREE_DISK", 1 << 62)
    async with serving(HubServer()) as server:
        with pytest.raises(DiskFull, match="not enough disk space"):
            await fetch(server, tmp_path)


def told_when(half: asyncio.Event) -> Callable[[DownloadStage, int, int], None]:
    """Sets the event once anything has been kept."""
    return lambda stage, _done, _total: half.set() if stage is DownloadStage.LOADING else None


async def test_stopping_keeps_what_came(tmp_path: Path):
    async with serving(HubServer(stalls=1)) as server:
        part, half = tmp_path / "tiny.gguf.part", asyncio.Event()
        loading = asyncio.ensure_future(
            HuggingFaceHub(server.url, stall_timeout=30).download(WANTED, tmp_path, told_when(half))
        )
        await asyncio.wait_for(half.wait(), 120)
        loading.cancel()
        await asyncio.gather(loading, return_exceptions=True)

    kept = part.read_bytes()
    assert len(kept) >= hugging_face.WRITE_SIZE
    assert MODEL.startswith(kept)


async def test_behind_a_proxy_nobody_else_is_asked(tmp_path: Path):
    async with serving(HubServer(status=403)) as proxy:  # one that lets nobody through
        hub = HuggingFaceHub("https://only-the-proxy-knows.example.com", proxy.url, retry_delay=0.01, stall_timeout=0.3)

        with pytest.raises(DownloadFailed):
            await hub.download(WANTED, tmp_path, lambda *_news: None)

    assert {asked["path"] for asked in proxy.asked} == {"only-the-proxy-knows.example.com:443"}


# what a server may say that is not so


@pytest.mark.parametrize("reach", [True, False])
async def test_half_a_file_is_not_taken_for_the_whole_because_the_server_says_there_is_no_more(tmp_path: Path, reach: bool):
    (tmp_path / "tiny.gguf.part").write_bytes(MODEL + b"left over from something longer")
    async with serving(HubServer(reach=reach)) as server:
        await fetch(server, tmp_path)

    assert [asked.get("range") for asked in server.asked] == [f"bytes={len(MODEL) + 31}-", None]


async def test_a_server_that_never_says_how_long_it_is_does_not_make_it_go_round_in_circles(tmp_path: Path):
    (tmp_path / "tiny.gguf.part").write_bytes(MODEL[:1000])
    async with serving(HubServer(status=416)) as server:
        with pytest.raises(DownloadFailed):
            await fetch(server, tmp_path)

    assert not (tmp_path / "tiny.gguf").exists()
    assert len(server.asked) <= 3


async def test_where_no_hash_is_told_the_file_itself_says_whether_it_is_whole(tmp_path: Path):
    whole = write_model(tmp_path / "whole.gguf", settings=chat_settings()).read_bytes()
    (tmp_path / "models").mkdir()
    report = lambda *_news: None  # noqa: E731 - nobody listens
    async with serving(HubServer(content=whole, etag="")) as server:
        path = await HuggingFaceHub(server.url, retry_delay=0.01).download(WANTED, tmp_path / "models", report)
        assert path.read_bytes() == whole
        path.unlink()
        server.content = whole[: len(whole) - 40]  # as long as it is said to be, and yet not all of it
        with pytest.raises(DownloadFailed, match="is not the announced one"):
            await HuggingFaceHub(server.url, retry_delay=0.01).download(WANTED, tmp_path / "models", report)

    assert list((tmp_path / "models").iterdir()) == []


async def test_bytes_that_come_one_by_one_are_a_model_all_the_same(tmp_path: Path):
    async with serving(HubServer(dribbles=True)) as server:
        await fetch(server, tmp_path)


async def test_numbers_that_are_none_are_passed_over(tmp_path: Path):
    async with serving(HubServer(more="X-Linked-Size: lots\r\n")) as server:
        await fetch(server, tmp_path)


async def test_a_longer_timeout_is_granted_on_request(tmp_path: Path):
    async with serving(HubServer(statuses=[429], more="Retry-After: 1\r\n")) as server:
        began = time.monotonic()
        await fetch(server, tmp_path)

    assert len(server.asked) == 2
    assert time.monotonic() - began >= 1


async def test_a_file_that_changes_between_two_breaks_is_given_up(tmp_path: Path):
    async with serving(HubServer(breaks=[400_000, 300_000], etag="", more='ETag: "one"\r\n')) as server:

        def report(stage: DownloadStage, done: int, _total: int) -> None:
            if stage is DownloadStage.WAITING and done:
                server.more = 'ETag: "two"\r\n'

        with pytest.raises(DownloadFailed, match="was changed"):
            await HuggingFaceHub(server.url, retry_delay=0.01).download(WANTED, tmp_path, report)


async def test_whoever_leads_round_in_circles_is_not_followed_for_long(tmp_path: Path):
    async with serving(HubServer()) as server:
        server.location = f"{server.url}/somebody/else.gguf"
        with pytest.raises(DownloadFailed):
            await fetch(server, tmp_path)

    assert len(server.asked) <= 6


@pytest.mark.parametrize(("endpoint", "proxy"), [("https://[::1", ""), ("", "socks4://here"), ("", "socks5://here")])
async def test_an_address_that_is_none_is_told_at_once(tmp_path: Path, endpoint: str, proxy: str):
    with pytest.raises(DownloadFailed):
        await HuggingFaceHub(endpoint, proxy, retry_delay=60).download(WANTED, tmp_path, lambda *_news: None)


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit there")
@pytest.mark.parametrize("limit", [1_500_000, len(MODEL) - 100])
async def test_a_disk_that_fills_up_meanwhile_keeps_what_came(tmp_path: Path, limit: int):
    import resource  # noqa: PLC0415 - not on every system

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    async with serving(HubServer()) as server:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
        try:
            with pytest.raises(DiskFull, match="download stopped"):
                await fetch(server, tmp_path)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        kept = (tmp_path / "tiny.gguf.part").read_bytes()
        assert len(kept) == limit
        await fetch(server, tmp_path)

    assert MODEL.startswith(kept)
    assert server.asked[-1]["range"] == f"bytes={limit}-"


async def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path):
    (tmp_path / "models").write_text("a file, where a folder should be", encoding="utf-8")
    with pytest.raises(StorageError, match="cannot be written"):
        await HuggingFaceHub("http://127.0.0.1:9").download(WANTED, tmp_path / "models", lambda *_news: None)
