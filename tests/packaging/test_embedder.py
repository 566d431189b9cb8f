"""The set-up converts the embedder once, from the published weights only, and what the engine reads is known by its hash."""

from __future__ import annotations

import importlib.util
import shutil
import struct
from pathlib import Path
from types import ModuleType

import gguf
import numpy as np
import pytest

from lethe_app.llm.models.bundled import EMBEDDER_FILE, EMBEDDER_SHA256, embedder_folder, hash_file

SCRIPT = Path(__file__).parents[2] / "packaging" / "embedder.py"


@pytest.fixture
def converter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, with the weights in a folder of its own."""
    spec = importlib.util.spec_from_file_location("embedder_under_test", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    source = embedder_folder()
    assert source
    for name in ("model.safetensors", "vocab.txt"):
        (tmp_path / name).symlink_to(source / name)
    monkeypatch.setattr(script, "embedder_folder", lambda: tmp_path)
    return script


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_the_conversion_gives_the_file_that_the_program_expects(converter: ModuleType, tmp_path: Path):
    code = converter.main()

    assert code == 0
    assert hash_file(tmp_path / EMBEDDER_FILE) == EMBEDDER_SHA256
    assert names(tmp_path) == [EMBEDDER_FILE, "model.safetensors", "vocab.txt"]


def test_numbers_are_packed_as_ggml_packs_them(converter: ModuleType):
    numbers = np.random.default_rng(7).normal(size=(6, 64)).astype(np.float32)

    kind, shape, data = converter.pack("blk.0.attn_q.weight", numbers)

    assert (kind, shape) == (gguf.GGMLQuantizationType.Q8_0, (6, 64))
    assert data == gguf.quants.quantize(numbers, gguf.GGMLQuantizationType.Q8_0).tobytes()


def test_a_file_that_is_whole_is_left_alone(converter: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    source = embedder_folder()
    assert source
    (tmp_path / EMBEDDER_FILE).symlink_to(source / EMBEDDER_FILE)
    monkeypatch.setattr(converter, "convert", lambda *_: pytest.fail("converted again"))

    assert converter.main() == 0


@pytest.mark.parametrize("damage", ["shorter", "changed"])
def test_a_damaged_file_is_made_anew(converter: ModuleType, tmp_path: Path, damage: str):
    source = embedder_folder()
    assert source
    content = bytearray((source / EMBEDDER_FILE).read_bytes())
    content[1000] ^= 1
    (tmp_path / EMBEDDER_FILE).write_bytes(content if damage == "changed" else content[:5])

    assert converter.main() == 0
    assert hash_file(tmp_path / EMBEDDER_FILE) == EMBEDDER_SHA256


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.txt"])
@pytest.mark.parametrize("content", [b"", b"\1\2", b"\0" * 100, struct.pack("<Q", 2**60) + b"{}", b"\2\0\0\0\0\0\0\0[]"])
def test_weights_and_words_that_are_not_the_published_ones_are_refused(
    converter: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes
):
    (tmp_path / name).unlink()
    (tmp_path / name).write_bytes(content)

    code = converter.main()

    assert code == 1
    assert "was modified" in capsys.readouterr().err
    assert EMBEDDER_FILE not in names(tmp_path)


def test_a_failed_conversion_is_told_and_leaves_no_model_behind(
    converter: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(converter, "convert", lambda *_: b"half")

    code = converter.main()

    assert code == 1
    assert "differs" in capsys.readouterr().err
    assert EMBEDDER_FILE not in names(tmp_path)


def test_a_folder_that_takes_no_file_is_told(converter: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / EMBEDDER_FILE).with_suffix(".part").mkdir()

    code = converter.main()

    assert code == 1
    assert "could not be converted" in capsys.readouterr().err
    shutil.rmtree((tmp_path / EMBEDDER_FILE).with_suffix(".part"))


def test_without_the_package_one_is_told(
    converter: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(converter, "embedder_folder", lambda: None)

    assert converter.main() == 1
    assert "not installed" in capsys.readouterr().err
