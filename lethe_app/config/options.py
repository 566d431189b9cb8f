"""What some settings may be set to: values with names of their own, and what can be different for one model."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class ThemeOption(StrEnum):
    """Which palette the window wears."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class ProseFont(StrEnum):
    """The typeface of messages."""

    SANS = "sans"
    SERIF = "serif"


class SessionHandling(StrEnum):
    """How much of earlier conversations is in the prompt word for word."""

    FIT_ALL = "fit_all"
    """As many whole conversations before the present one as there is room for."""
    CURRENT_ONLY = "current_only"


class RoleplayGoals(StrEnum):
    """Whether a conversation that was roleplay may give rise to goals."""

    ALWAYS = "always"
    NEVER = "never"
    RANDOM = "random"
    """Sometimes."""


class PromptLayout(StrEnum):
    """Where in the prompt stands what is brought up for one turn."""

    LATE = "late"
    """Just above the newest message."""
    SYSTEM = "system"
    """In the system prompt."""
    DEPTH = "depth"
    """As many messages above the newest one as each memory asks for."""


class GroupTurns(StrEnum):
    """Who answers where several personas take part."""

    NAMED = "named"
    """Whoever is named, or else the next in turn."""
    EVERYONE = "everyone"
    """Each once, in turn."""
    ONE = "one"
    """Only the next in turn."""
    MODEL = "model"
    """Whoever is named, or else whom the model chooses, until it is the user's turn."""


class ModelChoices(BaseModel):
    """What is different for one model; None leaves it as the settings say."""

    model_config = ConfigDict(extra="forbid")

    context: int | None = Field(default=None, ge=0, le=1_048_576)
    gpu_layers: int | None = Field(default=None, ge=-1, le=999)
    threads: int | None = Field(default=None, ge=0, le=256)
    kv_type: str | None = Field(default=None, pattern="^(f16|q8_0|q4_0)$")
    flash_attention: bool | None = None
    instruct: str | None = Field(default=None, max_length=100)
    thinking_start: str | None = Field(default=None, max_length=100)
    """What its thoughts begin with, where neither its template nor its format tells; counts together with their end."""
    thinking_end: str | None = Field(default=None, max_length=100)


class SearchProvider(StrEnum):
    """Who is asked when something is looked up on the internet."""

    DUCKDUCKGO = "duckduckgo"
    BRAVE = "brave"
    SEARXNG = "searxng"
