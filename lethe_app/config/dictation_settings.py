"""Settings of dictation: the recognition model, the language, and what happens after a pause."""

from __future__ import annotations

from pydantic import BaseModel

from lethe_app.config.form_field import SettingSection, setting

WHISPER_LANGUAGES = (
    "af|am|ar|as|az|ba|be|bg|bn|bo|br|bs|ca|cs|cy|da|de|el|en|es|et|eu|fa|fi|fo|fr|gl|gu|ha|haw|he|hi|hr|ht|hu|hy|id|is|it"
    "|ja|jw|ka|kk|km|kn|ko|la|lb|ln|lo|lt|lv|mg|mi|mk|ml|mn|mr|ms|mt|my|ne|nl|nn|no|oc|pa|pl|ps|pt|ro|ru|sa|sd|si|sk|sl|sn"
    "|so|sq|sr|su|sv|sw|ta|te|tg|th|tk|tl|tr|tt|uk|ur|uz|vi|yi|yo|yue|zh"
)
"""Languages that multilingual Whisper models know, as ISO 639 codes (“jw” is Whisper's own for Javanese). Source:
`whisper/tokenizer.py` of OpenAI.
"""


class DictationSettings(BaseModel):
    """Settings of dictation."""

    dictation_model: str = setting(
        SettingSection.SPEECH,
        "",
        "Speech recognition model",
        "File of a Whisper model in the ggml format; empty = the largest one in the models folder. The page “Models” has some"
        " for download.",
        is_advanced=True,
    )
    dictation_language: str = setting(
        SettingSection.SPEECH,
        "auto",
        "Language you speak",
        "Language that is recognised; detecting it takes a little longer, and English models understand only English.",
        pattern=f"^(auto|{WHISPER_LANGUAGES})$",
    )
    hands_free: bool = setting(
        SettingSection.SPEECH,
        False,
        "Hands-free dictation",
        "Listen until you switch the microphone off; a pause completes what you say.",
    )
    hands_free_sends: bool = setting(
        SettingSection.SPEECH,
        True,
        "Send after a pause",
        "Send what you said as soon as you pause in hands-free dictation, instead of only writing it into the message box.",
    )
    barge_in: bool = setting(
        SettingSection.SPEECH,
        True,
        "Interrupt by speaking",
        "Stop a spoken reply when you begin to speak, and in hands-free dictation the reply itself. Use headphones, or the"
        " microphone hears the reply.",
    )
    dictation_pause: float = setting(
        SettingSection.SPEECH,
        0.8,
        "Pause after speech",
        "Seconds of silence after which what you said is complete.",
        ge=0.3,
        le=5.0,
        unit="s",
        step=0.1,
        is_advanced=True,
    )
