"""Spoken style: the instruction for replies that are read aloud, without thinking.

The instruction stands last, right before the reply: what is before it stays in the KV cache when the style is switched on or
off, and in the next turn only the reply behind it, which is short, is evaluated again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lethe_app.config.settings import Settings
from lethe_app.domain.prompt import NotePlacement, PromptNote, PromptPart
from lethe_app.prompt.builder import PromptRequest
from lethe_app.services.speech.session_speech import SPEECH_KEY, read_mode

INSTRUCTION = (
    "This is a live spoken conversation, and the reply is read aloud. Speak in plain sentences, as one talks, and use fewer"
    " than 40 words. No Markdown, no lists, no headings, no emoji, no asterisks."
)
_NOTE = PromptNote(INSTRUCTION, placement=NotePlacement.LAST, part=PromptPart.STYLE)


def with_spoken_style(
    request: PromptRequest, states: Mapping[str, object], settings: Settings, *, small: bool = False
) -> PromptRequest:
    """Return the request of a session with these states; with the instruction and without thinking if the style is on.

    Small models recite the instruction instead of following it, so they do not get it; markup is not spoken in any case.
    """
    if not read_mode(states.get(SPEECH_KEY), settings).has_spoken_style:
        return request
    notes = request.volatile if small else [_NOTE, *request.volatile]
    return replace(request, volatile=notes, thinking=False)
