"""Hears in a growing reply where the model asks for a tool, in the spellings of common families, and keeps it off the screen.

Some families open a call with a mark; others write nothing but a JSON object, or the tool's name and an object, in the place of
a reply. Whatever might still become one of these is held back; what has become one is taken apart when the reply ends.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from lethe_app.domain.tools import MALFORMED, ToolCall
from lethe_app.prompt.renderer import Renderer
from lethe_app.prompt.template import ChatTemplate

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
)
"""What opens a call: Hermes, Qwen, Granite, Phi, Mistral, Llama, DeepSeek and kin."""
RESULTS = ("<tool_response>", "<|tool_response|>", "[TOOL_RESULTS]", "<｜tool▁outputs▁begin｜>", "<|im_start|>", "<|im_end|>")
"""What a model writes behind a call only when it makes up the result itself."""
LONGEST = 20_000
"""Characters of calls that are held back; behind that it is no call but a model that lost its thread."""
_KEYS = ("name", "function", "tool", "tool_name", "type", "id", "arguments", "parameters")
_FENCE = "```"
_KEY = re.compile(r"(?:```(?:json)?\s*)?(?:\[\s*)?\{\s*\"([a-z_]*)(\"?)")
_XML = re.compile(r"<function=([\w.-]+)>(.*?)(?:</function>|$)", re.DOTALL)
_XML_PARAMETER = re.compile(r"<parameter=([\w.-]+)>\n?(.*?)\n?</parameter>", re.DOTALL)
_PAIRS = re.compile(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
_BEFORE_PAIRS = re.compile(r"<tool_call>\s*([\w.-]+)\s*<arg_key>")
_NAMED = re.compile(r"([A-Za-z_][\w.-]*)\s*(?:\[CALL_ID\]\w+)?(?:\[ARGS\])?\s*(?:```json)?\s*$")
_DECODER = json.JSONDecoder(strict=False)


class CallEars:
    """Feed it what is said, in any pieces; it gives back what is certainly speech."""

    def __init__(self, names: Collection[str]) -> None:
        """`names` of the tools there are."""
        self._names = tuple(names)
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
        return any(re.match(rf"{re.escape(name)}\s*(?:\[ARGS\])?\s*\{{", text) for name in self._names)

    def _may_become_naked(self, text: str) -> bool:
        if any(name.startswith(text) for name in self._names):
            return True
        called = next((name for name in self._names if text.startswith(name)), None)
        if called is not None and "[ARGS]{".startswith(text.removeprefix(called).strip()):
            return True
        bare = text.removeprefix(f"{_FENCE}json").removeprefix(_FENCE).lstrip() if text.startswith(_FENCE) else text
        begun = f"{_FENCE}json".startswith(text) or not bare
        return begun or not bare.lstrip("[ \n\t") or re.fullmatch(r"(?:\[\s*)?\{\s*", bare) is not None


def read_calls(text: str, names: Collection[str]) -> list[ToolCall]:
    """Every call that is spelled in a text, in order."""
    if pairs := _PAIRS.findall(text):
        name = _BEFORE_PAIRS.search(text)
        return [ToolCall(name=name[1], arguments={key.strip(): _value(value) for key, value in pairs})] if name else []
    if spelled := _XML.findall(text):
        return [ToolCall(name=name, arguments=_spelled(body)) for name, body in spelled]
    found = [call for before, value in _values(text) for call in _calls_in(value, before, names)]
    return found or list(_python(text, names))


def equipped(renderer: Renderer, tools: Sequence[dict[str, Any]]) -> Renderer:
    """The renderer telling of these tools in the model's own way; the same one where it knows none."""
    if not tools or not isinstance(renderer, ChatTemplate):
        return renderer
    return renderer.with_tools(tools) or renderer


def is_equipped(renderer: Renderer) -> bool:
    """Does the model ask for tools by itself?"""
    return isinstance(renderer, ChatTemplate) and renderer.probed.manners.tools


def _values(text: str) -> Iterator[tuple[str, object]]:
    """Every JSON object or list in a text, with what stands before it."""
    place, last = 0, 0
    while (found := re.search(r"[\[{]", text[place:])) is not None:
        start = place + found.start()
        try:
            value, place = _DECODER.raw_decode(text, start)
        except ValueError:
            place = start + 1
            continue
        yield text[last:start], value
        last = place


def _calls_in(value: object, before: str, names: Collection[str]) -> list[ToolCall]:
    if isinstance(value, list):
        return [call for one in value for call in _calls_in(one, "", names)]
    if not isinstance(value, dict):
        return []
    if isinstance(inner := value.get("function"), dict):
        value = inner
    name = next((str(value[key]) for key in ("name", "function", "tool_name", "tool") if isinstance(value.get(key), str)), "")
    if not name or (name not in names and not any(key in value for key in ("arguments", "parameters", "args"))):
        named = _NAMED.search(before)
        return [ToolCall(name=named[1], arguments=value)] if named and named[1] in names else []
    given = [value[key] for key in ("arguments", "parameters", "args", "input") if key in value]
    return [ToolCall(name=name, arguments=_object(given[0] if given else {}))]


def _object(given: object) -> dict[str, Any]:
    if isinstance(given, str):
        try:
            given = json.loads(given, strict=False)
        except ValueError:
            return {}
    return given if isinstance(given, dict) else {}


def _spelled(body: str) -> dict[str, Any]:
    if pairs := _XML_PARAMETER.findall(body):
        return {key: _value(value) for key, value in pairs}
    return _object(body.strip())


def _value(text: str) -> object:
    """A number, a truth or a list where it is spelled like one; else the words themselves."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, int | float | bool | list) else text


def _python(text: str, names: Collection[str]) -> Iterator[ToolCall]:
    """`name(key="value")`, as some write behind their mark."""
    for found in re.finditer(r"\b([a-z_]\w*)(?:\.call)?(\([^()]*\))", text):
        if found[1] not in names:
            continue
        try:
            node = ast.parse(f"f{found[2]}", mode="eval").body
            assert isinstance(node, ast.Call)
            yield ToolCall(
                name=found[1],
                arguments={word.arg: ast.literal_eval(word.value) for word in node.keywords if word.arg},
            )
        except (SyntaxError, ValueError):
            continue
