"""What everybody needs: words that stand out from their ground, and a name for everything the keyboard reaches."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QScrollBar, QWidget

from lethe_app.ui.core.avatars import disc_colours
from lethe_app.ui.core.palette import DAY, NIGHT, Palette
from lethe_app.ui.core.theme import mix_colours, stylesheet_variables
from lethe_app.ui.dialogs.dialogs import AboutDialog, ConfirmDialog
from lethe_app.ui.dialogs.shortcuts import ShortcutsDialog
from lethe_app.ui.shell.welcome import Welcome
from lethe_app.ui.transcript.painting.style import MessageStyle
from tests.ui.window_scene import opened, until

ENOUGH = 4.5


def luminance(colour: str) -> float:
    reported = QColor(colour)
    parts = [reported.redF(), reported.greenF(), reported.blueF()]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(ink: str, ground: str) -> float:
    light, dark = sorted((luminance(ink), luminance(ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def over(colour: QColor, ground: str) -> str:
    """What a colour that is seen through looks like on its ground."""
    return mix_colours(ground, QColor(colour.rgb()).name(), colour.alphaF())


def pairs(palette: Palette) -> dict[str, tuple[str, str]]:
    """Every ink with every ground it stands on, by where that is."""
    reported, style = stylesheet_variables(palette, 15, Path()), MessageStyle(palette)
    card = mix_colours(mix_colours(palette.surface, palette.water, 0.10), palette.text, 0.04)
    open_row = mix_colours(palette.surface, palette.text, 0.09)
    row_ink = mix_colours(palette.text, palette.muted, 0.4)
    hovered = mix_colours(palette.surface, palette.text, 0.05)
    found = {
        "words on a button": (palette.text, palette.raised),
        "words on a button under the mouse": (palette.text, reported["hover"]),
        "words on a pressed button": (palette.text, reported["pressed"]),
        "quiet words on a button under the mouse": (palette.muted, reported["hover"]),
        "primary button": (reported["on_water"], palette.water),
        "primary button under the mouse": (reported["on_water"], reported["water_hover"]),
        "button that destroys": (reported["on_danger"], palette.danger),
        "selected words of a field": (reported["on_water"], palette.water),
        "title on a chosen card": (palette.text, card),
        "words on a chosen card": (palette.muted, card),
        "title of a row": (row_ink, palette.surface),
        "title of a row under the mouse": (row_ink, hovered),
        "title of the open row": (palette.text, open_row),
        "age in the open row": (palette.muted, open_row),
        "narration": (style.narration.name(), palette.background),
        "action": (style.action.name(), palette.background),
        "selected words of a message": (palette.text, over(style.selection, palette.background)),
        "code": (palette.text, palette.surface),
        "title of code": (palette.muted, palette.surface),
        "code in a line": (palette.text, palette.raised),
        "pill": (palette.water, palette.raised),
    }
    for ground in ("background", "surface", "raised"):
        for ink in ("text", "muted", "water", "amber", "danger", "good"):
            found[f"{ink} on {ground}"] = (getattr(palette, ink), getattr(palette, ground))
    for ink in ("text", "narration", "action", "muted", "water"):
        found[f"{ink} in code"] = (getattr(style, ink).name(), style.code_box.name())
    return found


@pytest.mark.parametrize("palette", [NIGHT, DAY], ids=lambda palette: palette.name)
def test_words_stand_out_from_their_ground(palette, qapp):
    weak = {where: round(contrast(*pair), 2) for where, pair in pairs(palette).items() if contrast(*pair) < ENOUGH}
    assert weak == {}


@pytest.mark.parametrize("palette", [NIGHT, DAY], ids=lambda palette: palette.name)
def test_every_letter_stands_out_from_its_disc(palette):
    discs = [disc_colours(str(number), palette) for number in range(1000)]
    assert min(contrast(letter.name(), disc.name()) for disc, letter in discs) >= ENOUGH


# names


def nameless(root: QWidget) -> list[str]:
    """Everything visible that takes the focus, or is pressed, and of which a screen reader could not say what it is."""
    found = []
    for widget in [root, *root.findChildren(QWidget)]:
        reported = QAccessible.queryAccessibleInterface(widget)
        is_reached = widget.focusPolicy() != Qt.FocusPolicy.NoFocus and not isinstance(widget, QScrollBar)
        name = reported.text(QAccessible.Text.Name) if reported is not None else ""
        if widget.isVisible() and is_reached and not widget.isWindow() and not name.strip() and widget.focusProxy() is None:
            found.append(f"{type(widget).__name__} {widget.objectName()} in {type(widget.parent()).__name__}")
    return found


@pytest.mark.usefixtures("starter_model")
async def test_everything_on_the_welcome_screen_has_a_name(tmp_path: Path, styled_app: QApplication):
    async with opened(tmp_path, welcomed=False) as scene:
        await until(lambda: isinstance(scene.window.pages.currentWidget(), Welcome))
        page = scene.window.pages.currentWidget()
        await until(lambda: page.persona_cards and page.model_cards)
        assert nameless(scene.window) == []


async def test_everything_in_the_conversation_has_a_name(tmp_path: Path, styled_app: QApplication):
    async with opened(tmp_path) as scene:
        scene.window.notifier.notify("Something was done.", button="Undo", action=lambda: None)
        view = scene.window.chat.view
        view.focus_row(0)
        view.edit_message(UUID(str(view.chat_model.outline(0).id)))
        QApplication.processEvents()
        assert view.editor is not None
        assert nameless(scene.window) == []


DIALOGS = [AboutDialog, ShortcutsDialog, lambda parent: ConfirmDialog(parent, "Delete this?", "It will be gone.", "Delete it")]


@pytest.mark.parametrize("make", DIALOGS)
@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Escape])
def test_a_dialog_obeys_enter_and_esc(make, key, theme, qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    dialog = make(window)
    answers = []
    dialog.finished.connect(answers.append)
    dialog.open()
    QTest.keyClick(dialog, key)
    assert answers == [1 if key == Qt.Key.Key_Return else 0]


@pytest.mark.usefixtures("starter_model")
async def test_tab_goes_down_the_columns_of_the_welcome_screen(tmp_path: Path, styled_app: QApplication):
    async with opened(tmp_path, welcomed=False) as scene:
        await until(lambda: isinstance(scene.window.pages.currentWidget(), Welcome))
        page = scene.window.pages.currentWidget()
        await until(lambda: page.persona_cards and page.model_cards)
        scene.window.activateWindow()
        page.name_field.setFocus()
        met: list[QWidget] = []
        while not met or met[-1] is not page.start_button:
            QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
            met.append(QApplication.focusWidget())
            assert len(met) < 20
        corners = [widget.mapTo(scene.window, widget.rect().topLeft()) for widget in met]
        positions = [(corner.x() > scene.window.width() // 2, corner.y()) for corner in corners]
        assert met[0] in page.persona_cards
        assert positions == sorted(positions)  # the left column, then the right one


async def test_tab_goes_round_the_whole_window_and_comes_back(tmp_path: Path, styled_app: QApplication):
    async with opened(tmp_path) as scene:
        scene.window.activateWindow()
        scene.draft.setFocus()
        QApplication.processEvents()
        met: list[QWidget] = []
        for _ in range(30):
            QTest.keyClick(QApplication.focusWidget() or scene.window, Qt.Key.Key_Tab)
            focus = QApplication.focusWidget()
            assert focus is not None
            if focus is scene.draft:
                break
            met.append(focus)
        chat, side = scene.window.chat, scene.window.sidebar
        assert QApplication.focusWidget() is scene.draft
        assert {
            side.search_field,
            side.new_session_button,
            side.session_list,
            side.gear_button,
            chat.status,
            chat.view,
            chat.composer.send_button,
        } <= set(met)
