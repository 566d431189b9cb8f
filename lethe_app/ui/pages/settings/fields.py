"""Makes a form's fields out of the one declaration of the settings: title, help, bounds and default are read, not repeated."""

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
"""Setting → values and words, for settings whose values are found in the home: presets, personas, worlds."""

HIDDEN = frozenset({"welcomed", "last_persona", "last_session", "model_choices"})
"""What the program keeps for itself, or shows elsewhere."""
WORDS = {
    "system": str(QT_TRANSLATE_NOOP("Setting", "Like the system")),
    "light": str(QT_TRANSLATE_NOOP("Setting", "Day")),
    "dark": str(QT_TRANSLATE_NOOP("Setting", "Night")),
    "sans": str(QT_TRANSLATE_NOOP("Setting", "Without serifs")),
    "serif": str(QT_TRANSLATE_NOOP("Setting", "With serifs")),
    "fit_all": str(QT_TRANSLATE_NOOP("Setting", "As many as fit")),
    "current_only": str(QT_TRANSLATE_NOOP("Setting", "Only the present one")),
    "late": str(QT_TRANSLATE_NOOP("Setting", "Just above your message")),
    "layout.system": str(QT_TRANSLATE_NOOP("Setting", "In the system prompt")),
    "depth": str(QT_TRANSLATE_NOOP("Setting", "Among the messages")),
    "group_turns.named": str(QT_TRANSLATE_NOOP("Setting", "Whoever you name, or the next in turn")),
    "group_turns.everyone": str(QT_TRANSLATE_NOOP("Setting", "Everyone, each once")),
    "group_turns.one": str(QT_TRANSLATE_NOOP("Setting", "Only the next in turn")),
    "group_turns.model": str(QT_TRANSLATE_NOOP("Setting", "Whoever you name, or whom the model chooses")),
    "f16": str(QT_TRANSLATE_NOOP("Setting", "f16: exact")),
    "q8_0": str(QT_TRANSLATE_NOOP("Setting", "q8_0: half the memory")),
    "q4_0": str(QT_TRANSLATE_NOOP("Setting", "q4_0: a quarter of the memory, less exact")),
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
"""What somebody who looks over the user's shoulder should not read."""
LOWEST = {
    "context": str(QT_TRANSLATE_NOOP("Setting", "the model's own")),
    "threads": str(QT_TRANSLATE_NOOP("Setting", "the physical cores")),
    "gpu_layers": str(QT_TRANSLATE_NOOP("Setting", "everything")),
    "rotation_minutes": str(QT_TRANSLATE_NOOP("Setting", "never")),
    "turn_cap": str(QT_TRANSLATE_NOOP("Setting", "no limit")),
    "world_tokens": str(QT_TRANSLATE_NOOP("Setting", "a fifth of the context")),
    "temperature_override": str(QT_TRANSLATE_NOOP("Setting", "the sampler's own")),
    "rag_distance": str(QT_TRANSLATE_NOOP("Setting", "as measured")),
    "fact_retrieval_distance": str(QT_TRANSLATE_NOOP("Setting", "as measured")),
    "fact_duplicate_distance": str(QT_TRANSLATE_NOOP("Setting", "as measured")),
    "fact_update_distance": str(QT_TRANSLATE_NOOP("Setting", "as measured")),
}
"""What the lowest number means, where it is no number."""


def shown_settings(section: SettingSection) -> list[str]:
    """The settings of a section that people may see, in the order of their declaration."""
    return [name for name in Settings.model_fields if name not in HIDDEN and section_of(name) is section]


def is_expert(name: str) -> bool:
    """Return whether a setting is shown on request only."""
    extra = Settings.model_fields[name].json_schema_extra
    return isinstance(extra, dict) and bool(extra.get("is_expert"))


def spec_of(name: str, choices: Choices) -> Spec:
    """The field for one setting; `choices` replaces what is written freely by what there is."""
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
    """How a value of this type is changed."""
    if declared.annotation == list[str]:
        return FieldKind.TICKS if has_choices else FieldKind.WORDS
    if has_choices:
        return FieldKind.CHOICE
    kinds: dict[Any, FieldKind] = {bool: FieldKind.SWITCH, int: FieldKind.WHOLE, float: FieldKind.NUMBER}
    return kinds.get(declared.annotation, FieldKind.LINE)


def fixed_choices(name: str, declared: FieldInfo) -> list[tuple[Any, str]]:
    """Values of an enumeration, or of a pattern that lists them, with their words."""
    if isinstance(declared.annotation, type) and issubclass(declared.annotation, Enum):
        return [(each, words_for(name, str(each.value))) for each in declared.annotation]
    pattern = next((found for part in declared.metadata if (found := getattr(part, "pattern", None))), None)
    is_list = bool(pattern) and re.fullmatch(r"\^\([\w|]+\)\$", str(pattern))
    values = str(pattern).strip("^$()").split("|") if is_list else []
    return [(value, words_for(name, value)) for value in values]


def bounds(declared: FieldInfo) -> tuple[float, float]:
    """The lowest and the highest value; a million where nothing is declared."""
    lowest = next((found for part in declared.metadata if (found := getattr(part, "ge", None)) is not None), 0)
    highest = next((found for part in declared.metadata if (found := getattr(part, "le", None)) is not None), 1_000_000)
    return lowest, highest


def words_for(name: str, value: str) -> str:
    """What a value is called; `name.value` where the same value means different things."""
    words = WORDS.get(f"{name}.{value}") or WORDS.get(value, value)
    return QCoreApplication.translate("Setting", words)


def translated(words: str) -> str:
    """Titles and help are declared in one place for everybody, and translated here."""
    return QCoreApplication.translate("Setting", words) if words else ""


def is_changed(settings: Settings, name: str) -> bool:
    """Has the user set it to something else than it came with? Who they are was asked at the first start."""
    default = Settings.model_fields[name].get_default(call_default_factory=True)
    return name != "user_persona" and bool(getattr(settings, name) != default)


@dataclass(frozen=True)
class PathKind:
    """What kind of thing a setting names."""

    kind: str = ""
    """Words for files of that kind; none for a folder."""
    endings: tuple[str, ...] = ()
    is_several: bool = False
    """Is it one more, beside those there are?"""


MODEL = PathKind(str(QT_TRANSLATE_NOOP("Setting", "Models")), ("gguf",))
WANTED = {
    "background": PathKind(str(QT_TRANSLATE_NOOP("Setting", "Pictures")), tuple(ENDINGS)),
    "model_path": MODEL,
    "embedder_path": MODEL,
    "model_folders": PathKind(is_several=True),
}
"""Setting → what may be chosen for it."""


class PathButton(QToolButton):
    """`take` is called with the setting's new value."""

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
        """Let the user choose; nothing changes where they think better of it."""
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
