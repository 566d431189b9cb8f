"""Menu of the gear button: pages, appearance and frequently used settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QAction, QActionGroup, QDesktopServices
from PySide6.QtWidgets import QMenu

from lethe_app.config.options import ProseFont, ThemeOption
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.dialogs.dialogs import AboutDialog, ShortcutsDialog, run_dialog
from lethe_app.ui.dialogs.model_files import ask_for_model_folder

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices
    from lethe_app.ui.controllers.appearance import AppearanceController
    from lethe_app.ui.core.tasks import TaskRunner
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
MEMORY_PAGES = ("timeline", "memories", "facts", "notebooks", "dreams", "objections")
"""Actions of the submenu for memory."""
BACKGROUND_PAGES = ("away", "mind", "research", "outgoing")
"""Actions of the submenu for background activity."""


class GearMenu(QObject):
    """Menu that is rebuilt every time it opens, so that its check marks show the current settings."""

    def __init__(self, window: MainWindow, services: AppServices, appearance: AppearanceController, tasks: TaskRunner) -> None:
        super().__init__(window)
        self._window, self._services, self._appearance, self._tasks = window, services, appearance, tasks
        self.menu = QMenu(window)
        self.menu.aboutToShow.connect(self.rebuild_menu)
        window.sidebar.gear_button.setMenu(self.menu)
        window.actions_.connect(keys=self._show_keys)

    def rebuild_menu(self) -> None:
        settings, colour = self._services.preferences.current, self._window.theme.palette.muted
        self.menu.clear()
        for name, drawing in PAGES.items():
            if name in self._window.actions_:
                action = self._window.actions_[name]
                action.setIcon(load_icon(drawing, colour))
                self.menu.addAction(action)
        self._window.actions_["meet"].setIcon(load_icon("download", colour))
        self.menu.addAction(self._window.actions_["meet"])
        self.menu.addSeparator()
        self._add_page_menu(self.tr("Memory"), "memory", MEMORY_PAGES)
        self._add_page_menu(self.tr("Background activity"), "thought", BACKGROUND_PAGES)
        self.menu.addSeparator()
        themes = self.menu.addMenu(load_icon("moon" if self._window.theme.palette.is_dark else "sun", colour), self.tr("Theme"))
        titles = {
            ThemeOption.SYSTEM: self.tr("System default"),
            ThemeOption.LIGHT: self.tr("Light"),
            ThemeOption.DARK: self.tr("Dark"),
        }
        self._add_choices(themes, "theme", titles, settings.theme)
        self._add_text_menu(settings.font_size, settings.prose_font)
        self._add_switch(self.tr("Show hidden messages"), "show_hidden", settings.show_hidden)
        self._add_switch(self.tr("Reduced motion"), "reduced_motion", settings.reduced_motion)
        self.menu.addSeparator()
        self.menu.addAction(load_icon("model", colour), self.tr("Add model folder…"), self._add_folder)
        self.menu.addAction(load_icon("folder", colour), self.tr("Open data folder"), self._open_data)
        self.menu.addSeparator()
        self.menu.addAction(self._window.actions_["palette"])
        self.menu.addAction(self._window.actions_["keys"])
        self.menu.addAction(load_icon("info", colour), self.tr("About Lethe"), self._show_about)

    def _add_page_menu(self, title: str, icon_name: str, names: Sequence[str]) -> None:
        pages = self.menu.addMenu(load_icon(icon_name, self._window.theme.palette.muted), title)
        for name in names:
            if name in self._window.actions_:
                pages.addAction(self._window.actions_[name])
        if names is MEMORY_PAGES:
            pages.addSeparator()
            pages.addAction(self._window.actions_["rebuild_index"])

    def _add_text_menu(self, size: int, font: ProseFont) -> None:
        text = self.menu.addMenu(self.tr("Text"))
        actions = self._window.actions_
        title = text.addAction(self.tr("{size} pixels").format(size=size))
        title.setEnabled(False)
        for name in ("larger", "smaller", "normal"):
            text.addAction(actions[name])
        text.addSeparator()
        titles = {ProseFont.SANS: self.tr("Sans"), ProseFont.SERIF: self.tr("Serif")}
        self._add_choices(text, "prose_font", titles, font)

    def _add_choices(self, menu: QMenu, name: str, titles: dict, current: object) -> None:
        group = QActionGroup(menu)
        for value, title in titles.items():
            action = QAction(title, menu)
            action.setCheckable(True)
            action.setChecked(value == current)
            action.triggered.connect(lambda _checked=False, value=value: self._appearance.save_settings(**{name: value}))
            group.addAction(action)
            menu.addAction(action)

    def _add_switch(self, title: str, name: str, is_on: bool) -> None:
        action = self.menu.addAction(title)
        action.setCheckable(True)
        action.setChecked(is_on)
        action.triggered.connect(lambda checked: self._appearance.save_settings(**{name: checked}))

    def _add_folder(self) -> None:
        self._tasks.start_task(self._ask_for_folder(), key="folder")

    async def _ask_for_folder(self) -> None:
        folder = await ask_for_model_folder(self._window)
        if folder is None:
            return
        models_in_folder = await self._services.models.add_folder(folder)
        count_text = format_count(len(models_in_folder), self.tr("{n} model found."), self.tr("{n} models found."))
        self._window.notifier.notify(self.tr("The model folder “{folder}” was added.").format(folder=folder.name), count_text)

    def _open_data(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._services.paths.home)))

    def _show_about(self) -> None:
        self._tasks.start_task(_show_dialog(AboutDialog(self._window)), key="about")

    def _show_keys(self) -> None:
        self._tasks.start_task(_show_dialog(ShortcutsDialog(self._window)), key="keys")


async def _show_dialog(dialog: AboutDialog | ShortcutsDialog) -> None:
    await run_dialog(dialog)
