"""Menu of the gear button of the sidebar: pages, appearance and frequently used settings."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QDialog, QMenu

from lethe_app.config.options import ProseFont, ThemeOption
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.core.file_transfers import open_folder
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.routes import PAGES, TabGroup
from lethe_app.ui.dialogs.dialogs import AboutDialog, run_dialog
from lethe_app.ui.dialogs.shortcuts import ShortcutsDialog
from lethe_app.ui.shell.notification_history import NotificationsDialog

if TYPE_CHECKING:
    from collections.abc import Callable

    from lethe_app.paths import Paths
    from lethe_app.ui.controllers.appearance import AppearanceController
    from lethe_app.ui.controllers.model import ModelController
    from lethe_app.ui.shell.main_window import MainWindow


class GearMenu(Controller):
    """Menu that is rebuilt every time it opens, so that its check marks show the current settings."""

    def __init__(
        self,
        window: MainWindow,
        appearance: AppearanceController,
        model_controller: ModelController,
        paths: Paths,
    ) -> None:
        super().__init__(window)
        self._appearance, self._model_controller = appearance, model_controller
        self.menu = QMenu(window.sidebar.gear_button)
        self.menu.aboutToShow.connect(self.rebuild_menu)
        window.sidebar.gear_button.setMenu(self.menu)
        self._actions.connect(
            keyboard_shortcuts=partial(self._show_dialog, lambda: ShortcutsDialog(window)),
            notifications=partial(self._show_dialog, lambda: NotificationsDialog(window, self._notifier.history)),
            about=partial(self._show_dialog, lambda: AboutDialog(window)),
            open_data=partial(open_folder, paths.home),
        )

    def rebuild_menu(self) -> None:
        settings, colour = self._appearance.settings, self._theme.palette.muted
        self.menu.clear()
        for group in TabGroup:
            title, icon_name = group.value
            # The title of the action is that of the first tab; the menu leads to all of them.
            first = next(spec.name for spec in PAGES.values() if spec.tabs is group)
            title = QCoreApplication.translate("GearMenu", title)
            self.menu.addAction(load_icon(icon_name, colour), title, self._actions[first].trigger).setObjectName(first)
        for spec in (spec for spec in PAGES.values() if spec.menu_icon):
            self._add_action(spec.name, spec.menu_icon)
        self._add_action("import_files", "download")
        self.menu.addSeparator()
        themes = self.menu.addMenu(load_icon("moon" if self._theme.palette.is_dark else "sun", colour), self.tr("Theme"))
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
        self.menu.addAction(
            load_icon("model", colour),
            self.tr("Add model folder…"),
            self._tasks.create_callback(self._model_controller.add_folder, key="folder"),
        )
        self._add_action("open_data", "folder")
        self.menu.addSeparator()
        for name in ("palette", "keyboard_shortcuts", "notifications"):
            self.menu.addAction(self._actions[name])
        self._add_action("about", "info")

    def _add_action(self, name: str, icon_name: str) -> None:
        self._actions[name].setIcon(load_icon(icon_name, self._theme.palette.muted))
        self.menu.addAction(self._actions[name])

    def _add_text_menu(self, size: int, font: ProseFont) -> None:
        text = self.menu.addMenu(self.tr("Text"))
        title = text.addAction(self.tr("{size} pixels").format(size=size))
        title.setEnabled(False)
        for name in ("larger_text", "smaller_text", "reset_text_size"):
            text.addAction(self._actions[name])
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

    def _show_dialog(self, create_dialog: Callable[[], QDialog]) -> None:
        async def show() -> None:
            await run_dialog(create_dialog())

        self._tasks.start_task(show(), key="shown dialog")
