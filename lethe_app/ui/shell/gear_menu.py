"""The menu behind the gear: the few choices that are made often enough to be one click away."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, QUrl
from PySide6.QtGui import QAction, QActionGroup, QDesktopServices
from PySide6.QtWidgets import QFileDialog, QMenu

from lethe_app.config.options import ProseFont, ThemeOption
from lethe_app.ui.core.formatting import counted
from lethe_app.ui.core.icons import icon
from lethe_app.ui.dialogs.dialogs import About, Keys, answered

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices
    from lethe_app.ui.controllers.appearance import Look
    from lethe_app.ui.core.tasks import Bridge
    from lethe_app.ui.shell.main_window import MainWindow

PAGES = {
    "settings": "sliders",
    "presets": "edit",
    "model_manager": "model",
    "worlds": "book",
    "user_personas": "user",
    "find": "search",
    "conversations": "clock",
    "trash": "trash",
}
"""Pages that are opened from here, with their drawings."""
REMEMBERED = ("timeline", "memories", "facts", "notebooks", "dreams", "objections")
BY_THEMSELVES = ("away", "mind", "research", "outgoing")
"""Pages about one persona, each group behind one line."""


class GearMenu(QObject):
    """Built anew whenever it opens, so that its ticks always tell the truth."""

    def __init__(self, window: MainWindow, services: AppServices, look: Look, bridge: Bridge) -> None:
        super().__init__(window)
        self._window, self._services, self._look, self._bridge = window, services, look, bridge
        self.menu = QMenu(window)
        self.menu.aboutToShow.connect(self.fill)
        window.sidebar.gear.setMenu(self.menu)
        window.actions_.connect(keys=self._show_keys)

    def fill(self) -> None:
        settings, colour = self._services.preferences.current, self._window.theme.palette.muted
        self.menu.clear()
        for name, drawing in PAGES.items():
            if name in self._window.actions_:
                action = self._window.actions_[name]
                action.setIcon(icon(drawing, colour))
                self.menu.addAction(action)
        self._window.actions_["meet"].setIcon(icon("download", colour))
        self.menu.addAction(self._window.actions_["meet"])
        self.menu.addSeparator()
        self._fill_pages(self.tr("What is remembered"), "memory", REMEMBERED)
        self._fill_pages(self.tr("What they do by themselves"), "thought", BY_THEMSELVES)
        self.menu.addSeparator()
        themes = self.menu.addMenu(icon("moon" if self._window.theme.palette.is_dark else "sun", colour), self.tr("Theme"))
        titles = {
            ThemeOption.SYSTEM: self.tr("Like the system"),
            ThemeOption.LIGHT: self.tr("Day"),
            ThemeOption.DARK: self.tr("Night"),
        }
        self._choices(themes, "theme", titles, settings.theme)
        self._fill_text(settings.font_size, settings.prose_font)
        self._switch(self.tr("Show hidden messages"), "show_hidden", settings.show_hidden)
        self._switch(self.tr("Reduced motion"), "reduced_motion", settings.reduced_motion)
        self.menu.addSeparator()
        self.menu.addAction(icon("model", colour), self.tr("Add a folder of models…"), self._add_folder)
        self.menu.addAction(icon("folder", colour), self.tr("Open the data folder"), self._open_data)
        self.menu.addSeparator()
        self.menu.addAction(self._window.actions_["palette"])
        self.menu.addAction(self._window.actions_["keys"])
        self.menu.addAction(icon("info", colour), self.tr("About Lethe"), self._show_about)

    def _fill_pages(self, title: str, drawing: str, names: Sequence[str]) -> None:
        pages = self.menu.addMenu(icon(drawing, self._window.theme.palette.muted), title)
        for name in names:
            if name in self._window.actions_:
                pages.addAction(self._window.actions_[name])
        if names is REMEMBERED:
            pages.addSeparator()
            pages.addAction(self._window.actions_["rebuild_index"])

    def _fill_text(self, size: int, font: ProseFont) -> None:
        text = self.menu.addMenu(self.tr("Text"))
        actions = self._window.actions_
        title = text.addAction(self.tr("{size} pixels").format(size=size))
        title.setEnabled(False)
        for name in ("larger", "smaller", "normal"):
            text.addAction(actions[name])
        text.addSeparator()
        titles = {ProseFont.SANS: self.tr("Without serifs"), ProseFont.SERIF: self.tr("With serifs")}
        self._choices(text, "prose_font", titles, font)

    def _choices(self, menu: QMenu, name: str, titles: dict, present: object) -> None:
        group = QActionGroup(menu)
        for value, title in titles.items():
            action = QAction(title, menu)
            action.setCheckable(True)
            action.setChecked(value == present)
            action.triggered.connect(lambda _checked=False, value=value: self._look.change(**{name: value}))
            group.addAction(action)
            menu.addAction(action)

    def _switch(self, title: str, name: str, present: bool) -> None:
        action = self.menu.addAction(title)
        action.setCheckable(True)
        action.setChecked(present)
        action.triggered.connect(lambda checked: self._look.change(**{name: checked}))

    def _add_folder(self) -> None:
        self._bridge.spawn(self._ask_for_folder(), lane="folder")

    async def _ask_for_folder(self) -> None:
        folder = await asked_for_folder(self._window)
        if folder is None:
            return
        await add_model_folder(self._services, folder)
        inside = [model for model in await self._services.models.found() if folder in model.path.parents]
        found = counted(len(inside), self.tr("{n} model was found in it."), self.tr("{n} models were found in it."))
        self._window.notifier.tell(self.tr("Lethe now looks into “{folder}”.").format(folder=folder.name), found)

    def _open_data(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._services.paths.home)))

    def _show_about(self) -> None:
        self._bridge.spawn(_shown(About(self._window)), lane="about")

    def _show_keys(self) -> None:
        self._bridge.spawn(_shown(Keys(self._window)), lane="keys")


async def _shown(dialog: About | Keys) -> None:
    await answered(dialog)


async def asked_for_folder(window: MainWindow) -> Path | None:
    """Let the user pick a folder with models; None if they think better of it."""
    dialog = QFileDialog(window, QCoreApplication.translate("GearMenu", "Folder of models"), str(Path.home()))
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    return Path(dialog.selectedFiles()[0]) if await answered(dialog) else None


async def asked_for_file(window: MainWindow) -> Path | None:
    """Let the user pick a GGUF; None if they think better of it."""
    title = QCoreApplication.translate("GearMenu", "Choose a model")
    kinds = QCoreApplication.translate("GearMenu", "Models (*.gguf)")
    dialog = QFileDialog(window, title, str(Path.home()), kinds)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    return Path(dialog.selectedFiles()[0]) if await answered(dialog) else None


async def add_model_folder(services: AppServices, folder: Path) -> None:
    """Look into `folder` for models from now on."""
    folders = services.preferences.current.model_folders
    if str(folder) not in folders:
        await services.preferences.set(model_folders=[*folders, str(folder)])
