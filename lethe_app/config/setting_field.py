"""Declaration of settings: section, title, help text and bounds are stated once, beside type and default."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import Field


class SettingSection(StrEnum):
    """Sections of the settings page."""

    YOU = "You"
    LOOK = "Appearance"
    CHAT = "Chat"
    MODEL = "Model"
    PROMPT = "Prompt"
    SESSIONS = "Conversations"
    MEMORY = "Memory"
    PROACTIVE = "Proactive messages"
    BACKGROUND = "Background activity"
    WEB = "Internet"
    TOOLS = "Tools"


def setting(section: SettingSection, default: Any, title: str, help_text: str, **bounds: Any) -> Any:  # noqa: ANN401 - pydantic's own type
    """Declare a setting; `bounds` are keyword arguments of pydantic's `Field` such as `ge`, `le` and `max_length`."""
    return Field(default=default, title=title, description=help_text, json_schema_extra={"section": section.value}, **bounds)


def expert_setting(section: SettingSection, title: str, help_text: str) -> Any:  # noqa: ANN401 - pydantic's own type
    """Declare a cosine distance that the settings page shows on request only; 0 means calibrated for the embedding model."""
    extra: dict[str, Any] = {"section": section.value, "is_expert": True}
    return Field(default=0.0, title=title, description=help_text, json_schema_extra=extra, ge=0.0, le=1.0)
