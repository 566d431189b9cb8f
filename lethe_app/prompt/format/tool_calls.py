"""Hears in a growing reply where the model asks for a tool, in the spellings of common families, and keeps it off the screen.

Some families open a call with a mark; others write nothing but a JSON object, or the tool's name and an object, in the place of
a reply. Whatever might still become one of these is held back; what has become one is taken apart when the reply ends.
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
"""What opens a call: Hermes, Qwen, Granite, Phi, Mistral, Llama, DeepSeek, LFM, Kimi, Cohere, InternLM, GPT-OSS, Gemma, Olmo,
Nemotron, Seed, MiniMax and kin."""
RESULTS = ("<tool_response>", "<|tool_response|>", "[TOOL_RESULTS]", "<｜tool▁outputs▁begin｜>", "<|im_start|>", "<|im_end|>")
"""What a model writes behind a call only when it makes up the result itself."""
LONGEST = 20_000
"""Characters of calls that are held back; behind that it is no call but a model that lost its thread."""
_KEYS = ("name", "function", "tool", "tool_name", "tool_call_id", "type", "id", "arguments", "parameters")
_FENCE = "```"
_KEY = re.compile(r"(?:```(?:json)?\s*)?(?:\[\s*)?\{\s*\"([a-z_]*)(\"?)")
_BEHIND = re.compile(r"\(|\s*(?:<\|constrain\|>)?\s*(?:json)?\s*(?:<\|message\|>|\[ARGS\])?\s*\{")
_BEHINDS = ("(", "{", "[ARGS]{", "<|constrain|>json<|message|>{", "json<|message|>{", "<|message|>{", "json{")
"""What stands between a tool's name that opens a reply and its arguments."""


class CallEars:
    """Feed it what is said, in any pieces; it gives back what is certainly speech."""

    def __init__(self, names: Collection[str]) -> None:
        """`names` of the tools there are."""
        self._names = tuple(names)
        self._spelled = sorted((*names, *(f"functions.{name}" for name in names)), key=len, reverse=True)
        self._held = ""
        self._said = False
        self._in_call = False
        self.calls: list[ToolCall] = []

    @property
    def has_heard(self) -> bool:
        """Is it certain by now that nothing more is to be waited for: calls are whole, and the model goes on behind them?"""
        return self._in_call and (any(mark in self._held for mark in RESULTS) or len(self._held) > LONGEST)

    def feed(self, text: str) -> str:
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
        """What was held back and is no call; `calls` are known from now on, and a second time changes nothing."""
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
        """Letters at the end that may be the beginning of a mark."""
        longest = max(map(len, MARKS)) - 1
        for length in range(min(longest, len(self._held)), 0, -1):
            if any(mark.startswith(self._held[-length:]) for mark in MARKS):
                return length
        return 0

    def _may_be_naked(self) -> bool:
        """May the whole reply be one call without a mark?"""
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
    """The renderer telling of these tools in the model's own way; the same one where it knows none."""
    if not tools or not isinstance(renderer, ChatTemplate):
        return renderer
    return renderer.with_tools(tools) or renderer


def is_equipped(renderer: Renderer) -> bool:
    """Does the model ask for tools by itself?"""
    return isinstance(renderer, ChatTemplate) and renderer.probed.manners.tools
