"""Speech engine of the voice files of Piper, which runs in a process of its own for each voice in use."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from lethe_app.errors import SpeechError, SpeechUnavailable
from lethe_app.services.preferences import Preferences
from lethe_app.services.speech.voices import PIPER_PREFIX, PreparedSentence, SoundOutput, SpokenSentence, Voice
from lethe_app.speech.piper import PiperProcess, PiperVoiceFile, find_piper, find_voice_files

MAX_PROCESSES = 2
"""Voices that are loaded at once: a persona's and the narrator's."""
IDLE_TIMEOUT = 300.0
"""Seconds without a sentence after which the processes are ended; the next sentence loads its voice again."""


class PiperEngine:
    """Engine with the voices of the folder that is chosen in the settings; the sound goes to `output`."""

    prefix = PIPER_PREFIX

    def __init__(self, preferences: Preferences, output: SoundOutput, idle_timeout: float = IDLE_TIMEOUT) -> None:
        self._preferences, self._output, self._idle_timeout = preferences, output, idle_timeout
        self._idle_timer: asyncio.TimerHandle | None = None
        self._processes: dict[tuple[Path, float], PiperProcess] = {}
        self._commands: dict[str, list[str]] = {}
        """Commands found so far by the chosen program."""

    async def list_voices(self) -> Sequence[Voice]:
        """Return the voices of the folder. Raise SpeechUnavailable if there are some but Piper is missing."""
        files = await asyncio.to_thread(self._find_files)
        if files:
            await self._find_command()
        return [Voice(PIPER_PREFIX + file.path.name, file.name, file.language) for file in files]

    async def prepare(self, sentence: SpokenSentence) -> PreparedSentence:
        """Synthesise a sentence. Raise SpeechError."""
        process = await self._process_of(sentence)
        audio = await asyncio.to_thread(process.synthesize, sentence.text)
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        self._idle_timer = asyncio.get_running_loop().call_later(self._idle_timeout, self._end_processes)
        return PreparedSentence(sentence, audio)

    async def play(self, prepared: PreparedSentence) -> None:
        audio, volume = prepared.audio, prepared.sentence.volume
        if audio is not None:
            await self._output.play_samples(audio.samples, audio.sample_rate, audio.channels, volume)

    def stop(self) -> None:
        self._output.stop()

    async def close(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        await self._end_processes()

    def _end_processes(self) -> asyncio.Future[None]:
        """End all processes in a thread, which waits for their end."""
        processes = [*self._processes.values()]
        self._processes.clear()

        def end() -> None:
            for process in processes:
                process.close()

        return asyncio.get_running_loop().run_in_executor(None, end)

    def _find_files(self) -> list[PiperVoiceFile]:
        folder = self._preferences.current.piper_folder
        return find_voice_files(Path(folder)) if folder.strip() else []

    async def _find_command(self) -> list[str]:
        chosen = self._preferences.current.piper_program.strip()
        if chosen not in self._commands:
            self._commands[chosen] = await asyncio.to_thread(find_piper, chosen)
        return self._commands[chosen]

    async def _process_of(self, sentence: SpokenSentence) -> PiperProcess:
        """Return the process of a voice; that of the voice that was used least recently ends if there are too many."""
        command = await self._find_command()
        wanted = sentence.voice_id.removeprefix(PIPER_PREFIX)
        files = await asyncio.to_thread(self._find_files)
        file = next((file for file in files if file.path.name == wanted), None)
        if file is None:
            raise SpeechUnavailable(f"The voice file “{wanted}” is missing.", "Choose another voice in the settings.")
        key = (file.path, sentence.rate)
        process = self._processes.pop(key, None) or PiperProcess(command, file.path, sentence.rate)
        self._processes[key] = process
        while len(self._processes) > MAX_PROCESSES:
            oldest = self._processes.pop(next(iter(self._processes)))
            with suppress(SpeechError):
                await asyncio.to_thread(oldest.close)
        return process
