"""Every setting once: its type, default, bounds, title, help text and section; forms, checks and the manual read it here."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Section(StrEnum):
    """How the settings are grouped for a person who looks for one."""

    YOU = "You"
    LOOK = "Look"
    CHAT = "Chat"
    MODEL = "Model"
    PROMPT = "Prompt"


class Theme(StrEnum):
    """Which palette the window wears."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class ProseFont(StrEnum):
    """The typeface of messages."""

    SANS = "sans"
    SERIF = "serif"


def setting(section: Section, default: Any, title: str, help_text: str, **bounds: Any) -> Any:  # noqa: ANN401 - pydantic's own type
    """One declaration of a setting; `bounds` are pydantic's (`ge`, `le`, `max_length` …)."""
    return Field(default=default, title=title, description=help_text, json_schema_extra={"section": section.value}, **bounds)


class Settings(BaseModel):
    """All settings with their values; read and written as one JSON file by `storage/files`."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    # You
    welcomed: bool = setting(Section.YOU, False, "Welcomed", "Has the first start been gone through?")
    user_persona: str = setting(Section.YOU, "", "Your persona", "Who you are in new conversations.")
    last_persona: str = setting(Section.YOU, "", "Last persona", "Opened again at the next start.")
    last_session: str = setting(Section.YOU, "", "Last conversation", "Opened again at the next start.")

    # Look
    theme: Theme = setting(Section.LOOK, Theme.SYSTEM, "Theme", "Light, dark, or whatever the system uses.")
    font_size: int = setting(Section.LOOK, 15, "Text size", "Size of the prose in pixels.", ge=12, le=24)
    prose_font: ProseFont = setting(Section.LOOK, ProseFont.SANS, "Prose typeface", "Sans or serif for what is said.")
    reduced_motion: bool = setting(Section.LOOK, False, "Reduced motion", "No animations.")

    # Chat
    show_hidden: bool = setting(Section.CHAT, False, "Show hidden messages", "Draw notes and memory lines that are in the log.")
    add_names: bool = setting(Section.CHAT, False, "Names in the prompt", "Put the speaker's name before every message.")
    first_paragraph_only: bool = setting(Section.CHAT, False, "One paragraph", "Stop a reply after its first paragraph.")

    # Model
    model_path: str = setting(Section.MODEL, "", "Model", "The GGUF file that answers; empty takes the first one found.")
    model_folders: list[str] = setting(
        Section.MODEL, [], "Model folders", "Further folders that are searched for GGUF files.", max_length=50
    )
    context: int = setting(
        Section.MODEL,
        0,
        "Context",
        "Tokens the model sees at once; 0 takes the model's own length up to 8192.",
        ge=0,
        le=1_048_576,
    )
    max_reply: int = setting(Section.MODEL, 512, "Longest reply", "Tokens a reply may have.", ge=16, le=16_384)
    gpu_layers: int = setting(
        Section.MODEL,
        0,
        "Layers on the graphics card",
        "0 computes on the processor, -1 puts everything on the card.",
        ge=-1,
        le=999,
    )
    threads: int = setting(Section.MODEL, 0, "Threads", "0 takes the physical cores.", ge=0, le=256)
    batch: int = setting(Section.MODEL, 512, "Batch", "Prompt tokens computed in one piece.", ge=32, le=8192)
    flash_attention: bool = setting(
        Section.MODEL, False, "Flash attention", "Faster on many graphics cards; needed to shrink the cache."
    )
    kv_type: str = setting(
        Section.MODEL, "f16", "Cache precision", "f16, q8_0 or q4_0: smaller saves memory.", pattern="^(f16|q8_0|q4_0)$"
    )
    mmap: bool = setting(Section.MODEL, True, "Map the file", "Let the system page the weights in as they are needed.")
    mlock: bool = setting(Section.MODEL, False, "Lock in memory", "Keep the weights from being swapped out.")
    read_ahead: bool = setting(
        Section.MODEL, True, "Read ahead", "Let the model read the conversation while you write, so that it answers sooner."
    )

    # Prompt
    sampler: str = setting(Section.PROMPT, "", "Sampler", "The preset that draws words; empty takes one that suits the model.")
    system_preset: str = setting(
        Section.PROMPT, "", "System prompt", "The preset that introduces the persona; empty takes one that suits the model."
    )
    instruct: str = setting(
        Section.PROMPT, "", "Instruct format", "Empty uses the model's own template; a preset replaces it.", max_length=100
    )
    temperature_override: float = setting(
        Section.PROMPT, -1.0, "Temperature", "Replaces the sampler's temperature when zero or more.", ge=-1.0, le=5.0
    )
    thinking: bool = setting(Section.PROMPT, True, "Thinking", "Let models that can think do so before they answer.")


def section_of(name: str) -> Section:
    """The section in which the setting called `name` is shown."""
    extra = Settings.model_fields[name].json_schema_extra
    assert isinstance(extra, dict)
    return Section(str(extra["section"]))
