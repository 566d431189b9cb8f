"""Conversion of the bundled embedding model from safetensors to a BERT GGUF, the only format llama.cpp reads."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import numpy.typing as npt

from lethe_app.errors import ModelUnreadable

CONVERSION_VERSION = 1
"""Version of the conversion, raised whenever the written file would differ, so that older files are converted again."""

_MAX_HEADER_BYTES = 16 << 20
_CONTROL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_LAYER_PARTS = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}
_EMBEDDINGS = {
    "embeddings.word_embeddings.weight": "token_embd.weight",
    "embeddings.position_embeddings.weight": "position_embd.weight",
    "embeddings.token_type_embeddings.weight": "token_types.weight",
    "embeddings.LayerNorm.weight": "token_embd_norm.weight",
    "embeddings.LayerNorm.bias": "token_embd_norm.bias",
}
_UNQUANTISED = frozenset({"position_embd.weight", "token_types.weight"})  # looked up row by row, too small to be worth packing

Weights = dict[str, npt.NDArray[np.float32]]


def read_safetensors(path: Path) -> Weights:
    """Read the F32 tensors of a safetensors file: eight bytes of length, that much JSON, then raw little-endian numbers.

    Raise ModelUnreadable if the file is damaged.
    """
    raw = path.read_bytes()
    if len(raw) < 8:
        raise ModelUnreadable(f"“{path.name}” is too short to be a safetensors file.")
    (length,) = struct.unpack_from("<Q", raw)
    if length > min(_MAX_HEADER_BYTES, len(raw) - 8):
        raise ModelUnreadable(f"“{path.name}” is truncated inside its header.")
    try:
        header = json.loads(raw[8 : 8 + length])
        entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
        return {
            name: _read_tensor(raw, 8 + length, entry["shape"], entry["data_offsets"])
            for name, entry in entries.items()
            if entry["dtype"] == "F32"
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ModelUnreadable(f"“{path.name}” has a damaged header: {error}.") from error


def _read_tensor(raw: bytes, base: int, shape: list[int], offsets: list[int]) -> npt.NDArray[np.float32]:
    start, end = offsets
    count = int(np.prod(shape, dtype=np.int64))
    if not 0 <= start <= end <= len(raw) - base or end - start != 4 * count:
        raise ValueError("a tensor lies outside the file")
    return np.frombuffer(raw, dtype="<f4", count=count, offset=base + start).reshape(shape)


def convert_model(folder: Path, target: Path) -> None:
    """Write the model in `folder` (model.safetensors, config.json, vocab.txt) to `target` as a Q8_0 BERT GGUF. Raise
    ModelUnreadable.

    Matrices are quantised to Q8_0, a quarter of the size; vectors stay F32. Compared with the published weights that costs
    0.0004 of cosine for a sentence and 0.002 for a text of one or two words, which the tests measure.
    """
    weights = read_safetensors(folder / "model.safetensors")
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        words = (folder / "vocab.txt").read_text("utf-8").split("\n")
    except (OSError, ValueError) as error:
        raise ModelUnreadable(f"The embedding model in {folder} is incomplete: {error}.") from error
    words = words[:-1] if words and not words[-1] else words
    writer = gguf.GGUFWriter(target, "bert")
    try:
        _write_settings(writer, config)
        _write_vocabulary(writer, words)
        for name, tensor in _rename_tensors(weights, int(config["num_hidden_layers"])).items():
            _write_tensor(writer, name, tensor)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    except KeyError as error:
        raise ModelUnreadable(f"The embedding model in {folder} lacks {error}.") from error
    finally:
        writer.close()


def _write_settings(writer: Any, config: dict[str, Any]) -> None:  # noqa: ANN401 - the writer has no types of its own
    writer.add_name("all-MiniLM-L6-v2")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)


def _write_vocabulary(writer: Any, words: list[str]) -> None:  # noqa: ANN401 - as above
    control = frozenset(_CONTROL)
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_type_count(2)
    writer.add_token_list([_engine_spelling(word) for word in words])
    writer.add_token_types([gguf.TokenType.CONTROL if word in control else gguf.TokenType.NORMAL for word in words])
    token_ids = {word: index for index, word in enumerate(words)}
    writer.add_bos_token_id(token_ids["[CLS]"])
    writer.add_eos_token_id(token_ids["[SEP]"])
    writer.add_sep_token_id(token_ids["[SEP]"])
    writer.add_unk_token_id(token_ids["[UNK]"])
    writer.add_pad_token_id(token_ids["[PAD]"])
    writer.add_mask_token_id(token_ids["[MASK]"])
    writer.add_add_bos_token(True)
    writer.add_add_sep_token(True)
    writer.add_bool("tokenizer.ggml.normalizer.lowercase", True)


def _engine_spelling(word: str) -> str:
    """Convert a WordPiece token to llama.cpp's spelling: WordPiece marks what continues a word (##ing), llama.cpp what
    begins one (▁the).
    """
    if word in _CONTROL:
        return word
    return word[2:] if word.startswith("##") else f"\u2581{word}"


def _rename_tensors(weights: Weights, layers: int) -> Weights:
    """Return the tensors by llama.cpp's names, without the pooler and the position ids."""
    named = {ours: weights[theirs] for theirs, ours in _EMBEDDINGS.items()}
    for layer in range(layers):
        for theirs, ours in _LAYER_PARTS.items():
            for kind in ("weight", "bias"):
                named[f"blk.{layer}.{ours}.{kind}"] = weights[f"encoder.layer.{layer}.{theirs}.{kind}"]
    return named


def _write_tensor(writer: Any, name: str, tensor: npt.NDArray[np.float32]) -> None:  # noqa: ANN401 - as above
    if tensor.ndim == 1 or name in _UNQUANTISED:
        writer.add_tensor(name, np.ascontiguousarray(tensor))
        return
    kind = gguf.GGMLQuantizationType.Q8_0
    writer.add_tensor(name, gguf.quants.quantize(tensor, kind), raw_dtype=kind)
