"""Fixtures: the models whose cache is edited, saved and loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.llm.tiny_models import write_smol
from tests.sweep import exhaustive


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory, starter_model: Path) -> Path:
    """A model of random weights with the tokenizer of the starter model."""
    return write_smol(tmp_path_factory.mktemp("models") / "tiny.gguf", starter_model)


@pytest.fixture(scope="session", params=["tiny", pytest.param("real", marks=exhaustive)])
def chat_model(request: pytest.FixtureRequest, tiny_model: Path, starter_model: Path) -> Path:
    """The tiny model; where everything is swept, the starter model too."""
    return {"tiny": tiny_model, "real": starter_model}[request.param]


BOTH_MODELS = pytest.mark.parametrize("chat_model", ["tiny", "real"], indirect=True, scope="session")
"""Mark of a test that `make test` runs with the starter model too."""
