"""Nobody else can read the home, and what a killed write left behind is removed."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lethe_app.app import build, configure_log
from lethe_app.paths import Paths
from lethe_app.storage.atomic import write_atomically
from lethe_app.storage.home_files import create_files_privately

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="files have no such permissions there")


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(home: Path) -> dict[str, int]:
    """The permissions of a home and of everything in it."""
    return {str(path.relative_to(home.parent)): stat.S_IMODE(path.stat().st_mode) for path in [home, *home.rglob("*")]}


def is_private(home: Path) -> bool:
    return all(mode == (0o700 if (home.parent / name).is_dir() else 0o600) for name, mode in modes(home).items())


async def test_everything_in_a_new_home_is_private(tmp_path: Path):
    paths = Paths.standard(tmp_path / "home")
    configure_log(paths)
    services = await build(paths, engine="echo")
    await services.sessions.new("mira")
    await services.preferences.set(font_size=18)
    assert paths.database.with_name("lethe.sqlite3-wal").exists()
    assert is_private(paths.home), modes(paths.home)
    await services.close()
    assert is_private(paths.home), modes(paths.home)
    assert not services.notices


async def test_an_old_home_is_made_private_once_with_a_notice(tmp_path: Path):
    paths = Paths.standard(tmp_path / "home")
    (paths.home / "backups").mkdir(parents=True)
    (paths.home / "backups" / "lethe-20260101T000000000000Z.sqlite3").write_bytes(b"x")
    (paths.home / "personas").mkdir()
    (paths.home / "personas" / "mara.json").write_text('{"name": "Mara"}')
    outside = tmp_path / "model.gguf"
    outside.write_bytes(b"GGUF")
    (paths.home / "models").mkdir()
    (paths.home / "models" / "link.gguf").symlink_to(outside)
    (paths.home / "backups" / "lethe-20260101T000000000000Z.sqlite3").rename(paths.home / "notes.txt")

    first = await build(paths, engine="echo")
    await first.close()
    second = await build(paths, engine="echo")
    await second.close()

    (notice,) = first.notices
    assert "only you can" in notice.message
    assert not second.notices
    (paths.home / "models" / "link.gguf").unlink()
    assert is_private(paths.home), modes(paths.home)
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644


def test_an_export_outside_is_as_readable_as_other_files_there(tmp_path: Path):
    for name in ("shared", "private"):
        (tmp_path / name).mkdir(mode=0o755 if name == "shared" else 0o700)
    create_files_privately()

    for name in ("shared", "private"):
        write_atomically(tmp_path / name / "export.json", b"{}")

    assert stat.S_IMODE((tmp_path / "shared" / "export.json").stat().st_mode) == 0o644
    assert stat.S_IMODE((tmp_path / "private" / "export.json").stat().st_mode) == 0o600


async def test_what_a_killed_write_left_is_removed_but_for_downloads(tmp_path: Path):
    paths = Paths.standard(tmp_path / "home")
    names = ["backups/lethe-1.partial", "exports/mara.partial", ".0123456789abcdef.tmp", "notebooks/a/.0123.tmp"]
    kept = ["models/big.gguf.part", "models/other.partial", "notebooks/a/day.md"]
    for name in (*names, *kept):
        (paths.home / name).parent.mkdir(parents=True, exist_ok=True)
        (paths.home / name).write_bytes(b"what somebody wrote")

    await (await build(paths, engine="echo")).close()

    assert [name for name in names if (paths.home / name).exists()] == []
    assert [name for name in kept if not (paths.home / name).exists()] == []
