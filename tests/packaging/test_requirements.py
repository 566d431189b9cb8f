"""What building needs is known before it begins, and said in one sentence with the command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PACKAGING = Path(__file__).parents[2] / "packaging"
sys.path.insert(0, str(PACKAGING))

from linux.requirements import LIBRARIES, PROGRAMS, join, missing_packages  # noqa: E402 - found in the folder above


def test_nothing_is_asked_for_where_all_is_there():
    assert missing_packages(lambda _program: "/usr/bin/any", lambda _library: True) == []


def test_each_missing_package_is_named_once():
    lacking = missing_packages(lambda program: None if program.startswith("dpkg") else "/usr/bin/any", lambda _library: True)

    assert lacking == ["dpkg-dev"]


def test_libraries_are_named_by_their_package():
    assert missing_packages(lambda _program: "any", lambda library: library != "libxcb-cursor.so.0") == ["libxcb-cursor0"]


def test_a_bare_computer_is_told_everything_at_once():
    lacking = missing_packages(lambda _program: None, lambda _library: False)

    assert {*PROGRAMS.values(), *LIBRARIES.values()} <= set(lacking)


def test_several_packages_are_listed_as_in_a_sentence():
    assert join(["patchelf"]) == "patchelf"
    assert join(["patchelf", "dpkg-dev", "libgl1"]) == "patchelf, dpkg-dev and libgl1"


def test_what_is_missing_ends_the_build_before_it_begins(tmp_path: Path):
    """With an empty path no program is found, and no step is begun."""
    ended = subprocess.run(
        [sys.executable, str(PACKAGING / "package.py")],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode == 1
    assert ended.stderr.startswith("Building needs ")
    assert "sudo apt-get install -y build-essential patchelf dpkg-dev" in ended.stderr
    assert "── 1 of" not in ended.stdout
