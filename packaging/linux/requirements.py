"""What building on Linux needs, and what of it this computer lacks: known before the long compilation begins."""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import sysconfig
from collections.abc import Callable, Iterable

PROGRAMS = {
    "c++": "build-essential",
    "patchelf": "patchelf",
    "dpkg-deb": "dpkg-dev",
    "dpkg-shlibdeps": "dpkg-dev",
}
"""Program → the Debian package it is in."""
LIBRARIES = {
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libX11.so.6": "libx11-6",
    "libXext.so.6": "libxext6",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libpulse.so.0": "libpulse0",
    "libspeechd.so.2": "libspeechd2",
}
"""Library that Qt's platform plug-ins are linked to → the Debian package it is in."""


def explain_missing() -> str:
    """Return one sentence about what is missing, with the command that installs it; empty if nothing is."""
    packages = missing_packages(shutil.which, can_load)
    if packages:
        return f"Building needs {join(packages)}: sudo apt-get install -y {' '.join(packages)}"
    if not sysconfig.get_config_var("Py_ENABLE_SHARED"):
        return "Building needs a Python with its shared library, such as Debian's: make package PYTHON=/usr/bin/python3"
    return ""


def missing_packages(find_program: Callable[[str], object], is_loadable: Callable[[str], bool]) -> list[str]:
    """Return the Debian packages that are missing, each once, in the order of the tables."""
    lacking = [package for program, package in PROGRAMS.items() if not find_program(program)]
    if importlib.util.find_spec("ensurepip") is None:
        lacking.append("python3-venv")
    lacking += [package for library, package in LIBRARIES.items() if not is_loadable(library)]
    return list(dict.fromkeys(lacking))


def can_load(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def join(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
