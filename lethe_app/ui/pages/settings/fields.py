"""Form fields generated from the declaration of the settings: title, help, bounds and default."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum
from operator import itemgetter
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo
from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from lethe_app.config.form_field import SettingSection
from lethe_app.config.options import SearchProvider
from lethe_app.config.settings import SECRET_SETTINGS, Settings
from lethe_app.ui.core.avatars import IMAGE_EXTENSIONS
from lethe_app.ui.core.labels.fields import LANGUAGE_SETTINGS, value_label
from lethe_app.ui.widgets.fields import FieldKind, FieldSpec, build_field_spec

Choices = Mapping[str, Sequence[tuple[Any, str]]]
"""Values and labels by setting, for settings whose values depend on the user's data: presets, personas, worlds."""

CHOSEN_AT_FIRST_START = frozenset({"user_persona", "model_path"})
"""Settings that every user has chosen, so that they are not marked as changed."""

LONG_TEXTS = frozenset({"summary_instructions"})
"""Settings whose text may have several lines."""

VOICE_SETTINGS = ("speech_voice", "narrator_voice")
"""Settings whose value is a voice."""
LATER_CHOICES = frozenset({*VOICE_SETTINGS, "model_path"})
"""Settings whose choices are found on this computer after the page was opened."""
MOST_USED = (
    "user_persona",
    "theme",
    "font_size",
    "model_path",
    "speak_replies",
    "speech_voice",
    "dictation_language",
    "memory_enabled",
    "proactive_messages",
    "web_allowed",
)
"""Settings of the first page."""
NEEDED_BY = {
    "web_brave_key": ("web_provider", SearchProvider.BRAVE),
    "web_searxng_url": ("web_provider", SearchProvider.SEARXNG),
}
"""Advanced settings that are needed as soon as another setting has a certain value."""
PIPER_SETTINGS = frozenset({"piper_folder", "piper_program"})
"""Settings on which the list of voices depends."""


def visible_settings(section: SettingSection) -> list[str]:
    """Return the visible settings of a section, in the order of their declaration."""
    return [name for name in Settings.visible_names() if Settings.option(name, "section") == section.value]


def is_advanced(name: str, settings: Settings) -> bool:
    """Return whether a setting is shown on request only: neither changed nor needed by another."""
    is_needed = name in NEEDED_BY and getattr(settings, NEEDED_BY[name][0]) == NEEDED_BY[name][1]
    return bool(Settings.option(name, "is_advanced")) and not is_needed and not is_changed(settings, name)


def build_spec(name: str, choices: Choices) -> FieldSpec:
    """Return the form field of a setting; `choices` replaces free input where there is a list of values."""
    spec = build_field_spec(Settings, name, choices.get(name) or fixed_choices(name, Settings.model_fields[name]))
    if name in LATER_CHOICES:
        placeholder = QCoreApplication.translate("SettingsPage", "Automatic")
        return replace(spec, kind=FieldKind.OPTIONAL_CHOICE, placeholder=placeholder)
    if name in LONG_TEXTS:
        return replace(spec, kind=FieldKind.TEXT_AREA, lines=2, max_lines=8)
    return replace(spec, secret=name in SECRET_SETTINGS)


def fixed_choices(name: str, field_info: FieldInfo) -> list[tuple[Any, str]]:
    """Return values and labels of an enumeration, or of a pattern that lists its values."""
    if isinstance(field_info.annotation, type) and issubclass(field_info.annotation, Enum):
        return [(each, value_label(name, str(each.value))) for each in field_info.annotation]
    pattern = next((found for part in field_info.metadata if (found := getattr(part, "pattern", None))), None)
    # Settings with a fixed set of values declare it as the pattern ^(one|two|three)$.
    is_list = bool(pattern) and re.fullmatch(r"\^\([\w|]+\)\$", str(pattern))
    values = str(pattern).strip("^$()").split("|") if is_list else []
    choices = [(value, value_label(name, value)) for value in values]
    return choices[:1] + sorted(choices[1:], key=itemgetter(1)) if name in LANGUAGE_SETTINGS else choices


def is_changed(settings: Settings, name: str) -> bool:
    """Return whether the user changed the setting; those that the first start asks for are excluded."""
    default = Settings.model_fields[name].get_default(call_default_factory=True)
    return name not in CHOSEN_AT_FIRST_START and bool(getattr(settings, name) != default)


PATH_KINDS: dict[str, tuple[str, Sequence[str]]] = {
    "background": (str(QT_TRANSLATE_NOOP("Field", "Images")), IMAGE_EXTENSIONS),
    "model_path": (str(QT_TRANSLATE_NOOP("Field", "Models")), ("gguf",)),
    "embedder_path": (str(QT_TRANSLATE_NOOP("Field", "Models")), ("gguf",)),
    "dictation_model": (str(QT_TRANSLATE_NOOP("Field", "Whisper models")), ("bin",)),
    "model_folders": ("", ()),
    "piper_folder": ("", ()),
}
"""Kind and file extensions of the files that can be chosen for a setting; without extensions it is a folder."""


def find_missing_path(value: object) -> str:
    """Return the first path in the value of a setting that does not exist; empty if there is none. Blocks on the disk."""
    paths = value if isinstance(value, list) else [value]
    return next((path for path in map(str, paths) if path.strip() and not Path(path).expanduser().exists()), "")
