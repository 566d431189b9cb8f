"""Sets up `.venv` from the hash-pinned locks beside this file; a second run notices that nothing changed and returns at once.

Uses the standard library only. `--dev` adds what tests and checks need. `--bundle` is for what is handed to others: the engine
is compiled for any processor, and what makes bundles is added; LETHE_VENV names another folder than `.venv` for it.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
VENV = Path(os.environ.get("LETHE_VENV") or ROOT / ".venv")
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")

SOURCES = ("llama-cpp-python==", "hnswlib==")
"""Packages that come as source; everything else comes compiled, and for any processor."""
PORTABLE = {
    # One library of ggml's kernels for each generation of processors; the best that fits is loaded at run time.
    "CMAKE_ARGS": os.environ.get("LETHE_ENGINE")
    or "-DLLAVA_BUILD=OFF -DGGML_NATIVE=OFF -DGGML_BACKEND_DL=ON -DGGML_CPU_ALL_VARIANTS=ON",
    "HNSWLIB_NO_NATIVE": "1",
}

# The shared library that the loader misses → the Debian package that holds it.
DEBIAN_PACKAGES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libX11.so.6": "libx11-6",
    "libXext.so.6": "libxext6",
}
QT_PACKAGES = (
    "libegl1 libgl1 libglib2.0-0 libxkbcommon0 libdbus-1-3 libfontconfig1 libfreetype6 libx11-6 libxext6 "
    "libxcb-cursor0 libxkbcommon-x11-0 libxcb-icccm4 libxcb-keysyms1"
)
SPEECH_PACKAGES = "libpulse0 libspeechd2 speech-dispatcher speech-dispatcher-espeak-ng"
ADDONS, ESSENTIALS = "pyside6_addons", "pyside6_essentials"
# Of the Addons wheel, which is half a gigabyte with a browser in it, only speech and sound are used.
KEPT_OF_ADDONS = re.compile(
    r"dist-info/|/plugins/(?:multimedia|texttospeech)/|/(?:Qt6?|libQt6)?(?:QtMultimedia|Multimedia|QtTextToSpeech|TextToSpeech)"
    r"(?!Quick|Widgets)|/(?:lib)?(?:av(?:codec|format|util)|sw(?:resample|scale))[-.\d]"
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dev", action="store_true", help="also install what tests and checks need")
    parser.add_argument("--bundle", action="store_true", help="compile for any processor, and install what makes bundles")
    wanted = parser.parse_args()
    if sys.version_info < (3, 11):
        print(f"Lethe needs Python 3.11 or newer; this is {sys.version.split()[0]}.", file=sys.stderr)
        return 1
    groups = ["build", "runtime", "models", *(["dev"] if wanted.dev else []), *(["bundle"] if wanted.bundle else [])]
    try:
        make_environment()
        changed = [group for group in groups if install(group, portable=wanted.bundle and group == "runtime")]
        remove_unused_qt()
        install_program()
        subprocess.run([str(PYTHON), str(HERE / "embedder.py")], check=True)  # ends at once if the file is there and whole
    except subprocess.CalledProcessError as failed:
        print(f"\nSet-up stopped: “{' '.join(map(str, failed.cmd))}” ended with code {failed.returncode}.", file=sys.stderr)
        return 1
    code = check_qt()
    if code == 0 and "runtime" in changed:
        check_speech()
    return code


def make_environment() -> None:
    if not PYTHON.exists():
        print("Creating .venv …", flush=True)
        venv.create(VENV, with_pip=True, clear=VENV.exists())


def install(group: str, *, portable: bool = False) -> bool:
    """Install one lock and return True, unless its stamp says that this was installed by exactly this interpreter."""
    lock = HERE / f"{group}.lock"
    wanted = fingerprint(lock)
    stamp = VENV / f"lethe-{group}.stamp"
    if stamp.exists() and stamp.read_text() == wanted:
        return False
    note = " (the engine is compiled once, some minutes)" if group == "runtime" else ""
    print(f"Installing {group}{note} …", flush=True)
    if portable:
        lock, sources = split_lock(lock)
        pip("install", "--no-deps", *build_wheels(sources))
    pip("install", "--no-deps", "--require-hashes", "--no-build-isolation", "-r", lock)
    stamp.write_text(wanted)
    return True


def remove_unused_qt() -> None:
    """Remove the files of the Addons wheel that nothing uses, once; some belong to the Essentials wheel as well."""
    for record in VENV.glob(f"**/site-packages/{ADDONS}-*.dist-info/RECORD"):
        packages = record.parents[1]
        shared = {file for other in packages.glob(f"{ESSENTIALS}-*.dist-info/RECORD") for file in listed_files(other)}
        for name in sorted(listed_files(record) - shared):
            file = packages / name
            if ".." not in file.parts and ("qml" in file.parts or not KEPT_OF_ADDONS.search(file.as_posix())):
                file.unlink(missing_ok=True)


def listed_files(record: Path) -> set[str]:
    """Return the files of an installed package, relative to the folder of packages."""
    return {line.rpartition(",")[0].rpartition(",")[0].strip('"') for line in record.read_text(encoding="utf-8").splitlines()}


def split_lock(lock: Path) -> tuple[Path, Path]:
    """Split the lock into requirements that come compiled and those that come as source."""
    requirements = re.findall(r"^[^\s#].*(?:\n[ \t]+.*)*", lock.read_text(), re.MULTILINE)
    ready, sources = VENV / "ready.lock", VENV / "sources.lock"
    ready.write_text("\n".join(one for one in requirements if not one.startswith(SOURCES)) + "\n")
    sources.write_text("\n".join(one for one in requirements if one.startswith(SOURCES)) + "\n")
    return ready, sources


def build_wheels(sources: Path) -> list[Path]:
    """Return wheels of the source packages, compiled for any processor and kept in LETHE_WHEELS or `build/wheels`.

    pip's own cache is neither read nor filled: it knows a wheel by its name, and the one in it is for this processor.
    """
    key = hashlib.sha256(sources.read_bytes() + repr(PORTABLE).encode() + sys.version.encode()).hexdigest()[:16]
    folder = Path(os.environ.get("LETHE_WHEELS") or ROOT / "build" / "wheels") / key
    if not folder.is_dir():
        print("Compiling the engine for any processor (once, a quarter of an hour) …", flush=True)
        part = folder.with_name(f"{key}.part")
        options = ("--no-cache-dir", "--no-deps", "--require-hashes", "--no-build-isolation", "-w", part, "-r", sources)
        pip("wheel", *options, also=PORTABLE)
        part.rename(folder)
    return sorted(folder.glob("*.whl"))


def install_program() -> None:
    """Put the source tree on the environment's path and make the `lethe` command."""
    stamp = VENV / "lethe-app.stamp"
    wanted = fingerprint(ROOT / "pyproject.toml")
    if stamp.exists() and stamp.read_text() == wanted:
        return
    pip("install", "--no-deps", "--no-build-isolation", "--editable", ROOT)
    stamp.write_text(wanted)


def fingerprint(file: Path) -> str:
    return hashlib.sha256(file.read_bytes() + sys.version.encode() + str(ROOT).encode()).hexdigest()


def pip(*arguments: str | Path, also: dict[str, str] | None = None) -> None:
    command = [PYTHON, "-m", "pip", "--disable-pip-version-check", "-q", *arguments]
    environment = {**build_environment(), **(also or {})}
    subprocess.run([str(part) for part in command], check=True, env=environment, cwd=ROOT)


def build_environment() -> dict[str, str]:
    """Return the environment of the compilers: our pinned cmake and ninja first, all cores, no multimodal tools."""
    env = dict(os.environ)
    env["PATH"] = f"{BIN}{os.pathsep}{env.get('PATH', '')}"
    env.setdefault("CMAKE_ARGS", "-DLLAVA_BUILD=OFF")
    env.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count() or 1))
    return env


def check_qt() -> int:
    """Print which system libraries the window lacks, if any, and return the exit code."""
    probe = [str(PYTHON), "-c", "import PySide6.QtWidgets"]
    result = subprocess.run(probe, capture_output=True, text=True, check=False)
    if result.returncode == 0:
        return 0
    missing = next((name for name in DEBIAN_PACKAGES if name in result.stderr), "")
    what = f"the system library {missing}" if missing else "some system libraries"
    print(f"Qt needs {what}; install it with: sudo apt-get install -y {QT_PACKAGES}", file=sys.stderr)
    return 2


def check_speech() -> None:
    """Print which system libraries speech lacks, if any; everything else works without them."""
    probe = [str(PYTHON), "-c", "import PySide6.QtTextToSpeech"]
    if subprocess.run(probe, capture_output=True, text=True, check=False).returncode and sys.platform == "linux":
        print(f"Replies can be read aloud after: sudo apt-get install -y {SPEECH_PACKAGES}")


if __name__ == "__main__":
    sys.exit(main())
