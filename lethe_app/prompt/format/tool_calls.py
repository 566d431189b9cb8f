"""Detection of tool calls in a streamed reply, in the syntaxes of common model families, so that they are not displayed.

Some families open a call with a marker; others write only a JSON object, or the tool's name and an object, instead of a
reply. Text that may still become a call is held back; calls are parsed when the reply ends.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any

from lethe_app.domain.tools import MALFORMED, ToolCall
from lethe_app.prompt.format.chat_template import ChatTemplate
from lethe_app.prompt.format.renderer import Renderer
from lethe_app.prompt.format.thinking import partial_marker_length

CALL_MARKERS = (
    "<tool_call>", "<|tool_call|>", "<|tool_call>", "<tool_calls>", "<|tool_calls|>", "[TOOL_CALLS]", "<|python_tag|>",
    "<function_call>", "<functioncall>", "<function=", "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "functools[",
    "<|tool_call_start|>", "<|tool_calls_section_begin|>", "<|tool_call_begin|>", "<|START_ACTION|>", "<|action_start|>",
    "<|channel|>commentary to=", "<start_function_call>", "<function_calls>", "<TOOLCALL>", "<seed:tool_call>",
    "<minimax:tool_call>",
)  # fmt: skip
"""Opening markers of calls: Hermes, Qwen, Granite, Phi, Mistral, Llama, DeepSeek, LFM, Kimi, Cohere, InternLM, GPT-OSS,
Gemma, Olmo, Nemotron, Seed, MiniMax and derivatives.
"""
RESULT_MARKERS = (
    "<tool_response>", "<|tool_response|>", "[TOOL_RESULTS]", "<｜tool▁outputs▁begin｜>", "<|im_start|>", "<|im_end|>",
)  # fmt: skip
"""Markers that follow a call only if the model invents the result itself."""
MAX_CALL_LENGTH = 20_000
"""Maximum characters of held calls; a longer text is no call but a degenerate reply."""
_KEYS = ("name", "function", "tool", "tool_name", "tool_call_id", "type", "id", "arguments", "parameters")
_FENCE = "```"
_KEY = re.compile(r"(?:```(?:json)?\s*)?(?:\[\s*)?\{\s*\"([a-z_]*)(\"?)")
_ARGUMENTS_START = re.compile(r"\(|\s*(?:<\|constrain\|>)?\s*(?:json)?\s*(?:<\|message\|>|\[ARGS\])?\s*\{")
_ARGUMENT_STARTS = ("(", "{", "[ARGS]{", "<|constrain|>json<|message|>{", "json<|message|>{", "<|message|>{", "json{")
"""Possible text between a tool's name at the start of a reply and its arguments."""
MAX_FAILURES = 60
"""Maximum brackets at which parsing fails before the rest counts as noise; it bounds the time for degenerate replies."""
_XML = re.compile(r"<(?:function=([\w.-]+)|invoke name=\"([\w.-]+)\")>(.*?)(?:</function>|</invoke>|$)", re.DOTALL)
_XML_PARAMETER = re.compile(r"<parameter(?:=([\w.-]+)| name=\"([\w.-]+)\")>\n?(.*?)\n?</parameter>", re.DOTALL)
_PAIR = re.compile(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
_PAIRED = re.compile(rf"<tool_call>\s*([\w.-]+)\s*((?:{_PAIR.pattern}\s*)*)(?=<|$)", re.DOTALL)
_BARE = re.compile(r"\bcall:([\w.-]+)\{((?:[^{}]|\{[^{}]*\})*)\}")
_QUOTE = re.compile(r"<escape>|<\|\"\|>")
_AFTER_NAME = re.compile(r"(?::\d+)?(?:\s|json\b|```|<[^<>]*>|\[CALL_ID\]\w+|\[[A-Z_]+\])*")
_NAMED = re.compile(r"[A-Za-z_][\w.-]*")
_PREFIX, _COUNTED = "functions.", re.compile(r":\d+$")
_BRACKET, _CALLED = re.compile(r"[\[{]"), re.compile(r"\b([a-z_]\w*)(?:\.call)?\(")
_CLOSING = re.compile(r"\)")
# Not strict, because models write raw line breaks inside JSON strings.
_DECODER = json.JSONDecoder(strict=False)


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
    return (renderer.with_tools(tools) if tools and isinstance(renderer, ChatTemplate) else None) or renderer


def has_native_tools(renderer: Renderer) -> bool:
    """Return whether the model calls tools by itself, in its own syntax."""
    return isinstance(renderer, ChatTemplate) and renderer.probed.constraints.tools


def parse_calls(text: str, names: Collection[str]) -> list[ToolCall]:
    """Return all calls in a text, in order; `names` are the available tools. The first syntax that yields a call is used."""
    found = [
        call
        for family in (_parse_glm, _parse_xml, _parse_json, _parse_gemma, _parse_python, _parse_lenient)
        if (call := list(family(text, names)))
    ]
    return [call.model_copy(update={"name": match_tool_name(call.name, names)}) for call in found[0]] if found else []


def match_tool_name(name: str, names: Collection[str]) -> str:
    """Return the tool meant by a name with the prefixes and suffixes that some models add; the name itself if there is none."""
    plain = _COUNTED.sub("", name.strip().removeprefix(_PREFIX))
    return next((one for one in names if one.casefold() == plain.casefold()), name)


def _parse_glm(text: str, _names: Collection[str]) -> Iterator[ToolCall]:
    """Parse GLM: the name, then keys and values in tags, or the name alone."""
    for found in _PAIRED.finditer(text):
        yield ToolCall(name=found[1], arguments={key.strip(): _parse_value(value) for key, value in _PAIR.findall(found[2])})


def _parse_xml(text: str, _names: Collection[str]) -> Iterator[ToolCall]:
    """Parse Qwen Coder, Llama, Seed and MiniMax."""
    for name, invoked, body in _XML.findall(text):
        pairs = _XML_PARAMETER.findall(body)
        arguments = {key or named: _parse_value(value) for key, named, value in pairs} if pairs else _parse_object(body.strip())
        yield ToolCall(name=name or invoked, arguments=arguments)


def _parse_json(text: str, names: Collection[str]) -> Iterator[ToolCall]:
    """Parse the most common form: an object that names its tool, or an object preceded by the name."""
    for before, value in _find_values(text):
        yield from _extract_calls(value, before, names)


def _parse_gemma(text: str, _names: Collection[str]) -> Iterator[ToolCall]:
    """Parse Gemma: `call:name{key:<escape>words<escape>}`."""
    for name, body in _BARE.findall(text):
        parts = _QUOTE.split(body)
        spelled = "".join(
            json.dumps(part) if index % 2 else re.sub(r"([\w.-]+)\s*:", r'"\1":', part) for index, part in enumerate(parts)
        )
        yield ToolCall(name=name, arguments=_parse_object(f"{{{spelled}}}"))


def _parse_python(text: str, names: Collection[str]) -> Iterator[ToolCall]:
    """Parse Llama, LFM and Olmo: `name(key="value")`."""
    position = 0
    while (found := _CALLED.search(text, position)) is not None:
        position = found.end()
        if found[1] not in names:
            continue
        for end in islice(_CLOSING.finditer(text, position), MAX_FAILURES):  # a bracket may stand in a text
            arguments = _parse_keywords(text[found.end() - 1 : end.end()])
            if arguments is not None:
                yield ToolCall(name=found[1], arguments=arguments)
                position = end.end()
                break


def _parse_keywords(brackets: str) -> dict[str, Any] | None:
    try:
        # Only parsed, and literals evaluated: the text comes from the model and must never be executed.
        node = ast.parse(f"f{brackets}", mode="eval").body
        if isinstance(node, ast.Call):
            return {word.arg: ast.literal_eval(word.value) for word in node.keywords if word.arg}
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    return None


def _parse_lenient(text: str, names: Collection[str]) -> Iterator[ToolCall]:
    """Parse JSON with typical mistakes of small models: other quotes, trailing commas, missing closing brackets."""
    start, end = text.find("{"), text.rfind("}") + 1
    if start < 0:
        return
    json_text = text[start : end or len(text)]
    without_commas = re.sub(r",\s*([}\]])", r"\1", json_text)
    for attempt in (without_commas, f"{without_commas}}}", f"{without_commas}}}}}"):
        if (value := _parse_object(attempt) or _parse_literal(attempt)) and (
            calls := _extract_calls(value, text[:start], names)
        ):
            yield from calls
            return


def _parse_literal(text: str) -> dict[str, Any]:
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _find_values(text: str) -> Iterator[tuple[str, object]]:
    """Yield every JSON object or list in a text with the text before it."""
    position, previous_end, failures = 0, 0, 0
    while failures < MAX_FAILURES and (found := _BRACKET.search(text, position)) is not None:
        start = found.start()
        try:
            value, position = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            position, failures = start + 1, failures + 1
            continue
        yield text[previous_end:start], value
        previous_end = position


def _extract_calls(value: object, before: str, names: Collection[str]) -> list[ToolCall]:
    if isinstance(value, list):
        return [call for one in value for call in _extract_calls(one, "", names)]
    if not isinstance(value, dict):
        return []
    if isinstance(inner := value.get("function"), dict):
        value = inner
    name = next((str(value[key]) for key in ("name", "function", "tool_name", "tool") if isinstance(value.get(key), str)), "")
    has_arguments = any(key in value for key in ("arguments", "parameters", "args"))
    if not name or (match_tool_name(name, names) not in names and not has_arguments):
        named = _name_before(before, names)
        return [ToolCall(name=named, arguments=value)] if named else []
    given = [value[key] for key in ("arguments", "parameters", "args", "input") if key in value]
    return [ToolCall(name=name, arguments=_parse_object(given[0] if given else {}))]


def _name_before(before: str, names: Collection[str]) -> str:
    """Return the tool whose name is the last word before an object, apart from markup; empty if there is none."""
    for found in reversed(list(_NAMED.finditer(before[-200:]))):
        name = match_tool_name(found[0], names)
        if name in names:
            return name if _AFTER_NAME.fullmatch(before[-200:], found.end()) else ""
    return ""


def _parse_object(given: object) -> dict[str, Any]:
    if isinstance(given, str):
        try:
            given = json.loads(given, strict=False)
        except (ValueError, RecursionError):
            return {}
    return given if isinstance(given, dict) else {}


def _parse_value(text: str) -> object:
    """Return the text as a number, boolean or list if it is spelled like one, else unchanged."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, int | float | bool | list) else text
