"""Notifications of errors and results; the only place in the window where an error is turned into text."""

from __future__ import annotations

import logging
import re
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtWidgets import QApplication, QWidget

from lethe_app.errors import DatabaseDamaged, LetheError, ModelError
from lethe_app.ui.core.palette import SPACE_2, SPACE_4
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.shell.notification import Notification

if TYPE_CHECKING:
    from lethe_app.ui.shell.toast import Toast

MAX_TOASTS = 4
"""Maximum number of visible toasts; the oldest is closed for a new one."""
MAX_HISTORY = 50
"""Number of notifications that can be read again."""
MAX_WIDTH = 420
"""Maximum width of a toast in pixels."""

MAX_COMPARED_TITLE = 20
"""Characters of a title that every notification has of it."""

_EXIT_CODE = re.compile(r" \(code -?\d+\)")
"""Exit code in an error message; it is hidden from the user, and the log keeps it."""

log = logging.getLogger(__name__)


class Notifier(QObject):
    """Toasts over a widget, at the right edge of the area in which they hide least, and the notifications of this start."""

    def __init__(
        self, toast_parent: QWidget, theme: Theme, find_area: Callable[[int], tuple[QRect, Qt.Edge]] | None = None
    ) -> None:
        """Create the notifier; `find_area` returns the area for toasts of a total height in pixels, and whether they lie at its
        top or bottom.
        """
        super().__init__()
        self.history: deque[Notification] = deque(maxlen=MAX_HISTORY)
        """Notifications that were shown, the newest last."""
        self._toast_parent, self._theme = toast_parent, theme
        self._find_area = find_area or (lambda _height: (toast_parent.rect(), Qt.Edge.TopEdge))
        self._remedies: dict[type[LetheError], tuple[str, Callable[[], None], bool]] = {}
        """Button and action for errors of a class, and whether they replace the error's remedy text."""
        self._toasts: list[Toast] = []
        self._undoable: tuple[str, Callable[[], None]] | None = None
        """What was done, and how it is undone after its notification has faded."""
        toast_parent.installEventFilter(self)
        theme.changed.connect(self._apply_theme)

    def register_remedy(
        self, error_class: type[LetheError], button: str, action: Callable[[], None], *, replaces_text: bool = False
    ) -> None:
        """Register a button for errors of class `error_class`; with `replaces_text` it replaces the error's remedy text."""
        self._remedies[error_class] = (button, action, replaces_text)

    def notify(
        self,
        text: str,
        detail: str = "",
        button: str = "",
        action: Callable[[], None] | None = None,
        *,
        is_lasting: bool = False,
    ) -> Callable[[], None]:
        """Show a notification that is not an error. It closes by itself, a lasting one after a minute, or earlier by the
        function that is returned.
        """
        return self._show_notice(Notification(text, detail, button=button, action=action, is_lasting=is_lasting))

    def report_error(self, error: BaseException) -> Callable[[], None]:
        """Show an error: a `LetheError` with its own texts, any other as an unexpected error with a traceback to copy. Both
        are logged. It closes after a minute, or earlier by the function that is returned.
        """
        if isinstance(error, LetheError):
            log.info("shown to the user: %s", error)
            return self._show_notice(self._create_notice(error))
        log.error("unexpected error", exc_info=error)
        details = crash_report(error)
        return self._show_notice(
            Notification(
                self.tr("Lethe ran into an unexpected error."),
                self.tr("Your conversations are saved. If it happens again, please report it and include the details."),
                is_error=True,
                button=self.tr("Copy details"),
                action=lambda: QApplication.clipboard().setText(details),
                traceback=details,
            )
        )

    def _create_notice(self, error: LetheError) -> Notification:
        text = _EXIT_CODE.sub("", error.message)
        remedy = next((self._remedies[kind] for kind in type(error).__mro__ if kind in self._remedies), None)
        if remedy is None:
            return Notification(text, error.remedy, is_error=True, error_class=type(error))
        button, action, replaces_text = remedy
        detail = "" if replaces_text else error.remedy
        return Notification(text, detail, is_error=True, button=button, action=action, error_class=type(error))

    def notify_undoable(self, text: str, undo: Callable[[], object], detail: str = "") -> Callable[[], None]:
        """Show a notification of a change with the button “Undo”, and keep the change for `undo_last`, also after the
        notification has faded, until the next one. The function that is returned withdraws both.
        """

        def run_undo() -> None:
            forget()
            undo()

        def forget() -> None:
            if self._undoable is change:
                self._undoable = None

        def withdraw() -> None:
            forget()
            close()

        close = self.notify(text, detail, button=self.tr("Undo"), action=run_undo)
        change = self._undoable = (text, run_undo)
        return withdraw

    def undo_last(self) -> bool:
        """Undo the change of the newest notification with the button “Undo”, else the one kept; return whether there is one."""
        title = self.tr("Undo")
        button = next((toast.button for toast in reversed(self._toasts) if toast.notice.button == title), None)
        change = self._undoable
        if button is not None:
            button.click()
        elif change is not None:
            text, undo = change
            undo()
            self.notify(self.tr("Undone"), self.tr("Taken back: {change}").format(change=text))
        return button is not None or change is not None

    def drop_undoable(self) -> None:
        """Keep the newest change no longer, because something else was done since."""
        self._undoable = None

    def withdraw_undoable(self, title: str) -> None:
        """Offer no longer to undo what was done with the item of this title, because the Trash has restored it."""
        beginning = f"“{title[:MAX_COMPARED_TITLE]}"
        if self._undoable is not None and beginning in self._undoable[0]:
            self.drop_undoable()
        for toast in list(self._toasts):
            if toast.notice.button == self.tr("Undo") and beginning in toast.notice.text:
                toast.dismiss()

    def retract_errors(self, *error_classes: type[LetheError]) -> None:
        """Close the errors of these classes, because their cause is gone."""
        for toast in list(self._toasts):
            if issubclass(toast.notice.error_class, error_classes):
                toast.dismiss()

    def hurry_errors(self) -> None:
        """Let errors fade soon, because the page is left on which they were reported; those of the model and of damage
        concern all pages."""
        for toast in self._toasts:
            if toast.notice.is_error and not issubclass(toast.notice.error_class, ModelError | DatabaseDamaged):
                toast.keep_briefly()

    def _show_notice(self, notice: Notification) -> Callable[[], None]:
        from lethe_app.ui.shell.toast import Toast  # noqa: PLC0415 - only a window with something to say needs it

        for toast in list(self._toasts):
            if (toast.notice.text, toast.notice.detail) == (notice.text, notice.detail):
                toast.dismiss()  # a repeated notification replaces the earlier one, whose button may be outdated
        while len(self._toasts) >= MAX_TOASTS:
            self._toasts[0].dismiss()
        toast = Toast(self._toast_parent, self._theme, notice)
        toast.dismissed.connect(self._remove_toast)
        self._toasts.append(toast)
        toast.show_toast()
        self.arrange_toasts()

        def close() -> None:
            if toast in self._toasts:
                toast.dismiss()

        self.history.append(notice)
        return close

    def _remove_toast(self, toast: Toast) -> None:
        if toast in self._toasts:
            self._toasts.remove(toast)
        self.arrange_toasts()

    def _apply_theme(self) -> None:
        for toast in self._toasts:
            toast.apply_theme()
        self.arrange_toasts()

    def arrange_toasts(self) -> None:
        """Place the toasts in the area for them; the oldest are closed if it is too low for all."""
        if not self._toasts:
            return
        area, _edge = self._find_area(0)
        for toast in self._toasts:
            toast.fit_to_width(min(MAX_WIDTH, area.width() - 2 * SPACE_4))
        while len(self._toasts) > 1 and self._total_height() > area.height():
            self._toasts[0].dismiss()  # arranges the others
        area, edge = self._find_area(self._total_height())
        y = area.top() + SPACE_2 if edge is Qt.Edge.TopEdge else area.bottom() - self._total_height()
        for toast in self._toasts:
            toast.move(area.right() - toast.width() - SPACE_4, y)
            toast.raise_()
            y += toast.height() + SPACE_2

    def _total_height(self) -> int:
        return sum(toast.height() + SPACE_2 for toast in self._toasts) + SPACE_2

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        del watched
        if event.type() in {QEvent.Type.Resize, QEvent.Type.LayoutRequest}:
            self.arrange_toasts()
        return False


def crash_report(error: BaseException) -> str:
    """Return the traceback with Python and system version for a bug report, without any text of the user."""
    import platform  # noqa: PLC0415 - together with the next a tenth of the time to the first paint
    import traceback  # noqa: PLC0415

    trace = "".join(traceback.format_exception(error))
    return f"Lethe on Python {platform.python_version()}, {platform.platform()}\n\n{trace}"
