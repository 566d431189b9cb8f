"""Client of the Piper synthesiser, which runs as a program of its own: voice files, command, process.

Piper is under the GPL and is neither part of this program nor loaded into it: its command line gets a sentence per line on
its standard input and names the WAV file that it has written for it on its output.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lethe_app.errors import SpeechError, SpeechUnavailable
from lethe_app.speech.pcm import PcmAudio, read_wav

INSTALL_ADVICE = "Install it with “pipx install piper-tts”, or choose the Piper program in the settings."
MEMORY_FOLDER = Path("/dev/shm")  # noqa: S108 - each process gets a private folder below it
"""Folder in memory, where there is one, so that the sound of a conversation is not written to a disk."""
TERMINATE_TIMEOUT = 2.0
"""Seconds the process may take to end before it is killed."""
PROBE_TIMEOUT = 30.0
"""Seconds that a program may take to print its options."""
_LOG_LINES = 20
"""Number of last lines of the process that an error may quote."""


@dataclass(frozen=True)
class PiperVoiceFile:
    """Voice of Piper: a model file with its configuration beside it."""

    path: Path
    name: str
    language: str
    """BCP 47 tag, such as en-US."""


def find_voice_files(folder: Path) -> list[PiperVoiceFile]:
    """Return the voices in a folder, by name; files without a readable configuration are left out."""
    with suppress(OSError):
        found = [_read_voice_file(path) for path in sorted(folder.expanduser().glob("*.onnx"))]
        return [voice for voice in found if voice is not None]
    return []


def _read_voice_file(path: Path) -> PiperVoiceFile | None:
    try:
        config = json.loads(path.with_name(f"{path.name}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(config, dict) or "audio" not in config:
        return None
    stored = config.get("language")
    code = str(stored.get("code", "")) if isinstance(stored, dict) else ""
    parts = path.name.removesuffix(".onnx").split("-")  # en_US-joe-medium
    language = (code or parts[0]).replace("_", "-")
    name = " ".join(parts[1:]).replace("_", " ") if len(parts) > 1 else parts[0]
    return PiperVoiceFile(path, name[:1].upper() + name[1:], language)


def find_piper(chosen: str = "") -> list[str]:
    """Return the command that runs Piper: the chosen program, the package beside this program, or the one on the PATH.

    Blocks while a program is asked for its options. Raise SpeechUnavailable.
    """
    if chosen:
        path = Path(chosen).expanduser()
        if not path.is_file():
            raise SpeechUnavailable(f"The Piper program “{chosen}” does not exist.", INSTALL_ADVICE)
        return [str(path)]
    if not getattr(sys, "frozen", False):
        with suppress(importlib.metadata.PackageNotFoundError):
            importlib.metadata.version("piper-tts")
            return [sys.executable, "-m", "piper"]
    program = shutil.which("piper")
    # Another program of this name configures computer mice.
    if program is None or not _synthesizes_speech(program):
        raise SpeechUnavailable("The voice needs Piper, which was not found.", INSTALL_ADVICE)
    return [program]


def _synthesizes_speech(program: str) -> bool:
    try:
        answer = subprocess.run(  # noqa: S603 - a program found on the PATH, fixed arguments
            [program, "--help"], capture_output=True, text=True, errors="replace", timeout=PROBE_TIMEOUT, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return "--output_dir" in answer.stdout + answer.stderr


class PiperProcess:
    """Process with one loaded voice, started with the first sentence; all methods but `close` block."""

    def __init__(self, command: Sequence[str], voice_file: Path, rate: float = 1.0) -> None:
        """`rate` is the speaking rate, 1 for the voice's own."""
        self._command = [*command, "-m", str(voice_file), "--length_scale", f"{1 / rate:.3f}"]
        self._process: subprocess.Popen[str] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._lock = threading.Lock()
        self._log: deque[str] = deque(maxlen=_LOG_LINES)

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def synthesize(self, text: str) -> PcmAudio:
        """Return the sound of a sentence; several callers wait for each other. Raise SpeechError."""
        with self._lock:
            process, folder = self._start()
            try:
                assert process.stdin is not None
                process.stdin.write(" ".join(text.split()) + "\n")
                process.stdin.flush()
                path = self._read_path(process, folder)
            except OSError:
                path = None
            if path is None:
                self._end()
                raise SpeechError("Piper ended unexpectedly.", self._log[-1] if self._log else "")
            data = path.read_bytes()
            path.unlink()
            return read_wav(data)

    def _start(self) -> tuple[subprocess.Popen[str], str]:
        if self._process is not None and self._folder is not None and self.is_running:
            return self._process, self._folder.name
        self._end()
        self._log.clear()
        parent = str(MEMORY_FOLDER) if MEMORY_FOLDER.is_dir() else None
        self._folder = tempfile.TemporaryDirectory(prefix="lethe-speech-", dir=parent)
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the synthesiser that the user installed
                [*self._command, "-d", self._folder.name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
                errors="replace",
            )
        except OSError as error:
            self._end()
            raise SpeechUnavailable(f"Piper cannot be started: {error.strerror}.", INSTALL_ADVICE) from error
        return self._process, self._folder.name

    def _read_path(self, process: subprocess.Popen[str], folder: str) -> Path | None:
        """Return the file that the process has written; None if the process ended without one."""
        assert process.stdout is not None
        pattern = re.compile(rf"{re.escape(folder)}.*?\.wav")
        for line in process.stdout:
            if found := pattern.search(line):
                return Path(found[0])
            self._log.append(line.strip())
        return None

    def close(self) -> None:
        """End the process at once, also while a sentence is synthesised, which then raises SpeechError."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
        with self._lock:
            self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):  # a sentence that was not read any more
                        pipe.close()
            if process.poll() is None:
                process.terminate()
            try:
                process.wait(TERMINATE_TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
