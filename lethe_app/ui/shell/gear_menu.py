"""Menu of the gear button: pages, appearance and frequently used settings."""

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
"""Pages opened from the menu, by action, with their icons."""
REMEMBERED = ("timeline", "memories", "facts", "notebooks", "dreams", "objections")
"""Actions of the submenu for memory."""
BY_THEMSELVES = ("away", "mind", "research", "outgoing")
"""Actions of the submenu for background activity."""


class GearMenu(QObject):
    """Menu that is rebuilt every time it opens, so that its check marks show the current settings."""

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
        self._fill_pages(self.tr("Memory"), "memory", REMEMBERED)
        self._fill_pages(self.tr("Background activity"), "thought", BY_THEMSELVES)
        self.menu.addSeparator()
        themes = self.menu.addMenu(icon("moon" if self._window.theme.palette.is_dark else "sun", colour), self.tr("Theme"))
        titles = {
            ThemeOption.SYSTEM: self.tr("System default"),
            ThemeOption.LIGHT: self.tr("Light"),
            ThemeOption.DARK: self.tr("Dark"),
        }
        self._choices(themes, "theme", titles, settings.theme)
        self._fill_text(settings.font_size, settings.prose_font)
        self._switch(self.tr("Show hidden messages"), "show_hidden", settings.show_hidden)
        self._switch(self.tr("Reduced motion"), "reduced_motion", settings.reduced_motion)
        self.menu.addSeparator()
        self.menu.addAction(icon("model", colour), self.tr("Add model folder…"), self._add_folder)
        self.menu.addAction(icon("folder", colour), self.tr("Open data folder"), self._open_data)
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
        titles = {ProseFont.SANS: self.tr("Sans"), ProseFont.SERIF: self.tr("Serif")}
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
        found = counted(len(inside), self.tr("{n} model found."), self.tr("{n} models found."))
        self._window.notifier.tell(self.tr("The model folder “{folder}” was added.").format(folder=folder.name), found)

    def _open_data(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._services.paths.home)))

    def _show_about(self) -> None:
        self._bridge.spawn(_shown(About(self._window)), lane="about")

    def _show_keys(self) -> None:
        self._bridge.spawn(_shown(Keys(self._window)), lane="keys")


async def _shown(dialog: About | Keys) -> None:
    await answered(dialog)


async def asked_for_folder(window: MainWindow) -> Path | None:
    """Let the user choose a folder with models; None if cancelled."""
    dialog = QFileDialog(window, QCoreApplication.translate("GearMenu", "Choose model folder"), str(Path.home()))
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    return Path(dialog.selectedFiles()[0]) if await answered(dialog) else None


async def asked_for_file(window: MainWindow) -> Path | None:
    """Let the user choose a GGUF file; None if cancelled."""
    title = QCoreApplication.translate("GearMenu", "Choose model")
    kinds = QCoreApplication.translate("GearMenu", "Models (*.gguf)")
    dialog = QFileDialog(window, title, str(Path.home()), kinds)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    return Path(dialog.selectedFiles()[0]) if await answered(dialog) else None


async def add_model_folder(services: AppServices, folder: Path) -> None:
    """Add `folder` to the folders that are searched for models."""
    folders = services.preferences.current.model_folders
    if str(folder) not in folders:
        await services.preferences.set(model_folders=[*folders, str(folder)])
