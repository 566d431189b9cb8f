"""Tiny models of unusual kinds with random weights: they say nothing sensible, and keep what they read as the large ones do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy as np

WIDTH, LAYERS, INNER, SUMS, RANK, HEADS, HEAD = 32, 2, 64, 16, 4, 2, 16
WINDOW, TAPS = 64, 3
TEXT = [chr(code) for code in range(33, 127)]
TOKENS = ["<unk>", "<s>", "</s>", *(f"<0x{code:02X}>" for code in range(256)), "▁", *TEXT]
KINDS = [2, 3, 3, *[6] * 256, *[1] * (1 + len(TEXT))]  # unknown, control, control, bytes, text


def write_mamba(path: Path) -> Path:
    """A recurrent model: it sums up what it reads, and cannot forget its last tokens."""
    tensors = {"token_embd.weight": (len(TOKENS), WIDTH), "output_norm.weight": (WIDTH,)}
    for layer in range(LAYERS):
        tensors |= {
            f"blk.{layer}.attn_norm.weight": (WIDTH,),
            f"blk.{layer}.ssm_in.weight": (2 * INNER, WIDTH),
            f"blk.{layer}.ssm_conv1d.weight": (INNER, 4),
            f"blk.{layer}.ssm_conv1d.bias": (INNER,),
            f"blk.{layer}.ssm_x.weight": (RANK + 2 * SUMS, INNER),
            f"blk.{layer}.ssm_dt.weight": (INNER, RANK),
            f"blk.{layer}.ssm_dt.bias": (INNER,),
            f"blk.{layer}.ssm_a": (INNER, SUMS),
            f"blk.{layer}.ssm_d": (INNER,),
            f"blk.{layer}.ssm_out.weight": (WIDTH, INNER),
        }
    settings = {
        "feed_forward_length": 0,
        "attention.head_count": 0,
        "ssm.conv_kernel": 4,
        "ssm.inner_size": INNER,
        "ssm.state_size": SUMS,
        "ssm.time_step_rank": RANK,
    }
    return write(path, "mamba", settings, tensors)


def write_lfm2(path: Path) -> Path:
    """A hybrid: its first layer sums up what it reads, its second looks back at every token."""
    tensors = {"token_embd.weight": (len(TOKENS), WIDTH), "token_embd_norm.weight": (WIDTH,)}
    for layer in range(LAYERS):
        tensors |= {f"blk.{layer}.attn_norm.weight": (WIDTH,)} | feed_forward(layer)
    tensors |= {
        "blk.0.shortconv.conv.weight": (WIDTH, TAPS),
        "blk.0.shortconv.in_proj.weight": (3 * WIDTH, WIDTH),
        "blk.0.shortconv.out_proj.weight": (WIDTH, WIDTH),
        "blk.1.attn_q_norm.weight": (HEAD,),
        "blk.1.attn_k_norm.weight": (HEAD,),
    } | attention(1)
    settings = {
        "feed_forward_length": INNER,
        "attention.head_count": HEADS,
        "attention.head_count_kv": [0, HEADS],
        "shortconv.l_cache": TAPS,
        "vocab_size": len(TOKENS),
    }
    return write(path, "lfm2", settings, tensors)


def write_granite(path: Path) -> Path:
    """A hybrid whose first layer sums up what it reads as Mamba 2 does."""
    tensors = {"token_embd.weight": (len(TOKENS), WIDTH), "output_norm.weight": (WIDTH,)}
    for layer in range(LAYERS):
        tensors |= {f"blk.{layer}.attn_norm.weight": (WIDTH,)} | feed_forward(layer)
    tensors |= {
        "blk.0.ssm_in.weight": (2 * INNER + 2 * SUMS + RANK, WIDTH),
        "blk.0.ssm_conv1d.weight": (INNER + 2 * SUMS, 4),
        "blk.0.ssm_conv1d.bias": (INNER + 2 * SUMS,),
        "blk.0.ssm_dt.bias": (RANK,),
        "blk.0.ssm_a": (RANK, 1),
        "blk.0.ssm_d": (RANK, 1),
        "blk.0.ssm_norm.weight": (1, INNER),
        "blk.0.ssm_out.weight": (WIDTH, INNER),
    } | attention(1)
    settings = {
        "feed_forward_length": INNER,
        "attention.head_count": HEADS,
        "attention.head_count_kv": [0, HEADS],
        "ssm.conv_kernel": 4,
        "ssm.inner_size": INNER,
        "ssm.state_size": SUMS,
        "ssm.time_step_rank": RANK,
        "ssm.group_count": 1,
    }
    return write(path, "granitehybrid", settings, tensors)


def write_llama(path: Path) -> Path:
    """One layer that looks back at every token: what a cell holds depends on its token and its place and on nothing else, so
    that after any cut it must be, to the last bits, what reading the whole text would have made.
    """
    tensors = {
        "token_embd.weight": (len(TOKENS), WIDTH),
        "output_norm.weight": (WIDTH,),
        "blk.0.attn_norm.weight": (WIDTH,),
    }
    settings = {
        "feed_forward_length": INNER,
        "attention.head_count": HEADS,
        "attention.head_count_kv": HEADS,
        "rope.dimension_count": HEAD,
        "vocab_size": len(TOKENS),
    }
    return write(path, "llama", settings, tensors | attention(0) | feed_forward(0), layers=1)


def write_smol(path: Path, vocabulary: Path) -> Path:
    """Two layers with the tokenizer of the model `vocabulary`: every text has the same tokens, and is read in a fraction of
    the time. It says digits, each of them one token, so what it says is read as the tokens that it said. Its heads are as
    wide as the blocks of a quantised cache.
    """
    width, inner, heads, head = 64, 128, 2, 32
    reader = gguf.GGUFReader(vocabulary)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("Tiny llama")
    writer.add_context_length(4096)
    writer.add_embedding_length(width)
    writer.add_block_count(LAYERS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(heads)
    writer.add_head_count_kv(heads)
    writer.add_rope_dimension_count(head)
    for field in reader.fields.values():
        if field.name.startswith("tokenizer."):
            kind, *inner_kinds = field.types
            writer.add_key_value(field.name, field.contents(), kind, *inner_kinds[-1:])
    tokens = reader.fields["tokenizer.ggml.tokens"].contents()
    output = np.random.default_rng(3).normal(0.0, 0.01, (len(tokens), width)).astype(np.float32)
    output[[tokens.index(str(digit)) for digit in range(10)]] *= 150
    writer.add_tensor("output.weight", output)
    tensors: dict[str, tuple[int, ...]] = {"token_embd.weight": (len(tokens), width), "output_norm.weight": (width,)}
    for layer in range(LAYERS):
        names = {f"attn_{name}": (width, width) for name in ("q", "k", "v", "output")}
        names |= {"ffn_gate": (inner, width), "ffn_up": (inner, width), "ffn_down": (width, inner)}
        norms = {"attn_norm": (width,), "ffn_norm": (width,)}
        tensors |= {f"blk.{layer}.{name}.weight": shape for name, shape in (names | norms).items()}
    return write_tensors(writer, tensors, path)


def attention(layer: int) -> dict[str, tuple[int, ...]]:
    """As most models have it."""
    taking = {f"blk.{layer}.attn_{name}.weight": (HEADS * HEAD, WIDTH) for name in "qkv"}
    return {**taking, f"blk.{layer}.attn_output.weight": (WIDTH, HEADS * HEAD)}


def feed_forward(layer: int) -> dict[str, tuple[int, ...]]:
    """As most models have it."""
    return {
        f"blk.{layer}.ffn_norm.weight": (WIDTH,),
        f"blk.{layer}.ffn_gate.weight": (INNER, WIDTH),
        f"blk.{layer}.ffn_up.weight": (INNER, WIDTH),
        f"blk.{layer}.ffn_down.weight": (WIDTH, INNER),
    }


def write_gemma(path: Path) -> Path:
    """A model of which every second layer sees only the last `WINDOW` tokens."""
    tensors = {"token_embd.weight": (len(TOKENS), WIDTH), "output_norm.weight": (WIDTH,)}
    for layer in range(LAYERS):
        norms = ("attn_norm", "post_attention_norm", "post_ffw_norm")
        tensors |= {f"blk.{layer}.{name}.weight": (WIDTH,) for name in norms} | attention(layer) | feed_forward(layer)
    settings = {
        "feed_forward_length": INNER,
        "attention.head_count": HEADS,
        "attention.head_count_kv": HEADS,
        "attention.key_length": HEAD,
        "attention.value_length": HEAD,
        "attention.sliding_window": WINDOW,
        "attn_logit_softcapping": 50.0,
        "final_logit_softcapping": 30.0,
    }
    return write(path, "gemma2", settings, tensors)


def write(
    path: Path, architecture: str, settings: dict[str, Any], tensors: dict[str, tuple[int, ...]], layers: int = LAYERS
) -> Path:
    """A file that llama.cpp loads."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_name(f"Tiny {architecture}")
    writer.add_context_length(4096)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(layers)
    writer.add_layer_norm_rms_eps(1e-5)
    for key, value in settings.items():
        add = {float: writer.add_float32, int: writer.add_uint32, list: writer.add_array}[type(value)]
        add(f"{architecture}.{key}", value)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(TOKENS)
    writer.add_token_scores([0.0] * len(TOKENS))
    writer.add_token_types(KINDS)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    return write_tensors(writer, tensors, path)


def write_tensors(writer: gguf.GGUFWriter, tensors: dict[str, tuple[int, ...]], path: Path) -> Path:
    """Write the file with random weights in these shapes."""
    dice = np.random.default_rng(7)
    for name, shape in tensors.items():
        writer.add_tensor(name, weights(dice, name, shape))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def weights(dice: np.random.Generator, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Of a size that neither fades nor bursts over hundreds of tokens."""
    values = dice.normal(0.0, 0.25, shape).astype(np.float32)
    if "norm" in name:
        return 1 + values / 4
    return -np.exp(values) if name.endswith("ssm_a") else values
