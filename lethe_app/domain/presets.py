"""Presets that users choose and edit: instruct format, sampler parameters and system prompt."""

from __future__ import annotations

from pydantic import BaseModel, Field, JsonValue

from lethe_app.config.form_field import form_field


class InstructPreset(BaseModel, extra="forbid"):
    """Token strings of an instruct format, for models whose own template is missing or overridden. They may contain macros
    such as {{user}} and {{char}}; {{name}} is the speaker of the turn.
    """

    name: str = Field(min_length=1, title="Name")
    bos: str = form_field("", "BOS token", "Text at the beginning of the prompt; leave empty if the tokenizer adds it.")
    system_start: str = form_field("", "System prefix")
    system_end: str = form_field("", "System suffix")
    user_start: str = form_field("", "User prefix")
    user_end: str = form_field("", "User suffix")
    bot_start: str = form_field("", "Assistant prefix")
    bot_end: str = form_field("", "Assistant suffix")
    reply_start: str = form_field(
        "",
        "Assistant prefix when thinking",
        "Prefix of a new reply with thinking, or of any without thinking tags, if it differs from that of past replies.",
    )
    reply_on_new_line: bool = form_field(
        False, "Reply on a new line", "Begin a new reply on a line of its own, even if the message before ends without a break."
    )
    note_start: str | None = form_field(None, "Note prefix", "Prefix of later system messages, if it differs.")
    note_end: str | None = form_field(None, "Note suffix", "Suffix of later system messages, if it differs.")
    """None is that of the system prompt, and empty none at all."""
    first_user_start: str = form_field("", "First user prefix", "Prefix of a first message of the user, if it differs.")
    last_user_start: str = form_field("", "Last user prefix", "Prefix of the newest message of the user, if it differs.")
    first_bot_start: str = form_field("", "First assistant prefix", "Prefix of a greeting, if it differs.")
    opening_message: str = form_field(
        "", "Opening message", "Message of the user added before a greeting, for models that expect the user to begin."
    )
    stop_strings: list[str] = form_field([], "Stop strings", "Strings that end a reply.")
    system_role: bool = form_field(
        True, "Supports system role", "Send the system prompt in its own role instead of in the first user message."
    )
    add_names: bool = form_field(False, "Include names", "Add “Name: ” before every message.")
    thinking_start: str = form_field("", "Thinking start tag")
    thinking_end: str = form_field("", "Thinking end tag")
    empty_thinking_when_off: bool = form_field(
        False, "Empty thinking when off", "Add an empty thinking block for models that would think anyway."
    )
    original: dict[str, JsonValue] = Field(default_factory=dict)
    """Fields of the preset of another program it was imported from that have no counterpart here, kept for export."""


class SamplerPreset(BaseModel, extra="forbid"):
    """Sampler parameters. Zero or one switches a sampler off, depending on the parameter."""

    name: str = Field(min_length=1, title="Name")
    temperature: float = form_field(
        0.7, "Temperature", "Randomness of the output; 0 always picks the top token.", ge=0.0, le=5.0
    )
    top_k: int = form_field(0, "Top-K", "Keep only this many of the most likely tokens.", ge=0, minimum_label="off")
    top_p: float = form_field(
        1.0, "Top-P", "Keep the most likely tokens up to this total probability; 1 = off.", gt=0.0, le=1.0
    )
    min_p: float = form_field(
        0.0, "Min-P", "Minimum probability of a token, relative to the most likely one.", ge=0.0, le=1.0, minimum_label="off"
    )
    typical_p: float = form_field(1.0, "Typical-P", "Keep tokens of typical information content; 1 = off.", gt=0.0, le=1.0)
    top_n_sigma: float = form_field(
        0.0, "Top-n-sigma", "Keep tokens within this many deviations of the best.", ge=0.0, minimum_label="off"
    )
    repetition_penalty: float = form_field(
        1.0, "Repetition penalty", "Penalty for tokens used before; 1 = off.", gt=0.0, le=3.0
    )
    repetition_range: int = form_field(
        0, "Repetition range", "Number of recent tokens to check; 0 = off.", ge=-1, minimum_label="whole context"
    )
    presence_penalty: float = form_field(
        0.0, "Presence penalty", "Penalty applied once to every token used before.", ge=-2.0, le=2.0
    )
    frequency_penalty: float = form_field(
        0.0, "Frequency penalty", "Penalty applied for every use of a token.", ge=-2.0, le=2.0
    )
    dynatemp_range: float = form_field(
        0.0, "Dynamic temperature range", "Variation of temperature with uncertainty.", ge=0.0, le=5.0, minimum_label="off"
    )
    dynatemp_exponent: float = form_field(1.0, "Dynamic temperature exponent", "Steepness of that variation.", gt=0.0)
    xtc_threshold: float = form_field(
        0.1, "XTC threshold", "Minimum probability of the tokens that may be removed.", ge=0.0, le=1.0
    )
    xtc_probability: float = form_field(
        0.0, "XTC probability", "Chance that the most likely tokens are removed.", ge=0.0, le=1.0, minimum_label="off"
    )
    dry_multiplier: float = form_field(
        0.0, "DRY multiplier", "Strength of the penalty for repeated phrases.", ge=0.0, minimum_label="off"
    )
    dry_base: float = form_field(1.75, "DRY base", "Growth of the penalty with the length of the phrase.", ge=1.0)
    dry_allowed_length: int = form_field(2, "DRY allowed length", "Phrase length in tokens without a penalty.", ge=1)
    dry_range: int = form_field(
        -1, "DRY range", "Number of recent tokens to check for repeated phrases.", ge=-1, minimum_label="whole context"
    )
    dry_breakers: list[str] = form_field(
        ["\n", ":", '"', "*"], "DRY sequence breakers", "Strings at which a repeated phrase ends."
    )
    mirostat: int = form_field(
        0, "Mirostat", "Version 1 or 2; replaces all samplers but temperature.", ge=0, le=2, minimum_label="off"
    )
    mirostat_tau: float = form_field(5.0, "Mirostat tau", "Target surprise of the output.", ge=0.0)
    mirostat_eta: float = form_field(0.1, "Mirostat eta", "Learning rate of Mirostat.", ge=0.0)
    seed: int = form_field(-1, "Seed", "Number that makes results reproducible.", ge=-1, minimum_label="random")
    original: dict[str, JsonValue] = Field(default_factory=dict)
    """Fields of the preset of another program it was imported from that have no counterpart here, kept for export."""


HEADING_HELP = "Leave empty to omit this section from the prompt."
MEMORIES_HEADING = (
    "Background, not part of the conversation\n"
    "What {{char}} remembers from before, with the day and the speaker. {{user}} is not saying any of this now. "
    "Use what helps, in {{char}}’s own words."
)


class SystemPreset(BaseModel, extra="forbid"):
    """System prompt and the headings of its sections. An empty heading leaves its section out."""

    name: str = Field(min_length=1, title="Name")
    prompt: str = Field(title="System prompt", description="Text with macros: {{char}} and {{user}} are replaced by names.")
    world_info_title: str = form_field("", "World entries", HEADING_HELP)
    scenario_title: str = form_field("", "Scenario", HEADING_HELP)
    dialogs_title: str = form_field("", "Style and examples", HEADING_HELP)
    session_history_title: str = form_field("", "Earlier conversations", HEADING_HELP)
    core_facts_title: str = form_field("", "Facts", HEADING_HELP)
    memories_title: str = form_field(MEMORIES_HEADING, "Recalled memories")
    """Heading of the memories recalled for this turn; never empty in the presets that come with Lethe. Without it a small
    model takes the memories for the user's words, or for a text to continue.
    """
    inner_thoughts_title: str = form_field("", "Personal thoughts", HEADING_HELP)
    category_separator: str = form_field("#", "Heading marker")
    sub_category_separator: str = form_field("##", "Subheading marker")
    original: dict[str, JsonValue] = Field(default_factory=dict)
    """Fields of the preset of another program it was imported from that have no counterpart here, kept for export."""
