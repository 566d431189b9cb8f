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
from lethe_app.prompt.format.thinking import partial_marker_length
from lethe_app.prompt.format.tool_call_syntax import parse_calls

CALL_MARKERS = (
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
RESULT_MARKERS = (
    "<tool_response>",
    "<|tool_response|>",
    "[TOOL_RESULTS]",
    "<｜tool▁outputs▁begin｜>",
    "<|im_start|>",
    "<|im_end|>",
)
"""Markers that follow a call only if the model invents the result itself."""
MAX_CALL_LENGTH = 20_000
"""Maximum characters of held calls; a longer text is no call but a degenerate reply."""
_KEYS = ("name", "function", "tool", "tool_name", "tool_call_id", "type", "id", "arguments", "parameters")
_FENCE = "```"
_KEY = re.compile(r"(?:```(?:json)?\s*)?(?:\[\s*)?\{\s*\"([a-z_]*)(\"?)")
_ARGUMENTS_START = re.compile(r"\(|\s*(?:<\|constrain\|>)?\s*(?:json)?\s*(?:<\|message\|>|\[ARGS\])?\s*\{")
_ARGUMENT_STARTS = ("(", "{", "[ARGS]{", "<|constrain|>json<|message|>{", "json<|message|>{", "<|message|>{", "json{")
"""Possible text between a tool's name at the start of a reply and its arguments."""


class ToolCallDetector:
    """Incremental detector of tool calls. `feed` returns text that is certainly no call; `calls` is filled by `finish`."""

    def __init__(self, names: Collection[str]) -> None:
        """Prepare the detector for the tools with these names."""
        self._names = tuple(names)
        self._spellings = sorted((*names, *(f"functions.{name}" for name in names)), key=len, reverse=True)
        self._buffer = ""
        self._has_text = False
        self._in_call = False
        self.calls: list[ToolCall] = []

    @property
    def can_stop(self) -> bool:
        """Return whether generation can be stopped: the model continues after its calls with an invented result, or without
        end.
        """
        return self._in_call and (
            any(marker in self._buffer for marker in RESULT_MARKERS) or len(self._buffer) > MAX_CALL_LENGTH
        )

    def feed(self, text: str) -> str:
        """Return text that is certainly no call; the rest is held back."""
        self._buffer += text
        if self._in_call:
            return ""
        marker_start = self._find_marker()
        if marker_start is not None:
            self._in_call = True
            return self._release(marker_start)
        if not self._has_text and self._can_be_bare_call():
            return ""
        return self._release(len(self._buffer) - partial_marker_length(self._buffer, CALL_MARKERS))

    def finish(self) -> str:
        """Return held text that is no call, and set `calls`. Calling it again changes nothing."""
        if self.calls:
            return ""
        remaining, self._buffer = self._buffer, ""
        if not self._in_call:
            bare_calls = (
                parse_calls(remaining, self._names) if not self._has_text and self._has_bare_call_form(remaining) else []
            )
            if not bare_calls or any(call.name not in self._names for call in bare_calls):
                return remaining
            self.calls = bare_calls
            return ""
        self.calls = parse_calls(remaining, self._names) or [ToolCall(name=MALFORMED, arguments={"text": remaining[:300]})]
        return ""

    def _release(self, length: int) -> str:
        text, self._buffer = self._buffer[:length], self._buffer[length:]
        self._has_text = self._has_text or bool(text.strip())
        return text

    def _find_marker(self) -> int | None:
        positions = [position for marker in CALL_MARKERS if (position := self._buffer.find(marker)) >= 0]
        return min(positions, default=None)

    def _can_be_bare_call(self) -> bool:
        """Return whether the whole reply may be a call without a marker."""
        text = self._buffer.lstrip()
        if not text:
            return True  # white space at the beginning may stand before it
        return len(text) < MAX_CALL_LENGTH and (self._has_bare_call_form(text) or self._can_become_bare_call(text))

    def _has_bare_call_form(self, text: str) -> bool:
        text = text.lstrip()
        key = _KEY.match(text)
        if key:
            return key[1] in _KEYS if key[2] else any(known.startswith(key[1]) for known in _KEYS)
        call = text.removeprefix("[").lstrip()
        name = next((name for name in self._spellings if call.startswith(name)), None)
        return name is not None and _ARGUMENTS_START.match(call, len(name)) is not None

    def _can_become_bare_call(self, text: str) -> bool:
        call = text.removeprefix("[").lstrip()
        name = next((name for name in self._spellings if call.startswith(name)), None)
        if name is None and any(one.startswith(call) for one in self._spellings):
            return True
        if name is not None and any(one.startswith("".join(call.removeprefix(name).split())) for one in _ARGUMENT_STARTS):
            return True
        content = text.removeprefix(f"{_FENCE}json").removeprefix(_FENCE).lstrip() if text.startswith(_FENCE) else text
        is_fence_only = f"{_FENCE}json".startswith(text) or not content
        return is_fence_only or not content.lstrip("[ \n\t") or re.fullmatch(r"(?:\[\s*)?\{\s*", content) is not None


def with_tools(renderer: Renderer, tools: Sequence[dict[str, Any]]) -> Renderer:
    """Return the renderer with these tools enabled in the model's own syntax, or the same renderer if its format has none."""
    if not tools or not isinstance(renderer, ChatTemplate):
        return renderer
    return renderer.with_tools(tools) or renderer


def has_native_tools(renderer: Renderer) -> bool:
    """Return whether the model calls tools by itself, in its own syntax."""
    return isinstance(renderer, ChatTemplate) and renderer.probed.constraints.tools
