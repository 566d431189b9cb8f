"""The memory that this program may use, whatever computer the tests run on."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from lethe_app.system_memory import available_memory, total_memory

GB = 1 << 30


def make_cgroup(folder: Path, limit: str, used: int = 0, cached: int = 0, *, version: int = 2) -> None:
    """A cgroup with a limit as the kernel shows it."""
    folder.mkdir(parents=True, exist_ok=True)
    limit_name, usage_name = (
        ("memory.max", "memory.current") if version == 2 else ("memory.limit_in_bytes", "memory.usage_in_bytes")
    )
    (folder / limit_name).write_text(f"{limit}\n", encoding="ascii")
    (folder / usage_name).write_text(f"{used}\n", encoding="ascii")
    (folder / "memory.stat").write_text(f"anon 12\ninactive_file {cached}\n", encoding="ascii")


def own_cgroups(folder: Path, line: str) -> Path:
    path = folder / "cgroup"
    path.write_text(f"{line}\n", encoding="ascii")
    return path


def test_without_a_container_the_memory_is_that_of_the_computer(tmp_path: Path):
    assert total_memory(tmp_path, tmp_path / "missing") == psutil.virtual_memory().total
    assert 0 < available_memory(tmp_path, tmp_path / "missing") <= psutil.virtual_memory().total


@pytest.mark.parametrize(("version", "line", "folder"), [(2, "0::/lethe", "lethe"), (1, "4:cpu,memory:/lethe", "memory/lethe")])
def test_the_limit_of_a_container_is_the_real_limit(tmp_path: Path, version: int, line: str, folder: str):
    groups = tmp_path / "groups"
    make_cgroup(groups / folder, "2000000", used=1_500_000, cached=400_000, version=version)
    own = own_cgroups(tmp_path, line)

    assert total_memory(groups, own) == 2_000_000
    assert available_memory(groups, own) == 900_000  # cached files make room


def test_the_limit_of_the_group_around_it_binds_as_well(tmp_path: Path):
    make_cgroup(tmp_path / "outer", "1000000", used=250_000)
    make_cgroup(tmp_path / "outer" / "inner", "max")
    own = own_cgroups(tmp_path, "0::/outer/inner")

    assert total_memory(tmp_path, own) == 1_000_000
    assert available_memory(tmp_path, own) == 750_000


def test_within_a_container_the_root_of_the_tree_is_its_own_group(tmp_path: Path):
    make_cgroup(tmp_path, "1500000")

    assert total_memory(tmp_path, own_cgroups(tmp_path, "0::/docker/of-the-host")) == 1_500_000


def test_a_group_without_a_limit_changes_nothing(tmp_path: Path):
    make_cgroup(tmp_path / "lethe", "max", used=10 * GB)

    assert total_memory(tmp_path, own_cgroups(tmp_path, "0::/lethe")) == psutil.virtual_memory().total
