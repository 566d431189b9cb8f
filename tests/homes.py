"""Homes for tests: their personas, and a program that ships without worlds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from lethe_app.paths import Paths, shipped_root

Personas = Mapping[str, Mapping[str, object]]
"""Fields of personas by the names of their files."""


def write_personas(home: Path, personas: Personas) -> Paths:
    """Write personas into a home; return its paths."""
    paths = Paths.standard(home)
    paths.personas.mkdir(parents=True, exist_ok=True)
    for name, persona in personas.items():
        (paths.personas / f"{name}.json").write_text(json.dumps(persona), encoding="utf-8")
    return paths


def ship_without_worlds(folder: Path, *, without: str = "") -> Path:
    """Make a folder of what ships with the program, but for the worlds, which an embedder reads for longer than most tests
    take, and for one folder of the resources; return it.
    """
    resources = folder / "shipped" / "resources"
    resources.mkdir(parents=True)
    (resources.parent / "personas").symlink_to(shipped_root() / "personas")
    for part in (shipped_root() / "resources").iterdir():
        if part.name != without:
            (resources / part.name).symlink_to(part)
    return resources.parent
