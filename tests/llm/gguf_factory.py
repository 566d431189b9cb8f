"""Writes small GGUF files for tests: models that say whatever a test wants, and vocabularies the engine can load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gguf
import numpy as np

from lethe_app.llm.tokenizer.counter import TokenizerVocabulary


def write_model(
    path: Path,
    architecture: str = "llama",
    settings: Mapping[str, Any] | None = None,
    *,
    tokens: Sequence[bytes | str] = (),
    merges: Sequence[bytes | str] = (),
    tensors: Mapping[str, tuple[int, ...]] | None = None,
) -> Path:
    """A GGUF with these settings (a value's Python type decides how it is written) and F32 tensors of zeros."""
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(path, architecture)
    for key, value in (settings or {}).items():
        _add(writer, key, value)
    if tokens:
        writer.add_token_list(list(tokens))
    if merges:
        writer.add_token_merges(list(merges))
    for name, shape in ({"token_embd.weight": (4, 8)} if tensors is None else tensors).items():
        writer.add_tensor(name, np.zeros(shape, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add(writer: gguf.GGUFWriter, key: str, value: object) -> None:
    if isinstance(value, bool):
        writer.add_bool(key, value)
    elif isinstance(value, int):
        writer.add_uint32(key, value)
    elif isinstance(value, float):
        writer.add_float32(key, value)
    elif isinstance(value, str):
        writer.add_string(key, value)
    else:
        writer.add_array(key, value)


def chat_settings(**changed: object) -> dict[str, Any]:
    """What a chat model of two layers says of itself; keys are written with two underscores for a dot."""
    settings: dict[str, Any] = {
        "general.name": "Tiny Talker",
        "general.file_type": 15,
        "llama.context_length": 4096,
        "llama.block_count": 2,
        "llama.embedding_length": 8,
        "llama.attention.head_count": 4,
        "llama.attention.head_count_kv": 2,
        "tokenizer.chat_template": "{{ messages }}",
    }
    return settings | {key.replace("__", "."): value for key, value in changed.items()}


def write_vocabulary(path: Path, vocabulary: TokenizerVocabulary) -> Path:
    """A file without weights that the engine opens with `vocab_only`."""
    settings = {
        "general.name": vocabulary.name or "Vocabulary",
        "llama.context_length": 64,
        "llama.block_count": 1,
        "llama.embedding_length": 8,
        "llama.feed_forward_length": 8,
        "llama.attention.head_count": 1,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "tokenizer.ggml.model": vocabulary.model,
        **({"tokenizer.ggml.pre": vocabulary.pre} if vocabulary.pre else {}),
        "tokenizer.ggml.token_type": list(vocabulary.types),
        "tokenizer.ggml.bos_token_id": 0,
        "tokenizer.ggml.eos_token_id": 0,
    }
    return write_model(path, "llama", settings, tokens=vocabulary.tokens, merges=vocabulary.merges, tensors={})
