"""Model files as the engines are given them, and engines with one."""

from __future__ import annotations

from pathlib import Path

from lethe_app.domain.model import LoadOptions, ModelFile
from lethe_app.llm.engines.llama import LlamaEngine


def file_at(path: Path) -> ModelFile:
    """The file at a path, whether or not it is a model."""
    return ModelFile(path=path, name=path.stem, size=path.stat().st_size if path.exists() else 0, architecture="")


def load_engine(path: Path, options: LoadOptions) -> LlamaEngine:
    """An engine of this process with the model at a path."""
    engine = LlamaEngine()
    engine.load(file_at(path), options, lambda _fraction: None)
    return engine
