"""Client of Piper, with a stand-in that speaks its command line: voice files, command, sentences, end."""

from __future__ import annotations

import json
import os
import stat
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import pytest

from lethe_app.errors import SpeechError, SpeechUnavailable
from lethe_app.speech import piper
from lethe_app.speech.pcm import read_wav
from lethe_app.speech.piper import PiperProcess, PiperVoiceFile, find_piper, find_voice_files

STAND_IN = [sys.executable, str(Path(__file__).with_name("piper_stand_in.py"))]


def write_voice(folder: Path, name: str = "en_US-joe-medium", **config: object) -> Path:
    path = folder / f"{name}.onnx"
    path.write_bytes(b"model")
    stored = {"audio": {"sample_rate": 22050}, "language": {"code": "en_US"}, **config}
    path.with_name(f"{path.name}.json").write_text(json.dumps(stored), encoding="utf-8")
    return path


def test_voice_files_are_found_with_name_and_language(tmp_path):
    joe = write_voice(tmp_path)
    eva = write_voice(tmp_path, "de_DE-eva_k-x_low", language="broken")
    (tmp_path / "no_config.onnx").write_bytes(b"")
    write_voice(tmp_path, "broken").with_name("broken.onnx.json").write_text("[", encoding="utf-8")

    assert find_voice_files(tmp_path) == [
        PiperVoiceFile(eva, "Eva k x low", "de-DE"),
        PiperVoiceFile(joe, "Joe medium", "en-US"),
    ]
    assert find_voice_files(tmp_path / "missing") == []


def test_sentences_are_synthesised_one_after_the_other_by_one_process(tmp_path):
    process = PiperProcess(STAND_IN, write_voice(tmp_path))

    first, second = process.synthesize("You are late."), process.synthesize("One\nline")
    pid = process._process.pid
    third = process.synthesize("Yes.")

    assert [round(audio.seconds, 2) for audio in (first, second, third)] == [0.13, 0.08, 0.04]
    assert process._process.pid == pid
    assert list(Path(process._folder.name).iterdir()) == []
    process.close()
    assert not process.is_running


def test_a_faster_rate_makes_the_sound_shorter(tmp_path):
    process = PiperProcess(STAND_IN, write_voice(tmp_path), rate=2.0)

    assert round(process.synthesize("You are late. So late").seconds, 2) == 0.1
    process.close()


def test_the_folder_of_the_sound_is_private_and_disappears(tmp_path):
    process = PiperProcess(STAND_IN, write_voice(tmp_path))
    process.synthesize("Yes.")
    folder = Path(process._folder.name)
    assert os.name == "nt" or stat.S_IMODE(folder.stat().st_mode) == 0o700

    process.close()

    assert not folder.exists()


def test_a_sentence_that_ends_the_process_is_an_error_and_the_next_one_starts_it_again(tmp_path):
    process = PiperProcess(STAND_IN, write_voice(tmp_path))

    with pytest.raises(SpeechError, match="channels not specified"):
        process.synthesize("crash")

    assert round(process.synthesize("Yes.").seconds, 2) == 0.04
    process.close()


def test_closing_ends_a_sentence_that_is_being_synthesised(tmp_path):
    slow = [sys.executable, "-c", "import time; time.sleep(600)"]
    process, errors = PiperProcess(slow, write_voice(tmp_path)), []

    def work() -> None:
        try:
            process.synthesize("Yes.")
        except SpeechError as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    while not process.is_running:
        thread.join(0.01)
    process.close()
    thread.join()

    assert len(errors) == 1


def test_a_program_that_cannot_be_started_is_named(tmp_path):
    with pytest.raises(SpeechUnavailable, match="cannot be started"):
        PiperProcess([str(tmp_path / "piper")], write_voice(tmp_path)).synthesize("Yes.")


def test_a_broken_wav_file_is_an_error():
    with pytest.raises(SpeechError, match="unreadable"):
        read_wav(b"RIFF")


def test_the_chosen_program_is_used_and_a_missing_one_is_named(tmp_path):
    program = tmp_path / "piper"
    program.touch()

    assert find_piper(str(program)) == [str(program)]
    with pytest.raises(SpeechUnavailable, match="does not exist"):
        find_piper(str(tmp_path / "gone"))


@pytest.mark.skipif(os.name == "nt" or find_spec("piper") is not None, reason="needs a system without Piper")
def test_a_program_on_the_path_is_used_only_if_it_synthesises_speech(tmp_path, monkeypatch):
    program = tmp_path / "piper"
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SpeechUnavailable) as raised:
        find_piper()
    assert raised.value.remedy == piper.INSTALL_ADVICE

    program.write_text("#!/bin/sh\necho a program for mice\n", encoding="utf-8")
    program.chmod(0o755)
    with pytest.raises(SpeechUnavailable):
        find_piper()

    program.write_text(f'#!/bin/sh\nexec {STAND_IN[0]} {STAND_IN[1]} "$@"\n', encoding="utf-8")
    assert find_piper() == [str(program)]
