"""The microphone of this computer: what is said when it cannot be used."""

from __future__ import annotations

import importlib

import pytest

from lethe_app.errors import DictationError
from lethe_app.ui.controllers.dictation.microphone import SystemMicrophone

pytestmark = pytest.mark.usefixtures("qapp")


async def test_a_missing_library_of_the_system_is_named_with_what_to_do(monkeypatch: pytest.MonkeyPatch):
    def fail(_name: str) -> None:
        raise ImportError("libpulse.so.0: cannot open shared object file")

    monkeypatch.setattr(importlib, "import_module", fail)

    with pytest.raises(DictationError) as problem:
        await SystemMicrophone().open(lambda _data: None, lambda _error: None)

    assert "libpulse.so.0" in problem.value.message
    assert "Install the missing library" in problem.value.remedy


async def test_a_computer_without_a_microphone_says_so():
    multimedia = pytest.importorskip("PySide6.QtMultimedia", exc_type=ImportError)
    if not multimedia.QMediaDevices.defaultAudioInput().isNull():
        pytest.skip("this computer has a microphone")

    with pytest.raises(DictationError, match="No microphone was found"):
        await SystemMicrophone().open(lambda _data: None, lambda _error: None)


async def test_a_sound_system_that_died_is_not_opened_again():
    microphone, reported = SystemMicrophone(), []
    microphone._on_failure = reported.append

    microphone._report_stall()
    assert reported == []
    microphone._report_stall()

    assert [error.message for error in reported] == ["The sound system stopped working."]
    with pytest.raises(DictationError, match="The sound system stopped working"):
        await microphone.open(lambda _data: None, reported.append)
