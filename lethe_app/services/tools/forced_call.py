"""Tool calls for models without native support: if the user's message makes a tool likely, the model chooses it and fills in
its arguments by structured output.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from pydantic import Field, ValidationError, create_model

from lethe_app.brain.llm_schemas.archive import LlmAnswer
from lethe_app.domain.clock import now
from lethe_app.domain.tools import Tool, ToolCall
from lethe_app.errors import ModelError

T = TypeVar("T", bound=LlmAnswer)
NO_TOOL = "none"
MAX_OFFERED_TOOLS = 4
MAX_MESSAGE_CHARACTERS = 1500


class AnswerModel(Protocol):
    """Interface that sends task prompts to the model."""

    async def ask(self, task_prompt: str, answer: type[T], **values: str) -> T: ...


class _ToolArguments(LlmAnswer):
    """Arguments of one tool."""

    max_tokens: ClassVar[int] = 220


def find_likely_tools(tools: Sequence[Tool], text: str) -> list[Tool]:
    """Return the tools whose hint matches the message, mostly none."""
    words = " ".join(text.split())[:MAX_MESSAGE_CHARACTERS]
    return [tool for tool in tools if tool.hint and re.search(tool.hint, words, re.IGNORECASE)][:MAX_OFFERED_TOOLS]


async def decide_call(task_model: AnswerModel, tools: Sequence[Tool], user: str, persona: str, message: str) -> ToolCall | None:
    """Return the call the model wants to make before it answers `message`; None if it wants none or gives no usable answer."""
    placeholders = {"user": user, "persona": persona, "message": message[:MAX_MESSAGE_CHARACTERS]}
    try:
        name = await _choose_tool(task_model, tools, placeholders)
        tool = next((candidate for candidate in tools if candidate.name == name), None)
        if tool is None:
            return None
        if not tool.arguments.model_fields:
            return ToolCall(name=name)
        field_items = tool.arguments.model_fields.items()
        fields = "\n".join(f"- {name}: {field_info.description or 'in words'}" for name, field_info in field_items)
        today = f"{now().astimezone():%A %Y-%m-%d}"
        tool_placeholders = {"tool": tool.name, "description": tool.description, "fields": fields, "today": today}
        answer = await task_model.ask("tools_fill", build_answer_class(tool), **placeholders, **tool_placeholders)
    except (ModelError, ValidationError):  # no usable answer: the reply is generated without a tool
        return None
    return ToolCall(name=tool.name, arguments=json.loads(answer.model_dump_json(exclude_defaults=True)))


async def _choose_tool(task_model: AnswerModel, tools: Sequence[Tool], placeholders: dict[str, str]) -> str:
    names = [*(tool.name for tool in tools), NO_TOOL]
    tool_list = "\n".join(f"- {tool.name}: {tool.description}" for tool in tools)
    choices: Any = Literal[tuple(names)]
    choice = create_model("Tool", __base__=LlmAnswer, tool=(choices, ...))
    answer = await task_model.ask("tools_choose", choice, tools=tool_list, **placeholders)
    return str(answer.tool)  # type: ignore[attr-defined]  # the field was just made


def build_answer_class(tool: Tool) -> type[LlmAnswer]:
    """Return an answer class with the fields of a tool's arguments. All fields are required, so that the model omits none."""
    fields: dict[str, Any] = {
        name: (field.annotation, _require_field(field)) for name, field in tool.arguments.model_fields.items()
    }
    return create_model("Arguments", __base__=_ToolArguments, **fields)


def _require_field(field: Any) -> Any:  # noqa: ANN401 - pydantic's own type has no useful name
    if field.is_required():
        return Field(..., description=field.description)
    return Field(default=field.get_default(call_default_factory=True), description=field.description)
