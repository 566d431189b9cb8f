"""Small dialogs: one primary action, Enter and Esc work, and the event loop is not blocked while they are open.

What they contain is shown whole if the screen has room, otherwise scrolled, with the buttons always visible.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QSize, Qt, qVersion
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QCheckBox, QDialog, QLabel, QLineEdit, QPushButton, QWidget

from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.icons import application_icon
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4, SPACE_6
from lethe_app.ui.core.tasks import CONFIRMED_TASKS
from lethe_app.ui.widgets.form import build_field_label
from lethe_app.ui.widgets.labels import build_small_label, create_text_label
from lethe_app.ui.widgets.layouts import ContentArea, build_column, build_row
from lethe_app.ui.widgets.text_area import TextAreaField

DIALOG_MARGINS = (SPACE_6, SPACE_6, SPACE_6, SPACE_4)
"""Margins of a dialog's content in pixels."""
MIN_CONTENT_HEIGHT = 96
"""Minimum visible height of the content, in pixels."""


class GrowingScrollArea(ContentArea):
    """Scroll area with content in `column`; `on_content_changed` is called when the content may need another height."""

    def __init__(self, spacing: int, on_content_changed: Callable[[], None]) -> None:
        content = QWidget()
        super().__init__(content)
        self._on_content_changed = on_content_changed
        self.column = build_column(spacing=spacing, parent=content)
        content.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        is_handled = super().eventFilter(watched, event)
        if watched is self.widget() and event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
            self._on_content_changed()
        return is_handled

    def content_height(self, width: int) -> int:
        """Return the height in pixels of the whole content in a width of `width` pixels."""
        wrapped_height = self.column.totalHeightForWidth(width) if self.column.hasHeightForWidth() else 0
        return max(wrapped_height, self.column.totalMinimumSize().height())

    def sizeHint(self) -> QSize:
        width = self.column.totalSizeHint().width()
        return QSize(width, self.content_height(width))

    def minimumSizeHint(self) -> QSize:
        """Return the width of the content, limited by the screen, and the height of a line or two."""
        least = self.column.totalMinimumSize()
        return QSize(min(least.width(), max_dialog_size(self).width() - 2 * SPACE_6), min(least.height(), MIN_CONTENT_HEIGHT))


def max_dialog_size(widget: QWidget) -> QSize:
    """Return the maximum size of a dialog on the screen of `widget`, in pixels."""
    return widget.screen().availableSize() - QSize(SPACE_3, SPACE_6)  # room for the frame of the window system


async def run_dialog(dialog: QDialog) -> bool:
    """Show `dialog` modally to its window, wait until it is closed, and return whether it was accepted. It is deleted when the
    calling task ends, so that what was entered can be read after other awaits, too. Once it was accepted, another task with the
    key of the calling one does not cancel that one.
    """
    task = asyncio.current_task()
    assert task is not None
    answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    dialog.finished.connect(lambda code: None if answer.done() else answer.set_result(code))
    dialog.open()
    try:
        is_accepted = await answer == QDialog.DialogCode.Accepted
        if is_accepted:
            CONFIRMED_TASKS.add(task)
        return is_accepted
    finally:
        dialog.close()
        task.add_done_callback(lambda _task: _delete_later(dialog))


def _delete_later(dialog: QDialog) -> None:
    with suppress(RuntimeError):  # deleted already, with its window
        dialog.deleteLater()


class ContentDialog(QDialog):
    """Dialog with content that scrolls if the screen is too small for it, and two buttons below: Enter activates the primary
    one, Esc cancels. Without a `button` it only shows something, and has one that closes it.
    """

    width_in_characters = 0
    """Width in average characters that is easy to read; 0 for that of the content."""
    max_height = 16_777_215
    """Maximum height in pixels, by default Qt's own; more is scrolled."""

    def __init__(self, parent: QWidget, title: str, button: str = "", *, danger: bool = False, spacing: int = SPACE_4) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        tr = QCoreApplication.translate
        self.cancel = create_dialog_button(tr("Dialog", "Cancel"), "filled", self.reject)
        style = "danger" if danger else "primary" if button else "filled"
        self.primary = create_dialog_button(button or tr("Dialog", "Close"), style, self.accept)
        self.primary.setDefault(True)
        self.buttons = build_row(1, self.cancel, self.primary, spacing=SPACE_2)
        self._scroll_area = GrowingScrollArea(spacing, self.fit_to_content)
        self.column = self._scroll_area.column
        """Layout of the content."""
        items = ((self._scroll_area, 1), self.buttons)
        self._outer_column = build_column(*items, spacing=spacing, margins=DIALOG_MARGINS, parent=self)
        if not button:
            self.cancel.hide()
            self._scroll_area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # so that the arrow keys scroll
            self._scroll_area.setAccessibleName(title)

    def fit_to_content(self) -> None:
        """Set the height to that of the content: Qt does not derive a dialog's height from wrapped text in the dialog's width.
        Without a width of its own, the dialog is never made smaller.
        """
        self.ensurePolished()
        width = self.width()
        if self.width_in_characters:
            width = self.fontMetrics().averageCharWidth() * self.width_in_characters + 2 * SPACE_6
            width = min(width, max_dialog_size(self).width())
        needed = min(self._fitting_height(width), self.max_height)
        self.resize(width, needed if self.width_in_characters else max(self.height(), needed))

    def _fitting_height(self, width: int) -> int:
        """Return the height that shows the whole content in a width of `width` pixels, limited by the screen."""
        column, margins = self._outer_column, self._outer_column.contentsMargins()
        wrapped_height = column.totalMinimumHeightForWidth(width) if column.hasHeightForWidth() else 0
        total_height = max(wrapped_height, column.totalMinimumSize().height())
        content_height = self._scroll_area.content_height(width - margins.left() - margins.right())
        needed = total_height - self._scroll_area.minimumSizeHint().height() + content_height
        return min(needed, max_dialog_size(self).height())

    def showEvent(self, event: QShowEvent) -> None:
        self.adjustSize()
        self.fit_to_content()
        super().showEvent(event)


class QuestionDialog(ContentDialog):
    """Dialog with its title above the content."""

    def __init__(self, parent: QWidget, title: str, button: str = "", *, danger: bool = False, spacing: int = SPACE_4) -> None:
        super().__init__(parent, title, button, danger=danger, spacing=spacing)
        self._outer_column.insertWidget(0, create_title_label(title))

    def add_paragraph(self, text: str, index: int = -1) -> None:
        """Add a paragraph of text, by default at the end."""
        label = create_text_label(text)
        label.setMinimumWidth(372)  # not the dialog itself: its own minimum would hide that of its buttons
        self.column.insertWidget(index, label)


class ConfirmDialog(QuestionDialog):
    """Confirmation of a deletion; the primary button names its object. Enter confirms one that the Trash can take back, and
    cancels one that is final.
    """

    def __init__(self, parent: QWidget, title: str, text: str, button: str, *, is_final: bool = False) -> None:
        super().__init__(parent, title, button, danger=True)
        self.add_paragraph(text)
        default = self.cancel if is_final else self.primary
        default.setDefault(True)
        default.setFocus()
        self.deletes_backups = False
        """True if the user wants to delete the backups as well."""

    def offer_backups(self, count: int) -> None:
        """Offer to delete the backups as well, if there are any."""
        if count:
            backups = format_count(count, self.tr("{n} backup"), self.tr("{n} backups"))
            box = QCheckBox(self.tr("Also delete {backups}, which may still contain it").format(backups=backups))
            box.toggled.connect(self._set_deletes_backups)
            self.column.addWidget(box)

    def _set_deletes_backups(self, is_checked: bool) -> None:
        self.deletes_backups = is_checked


class TextDialog(QuestionDialog):
    """Dialog that asks for a text of several lines; its primary button is enabled while there is one."""

    def __init__(self, parent: QWidget, title: str, button: str, field_name: str, text: str = "") -> None:
        super().__init__(parent, title, button, spacing=SPACE_3)
        self.field = TextAreaField(field_name, 4, 12)
        self.field.setMinimumWidth(440)
        self.field.textChanged.connect(lambda: self.primary.setEnabled(bool(self.entered_text)))
        self.column.addWidget(self.field)
        self.primary.setEnabled(False)
        self.field.set_text(text)
        self.field.setFocus()

    @property
    def entered_text(self) -> str:
        return self.field.text.strip()


class LineDialog(QuestionDialog):
    """Dialog that asks for a line of text; its primary button is enabled while there is one, unless it `may_be_empty`."""

    def __init__(
        self,
        parent: QWidget,
        title: str,
        button: str,
        field_name: str,
        text: str = "",
        *,
        max_length: int,
        may_be_empty: bool = False,
    ) -> None:
        super().__init__(parent, title, button)
        self.field = QLineEdit(text)
        self.field.setMaxLength(max_length)
        self.field.setMinimumWidth(320)
        self.field.setAccessibleName(field_name)
        self.column.addLayout(build_column(build_field_label(field_name, self.field), self.field, spacing=SPACE_1))
        self.field.textChanged.connect(lambda: self.primary.setEnabled(may_be_empty or bool(self.entered_text)))
        self.primary.setEnabled(may_be_empty or bool(self.entered_text))
        self.field.selectAll()
        self.field.setFocus()

    @property
    def entered_text(self) -> str:
        return self.field.text().strip()


class AboutDialog(ContentDialog):
    """Dialog with the description and version of the program."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, QCoreApplication.translate("AboutDialog", "About Lethe"), spacing=SPACE_3)
        sign = QLabel()
        sign.setPixmap(application_icon().pixmap(64, 64))
        headline = create_title_label(f"Lethe {installed_version()}".strip())
        description = create_text_label(
            self.tr("Conversations with personas who remember. Models, chats and memories all stay on this computer.")
        )
        description.setMinimumWidth(352)
        small = build_small_label(self.tr("MIT licence · Qt {qt}").format(qt=qVersion()))
        for label in (sign, headline, description, small):
            self.column.addWidget(label)


def create_title_label(text: str) -> QLabel:
    """Create the title label of a dialog."""
    label = create_text_label(text, "title")
    label.setWordWrap(False)
    return label


def create_dialog_button(text: str, style_property: str, callback: Callable[[], object]) -> QPushButton:
    """Create a button of a dialog's button row; `style_property` is a property that the stylesheet matches."""
    button = QPushButton(text.replace("&", "&&"))  # a name is shown as it is, without a mnemonic
    button.setProperty(style_property, True)
    button.clicked.connect(lambda _checked=False: callback())
    return button


def installed_version() -> str:
    """Return the installed version; empty if the package is not installed."""
    try:
        return version("lethe-app")
    except PackageNotFoundError:
        return ""
