"""Form fields generated from the declaration of the settings: title, help, bounds and default."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo
from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QSize
from PySide6.QtWidgets import QFileDialog, QToolButton

from lethe_app.config.setting_field import SettingSection
from lethe_app.config.settings import Settings, section_of
from lethe_app.ui.core.avatars import IMAGE_EXTENSIONS
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.labels.settings import translate_text, value_label
from lethe_app.ui.core.palette import ICON, SPACE_1
from lethe_app.ui.dialogs.dialogs import run_dialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.widgets.fields import FieldKind, FieldSpec, value_bounds

Choices = Mapping[str, Sequence[tuple[Any, str]]]
"""Values and labels by setting, for settings whose values depend on the user's data: presets, personas, worlds."""

HIDDEN_SETTINGS = frozenset({"welcomed", "last_persona", "last_session", "model_choices"})
"""Settings for internal use, or shown on another page."""
UNITS = {
    "font_size": "px",
    "rotation_minutes": "min",
    "min_insert_delay": "min",
    "eureka_cut_off_days": "days",
    "min_no_recall_days": "days",
    "hours_before_afk": "h",
    "web_page_tokens": "tokens",
}

SECRET_SETTINGS = frozenset({"web_brave_key"})
"""Settings whose value is masked on screen."""
LOWEST_VALUE_LABELS = {
    "context": str(QT_TRANSLATE_NOOP("Setting", "model's limit")),
    "threads": str(QT_TRANSLATE_NOOP("Setting", "all physical cores")),
    "gpu_layers": str(QT_TRANSLATE_NOOP("Setting", "all layers")),
    "rotation_minutes": str(QT_TRANSLATE_NOOP("Setting", "never")),
    "turn_cap": str(QT_TRANSLATE_NOOP("Setting", "no limit")),
    "world_tokens": str(QT_TRANSLATE_NOOP("Setting", "a fifth of the context")),
    "temperature_override": str(QT_TRANSLATE_NOOP("Setting", "from preset")),
    "rag_distance": str(QT_TRANSLATE_NOOP("Setting", "measured value")),
    "fact_retrieval_distance": str(QT_TRANSLATE_NOOP("Setting", "measured value")),
    "fact_duplicate_distance": str(QT_TRANSLATE_NOOP("Setting", "measured value")),
    "fact_update_distance": str(QT_TRANSLATE_NOOP("Setting", "measured value")),
}
"""Label of the lowest value where it has a special meaning."""


def visible_settings(section: SettingSection) -> list[str]:
    """Return the visible settings of a section, in the order of their declaration."""
    return [name for name in Settings.model_fields if name not in HIDDEN_SETTINGS and section_of(name) is section]


def is_expert(name: str) -> bool:
    """Return whether a setting is shown on request only."""
    extra = Settings.model_fields[name].json_schema_extra
    return isinstance(extra, dict) and bool(extra.get("is_expert"))


def build_spec(name: str, choices: Choices) -> FieldSpec:
    """Return the form field of a setting; `choices` replaces free input where there is a list of values."""
    field_info = Settings.model_fields[name]
    title, help_text = translate_text(field_info.title or name), translate_text(field_info.description or "")
    options = choices.get(name) or fixed_choices(name, field_info)
    lowest, highest = value_bounds(field_info)
    is_integer = field_info.annotation is int
    return FieldSpec(
        name=name,
        title=title,
        kind=field_kind(field_info, has_choices=bool(options)),
        help=help_text,
        choices=options,
        minimum=lowest,
        maximum=highest,
        step=1 if is_integer else 0.005 if is_expert(name) else 0.05 if highest <= 1 else 0.5,
        decimals=3 if is_expert(name) else 2,
        unit=UNITS.get(name, ""),
        minimum_label=translate_text(LOWEST_VALUE_LABELS.get(name, "")),
        secret=name in SECRET_SETTINGS,
    )


def field_kind(field_info: FieldInfo, *, has_choices: bool) -> FieldKind:
    """Return the kind of form field for the type of a setting."""
    if field_info.annotation == list[str]:
        return FieldKind.CHECKBOXES if has_choices else FieldKind.TAGS
    if has_choices:
        return FieldKind.COMBO_BOX
    kinds: dict[Any, FieldKind] = {bool: FieldKind.CHECKBOX, int: FieldKind.INTEGER, float: FieldKind.FLOAT}
    return kinds.get(field_info.annotation, FieldKind.TEXT)


def fixed_choices(name: str, field_info: FieldInfo) -> list[tuple[Any, str]]:
    """Return values and labels of an enumeration, or of a pattern that lists its values."""
    if isinstance(field_info.annotation, type) and issubclass(field_info.annotation, Enum):
        return [(each, value_label(name, str(each.value))) for each in field_info.annotation]
    pattern = next((found for part in field_info.metadata if (found := getattr(part, "pattern", None))), None)
    # Settings with a fixed set of values declare it as the pattern ^(one|two|three)$.
    is_list = bool(pattern) and re.fullmatch(r"\^\([\w|]+\)\$", str(pattern))
    values = str(pattern).strip("^$()").split("|") if is_list else []
    return [(value, value_label(name, value)) for value in values]


def is_changed(settings: Settings, name: str) -> bool:
    """Return whether the user changed the setting; the user persona is excluded, because the first start asks for it."""
    default = Settings.model_fields[name].get_default(call_default_factory=True)
    return name != "user_persona" and bool(getattr(settings, name) != default)


@dataclass(frozen=True)
class PathKind:
    """Kind of file or folder that a setting refers to."""

    kind: str = ""
    """Name of the file type; empty for a folder."""
    extensions: tuple[str, ...] = ()
    is_list: bool = False
    """True if the setting is a list, to which the chosen path is appended."""


MODEL_FILE = PathKind(str(QT_TRANSLATE_NOOP("Setting", "Models")), ("gguf",))
PATH_KINDS = {
    "background": PathKind(str(QT_TRANSLATE_NOOP("Setting", "Images")), tuple(IMAGE_EXTENSIONS)),
    "model_path": MODEL_FILE,
    "embedder_path": MODEL_FILE,
    "model_folders": PathKind(is_list=True),
}
"""Kind of file or folder that can be chosen for a setting."""


class PathButton(QToolButton):
    """Button that opens a file dialog; `set_value` is called with the setting's new value."""

    def __init__(
        self, context: PageContext, name: str, title: str, get_value: Callable[[], object], set_value: Callable[[object], None]
    ) -> None:
        super().__init__()
        self._context, self._path_kind, self._title = context, PATH_KINDS[name], title
        self._get_value, self._set_value = get_value, set_value
        text = self.tr("{title}: choose a file…") if self._path_kind.extensions else self.tr("{title}: choose a folder…")
        self.setToolTip(text.format(title=title))
        self.setAccessibleName(text.format(title=title))
        self.setIconSize(QSize(ICON - SPACE_1, ICON - SPACE_1))
        self.apply_theme()
        self.clicked.connect(lambda: context.tasks.start_task(self.pick_path(), key="settings path"))

    def apply_theme(self) -> None:
        self.setIcon(load_icon("folder", self._context.theme.palette.muted))

    async def pick_path(self) -> None:
        """Let the user choose a path; nothing changes if the dialog is cancelled."""
        name_filter = ""
        if self._path_kind.extensions:
            kind = QCoreApplication.translate("Setting", self._path_kind.kind)
            name_filter = f"{kind} ({' '.join(f'*.{ending}' for ending in self._path_kind.extensions)})"
        dialog = QFileDialog(self._context.dialog_parent, self._title, str(Path.home()), name_filter)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile if name_filter else QFileDialog.FileMode.Directory)
        if not await run_dialog(dialog):
            return
        chosen, current = dialog.selectedFiles()[0], self._get_value()
        if not self._path_kind.is_list:
            self._set_value(chosen)
        elif isinstance(current, list) and chosen not in current:
            self._set_value([*current, chosen])
