"""Header of a Whisper model: what it is, and whether all of it is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from lethe_app.errors import SpeechModelUnreadable
from lethe_app.speech.recognition.whisper_file import read_whisper_file
from tests.speech.recognition.tiny_whisper import write_tiny_whisper


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_whisper(tmp_path_factory.mktemp("whisper") / "ggml-tiny.bin")


def test_a_model_says_its_size_and_whether_it_knows_many_languages(model: Path, tmp_path: Path):
    found = read_whisper_file(model)
    english = read_whisper_file(write_tiny_whisper(tmp_path / "ggml-tiny.en.bin", is_multilingual=False))

    assert (found.is_multilingual, found.size) == (True, model.stat().st_size)
    assert not english.is_multilingual


@pytest.mark.parametrize("part", [0.001, 0.02, 0.5, 0.999])
def test_an_incomplete_model_is_refused(model: Path, tmp_path: Path, part: float):
    data = model.read_bytes()
    (path := tmp_path / "ggml-half.bin").write_bytes(data[: int(len(data) * part)])

    with pytest.raises(SpeechModelUnreadable, match="incomplete or damaged"):
        read_whisper_file(path)


@pytest.mark.parametrize("content", [b"", b"GGUF" + bytes(200), b"<html>", b"lmgg" + b"\xff" * 500, b"lmgg" + bytes(500)])
def test_other_files_are_refused(tmp_path: Path, content: bytes):
    (path := tmp_path / "other.bin").write_bytes(content)

    with pytest.raises(SpeechModelUnreadable):
        read_whisper_file(path)


def test_a_missing_file_is_reported_by_name(tmp_path: Path):
    with pytest.raises(SpeechModelUnreadable, match=r"gone\.bin cannot be read: no such file"):
        read_whisper_file(tmp_path / "gone.bin")
