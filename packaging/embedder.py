"""Converts the starter embedding model from safetensors to GGUF, the only format llama.cpp reads, when Lethe is set up.

Matrices are quantised to Q8_0, a quarter of the size; vectors stay F32. Compared with the published weights that costs 0.0004
of cosine for a sentence and 0.002 for a text of one or two words, which the tests measure. The program finds the result beside
the weights; both are known by their hash, so a file that is whole is left alone, and a damaged one is written again.
"""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path

import numpy as np

from lethe_app.errors import LetheError
from lethe_app.llm.models.bundled import EMBEDDER_FILE, EMBEDDER_SHA256, embedder_folder, hash_file

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
CONTROL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LAYERS = 6
LAYER_PARTS = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}
EMBEDDINGS = {
    "embeddings.word_embeddings.weight": "token_embd.weight",
    "embeddings.position_embeddings.weight": "position_embd.weight",
    "embeddings.token_type_embeddings.weight": "token_types.weight",
    "embeddings.LayerNorm.weight": "token_embd_norm.weight",
    "embeddings.LayerNorm.bias": "token_embd_norm.bias",
}
UNQUANTISED = ("position_embd.weight", "token_types.weight")  # looked up row by row, too small to be worth packing
U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9  # the value types of GGUF that are needed
TENSOR_F32, TENSOR_Q8_0 = 0, 8
ALIGNMENT = 32


def main() -> int:
    """Write the GGUF beside the weights unless it is there and whole."""
    folder = embedder_folder()
    if folder is None:
        print("The starter embedding model is not installed.", file=sys.stderr)
        return 1
    target = folder / EMBEDDER_FILE
    try:
        if target.exists() and hash_file(target) == EMBEDDER_SHA256:
            return 0
        if (hash_file(folder / "model.safetensors"), hash_file(folder / "vocab.txt")) != (WEIGHTS_SHA256, VOCABULARY_SHA256):
            print(f"The starter embedding model in {folder} is damaged or was modified.", file=sys.stderr)
            return 1
        part = target.with_suffix(".part")
        part.write_bytes(convert(read_weights(folder / "model.safetensors"), (folder / "vocab.txt").read_text("utf-8").split()))
        if hash_file(part) != EMBEDDER_SHA256:
            print("The converted embedding model differs from the expected one.", file=sys.stderr)
            return 1
        part.replace(target)
    except (LetheError, OSError) as error:
        print(f"The starter embedding model could not be converted: {error}", file=sys.stderr)
        return 1
    return 0


def read_weights(path: Path) -> dict[str, np.ndarray]:
    """Read the F32 tensors of a safetensors file: eight bytes of length, that much JSON, then raw little-endian numbers."""
    raw = path.read_bytes()
    (length,) = struct.unpack_from("<Q", raw)
    numbers = memoryview(raw)[8 + length :]
    header = json.loads(raw[8 : 8 + length])
    return {
        name: np.frombuffer(numbers[slice(*entry["data_offsets"])], "<f4").reshape(entry["shape"])
        for name, entry in header.items()
        if entry.get("dtype") == "F32"
    }


def convert(weights: dict[str, np.ndarray], words: list[str]) -> bytes:
    """Return the GGUF: magic, counts, metadata, the list of tensors, and their data, each padded to the alignment."""
    metadata = [spell(STRING, key) + struct.pack("<I", kind) + spell(kind, value) for key, kind, value in settings(words)]
    tensors = {name: pack(name, tensor) for name, tensor in rename(weights).items()}
    infos, offset = b"", 0
    for name, (kind, shape, data) in tensors.items():
        sizes = shape[::-1]  # llama.cpp lists the sizes of a tensor from the innermost
        infos += spell(STRING, name) + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, kind, offset)
        offset += len(padded(data))
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata)) + b"".join(metadata) + infos
    return padded(head) + b"".join(padded(data) for _kind, _shape, data in tensors.values())


def settings(words: list[str]) -> list[tuple[str, int, object]]:
    """Return the metadata as (key, type, value)."""
    ids = {word: index for index, word in enumerate(words)}
    return [
        ("general.architecture", STRING, "bert"),
        ("general.name", STRING, "all-MiniLM-L6-v2"),
        ("general.file_type", U32, 7),  # mostly Q8_0
        ("bert.context_length", U32, 512),
        ("bert.embedding_length", U32, 384),
        ("bert.feed_forward_length", U32, 1536),
        ("bert.block_count", U32, LAYERS),
        ("bert.attention.head_count", U32, 12),
        ("bert.attention.layer_norm_epsilon", F32, 1e-12),
        ("bert.attention.causal", BOOL, False),
        ("bert.pooling_type", U32, 1),  # mean
        ("tokenizer.ggml.model", STRING, "bert"),
        ("tokenizer.ggml.pre", STRING, "default"),
        ("tokenizer.ggml.token_type_count", U32, 2),
        ("tokenizer.ggml.tokens", ARRAY, (STRING, [engine_spelling(word) for word in words])),
        ("tokenizer.ggml.token_type", ARRAY, (I32, [3 if word in CONTROL else 1 for word in words])),
        ("tokenizer.ggml.bos_token_id", U32, ids["[CLS]"]),
        ("tokenizer.ggml.eos_token_id", U32, ids["[SEP]"]),
        ("tokenizer.ggml.seperator_token_id", U32, ids["[SEP]"]),  # the format spells it so
        ("tokenizer.ggml.unknown_token_id", U32, ids["[UNK]"]),
        ("tokenizer.ggml.padding_token_id", U32, ids["[PAD]"]),
        ("tokenizer.ggml.mask_token_id", U32, ids["[MASK]"]),
        ("tokenizer.ggml.add_bos_token", BOOL, True),
        ("tokenizer.ggml.add_sep_token", BOOL, True),
        ("tokenizer.ggml.normalizer.lowercase", BOOL, True),
    ]


def engine_spelling(word: str) -> str:
    """Convert a WordPiece token: WordPiece marks what continues a word (##ing), llama.cpp what begins one (▁the)."""
    if word in CONTROL:
        return word
    return word[2:] if word.startswith("##") else f"\u2581{word}"


def rename(weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the tensors by llama.cpp's names, without the pooler and the position ids."""
    named = {ours: weights[theirs] for theirs, ours in EMBEDDINGS.items()}
    for layer in range(LAYERS):
        for theirs, ours in LAYER_PARTS.items():
            for kind in ("weight", "bias"):
                named[f"blk.{layer}.{ours}.{kind}"] = weights[f"encoder.layer.{layer}.{theirs}.{kind}"]
    return named


def pack(name: str, tensor: np.ndarray) -> tuple[int, tuple[int, ...], bytes]:
    """Return type, shape and data of a tensor. Q8_0: for each 32 numbers a scale in half precision and 32 small integers."""
    if tensor.ndim == 1 or name in UNQUANTISED:
        return TENSOR_F32, tensor.shape, tensor.tobytes()
    blocks = tensor.reshape(-1, 32)
    scale = np.abs(blocks).max(axis=1, keepdims=True) / 127
    scaled = blocks * (1 / scale)
    integers = np.sign(scaled) * np.floor(np.abs(scaled) + np.float32(0.5))  # halves away from zero, as ggml rounds
    data = np.hstack([scale.astype("<f2").view(np.uint8), integers.astype(np.int8).view(np.uint8)])
    return TENSOR_Q8_0, tensor.shape, data.tobytes()


def spell(kind: int, value: object) -> bytes:
    """Return a metadata value as GGUF spells it; an array is a pair of the type of its items and the items."""
    if kind == STRING:
        text = str(value).encode()
        return struct.pack("<Q", len(text)) + text
    if kind == ARRAY:
        of, items = value
        return struct.pack("<IQ", of, len(items)) + b"".join(spell(of, item) for item in items)
    return struct.pack({U32: "<I", I32: "<i", F32: "<f", BOOL: "<?"}[kind], value)


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % ALIGNMENT)


if __name__ == "__main__":
    sys.exit(main())
