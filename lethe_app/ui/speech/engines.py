"""Speech engines of the program: the voices of the system, and Piper."""

from __future__ import annotations

from lethe_app.services.preferences import Preferences
from lethe_app.services.speech.piper_engine import PiperEngine
from lethe_app.services.speech.voices import SpeechEngine
from lethe_app.ui.speech.sound_process import SoundProcess, SystemVoices


def create_engines(preferences: Preferences) -> list[SpeechEngine]:
    """Return all engines; none starts a process before it is used."""
    sound = SoundProcess()
    return [SystemVoices(sound), PiperEngine(preferences, sound)]
