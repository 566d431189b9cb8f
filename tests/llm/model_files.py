"""Model files as the engines are given them."""

from __future__ import annotations

from pathlib import Path

from lethe_app.domain.model import ModelFile


def file_at(path: Path) -> ModelFile:
    """The file at a path, whether or not it is a model."""
    return ModelFile(path=path, name=path.stem, size=path.stat().st_size if path.exists() else 0, architecture="")
