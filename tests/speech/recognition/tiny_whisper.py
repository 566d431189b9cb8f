"""Whisper model of random weights in the ggml format: small, valid, and without any sense."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

STATE, LAYERS, AUDIO_CONTEXT, TEXT_CONTEXT, MELS = 64, 4, 1500, 448, 80
FULL_PRECISION = ("encoder.conv1.bias", "encoder.conv2.bias", "encoder.positional_embedding", "decoder.positional_embedding")


def write_tiny_whisper(path: Path, *, is_multilingual: bool = True) -> Path:
    """Write a model of about 8 MB; with four layers whisper.cpp takes it for “tiny”."""
    vocabulary = 51_865 if is_multilingual else 51_864
    chance = np.random.default_rng(7)
    with path.open("wb") as file:
        numbers = (0x67676D6C, vocabulary, AUDIO_CONTEXT, STATE, 1, LAYERS, TEXT_CONTEXT, STATE, 1, LAYERS, MELS, 1)
        file.write(struct.pack("<12i", *numbers))
        file.write(struct.pack("<2i", MELS, 201) + np.full((MELS, 201), 0.01, np.float32).tobytes())
        tokens = 50_257 if is_multilingual else 50_256
        words = [b" ", *(f" w{number}".encode() for number in range(1, tokens))]  # whisper.cpp looks for the space
        file.write(struct.pack("<i", tokens) + b"".join(struct.pack("<i", len(word)) + word for word in words))
        for name, shape in tensors(vocabulary).items():
            data = chance.normal(0, 0.05, shape).astype(np.float32)
            is_full = len(shape) < 2 or name in FULL_PRECISION
            file.write(struct.pack("<3i", len(shape), len(name), 0 if is_full else 1))
            file.write(struct.pack(f"<{len(shape)}i", *reversed(shape)) + name.encode())
            file.write((data if is_full else data.astype(np.float16)).tobytes())
    return path


def tensors(vocabulary: int) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {
        "encoder.positional_embedding": (AUDIO_CONTEXT, STATE),
        "encoder.conv1.weight": (STATE, MELS, 3),
        "encoder.conv1.bias": (STATE, 1),
        "encoder.conv2.weight": (STATE, STATE, 3),
        "encoder.conv2.bias": (STATE, 1),
        "encoder.ln_post.weight": (STATE,),
        "encoder.ln_post.bias": (STATE,),
        "decoder.positional_embedding": (TEXT_CONTEXT, STATE),
        "decoder.token_embedding.weight": (vocabulary, STATE),
        "decoder.ln.weight": (STATE,),
        "decoder.ln.bias": (STATE,),
    }
    for side, layer in [(side, layer) for side in ("encoder", "decoder") for layer in range(LAYERS)]:
        block = f"{side}.blocks.{layer}"
        for attention in ("attn", "cross_attn") if side == "decoder" else ("attn",):
            for part in ("query", "key", "value", "out"):
                shapes[f"{block}.{attention}.{part}.weight"] = (STATE, STATE)
                if part != "key":
                    shapes[f"{block}.{attention}.{part}.bias"] = (STATE,)
            shapes[f"{block}.{attention}_ln.weight"] = shapes[f"{block}.{attention}_ln.bias"] = (STATE,)
        shapes |= {f"{block}.mlp.0.weight": (4 * STATE, STATE), f"{block}.mlp.0.bias": (4 * STATE,)}
        shapes |= {f"{block}.mlp.2.weight": (STATE, 4 * STATE), f"{block}.mlp.2.bias": (STATE,)}
        shapes |= {f"{block}.mlp_ln.weight": (STATE,), f"{block}.mlp_ln.bias": (STATE,)}
    return shapes
