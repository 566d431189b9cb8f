"""Main window: painted first as an outline that needs only Qt, then built, and filled when the services are open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6 import QtCore
from PySide6.QtCore import QByteArray, QPoint, QRect, QSettings, QSize, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QAbstractScrollArea, QApplication, QMainWindow, QStackedWidget, QWidget

from lethe_app.ui.core.accessibility import chain_focus
from lethe_app.ui.core.palette import DAY, Palette, choose_palette
from lethe_app.ui.shell.skeleton import Skeleton

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from lethe_app.paths import Paths
    from lethe_app.ui.chat.chat_panel import ChatPanel
    from lethe_app.ui.chat.memory_panel import MemoryPanel
    from lethe_app.ui.core.actions import Actions
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.core.theme import Theme
    from lethe_app.ui.shell.notifier import Notifier
    from lethe_app.ui.shell.panes import WindowPanes
    from lethe_app.ui.shell.sidebar import Sidebar


FRAME_SIZE = QSize(16, 48)
"""Assumed size of the window frame and title bar in pixels, which is unknown before the window is shown."""
MIN_SIZE = QSize(420, 320)
"""Minimum size in pixels: a screen of 1280 × 800 has 640 × 400 at twice the usual scale, less the frame and a task bar."""
MAX_LIGHTNESS = 255
"""Lightness of white."""


class MainWindow(QMainWindow):
    """Outline first, `build_panes` after the first paint, a controller fills it when the services are open.

    Widgets are imported in `build_panes` instead of at the top, so that the first paint does not wait for imports it does
    not need.
    """

    closed = Signal()
    restarts = False
    """Whether Lethe starts again after the window was closed."""
    theme: Theme
    window_actions: Actions
    sidebar: Sidebar
    chat: ChatPanel
    memory_panel: MemoryPanel
    panes: WindowPanes
    pages: QStackedWidget
    notifier: Notifier
    tasks: TaskRunner

    def __init__(self, paths: Paths, clock: Callable[[], datetime] | None = None, *, build_at_once: bool = True) -> None:
        super().__init__()
        self.paths = paths
        self._window_settings = QSettings(str(paths.window), QSettings.Format.IniFormat)
        self._welcome_pages: list[QWidget] = []
        self._persona_name = self._page_title = ""
        self._has_panes = False
        self._is_first_start = str(self._window_settings.value("welcomed")).lower() != "true"
        self.setWindowTitle("Lethe")
        self.setMinimumSize(MIN_SIZE)
        self.resize(1280, 800)
        geometry = self._window_settings.value("geometry")
        self._has_stored_geometry = isinstance(geometry, QByteArray) and self.restoreGeometry(geometry)
        self.setCentralWidget(Skeleton(self._choose_first_palette(), show_outlines=not self._is_first_start))
        if build_at_once:
            self.build_panes(clock)

    def _choose_first_palette(self) -> Palette:
        """Return the palette of the last time; the first time, the one that is nearest to the system's own colours.

        The system's colour scheme is not asked for before the first paint, nor `Qt` imported above: the first use of that
        namespace creates its 93 enumerations, which takes a tenth of the time to the first paint.
        """
        name = str(self._window_settings.value("palette", ""))
        is_light = name == DAY.name if name else QApplication.palette().window().color().lightness() > MAX_LIGHTNESS // 2
        return choose_palette(str(self._window_settings.value("theme", "system")), system_is_light=is_light)

    def build_panes(self, clock: Callable[[], datetime] | None = None) -> None:
        """Build all panes, with empty lists."""
        from lethe_app.domain.clock import now
        from lethe_app.ui.chat.chat_panel import ChatPanel
        from lethe_app.ui.chat.memory_panel import MemoryPanel
        from lethe_app.ui.core.actions import Actions
        from lethe_app.ui.core.tasks import TaskRunner
        from lethe_app.ui.core.theme import PROSE_SIZE, Theme
        from lethe_app.ui.shell.notifier import Notifier
        from lethe_app.ui.shell.panes import WindowPanes
        from lethe_app.ui.shell.sidebar import Sidebar

        application = QApplication.instance()
        assert isinstance(application, QApplication)
        choice = str(self._window_settings.value("theme", "system"))
        size = int(str(self._window_settings.value("text", PROSE_SIZE)))
        self.theme = Theme(application, self.paths.resources / "theme", choice, size)
        self.theme.setParent(self)
        self.clock = clock or now
        self.window_actions = Actions(self)
        self.sidebar = Sidebar(self.theme, self.clock)
        self.chat = ChatPanel(self.theme)
        self.memory_panel = MemoryPanel(self.theme)
        is_panel_enabled = str(self._window_settings.value("memory_panel")).lower() == "true"
        self.panes = WindowPanes(self.theme, self.sidebar, self.chat, self.memory_panel, is_panel_enabled=is_panel_enabled)
        self.pages = QStackedWidget()
        self.pages.addWidget(self.panes)
        self.notifier = Notifier(self.pages, self.theme, self._find_toast_area)
        self.tasks = TaskRunner(self.notifier.report_error)
        self.chat.installEventFilter(self.notifier)  # its width depends on the panes beside it
        self._has_panes = True
        self.panes.text_typed.connect(self.chat.composer.insert_text)
        self._connect()
        self._set_icons()

    def _connect(self) -> None:
        panes = self._window_settings.value("panes")
        if isinstance(panes, QByteArray):
            self.panes.restore_state(panes)
        self.pages.currentChanged.connect(lambda _number: self._update_actions())
        self.pages.currentChanged.connect(lambda _number: self.notifier.arrange_toasts())
        if self._is_first_start:  # instead of empty lists until the welcome screen is shown
            self.show_welcome_page(Skeleton(self.theme.palette, show_outlines=False))
        self.setCentralWidget(self.pages)
        self.panes.sidebar_shown.connect(self._on_sidebar_shown)
        self.chat.header.sidebar_button.clicked.connect(self.panes.toggle_sidebar)
        self.panes.overlay_shown.connect(self.notifier.arrange_toasts)
        self.panes.panel_shown.connect(lambda _is_shown: self.notifier.arrange_toasts())
        self.window_actions.connect(
            sidebar=self.panes.toggle_sidebar,
            next_pane=self._go_to_next_pane,
            quit=self.close,
        )
        self.chat.composer.draft_field.setFocus()

    def _set_icons(self) -> None:
        """Set the icons. They are rendered from SVG, so this is not part of building the widgets."""
        from lethe_app.ui.core.icons import application_icon

        self.setWindowIcon(application_icon())
        self.sidebar.apply_theme()
        self.chat.apply_theme()

    def _find_toast_area(self, height: int) -> tuple[QRect, QtCore.Qt.Edge]:
        """Return where toasts of that height hide least: in a conversation the end if they have room below the newest words,
        otherwise the beginning; on a page the end, because its head and search field are at the beginning; on the welcome page
        the empty corner.
        """
        page = self.pages.currentWidget()
        if page is not self.panes:
            return self.pages.rect(), QtCore.Qt.Edge.TopEdge if page in self._welcome_pages else QtCore.Qt.Edge.BottomEdge
        header = self.chat.header
        top_left = header.mapTo(self.pages, QPoint(0, header.height()))
        bottom_right = self.chat.mapTo(self.pages, QPoint(self.chat.width() - 1, self.chat.composer.y() - 1))
        is_head_covered = self.panes.is_narrow and self.panes.is_panel_open
        is_end_free = self.chat.free_height > height
        is_end = is_head_covered or is_end_free
        return QRect(top_left, bottom_right), QtCore.Qt.Edge.BottomEdge if is_end else QtCore.Qt.Edge.TopEdge

    def set_transcript(self, transcript: QAbstractScrollArea) -> None:
        """Show `transcript` as the messages of the session on display."""
        self.chat.set_view(transcript)
        transcript.verticalScrollBar().rangeChanged.connect(lambda *_range: self.notifier.arrange_toasts())
        self._set_tab_order()

    def store_window_value(self, key: str, value: object) -> None:
        """Store a value in the window state, which the first paint reads before the settings are loaded."""
        self._window_settings.setValue(key, value)

    def bring_to_front(self) -> None:
        """Show the window in front of other windows, also if it is minimised."""
        self.setWindowState(self.windowState() & ~QtCore.Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def limit_size(self, screen_size: QSize) -> None:
        """Limit the size of a window without stored geometry to the screen, less `FRAME_SIZE`."""
        if not self._has_stored_geometry:
            self.resize(self.size().boundedTo(screen_size - FRAME_SIZE))

    def set_persona(self, name: str, tagline: str) -> None:
        """Show the names of the participants in title, header and composer, and the tagline in the header."""
        self._persona_name = name
        self._update_title()
        self.chat.header.name_label.set_full_text(name)
        self.chat.header.tagline_label.set_full_text(tagline)
        self.chat.composer.set_addressee(name)

    def set_page_title(self, title: str) -> None:
        """Show the title of the page that covers the conversation in the window's title; empty for the conversation."""
        self._page_title = title
        self._update_title()

    def _update_title(self) -> None:
        self.setWindowTitle(" — ".join(filter(None, (self._page_title or self._persona_name, "Lethe"))))

    def show_page(self, page: QWidget) -> None:
        """Show `page` instead of the session."""
        self.pages.addWidget(page)
        self.pages.setCurrentWidget(page)

    def remove_page(self, page: QWidget) -> None:
        """Remove a page of `show_page`; the one before it is shown."""
        self.pages.removeWidget(page)
        page.deleteLater()
        if self._welcome_pages:
            self.pages.setCurrentWidget(self._welcome_pages[-1])

    def show_welcome_page(self, page: QWidget) -> None:
        """Show `page` while there is no session; `close_welcome_pages` removes it."""
        self._welcome_pages.append(page)
        self.show_page(page)

    def close_welcome_pages(self) -> None:
        """Remove the welcome pages. A page that was opened meanwhile stays visible."""
        for page in self._welcome_pages:
            if self.pages.currentWidget() is page:
                self.pages.setCurrentWidget(self.panes)
            self.pages.removeWidget(page)
            page.deleteLater()
        self._welcome_pages.clear()
        self._update_actions()
        self.chat.focus_composer()

    def _update_actions(self) -> None:
        self.window_actions.update_visibility(
            is_session_visible=self.pages.currentWidget() is self.panes, is_welcome_visible=bool(self._welcome_pages)
        )

    # Panes and focus

    def _on_sidebar_shown(self, is_shown: bool) -> None:
        self.chat.header.sidebar_button.setVisible(not is_shown)
        self._set_tab_order()

    def _set_tab_order(self) -> None:
        """Set the tab order to the visual order; a pane that was reparented would otherwise come last."""
        side, chat = self.sidebar, self.chat
        stops = [
            side.search_field,
            side.new_session_button,
            side.session_list,
            side.new_persona_button,
            side.gear_button,
            chat.header.sidebar_button,
            chat.header.group_button,
        ]
        stops += [
            chat.status,
            chat.header.speech.stop_button,
            chat.header.speech.speak_button,
            chat.view,
            chat.speaker_chooser.button,
            chat.composer.draft_field,
            chat.composer.microphone_button,
            chat.composer.send_button,
        ]
        stops += [self.memory_panel.prompt_button]
        chain_focus(*stops)

    def focus_composer(self) -> None:
        """Close the drawer and focus the message box, unless a page covers it."""
        self.panes.close_drawer()
        self.chat.focus_composer()

    def go_to_sidebar(self) -> None:
        """Show the sidebar and move the focus to its list."""
        self.panes.show_sidebar()
        self.sidebar.focus_list()

    def go_to_search(self) -> None:
        """Show the sidebar and move the focus to its search field."""
        self.panes.show_sidebar()
        self.sidebar.focus_search()

    def _go_to_next_pane(self) -> None:
        """Move the focus from pane to pane: sidebar, messages, input field, memory panel, and back to the sidebar."""
        focus = QApplication.focusWidget()
        if focus is not None and self.sidebar.isAncestorOf(focus):
            self.panes.close_drawer()
            self.chat.view.setFocus(QtCore.Qt.FocusReason.ShortcutFocusReason)
        elif focus is not None and (focus is self.chat.view or self.chat.view.isAncestorOf(focus)):
            self.chat.composer.draft_field.setFocus()
        elif focus is not None and self.panes.is_panel_open and self.chat.composer.isAncestorOf(focus):
            self.memory_panel.first_focus_widget().setFocus()
        else:
            self.go_to_sidebar()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Press the focused button with Enter too, which Qt does in dialogs only."""
        button = QApplication.focusWidget()
        is_enter = event.key() in {QtCore.Qt.Key.Key_Return, QtCore.Qt.Key.Key_Enter} and not event.isAutoRepeat()
        if is_enter and isinstance(button, QAbstractButton):
            button.click()
        else:
            super().keyPressEvent(event)

    # Window state

    def closeEvent(self, event: QCloseEvent) -> None:
        self.store_window_value("geometry", self.saveGeometry())
        if self._has_panes and not self.panes.is_narrow:
            self.store_window_value("panes", self.panes.save_state())
        if self._has_panes:
            self.store_window_value("memory_panel", self.panes.is_panel_enabled)
        self._window_settings.sync()
        super().closeEvent(event)
        self.closed.emit()
