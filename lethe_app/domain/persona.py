"""Persona or user persona, stored as one readable JSON file."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class Weekday(StrEnum):
    """Keys of a weekly schedule."""

    MONDAY = "monday"
    TUESDAY = "tuesday"
    WEDNESDAY = "wednesday"
    THURSDAY = "thursday"
    FRIDAY = "friday"
    SATURDAY = "saturday"
    SUNDAY = "sunday"


class Persona(BaseModel):
    """Character of the model or of the user. Its texts may contain macros such as {{user}} and {{char}}."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    unique_name: str = ""
    """File name without ending, which is the persona's id. Set by storage when the file is read."""
    is_user: bool = False
    name: str = Field(min_length=1)
    tagline: str = ""
    """A few words shown below the name."""
    bio: str = ""
    mini_bio: str = ""
    """One paragraph for group chats and lists."""
    scenario: str = ""
    first_messages: list[str] = Field(default_factory=list)
    """Greetings; one is chosen for a new session, the others become alternatives of the first message."""
    example_dialogs: list[str] = Field(default_factory=list)
    """Lines of dialogue or style rules that show how the persona writes."""
    system_prompt: str = ""
    """Replaces the selected system prompt if not empty."""
    avatar: str = ""
    """File name of a picture in the folder of the persona's file."""
    worlds: list[str] = Field(default_factory=list)
    plugins: list[str] = Field(default_factory=list)
    agent_mode: bool = False
    agent_tasks: list[str] = Field(default_factory=list)
    sense_of_time: bool = False
    dates_in_session_summaries: bool = True
    self_edit_field: str = ""
    """Personal thoughts that the persona writes about itself after sessions."""
    self_edit_tokens: int = Field(default=0, ge=0)
    disable_bot_guidance: bool = False
    mood: bool = False
    schedule_prefix: str = ""
    schedule: dict[Weekday, str] = Field(default_factory=dict)
    override_default_toolset: bool = False
    tools: list[str] = Field(default_factory=list)
    allowed_samplers: list[str] = Field(default_factory=list)
    preferred_model: str = ""
    tts_voice: str = ""
    can_initiate_chat: bool = False
    protected: bool = False
    point_system: str = ""
    point_value: int = 0
    lock_settings: bool = False
    tags: list[str] = Field(default_factory=list)
