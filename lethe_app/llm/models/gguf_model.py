"""Description of a model file from its header alone, so that a folder of models is listed without loading any."""

from __future__ import annotations

import re
from pathlib import Path

from lethe_app.domain.model import ModelFile
from lethe_app.errors import ModelMissing, ModelUnreadable
from lethe_app.llm.models.gguf_header import GgufHeader, read_header

FILE_TYPES: dict[int, str] = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 4: "Q4_1", 5: "Q4_2", 6: "Q4_3", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K",
    11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K",
    19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S",
    27: "IQ3_M", 28: "IQ2_S", 29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 33: "Q4_0_4_4", 34: "Q4_0_4_8",
    35: "Q4_0_8_8", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4", 39: "NVFP4", 40: "Q1_0",
}  # fmt: skip
"""llama.cpp's numbers for `general.file_type`."""

GUESSED_FILE_TYPE = 1024  # a flag that llama.cpp adds where the type was inferred

EMBEDDING_ARCHITECTURES = frozenset({
    "bert", "nomic-bert", "nomic-bert-moe", "jina-bert-v2", "jina-bert-v3", "neo-bert", "modern-bert", "eurobert",
    "gemma-embedding", "llama-embed", "t5encoder",
})  # fmt: skip

RECURRENT_ARCHITECTURES = frozenset({
    "mamba", "mamba2", "rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7", "jamba", "falcon-h1", "granitehybrid", "nemotron_h",
    "nemotron_h_moe", "plamo2", "lfm2", "lfm2moe", "qwen3next", "qwen35", "qwen35moe", "kimi-linear",
})  # fmt: skip

PROJECTOR_ARCHITECTURES = frozenset({"clip", "mmproj"})

OTHER_ARCHITECTURES = frozenset({
    "t5", "dream", "llada", "llada-moe", "rnd1", "wavtokenizer-dec", "eagle3", "gemma4-assistant", "controlvector",
})  # fmt: skip
"""Architectures that llama.cpp knows, but of which this program can use none: translation, diffusion, speech, drafts."""

RANKING = 4
"""llama.cpp's number of the pooling type of models that rank texts."""

_QUANTIZATION = r"(?:UD[-_.])?(?:I?Q\d(?:_[0-9KA-Z]+)*|TQ\d_\d|BF16|FP?16|FP?32|MXFP4(?:_MOE)?|NVFP4)"
_QUANTIZATION_AT_END = re.compile(rf"[-_. ]({_QUANTIZATION})$", re.IGNORECASE)
_PART = re.compile(r"-(\d{5})-of-(\d{5})$")
_MEANINGLESS_NAMES = frozenset({"", "model", "ggml-model", "tmp", "merged", "checkpoint", "unknown", "."})


def describe_model(path: Path, source: str = "", name: str = "") -> ModelFile:
    """Describe the complete chat or embedding model at `path`; `name` overrides the name in the file.

    For a model in several files, `path` is the first. Raise ModelMissing or ModelUnreadable.
    """
    header = read_header(path)
    architecture = header.text("general.architecture")
    if not architecture:
        raise ModelUnreadable(f"“{path.name}” does not specify its architecture.")
    if (
        architecture in PROJECTOR_ARCHITECTURES
        or header.text("general.type") in {"mmproj", "adapter", "imatrix"}
        or header.text("adapter.type")
    ):
        raise ModelUnreadable(f"“{path.name}” is a component for a model (a vision projector or an adapter), not a model.")
    if architecture in OTHER_ARCHITECTURES or header.number(f"{architecture}.pooling_type") == RANKING:
        kind = "a model that ranks texts" if architecture not in OTHER_ARCHITECTURES else f"of the kind “{architecture}”"
        raise ModelUnreadable(f"“{path.name}” is {kind}, which neither writes replies nor creates embeddings.")
    # A split model is complete only if every part is: a download may have ended between two parts.
    parts = [header, *(read_header(part) for part in _other_parts(path, header))]
    for part in parts:
        if part.file_size < part.needed_size:
            progress = _format_progress(part.file_size, part.needed_size)
            raise ModelUnreadable(f"“{part.path.name}” is incomplete: {progress}.", "Download the file again.")
    stem = clean_stem(path)
    attention_layers, kv_heads = _attention_layout(header, architecture)
    return ModelFile(
        path=path,
        name=name or display_name(header, stem),
        size=sum(part.file_size for part in parts),
        architecture=architecture,
        parameters=sum(part.parameters for part in parts),
        quantization=quantization(header, path),
        context_length=header.number(f"{architecture}.context_length"),
        is_embedding=is_embedding(header, architecture),
        has_template=bool(header.text("tokenizer.chat_template").strip()),
        source=source,
        layers=header.number(f"{architecture}.block_count"),
        attention_layers=attention_layers,
        kv_heads=kv_heads,
        head_length=_head_length(header, architecture),
        sliding_window=header.number(f"{architecture}.attention.sliding_window"),
        is_recurrent=is_recurrent(header, architecture),
    )


def is_later_part(path: Path) -> bool:
    """Return whether the file is the second or a later part of a split model."""
    match = _PART.search(path.stem)
    return match is not None and int(match[1]) > 1


def clean_stem(path: Path) -> str:
    """Return the file name without part number, quantisation and extension: “Qwen2.5 7B Instruct”."""
    stem = _PART.sub("", path.stem)
    stem = _QUANTIZATION_AT_END.sub("", stem)
    stem = re.sub(r"[-_.]gguf$", "", stem, flags=re.IGNORECASE)
    return re.sub(r"[-_ ]+", " ", stem).strip() or path.stem


def display_name(header: GgufHeader, stem: str) -> str:
    """Return the name in the metadata with the size label; if that name is meaningless, one made from the file name."""
    name = " ".join(header.text("general.name").replace("_", " ").split())
    if name.casefold() in _MEANINGLESS_NAMES or "/" in name or "\\" in name or re.fullmatch(r"[0-9a-f]{24,}", name):
        name = stem
    label = header.text("general.size_label").strip()
    if label and label.casefold() not in name.casefold():
        name = f"{name} {label}"
    return name[:120]


def quantization(header: GgufHeader, path: Path) -> str:
    """Return the quantisation from the metadata, else from the file name, else the type of most of the weights."""
    number = header.metadata.get("general.file_type")
    if isinstance(number, int) and (number & ~GUESSED_FILE_TYPE) in FILE_TYPES:
        return FILE_TYPES[number & ~GUESSED_FILE_TYPE]
    match = _QUANTIZATION_AT_END.search(_PART.sub("", path.stem))
    if match:
        return match[1].upper()
    return max(header.type_bytes, key=header.type_bytes.__getitem__) if header.type_bytes else ""


def is_embedding(header: GgufHeader, architecture: str) -> bool:
    """Return whether the model is for embeddings: those name a pooling type or let a token see the later ones, chat models
    never do.
    """
    return (
        architecture in EMBEDDING_ARCHITECTURES
        or header.number(f"{architecture}.pooling_type") > 0
        or header.metadata.get(f"{architecture}.attention.causal") is False
    )


def is_recurrent(header: GgufHeader, architecture: str) -> bool:
    """Return whether some layer has a running state that cannot be rewound."""
    prefixes = tuple(f"{architecture}.{kind}." for kind in ("ssm", "wkv", "shortconv"))
    return architecture in RECURRENT_ARCHITECTURES or any(key.startswith(prefixes) for key in header.metadata)


def _attention_layout(header: GgufHeader, architecture: str) -> tuple[int, int]:
    """Return the number of layers with keys and values, and their KV heads; if layers differ, the average, rounded up.

    Hybrid models list the heads per layer, with 0 for recurrent layers, or give the interval of their attention layers.
    """
    layers = header.number(f"{architecture}.block_count")
    attention_interval = header.number(f"{architecture}.full_attention_interval")
    for key in (f"{architecture}.attention.head_count_kv", f"{architecture}.attention.head_count"):
        with_heads = [heads for heads in header.integers(key) if heads]
        if with_heads:
            return len(with_heads), -(-sum(with_heads) // len(with_heads))
        if header.number(key):
            return layers // attention_interval if attention_interval > 0 else layers, header.number(key)
    return 0, 0


def _head_length(header: GgufHeader, architecture: str) -> int:
    heads = header.number(f"{architecture}.attention.head_count")
    key_length = header.number(f"{architecture}.attention.key_length")
    return key_length or (header.number(f"{architecture}.embedding_length") // heads if heads > 0 else 0)


def _other_parts(path: Path, header: GgufHeader) -> list[Path]:
    """Return the later files of a split model. Raise ModelMissing if one is absent, and ModelUnreadable if `path` is not the
    first.
    """
    match = _PART.search(path.stem)
    count = int(match[2]) if match else header.number("split.count")
    if count <= 1:
        return []
    if not match or int(match[1]) != 1:
        raise ModelUnreadable(f"“{path.name}” is one of {count} parts, but not the first.", "Choose the first part.")
    stem = path.stem[: match.start()]
    others = [path.with_name(f"{stem}-{index:05d}-of-{count:05d}{path.suffix}") for index in range(2, count + 1)]
    missing = [other.name for other in others if not other.is_file()]
    if missing:
        raise ModelMissing(f"“{path.name}” needs {count} parts, and {len(missing)} are missing, for example “{missing[0]}”.")
    return others


def _format_progress(present: int, total: int) -> str:
    """Return a text such as “3.1 of 4.4 GB”, with as many digits as show a difference."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if total >= size:
            for digits in (1, 3):
                first, second = f"{present / size:.{digits}f}", f"{total / size:.{digits}f}"
                if first != second:
                    return f"{first} of {second} {unit}"
    return f"{present} of {total} bytes"
