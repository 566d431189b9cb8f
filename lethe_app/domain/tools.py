"""Tools: declarations, calls and results of the functions that a model may call during a reply."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid4

from pydantic import AwareDatetime, BaseModel, Field

from lethe_app.domain.clock import now

MALFORMED = ""
"""Name of a call that could not be parsed."""


def _short_id() -> str:
    return uuid4().hex[:9]  # the templates of one family of models accept nine letters or digits only


class ToolCall(BaseModel, frozen=True):
    """Tool call of a model."""

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    id: str = Field(default_factory=_short_id)

    @property
    def key(self) -> str:
        """Return a key that is equal for calls of the same tool with the same arguments."""
        return f"{self.name} {json.dumps(self.arguments, sort_keys=True, ensure_ascii=False, default=str)}"


class CallOutcome(StrEnum):
    """Outcome of a tool call."""

    DONE = "done"
    REFUSED = "refused"
    """The user denied permission."""
    FAILED = "failed"


class ToolResult(BaseModel, frozen=True):
    """Result of a tool call, for the model and for the user."""

    call: ToolCall
    text: str
    """Text for the model."""
    shown: str = ""
    """A few words for the user: “kept a memory”."""
    outcome: CallOutcome = CallOutcome.DONE


class PermissionAnswer(StrEnum):
    """The user's answer to a permission request."""

    ALLOW = "allow"
    NOT_NOW = "not now"
    ALWAYS = "always"
    """Allow it from now on in this session."""


@dataclass(frozen=True)
class ToolContext:
    """Context in which a tool is called."""

    persona_id: str
    persona: str
    """Name of the persona."""
    user: str
    session_id: UUID
    turn: str
    """Id of the turn; the same for all alternatives of a reply."""
    number: int = 0
    """Number of equal calls made before in this alternative."""


@dataclass(frozen=True)
class ToolOutput:
    """Return value of a tool."""

    text: str
    shown: str
    is_limited: bool = False
    """True if the tool itself limited the length of the text, so that it is neither truncated nor moved to working memory."""


Run = Callable[[ToolContext, Any], Awaitable[ToolOutput]]
"""Function that executes a tool. It receives the arguments as an instance of the tool's arguments class. It raises
LetheError with a message that the model may read.
"""


About = Callable[[ToolContext, Any], Awaitable[str]]


@dataclass(frozen=True)
class Tool:
    """Tool that a model can call."""

    name: str
    """Lower-case letters and underscores, with the name of its set as prefix: `memory_save`."""
    title: str
    """Verb phrase for the permission request: “delete a memory”."""
    description: str
    """Description for the model: what the tool does and when to use it."""
    arguments: type[BaseModel]
    run: Run
    asks: bool = False
    """True if the user must permit every call."""
    changes: bool = False
    """True if the tool has side effects, so that it is not executed again for another alternative of the same reply."""
    every_time: bool = False
    """True if equal calls in one reply must each be executed."""
    about: About | None = None
    """Returns a readable explanation shown beside the arguments in a permission request. It raises the errors that `run`
    would.
    """
    seconds: float = 60.0
    """Timeout in seconds, because the reply waits for the tool."""
    hint: str = ""
    """Pattern in the user's message that makes the tool's use likely, for models without native tool calls."""

    @property
    def declared(self) -> dict[str, Any]:
        """Return the declaration in the format that chat templates expect."""
        schema = self.arguments.model_json_schema()
        properties = {name: _plain(field) for name, field in schema.get("properties", {}).items()}
        parameters = {"type": "object", "properties": properties, "required": schema.get("required", [])}
        return {
            "type": "function",
            "function": {"name": self.name, "description": self.description, "parameters": parameters},
        }


@dataclass(frozen=True)
class ToolSet:
    """Tools that are switched on together."""

    name: str
    title: str
    tools: Sequence[Tool]
    is_available: Callable[[], bool] = lambda: True
    """Return whether the tools can be used at present."""
    plugin: str = ""
    """Name of the distribution of a plug-in; empty for built-in tools."""

    def tool(self, name: str) -> Tool | None:
        """Return the tool with this name, or None."""
        return next((one for one in self.tools if one.name == name), None)


class WorkingMemoryEntry(BaseModel, frozen=True):
    """Large text that is needed for some minutes only (an entry of working memory)."""

    persona_id: str
    namespace: str
    """Two segments: `session/<guid>` or `task/<name>`."""
    key: str
    value: str
    category: str = ""
    tags: list[str] = Field(default_factory=list)
    stored: AwareDatetime = Field(default_factory=now)
    expires: AwareDatetime

    @property
    def path(self) -> str:
        """Return the full path: namespace and key."""
        return f"{self.namespace}/{self.key}"


def _plain(field: Mapping[str, Any]) -> dict[str, Any]:
    """Return a property's schema without the titles and references that pydantic adds, which small models cannot handle."""
    field = next((one for one in field.get("anyOf", ()) if one.get("type") != "null"), {}) | dict(field)
    properties = {name: value for name, value in field.items() if name in {"type", "description", "enum", "default", "items"}}
    return properties if "type" in properties else {"type": "string", **properties}
