"""Tools: what a model may ask to have done in the middle of a reply, how it asks, and what it is told of it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid4

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from lethe_app.domain.clock import now

MALFORMED = ""
"""The name of a call that could not be read."""


def _short_id() -> str:
    return uuid4().hex[:9]  # nine letters or digits, as one family of models insists


class ToolCall(BaseModel):
    """What a model wants done."""

    model_config = ConfigDict(frozen=True)

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    id: str = Field(default_factory=_short_id)

    @property
    def key(self) -> str:
        """The same for the same wish, whenever it is made."""
        return f"{self.name} {json.dumps(self.arguments, sort_keys=True, ensure_ascii=False, default=str)}"


class CallOutcome(StrEnum):
    """What became of a call."""

    DONE = "done"
    REFUSED = "refused"
    """The user did not want it."""
    FAILED = "failed"


class ToolResult(BaseModel):
    """What the model is told, and what the user sees of it."""

    model_config = ConfigDict(frozen=True)

    call: ToolCall
    text: str
    """For the model."""
    shown: str = ""
    """For the user, in a few words: “kept a memory”."""
    outcome: CallOutcome = CallOutcome.DONE


class PermissionAnswer(StrEnum):
    """What the user says to a tool that asks first."""

    ALLOW = "allow"
    NOT_NOW = "not now"
    ALWAYS = "always"
    """From now on in this conversation."""


@dataclass(frozen=True)
class ToolContext:
    """Where a tool is used."""

    persona_id: str
    persona: str
    """Her name."""
    user: str
    session_id: UUID
    turn: str
    """The same for every wording of one reply."""
    number: int = 0
    """How often the same wish was made before in this wording."""


@dataclass(frozen=True)
class ToolOutput:
    """What came of using a tool."""

    text: str
    shown: str
    looked_after: bool = False
    """It is no longer than it may be, whatever it looks like."""


def _always() -> bool:
    return True


Run = Callable[[ToolContext, Any], Awaitable[ToolOutput]]
"""Gets the arguments as an instance of the tool's own class. Raises LetheError with words that the model may read."""


About = Callable[[ToolContext, Any], Awaitable[str]]


@dataclass(frozen=True)
class Tool:
    """One thing that can be done."""

    name: str
    """Small letters and _, its set in front: `memory_save`."""
    title: str
    """What the persona wants when it asks: “delete a memory”."""
    description: str
    """For the model: what it does and when to use it."""
    arguments: type[BaseModel]
    run: Run
    asks: bool = False
    """The user is asked before every use."""
    changes: bool = False
    """Something is another afterwards, so it is not done twice for two wordings of one reply."""
    every_time: bool = False
    """The same wish made twice in one reply wants two results."""
    about: About | None = None
    """What the user is told beside the arguments when it asks, for those say little to a person; it raises what `run` would."""
    seconds: float = 60.0
    """After which it is given up: a reply waits for it."""
    hint: str = ""
    """A pattern in the user's words that makes its use likely, for models that cannot ask by themselves."""

    @property
    def declared(self) -> dict[str, Any]:
        """As chat templates want to be told of it."""
        schema = self.arguments.model_json_schema()
        properties = {name: _plain(field) for name, field in schema.get("properties", {}).items()}
        parameters = {"type": "object", "properties": properties, "required": schema.get("required", [])}
        return {
            "type": "function",
            "function": {"name": self.name, "description": self.description, "parameters": parameters},
        }


@dataclass(frozen=True)
class ToolSet:
    """Tools that belong together and are switched on together."""

    name: str
    title: str
    tools: Sequence[Tool]
    is_there: Callable[[], bool] = _always
    """May it be used as things are?"""
    plugin: str = ""
    """Name of the distribution it came with; empty for ours."""

    def tool(self, name: str) -> Tool | None:
        return next((one for one in self.tools if one.name == name), None)


class BenchEntry(BaseModel):
    """Something large that is needed for some minutes only."""

    model_config = ConfigDict(frozen=True)

    namespace: str
    """Two segments: `session/<guid>` or `task/<name>`."""
    key: str
    value: str
    category: str = ""
    tags: list[str] = Field(default_factory=list)
    stored: AwareDatetime = Field(default_factory=now)
    expires: AwareDatetime


def _plain(field: Mapping[str, Any]) -> dict[str, Any]:
    """Without the titles and references that pydantic adds, which small models stumble over."""
    field = next((one for one in field.get("anyOf", ()) if one.get("type") != "null"), {}) | dict(field)
    kept = {name: value for name, value in field.items() if name in {"type", "description", "enum", "default", "items"}}
    return kept if "type" in kept else {"type": "string", **kept}
