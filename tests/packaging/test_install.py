"""The set-up does nothing twice, starts again where it failed, and says what a window lacks. No package is installed here."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "packaging" / "install.py"
GROUPS = ("build", "runtime", "models", "dev")
# Notes what it is asked to do; fails as the files beside it say.
FAKE_PYTHON = """#!/bin/sh
here=$(dirname "$0")
case "$1" in
-c) cat "$here/qt_says" >&2; test ! -s "$here/qt_says" ;;
*) echo "$@" >> "$here/calls"; test ! -e "$here/pip_fails" ;;
esac
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for Python is a shell script")


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, in a project of its own whose environment holds a stand-in for Python."""
    spec = importlib.util.spec_from_file_location("install_under_test", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    binaries = tmp_path / ".venv" / "bin"
    binaries.mkdir(parents=True)
    python = binaries / "python"
    python.write_text(FAKE_PYTHON, encoding="utf-8")
    python.chmod(0o755)
    (binaries / "qt_says").touch()
    (tmp_path / "packaging").mkdir()
    (tmp_path / "pyproject.toml").write_text("[project]", encoding="utf-8")
    for group in GROUPS:
        (tmp_path / "packaging" / f"{group}.lock").write_text(f"{group}==1", encoding="utf-8")
    places = {"ROOT": tmp_path, "HERE": tmp_path / "packaging", "VENV": tmp_path / ".venv", "BIN": binaries, "PYTHON": python}
    for name, place in places.items():
        assert hasattr(script, name)
        monkeypatch.setattr(script, name, place)
    monkeypatch.setattr(sys, "argv", ["install.py"])
    return script


def all_calls(install: ModuleType) -> list[str]:
    """What the stand-in was asked to run since the last time somebody looked."""
    log = install.BIN / "calls"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    log.unlink(missing_ok=True)
    return lines


def calls(install: ModuleType) -> list[str]:
    """What was asked of pip since the last time somebody looked."""
    return [line for line in all_calls(install) if line.startswith("-m pip ")]


def test_the_embedder_is_looked_after_in_every_run_and_last(install: ModuleType):
    install.main()
    first = all_calls(install)

    install.main()

    assert first[-1] == str(install.HERE / "embedder.py")
    assert all_calls(install) == [str(install.HERE / "embedder.py")]


def test_the_first_run_installs_every_lock_by_hash_and_without_further_search(install: ModuleType):
    code = install.main()

    asked = calls(install)
    assert code == 0
    assert [group for group in GROUPS for line in asked if line.endswith(f"{group}.lock")] == ["build", "runtime", "models"]
    assert all("--no-deps" in line for line in asked)
    assert all("--require-hashes" in line for line in asked if line.endswith(".lock"))
    assert "--editable" in asked[-1]


def test_a_second_run_asks_nothing_of_pip_and_says_nothing(install: ModuleType, capsys: pytest.CaptureFixture[str]):
    install.main()
    calls(install)
    capsys.readouterr()

    code = install.main()

    assert (code, calls(install)) == (0, [])
    assert "".join(capsys.readouterr()) == ""


@pytest.mark.parametrize(
    ("file", "argument", "installed"),
    [
        ("packaging/models.lock", "", "models.lock"),
        ("pyproject.toml", "", "--editable"),
        ("", "--dev", "dev.lock"),
    ],
    ids=["lock", "project file", "tools for tests"],
)
def test_only_what_changed_or_is_asked_for_is_installed_again(
    install: ModuleType, monkeypatch: pytest.MonkeyPatch, file: str, argument: str, installed: str
):
    install.main()
    calls(install)
    if file:
        (install.ROOT / file).write_text("# changed", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["install.py", *argument.split()])

    install.main()

    (only,) = calls(install)
    assert installed in only


def test_what_failed_is_told_and_tried_again_the_next_time(install: ModuleType, capsys: pytest.CaptureFixture[str]):
    (install.BIN / "pip_fails").touch()
    failed = install.main()
    reported = capsys.readouterr().err
    tried = calls(install)
    (install.BIN / "pip_fails").unlink()

    code = install.main()

    assert (failed, len(tried), code) == (1, 1, 0)
    assert "Set-up stopped" in reported
    assert "build.lock" in reported
    assert len(calls(install)) == 4


def test_for_a_bundle_what_comes_as_source_is_compiled_apart_and_never_through_pips_cache(
    install: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    (install.HERE / "bundle.lock").write_text("bundle==1", encoding="utf-8")
    locked = "hnswlib==1 \\\n    --hash=sha256:00\nnumpy==2 \\\n    --hash=sha256:01\n"
    (install.HERE / "runtime.lock").write_text(locked, encoding="utf-8")
    monkeypatch.setenv("LETHE_WHEELS", str(tmp_path / "wheels"))
    monkeypatch.setattr(sys, "argv", ["install.py", "--bundle"])
    monkeypatch.setattr(Path, "rename", lambda part, folder: folder.mkdir(parents=True))  # the stand-in compiles nothing

    code = install.main()

    asked = calls(install)
    (compiled,) = [line for line in asked if "wheel --" in line]
    assert code == 0
    assert {"--no-cache-dir", "--require-hashes"} <= set(compiled.split())
    assert (install.VENV / "sources.lock").read_text(encoding="utf-8").split() == ["hnswlib==1", "\\", "--hash=sha256:00"]
    assert "hnswlib" not in (install.VENV / "ready.lock").read_text(encoding="utf-8")
    assert "-march" not in install.PORTABLE["CMAKE_ARGS"]
    assert "-DGGML_NATIVE=OFF" in install.PORTABLE["CMAKE_ARGS"].split()


def test_a_missing_system_library_is_told_with_the_command_that_installs_it(
    install: ModuleType, capsys: pytest.CaptureFixture[str]
):
    (install.BIN / "qt_says").write_text(
        "ImportError: libEGL.so.1: cannot open shared object file: No such file or directory", encoding="utf-8"
    )

    code = install.main()

    (reported,) = capsys.readouterr().err.splitlines()
    assert code == 2
    assert reported.startswith("Qt needs the system library libEGL.so.1; install it with: sudo apt-get install -y ")
    assert "libegl1" in reported.split()


def test_an_unknown_complaint_of_qt_still_names_a_command(install: ModuleType, capsys: pytest.CaptureFixture[str]):
    (install.BIN / "qt_says").write_text("ImportError: libnever.so.7: cannot open shared object file", encoding="utf-8")

    code = install.main()

    assert code == 2
    assert "Qt needs some system libraries; install it with: sudo apt-get install -y libegl1" in capsys.readouterr().err


def test_the_command_installs_every_library_the_set_up_knows(install: ModuleType):
    lacking = set(install.DEBIAN_PACKAGES.values()) - set(install.QT_PACKAGES.split())

    assert lacking == set()


def test_an_old_python_is_refused_in_one_sentence(
    install: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(sys, "version_info", (3, 10, 4))

    code = install.main()

    assert code == 1
    assert capsys.readouterr().err.startswith("Lethe needs Python 3.11 or newer")
    assert calls(install) == []


def test_the_compilers_see_the_pinned_tools_first(install: ModuleType, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "/somewhere")

    assert install.build_environment()["PATH"] == f"{install.BIN}{os.pathsep}/somewhere"


def test_of_the_addons_wheel_only_speech_and_sound_are_kept(install: ModuleType):
    packages = install.VENV / "lib" / "python3.11" / "site-packages"
    kept = [
        "PySide6/QtMultimedia.abi3.so",
        "PySide6/QtTextToSpeech.pyi",
        "PySide6/Qt/lib/libQt6Multimedia.so.6",
        "PySide6/Qt/lib/libavcodec.so.61",
        "PySide6/Qt/lib/QtTextToSpeech.framework/QtTextToSpeech",
        "PySide6/Qt/plugins/texttospeech/libqtexttospeech_speechd.so",
        "PySide6/Qt6Multimedia.dll",
        "PySide6/avcodec-61.dll",
    ]
    removed = [
        "PySide6/Qt/lib/libQt6WebEngineCore.so.6",
        "PySide6/QtMultimediaWidgets.abi3.so",
        "PySide6/Qt/lib/libQt6MultimediaQuick.so.6",
        "PySide6/Qt/qml/QtMultimedia/qmldir",
        "PySide6/scripts/deploy.py",
    ]
    record = packages / "pyside6_addons-6.11.3.dist-info" / "RECORD"
    shared = ["PySide6/__init__.py", "PySide6/QtCore.pyi"]
    for file in [*kept, *removed, *shared, "outside.txt"]:
        (packages / file).parent.mkdir(parents=True, exist_ok=True)
        (packages / file).touch()
    record.parent.mkdir()
    essentials = packages / "pyside6_essentials-6.11.3.dist-info" / "RECORD"
    essentials.parent.mkdir()
    essentials.write_text("".join(f"{file},sha256=x,1\n" for file in shared), encoding="utf-8")
    listed = [*kept, *removed, *shared, "../../../../pyproject.toml", "pyside6_addons-6.11.3.dist-info/RECORD"]
    record.write_text("".join(f"{file},sha256=x,1\n" for file in listed), encoding="utf-8")

    install.remove_unused_qt()
    install.remove_unused_qt()

    assert [file for file in [*kept, *shared] if not (packages / file).exists()] == []
    assert [file for file in removed if (packages / file).exists()] == []
    assert record.exists()
    assert (packages / "outside.txt").exists()
    assert (install.ROOT / "pyproject.toml").exists()


def test_what_speech_lacks_is_said_once_and_stops_nothing(install: ModuleType, capsys: pytest.CaptureFixture[str]):
    script = install.BIN / "python"
    script.write_text('#!/bin/sh\ncase "$2" in *TextToSpeech*) exit 1 ;; esac\n', encoding="utf-8")

    codes = [install.main(), install.main()]

    assert codes == [0, 0]
    assert capsys.readouterr().out.count("libspeechd2") == (sys.platform == "linux")
