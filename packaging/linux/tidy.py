"""Takes out of a Linux bundle what nothing in it asks for: repeated libraries, and those that came for parts left out."""

from __future__ import annotations

import filecmp
import re
import subprocess
from pathlib import Path


def tidy(bundle: Path) -> None:
    """`bundle` is the folder with the program; its libraries lie in `_internal`."""
    inside = bundle / "_internal"
    fold_copies(inside / "llama_cpp" / "lib")
    drop_unasked(inside, [bundle / "lethe"])
    strip(inside)
    forget_places(inside)


def fold_copies(folder: Path) -> None:
    """Wheels know no links, so llama.cpp's libraries come once under every name they have."""
    for alias in sorted(folder.glob("*.so")):
        for versioned in folder.glob(f"{alias.name}.?"):
            if not alias.is_symlink() and filecmp.cmp(alias, versioned, shallow=False):
                alias.unlink()
                alias.symlink_to(versioned.name)


def drop_unasked(inside: Path, programs: list[Path]) -> None:
    """Remove libraries of the top folder that no program, module, plugin or kept library needs."""
    top = {file.name: file for file in inside.glob("lib*.so*")}
    roots = [*programs, *(file for file in inside.rglob("*.so*") if file.name not in top and not file.is_symlink())]
    asked: set[str] = set()
    waiting = [name for root in roots for name in needed(root)]
    while waiting:
        name = waiting.pop()
        if name in top and name not in asked:
            asked.add(name)
            waiting += needed(top[name])
    for name, file in top.items():
        if name not in asked and not name.startswith("libpython"):  # which the program opens by name
            file.unlink()


def needed(file: Path) -> list[str]:
    """The shared libraries this one is linked with, by name."""
    command = ["objdump", "-p", str(file)]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return re.findall(r"^\s+NEEDED\s+(\S+)", told, re.MULTILINE)


def strip(inside: Path) -> None:
    """Take the names for debuggers out; not out of libraries that were rewritten by their makers, which do not survive it."""
    for file in sorted(inside.rglob("*.so*")):
        if not file.is_symlink() and ".libs" not in str(file.parent):
            command = ["strip", "--strip-unneeded", str(file)]
            subprocess.run(command, check=True)


def forget_places(inside: Path) -> None:
    """Modules remember where the Python that built them looks for libraries; nobody else has that folder."""
    for file in sorted(inside.rglob("*.so*")):
        command = ["objdump", "-p", str(file)]
        told = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        if not file.is_symlink() and re.search(r"^\s+R(UN)?PATH\s+/", told, re.MULTILINE):
            command = ["patchelf", "--remove-rpath", str(file)]
            subprocess.run(command, check=True)
