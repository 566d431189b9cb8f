"""`make package`: turns this checkout into what people install, in `dist/`; each step can be asked for by its name.

Needs what `make run` needs, and on Linux `dpkg-dev` for the Debian package. Windows and macOS: see docs/building.md.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
WORK = ROOT / "build" / "package"
BUNDLE = WORK / "dist" / "lethe"
OUT = ROOT / "dist"
VENV = WORK / "venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
SYSTEM = {"linux": "linux", "win32": "windows", "darwin": "macos"}.get(sys.platform, sys.platform)

STEP_TITLES = {
    "environment": "environment (about 18 minutes on two cores the first time, then seconds)",
    "pictures": "pictures",
    "bundle": "bundle (about 3 minutes)",
    "deb": "Debian package (about 1 minute)",
    "portable": "portable archive (about 1 minute)",
}


def main() -> int:
    """Run the requested steps; without any, all steps of this system."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("steps", nargs="*", choices=[*steps(), []], help="steps to run; all of them by default")
    chosen = parser.parse_args().steps or list(steps())
    if missing := explain_missing():
        print(missing, file=sys.stderr)
        return 1
    begin = time.monotonic()
    for number, step in enumerate(chosen, start=1):
        print(f"── {number} of {len(chosen)}: {STEP_TITLES[step]} ({elapsed_time(begin)} since the beginning)", flush=True)
        try:
            steps()[step]()
        except subprocess.CalledProcessError as failed:
            print(f"“{failed.cmd[0]}” ended with code {failed.returncode}; the step was “{step}”.", file=sys.stderr)
            return 1
    print(f"── done in {elapsed_time(begin)}")
    return 0


def explain_missing() -> str:
    """Return what this computer lacks for building, in one sentence; empty if it lacks nothing, or on other systems."""
    if SYSTEM != "linux":
        return ""
    from linux import requirements  # noqa: PLC0415 - of this system only

    return requirements.explain_missing()


def elapsed_time(begin: float) -> str:
    """Return the time since `begin` as minutes and seconds."""
    minutes, seconds = divmod(int(time.monotonic() - begin), 60)
    return f"{minutes}:{seconds:02}"


def steps() -> dict:
    """Return the steps of this system by name, in order."""
    first = {"environment": environment, "pictures": pictures, "bundle": bundle}
    return first | ({"deb": debian_package, "portable": portable_archive} if SYSTEM == "linux" else {})


def environment() -> None:
    """Set up a separate environment whose engine is compiled for any processor."""
    run(sys.executable, HERE / "install.py", "--bundle", LETHE_VENV=str(VENV))


def pictures() -> None:
    run(PYTHON, HERE / "pictures.py", WORK / "icons")


def bundle() -> None:
    """Make the folder with the program."""
    recipe = HERE / SYSTEM / "lethe.spec"
    options = ("--noconfirm", "--clean", "--log-level", "ERROR", "--distpath", BUNDLE.parent, "--workpath", WORK / "work")
    run(PYTHON, "-m", "PyInstaller", *options, recipe, PYTHONHASHSEED="0")
    if SYSTEM == "linux":
        from linux.tidy import tidy  # noqa: PLC0415 - of this system only

        tidy(BUNDLE)
    print(f"{BUNDLE.relative_to(ROOT)}: {megabytes(BUNDLE):.0f} MB")


def debian_package() -> None:
    from linux.deb import build  # noqa: PLC0415 - of this system only

    report_file(build(BUNDLE, WORK, OUT, version()))


def portable_archive() -> None:
    from linux.portable import build  # noqa: PLC0415 - of this system only

    report_file(build(BUNDLE, OUT, version()))


def version() -> str:
    """Return the version in pyproject.toml, read without a parser: this runs on any Python."""
    lines = (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    return next(line.split('"')[1] for line in lines if line.startswith("version = "))


def megabytes(folder: Path) -> float:
    """Return the size on disk in MB; links are not followed."""
    return sum(file.lstat().st_size for file in folder.rglob("*") if file.is_file() or file.is_symlink()) / 1e6


def report_file(file: Path) -> None:
    print(f"{file.relative_to(ROOT)}: {file.stat().st_size / 1e6:.0f} MB")


def run(*command: str | Path, **variables: str) -> None:
    subprocess.run([str(part) for part in command], check=True, cwd=ROOT, env={**os.environ, **variables})


if __name__ == "__main__":
    sys.exit(main())
