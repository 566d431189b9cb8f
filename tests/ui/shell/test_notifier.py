"""Errors and news as toasts."""

from __future__ import annotations

import logging

import pytest
from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget

from lethe_app.errors import ModelCrashed, ModelError, StorageError
from lethe_app.ui.shell import toast as toast_module
from lethe_app.ui.shell.notification_history import NotificationsDialog
from lethe_app.ui.shell.notifier import MAX_TOASTS, Notifier
from lethe_app.ui.shell.toast import Toast


@pytest.fixture
def place(qtbot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    made.resize(900, 700)
    made.show()
    return made


@pytest.fixture
def notifier(place, theme) -> Notifier:
    return Notifier(place, theme)


def toasts(place: QWidget) -> list[Toast]:
    return [toast for toast in place.findChildren(Toast) if not toast.isHidden()]


def test_an_error_is_shown_in_its_own_words_and_fades_after_a_minute(place, notifier):
    notifier.report_error(ModelError("The model ran out of memory.", "Choose a smaller one."))

    (toast,) = toasts(place)
    assert (toast.text, toast.detail) == ("The model ran out of memory.", "Choose a smaller one.")
    assert toast.is_error
    assert toast.remaining_ms > toast_module.BUTTON_DISPLAY_MS
    assert toast.accessibleName().startswith("Error: The model ran out of memory.")


def test_news_fades_by_itself(place, notifier, theme, qtbot, monkeypatch):
    theme.reduced_motion = True
    monkeypatch.setattr(toast_module, "DISPLAY_MS", 1)
    notifier.notify("Deleted.")

    assert len(toasts(place)) == 1
    qtbot.waitUntil(lambda: not toasts(place))


def test_news_with_a_button_stay_longer_than_those_without(place, notifier):
    notifier.notify("Saved.")
    notifier.notify("Deleted.", button="Undo", action=lambda: None)

    plain, offer = sorted(toasts(place), key=lambda toast: toast.text, reverse=True)
    assert (plain.text, offer.text) == ("Saved.", "Deleted.")
    assert offer.remaining_ms > plain.remaining_ms + 2000


def test_a_known_error_offers_its_remedy(place, notifier):
    pressed = []
    notifier.register_remedy(ModelCrashed, "Restart", lambda: pressed.append(True))
    notifier.report_error(ModelCrashed("The model's process ended."))

    (toast,) = toasts(place)
    button = next(button for button in toast.findChildren(QPushButton) if button.text() == "Restart")
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    assert pressed == [True]
    assert toasts(place) == []


def test_a_button_that_is_enough_says_the_remedy_alone_and_codes_are_left_out(place, notifier):
    notifier.register_remedy(ModelCrashed, "Restart", lambda: None, replaces_text=True)
    notifier.report_error(ModelCrashed("The model stopped working (code 9). All is safe.", "Restart the model to continue."))

    (toast,) = toasts(place)
    assert (toast.text, toast.detail) == ("The model stopped working. All is safe.", "")


def test_a_bug_of_ours_is_logged_once_and_can_be_copied(place, notifier, quiet_log):
    notifier.report_error(KeyError("lost"))

    assert [record.levelno for record in quiet_log.records] == [logging.ERROR]
    quiet_log.records.clear()
    (toast,) = toasts(place)
    assert toast.text == "Lethe ran into an unexpected error."
    QTest.mouseClick(toast.findChildren(QPushButton)[0], Qt.MouseButton.LeftButton)
    assert "KeyError: 'lost'" in QApplication.clipboard().text()


def test_what_is_told_before_the_window_is_shown_is_there_when_it_is(qtbot, theme):
    place = QWidget()
    qtbot.addWidget(place)
    Notifier(place, theme).report_error(ModelError("Too early."))

    place.show()

    (toast,) = toasts(place)
    assert toast.text == "Too early."
    assert toast.isVisible()


def test_the_same_error_twice_is_shown_once(place, notifier):
    for _time in range(3):
        notifier.report_error(ModelError("Again."))

    assert len(toasts(place)) == 1


def test_toasts_never_fill_the_window(place, notifier):
    for number in range(MAX_TOASTS + 3):
        notifier.report_error(ModelError(f"Error {number}."))

    assert [toast.text for toast in toasts(place)] == [f"Error {number}." for number in range(3, MAX_TOASTS + 3)]


def test_toasts_stay_inside_a_window_that_shrinks(place, notifier, qtbot):
    notifier.report_error(ModelError("A sentence that is long enough to be wrapped in a narrow window, and then once more."))
    place.resize(430, 500)
    qtbot.waitUntil(lambda: place.rect().contains(toasts(place)[0].geometry()))


def test_long_words_are_not_cut_off(place, notifier):
    long = "What was said is in the trash for thirty days, with all that was learnt from it, and can be had back."
    notifier.notify("Forgotten.", long)

    (toast,) = toasts(place)
    labels = [label for label in toast.findChildren(QLabel) if label.wordWrap()]
    assert len(labels) == 2
    assert all(label.height() >= label.heightForWidth(label.width()) for label in labels)


@pytest.mark.parametrize("length", [4, 12, 40])
def test_a_toast_that_is_shown_is_not_laid_out_again_and_again(place, notifier, length):
    class Requests(QObject):
        count = 0

        def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's spelling
            self.count += event.type() is QEvent.Type.LayoutRequest
            return False

    notifier.report_error(ModelError("The system has no voices: " + "word " * length, "Install it, " * (length // 2)))
    QApplication.processEvents()
    requests = Requests()
    place.installEventFilter(requests)
    for _ in range(20):
        QApplication.processEvents()

    assert requests.count <= 2


def test_esc_closes_a_toast(place, notifier):
    notifier.report_error(ModelError("Close me."))
    QTest.keyClick(toasts(place)[0], Qt.Key.Key_Escape)

    assert toasts(place) == []


def test_an_error_leaves_when_its_cause_is_gone(place, notifier):
    notifier.report_error(ModelCrashed("The model crashed."))
    notifier.report_error(StorageError("The disk is full."))
    notifier.notify("Saved.")

    notifier.retract_errors(ModelError)

    assert [toast.text for toast in toasts(place)] == ["The disk is full.", "Saved."]


def test_an_error_does_not_fade_while_it_has_the_focus(place, notifier, theme, qtbot):
    theme.reduced_motion = True
    notifier.register_remedy(ModelCrashed, "Restart", lambda: None)
    place.activateWindow()
    notifier.report_error(ModelCrashed("The model crashed."))
    (toast,) = toasts(place)
    toast.button.setFocus()
    faded = []
    toast.dismissed.connect(faded.append)
    qtbot.waitUntil(lambda: QApplication.focusWidget() is toast.button)

    toast._dismiss_timer.timeout.emit()
    assert faded == []

    toast.button.clearFocus()
    toast._dismiss_timer.timeout.emit()
    assert faded == [toast]


def test_errors_of_a_page_that_is_left_fade_soon_but_not_those_of_the_model(place, notifier):
    notifier.report_error(ModelCrashed("The model crashed."))
    notifier.report_error(StorageError("The disk is full."))

    notifier.hurry_errors()

    left = {toast.text: toast.remaining_ms for toast in toasts(place)}
    limit = 1.1 * toast_module.BUTTON_DISPLAY_MS  # coarse timers may be a twentieth late
    assert left["The disk is full."] <= limit < left["The model crashed."]


def test_a_report_is_closed_by_who_made_it(place, notifier):
    close = notifier.report_error(StorageError("The disk is full."))

    close()
    close()

    assert toasts(place) == []


def test_what_has_faded_can_be_read_again(place, notifier, qtbot):
    notifier.report_error(ModelError("The model ran out of memory.", "Choose a smaller one."))()
    notifier.notify("Saved.")

    dialog = NotificationsDialog(place, notifier.history)
    qtbot.addWidget(dialog)

    words = [label.text() for label in dialog.findChildren(QLabel)]
    assert words.index("Saved.") < words.index("The model ran out of memory.") < words.index("Choose a smaller one.")


def test_toasts_lie_at_the_end_of_the_area_for_them(qtbot, theme):
    place = QWidget()
    qtbot.addWidget(place)
    place.resize(900, 700)
    place.show()
    area = QRect(0, 100, 500, 400)
    notifier = Notifier(place, theme, lambda _height: (area, Qt.Edge.BottomEdge))

    notifier.notify("Saved.")
    notifier.notify("Deleted.")

    first, second = toasts(place)
    assert first.y() < second.y()
    assert area.bottom() - 20 < second.geometry().bottom() <= area.bottom()
    assert first.geometry().right() <= area.right()


def test_no_more_toasts_are_shown_than_the_area_has_room_for(qtbot, theme):
    place = QWidget()
    qtbot.addWidget(place)
    place.resize(600, 160)
    place.show()
    notifier = Notifier(place, theme)

    for number in range(4):
        notifier.report_error(ModelError(f"Error {number}.", "Choose a smaller one, or close other programs, and try again."))

    shown = toasts(place)
    assert shown[-1].text == "Error 3."
    assert all(place.rect().contains(toast.geometry()) for toast in shown)
