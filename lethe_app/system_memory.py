"""Memory of this computer as far as this program may use it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

_CGROUPS = Path("/sys/fs/cgroup")
_OWN_CGROUPS = Path("/proc/self/cgroup")
_LIMIT_FILES = (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes"))
"""Names of limit and usage in cgroups of version 2 and of version 1."""


def total_memory(cgroups: Path = _CGROUPS, own: Path = _OWN_CGROUPS) -> int:
    """Return the bytes of memory that this program may use at most: that of the computer, or of the container it runs in."""
    return min([int(psutil.virtual_memory().total), *(limit for limit, _used in _cgroup_limits(cgroups, own))])


def available_memory(cgroups: Path = _CGROUPS, own: Path = _OWN_CGROUPS) -> int:
    """Return the bytes of memory that are available without swapping, or what a container has left if that is less."""
    left = [max(0, limit - used) for limit, used in _cgroup_limits(cgroups, own)]
    return min([int(psutil.virtual_memory().available), *left])


def _cgroup_limits(cgroups: Path, own: Path) -> Iterator[tuple[int, int]]:
    """Yield limit and usage in bytes of every cgroup that this process is in and that has a limit; nothing but on Linux.

    The limit of a parent binds as well. Within a container, the paths in `own` may be those of the host, and only the root
    of the mounted tree is ours.
    """
    with suppress(OSError):
        for line in own.read_text("ascii", "replace").splitlines():
            _number, controllers, path = line.split(":", 2)
            if controllers and "memory" not in controllers.split(","):
                continue
            root = cgroups / "memory" if controllers else cgroups
            folder = root / path.strip("/")
            for parent in dict.fromkeys((folder, *folder.parents, root)):
                if parent.is_relative_to(root):
                    yield from _limit_of(parent)


def _limit_of(folder: Path) -> Iterator[tuple[int, int]]:
    for limit_name, usage_name in _LIMIT_FILES:
        with suppress(OSError, ValueError):  # not a limited group; "max" is no number
            yield int((folder / limit_name).read_text("ascii")), _used_bytes(folder, usage_name)


def _used_bytes(folder: Path, usage_name: str) -> int:
    """Return the usage of a cgroup without the pages of files that the kernel drops when memory is needed."""
    statistics = dict(line.split(" ", 1) for line in (folder / "memory.stat").read_text("ascii").splitlines() if " " in line)
    dropped = int(statistics.get("inactive_file", statistics.get("total_inactive_file", 0)))
    return max(0, int((folder / usage_name).read_text("ascii")) - dropped)
