"""Persona or user persona, stored as one readable JSON file."""

from __future__ import annotations

from enum import StrEnum
from functools import partial

from pydantic import BaseModel, Field, JsonValue

from lethe_app.config.form_field import form_field
from lethe_app.domain.chat import Role

advanced_field = partial(form_field, is_advanced=True)
"""Declare a field that a form shows only when advanced fields are asked for."""


class Weekday(StrEnum):
    """Keys of a weekly schedule."""

    MONDAY = "monday"
    TUESDAY = "tuesday"
    WEDNESDAY = "wednesday"
    THURSDAY = "thursday"
    FRIDAY = "friday"
    SATURDAY = "saturday"
    SUNDAY = "sunday"


class Persona(BaseModel, extra="forbid", validate_assignment=True):
    """Character of the model or of the user. Its texts may contain macros such as {{user}} and {{char}}."""

    unique_name: str = ""
    """File name without ending, which is the persona's id. Set by storage when the file is read."""
    is_user: bool = False
    name: str = Field(min_length=1, title="Name", description="Name of the persona; {{char}} stands for it in any text.")
    tagline: str = form_field("", "Tagline", "Short text below the name in the list; never sent to the model.")
    bio: str = form_field(
        "",
        "Bio",
        "Background, goals, fears and way of speaking of the persona.",
        placeholder="{{char}} is the navigator of the Petrel. She …",
    )
    mini_bio: str = advanced_field(
        "", "Short bio", "One paragraph used in group chats, where a full bio would take too many tokens."
    )
    personality: str = form_field("", "Personality", "Short summary of the character, added below the bio.")
    nickname: str = advanced_field("", "Nickname", "Name that replaces {{char}} in all texts; empty uses the name.")
    scenario: str = form_field("", "Scenario", "Setting and relationship at the start of a conversation.")
    first_messages: list[str] = form_field(
        [], "Greetings", "First messages of a new conversation, available as swipes; without any, you write first."
    )
    """One is chosen for a new session, the others become alternatives of the first message."""
    group_greetings: list[str] = advanced_field(
        [], "Group greetings", "First messages used only in group conversations, in addition to the greetings."
    )
    example_dialogs: list[str] = form_field(
        [],
        "Style and examples",
        "Example lines and style rules, one per field: “Asked about the sea: …”, “Never more than three sentences.”",
    )
    system_prompt: str = advanced_field(
        "",
        "System prompt",
        "Replacement for the general system prompt, rarely needed; {{original}} inserts the general one, and empty keeps it.",
    )
    post_history_instructions: str = advanced_field(
        "",
        "Post-history instructions",
        "Instructions placed after the conversation, right before the reply; they weigh more than the system prompt.",
    )
    depth_prompt: str = advanced_field("", "Character's note", "Note inserted among the latest messages in every turn.")
    depth_prompt_depth: int = advanced_field(
        4, "Depth of the note", "Number of messages below the note.", ge=0, form_maximum=200
    )
    depth_prompt_role: Role = advanced_field(Role.SYSTEM, "Role of the note")
    talkativeness: float = advanced_field(
        0.5,
        "Talkativeness",
        "Chance to reply in a group without being named, where the group reply order is by talkativeness.",
        unit="%",
        ge=0.0,
        le=1.0,
    )
    creator: str = advanced_field("", "Creator", "Author of the character; never sent to the model.")
    character_version: str = advanced_field("", "Version", "Version of the character; never sent to the model.")
    creator_notes: str = advanced_field("", "Creator's notes", "Notes of the author for you; never sent to the model.")
    avatar: str = form_field("", "Avatar")
    """File name of a picture in the folder of the persona's file."""
    assets: str = ""
    """File name of the archive it was imported from, in the same folder, if that has further pictures or sounds."""
    worlds: list[str] = form_field(
        [], "Worlds", "Worlds whose entries are added to the prompt when the conversation mentions their keys."
    )
    plugins: list[str] = Field(default_factory=list)
    agent_mode: bool = form_field(
        False,
        "Background activity",
        "Run tasks while you are away, stopping the moment you return; press Ctrl+Shift+A to see what was done.",
    )
    agent_tasks: list[str] = advanced_field([], "Background tasks", "If none is ticked, all suitable ones are run.")
    sense_of_time: bool = form_field(
        False, "Sense of time", "Add a hidden note with the time and the length of your absence when you return after a while."
    )
    dates_in_session_summaries: bool = advanced_field(
        True, "Dates in summaries", "Add dates to the summaries of earlier conversations."
    )
    self_edit_field: str = advanced_field(
        "", "Personal thoughts", "What the persona thinks of itself and of you, always included in the prompt."
    )
    self_edit_tokens: int = advanced_field(
        0,
        "Auto-update thoughts",
        "Maximum tokens when the persona rewrites its thoughts after conversations, while you are away; 200 is a good length.",
        ge=0,
        form_maximum=4000,
        minimum_label="never",
    )
    disable_bot_guidance: bool = advanced_field(
        False,
        "No hidden notes",
        "Disable notes about time, moods and proactive memories; memories you ask for are still recalled.",
    )
    mood: bool = form_field(False, "Moods", "Mention the persona's mood when you return.")
    schedule_prefix: str = advanced_field(
        "", "Schedule prefix", "Text before the plan of the day in the note.", placeholder="Plans for today:"
    )
    schedule: dict[Weekday, str] = Field(
        default_factory=dict, description="Plans for this weekday, mentioned in a hidden note when you come back after a while."
    )
    override_default_toolset: bool = advanced_field(
        False,
        "Override default tools",
        "Use the tools ticked here instead of the default tools; tools must also be enabled in the settings.",
    )
    tools: list[str] = advanced_field([], "Tools")
    allowed_samplers: list[str] = advanced_field([], "Preferred sampler presets")
    preferred_model: str = advanced_field("", "Preferred model")
    tts_voice: str = form_field("", "Voice", "Voice in which the persona's replies are read aloud.")
    can_initiate_chat: bool = Field(
        False, description="Kept with the persona; no form shows it, because nothing acts on it yet."
    )
    protected: bool = False
    point_system: str = ""
    point_value: int = 0
    lock_settings: bool = False
    tags: list[str] = form_field([], "Tags", placeholder="Add tag")
    original: dict[str, JsonValue] = Field(default_factory=dict)
    """Fields of the card it was imported from that have no counterpart here, kept for export."""

    @property
    def description(self) -> str:
        """Return bio and personality as one text."""
        return "\n\n".join(text for text in (self.bio.strip(), self.personality.strip()) if text)

    @property
    def spoken_name(self) -> str:
        """Return the name that {{char}} stands for."""
        return self.nickname.strip() or self.name
