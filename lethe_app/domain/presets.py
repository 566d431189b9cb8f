"""Presets that users choose and edit: instruct format, sampler parameters and system prompt."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class InstructPreset(BaseModel):
    """Token strings of an instruct format, for models whose own template is missing or overridden."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1)
    bos: str = ""
    """Text before everything else; empty where the tokenizer adds it."""
    system_start: str = ""
    system_end: str = ""
    user_start: str = ""
    user_end: str = ""
    bot_start: str = ""
    bot_end: str = ""
    reply_start: str = ""
    """Header of the reply to be generated while thinking is on, where it differs from that of an earlier reply
    (`bot_start`).
    """
    stop_strings: list[str] = Field(default_factory=list)
    system_role: bool = True
    """If False, the system prompt is put at the beginning of the first user message."""
    add_names: bool = False
    """True to put `Name: ` before every message."""
    thinking_start: str = ""
    thinking_end: str = ""
    empty_thinking_when_off: bool = False
    """True to send the start and end of an empty thinking block when thinking is switched off."""


class SamplerPreset(BaseModel):
    """Sampler parameters. Zero or one switches a sampler off, depending on the parameter."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1)
    temperature: float = Field(default=0.7, ge=0.0, le=5.0)
    """Temperature; 0 always takes the likeliest token."""
    top_k: int = Field(default=0, ge=0)
    top_p: float = Field(default=1.0, gt=0.0, le=1.0)
    min_p: float = Field(default=0.0, ge=0.0, le=1.0)
    typical_p: float = Field(default=1.0, gt=0.0, le=1.0)
    top_n_sigma: float = Field(default=0.0, ge=0.0)
    repetition_penalty: float = Field(default=1.0, gt=0.0, le=3.0)
    repetition_range: int = Field(default=0, ge=-1)
    """Number of last tokens to which the penalties apply; 0 switches them off, -1 is the whole context."""
    presence_penalty: float = Field(default=0.0, ge=-2.0, le=2.0)
    frequency_penalty: float = Field(default=0.0, ge=-2.0, le=2.0)
    dynatemp_range: float = Field(default=0.0, ge=0.0, le=5.0)
    dynatemp_exponent: float = Field(default=1.0, gt=0.0)
    xtc_threshold: float = Field(default=0.1, ge=0.0, le=1.0)
    xtc_probability: float = Field(default=0.0, ge=0.0, le=1.0)
    dry_multiplier: float = Field(default=0.0, ge=0.0)
    dry_base: float = Field(default=1.75, ge=1.0)
    dry_allowed_length: int = Field(default=2, ge=1)
    dry_range: int = Field(default=-1, ge=-1)
    dry_breakers: list[str] = Field(default_factory=lambda: ["\n", ":", '"', "*"])
    mirostat: int = Field(default=0, ge=0, le=2)
    mirostat_tau: float = Field(default=5.0, ge=0.0)
    mirostat_eta: float = Field(default=0.1, ge=0.0)
    seed: int = Field(default=-1, ge=-1)
    """Seed of the random generator; -1 draws a new seed for every reply."""


class SystemPreset(BaseModel):
    """System prompt and the headings of its sections. An empty heading leaves its section out."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1)
    prompt: str
    world_info_title: str = ""
    scenario_title: str = ""
    dialogs_title: str = ""
    session_history_title: str = ""
    core_facts_title: str = ""
    memories_title: str = (
        "Background, not part of the conversation\n"
        "What {{char}} remembers from before, with the day and the speaker. {{user}} is not saying any of this now. "
        "Use what helps, in {{char}}’s own words."
    )
    """Heading of the memories recalled for this turn; never empty in the presets that come with Lethe. Without it a small
    model takes the memories for the user's words, or for a text to continue.
    """
    inner_thoughts_title: str = ""
    category_separator: str = "#"
    sub_category_separator: str = "##"
