"""Removes from a Linux bundle what nothing in it needs: duplicate libraries, and those of parts that were left out."""

from __future__ import annotations

import filecmp
import re
import subprocess
from pathlib import Path


def tidy(bundle: Path) -> None:
    """Tidy the folder with the program; its libraries are in `_internal`."""
    inside = bundle / "_internal"
    link_copies(inside / "llama_cpp" / "lib")
    remove_unneeded(inside, [bundle / "lethe"])
    strip_symbols(inside)
    remove_library_paths(inside)


def link_copies(folder: Path) -> None:
    """Replace identical copies by links: wheels cannot hold links, so llama.cpp's libraries come once under each name."""
    for alias in sorted(folder.glob("*.so")):
        for versioned in folder.glob(f"{alias.name}.?"):
            if not alias.is_symlink() and filecmp.cmp(alias, versioned, shallow=False):
                alias.unlink()
                alias.symlink_to(versioned.name)


def remove_unneeded(inside: Path, programs: list[Path]) -> None:
    """Remove libraries of the top folder that no program, module, plugin or kept library needs."""
    top = {file.name: file for file in inside.glob("lib*.so*")}
    roots = [*programs, *(file for file in inside.rglob("*.so*") if file.name not in top and not file.is_symlink())]
    kept: set[str] = set()
    waiting = [name for root in roots for name in needed_libraries(root)]
    while waiting:
        name = waiting.pop()
        if name in top and name not in kept:
            kept.add(name)
            waiting += needed_libraries(top[name])
    for name, file in top.items():
        if name not in kept and not name.startswith("libpython"):  # which the program opens by name
            file.unlink()


def needed_libraries(file: Path) -> list[str]:
    """Return the names of the shared libraries that a file is linked with."""
    command = ["objdump", "-p", str(file)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return re.findall(r"^\s+NEEDED\s+(\S+)", answer, re.MULTILINE)


def strip_symbols(inside: Path) -> None:
    """Strip debug symbols, except from libraries that auditwheel rewrote (in `*.libs`), which break when stripped."""
    for file in sorted(inside.rglob("*.so*")):
        if not file.is_symlink() and ".libs" not in str(file.parent):
            command = ["strip", "--strip-unneeded", str(file)]
            subprocess.run(command, check=True)


def remove_library_paths(inside: Path) -> None:
    """Remove absolute library paths: they name folders of the Python that built the modules."""
    for file in sorted(inside.rglob("*.so*")):
        command = ["objdump", "-p", str(file)]
        answer = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        if not file.is_symlink() and re.search(r"^\s+R(UN)?PATH\s+/", answer, re.MULTILINE):
            command = ["patchelf", "--remove-rpath", str(file)]
            subprocess.run(command, check=True)
