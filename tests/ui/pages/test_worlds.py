"""The page of worlds: written by keyboard, ordered, edited in numbers, undone, kept by itself, and tried on the bench."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from PySide6.QtCore import QMimeData, QModelIndex, QPoint, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QFileDialog, QLabel, QLineEdit, QSpinBox, QWidget

from lethe_app.domain.changes import TrashKind
from lethe_app.domain.memory import MemoryInsertion, WordLink
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.errors import FileError
from lethe_app.services.token_counts import TokenCountService
from lethe_app.services.worlds.service import WorldOwner, WorldService
from lethe_app.ui.dialogs.dialogs import ConfirmDialog
from lethe_app.ui.pages.worlds.copying import RememberDialog
from lethe_app.ui.pages.worlds.detail import BulkEditPanel
from lethe_app.ui.pages.worlds.entry_order import reorder_entries, sort_entries
from lethe_app.ui.pages.worlds.labels import explain_result
from lethe_app.ui.pages.worlds.page import WorldPage
from lethe_app.ui.pages.worlds.table import ENABLED, KEYS, NAME, TOKENS
from tests.ui.form_fields import button_named, field_of, note_beside
from tests.ui.test_accessibility import nameless
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")

LAMP = {"name": "Lamp", "content": "It is dark since May.", "keywords_main": ["lamp"]}
BELL = {"name": "Bell", "content": "It is cracked.", "keywords_main": ["bell"], "order": 110}
ROPE = {"name": "Rope", "content": "It is short.", "keywords_main": ["rope"], "order": 120}


def write(home: Path, stem: str, *entries: dict[str, object], **fields: object) -> None:
    """A world of the user's, as if it had always been there."""
    folder = home / "worldinfo"
    folder.mkdir(parents=True, exist_ok=True)
    world = World.model_validate({"name": stem.title(), "entries": list(entries), **fields})
    (folder / f"{stem}.json").write_text(world.model_dump_json(exclude={"unique_name"}), encoding="utf-8")


@asynccontextmanager
async def on_page(home: Path, model: Path | None = None, stem: str = "isles") -> AsyncIterator[tuple[Scene, WorldPage]]:
    """The page with that world open."""
    async with opened(home, model) as scene:
        scene.window.resize(1280, 800)
        page = await enter(scene)
        if stem:
            page.book.switch_world(stem)
            await selection_told(page)
        yield scene, page


async def selection_told(page: WorldPage) -> None:
    """Wait until the page was told what is selected: once for all changes, by a timer that fires when Qt is idle."""
    await until(lambda: not any(timer.isActive() and not timer.interval() for timer in page.table.table.findChildren(QTimer)))


def is_mixed(bulk: BulkEditPanel, name: str) -> bool:
    """Whether the panel says that the entries differ in a field."""
    return note_beside(bulk, name) == "Mixed values."


async def undone(page: WorldPage) -> None:
    """Undo one step, and wait for all that this starts."""
    before = asyncio.all_tasks()
    page.undo_stack.undo()
    started = asyncio.all_tasks() - before
    await until(lambda: all(task.done() for task in started))


def run_world_action(page: WorldPage, title: str) -> None:
    """Choose an entry of the menu of the world on display."""
    next(one for one in page.world_list.list_actions() if one.title == title).run()


async def enter(scene: Scene) -> WorldPage:
    page = scene.open_page("worlds", WorldPage)
    await until(lambda: page.book.open_worlds)
    await selection_told(page)
    return page


def names(page: WorldPage) -> list[str]:
    return [entry.name for entry in page.rows.visible_rows]


def cell(page: WorldPage, row: int, column: int, role: Qt.ItemDataRole = Qt.ItemDataRole.DisplayRole) -> object:
    return page.rows.data(page.rows.index(row, column), role)


def saved(scene: Scene, stem: str) -> World:
    path = scene.services.paths.worlds / f"{stem}.json"
    return World.model_validate({**json.loads(path.read_text(encoding="utf-8")), "unique_name": stem})


def field(page: WorldPage, name: str) -> QWidget:
    return page.detail.entry.form.field_widget(name)


def line_of(widget: QWidget) -> QWidget:
    line = widget.focusProxy()
    assert line is not None
    return line


async def choose(page: WorldPage, *rows: int) -> None:
    page.table.table.clearSelection()
    for number, row in enumerate(rows):
        point = page.table.table.visualRect(page.rows.index(row, NAME)).center()
        modifier = Qt.KeyboardModifier.ControlModifier if number else Qt.KeyboardModifier.NoModifier
        QTest.mouseClick(page.table.table.viewport(), Qt.MouseButton.LeftButton, modifier, point)
    await selection_told(page)


def complaints(scene: Scene) -> list[str]:
    """Errors on display."""
    return [toast.text for toast in scene.toasts if toast.is_error]


def words_on(widget: QWidget) -> str:
    return " ".join(label.text() for label in widget.findChildren(QLabel) if label.isVisibleTo(widget))


# The story


async def test_an_entry_written_by_keyboard_wakes_on_the_bench_and_then_in_the_chat(
    tmp_path: Path, echo_model: Callable[..., Path]
):
    async with opened(tmp_path / "home", echo_model("“Aye.”", "“Aye.”")) as scene:
        scene.window.resize(1280, 800)
        await scene.services.models.load(echo_model("“Aye.”", "“Aye.”"))
        page = await enter(scene)
        assert page.world_list.table.hasFocus()
        QTest.keyClick(page.world_list.new_button, Qt.Key.Key_Space)
        await until(lambda: page.book.stem == "new-world" and page.detail.world_form.form.field_widget("name").hasFocus())
        QTest.keyClicks(page.detail.world_form.form.field_widget("name"), "Skerries")
        QTest.keyClick(page.detail.world_form.owner_checks[WorldOwner.SESSION], Qt.Key.Key_Space)

        QTest.keyClick(page, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: field(page, "name").hasFocus())
        QTest.keyClicks(field(page, "name"), "Skerry Light")
        QTest.keyClick(field(page, "name"), Qt.Key.Key_Tab)
        assert field(page, "content").hasFocus()
        QTest.keyClicks(field(page, "content"), "It has been dark since May.")
        QTest.keyClick(field(page, "content"), Qt.Key.Key_Tab)
        QTest.keyClicks(line_of(field(page, "keywords_main")), "lighthouse")
        QTest.keyClick(line_of(field(page, "keywords_main")), Qt.Key.Key_Return)

        QTest.keyClick(page, Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
        assert page.trial_panel.text_field.hasFocus()
        QTest.keyClick(page.trial_panel.this_world_check, Qt.Key.Key_Space)
        QTest.keyClicks(page.trial_panel.text_field, "Is the lighthouse lit?")
        await until(lambda: [one.entry.name for one in page.trial_panel.rows.visible_rows if one.reason] == ["Skerry Light"])
        assert "1 entry activated · 6 tokens" in page.trial_panel.summary_label.text()
        (mark,) = page.trial_panel.text_field.extraSelections()
        assert mark.cursor.selectedText() == "lighthouse"

        QTest.keyClick(page.trial_panel.text_field, Qt.Key.Key_Escape)
        assert page.trial_panel.isHidden()
        QTest.keyClick(page, Qt.Key.Key_Escape)
        await until(lambda: scene.window.pages.currentWidget() is scene.window.panes)
        assert saved(scene, "new-world").entries[0].keywords_main == ["lighthouse"]
        scene.send("Is the lighthouse lit?")
        await until(lambda: scene.words[-1] == "“Aye.”" and not scene.is_replying)

        session = scene.session
        assert session is not None
        asked = (await scene.services.sessions.page(session.guid, 0, 99))[-2]
        memory = await scene.services.recall.stored_recall(asked.id)
        assert memory is not None
        woken = next(one for one in memory.recalled if one.title == "Skerry Light")
        assert woken.because[0].values == {"key": "lighthouse", "before": 0}


# Entries


async def test_every_field_of_the_form_reaches_the_file(tmp_path: Path):
    write(tmp_path, "isles", LAMP)
    async with on_page(tmp_path) as (scene, page):
        await choose(page, 0)
        form = page.detail.entry
        form.more_button.setChecked(True)
        QTest.keyClick(field(page, "sticky"), Qt.Key.Key_Space)
        pick(field(page, "place"), "In the system prompt")
        pick(field(page, "word_link"), "NOT ANY: a main key and no secondary key")
        pick(field(page, "do_embeds"), "no, keys only")
        pick(field(page, "group_scoring"), "yes")
        for name, value in (("priority", "7"), ("trigger_chance", "40"), ("duration", "3"), ("cooldown", "2"), ("delay", "4")):
            number(field(page, name), value)
        for name, value in (("order", "300"), ("group_weight", "5"), ("delay_until_recursion", "1"), ("scan_depth", "6")):
            number(field(page, name), value)
        ticks = ("case_sensitive", "whole_word", "ignore_budget", "group_override", "exclude_recursion", "prevent_recursion")
        for name in ticks:
            QTest.keyClick(field(page, name), Qt.Key.Key_Space)
        for name, word in (("keywords_secondary", "/oil{1,2}/"), ("groups", "lights")):
            QTest.keyClicks(line_of(field(page, name)), word)
            QTest.keyClick(line_of(field(page, name)), Qt.Key.Key_Return)
        QTest.keyClick(form.end_field.box, Qt.Key.Key_Space)
        QTest.keyClick(form.enabled_check, Qt.Key.Key_Space)
        await page.book.save()

        entry = saved(scene, "isles").entries[0]
        assert (entry.sticky, entry.position_index, entry.word_link, entry.do_embeds) == (True, -1, WordLink.NOT, False)
        assert (entry.priority, entry.trigger_chance, entry.duration, entry.cooldown, entry.delay) == (7, 0.4, 3, 2, 4)
        assert (entry.order, entry.group_weight, entry.delay_until_recursion, entry.scan_depth) == (300, 5, 1, 6)
        assert (entry.case_sensitive, entry.whole_word, entry.ignore_budget, entry.group_override) == (True, False, True, True)
        assert (entry.exclude_recursion, entry.prevent_recursion, entry.enabled) == (True, True, False)
        assert entry.group_scoring is True
        assert (entry.keywords_secondary, entry.groups) == (["/oil{1,2}/"], ["lights"])
        assert entry.end_time is not None
        assert "19 set" in form.more_button.text()


def pick(widget: QWidget, words: str) -> None:
    assert isinstance(widget, QComboBox)
    widget.setFocus()
    while widget.currentText() != words:
        before = widget.currentIndex()
        QTest.keyClick(widget, Qt.Key.Key_Down if before < widget.findText(words) else Qt.Key.Key_Up)
        assert widget.currentIndex() != before


def number(widget: QWidget, value: str) -> None:
    assert isinstance(widget, QSpinBox)
    widget.selectAll()
    QTest.keyClicks(widget, value)
    QTest.keyClick(widget, Qt.Key.Key_Return)


async def test_ten_edits_are_undone_and_done_again(tmp_path: Path):
    write(tmp_path, "isles", LAMP, BELL)
    async with on_page(tmp_path) as (scene, page):
        before = page.book.world
        await choose(page, 0)
        QTest.keyClicks(field(page, "name"), "s of old")
        QTest.keyClicks(line_of(field(page, "keywords_main")), "light,")
        number(field(page, "priority"), "9")
        QTest.keyClick(page.detail.entry.enabled_check, Qt.Key.Key_Space)
        QTest.keyClick(field(page, "sticky"), Qt.Key.Key_Space)
        page.book.duplicate_entries(page.table.table.selected_rows)
        page.book.transfer_entries(page.table.table.selected_rows, "quarr", is_move=False)
        page.book.reorder({page.rows.visible_rows[0].guid}, None)
        page.book.delete_entries(page.rows.visible_rows[:1])
        page.book.add_entry("new")
        after = {stem: held.world for stem, held in page.book.open_worlds.items()}
        assert page.undo_stack.count() == 10

        for _edit in range(10):
            button_named(page, "Undo").click()
        assert page.book.world == before
        assert field(page, "name").text() == "Lamp"
        for _edit in range(10):
            button_named(page, "Redo").click()

        assert {stem: held.world for stem, held in page.book.open_worlds.items()} == after
        await page.book.save()
        assert saved(scene, "isles") == after["isles"]


async def test_deleted_entries_are_taken_back_from_the_toast(tmp_path: Path):
    write(tmp_path, "isles", LAMP, BELL, ROPE)
    async with on_page(tmp_path) as (scene, page):
        await choose(page, 0, 1)
        QTest.keyClick(page.table.table, Qt.Key.Key_Delete)
        assert names(page) == ["Rope"]
        assert [len(one.world.entries) for one in page.world_list.rows.visible_rows if one.world.name == "Isles"] == [1]

        scene.take_back("2 entries were deleted.")
        assert names(page) == ["Lamp", "Bell", "Rope"]

        page.book.delete_entries(page.rows.visible_rows[:1])
        page.undo_stack.undo()
        scene.take_back("“Lamp” was deleted.")
        assert page.undo_stack.redoText() == "deleting entries"  # nothing was missing any more


async def test_entries_that_stay_deleted_wait_in_the_trash_when_the_page_is_left(tmp_path: Path):
    write(tmp_path, "isles", LAMP, BELL, ROPE)
    write(tmp_path, "reef")
    async with on_page(tmp_path) as (scene, page):
        lamp, bell, rope = page.rows.visible_rows
        page.book.delete_entries([rope])
        page.undo_stack.undo()
        page.book.transfer_entries([bell], "reef", is_move=True)
        page.book.delete_entries([lamp])
        page.back_requested.emit()
        await until(lambda: scene.window.pages.currentWidget() is scene.window.panes)
        await page.book.save()
        assert not [toast.text for toast in scene.toasts if "deleted" in toast.text]  # its button would find no page

        (gone,) = await scene.services.trash.list_items()
        assert (gone.kind, gone.title) == (TrashKind.WORLD, "Isles: deleted entries")
        await scene.services.trash.restore(gone)
        worlds = await scene.services.library.worlds()
        assert [world.name for world in worlds.values() if lamp in world.entries] == ["Isles: deleted entries"]
        assert [entry.name for entry in worlds["isles"].entries] == ["Rope"]


async def test_several_entries_are_edited_at_once_and_stay_chosen(tmp_path: Path):
    write(tmp_path, "isles", LAMP, BELL, ROPE)
    async with on_page(tmp_path) as (_scene, page):
        await choose(page, 0, 2)
        bulk = page.detail.bulk
        assert page.detail.currentWidget() is bulk
        assert bulk.title_label.text() == "2 entries"
        spin = bulk.form.field_widget("priority")
        assert isinstance(spin, QSpinBox)
        spin.selectAll()
        QTest.keyClicks(spin, "8")
        bulk.buttons["priority"].click()
        QTest.keyClicks(bulk.form.field_widget("group"), "tools")
        bulk.buttons["group"].click()
        assert [entry.priority for entry in sort_entries(page.book.world.entries)] == [8, 1, 8]
        assert [entry.groups for entry in sort_entries(page.book.world.entries)] == [["tools"], [], ["tools"]]
        await selection_told(page)
        assert [entry.name for entry in page.table.table.selected_rows] == ["Lamp", "Rope"]

        page.rows.setData(page.rows.index(0, ENABLED), Qt.CheckState.Unchecked, Qt.ItemDataRole.CheckStateRole)
        assert [entry.enabled for entry in page.rows.visible_rows] == [False, True, False]
        page.undo_stack.undo()
        page.undo_stack.undo()
        page.undo_stack.undo()
        assert page.rows.visible_rows == sort_entries(page.book.world.entries)
        assert [entry.priority for entry in page.rows.visible_rows] == [1, 1, 1]


async def test_of_what_several_entries_differ_in_no_value_is_pretended(tmp_path: Path):
    write(tmp_path, "isles", {**LAMP, "trigger_chance": 0.2, "groups": ["g", "h"]}, {**BELL, "groups": ["g"]})
    async with on_page(tmp_path) as (_scene, page):
        await choose(page, 0, 1)
        bulk = page.detail.bulk
        assert is_mixed(bulk, "trigger_chance")
        assert not is_mixed(bulk, "priority")
        number(bulk.form.field_widget("trigger_chance"), "60")
        bulk.buttons["trigger_chance"].click()
        await until(lambda: not is_mixed(bulk, "trigger_chance"))
        assert [entry.trigger_chance for entry in page.book.world.entries] == [0.6, 0.6]
        QTest.keyClicks(bulk.form.field_widget("out"), "g")
        bulk.buttons["out"].click()
        assert [entry.groups for entry in page.book.world.entries] == [["h"], []]


async def test_a_sorted_table_says_so_and_leads_back_to_where_entries_can_be_moved(tmp_path: Path):
    write(tmp_path, "isles", LAMP, BELL, ROPE)
    async with on_page(tmp_path) as (scene, page):
        header = page.table.table.horizontalHeader()

        def click_title() -> None:
            place = QPoint(header.sectionViewportPosition(NAME) + 20, header.height() // 2)
            QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)

        click_title()
        assert names(page) == ["Bell", "Lamp", "Rope"]
        assert page.table.order_button.isVisible()
        before = page.book.world
        await choose(page, 1)
        QTest.keyClick(page.table.table, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
        assert page.book.world is before  # nobody would see what moved
        page.table.order_button.click()
        assert (names(page), page.table.order_button.isVisible()) == (["Lamp", "Bell", "Rope"], False)
        for _ in range(3):
            click_title()
        assert page.rows.is_in_order
        assert complaints(scene) == []


async def test_in_a_filtered_table_entries_change_places_with_those_that_are_seen(tmp_path: Path):
    write(tmp_path, "isles", LAMP, BELL, ROPE, {**BELL, "name": "Sail", "content": "white", "order": 130})
    async with on_page(tmp_path) as (_scene, page):
        page.table.search.setText("p")  # Lamp and Rope
        assert names(page) == ["Lamp", "Rope"]
        await choose(page, 0)
        QTest.keyClick(page.table.table, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
        assert [entry.name for entry in sort_entries(page.book.world.entries)] == ["Bell", "Rope", "Lamp", "Sail"]
        data = page.rows.mimeData([page.rows.index(0, NAME)])
        assert isinstance(data, QMimeData)
        page.rows.dropMimeData(data, Qt.DropAction.MoveAction, 2, 0, QModelIndex())
        assert [entry.name for entry in sort_entries(page.book.world.entries)] == ["Bell", "Lamp", "Rope", "Sail"]


async def test_a_new_name_finds_its_place_among_entries_of_one_order(tmp_path: Path):
    write(tmp_path, "isles", {**LAMP, "name": "B"}, {**LAMP, "name": "D"}, {**LAMP, "name": "F"})
    async with on_page(tmp_path) as (_scene, page):
        for name, line in (("C", ["C", "D", "F"]), ("Z", ["D", "F", "Z"])):
            entry = next(one for one in page.rows.visible_rows if one.name in {"B", "C"})
            page.book.set_fields("name", [entry], {"name": name})
            assert names(page) == line
        page.table.table.sortByColumn(NAME, Qt.SortOrder.DescendingOrder)
        page.book.set_fields("name", [page.rows.visible_rows[0]], {"name": "A"})
        assert names(page) == ["F", "D", "A"]


async def test_entries_are_dragged_and_stepped_to_another_place(tmp_path: Path):
    write(tmp_path, "isles", LAMP, BELL, ROPE)
    async with on_page(tmp_path) as (_scene, page):
        data = page.rows.mimeData([page.rows.index(2, NAME)])
        assert isinstance(data, QMimeData)
        page.rows.dropMimeData(data, Qt.DropAction.MoveAction, 0, 0, QModelIndex())
        assert names(page) == ["Rope", "Lamp", "Bell"]

        await choose(page, 0)
        QTest.keyClick(page.table.table, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
        assert names(page) == ["Lamp", "Rope", "Bell"]
        page.undo_stack.undo()
        page.undo_stack.undo()
        assert names(page) == ["Lamp", "Bell", "Rope"]

        page.table.table.sortByColumn(NAME, Qt.SortOrder.AscendingOrder)
        assert not page.rows.flags(page.rows.index(0, NAME)) & Qt.ItemFlag.ItemIsDragEnabled


async def test_entries_are_found_and_a_new_one_is_never_hidden_by_the_filter(tmp_path: Path):
    write(tmp_path, "isles", LAMP, BELL, ROPE)
    async with on_page(tmp_path) as (_scene, page):
        QTest.keyClicks(page.table.search, "crack")
        assert names(page) == ["Bell"]
        assert page.table.count_label.text() == "1 of 3 entries"
        page.table.new_button.click()
        assert page.table.search.text() == ""
        assert len(names(page)) == 4
        assert field(page, "name").hasFocus()


async def test_a_broken_expression_is_told_while_it_is_typed_and_where_it_stays(tmp_path: Path):
    write(tmp_path, "isles", LAMP)
    async with on_page(tmp_path) as (_scene, page):
        await choose(page, 0)
        line = line_of(field(page, "keywords_main"))
        QTest.keyClicks(line, "/lamp{1,")
        assert "has no closing slash" in words_on(page.detail.entry)
        QTest.keyClicks(line, "2}(/")
        assert "is no regular expression" in words_on(page.detail.entry)
        QTest.keyClick(line, Qt.Key.Key_Return)
        assert page.book.world.entries[0].keywords_main == ["lamp", "/lamp{1,2}(/"]
        await until(lambda: "never matches" in words_on(page.detail.entry))


async def test_a_key_that_wakes_always_is_told(tmp_path: Path):
    write(tmp_path, "isles", {**LAMP, "keywords_main": ["the"]}, BELL, {**ROPE, "keywords_main": ["bell"]})
    async with on_page(tmp_path) as (_scene, page):
        await choose(page, 0)
        await until(lambda: "nearly every message" in page.detail.entry.warnings_label.text())
        await choose(page, 1)
        await until(lambda: page.detail.entry.warnings_label.text() == "“bell” also activates “Rope”.")
        QTest.keyClicks(field(page, "content"), "{{hatt}} ")
        await until(lambda: "{{hatt}} is not a known macro" in page.detail.entry.warnings_label.text())


@pytest.mark.parametrize("failing", ["count", "check"])
async def test_tokens_and_keys_do_not_wait_for_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str):
    def fail(*_arguments: object) -> None:
        raise FileError("It did not work.")

    async def stall(*_arguments: object) -> None:
        await asyncio.Event().wait()

    write(tmp_path, "isles", {**LAMP, "keywords_main": ["the"]})
    async with on_page(tmp_path) as (_scene, page):
        if failing == "count":
            monkeypatch.setattr(TokenCountService, "count", stall)
        else:
            monkeypatch.setattr("lethe_app.ui.pages.worlds.detail.check_entry", fail)
        await choose(page, 0)
        if failing == "count":
            await until(lambda: "nearly every message" in page.detail.entry.warnings_label.text())
        else:
            await until(lambda: note_beside(page.detail.entry, "content"))
            before = note_beside(page.detail.entry, "content")
            QTest.keyClicks(field(page, "content"), "It is much longer now. ")
            await until(lambda: note_beside(page.detail.entry, "content") != before)


async def test_tokens_are_counted_for_what_is_looked_at(tmp_path: Path):
    entries = [{"name": f"E{number}", "content": f"Text number {number} here.", "order": number} for number in range(2000)]
    write(tmp_path, "isles", *entries)
    async with on_page(tmp_path) as (_scene, page):
        await until(lambda: cell(page, 0, TOKENS) not in {"…", "0"})
        assert sum(cell(page, row, TOKENS) != "…" for row in range(2000)) < 400
        assert cell(page, 0, KEYS) == "no keys"


async def test_an_entry_is_moved_to_another_world_and_back(tmp_path: Path):
    write(tmp_path, "isles", LAMP, BELL)
    write(tmp_path, "reef")
    async with on_page(tmp_path) as (scene, page):
        await choose(page, 0)
        menu = page.table.build_menu(page.table.table.selected_rows)
        move = next(action.menu() for action in menu.actions() if action.text() == "Move to")
        next(action for action in move.actions() if action.text() == "Reef").trigger()
        await page.book.save()
        assert [entry.name for entry in saved(scene, "reef").entries] == ["Lamp"]
        assert [entry.name for entry in saved(scene, "isles").entries] == ["Bell"]

        page.undo_stack.undo()
        await page.book.save()
        assert saved(scene, "reef").entries == []
        assert [entry.name for entry in saved(scene, "isles").entries] == ["Lamp", "Bell"]


async def test_a_persona_remembers_an_entry_until_that_is_undone(tmp_path: Path):
    write(tmp_path, "isles", LAMP)
    async with on_page(tmp_path) as (scene, page):
        await choose(page, 0)
        page.detail.entry.remember_button.click()
        dialog = await scene.dialog()
        assert isinstance(dialog, RememberDialog)
        assert dialog.persona_id == "mira"
        pick(field_of(dialog, "insertion"), "once, when relevant")
        dialog.primary.click()
        await until(lambda: any("now remembers “Lamp”" in toast.text for toast in scene.toasts))
        (memory,) = await scene.services.memory.memories("mira")
        assert (memory.name, memory.insertion) == ("Lamp", MemoryInsertion.NATURAL)

        await undone(page)
        assert await scene.services.memory.memories("mira") == []


# Worlds


async def test_a_world_is_deleted_and_taken_back(tmp_path: Path):
    write(tmp_path, "isles", LAMP)
    async with on_page(tmp_path) as (scene, page):
        page.world_list.table.setFocus()
        QTest.keyClick(page.world_list.table, Qt.Key.Key_Delete)
        question = await scene.dialog()
        assert isinstance(question, ConfirmDialog)
        assert question.primary.text() == "Delete “Isles” (1 entry)"
        question.reject()
        await until(lambda: not question.isVisible())
        assert "isles" in page.book.open_worlds
        QTest.keyClick(page.world_list.table, Qt.Key.Key_Delete)
        QTest.keyClick(await scene.dialog(), Qt.Key.Key_Return)
        await until(lambda: any("deleted" in toast.text for toast in scene.toasts) and "isles" not in page.book.open_worlds)
        assert not (scene.services.paths.worlds / "isles.json").exists()
        assert page.book.world is not None

        scene.take_back("“Isles” was deleted.")
        await until(lambda: page.book.stem == "isles")
        assert names(page) == ["Lamp"]
        await undone(page)  # there is nothing left to take back
        assert complaints(scene) == []


async def test_a_world_is_duplicated_and_renamed_at_once(tmp_path: Path):
    write(tmp_path, "isles", LAMP)
    async with on_page(tmp_path) as (scene, page):
        run_world_action(page, "Duplicate")
        name = page.detail.world_form.form.field_widget("name")
        await until(lambda: page.book.stem == "isles-copy" and name.hasFocus())
        assert isinstance(name, QLineEdit)
        assert name.selectedText() == "Isles (copy)"
        QTest.keyClicks(name, "Reef")
        assert {held.world.name for held in page.world_list.rows.visible_rows} >= {"Isles", "Reef"}
        name.clear()
        QTest.keyClick(name, Qt.Key.Key_Backspace)
        page.undo_stack.undo()
        await until(lambda: page.book.open_worlds["isles-copy"].world.name == "Isles (copy)")
        page.undo_stack.undo()
        await until(lambda: "isles-copy" not in page.book.open_worlds)
        page.world_list.table.setFocus()
        page.undo_stack.redo()
        await until(lambda: page.book.stem == "isles-copy")
        assert not name.hasFocus()
        assert complaints(scene) == []


@pytest.mark.parametrize("slow", ["list_worlds", "session_worlds"])
async def test_what_is_typed_while_the_worlds_are_read_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow: str):
    write(tmp_path, "isles", LAMP)
    async with on_page(tmp_path) as (scene, page):
        was_read, may_go_on, read = asyncio.Event(), asyncio.Event(), getattr(WorldService, slow)

        async def read_slowly(service: WorldService, *arguments: object) -> object:
            result = await read(service, *arguments)
            was_read.set()
            await may_go_on.wait()
            return result

        monkeypatch.setattr(WorldService, slow, read_slowly)
        page.book.create_world()
        await until(was_read.is_set)
        page.book.set_fields("writing", [page.book.open_worlds["isles"].world.entries[0]], {"content": "It is lit."})
        may_go_on.set()
        await until(lambda: page.book.stem == "new-world")

        page.book.switch_world("isles")
        (entry,) = page.book.open_worlds["isles"].world.entries
        assert entry.content == "It is lit."
        page.book.set_fields("renaming", [entry], {"name": "Lantern"})
        assert await page.book.save()
        assert [(one.name, one.content) for one in saved(scene, "isles").entries] == [("Lantern", "It is lit.")]


async def test_a_world_says_how_many_of_its_entries_are_to_be_awake(tmp_path: Path):
    write(tmp_path, "isles", LAMP)
    async with on_page(tmp_path) as (scene, page):
        form = page.detail.world_form.form
        number(form.field_widget("min_activations"), "2")
        number(form.field_widget("max_depth"), "30")
        QTest.keyClick(form.field_widget("group_scoring"), Qt.Key.Key_Space)
        await page.book.save()

        kept = saved(scene, "isles")
        assert (kept.min_activations, kept.max_depth, kept.group_scoring) == (2, 30, True)


async def test_ticks_say_whose_a_world_is(tmp_path: Path):
    write(tmp_path, "isles", LAMP)
    async with on_page(tmp_path) as (scene, page):
        ticks = page.detail.world_form.owner_checks
        await until(lambda: ticks[WorldOwner.PERSONA].text() == "Mira, in every conversation")
        assert ticks[WorldOwner.USER].isHidden()  # the user has no name yet
        for owner in (WorldOwner.PERSONA, WorldOwner.EVERYBODY, WorldOwner.SESSION):
            ticks[owner].click()
        session = scene.session

        await until(
            lambda: all(
                "isles" in page.book.bindings[owner] for owner in (WorldOwner.PERSONA, WorldOwner.EVERYBODY, WorldOwner.SESSION)
            )
        )
        assert scene.services.preferences.current.global_worlds == ["isles"]
        assert "isles" in (await scene.services.library.persona("mira")).worlds
        page.undo_stack.undo()
        await until(lambda: page.book.bindings[WorldOwner.SESSION] == [] and not ticks[WorldOwner.SESSION].isChecked())
        assert (await scene.services.worlds.session_worlds(session))[WorldOwner.SESSION] == []


async def test_the_other_personas_that_use_a_world_are_named(tmp_path: Path):
    write(tmp_path, "isles", LAMP)
    async with on_page(tmp_path) as (_scene, page):
        form = page.detail.world_form
        await until(lambda: page.book.stem == "isles" and form.others_label.isHidden())

        page.book.switch_world("quarr")
        await until(form.others_label.isVisible)

        assert form.others_label.text() == "Also used by Edmund"


async def test_a_broken_file_is_told_and_left_alone(tmp_path: Path):
    write(tmp_path, "isles", LAMP)
    (tmp_path / "worldinfo" / "reef.json").write_text('{"name": "Reef",', encoding="utf-8")
    async with on_page(tmp_path) as (scene, page):
        await until(lambda: [toast for toast in scene.toasts if "reef.json" in toast.text])
        assert "reef" not in page.book.open_worlds
        broken = tmp_path / "worldinfo" / "isles.json"
        broken.write_text("{", encoding="utf-8")
        await choose(page, 0)
        QTest.keyClicks(field(page, "name"), "!")
        await until(lambda: page.subtitle.accessibleName() == "not saved")
        assert broken.read_text(encoding="utf-8") == "{"
        assert any("isles.json" in toast.text for toast in scene.toasts)

        QTest.keyClick(page, Qt.Key.Key_Escape)
        dialog = await scene.dialog()
        dialog.reject()
        scene.window.activateWindow()
        await until(scene.window.isActiveWindow)
        field(page, "name").setFocus()
        broken.unlink()
        QTest.keyClick(page, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: page.subtitle.accessibleName() == "saved")
        assert saved(scene, "isles").entries[0].name == "Lamp!"


async def break_and_type(scene: Scene, page: WorldPage) -> Path:
    """Break the file of the world on display from outside, then type into its first entry; return the path."""
    broken = scene.services.paths.worlds / "isles.json"
    broken.write_text("{", encoding="utf-8")
    page.book.set_fields("writing", page.book.world.entries[:1], {"content": "It is lit."})
    assert not await page.book.save()
    return broken


async def test_what_cannot_be_saved_is_there_when_the_page_is_opened_again(tmp_path: Path):
    write(tmp_path, "isles", LAMP)
    async with on_page(tmp_path) as (scene, page):
        broken = await break_and_type(scene, page)
        page.back_requested.emit()
        QTest.keyClick(await scene.dialog(), Qt.Key.Key_Return)
        await until(lambda: scene.window.pages.currentWidget() is scene.window.panes)

        again = await enter(scene)
        again.book.switch_world("isles")
        assert again.book.world.entries[0].content == "It is lit."
        assert not await again.book.save()
        again.book.set_fields("writing", again.book.world.entries, {"name": "Lantern"})
        await page.book.saver.save()
        assert broken.read_text(encoding="utf-8") == "{"

        broken.unlink()
        await page.book.saver.save()
        assert await again.book.save()
        assert [(one.name, one.content) for one in saved(scene, "isles").entries] == [("Lantern", "It is lit.")]
        assert await scene.services.trash.list_items() == []


async def test_a_world_may_go_while_it_is_being_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async with on_page(tmp_path, stem="quarr") as (_scene, page):  # a shipped one becomes the user's own by this
        save = WorldService.save

        async def lose_world(service: WorldService, world: World) -> Path | None:
            replaced = await save(service, world)
            page.book.open_worlds.pop(world.unique_name)
            return replaced

        monkeypatch.setattr(WorldService, "save", lose_world)
        page.book.add_entry("Bell")
        assert await page.book.save()


async def test_a_deleted_world_stays_deleted_though_it_had_changes(tmp_path: Path):
    write(tmp_path, "isles", LAMP)
    async with on_page(tmp_path) as (scene, page):
        broken = await break_and_type(scene, page)
        page.book.delete_world()
        await until(lambda: "isles" not in page.book.open_worlds and page.book.stem)

        assert await page.book.save()
        assert not broken.exists()


# The bench


async def test_the_bench_says_what_keeps_entries_back_and_how_often_they_come(tmp_path: Path, echo_model: Callable[..., Path]):
    rare, held = {**LAMP, "name": "Rare", "trigger_chance": 0.5}, {**LAMP, "name": "Held", "keywords_secondary": ["oil"]}
    write(tmp_path / "home", "isles", LAMP, rare, held, {**BELL, "enabled": False, "keywords_main": ["lamp"]})
    async with on_page(tmp_path / "home", echo_model("“Aye.”")) as (scene, page):
        scene.controller.replies.send_message("Is the lamp lit?")
        await until(lambda: scene.words[-1] == "“Aye.”" and not scene.is_replying)
        await page.trial_panel.load_messages()
        page.trial_button.click()
        page.trial_panel.this_world_check.click()
        page.trial_panel.message_box.setCurrentIndex(2)
        page.trial_panel.message_box.activated.emit(2)
        assert page.trial_panel.text_field.text == "Is the lamp lit?"
        assert page.trial_panel.message_id is not None
        page.trial_panel.repeat_button.click()
        await until(lambda: page.trial_panel.rows.visible_rows and page.trial_panel.rows.visible_rows[0].share is not None)

        reported = {one.entry.name: one for one in page.trial_panel.rows.visible_rows}
        reasons = {name: explain_result(one) for name, one in reported.items()}
        del reasons["Rare"]  # it comes or stays away
        assert reasons == {
            "Lamp": "its key “lamp” is in the message",
            "Held": "no secondary key matched",
            "Bell": "disabled",
        }
        assert reported["Lamp"].share == 1
        assert 0 < (reported["Rare"].share or 0) < 1

        QTest.keyClicks(page.trial_panel.text_field, " No.")
        assert page.trial_panel.message_id is None
        page.trial_panel.result_opened.emit(reported["Bell"])
        await until(lambda: page.detail.entry.entry is not None and page.detail.entry.entry.name == "Bell")


async def test_an_edit_is_tried_at_once(tmp_path: Path):
    write(tmp_path, "isles", LAMP)
    async with on_page(tmp_path) as (_scene, page):
        page.trial_button.click()
        page.trial_panel.this_world_check.click()
        QTest.keyClicks(page.trial_panel.text_field, "A lantern!")
        await until(lambda: page.trial_panel.summary_label.text() == "No entries activated by this text.")
        await choose(page, 0)
        QTest.keyClicks(line_of(field(page, "keywords_main")), "lantern,")
        await until(lambda: [one.reason.values["key"] for one in page.trial_panel.rows.visible_rows] == ["lantern"])


# Room


async def test_in_a_small_window_one_thing_at_a_time_is_shown(tmp_path: Path):
    write(tmp_path, "isles", LAMP)
    async with on_page(tmp_path) as (scene, page):
        scene.window.resize(900, 640)
        await until(lambda: page.panes.is_narrow)
        await choose(page, 0)
        QTest.keyClick(page.table.table, Qt.Key.Key_Return)
        assert (page.detail.isVisible(), page.table.isVisible()) == (True, False)
        scene.window.resize(520, 640)
        await until(page.world_list.isHidden)
        page.worlds_button.click()
        assert page.world_list.isVisible()
        page.trial_button.click()
        assert (page.trial_panel.isVisible(), page.panes.isVisible()) == (True, False)


@pytest.mark.parametrize("size", [13, 22])
async def test_everything_has_a_name_for_those_who_listen(tmp_path: Path, size: int):
    write(tmp_path, "isles", LAMP, BELL)
    async with on_page(tmp_path) as (scene, page):
        scene.window.theme.apply_choice("light", size)
        page.trial_button.click()
        await choose(page, 0)
        page.detail.entry.more_button.setChecked(True)
        assert nameless(page) == []


# Values


def test_as_few_entries_as_possible_get_another_order():
    entries = [WorldEntry(guid=uuid4(), name=name, order=order) for name, order in (("a", 10), ("b", 20), ("c", 30))]
    moved = reorder_entries(entries, {entries[2].guid}, entries[1].guid)
    assert [(entry.name, 10 < entry.order < 20) for entry in moved] == [("c", True)]
    assert [(entry.name, entry.order > 30) for entry in reorder_entries(entries, {entries[0].guid}, None)] == [("a", True)]
    assert reorder_entries(entries, {entries[2].guid}, None) == []


@pytest.mark.parametrize("before", [None, 0, 1, 4, 9])
def test_entries_of_one_order_can_be_put_anywhere(before: int | None):
    entries = [WorldEntry(name=f"{number}", priority=number % 3) for number in range(10)]
    line = sort_entries(entries)
    chosen = {line[2].guid, line[7].guid}
    target = line[before].guid if before is not None else None
    new = {entry.guid: entry for entry in reorder_entries(entries, chosen, target)}
    result = [entry.guid for entry in sort_entries([new.get(entry.guid, entry) for entry in entries])]
    rest = [entry.guid for entry in line if entry.guid not in chosen]
    place = rest.index(target) if target is not None else len(rest)
    assert result == [*rest[:place], line[2].guid, line[7].guid, *rest[place:]]


async def test_a_world_is_exported_as_world_info_with_what_was_just_typed(tmp_path: Path):
    home, target = tmp_path / "home", tmp_path / "Isles.json"
    write(home, "isles", LAMP, BELL)
    async with on_page(home) as (scene, page):
        lamp = page.book.world.entries[0]
        page.book.edit_entries("Edit", [lamp.model_copy(update={"content": "It burns again."})])

        run_world_action(page, "Export…")
        dialog = await scene.dialog()
        assert isinstance(dialog, QFileDialog)
        dialog.setDirectory(str(tmp_path))
        dialog.accept()
        await until(target.exists)

        entries = json.loads(target.read_text(encoding="utf-8"))["entries"]
        assert [(entry["key"], entry["content"]) for entry in entries.values()] == [
            (["lamp"], "It burns again."),
            (["bell"], "It is cracked."),
        ]
        await until(lambda: any("Isles.json" in toast.text for toast in scene.toasts))
