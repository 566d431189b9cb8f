"""Notify of replies and reminders, on the desktop while the window is not in front."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication, QSystemTrayIcon

from lethe_app.services.events import ReplyFinished
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.core.formatting import truncate_text
from lethe_app.ui.core.icons import application_icon
from lethe_app.ui.pages.mind.labels import format_due_date

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lethe_app.domain.memory import MemoryUnit
    from lethe_app.services.events import TurnEvent
    from lethe_app.services.memory.service import MemoryService
    from lethe_app.services.personas.reminders import Reminders
    from lethe_app.services.preferences import Preferences
    from lethe_app.services.sessions.archive_queue import ArchiveProgress, ArchiveQueue
    from lethe_app.ui.controllers.conversation.replies import ReplyController
    from lethe_app.ui.shell.main_window import MainWindow

SHOWN_MS = 8000
"""Time for which a notification is shown."""
MAX_TEXT_LENGTH, MAX_REMINDER_LENGTH = 140, 80
"""Maximum number of characters of a reply or due reminder in a notification, and of a reminder that was set."""


class DesktopNotifications(Controller):
    """Icon in the system tray, if there is one, and its notifications. They contain the text of messages only if the user
    allows it.
    """

    def __init__(
        self,
        window: MainWindow,
        preferences: Preferences,
        archive_queue: ArchiveQueue,
        reminders: Reminders,
        memory: MemoryService,
        replies: ReplyController,
    ) -> None:
        super().__init__(window)
        self._preferences, self._memory = preferences, memory
        self._archiving_title: str = ""
        self.tray = QSystemTrayIcon(application_icon(), self)
        self.tray.setToolTip("Lethe")
        self.tray.activated.connect(lambda _reason: window.bring_to_front())
        self.tray.messageClicked.connect(window.bring_to_front)
        self._unsubscribers += [
            archive_queue.changed.add(self._on_archive_progress),
            reminders.due.add(lambda found: self._notify_reminders([due.content for _persona_id, due in found])),
            reminders.requested.add(self._notify_set),
        ]
        self.follow(self._update_tray, preferences.changed)
        replies.event_received.connect(lambda _turn, event: self.notify_reply(event))
        self._update_tray()

    def close(self) -> None:
        """Disconnect from the services and hide the icon."""
        super().close()
        self.tray.hide()

    def notify_reply(self, event: TurnEvent) -> None:
        """Notify of a complete reply."""
        if isinstance(event, ReplyFinished):
            shown = truncate_text(" ".join(event.message.content.split()), MAX_TEXT_LENGTH)
            self._show_notification(self.tr("{name} replied").format(name=event.message.speaker_name), shown)

    def _notify_reminders(self, texts: Sequence[str]) -> None:
        """Show due reminders as one notification: on the desktop, or in the window if that is active."""
        first, others = " ".join(texts[0].split()), len(texts) - 1
        template = self.tr("{first} (and {n} more)") if others else "{first}"
        if self.is_out_of_sight:
            self._show_notification(self.tr("Reminder"), template.format(first=first[:MAX_TEXT_LENGTH], n=others))
        else:
            self._notifier.notify(template.format(first=first, n=others))

    def _on_archive_progress(self, progress: ArchiveProgress) -> None:
        """Notify once a session is archived, not for each part of it."""
        previous_title, self._archiving_title = self._archiving_title, progress.title if progress.session is not None else ""
        if previous_title and progress.session is None:
            self._show_notification(self.tr("Conversation archived"), previous_title)

    def _show_notification(self, title: str, text: str) -> None:
        settings = self._preferences.current
        if settings.notify and self.is_out_of_sight:
            self.tray.showMessage(title, text if settings.notify_with_words else "", application_icon(), SHOWN_MS)
            QApplication.alert(self._window)

    @property
    def is_out_of_sight(self) -> bool:
        """Return whether the window is hidden, minimised or not active."""
        return not self._window.isVisible() or self._window.isMinimized() or not self._window.isActiveWindow()

    def _update_tray(self) -> None:
        self.tray.setVisible(self._preferences.current.notify and QSystemTrayIcon.isSystemTrayAvailable())

    def _notify_set(self, reminder: MemoryUnit) -> None:
        """Say which reminder was set; the button removes it again."""
        self._notifier.notify(
            self.tr("Reminder set: {when}").format(when=format_due_date(reminder.added)),
            truncate_text(reminder.content, MAX_REMINDER_LENGTH),
            button=self.tr("Undo"),
            action=self._tasks.create_callback(self._remove_reminder, reminder),
        )

    async def _remove_reminder(self, reminder: MemoryUnit) -> None:
        await self._memory.forget_memory(reminder.guid)
        self._notifier.notify(self.tr("The reminder was removed"))
