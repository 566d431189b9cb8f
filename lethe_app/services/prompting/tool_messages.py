"""Storage of tool calls and results in a session, as hidden messages above the reply they were made for."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pydantic import TypeAdapter

from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.prompt import PromptTurn
from lethe_app.domain.tools import ToolCall, ToolResult
from lethe_app.services.stored_values import read_stored

CALLS, RESULT = "calls ", "result "
"""Prefixes of `Message.note` that mark such messages; the call or result follows as JSON."""
MAX_PAIRS, MIN_PAIRS = 15, 8
"""Maximum number of calls with results in a prompt, and the number left after a cut. Several are cut at once, so that the
prompt stays the same for some turns and the KV cache remains valid.
"""
_CALLS = TypeAdapter(list[ToolCall])


def create_tool_messages(
    session: ChatSession, speaker: str, calls: Sequence[ToolCall], results: Sequence[ToolResult]
) -> list[Message]:
    """Return one message with the calls, and one for each result."""
    content = json.dumps(
        [{"id": call.id, "function": {"name": call.name, "arguments": call.arguments}} for call in calls],
        ensure_ascii=False,
        default=str,
    )
    note = CALLS + _CALLS.dump_json(list(calls)).decode()
    call_message = Message(
        session_id=session.guid,
        role=Role.ASSISTANT,
        speaker_name=speaker,
        hidden=True,
        note=note,
        alternatives=[Alternative(content=content)],
    )
    result_messages = [
        Message(
            session_id=session.guid,
            role=Role.TOOL,
            speaker_name=result.call.name,
            hidden=True,
            note=RESULT + result.model_dump_json(),
            alternatives=[Alternative(content=result.text or "Done.")],
        )
        for result in results
    ]
    return [call_message, *result_messages]


def parse_calls(message: Message) -> list[ToolCall]:
    """Return the calls in a hidden message; none if it is of another kind."""
    if not message.hidden or not message.note.startswith(CALLS):
        return []
    return read_stored(_CALLS.validate_json, message.note.removeprefix(CALLS)) or []


def parse_result(message: Message) -> ToolResult | None:
    """Return the result in a tool message; None if it is of another kind."""
    if message.role is not Role.TOOL or not message.note.startswith(RESULT):
        return None
    return read_stored(ToolResult.model_validate_json, message.note.removeprefix(RESULT))


def results_above(messages: Sequence[Message]) -> list[ToolResult]:
    """Return the tool results since the user's newest message; `messages` end above the reply."""
    found: list[ToolResult] = []
    for message in reversed(messages):
        if not message.hidden:
            break
        if (result := parse_result(message)) is not None:
            found.append(result)
    return found[::-1]


def to_tool_turn(message: Message) -> PromptTurn | None:
    """Return a tool message as it is in a prompt; None for a message of another kind."""
    if parse_calls(message):
        return PromptTurn("calls", message.content, message.speaker_name)
    if (result := parse_result(message)) is not None:
        return PromptTurn("tool", message.content, f"{result.call.id} {result.call.name}")
    return None


def limit_tool_pairs(messages: Sequence[Message]) -> list[Message]:
    """Return the messages with only the newest calls and results, and no result without its call."""
    total = sum(len(parse_calls(message)) for message in messages)
    excess = max(0, total - MAX_PAIRS)
    step = MAX_PAIRS - MIN_PAIRS + 1
    calls_to_drop = -(-excess // step) * step
    kept_ids: set[str] = set()
    kept: list[Message] = []
    for message in messages:
        calls, result = parse_calls(message), parse_result(message)
        if calls:
            if calls_to_drop > 0:
                calls_to_drop -= len(calls)
                continue
            kept_ids |= {call.id for call in calls}
        if result is None or result.call.id in kept_ids:
            kept.append(message)
    return kept
