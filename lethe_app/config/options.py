"""Types of settings: enumerations of allowed values, and the overrides for a single model."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel

from lethe_app.config.form_field import form_field


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


class HistoryOverflow(StrEnum):
    """What becomes of messages that no longer fit into the prompt."""

    SUMMARISE = "summarise"
    """A summary replaces them."""
    TRUNCATE = "truncate"
    """They are left out."""


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


class MemoryProfile(StrEnum):
    """How much memory of the computer the program uses."""

    AUTOMATIC = "automatic"
    """Like `SMALL` on a computer with little memory, else like `NORMAL`."""
    SMALL = "small"
    NORMAL = "normal"


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
    TALKATIVE = "talkative"
    """The personas named in the message, then each other by the chance of its talkativeness, at least one."""


class SpokenActions(StrEnum):
    """What is done with actions between asterisks when a reply is spoken."""

    LEAVE_OUT = "leave_out"
    NARRATOR = "narrator"
    """They are spoken by the narrator's voice."""


class ModelChoices(BaseModel, extra="forbid"):
    """Overrides of settings for one model file; None keeps the value of the settings."""

    context: int | None = form_field(
        None,
        "Context size",
        "Tokens the model can see at once; 0 = the model's own limit, up to 8192.",
        ge=0,
        le=1_048_576,
        minimum_label="from settings",
    )
    gpu_layers: int | None = form_field(
        None,
        "GPU layers",
        "Layers to offload to the GPU; 0 = CPU only, -1 = all layers.",
        ge=-1,
        le=999,
        minimum_label="from settings",
    )
    threads: int | None = form_field(None, "CPU threads", ge=0, le=256, minimum_label="from settings")
    kv_type: str | None = form_field(None, "KV cache type", pattern="^(f16|q8_0|q4_0)$")
    flash_attention: bool | None = form_field(None, "Flash attention")
    instruct: str | None = form_field(
        None, "Instruct format", "Preset that replaces the model's chat template, including its thinking tags.", max_length=100
    )
    thinking_start: str | None = form_field(
        None,
        "Thinking start tag",
        "Tag that opens a block of thinking; set both tags, which take effect with the next reply.",
        max_length=100,
        placeholder="from the format",
    )
    thinking_end: str | None = form_field(None, "Thinking end tag", max_length=100, placeholder="from the format")


class SearchProvider(StrEnum):
    """Search engine for internet searches."""

    DUCKDUCKGO = "duckduckgo"
    BRAVE = "brave"
    SEARXNG = "searxng"
