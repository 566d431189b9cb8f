"""Detection of tool calls in a streamed reply, in the syntaxes of common model families, so that they are not displayed.

Some families open a call with a marker; others write only a JSON object, or the tool's name and an object, instead of a
reply. Text that may still become a call is held back; calls are parsed when the reply ends.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

from lethe_app.domain.tools import MALFORMED, ToolCall
from lethe_app.prompt.format.chat_template import ChatTemplate
from lethe_app.prompt.format.renderer import Renderer
from lethe_app.prompt.format.tool_call_syntax import read_calls

MARKS = (
    "<tool_call>",
    "<|tool_call|>",
    "<|tool_call>",
    "<tool_calls>",
    "<|tool_calls|>",
    "[TOOL_CALLS]",
    "<|python_tag|>",
    "<function_call>",
    "<functioncall>",
    "<function=",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>",
    "functools[",
    "<|tool_call_start|>",
    "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>",
    "<|START_ACTION|>",
    "<|action_start|>",
    "<|channel|>commentary to=",
    "<start_function_call>",
    "<function_calls>",
    "<TOOLCALL>",
    "<seed:tool_call>",
    "<minimax:tool_call>",
)
"""Opening markers of calls: Hermes, Qwen, Granite, Phi, Mistral, Llama, DeepSeek, LFM, Kimi, Cohere, InternLM, GPT-OSS,
Gemma, Olmo, Nemotron, Seed, MiniMax and derivatives.
"""
RESULTS = ("<tool_response>", "<|tool_response|>", "[TOOL_RESULTS]", "<｜tool▁outputs▁begin｜>", "<|im_start|>", "<|im_end|>")
"""Markers that follow a call only if the model invents the result itself."""
LONGEST = 20_000
"""Maximum characters of held calls; a longer text is no call but a degenerate reply."""
_KEYS = ("name", "function", "tool", "tool_name", "tool_call_id", "type", "id", "arguments", "parameters")
_FENCE = "```"
_KEY = re.compile(r"(?:```(?:json)?\s*)?(?:\[\s*)?\{\s*\"([a-z_]*)(\"?)")
_BEHIND = re.compile(r"\(|\s*(?:<\|constrain\|>)?\s*(?:json)?\s*(?:<\|message\|>|\[ARGS\])?\s*\{")
_BEHINDS = ("(", "{", "[ARGS]{", "<|constrain|>json<|message|>{", "json<|message|>{", "<|message|>{", "json{")
"""Possible text between a tool's name at the start of a reply and its arguments."""


class CallEars:
    """Incremental detector of tool calls. `feed` returns text that is certainly no call; `calls` is filled by `finish`."""

    def __init__(self, names: Collection[str]) -> None:
        """Prepare the detector for the tools with these names."""
        self._names = tuple(names)
        self._spelled = sorted((*names, *(f"functions.{name}" for name in names)), key=len, reverse=True)
        self._held = ""
        self._said = False
        self._in_call = False
        self.calls: list[ToolCall] = []

    @property
    def has_heard(self) -> bool:
        """Return whether generation can be stopped: the model continues after its calls with an invented result, or without
        end.
        """
        return self._in_call and (any(mark in self._held for mark in RESULTS) or len(self._held) > LONGEST)

    def feed(self, text: str) -> str:
        """Return text that is certainly no call; the rest is held back."""
        self._held += text
        if self._in_call:
            return ""
        place = self._opening()
        if place is not None:
            self._in_call = True
            return self._speak(place)
        if not self._said and self._may_be_naked():
            return ""
        return self._speak(len(self._held) - self._unsure())

    def finish(self) -> str:
        """Return held text that is no call, and set `calls`. Calling it again changes nothing."""
        if self.calls:
            return ""
        held, self._held = self._held, ""
        if not self._in_call:
            naked = read_calls(held, self._names) if not self._said and self._looks_naked(held) else []
            if not naked or any(call.name not in self._names for call in naked):
                return held
            self.calls = naked
            return ""
        self.calls = read_calls(held, self._names) or [ToolCall(name=MALFORMED, arguments={"text": held[:300]})]
        return ""

    def _speak(self, length: int) -> str:
        said, self._held = self._held[:length], self._held[length:]
        self._said = self._said or bool(said.strip())
        return said

    def _opening(self) -> int | None:
        places = [place for mark in MARKS if (place := self._held.find(mark)) >= 0]
        return min(places, default=None)

    def _unsure(self) -> int:
        """Return how many characters at the end may be the beginning of a marker."""
        longest = max(map(len, MARKS)) - 1
        for length in range(min(longest, len(self._held)), 0, -1):
            if any(mark.startswith(self._held[-length:]) for mark in MARKS):
                return length
        return 0

    def _may_be_naked(self) -> bool:
        """Return whether the whole reply may be a call without a marker."""
        text = self._held.lstrip()
        if not text:
            return True  # white space at the beginning may stand before it
        return len(text) < LONGEST and (self._looks_naked(text) or self._may_become_naked(text))

    def _looks_naked(self, text: str) -> bool:
        text = text.lstrip()
        key = _KEY.match(text)
        if key:
            return key[1] in _KEYS if key[2] else any(known.startswith(key[1]) for known in _KEYS)
        bare = text.removeprefix("[").lstrip()
        name = next((name for name in self._spelled if bare.startswith(name)), None)
        return name is not None and _BEHIND.match(bare, len(name)) is not None

    def _may_become_naked(self, text: str) -> bool:
        named = text.removeprefix("[").lstrip()
        name = next((name for name in self._spelled if named.startswith(name)), None)
        if name is None and any(one.startswith(named) for one in self._spelled):
            return True
        if name is not None and any(one.startswith("".join(named.removeprefix(name).split())) for one in _BEHINDS):
            return True
        bare = text.removeprefix(f"{_FENCE}json").removeprefix(_FENCE).lstrip() if text.startswith(_FENCE) else text
        begun = f"{_FENCE}json".startswith(text) or not bare
        return begun or not bare.lstrip("[ \n\t") or re.fullmatch(r"(?:\[\s*)?\{\s*", bare) is not None


def equipped(renderer: Renderer, tools: Sequence[dict[str, Any]]) -> Renderer:
    """Return the renderer with these tools enabled in the model's own syntax, or the same renderer if its format has none."""
    if not tools or not isinstance(renderer, ChatTemplate):
        return renderer
    return renderer.with_tools(tools) or renderer


def is_equipped(renderer: Renderer) -> bool:
    """Return whether the model calls tools by itself, in its own syntax."""
    return isinstance(renderer, ChatTemplate) and renderer.probed.manners.tools
