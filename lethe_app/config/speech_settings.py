"""Settings of speech and dictation; a base class of `Settings`."""

from __future__ import annotations

from pydantic import BaseModel

from lethe_app.config.form_field import SettingSection, declare_section
from lethe_app.config.options import SpokenActions

# Functions that declare a setting of the section, and one among its advanced settings.
speech, advanced_speech = declare_section(SettingSection.SPEECH)

_LANGUAGES = (
    "af|am|ar|as|az|ba|be|bg|bn|bo|br|bs|ca|cs|cy|da|de|el|en|es|et|eu|fa|fi|fo|fr|gl|gu|ha|haw|he|hi|hr|ht|hu|hy|id|is|it",
    "ja|jw|ka|kk|km|kn|ko|la|lb|ln|lo|lt|lv|mg|mi|mk|ml|mn|mr|ms|mt|my|ne|nl|nn|no|oc|pa|pl|ps|pt|ro|ru|sa|sd|si|sk|sl|sn",
    "so|sq|sr|su|sv|sw|ta|te|tg|th|tk|tl|tr|tt|uk|ur|uz|vi|yi|yo|yue|zh",
)
"""Languages that multilingual Whisper models know, as ISO 639 codes (“jw” is Whisper's own for Javanese). Source:
`whisper/tokenizer.py` of OpenAI.
"""


class SpeechSettings(BaseModel):
    """Settings of spoken replies and of dictation."""

    speak_replies: bool = speech(
        False,
        "Speak replies",
        "Read replies aloud while they are written; each conversation can be switched on and off by its loudspeaker button.",
    )
    speech_voice: str = speech("", "Voice", "Voice of personas that have none of their own.")
    speech_rate: float = speech(
        1.0, "Speaking rate", "Speed of the voices in percent of their normal one.", ge=0.5, le=2.0, unit="%"
    )
    speech_volume: float = advanced_speech(1.0, "Speech volume", "Loudness of the voices.", ge=0.0, le=1.0, unit="%")
    spoken_actions: SpokenActions = advanced_speech(
        SpokenActions.LEAVE_OUT,
        "Actions between asterisks",
        "Leave actions out when a reply is read aloud, or have the narrator read them.",
    )
    narrator_voice: str = advanced_speech("", "Narrator voice", "Voice that reads actions between asterisks.")
    spoken_style: bool = advanced_speech(
        True,
        "Spoken style while speaking",
        "Ask models of a billion parameters and more for short, plain sentences without Markdown, and skip thinking, in"
        " conversations that are read aloud.",
    )
    piper_folder: str = advanced_speech(
        "",
        "Piper voice folder",
        "Folder with Piper voices, .onnx files with their .onnx.json; Piper itself comes with “pipx install piper-tts”.",
    )
    piper_program: str = advanced_speech(
        "", "Piper program", "Program that synthesises Piper voices; leave empty to use the one that is installed."
    )

    # Dictation
    dictation_model: str = advanced_speech(
        "",
        "Speech recognition model",
        "File of a Whisper model in the ggml format; empty = the largest one in the models folder. The page “Models” has some"
        " for download.",
    )
    dictation_language: str = speech(
        "auto",
        "Language you speak",
        "Language that is recognised; detecting it takes a little longer, and English models understand only English.",
        pattern=f"^(auto|{'|'.join(_LANGUAGES)})$",
    )
    hands_free: bool = speech(
        False, "Hands-free dictation", "Listen until you switch the microphone off; a pause completes what you say."
    )
    hands_free_sends: bool = speech(
        True,
        "Send after a pause",
        "Send what you said as soon as you pause in hands-free dictation, instead of only writing it into the message box.",
    )
    barge_in: bool = speech(
        True,
        "Interrupt by speaking",
        "Stop a spoken reply when you begin to speak, and in hands-free dictation the reply itself. Use headphones, or the"
        " microphone hears the reply.",
    )
    dictation_pause: float = advanced_speech(
        0.8,
        "Pause after speech",
        "Seconds of silence after which what you said is complete.",
        ge=0.3,
        le=5.0,
        unit="s",
        step=0.1,
    )
