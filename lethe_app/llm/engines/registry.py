"""Registry of the inference engines by kind: what each can do, which models are its own, and where its class is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from lethe_app.domain.model import EngineCapabilities, ModelFile
from lethe_app.errors import ModelUnreadable
from lethe_app.llm.engines.engine import Engine
from lethe_app.llm.models.gguf_model import describe_model


@dataclass(frozen=True)
class EngineKind:
    """Kind of engine. Its module is imported only in the process that runs it."""

    module: str
    class_name: str
    capabilities: EngineCapabilities
    describe: Callable[[Path], ModelFile] = describe_model
    """Describes a model of this kind without loading it. Raises ModelMissing or ModelUnreadable."""

    def create_engine(self) -> Engine:
        """Create an engine without a model."""
        engine: Engine = getattr(import_module(self.module), self.class_name)()
        return engine


def describe_script(path: Path) -> ModelFile:
    """Describe the replies of the scripted engine as a model."""
    return ModelFile(path=path, name=path.stem, size=0, architecture="echo")


ENGINE_KINDS: dict[str, EngineKind] = {
    "llama": EngineKind(
        "lethe_app.llm.engines.llama",
        "LlamaEngine",
        EngineCapabilities(generates_text=True, has_kv_cache=True, returns_logits=True, counts_tokens_here=True),
    ),
    "embed": EngineKind("lethe_app.llm.engines.llama_embedding", "EmbeddingEngine", EngineCapabilities(embeds_texts=True)),
    "echo": EngineKind(
        "lethe_app.llm.engines.scripted",
        "EchoEngine",
        EngineCapabilities(generates_text=True, has_kv_cache=True, returns_logits=True),
        describe_script,
    ),
}
"""Name of each kind → the kind: llama.cpp for text and for embeddings, and replies from a script for tests."""


def kind_name(path: Path, *, embeds_texts: bool = False) -> str:
    """Return the name of the engine kind that runs the model at `path`."""
    return "echo" if path.suffix == ".json" else "embed" if embeds_texts else "llama"


def describe_usable_model(path: Path, *, embeds_texts: bool = False) -> ModelFile:
    """Describe the model at `path` if it can be used as a chat model or, with `embeds_texts`, as an embedding model. Every
    path of a model goes through here before it is stored or loaded.

    Raise ModelMissing or ModelUnreadable, also for a model of the other kind.
    """
    file = ENGINE_KINDS[kind_name(path, embeds_texts=embeds_texts)].describe(path)
    if file.is_embedding and not embeds_texts:
        raise ModelUnreadable(
            f"“{path.name}” is an embedding model: it finds memories, but cannot write replies.", "Choose a chat model."
        )
    if embeds_texts and not file.is_embedding:
        raise ModelUnreadable(
            f"“{path.name}” is a chat model: it writes replies, but cannot create embeddings for memory search.",
            "Choose an embedding model, or leave the setting empty to use the bundled one.",
        )
    return file
