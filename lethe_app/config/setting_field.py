"""How a setting is declared: its section, title, help and bounds stand beside its type and default, once."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import Field


class SettingSection(StrEnum):
    """How the settings are grouped for a person who looks for one."""

    YOU = "You"
    LOOK = "Look"
    CHAT = "Chat"
    MODEL = "Model"
    PROMPT = "Prompt"
    SESSIONS = "Conversations"
    MEMORY = "Memory"
    NEWS = "Things to bring up"
    AWAY = "While you are away"
    WEB = "The internet"
    TOOLS = "Tools"


def setting(section: SettingSection, default: Any, title: str, help_text: str, **bounds: Any) -> Any:  # noqa: ANN401 - pydantic's own type
    """One declaration of a setting; `bounds` are pydantic's (`ge`, `le`, `max_length` …)."""
    return Field(default=default, title=title, description=help_text, json_schema_extra={"section": section.value}, **bounds)


def expert_setting(section: SettingSection, title: str, help_text: str) -> Any:  # noqa: ANN401 - pydantic's own type
    """Declare a cosine distance that only experts change; the page of settings shows it on request. 0 means: measured."""
    extra: dict[str, Any] = {"section": section.value, "is_expert": True}
    return Field(default=0.0, title=title, description=help_text, json_schema_extra=extra, ge=0.0, le=1.0)
