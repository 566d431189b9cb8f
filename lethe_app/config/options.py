"""Types of settings: enumerations of allowed values, and the overrides for a single model."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class ThemeOption(StrEnum):
    """Colour theme of the window."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class ProseFont(StrEnum):
    """Typeface of messages."""

    SANS = "sans"
    SERIF = "serif"


class SessionHandling(StrEnum):
    """Which earlier sessions are in the prompt verbatim."""

    FIT_ALL = "fit_all"
    """As many whole sessions before the current one as fit."""
    CURRENT_ONLY = "current_only"


class RoleplayGoals(StrEnum):
    """Whether goals may be derived from a roleplay session."""

    ALWAYS = "always"
    NEVER = "never"
    RANDOM = "random"
    """With a probability of one half."""


class PromptLayout(StrEnum):
    """Position in the prompt of what is recalled for one turn."""

    LATE = "late"
    """Directly above the newest message."""
    SYSTEM = "system"
    """In the system prompt."""
    DEPTH = "depth"
    """Among the messages, at the insertion depth of each memory."""


class GroupTurns(StrEnum):
    """Order of speakers in a group session."""

    NAMED = "named"
    """The personas named in the message, or else the next in turn."""
    EVERYONE = "everyone"
    """Each persona once, in turn."""
    ONE = "one"
    """Only the next in turn."""
    MODEL = "model"
    """The personas named in the message, or else whom the model chooses, until it is the user's turn."""


class ModelChoices(BaseModel):
    """Overrides of settings for one model file; None keeps the value of the settings."""

    model_config = ConfigDict(extra="forbid")

    context: int | None = Field(default=None, ge=0, le=1_048_576)
    gpu_layers: int | None = Field(default=None, ge=-1, le=999)
    threads: int | None = Field(default=None, ge=0, le=256)
    kv_type: str | None = Field(default=None, pattern="^(f16|q8_0|q4_0)$")
    flash_attention: bool | None = None
    instruct: str | None = Field(default=None, max_length=100)
    thinking_start: str | None = Field(default=None, max_length=100)
    """Text with which the model's thinking begins, if neither its template nor its format defines it; effective only with
    `thinking_end`.
    """
    thinking_end: str | None = Field(default=None, max_length=100)


class SearchProvider(StrEnum):
    """Search engine for internet searches."""

    DUCKDUCKGO = "duckduckgo"
    BRAVE = "brave"
    SEARXNG = "searxng"
