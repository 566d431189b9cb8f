"""The wheel carries all it needs and works far away from the source tree."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[2]
SHIPPED = ("personas", "worldinfo", "resources")
ENDINGS = {".py", ".json", ".toml", ".npz", ".svg", ".qss", ".md", ".ttf", ".otf", ".txt", ".html", ".sql"}
BIN = "Scripts" if os.name == "nt" else "bin"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the source tree as anybody would build it."""
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", folder, ROOT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment that holds the wheel; other libraries are those of the environment that runs the tests.

    Its site-packages stand in a plain path line, so the `.pth` files in there, among them the way to the source, are not read.
    """
    folder = tmp_path_factory.mktemp("elsewhere") / "venv"
    venv.create(folder)
    python = folder / BIN / Path(sys.executable).name
    pip("--python", python, "install", "--no-deps", "--no-index", "--no-compile", wheel)
    asked = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    lines = dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib")))
    (Path(packages) / "libraries.pth").write_text("\n".join(lines), encoding="utf-8")
    return folder


def pip(*arguments: object) -> None:
    command = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr


def run_there(environment: Path, cwd: Path, program: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run something of that environment for a user who has nothing yet, in a folder that has nothing to do with Lethe."""
    nobody = cwd / "nobody"
    nobody.mkdir(exist_ok=True)
    outside = {"PYTHONPATH", "LETHE_HOME", "VIRTUAL_ENV"}
    variables = {name: value for name, value in os.environ.items() if name not in outside and not name.startswith("XDG_")}
    variables |= {"HOME": str(nobody), "QT_QPA_PLATFORM": "offscreen", "PYTHONIOENCODING": "utf-8"}
    command = [str(environment / BIN / program), *map(str, arguments)]
    return subprocess.run(
        command, cwd=cwd, env=variables, capture_output=True, text=True, encoding="utf-8", timeout=600, check=False
    )


def inside(wheel: Path) -> list[PurePosixPath]:
    with zipfile.ZipFile(wheel) as archive:
        return [PurePosixPath(name) for name in archive.namelist()]


@pytest.mark.parametrize("folder", SHIPPED)
def test_every_shipped_file_travels_in_the_wheel_unchanged(wheel: Path, folder: str):
    files = [path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts]

    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        lost = [path for path in files if f"lethe_app/shipped/{path.relative_to(ROOT).as_posix()}" not in names]
        changed = [
            path
            for path in set(files) - set(lost)
            if archive.read(f"lethe_app/shipped/{path.relative_to(ROOT).as_posix()}") != path.read_bytes()
        ]

    assert files
    assert (lost, changed) == ([], [])


def test_every_module_and_script_is_in_the_wheel(wheel: Path):
    files = [path for ending in ("*.py", "*.sql") for path in (ROOT / "lethe_app").rglob(ending)]
    modules = {path.relative_to(ROOT).as_posix() for path in files}

    assert any(path.suffix == ".sql" for path in files)
    assert modules <= {path.as_posix() for path in inside(wheel)}


def test_nothing_else_travels_in_the_wheel(wheel: Path):
    strangers = [
        str(path)
        for path in inside(wheel)
        if not (path.parts[0] == "lethe_app" and path.suffix in ENDINGS) and not path.parts[0].endswith(".dist-info")
    ]
    hidden = [str(path) for path in inside(wheel) if any(part.startswith((".", "__pycache__")) for part in path.parts)]
    rooms = {path.parts[1] for path in inside(wheel) if path.parts[0] == "lethe_app" and len(path.parts) > 2}

    assert (strangers, hidden) == ([], [])
    assert not rooms & {"tests", "packaging", "resources", "personas", "worldinfo"}


def test_the_installed_program_does_not_lean_on_the_source_tree(environment: Path, tmp_path: Path):
    python = Path(sys.executable).name
    tells = (
        "import sys, lethe_app; from lethe_app.paths import shipped_root; print(lethe_app.__file__); print(shipped_root());"
        "print(*sys.path, sep='|')"
    )

    done = run_there(environment, tmp_path, python, "-c", tells)

    module, shipped, path = done.stdout.splitlines()
    assert Path(module).is_relative_to(environment)
    assert Path(shipped) == Path(module).parent / "shipped"
    assert str(ROOT) not in path.split("|")


def test_the_installed_program_finds_all_it_came_with_and_its_engine_answers(environment: Path, tmp_path: Path):
    home = tmp_path / "home"

    done = run_there(environment, tmp_path, "lethe", "doctor", "--json", "--home", home)

    report = json.loads(done.stdout)
    details = {check["title"]: check["detail"] for check in report["checks"]}
    assert report["passed"], details
    assert (done.returncode, done.stderr) == (0, "")
    for folder, pattern, what in (
        ("personas", "*.json", "personas"),
        ("worldinfo", "*.json", "worlds"),
        ("resources/presets/instruct", "*.json", "instruct formats"),
        ("resources/presets/samplers", "*.json", "samplers"),
        ("resources/presets/system", "*.json", "system prompts"),
        ("resources/icons", "*.svg", "icons"),
    ):
        assert f"{len(list((ROOT / folder).glob(pattern)))} {what}" in details["Bundled files"]
    assert "missing" not in details["Starter models"]
    assert "Starter model" in details["Models"]
    assert " loaded: " in details["Engine"]
    assert details["Your data"] == str(home)


def test_the_installed_program_talks(environment: Path, tmp_path: Path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "settings.json").write_text('{"max_reply": 16, "threads": 1}', encoding="utf-8")

    done = run_there(environment, tmp_path, "lethe", "chat", "--persona", "mira", "--say", "Hello", "--json", "--home", home)

    (line,) = done.stdout.splitlines()
    reported = json.loads(line)
    assert (done.returncode, done.stderr) == (0, "")
    assert reported["reply"].strip()
    assert (reported["persona"], reported["said"]) == ("mira", "Hello")


def test_without_a_home_named_the_data_lies_where_the_system_keeps_it(environment: Path, tmp_path: Path):
    done = run_there(environment, tmp_path, "lethe", "doctor", "--json")

    details = {check["title"]: check["detail"] for check in json.loads(done.stdout)["checks"]}
    assert Path(details["Your data"]).is_relative_to(tmp_path / "nobody")
    assert (Path(details["Your data"]) / "lethe.sqlite3").is_file()
