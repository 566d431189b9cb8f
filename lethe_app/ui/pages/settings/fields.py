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
from lethe_app.ui.core.icons import icon
from lethe_app.ui.core.palette import ICON, SPACE_1
from lethe_app.ui.dialogs.dialogs import answered
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.personas.pictures import ENDINGS
from lethe_app.ui.widgets.fields import FieldKind, Spec

Choices = Mapping[str, Sequence[tuple[Any, str]]]
"""Values and labels by setting, for settings whose values depend on the user's data: presets, personas, worlds."""

HIDDEN = frozenset({"welcomed", "last_persona", "last_session", "model_choices"})
"""Settings for internal use, or shown on another page."""
WORDS = {
    "system": str(QT_TRANSLATE_NOOP("Setting", "System default")),
    "light": str(QT_TRANSLATE_NOOP("Setting", "Light")),
    "dark": str(QT_TRANSLATE_NOOP("Setting", "Dark")),
    "sans": str(QT_TRANSLATE_NOOP("Setting", "Sans")),
    "serif": str(QT_TRANSLATE_NOOP("Setting", "Serif")),
    "fit_all": str(QT_TRANSLATE_NOOP("Setting", "As many as fit")),
    "current_only": str(QT_TRANSLATE_NOOP("Setting", "Current conversation only")),
    "late": str(QT_TRANSLATE_NOOP("Setting", "Just above your message")),
    "layout.system": str(QT_TRANSLATE_NOOP("Setting", "In the system prompt")),
    "depth": str(QT_TRANSLATE_NOOP("Setting", "Among the messages")),
    "group_turns.named": str(QT_TRANSLATE_NOOP("Setting", "Named persona or next in turn")),
    "group_turns.everyone": str(QT_TRANSLATE_NOOP("Setting", "Everyone, once each")),
    "group_turns.one": str(QT_TRANSLATE_NOOP("Setting", "Next in turn only")),
    "group_turns.model": str(QT_TRANSLATE_NOOP("Setting", "Named persona or model's choice")),
    "f16": str(QT_TRANSLATE_NOOP("Setting", "f16 (full precision)")),
    "q8_0": str(QT_TRANSLATE_NOOP("Setting", "q8_0 (half the memory)")),
    "q4_0": str(QT_TRANSLATE_NOOP("Setting", "q4_0 (a quarter of the memory, less precise)")),
    "duckduckgo": "DuckDuckGo",
    "brave": "Brave",
    "searxng": "SearXNG",
}
UNITS = {
    "font_size": "px",
    "rotation_minutes": "min",
    "min_insert_delay": "min",
    "eureka_cut_off_days": "days",
    "min_no_recall_days": "days",
    "hours_before_afk": "h",
    "web_page_tokens": "tokens",
}

SECRET = frozenset({"web_brave_key"})
"""Settings whose value is masked on screen."""
LOWEST = {
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


def shown_settings(section: SettingSection) -> list[str]:
    """Return the visible settings of a section, in the order of their declaration."""
    return [name for name in Settings.model_fields if name not in HIDDEN and section_of(name) is section]


def is_expert(name: str) -> bool:
    """Return whether a setting is shown on request only."""
    extra = Settings.model_fields[name].json_schema_extra
    return isinstance(extra, dict) and bool(extra.get("is_expert"))


def spec_of(name: str, choices: Choices) -> Spec:
    """Return the form field of a setting; `choices` replaces free input where there is a list of values."""
    declared = Settings.model_fields[name]
    title, told = translated(declared.title or name), translated(declared.description or "")
    offered = choices.get(name) or fixed_choices(name, declared)
    lowest, highest = bounds(declared)
    whole = declared.annotation is int
    return Spec(
        name=name,
        title=title,
        kind=kind_of(declared, has_choices=bool(offered)),
        help=told,
        choices=offered,
        lowest=lowest,
        highest=highest,
        step=1 if whole else 0.005 if is_expert(name) else 0.05 if highest <= 1 else 0.5,
        decimals=3 if is_expert(name) else 2,
        unit=UNITS.get(name, ""),
        special=translated(LOWEST.get(name, "")),
        secret=name in SECRET,
    )


def kind_of(declared: FieldInfo, *, has_choices: bool) -> FieldKind:
    """Return the kind of form field for the type of a setting."""
    if declared.annotation == list[str]:
        return FieldKind.TICKS if has_choices else FieldKind.WORDS
    if has_choices:
        return FieldKind.CHOICE
    kinds: dict[Any, FieldKind] = {bool: FieldKind.SWITCH, int: FieldKind.WHOLE, float: FieldKind.NUMBER}
    return kinds.get(declared.annotation, FieldKind.LINE)


def fixed_choices(name: str, declared: FieldInfo) -> list[tuple[Any, str]]:
    """Return values and labels of an enumeration, or of a pattern that lists its values."""
    if isinstance(declared.annotation, type) and issubclass(declared.annotation, Enum):
        return [(each, words_for(name, str(each.value))) for each in declared.annotation]
    pattern = next((found for part in declared.metadata if (found := getattr(part, "pattern", None))), None)
    # Settings with a fixed set of values declare it as the pattern ^(one|two|three)$.
    is_list = bool(pattern) and re.fullmatch(r"\^\([\w|]+\)\$", str(pattern))
    values = str(pattern).strip("^$()").split("|") if is_list else []
    return [(value, words_for(name, value)) for value in values]


def bounds(declared: FieldInfo) -> tuple[float, float]:
    """Return the lowest and the highest value; 0 and a million if not declared."""
    lowest = next((found for part in declared.metadata if (found := getattr(part, "ge", None)) is not None), 0)
    highest = next((found for part in declared.metadata if (found := getattr(part, "le", None)) is not None), 1_000_000)
    return lowest, highest


def words_for(name: str, value: str) -> str:
    """Return the label of a value; labels of `name.value` have priority, where a value has several meanings."""
    words = WORDS.get(f"{name}.{value}") or WORDS.get(value, value)
    return QCoreApplication.translate("Setting", words)


def translated(words: str) -> str:
    """Translate a title or help text from the declaration of the settings, which is not tied to the user interface."""
    return QCoreApplication.translate("Setting", words) if words else ""


def is_changed(settings: Settings, name: str) -> bool:
    """Return whether the user changed the setting; the user persona is excluded, because the first start asks for it."""
    default = Settings.model_fields[name].get_default(call_default_factory=True)
    return name != "user_persona" and bool(getattr(settings, name) != default)


@dataclass(frozen=True)
class PathKind:
    """Kind of file or folder that a setting refers to."""

    kind: str = ""
    """Name of the file type; empty for a folder."""
    endings: tuple[str, ...] = ()
    is_several: bool = False
    """True if the setting is a list, to which the chosen path is appended."""


MODEL = PathKind(str(QT_TRANSLATE_NOOP("Setting", "Models")), ("gguf",))
WANTED = {
    "background": PathKind(str(QT_TRANSLATE_NOOP("Setting", "Images")), tuple(ENDINGS)),
    "model_path": MODEL,
    "embedder_path": MODEL,
    "model_folders": PathKind(is_several=True),
}
"""Kind of file or folder that can be chosen for a setting."""


class PathButton(QToolButton):
    """Button that opens a file dialog; `take` is called with the setting's new value."""

    def __init__(
        self, place: PageContext, name: str, title: str, present: Callable[[], object], take: Callable[[object], None]
    ) -> None:
        super().__init__()
        self._place, self._wanted, self._title = place, WANTED[name], title
        self._present, self._take = present, take
        words = self.tr("{title}: choose a file…") if self._wanted.endings else self.tr("{title}: choose a folder…")
        self.setToolTip(words.format(title=title))
        self.setAccessibleName(words.format(title=title))
        self.setIconSize(QSize(ICON - SPACE_1, ICON - SPACE_1))
        self.dress()
        self.clicked.connect(lambda: place.bridge.spawn(self.pick(), lane="settings path"))

    def dress(self) -> None:
        self.setIcon(icon("folder", self._place.theme.palette.muted))

    async def pick(self) -> None:
        """Let the user choose a path; nothing changes if the dialog is cancelled."""
        kinds = ""
        if self._wanted.endings:
            kind = QCoreApplication.translate("Setting", self._wanted.kind)
            kinds = f"{kind} ({' '.join(f'*.{ending}' for ending in self._wanted.endings)})"
        dialog = QFileDialog(self._place.window, self._title, str(Path.home()), kinds)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile if kinds else QFileDialog.FileMode.Directory)
        if not await answered(dialog):
            return
        chosen, present = dialog.selectedFiles()[0], self._present()
        if not self._wanted.is_several:
            self._take(chosen)
        elif isinstance(present, list) and chosen not in present:
            self._take([*present, chosen])
