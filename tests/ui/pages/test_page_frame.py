"""The frame of the workshop: pages open over the conversation and give it back, forms tell and undo what the user changed."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCheckBox, QLineEdit, QPushButton, QSpinBox, QVBoxLayout

from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.worldinfo import World
from lethe_app.errors import LetheError
from lethe_app.ui.core.routes import PersonaRoute, Route
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages import undo_commands
from lethe_app.ui.pages.navigator import PageNavigator
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.undo_commands import CommandRunner, FieldChange
from lethe_app.ui.widgets import table_model
from lethe_app.ui.widgets.fields import FieldKind, FieldSpec, build_field_spec
from lethe_app.ui.widgets.form import Form
from lethe_app.ui.widgets.table import Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel
from lethe_app.ui.widgets.tag_field import TagField
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")

PEOPLE = [("Ada", 36), ("Grace", 85), ("Alan", 41)]
COLUMNS = [
    Column[tuple[str, int]]("Name", lambda row: row[0], width=0),
    Column[tuple[str, int]]("Age", lambda row: str(row[1]), sort_key=lambda row: row[1], is_right_aligned=True),
]


class Stubborn(Page):
    """Does not let go."""

    willing = False

    async def confirm_leave(self) -> bool:
        return self.willing


def open_pages(scene: Scene, *pages: Page) -> PageNavigator:
    """Open pages one above the other, each by a route of its own."""
    window = scene.window
    by_route: dict[Route, Page] = {PersonaRoute(f"page {number}"): page for number, page in enumerate(pages)}
    navigator = PageNavigator(
        window.pages,
        window.panes,
        window.chat.focus_composer,
        by_route.__getitem__,
        scene.window.tasks,
        window.notifier.undo_last,
    )
    for route in by_route:
        navigator.open(route)
    return navigator


def shown(rows: FilteredTableModel) -> list[str]:
    return [row[0] for row in rows.visible_rows]


async def test_esc_leads_from_page_to_page_and_back_to_the_conversation(tmp_path: Path, styled_app: object):
    async with opened(tmp_path) as scene:
        first, second = Page(scene.window.theme, "First"), Page(scene.window.theme, "Second")
        navigator, pages = open_pages(scene, first, second), scene.window.pages

        QTest.keyClick(second, Qt.Key.Key_Escape)
        await until(lambda: pages.currentWidget() is first)
        QTest.keyClick(first, Qt.Key.Key_Escape)
        await until(lambda: pages.currentWidget() is scene.window.panes)

        assert navigator.current_page is None
        assert scene.draft.hasFocus()


async def test_a_page_opened_again_leads_back_to_where_it_was_opened_from(tmp_path: Path):
    async with opened(tmp_path) as scene:
        first, second = Page(scene.window.theme, "First"), Stubborn(scene.window.theme, "Second")
        navigator, pages = open_pages(scene, first, second), scene.window.pages

        navigator.open(PersonaRoute("page 0"))
        assert pages.currentWidget() is first
        assert navigator.current_route == PersonaRoute("page 0")
        QTest.keyClick(first, Qt.Key.Key_Escape)
        await until(lambda: pages.currentWidget() is second)

        assert navigator.current_page is second
        second.willing = True
        assert await navigator.leave_all_pages()


async def test_a_page_with_unsaved_work_is_not_left(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = Stubborn(scene.window.theme, "Draft")
        navigator = open_pages(scene, page)

        assert not await navigator.leave_all_pages()
        page.willing = True
        assert await navigator.leave_all_pages()


async def test_actions_are_undone_in_order_and_one_that_fails_is_dropped(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = Page(scene.window.theme, "Deeds")
        open_pages(scene, page)
        kept: list[str] = []
        actions = CommandRunner(page.undo_stack, scene.window.tasks)

        async def add(word: str) -> None:
            kept.append(word)

        async def take(word: str) -> None:
            kept.remove(word)

        async def add_and_return_undo(word: str) -> Callable[[], Awaitable[None]]:
            await add(word)
            return lambda: take(word)

        async def fail() -> None:
            raise LetheError("There is no room.")

        actions.run_command("adding one", lambda: add("one"), lambda: take("one"))
        actions.run_command("adding two", lambda: add_and_return_undo("two"))
        actions.run_command("failing", fail, fail)
        await until(lambda: page.undo_stack.count() == 2 and scene.toasts)
        page.undo_stack.undo()
        await until(lambda: kept == ["one"])
        page.undo_stack.undo()
        await until(lambda: kept == [])
        page.undo_stack.redo()
        await until(lambda: kept == ["one"])


def test_a_form_tells_what_the_user_changes_and_nothing_else(theme: Theme):
    form = Form([FieldSpec("name", "Name"), FieldSpec("mood", "Moods", FieldKind.CHECKBOX)], theme)
    reported: list[tuple[str, object]] = []
    form.changed.connect(lambda name, value: reported.append((name, value)))

    form.show_values({"name": "Mira", "mood": True})
    field, box = form.field_widget("name"), form.field_widget("mood")
    assert isinstance(field, QLineEdit)
    assert isinstance(box, QCheckBox)
    QTest.keyClicks(field, "!")
    QTest.keyClick(box, Qt.Key.Key_Space)

    assert reported == [("name", "Mira!"), ("mood", False)]


def test_a_field_is_built_from_the_declaration_in_the_model(theme: Theme):
    specs = {name: build_field_spec(World, name) for name in ("token_budget", "scan_depth")}
    specs |= {"trigger_chance": build_field_spec(MemoryUnit, "trigger_chance")}
    specs |= {"tags": build_field_spec(MemoryUnit, "tags"), "sticky": build_field_spec(MemoryUnit, "sticky")}
    form = Form(list(specs.values()), theme)
    budget, chance = form.field_widget("token_budget"), form.field_widget("trigger_chance")
    assert isinstance(budget, QSpinBox)
    assert isinstance(chance, QSpinBox)
    told: list[tuple[str, object]] = []
    form.changed.connect(lambda name, value: told.append((name, value)))

    form.show_values({"token_budget": None, "trigger_chance": 0.35})
    shown = [budget.text(), chance.text(), form.value_of("token_budget"), form.value_of("trigger_chance")]
    budget.setValue(500)
    budget.setValue(-1)
    chance.setValue(40)

    assert shown == ["no limit", "35 %", None, 0.35]
    assert told == [("token_budget", 500), ("token_budget", None), ("trigger_chance", 0.4)]
    assert [spec.kind for spec in specs.values()] == [
        *(FieldKind.INTEGER, FieldKind.INTEGER, FieldKind.PERCENT, FieldKind.TAGS, FieldKind.CHECKBOX)
    ]
    scan_depth = specs["scan_depth"]
    assert (scan_depth.title, scan_depth.minimum, scan_depth.maximum) == ("Scan depth", 0, 200)
    assert scan_depth.help.startswith("Number of messages to scan for keys")


def test_what_is_typed_in_one_go_is_undone_in_one_go(theme: Theme, monkeypatch: pytest.MonkeyPatch):
    page = Page(theme, "Page")
    form = Form([FieldSpec("name", "Name")], theme)
    page.body.addWidget(form)
    values = {"name": ""}

    def put(name: str, value: object) -> None:
        values[name] = str(value)
        form.set_field(name, value)

    form.changed.connect(lambda name, value: page.undo_stack.push(FieldChange("name", name, values[name], value, put)))
    field = form.field_widget("name")
    QTest.keyClicks(field, "Mira")
    assert values["name"] == "Mira"
    page.undo_stack.undo()

    assert values["name"] == ""
    assert form.value_of("name") == ""
    monkeypatch.setattr(undo_commands, "MAX_TYPING_PAUSE", 0.0)
    QTest.keyClicks(field, "Mira")
    page.undo_stack.undo()
    assert values["name"] == "Mir", "after a pause, one by one"


def test_words_become_chips_and_backspace_takes_the_last(theme: Theme):
    field = TagField("Keywords")
    reported: list[list[str]] = []
    field.changed.connect(reported.append)
    line = field.focusProxy()
    assert line is not None

    QTest.keyClicks(line, "tide, Return")
    QTest.keyClick(line, Qt.Key.Key_Return)
    QTest.keyClick(line, Qt.Key.Key_Backspace)

    assert reported == [["tide"], ["tide", "Return"], ["tide"]]


def test_a_click_beside_the_words_focuses_the_field(theme: Theme):
    page = Page(theme, "Page")
    field = TagField("Keywords")
    page.body.addWidget(field)
    page.resize(600, 400)
    page.show()
    line = field.focusProxy()
    assert line is not None
    assert page.focusWidget() is not line
    assert line.geometry().right() < field.width() - 60

    QTest.mouseClick(field, Qt.MouseButton.LeftButton, pos=QPoint(field.width() - 20, field.height() // 2))

    assert page.focusWidget() is line


def test_a_field_of_words_is_as_high_as_its_lines(theme: Theme):
    page = Page(theme, "Page")
    field = TagField("Keywords")
    page.body.addWidget(field)
    page.resize(300, 400)
    page.show()

    field.set_words(["lighthouse", "harbour", "navigator", "nineteen", "customs"])
    QApplication.processEvents()

    chips = field.findChildren(QPushButton)
    assert len({chip.y() for chip in chips}) > 1
    assert all(field.rect().contains(chip.geometry()) for chip in chips)


def test_a_table_filters_sorts_and_keeps_its_place(theme: Theme):
    rows = FilteredTableModel(COLUMNS, key=lambda row: row[0], search_text=lambda row: row[0])
    table = Table(rows, theme, "People", "Nobody yet.")
    layout = QVBoxLayout(Page(theme, "Page"))
    layout.addWidget(table)
    rows.set_rows(PEOPLE)
    assert table.select_row("Alan")

    rows.sort(1)
    assert shown(rows) == ["Ada", "Alan", "Grace"]
    assert table.current_row == ("Alan", 41)
    rows.set_filter("a")
    rows.set_filter("al")
    assert shown(rows) == ["Alan"]
    rows.replace_row(("Alan", 42))
    assert rows.visible_rows == [("Alan", 42)]
    rows.set_filter("nobody")
    assert table.current_row is None


@pytest.mark.parametrize("step_size", [7, table_model.STEP_SIZE])
@pytest.mark.parametrize("seed", range(20))
def test_typing_and_taking_back_finds_what_a_look_at_everything_would(
    seed: int, step_size: int, monkeypatch: pytest.MonkeyPatch, styled_app: object
):
    monkeypatch.setattr(table_model, "STEP_SIZE", step_size)  # with the small one, most steps are not taken before the next key
    dice = random.Random(seed)
    rows = FilteredTableModel(COLUMNS, key=lambda row: row[1], search_text=lambda row: row[0])
    everyone = [("".join(dice.choices("ab ", k=6)), number) for number in range(60)]
    rows.set_rows(everyone)
    typed = ""

    for _step in range(200):
        if dice.random() < 0.03:
            more = [("".join(dice.choices("ab ", k=6)), len(everyone) + number) for number in range(5)]
            everyone += more
            rows.append_rows(more)
        elif dice.random() < 0.03:
            typed = "".join(dice.choices("ab ", k=3))
        else:
            typed = typed[:-1] if dice.random() < 0.45 else typed + dice.choice("ab ")
        rows.set_filter(typed)
        if step_size > len(everyone) or dice.random() < 0.3:
            rows.finish()
            assert rows.visible_rows == [row for row in everyone if all(word in row[0] for word in typed.split())]


async def test_a_long_list_is_filtered_and_sorted_while_the_window_answers(theme: Theme):
    rows = FilteredTableModel(COLUMNS, key=lambda row: row[0], search_text=lambda row: row[0])
    table = Table(rows, theme, "People", "Nobody yet.")
    people = [(f"Person {number * 7 % 20_000}", number) for number in range(20_000)]
    rows.set_rows(people)
    await until(lambda: rows.visible_rows)
    assert table.select_row("Person 77")
    rows.set_filter("77")
    rows.sort(0)

    assert rows.is_busy
    assert rows.visible_rows == people
    await until(lambda: not rows.is_busy)
    assert rows.visible_rows == sorted((row for row in people if "77" in row[0]), key=lambda row: row[0].casefold())
    assert table.current_row == ("Person 77", 77 * 17_143 % 20_000)
