"""Settings of speech; a base class of `Settings`."""

from __future__ import annotations

from pydantic import BaseModel

from lethe_app.config.form_field import SettingSection, setting
from lethe_app.config.options import SpokenActions


class SpeechSettings(BaseModel):
    """Settings of spoken replies."""

    speak_replies: bool = setting(
        SettingSection.SPEECH,
        False,
        "Speak replies",
        "Read replies aloud while they are written; each conversation can be switched on and off by its loudspeaker button.",
    )
    speech_voice: str = setting(
        SettingSection.SPEECH,
        "",
        "Voice",
        "Voice of personas that have none of their own.",
    )
    speech_rate: float = setting(
        SettingSection.SPEECH,
        1.0,
        "Speaking rate",
        "Speed of the voices in percent of their normal one.",
        ge=0.5,
        le=2.0,
        unit="%",
    )
    speech_volume: float = setting(
        SettingSection.SPEECH, 1.0, "Speech volume", "Loudness of the voices.", ge=0.0, le=1.0, unit="%", is_advanced=True
    )
    spoken_actions: SpokenActions = setting(
        SettingSection.SPEECH,
        SpokenActions.LEAVE_OUT,
        "Actions between asterisks",
        "Leave actions out when a reply is read aloud, or have the narrator read them.",
        is_advanced=True,
    )
    narrator_voice: str = setting(
        SettingSection.SPEECH, "", "Narrator voice", "Voice that reads actions between asterisks.", is_advanced=True
    )
    spoken_style: bool = setting(
        SettingSection.SPEECH,
        True,
        "Spoken style while speaking",
        "Ask models of a billion parameters and more for short, plain sentences without Markdown, and skip thinking, in"
        " conversations that are read aloud.",
        is_advanced=True,
    )
    piper_folder: str = setting(
        SettingSection.SPEECH,
        "",
        "Piper voice folder",
        "Folder with Piper voices, .onnx files with their .onnx.json; Piper itself comes with “pipx install piper-tts”.",
        is_advanced=True,
    )
    piper_program: str = setting(
        SettingSection.SPEECH,
        "",
        "Piper program",
        "Program that synthesises Piper voices; leave empty to use the one that is installed.",
        is_advanced=True,
    )
