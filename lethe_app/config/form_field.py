"""Declaration of form fields: title, help text, bounds and unit are stated once, beside type and default."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from typing import Any

from pydantic import Field

EXTRAS = frozenset(
    {"section", "is_advanced", "is_hidden", "unit", "minimum_label", "placeholder", "form_minimum", "form_maximum"}
    | {"step", "decimals"}
)
"""Options of `form_field` that pydantic does not know; forms read them from the field's `json_schema_extra`."""


class SettingSection(StrEnum):
    """Sections of the settings page."""

    GENERAL = "General"
    CHAT = "Chat"
    SPEECH = "Speech"
    MODEL = "Model"
    PROMPT = "Prompt"
    SESSIONS = "Conversations"
    MEMORY = "Memory"
    PRIVACY = "Privacy"
    PROACTIVE = "Proactive messages"
    BACKGROUND = "Background activity"
    WEB = "Internet"
    TOOLS = "Tools"


def form_field(default: Any, title: str, help_text: str = "", **options: Any) -> Any:  # noqa: ANN401 - pydantic's own type
    """Declare a field with its title and help text.

    `options` are `unit`, `placeholder`, `step`, `decimals`, `minimum_label`, which a form shows in place of the minimum,
    `form_minimum` and `form_maximum`, which limit the form but not what a file may hold, `is_advanced`, which hides the field
    until advanced fields are asked for, and keyword arguments of pydantic's `Field`, such as bounds.
    """
    extra = {name: options.pop(name) for name in EXTRAS & options.keys()}
    return Field(default=default, title=title, description=help_text or None, json_schema_extra=extra, **options)


def setting(section: SettingSection, default: Any, title: str, help_text: str, **options: Any) -> Any:  # noqa: ANN401 - pydantic's own type
    """Declare a setting; `options` are those of `form_field`, and `is_hidden` for one that the settings page does not show."""
    return form_field(default, title, help_text, section=section.value, **options)


def declare_section(section: SettingSection) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the functions that declare a setting of a section and one of its advanced settings: `setting` without section."""
    return partial(setting, section), partial(setting, section, is_advanced=True)
