"""A model file is described from its header alone, and no broken file does more than say what is wrong with it."""

from __future__ import annotations

import contextlib
import os
import random
import struct
import time
from pathlib import Path

import gguf
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lethe_app.errors import ModelError, ModelMissing, ModelUnreadable
from lethe_app.llm.engines.registry import describe_usable_model
from lethe_app.llm.models import gguf_header
from lethe_app.llm.models.gguf_header import TENSOR_TYPES, read_header
from lethe_app.llm.models.gguf_model import FILE_TYPES, clean_stem, describe_model
from tests.llm.gguf_factory import chat_settings, write_model
from tests.sweep import examples


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def raw_header(*, version: int = 3, tensors: int = 0, keys: int = 0, body: bytes = b"") -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, tensors, keys) + body


def broken(path: Path, content: bytes) -> str:
    """What is said about a file with this content."""
    path.write_bytes(content)
    with pytest.raises(ModelUnreadable) as caught:
        describe_model(path)
    assert path.name in caught.value.message
    return caught.value.message


def test_a_chat_model_tells_everything_without_being_loaded(tmp_path: Path):
    path = write_model(tmp_path / "x.gguf", settings=chat_settings(llama__attention__sliding_window=1024))

    model = describe_model(path, source="Your models")

    assert (model.name, model.architecture, model.quantization) == ("Tiny Talker", "llama", "Q4_K_M")
    assert (model.context_length, model.layers, model.kv_heads, model.head_length) == (4096, 2, 2, 2)
    assert model.sliding_window == 1024
    assert model.has_template
    assert not model.is_embedding
    assert not model.is_recurrent
    assert model.size == path.stat().st_size
    assert model.parameters == 32
    assert model.source == "Your models"


def test_the_starter_model_is_described_as_it_is(starter_model: Path):
    model = describe_model(starter_model)

    assert (model.architecture, model.quantization, model.context_length) == ("llama", "Q4_1", 8192)
    assert model.parameters == 134_515_008
    assert (model.layers, model.attention_layers, model.kv_heads, model.head_length) == (30, 30, 3, 64)
    assert model.has_template


def test_arrays_are_read_only_when_asked_for(tmp_path: Path):
    path = write_model(tmp_path / "x.gguf", tokens=["a", "bc", ""], merges=["a b"])

    plain = read_header(path)
    asked = read_header(path, arrays={"tokenizer.ggml.tokens"})

    assert plain.skipped == {"tokenizer.ggml.tokens": 3, "tokenizer.ggml.merges": 1}
    assert asked.strings("tokenizer.ggml.tokens") == [b"a", b"bc", b""]
    assert asked.skipped == {"tokenizer.ggml.merges": 1}


def test_every_type_of_value_is_read(tmp_path: Path):
    kinds = {0: ("B", 200), 1: ("b", -5), 2: ("H", 60_000), 3: ("h", -6), 4: ("I", 4_000_000_000), 5: ("i", -7),
             6: ("f", 0.5), 7: ("?", True), 10: ("Q", 2**63), 11: ("q", -(2**62)), 12: ("d", 0.25)}  # fmt: skip
    body = b"".join(text(f"k{kind}") + struct.pack(f"<I{code}", kind, value) for kind, (code, value) in kinds.items())
    path = tmp_path / "x.gguf"
    path.write_bytes(raw_header(keys=len(kinds), body=body))

    assert read_header(path).metadata == {f"k{kind}": value for kind, (_, value) in kinds.items()}


def test_version_two_is_read_like_version_three(tmp_path: Path):
    path = write_model(tmp_path / "x.gguf", settings=chat_settings())
    content = bytearray(path.read_bytes())
    content[4] = 2
    path.write_bytes(content)

    assert describe_model(path).name == "Tiny Talker"


def test_our_table_of_tensor_types_is_the_writers():
    theirs = {kind.value: (kind.name, *gguf.GGML_QUANT_SIZES[kind]) for kind in gguf.GGMLQuantizationType}
    differing = {number for number in theirs if TENSOR_TYPES.get(number) != theirs[number]}

    # Q8_1 exists only inside computations, and the writer's size for it is wrong.
    assert differing <= {gguf.GGMLQuantizationType.Q8_1.value}


def test_our_table_of_file_types_is_the_writers():
    theirs = {kind.value: kind.name.removeprefix("MOSTLY_").removeprefix("ALL_") for kind in gguf.LlamaFileType}
    theirs.pop(gguf.LlamaFileType.GUESSED)

    assert {number: FILE_TYPES[number] for number in theirs} == theirs | {38: "MXFP4"}


def test_a_missing_file_is_missing(tmp_path: Path):
    with pytest.raises(ModelMissing):
        describe_model(tmp_path / "none.gguf")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"GGUF", "too short"),
        (b"<!DOCTYPE html>" + b" " * 100, "is not a GGUF"),
        (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "big-endian"),
        (raw_header(version=1), "version 1"),
        (raw_header(version=99), "version 99"),
        (raw_header(keys=2**63), "damaged"),
        (raw_header(tensors=2**63), "damaged"),
        (raw_header(keys=1, body=struct.pack("<Q", 2**63)), "claims a text"),
        (raw_header(keys=1, body=text("a") + struct.pack("<I", 77)), "unknown type 77"),
        (raw_header(keys=1, body=text("a") + struct.pack("<IIQ", 9, 8, 2**62)), "claims 4611686018427387904 entries"),
        (raw_header(keys=1, body=text("a") + struct.pack("<IIQ", 9, 4, 2**62)), "claims 4611686018427387904 entries"),
        (raw_header(keys=1, body=text("a") + struct.pack("<IIQ", 9, 9, 1)), "list “a” of unknown type 9"),
        (raw_header(keys=1, body=text("a") + struct.pack("<IIQQ", 9, 8, 1, 2**63)), "incomplete"),
        (raw_header(keys=1, body=text("a") + struct.pack("<IIQ", 9, 8, 49_152)), "is incomplete: it ends inside its header"),
        (raw_header(keys=1, body=text("a") + struct.pack("<IIQ", 9, 6, 49_152)), "is incomplete: it ends inside its header"),
        (raw_header(keys=2, body=2 * (text("a") + struct.pack("<II", 4, 1))), "twice"),
        (raw_header(tensors=1, body=text("t") + struct.pack("<I", 4000)), "4000 dimensions"),
        (raw_header(tensors=1, body=text("t") + struct.pack("<I4QIQ", 4, *[2**40] * 4, 0, 0)), "impossible size"),
        (raw_header(tensors=1, body=text("t") + struct.pack("<IQIQ", 1, 1, 0, 2**63)), "impossible place"),
        (raw_header(keys=1, tensors=1, body=text("general.alignment") + struct.pack("<II", 4, 0)), "alignment"),
        (raw_header(body=b"\0" * 8), "architecture"),
    ],
)
def test_a_broken_file_says_what_is_wrong(tmp_path: Path, content: bytes, words: str):
    assert words in broken(tmp_path / "bad.gguf", content)


def test_a_file_cut_anywhere_is_refused(tmp_path: Path):
    whole = write_model(tmp_path / "x.gguf", settings=chat_settings(), tokens=["a", "b"]).read_bytes()
    needed = read_header(tmp_path / "x.gguf").needed_size

    for length in (*range(0, needed, 5), needed - 1):
        said = broken(tmp_path / "cut.gguf", whole[:length])
        assert "incomplete" in said or length < 24


def test_a_truncated_download_says_how_much_is_there(tmp_path: Path):
    path = write_model(tmp_path / "x.gguf", settings=chat_settings(), tensors={"big": (1000, 1100)})
    os.truncate(path, 3_100_000)

    with pytest.raises(ModelUnreadable, match=r"“x\.gguf” is incomplete: 3\.1 of 4\.4 MB\."):
        describe_model(path)


def test_a_nearly_finished_download_still_shows_a_difference(tmp_path: Path):
    path = write_model(tmp_path / "x.gguf", settings=chat_settings(), tensors={"big": (1000, 1100)})
    os.truncate(path, read_header(path).needed_size - 5000)

    with pytest.raises(ModelUnreadable, match=r"4\.395 of 4\.400 MB"):
        describe_model(path)


@settings(max_examples=examples(300), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300), st.booleans())
def test_random_bytes_are_refused_and_never_crash(tmp_path: Path, noise: bytes, as_gguf: bool):
    path = tmp_path / "noise.gguf"
    path.write_bytes(raw_header(keys=3, tensors=2, body=noise) if as_gguf else noise)

    with pytest.raises(ModelError):
        describe_model(path)


def test_damaged_bytes_are_refused_or_harmless(tmp_path: Path):
    whole = write_model(tmp_path / "x.gguf", settings=chat_settings(), tokens=["a"] * 20, merges=["a b"] * 9).read_bytes()
    chance = random.Random(3)
    started = time.monotonic()

    for _ in range(500):
        content = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            content[chance.randrange(len(content))] = chance.choice((0, 1, 0x7F, 0xFF, chance.randrange(256)))
        (tmp_path / "bad.gguf").write_bytes(content)
        with contextlib.suppress(ModelError):  # any other exception is the failure
            describe_model(tmp_path / "bad.gguf")

    assert time.monotonic() - started < 20


def test_a_sea_of_zeros_ends_quickly(tmp_path: Path):
    path = tmp_path / "zeros.gguf"
    entry = text("k") + struct.pack("<IIQ", 9, 8, 4_000_000) + bytes(8 * 4_000_000)
    path.write_bytes(raw_header(keys=20_000, body=entry))
    os.truncate(path, 10**11)  # a hole, not bytes on the disk
    started = time.monotonic()

    with pytest.raises(ModelUnreadable):
        describe_model(path)

    assert time.monotonic() - started < 10


def test_a_file_that_shrinks_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = write_model(tmp_path / "x.gguf", settings=chat_settings(), tokens=["abcdefgh"] * 1000)
    monkeypatch.setattr(gguf_header, "_CHUNK", 64)
    original = gguf_header._read_value

    def shrinking(cursor, key, *others):
        os.truncate(path, 200)
        return original(cursor, key, *others)

    monkeypatch.setattr(gguf_header, "_read_value", shrinking)

    with pytest.raises(ModelUnreadable, match="was truncated"):
        describe_model(path)


def test_a_folder_and_a_pipe_are_no_models(tmp_path: Path):
    (tmp_path / "folder.gguf").mkdir()
    with pytest.raises(ModelUnreadable):
        describe_model(tmp_path / "folder.gguf")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.gguf")
        with pytest.raises(ModelUnreadable, match="is not a file"):
            describe_model(tmp_path / "pipe.gguf")


def test_a_projector_is_no_model(tmp_path: Path):
    with pytest.raises(ModelUnreadable, match="projector"):
        describe_model(write_model(tmp_path / "x.gguf", "clip"))


@pytest.mark.parametrize(
    ("changed", "file_name", "name"),
    [
        ({"general__name": "Mistral Nemo", "general__size_label": "12B"}, "x.gguf", "Mistral Nemo 12B"),
        ({"general__name": "Qwen2.5 7b Instruct", "general__size_label": "7B"}, "x.gguf", "Qwen2.5 7b Instruct"),
        ({"general__name": ""}, "Llama-3.2-3B-Instruct-Q4_K_M.gguf", "Llama 3.2 3B Instruct"),
        ({"general__name": "/home/me/out"}, "gemma_2-9b.IQ3_XXS.gguf", "gemma 2 9b"),
        ({"general__name": "model"}, "Wizard-13B.gguf", "Wizard 13B"),
        ({"general__name": "0123456789abcdef0123456789abcdef"}, "a-UD-Q4_K_XL.gguf", "a"),
    ],
)
def test_a_model_has_a_name_a_person_would_give_it(tmp_path: Path, changed: dict, file_name: str, name: str):
    path = write_model(tmp_path / file_name, settings=chat_settings(**changed))

    assert describe_model(path).name == name


@pytest.mark.parametrize(
    ("file_type", "file_name", "expected"),
    [(7, "x.gguf", "Q8_0"), (1024 + 30, "x-F16.gguf", "IQ4_XS"), (999, "x.q5_k_m.gguf", "Q5_K_M"),
     (999, "x-BF16-00001-of-00001.gguf", "BF16"), (999, "x.gguf", "F32"), (999, "Wizard-13B.gguf", "F32")],
)  # fmt: skip
def test_quantization_comes_from_the_file_then_its_name_then_its_weights(
    tmp_path: Path, file_type: int, file_name: str, expected: str
):
    path = write_model(tmp_path / file_name, settings=chat_settings(general__file_type=file_type))

    assert describe_model(path).quantization == expected


@pytest.mark.parametrize(
    ("architecture", "extra", "embeds", "recurs"),
    [
        ("llama", {}, False, False),
        ("bert", {}, True, False),
        ("nomic-bert", {"nomic-bert.pooling_type": 1}, True, False),
        ("qwen3", {"qwen3.pooling_type": 3}, True, False),
        ("jina-bert-v2", {}, True, False),
        ("llama", {"llama.attention.causal": False}, True, False),
        ("llama", {"llama.attention.causal": True}, False, False),
        ("llama", {"llama.pooling_type": 0}, False, False),
        ("mamba", {}, False, True),
        ("somethingnew", {"somethingnew.ssm.state_size": 16}, False, True),
    ],
)
def test_embedding_and_recurrent_models_are_recognised(
    tmp_path: Path, architecture: str, extra: dict, embeds: bool, recurs: bool
):
    model = describe_model(write_model(tmp_path / "x.gguf", architecture, extra))

    assert (model.is_embedding, model.is_recurrent) == (embeds, recurs)


@pytest.mark.parametrize(
    ("architecture", "extra"),
    [
        ("bert", {"bert.pooling_type": 4}),
        ("qwen3", {"qwen3.pooling_type": 4}),
        ("t5", {}),
        ("dream", {"dream.attention.causal": False}),
        ("eagle3", {}),
        ("clip", {}),
        ("llama", {"general.type": "adapter"}),
        ("llama", {"adapter.type": "lora"}),
    ],
)
def test_rerankers_drafts_projectors_and_adapters_are_no_models_to_choose(tmp_path: Path, architecture: str, extra: dict):
    path = write_model(tmp_path / "x.gguf", architecture, extra)

    for embeds_texts in (False, True):
        with pytest.raises(ModelUnreadable, match=r"“x\.gguf” is"):
            describe_usable_model(path, embeds_texts=embeds_texts)


def test_heads_that_differ_by_layer_are_averaged(tmp_path: Path):
    path = write_model(tmp_path / "x.gguf", settings=chat_settings(llama__attention__head_count_kv=[4, 1]))

    assert (describe_model(path).attention_layers, describe_model(path).kv_heads) == (2, 3)


def test_layers_without_heads_keep_no_keys(tmp_path: Path):
    path = write_model(tmp_path / "x.gguf", settings=chat_settings(llama__attention__head_count_kv=[0, 4, 0, 2]))

    assert (describe_model(path).attention_layers, describe_model(path).kv_heads) == (2, 3)


def test_a_model_that_looks_back_in_every_fourth_layer_keeps_keys_in_those(tmp_path: Path):
    settings = chat_settings(llama__block_count=48, llama__full_attention_interval=4, llama__attention__head_count_kv=2)

    model = describe_model(write_model(tmp_path / "x.gguf", settings=settings))

    assert (model.layers, model.attention_layers, model.kv_heads) == (48, 12, 2)


def test_a_split_model_is_described_as_a_whole(tmp_path: Path):
    split = {"split.count": 2, "split.no": 0}
    first = write_model(tmp_path / "big-Q8_0-00001-of-00002.gguf", settings=chat_settings(general__name="") | split)
    second = write_model(tmp_path / "big-Q8_0-00002-of-00002.gguf", settings={"split.count": 2, "split.no": 1})

    model = describe_model(first)

    assert model.name == "big"
    assert model.size == first.stat().st_size + second.stat().st_size
    assert model.parameters == 64
    with pytest.raises(ModelUnreadable, match="not the first"):
        describe_model(second.rename(tmp_path / "x.gguf"))


def test_missing_parts_of_a_split_model_are_named(tmp_path: Path):
    first = write_model(tmp_path / "big-00001-of-00003.gguf", settings=chat_settings())

    with pytest.raises(ModelMissing, match="2 are missing, for example “big-00002-of-00003"):
        describe_model(first)


def test_file_names_are_cleaned():
    assert clean_stem(Path("Meta-Llama-3.1-8B-Instruct-IQ4_XS.gguf")) == "Meta Llama 3.1 8B Instruct"
    assert clean_stem(Path("Q4_K_M.gguf")) == "Q4 K M"
