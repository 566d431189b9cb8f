"""Which model recognises, what is said when there is none, and that offered models are the known files."""

from __future__ import annotations

from pathlib import Path

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.errors import DictationError, SpeechModelMissing
from lethe_app.services.speech import dictation as dictation_module
from lethe_app.services.speech.dictation import Dictation
from lethe_app.speech.recognition.client import RecognitionClient
from tests.speech.recognition.tiny_whisper import write_tiny_whisper


async def test_the_largest_model_in_the_folder_recognises_unless_one_is_chosen(services: AppServices, tmp_path: Path):
    folder = services.paths.models
    folder.mkdir(parents=True, exist_ok=True)
    chosen = write_tiny_whisper(tmp_path / "mine.bin")
    with pytest.raises(SpeechModelMissing, match="needs a speech recognition model"):
        await services.dictation.find_model()

    many = write_tiny_whisper(folder / "ggml-tiny.bin")
    english = write_tiny_whisper(folder / "ggml-tiny.en.bin", is_multilingual=False)
    (folder / "ggml-base.bin").write_bytes(many.read_bytes()[:-1000] + bytes(10_000_000))
    assert many.stat().st_size > english.stat().st_size
    assert await services.dictation.find_model() == many
    assert [one.path.name for one in await services.dictation.list_models()] == ["ggml-tiny.bin", "ggml-tiny.en.bin"]

    await services.preferences.set(dictation_model=str(chosen))
    assert await services.dictation.find_model() == chosen


async def test_a_chosen_model_that_is_gone_is_reported_by_name(services: AppServices):
    await services.preferences.set(dictation_model="/nowhere/ggml-gone.bin")

    with pytest.raises(SpeechModelMissing, match=r"ggml-gone\.bin does not exist"):
        await services.dictation.find_model()


async def test_a_missing_library_is_named(services: AppServices, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(dictation_module, "find_missing_library", lambda: "pywhispercpp")
    dictation = Dictation(RecognitionClient(), services.preferences, services.paths, needs_libraries=True)

    with pytest.raises(DictationError, match="needs the library pywhispercpp"):
        await dictation.find_model()


async def test_every_offered_model_has_a_hash_a_size_and_a_licence(services: AppServices):
    offers = [assessment.model for assessment in await services.downloads.assess_speech_offers()]

    assert [model.file for model in offers] == ["ggml-tiny.bin", "ggml-base.bin", "ggml-small.bin"]
    assert all(len(model.sha256) == 64 and model.size > 70_000_000 and model.licence == "MIT" for model in offers)
    assert {model.file for model in await services.downloads.list_offers()}.isdisjoint(model.file for model in offers)
