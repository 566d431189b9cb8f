"""Bookmarks on the disk: bounded, private, the least recently used out first, and gone when they are to be forgotten."""

from __future__ import annotations

import os
import stat
import threading
import weakref
from collections import namedtuple
from pathlib import Path

import pytest

from lethe_app.llm.kv_cache import state_store as shelves
from lethe_app.llm.kv_cache.saved_state import SavedState, write
from lethe_app.llm.kv_cache.state_store import StateStore, trim_folder
from lethe_app.llm.protocol import StateLocation

SIZE = 10_000
MARK = SavedState([1, 2, 3], (), b"x" * SIZE)


def at(folder: Path, name: str, limit: int = 1 << 30) -> StateLocation:
    return StateLocation(folder, name, limit)


def never() -> bool:
    return False


def files(folder: Path) -> list[str]:
    return sorted(path.name.split(".")[0] for path in folder.iterdir()) if folder.exists() else []


def put(store: StateStore, folder: Path, *names: str, limit: int = 1 << 30) -> None:
    """Written one after the other, each a second younger than the one before."""
    for number, name in enumerate(names):
        store.save(at(folder, name, limit), MARK, store.last_deletion)
        assert store.wait_until_written(never)
        for path in folder.glob(f"{name}.*"):
            os.utime(path, (1000 + number, 1000 + number))


def test_what_was_put_there_is_found_by_another_process(tmp_path: Path):
    put(StateStore("this model"), tmp_path / "states", "her-talk")

    found = StateStore("this model").load(at(tmp_path / "states", "her-talk"))

    assert found == MARK


def test_it_is_at_hand_before_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    held = threading.Event()
    monkeypatch.setattr(shelves, "write", lambda *_: held.wait(10))
    store = StateStore("this model")

    store.save(at(tmp_path, "her-talk"), MARK, 0)
    found, head = store.load(at(tmp_path, "her-talk")), store.load_head(at(tmp_path, "her-talk"))
    is_written = store.wait_until_written(lambda: True)
    held.set()

    assert found is head is MARK
    assert not is_written
    assert store.wait_until_written(never)


def test_the_copy_of_the_cache_is_freed_once_it_is_written(tmp_path: Path):
    store, state = StateStore("this model"), SavedState([1, 2, 3], (), b"x" * SIZE)
    is_freed = threading.Event()
    weakref.finalize(state, is_freed.set)

    store.save(at(tmp_path, "her-talk"), state, 0)
    del state

    assert is_freed.wait(10)
    assert files(tmp_path) == ["her-talk"]


def test_other_models_have_their_own_saved_states(tmp_path: Path):
    put(StateStore("this model"), tmp_path, "her-talk")
    other = StateStore("another model")

    assert other.load(at(tmp_path, "her-talk")) is None
    assert other.load_head(at(tmp_path, "her-talk")) is None
    assert files(tmp_path) == ["her-talk"]


def test_a_spoilt_one_is_removed(tmp_path: Path):
    store = StateStore("this model")
    put(store, tmp_path, "her-talk")
    path = next(tmp_path.iterdir())
    path.write_bytes(path.read_bytes()[:-1] + b"?")

    assert store.load(at(tmp_path, "her-talk")) is None
    assert files(tmp_path) == []


def test_the_least_recently_used_leaves_first(tmp_path: Path):
    store, room = StateStore("this model"), 3 * (SIZE + 2000)
    put(store, tmp_path, "a-1", "a-2", "a-3", limit=room)
    store.load(at(tmp_path, "a-1"))

    put(store, tmp_path, "a-4", limit=room)

    assert files(tmp_path) == ["a-1", "a-3", "a-4"]


def test_the_same_conversation_takes_its_own_place(tmp_path: Path):
    store, room = StateStore("this model"), 2 * (SIZE + 2000)
    put(store, tmp_path, "a-1", "a-2", limit=room)

    put(store, tmp_path, "a-2", limit=room)

    assert files(tmp_path) == ["a-1", "a-2"]


def test_what_never_fits_throws_nothing_out(tmp_path: Path):
    store = StateStore("this model")
    put(store, tmp_path, "a-1")

    put(store, tmp_path, "a-2", limit=SIZE // 2)

    assert files(tmp_path) == ["a-1"]


def test_a_disk_that_is_nearly_full_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shelves.shutil, "disk_usage", lambda _path: usage(10**12, 10**12, shelves.MIN_FREE_DISK))

    put(StateStore("this model"), tmp_path, "a-1")

    assert files(tmp_path) == []


def test_a_disk_that_fails_is_no_trouble(tmp_path: Path):
    (tmp_path / "states").write_text("a file where the folder should be")

    put(StateStore("this model"), tmp_path / "states", "a-1")

    assert StateStore("this model").load(at(tmp_path / "states", "a-1")) is None


def test_nobody_else_may_look_into_the_folder(tmp_path: Path):
    put(StateStore("this model"), tmp_path / "states", "a-1")

    assert stat.S_IMODE((tmp_path / "states").stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "states").iterdir()] == [0o600]


def test_what_an_ended_process_left_half_written_is_cleared_away(tmp_path: Path):
    (tmp_path / "a-1.0123456789abcdef.kv.part").write_bytes(b"half")

    put(StateStore("this model"), tmp_path, "a-2")

    assert files(tmp_path) == ["a-2"]


def test_forgetting_takes_all_that_share_a_part_of_their_names(tmp_path: Path):
    store = StateStore("this model")
    put(store, tmp_path, "anna-1", "anna-2", "bela-3")
    put(StateStore("another model"), tmp_path, "anna-1")

    store.delete(tmp_path, "anna-")

    assert files(tmp_path) == ["bela-3"]


def test_forgetting_nothing_in_particular_takes_everything_and_no_foreign_file(tmp_path: Path):
    store = StateStore("this model")
    put(store, tmp_path, "anna-1", "bela-3")
    (tmp_path / "readme.txt").write_text("not ours")

    store.delete(tmp_path, "")

    assert files(tmp_path) == ["readme"]


def test_what_was_read_before_something_was_forgotten_is_not_written_after(tmp_path: Path):
    store = StateStore("this model")
    seen = store.last_deletion
    store.delete(tmp_path, "-1")

    for name in ("anna-1", "anna-2"):
        store.save(at(tmp_path, name), MARK, seen)
    store.wait_until_written(never)

    assert files(tmp_path) == ["anna-2"]


def test_what_is_forgotten_while_it_is_written_never_comes_to_lie_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    begun, go_on = threading.Event(), threading.Event()

    def slowly(*arguments: object) -> bool:
        begun.set()
        return go_on.wait(10) and write(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(shelves, "write", slowly)
    store = StateStore("this model")
    store.save(at(tmp_path, "anna-1"), MARK, 0)
    begun.wait(10)

    store.delete(tmp_path, "anna-")
    is_at_hand = store.load_head(at(tmp_path, "anna-1"))
    go_on.set()
    store.save(at(tmp_path, "bela-1"), MARK, store.last_deletion)
    store.wait_until_written(never)

    assert is_at_hand is None
    assert files(tmp_path) == ["bela-1"]


def test_a_smaller_folder_is_trimmed(tmp_path: Path):
    put(StateStore("this model"), tmp_path, "a-1", "a-2", "a-3")

    trim_folder(tmp_path, 2 * (SIZE + 2000))

    assert files(tmp_path) == ["a-2", "a-3"]
